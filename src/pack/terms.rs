//! The 4 x 4 blocks of a placed matrix: what the cost counts and the code generator evaluates.

use crate::pack::{Form, LinearExpression, Packing};

/// Which x a block multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    /// The x that goes in: y = A x + b, or the old values of an iteration (U).
    Old,
    /// The values that this iteration has already made (L).
    New,
}

/// How the product of a block with its quad of x is evaluated (\[Bajaj04\] section 2.3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    /// A DP4 for each row that holds a non-zero.
    RowMajor,
    /// A MUL or MAD for each peel: at most one non-zero of each row at a time.
    ColumnMajor,
}

/// One non-null block of a block row: the term A_IJ x_J, or its L or U part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Term {
    /// Number J of the block column: which quad of x.
    pub quad: usize,
    /// Which x.
    pub part: Part,
    /// True for the L part of a diagonal block: its rows need one another, one after the other.
    pub serial: bool,
    /// The non-zeros (row within the block, column within the block, value), by row, then by column.
    pub entries: Vec<Entry>,
}

/// A non-zero of a block: row and column within it, value.
pub(crate) type Entry = (u8, u8, f64);

impl Term {
    /// Non-zeros in each of the four rows.
    pub fn counts(&self) -> [u32; 4] {
        let mut counts = [0; 4];
        for &(row, _, _) in &self.entries {
            if let Some(count) = counts.get_mut(row as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// c(I, J): vertical peels, the most non-zeros that a row holds.
    pub fn peels(&self) -> u32 {
        self.counts().into_iter().max().unwrap_or_default()
    }

    /// r(I, J): rows that hold a non-zero.
    pub fn rows(&self) -> u32 {
        self.counts().into_iter().filter(|&c| c > 0).count() as u32
    }

    /// Row-major only where that is cheaper, or where the rows follow one another.
    pub fn method(&self) -> Method {
        if self.serial || self.rows() < self.peels() { Method::RowMajor } else { Method::ColumnMajor }
    }

    /// Cmul(I, J): instructions of the product.
    pub fn multiplications(&self) -> u32 {
        match self.method() {
            Method::RowMajor => self.rows(),
            Method::ColumnMajor => self.peels(),
        }
    }
}

/// What tells the terms of a block row apart, in their order: part, serial, block column.
type Key = (Part, bool, usize);

/// The non-null terms of block row `quad`: old values first, then new ones, each by block column, a serial one last.
pub(crate) fn terms(e: &LinearExpression, packing: &Packing, quad: usize) -> Vec<Term> {
    let (rows, cols) = (packing.rows(), packing.cols());
    let mut entries: Vec<(Key, Entry)> = Vec::new();
    for row in 0..4 {
        let position = 4 * quad + row;
        for (j, value) in e.row(rows.at(position)) {
            let at = cols.position(j);
            let new = e.form() == Form::GaussSeidel && at < position;
            let part = if new { Part::New } else { Part::Old };
            let serial = new && at / 4 == quad;
            entries.push(((part, serial, at / 4), (row as u8, (at % 4) as u8, value)));
        }
    }
    entries.sort_by_key(|&(term, (row, col, _))| (term, row, col));
    let term = |run: &[(Key, Entry)]| {
        let &((part, serial, quad), _) = run.first()?;
        let entries = run.iter().map(|&(_, entry)| entry).collect();
        Some(Term { quad, part, serial, entries })
    };
    entries.chunk_by(|a, b| a.0 == b.0).filter_map(term).collect()
}

/// triv(I): no row of block row `quad` has a non-trivial b.
pub(crate) fn is_trivial(e: &LinearExpression, packing: &Packing, quad: usize) -> bool {
    (4 * quad..4 * quad + 4).all(|p| !e.is_nontrivial(packing.rows().at(p)))
}
