//! The passes of a dense product: pure arithmetic, no GL.

use crate::shape::{Shape, TileGrid};

/// Which operands of a product are read as their transposes. They are not transposed in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[doc(alias = "Form")]
#[doc(alias = "transpose")]
pub enum MatmulForm {
    /// `C = A B`.
    #[default]
    Plain,
    /// `C = Aᵀ B`.
    TransposedA,
    /// `C = A Bᵀ`.
    TransposedB,
}

impl MatmulForm {
    pub(super) fn transposes_a(self) -> bool {
        self == MatmulForm::TransposedA
    }

    pub(super) fn transposes_b(self) -> bool {
        self == MatmulForm::TransposedB
    }

    /// Shapes of `op(A)` and `op(B)`.
    pub(super) fn shapes(self, a: Shape, b: Shape) -> (Shape, Shape) {
        let a = if self.transposes_a() { a.transposed() } else { a };
        let b = if self.transposes_b() { b.transposed() } else { b };
        (a, b)
    }
}

/// A stretch of one dimension within which neither of two operands changes its tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops::dense) struct Stretch {
    pub length: usize,
    /// Tile and position in it, for either operand.
    pub first: (usize, usize),
    pub second: (usize, usize),
}

/// Cuts `0..end` wherever a tile of either size ends. One size is a multiple of the other.
pub(in crate::ops::dense) fn stretches(
    end: usize,
    first: usize,
    second: usize,
) -> impl Iterator<Item = Stretch> {
    let (step, first, second) = (first.min(second).max(1), first.max(1), second.max(1));
    (0..end).step_by(step).map(move |begin| Stretch {
        length: step.min(end - begin),
        first: (begin / first, begin % first),
        second: (begin / second, begin % second),
    })
}

/// How a product is cut up: each region of `C` with each range of the inner dimension is one pass.
#[derive(Debug)]
pub(super) struct Plan {
    /// (tile row of C, tile row of op(A)).
    pub rows: Vec<Stretch>,
    /// (tile column of C, tile column of op(B)).
    pub cols: Vec<Stretch>,
    /// (tile column of op(A), tile row of op(B)), further cut into passes.
    pub inner: Vec<Stretch>,
}

impl Plan {
    /// `quads`: most groups of four inner indices in one pass.
    pub fn new(form: MatmulForm, a: Shape, b: Shape, tiles: TileGrid, quads: usize) -> Self {
        let (a, b) = form.shapes(a, b);
        let (tall, wide) = (tiles.tile_rows(), tiles.tile_cols());
        let (a_outer, a_inner) = if form.transposes_a() { (wide, tall) } else { (tall, wide) };
        let (b_inner, b_outer) = if form.transposes_b() { (wide, tall) } else { (tall, wide) };
        let most = quads.saturating_mul(4).max(4);
        let passes = |whole: Stretch| {
            (0..whole.length).step_by(most).map(move |begin| Stretch {
                length: most.min(whole.length - begin),
                first: (whole.first.0, whole.first.1 + begin),
                second: (whole.second.0, whole.second.1 + begin),
            })
        };
        Plan {
            rows: stretches(a.rows, tall, a_outer).collect(),
            cols: stretches(b.cols, wide, b_outer).collect(),
            inner: stretches(a.cols, a_inner, b_inner).flat_map(passes).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(stretches: &[Stretch]) -> Vec<usize> {
        stretches.iter().map(|s| s.length).collect()
    }

    #[test]
    fn a_product_within_one_tile_is_one_pass_for_each_range() {
        let (a, b) = (Shape::new(50, 30), Shape::new(30, 7));
        let tiles = TileGrid::new(Shape::new(50, 7), 64).unwrap();
        let plan = Plan::new(MatmulForm::Plain, a, b, tiles, usize::MAX);
        assert_eq!(
            (lengths(&plan.rows), lengths(&plan.cols), lengths(&plan.inner)),
            (vec![50], vec![7], vec![30])
        );
        // The paper's example: an inner dimension of 30 is 8 MOPs, 3 passes of 3.
        let plan = Plan::new(MatmulForm::Plain, a, b, tiles, 3);
        assert_eq!(lengths(&plan.inner), [12, 12, 6]);
        assert_eq!(plan.inner[1].first, (0, 12));
    }

    #[test]
    fn tiles_of_both_operands_cut_the_inner_dimension() {
        let tiles = TileGrid::new(Shape::new(300, 70), 64).unwrap();
        let plan = Plan::new(MatmulForm::Plain, Shape::new(300, 300), Shape::new(300, 70), tiles, usize::MAX);
        assert_eq!(lengths(&plan.rows), [256, 44]);
        assert_eq!(lengths(&plan.cols), [64, 6]);
        // A is cut every 64 columns, B every 256 rows.
        assert_eq!(lengths(&plan.inner), [64, 64, 64, 64, 44]);
        assert_eq!((plan.inner[3].first, plan.inner[3].second), ((3, 0), (0, 192)));
        assert_eq!((plan.inner[4].first, plan.inner[4].second), ((4, 0), (1, 0)));
        // C's rows are cut where columns of A end, when A is read as its transpose.
        let plan =
            Plan::new(MatmulForm::TransposedA, Shape::new(300, 300), Shape::new(300, 70), tiles, usize::MAX);
        assert_eq!(lengths(&plan.rows), [64, 64, 64, 64, 44]);
        assert_eq!(lengths(&plan.inner), [256, 44]);
    }
}
