//! Expected outcomes.

use texla::host::market::{MarketError, MarketMatrix};

/// What reading a file comes to.
#[derive(Debug)]
pub enum Expect {
    /// Rows, columns, entries of the whole matrix before duplicates are summed.
    Read(usize, usize, usize),
    /// Line (0: any) and kind of the error ("": any).
    Refused(usize, &'static str),
}

impl Expect {
    /// `Err` says what was found instead.
    pub fn check(&self, found: &Result<MarketMatrix, MarketError>) -> Result<(), String> {
        let fits = match (self, found) {
            (Self::Read(rows, cols, nnz), Ok(m)) => {
                let shape = m.triplets.shape();
                (shape.rows, shape.cols, m.triplets.nnz()) == (*rows, *cols, *nnz)
            }
            (Self::Refused(line, kind), Err(e)) => {
                (*line == 0 || e.line == *line) && (kind.is_empty() || kind_name(e) == *kind)
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(format!("{found:?}")) }
    }
}

fn kind_name(e: &MarketError) -> String {
    format!("{:?}", e.kind).chars().take_while(char::is_ascii_alphanumeric).collect()
}
