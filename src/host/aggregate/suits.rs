//! Which matrices scalar aggregation suits.

use crate::host::parallel::Threads;
use crate::host::{BlockOrder, Blocks, Csr};

/// Unknowns of a node that a matrix is looked at for.
const BLOCKS: [usize; 3] = [6, 3, 2];

/// Shares of rows, and of weight, from which on a property counts as one of the matrix.
const HALF: f64 = 0.5;
const NEARLY_AS_MANY: f64 = 0.9;
const NEARLY_ALL: f64 = 0.99;

/// Whether smoothed aggregation with one vector suits a symmetric matrix with a positive diagonal. It does where half of the rows
/// map that vector to zero, or where 99 % of the weight beside the diagonal is negative; whatever the signs of single entries
/// are. It does not where the unknowns are components of vectors in nodes, in the order of nodes or of components: then the rows
/// also map each component by itself to zero. `vector` has elements above 0; nothing stands for ones.
pub(crate) fn suits(a: &Csr, vector: Option<&[f64]>) -> bool {
    let of = |i: usize| vector.map_or(1.0, |v| v.get(i).copied().unwrap_or(1.0));
    if is_beside(a, &of, -1.0) {
        return true;
    }
    let whole = zeros(a, &of, 1, &|_| 0);
    whole >= HALF && orders(a, &of, whole).next().is_none()
}

/// Whether Jacobi sweeps damp what a matrix that is not symmetric has beside smooth errors: in nearly all rows the diagonal is at
/// least half of what stands beside it, in units of a vector as for [`suits`]. Where transport outweighs diffusion and differences are
/// central, it is not.
pub(crate) fn is_damped(a: &Csr, vector: Option<&[f64]>) -> bool {
    let of = |i: usize| vector.map_or(1.0, |v| v.get(i).copied().unwrap_or(1.0));
    let is_damped = |i: &usize| {
        let (mut diagonal, mut beside) = (0.0, 0.0);
        a.row(*i).for_each(|(j, v)| if *i == j { diagonal += v * of(j) } else { beside += v.abs() * of(j) });
        beside <= 2.0 * diagonal
    };
    let rows = a.shape().rows;
    (0..rows).filter(is_damped).count() as f64 >= NEARLY_ALL * rows as f64
}

/// Whether a row has very many more entries than others, and few steps lead from it to nearly all unknowns, as in graphs of people and
/// of pages: few iterations do there without coarser levels, which such rows fill.
pub(crate) fn has_hubs(a: &Csr) -> bool {
    /// Times as many as a row has on average.
    const MANY: usize = 50;
    const STEPS: usize = 6;
    let n = a.shape().rows;
    let hub = a.rows().map(|(cols, _)| cols.len()).enumerate().max_by_key(|(_, length)| *length);
    let Some((hub, _)) = hub.filter(|(_, length)| length * n > MANY * a.nnz()) else { return false };
    let (mut met, mut reached, mut begin) = (vec![false; n], vec![hub], 0);
    met.get_mut(hub).into_iter().for_each(|met| *met = true);
    for _ in 0..STEPS {
        let last = begin..reached.len();
        begin = reached.len();
        for at in last {
            let Some(i) = reached.get(at) else { continue };
            for (j, _) in a.row(*i) {
                if met.get_mut(j).is_some_and(|met| !std::mem::replace(met, true)) {
                    reached.push(j);
                }
            }
        }
    }
    reached.len() as f64 >= NEARLY_AS_MANY * n as f64
}

/// The components that a matrix of vectors in nodes is made of: rows see all of them and map each to zero, and those of a node are of
/// about the same length.
pub(crate) fn blocks_of(a: &Csr) -> Option<Blocks> {
    let n = a.shape().rows;
    let of = |_: usize| 1.0;
    // Of one sign: of a negative matrix positive.
    if is_beside(a, &of, -1.0) || is_beside(a, &of, 1.0) {
        return None;
    }
    let whole = zeros(a, &of, 1, &|_| 0);
    if whole < HALF {
        return None;
    }
    let lengths: Vec<usize> = a.rows().map(|(cols, _)| cols.len()).collect();
    orders(a, &of, whole).find(|blocks| {
        let mut nodes = vec![(usize::MAX, 0); n / blocks.size];
        for (i, length) in lengths.iter().enumerate() {
            if let Some((least, most)) = nodes.get_mut(blocks.place(n, i).0) {
                (*least, *most) = ((*least).min(*length), (*most).max(*length));
            }
        }
        let alike = nodes.iter().filter(|(least, most)| 4 * least >= 3 * most).count();
        5 * alike >= 4 * nodes.len()
    })
}

/// Whether nearly all of the weight beside the diagonal has this sign.
fn is_beside(a: &Csr, of: &(dyn Fn(usize) -> f64 + Sync), sign: f64) -> bool {
    /// Rows whose sums are made one after another, so that those of all are the same for any number of threads.
    const ROWS: usize = 1024;
    let n = a.shape().rows;
    let sums = Threads::all().each(n.div_ceil(ROWS), |k| {
        let (mut such, mut beside) = (0.0, 0.0);
        for i in k * ROWS..((k + 1) * ROWS).min(n) {
            for (j, value) in a.row(i).filter(|(j, _)| *j != i) {
                let weight = of(i) * value.abs() * of(j);
                beside += weight;
                such += if sign * value > 0.0 { weight } else { 0.0 };
            }
        }
        (such, beside)
    });
    let (such, beside) = sums.into_iter().fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
    such >= NEARLY_ALL * beside
}

/// Sizes and orders of blocks whose components rows map to zero one by one, the largest first.
fn orders<'a>(a: &'a Csr, of: &'a dyn Fn(usize) -> f64, whole: f64) -> impl Iterator<Item = Blocks> + 'a {
    let n = a.shape().rows;
    let sizes = BLOCKS.into_iter().filter(move |b| n > 0 && n.is_multiple_of(*b));
    let all =
        sizes.flat_map(|b| [BlockOrder::Nodes, BlockOrder::Components].map(|order| Blocks::new(b, order)));
    all.filter(move |blocks| zeros(a, of, blocks.size, &|j| blocks.place(n, j).1) >= NEARLY_AS_MANY * whole)
}

/// The share of rows that see each of `b` parts of a vector, and map it to zero but for rounding.
fn zeros(a: &Csr, of: &dyn Fn(usize) -> f64, b: usize, part: &dyn Fn(usize) -> usize) -> f64 {
    let rows = a.shape().rows;
    let is_zero = |i: &usize| {
        let (mut sums, mut most) = ([(0.0, 0.0); 6], 0.0);
        for (j, value) in a.row(*i) {
            let term = value * of(j);
            most += term.abs();
            if let Some((sum, size)) = sums.get_mut(part(j)) {
                *sum += term;
                *size += term.abs();
            }
        }
        sums.iter().take(b).all(|(sum, size): &(f64, f64)| *size > 0.0 && sum.abs() <= 1e-8 * most)
    };
    (0..rows).filter(is_zero).count() as f64 / rows.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::{Triplets, problems};
    use crate::shape::Shape;

    fn made(n: usize, entries: impl Iterator<Item = (usize, usize, f64)>) -> Csr {
        Triplets::from_entries(Shape::new(n, n), entries).unwrap().to_csr()
    }

    #[test]
    fn signs_decide_and_sums_do_where_signs_are_mixed() {
        let grid = problems::poisson_2d(12, 12).to_csr();
        assert!(suits(&grid, None));
        assert_eq!((blocks_of(&grid), blocks_of(&grid.clone().map(|_, _, v| -v))), (None, None));
        // Fourth-order differences in a row: two of five entries positive, zero sums inside.
        let of = |k: i64| [6.0, -4.0, 1.0].get(k.unsigned_abs() as usize).copied();
        let beam = made(
            100,
            (0..100)
                .flat_map(|i| (0..100).filter_map(move |j| of(i - j).map(|v| (i as usize, j as usize, v)))),
        );
        assert!(suits(&beam, None));
        assert_eq!(blocks_of(&beam), None);
        // The same with a shift: neither.
        assert!(!suits(&beam.clone().map(|i, j, v| if i == j { v + 1.0 } else { v }), None));
        // Scaled from both sides it is as before, if that is said.
        let d = |i: usize| f64::from(1 << (i % 7));
        let scaled = beam.map(|i, j, v| d(i) * v * d(j));
        assert!(!suits(&scaled, None));
        assert!(suits(&scaled, Some(&(0..100).map(|i| 1.0 / d(i)).collect::<Vec<_>>())));
    }

    #[test]
    fn sweeps_damp_transport_that_diffusion_outweighs() {
        let transport = |speed: f64| {
            let of = |i: usize, j: usize, v| {
                v + if j == i + 1 { speed } else { 0.0 } - if i == j + 1 { speed } else { 0.0 }
            };
            problems::poisson_2d(12, 12).to_csr().map(of)
        };
        let upwind = problems::poisson_2d(12, 12)
            .to_csr()
            .map(|i, j, v| v + if i == j { 1e6 } else { 0.0 } - if i == j + 1 { 1e6 } else { 0.0 });
        for (a, damped) in
            [(transport(0.9), true), (transport(2.9), true), (transport(3.2), false), (upwind, true)]
        {
            assert_eq!(is_damped(&a, None), damped);
            // Rows and columns in other units are the same if that is said.
            let unit = |i: usize| f64::from(1 << (i % 7));
            let vector: Vec<f64> = (0..144).map(|i| 1.0 / unit(i)).collect();
            let scaled = a.map(|i, j, v| unit(i * 5) * v * unit(j));
            assert_eq!(is_damped(&scaled, Some(&vector)), damped);
        }
        // Single rows do not decide, a zero on the diagonal of many does.
        let holes = |every: usize| {
            problems::poisson_2d(20, 20)
                .to_csr()
                .map(|i, j, v| if i == j && i % every == 0 { 0.0 } else { v })
        };
        assert_eq!([200, 10].map(|every| is_damped(&holes(every), None)), [true, false]);
    }

    /// A row with many entries is a hub where it is near all the others, and one more node of a mesh where it is not.
    #[test]
    fn hubs_are_near_all_others() {
        // A ring of 4,000, of which every 10th or 80th is connected with the middle.
        let (n, ring) = (4000, |i: usize| (i + 1) % 4000);
        let wheel = |every: usize| {
            let spokes = (0..n).step_by(every).flat_map(|i| [(i, n), (n, i)]);
            let pairs = (0..n).flat_map(|i| [(i, ring(i)), (ring(i), i)]).chain(spokes);
            let diagonal = (0..=n).map(|i| (i, i, 9.0));
            made(n + 1, pairs.map(|(i, j)| (i, j, -1.0)).chain(diagonal))
        };
        assert_eq!([1, 10, 16, 80].map(|every| has_hubs(&wheel(every))), [true, true, false, false]);
        assert!(!has_hubs(&problems::poisson_2d(12, 12).to_csr()) && !has_hubs(&made(0, std::iter::empty())));
    }

    #[test]
    fn components_of_vectors_are_recognised_in_either_order() {
        let line = |i: usize, j: usize| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        // Two components of each node, coupled by a skew part whose rows sum to zero.
        for b in [2, 3] {
            for by_nodes in [true, false] {
                let n = 30;
                let at = |node: usize, c: usize| if by_nodes { node * b + c } else { c * n + node };
                let mut entries = Vec::new();
                for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    for (c, d) in (0..b).flat_map(|c| (0..b).map(move |d| (c, d))) {
                        let coupling = if c == d { 1.0 } else { -0.4 };
                        let v = line(i, j) * coupling;
                        if v != 0.0 {
                            entries.push((at(i, c), at(j, d), v));
                        }
                    }
                }
                let a = made(b * n, entries.into_iter());
                assert!(!suits(&a, None), "{b} {by_nodes}");
                let order = if by_nodes { BlockOrder::Nodes } else { BlockOrder::Components };
                assert_eq!(blocks_of(&a), Some(Blocks::new(b, order)));
                assert_eq!(blocks_of(&a.clone().map(|i, j, v| if i == j { v + 0.1 } else { v })), None);
            }
        }
    }
}
