//! Which texels can be swept at once: pure arithmetic on the pattern of a matrix.

use crate::host::Csr;

/// A colour for each texel of four unknowns. No entry of the matrix, on either side of its diagonal, leads from one
/// texel to another of the same colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Colouring {
    pub colours: Vec<usize>,
    pub count: usize,
}

impl Colouring {
    /// The first colour that none of the neighbours has, texel by texel. Grids with a row length that is a multiple of
    /// four come out as a checkerboard of texels. `symmetric` says that the pattern is known to be.
    pub fn new(a: &Csr, symmetric: bool) -> Self {
        let transposed = if symmetric { None } else { Some(a.transposed()) };
        let texels = a.shape().rows.div_ceil(4);
        let mut colours: Vec<usize> = Vec::with_capacity(texels);
        // The last texel that has met each colour.
        let mut met: Vec<usize> = Vec::new();
        for t in 0..texels {
            for (cols, values) in
                [Some(a), transposed.as_ref()].into_iter().flatten().flat_map(|m| rows_of(m, t))
            {
                for (col, value) in cols.iter().zip(values) {
                    // Later texels have no colour yet: they will see this one's.
                    let Some(colour) = colours.get(*col as usize / 4) else { continue };
                    if let Some(last) = met.get_mut(*colour).filter(|_| *value != 0.0) {
                        *last = t;
                    }
                }
            }
            let free = met.iter().position(|last| *last != t).unwrap_or(met.len());
            if free == met.len() {
                met.push(usize::MAX);
            }
            colours.push(free);
        }
        Colouring { colours, count: met.len() }
    }
}

/// Columns and values of the rows of a texel.
fn rows_of(a: &Csr, texel: usize) -> impl Iterator<Item = (&[u32], &[f64])> {
    let pointers = a.row_ptr();
    (4 * texel..4 * texel + 4).filter_map(move |i| {
        let (start, end) = (*pointers.get(i)?, *pointers.get(i + 1)?);
        Some((a.cols().get(start..end)?, a.values().get(start..end)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use crate::host::{Triplets, problems};

    #[test]
    fn grids_are_checkerboards_of_texels() {
        let c = Colouring::new(&problems::poisson_2d(12, 5).to_csr(), true);
        assert_eq!(c.count, 2);
        for (t, colour) in c.colours.iter().enumerate() {
            assert_eq!(*colour, (t % 3 + t / 3) % 2);
        }
        // A row of a chain: every other texel.
        assert_eq!(Colouring::new(&problems::poisson_1d(17).to_csr(), true).colours, [0, 1, 0, 1, 0]);
        assert_eq!(Colouring::new(&problems::poisson_2d(13, 9).to_csr(), true).count, 4);
    }

    #[test]
    fn no_entry_joins_two_texels_of_a_colour() {
        // One-sided entries count from both sides; zeros do not.
        let entries = [(0, 9, 1.0), (21, 0, 1.0), (9, 21, 1.0), (4, 0, 0.0)];
        let diagonal = (0..24).map(|i| (i, i, 1.0));
        let a = Triplets::from_entries(Shape::new(24, 24), diagonal.chain(entries)).unwrap().to_csr();
        let c = Colouring::new(&a, false);
        assert_eq!((c.count, c.colours[1]), (3, 0));
        for (i, j, v) in a.entries().filter(|(i, j, _)| i / 4 != j / 4) {
            assert!(v == 0.0 || c.colours[i / 4] != c.colours[j / 4], "{i} {j}");
        }
    }

    #[test]
    fn nothing_needs_no_colour() {
        assert_eq!(Colouring::new(&Triplets::new(Shape::new(0, 0)).to_csr(), false).count, 0);
        assert_eq!(Colouring::new(&Triplets::from_diagonal(&[1.0; 9]).to_csr(), false).count, 1);
    }
}
