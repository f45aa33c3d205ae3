//! What smooth errors look like: vectors that a matrix maps nearly to zero, and the nodes that unknowns lie in.

use super::Csr;
use super::aggregate::blocks_of;
use crate::error::{Error, Result};

/// Order of the unknowns of a vector problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockOrder {
    /// All components of a node, then those of the next: `x0 y0 z0 x1 y1 z1`.
    #[default]
    Nodes,
    /// All nodes of a component, then those of the next: `x0 x1 y0 y1 z0 z1`.
    Components,
}

/// Unknowns that are the components of vectors in nodes: displacements, velocities.
///
/// # Examples
/// ```
/// use texla::{Shape, host::{BlockOrder, Blocks, Triplets}};
/// // Two components in each of 20 nodes of a chain; neighbours are coupled by a full block.
/// let at = |node: usize, c: usize| 2 * node + c;
/// let mut entries = Vec::new();
/// for k in 0..20 {
///     for (i, j, sign) in [(k, k, 1.0), (k, k + 1, -1.0), (k + 1, k, -1.0), (k + 1, k + 1, 1.0)] {
///         for (c, d, v) in [(0, 0, 2.0), (0, 1, 0.5), (1, 0, 0.5), (1, 1, 1.0)] {
///             entries.push((at(i, c), at(j, d), sign * v));
///         }
///     }
/// }
/// let a = Triplets::from_entries(Shape::new(42, 42), entries)?.to_csr();
/// assert_eq!(Blocks::found(&a), Some(Blocks::new(2, BlockOrder::Nodes)));
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocks {
    /// Components of a node.
    pub size: usize,
    /// Their order.
    pub order: BlockOrder,
}

impl Blocks {
    /// So many components in each node.
    pub const fn new(size: usize, order: BlockOrder) -> Self {
        Blocks { size, order }
    }

    /// Finds 2, 3 or 6 components in a symmetric matrix: half of its rows or more are coupled to each of them and map the vector of ones of
    /// each to zero, nearly as many as map that of all to zero, and the rows of a node are of about the same length. `None` where that is
    /// not so.
    ///
    /// # Cost
    /// O(nnz), up to seven times.
    pub fn found(a: &Csr) -> Option<Self> {
        blocks_of(a)
    }

    /// Node and component of an unknown.
    pub(crate) fn place(self, unknowns: usize, i: usize) -> (usize, usize) {
        let nodes = (unknowns / self.size.max(1)).max(1);
        match self.order {
            BlockOrder::Nodes => (i / self.size.max(1), i % self.size.max(1)),
            BlockOrder::Components => (i % nodes, i / nodes),
        }
    }

    fn check(self, op: &'static str, unknowns: usize) -> Result<()> {
        if self.size > 0 && unknowns.is_multiple_of(self.size) {
            return Ok(());
        }
        let value = format!("{} for {unknowns} unknowns", self.size);
        Err(Error::Parameter { op, name: "blocks", value, expected: "a divisor of the number of unknowns" })
    }
}

/// Vectors that a matrix maps nearly to zero, and the nodes that its unknowns lie in: what errors look like that sweeps do not
/// reduce. [`AggregationMultigrid`](crate::solve::AggregationMultigrid) interpolates these vectors exactly, and makes aggregates of nodes.
/// [`StoredMatrix::with_near_null_space`](crate::StoredMatrix::with_near_null_space) and
/// [`HostSystemParams`](crate::solve::HostSystemParams) take one.
///
/// # Examples
/// ```
/// use texla::host::{BlockOrder, Blocks, NearNullSpace};
/// // The corners of a square: two translations and a rotation.
/// let corners = [vec![0.0, 1.0, 0.0, 1.0], vec![0.0, 0.0, 1.0, 1.0]];
/// let modes = NearNullSpace::rigid(Blocks::new(2, BlockOrder::Nodes), &corners)?;
/// assert_eq!(modes.vectors()[0], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
/// assert_eq!(modes.vectors()[2], [1.0, -1.0, 1.0, 1.0, -1.0, -1.0, -1.0, 1.0]);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NearNullSpace {
    nodes: Vec<u32>,
    vectors: Vec<Vec<f64>>,
}

impl NearNullSpace {
    /// Most vectors of a space: each is an unknown of every aggregate.
    pub const MOST: usize = 12;

    /// Vectors of as many elements as the matrix has unknowns, each of which is a node. They are kept times powers of two, with largest
    /// elements from 1/2 to 1.
    ///
    /// # Errors
    /// [`Error::Parameter`] for no vector, for more than [`MOST`](Self::MOST), for one of zeros, and for what is not finite; [`Error::LengthMismatch`] for
    /// different lengths.
    pub fn new(vectors: Vec<Vec<f64>>) -> Result<Self> {
        let op = "NearNullSpace";
        let n = vectors.first().map_or(0, Vec::len);
        let refused =
            |value: String, expected| Err(Error::Parameter { op, name: "vectors", value, expected });
        if vectors.is_empty() || vectors.len() > Self::MOST {
            return refused(vectors.len().to_string(), "1 to 12 vectors");
        }
        for (k, vector) in vectors.iter().enumerate() {
            if vector.len() != n {
                return Err(Error::LengthMismatch {
                    op,
                    operand: "vectors",
                    found: vector.len(),
                    expected: n,
                });
            }
            check_numbers(op, "vectors", vector)?;
            if n > 0 && vector.iter().all(|v| *v == 0.0) {
                return refused(format!("zeros in vector {k}"), "vectors other than zero");
            }
        }
        let vectors = vectors.into_iter().map(of_ordinary_size).collect();
        Ok(NearNullSpace { nodes: (0..n as u32).collect(), vectors })
    }

    /// The same vectors, of unknowns that lie in nodes so.
    ///
    /// # Errors
    /// [`Error::Parameter`] where the number of unknowns is no multiple of the size.
    pub fn in_blocks(mut self, blocks: Blocks) -> Result<Self> {
        let n = self.nodes.len();
        blocks.check("NearNullSpace::in_blocks", n)?;
        self.nodes = (0..n).map(|i| blocks.place(n, i).0 as u32).collect();
        Ok(self)
    }

    /// The vectors of ones of each component: what is known of a vector problem without coordinates.
    ///
    /// # Errors
    /// As of [`new`](Self::new) and [`in_blocks`](Self::in_blocks).
    pub fn constants(unknowns: usize, blocks: Blocks) -> Result<Self> {
        blocks.check("NearNullSpace::constants", unknowns)?;
        let of =
            |c: usize| (0..unknowns).map(|i| f64::from(u8::from(blocks.place(unknowns, i).1 == c))).collect();
        Self::new((0..blocks.size).map(of).collect())?.in_blocks(blocks)
    }

    /// The motions that deform nothing, of displacements in nodes with these coordinates, a list for each axis: two translations and
    /// a rotation in the plane, three and three in space. In units of the largest distance from the middle.
    ///
    /// # Errors
    /// [`Error::Parameter`] unless there are as many axes as components, 2 or 3; otherwise as of [`new`](Self::new).
    pub fn rigid(blocks: Blocks, coordinates: &[Vec<f64>]) -> Result<Self> {
        let op = "NearNullSpace::rigid";
        if coordinates.len() != blocks.size || !(2..=3).contains(&blocks.size) {
            let value = format!("{} axes for blocks of {}", coordinates.len(), blocks.size);
            let expected = "as many as components, 2 or 3";
            return Err(Error::Parameter { op, name: "coordinates", value, expected });
        }
        let nodes = coordinates.first().map_or(0, Vec::len);
        for axis in coordinates {
            let (found, expected) = (axis.len(), nodes);
            if found != expected {
                return Err(Error::LengthMismatch { op, operand: "coordinates", found, expected });
            }
            check_numbers(op, "coordinates", axis)?;
        }
        let n = nodes * blocks.size;
        // From the middle of the least box, in the size of the largest.
        let ends = |axis: &Vec<f64>| {
            axis.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(*v), b.max(*v)])
        };
        let boxes: Vec<[f64; 2]> = coordinates.iter().map(ends).collect();
        let half = boxes.iter().map(|[a, b]| b / 2.0 - a / 2.0).fold(0.0, f64::max);
        let half = if half > 0.0 { half } else { 1.0 };
        let at = |node: usize, axis: usize| {
            let middle = boxes.get(axis).map_or(0.0, |[a, b]| a / 2.0 + b / 2.0);
            coordinates.get(axis).and_then(|list| list.get(node)).map_or(0.0, |v| (v - middle) / half)
        };
        let mut vectors = Self::constants(n, blocks)?.vectors;
        let axes = blocks.size;
        for (first, second) in (0..axes).flat_map(|a| (a + 1..axes).map(move |b| (a, b))) {
            let of = |i: usize| match blocks.place(n, i) {
                (node, c) if c == first => -at(node, second),
                (node, c) if c == second => at(node, first),
                _ => 0.0,
            };
            vectors.push((0..n).map(of).collect());
        }
        // Nodes in a line or in one place leave rotations that are none.
        vectors.retain(|vector: &Vec<f64>| n == 0 || vector.iter().any(|v| *v != 0.0));
        Self::new(vectors)?.in_blocks(blocks)
    }

    /// What is found in the entries of a symmetric matrix: [constants](Self::constants) of its [blocks](Blocks::found).
    pub(crate) fn found(a: &Csr) -> Option<Self> {
        Self::constants(a.shape().rows, Blocks::found(a)?).ok()
    }

    /// Returns the vectors.
    pub fn vectors(&self) -> &[Vec<f64>] {
        &self.vectors
    }

    /// Returns the node of each unknown, counted from 0.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// How many elements the vectors have.
    pub(crate) const fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Refuses a space of another number of unknowns.
    pub(crate) fn check(&self, op: &'static str, expected: usize) -> Result<()> {
        let (operand, found) = ("near-null space", self.len());
        if found == expected { Ok(()) } else { Err(Error::LengthMismatch { op, operand, found, expected }) }
    }

    /// The one vector above zero of a space for unknowns that are nodes.
    pub(crate) fn scalar(&self) -> Option<&[f64]> {
        let [vector] = self.vectors.as_slice() else { return None };
        let alone = self.nodes.iter().enumerate().all(|(i, node)| *node as usize == i);
        (alone && vector.iter().all(|v| *v > 0.0)).then_some(vector)
    }

    /// The space of the unknowns that are left, in units of these scales; `None` where nothing is left of it.
    pub(crate) fn of_columns(&self, columns: &[usize], scales: &[f64]) -> Option<Self> {
        let of = |vector: &Vec<f64>| -> Vec<f64> {
            let own = |(j, scale): (&usize, &f64)| vector.get(*j).copied().unwrap_or_default() / scale;
            columns.iter().zip(scales).map(own).collect()
        };
        let vectors = self.vectors.iter().map(of).filter(|vector| vector.iter().any(|v| *v != 0.0));
        let nodes: Vec<u32> = columns.iter().filter_map(|j| self.nodes.get(*j).copied()).collect();
        Some(Self::numbered(nodes, vectors.collect())).filter(|space| !space.vectors.is_empty())
    }

    /// With nodes that are numbered as they first appear.
    pub(crate) fn numbered(mut nodes: Vec<u32>, vectors: Vec<Vec<f64>>) -> Self {
        let mut numbers = vec![u32::MAX; nodes.iter().max().map_or(0, |most| *most as usize + 1)];
        let mut count = 0;
        for node in &mut nodes {
            let Some(number) = numbers.get_mut(*node as usize) else { continue };
            if *number == u32::MAX {
                (*number, count) = (count, count + 1);
            }
            *node = *number;
        }
        NearNullSpace { nodes, vectors }
    }
}

fn check_numbers(op: &'static str, name: &'static str, list: &[f64]) -> Result<()> {
    match list.iter().enumerate().find(|(_, v)| !v.is_finite()) {
        None => Ok(()),
        Some((i, v)) => {
            let value = format!("{v} at {i}");
            Err(Error::Parameter { op, name, value, expected: "finite numbers" })
        }
    }
}

/// Times a power of two, so that the largest element is from 1/2 to 1 and squares are in range.
fn of_ordinary_size(mut vector: Vec<f64>) -> Vec<f64> {
    // Twice, since the power for the least numbers is out of range.
    for _ in 0..2 {
        let largest = vector.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let unit = largest.log2().ceil().clamp(-1000.0, 1000.0).exp2();
        vector.iter_mut().for_each(|v| *v /= unit);
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Triplets;
    use crate::shape::Shape;

    const BY_NODES: Blocks = Blocks::new(3, BlockOrder::Nodes);

    /// Springs between all of some points: what deforms nothing is mapped to zero.
    #[test]
    fn rigid_motions_deform_nothing() {
        let points = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.1], [0.3, 1.0, 0.0], [0.0, 0.2, 3.0], [1.0, 1.0, 1.0]];
        let axes: Vec<Vec<f64>> =
            (0..3).map(|c| points.iter().map(|point| 7.0 + point[c]).collect()).collect();
        for order in [BlockOrder::Nodes, BlockOrder::Components] {
            let blocks = Blocks::new(3, order);
            let at =
                |node: usize, c: usize| if order == BlockOrder::Nodes { 3 * node + c } else { 5 * c + node };
            let mut all = Vec::new();
            for (k, l) in (0..5).flat_map(|k| (0..k).map(move |l| (k, l))) {
                let along: Vec<f64> = (0..3).map(|c| points[k][c] - points[l][c]).collect();
                for (c, d) in (0..3).flat_map(|c| (0..3).map(move |d| (c, d))) {
                    let v = along[c] * along[d];
                    all.extend([(at(k, c), at(k, d), v), (at(l, c), at(l, d), v)]);
                    all.extend([(at(k, c), at(l, d), -v), (at(l, c), at(k, d), -v)]);
                }
            }
            let a = Triplets::from_entries(Shape::new(15, 15), all).unwrap().to_csr();
            let space = NearNullSpace::rigid(blocks, &axes).unwrap();
            assert_eq!(space.vectors().len(), 6);
            for vector in space.vectors() {
                assert!(vector.iter().all(|v| v.abs() <= 1.0));
                assert!(a.mul_vec(vector).unwrap().iter().all(|v| v.abs() < 1e-12));
            }
            let node = |i: usize| if order == BlockOrder::Nodes { i / 3 } else { i % 5 };
            assert!(space.nodes().iter().enumerate().all(|(i, own)| *own as usize == node(i)));
        }
    }

    #[test]
    fn what_is_no_space_is_refused_by_name() {
        let text = |made: Result<NearNullSpace>| made.unwrap_err().to_string();
        assert!(text(NearNullSpace::new(vec![])).contains("1 to 12 vectors"));
        assert!(text(NearNullSpace::new(vec![vec![1.0; 2]; 13])).contains("13"));
        assert!(text(NearNullSpace::new(vec![vec![1.0; 2], vec![0.0; 2]])).contains("zeros in vector 1"));
        assert!(text(NearNullSpace::new(vec![vec![1.0; 2], vec![1.0; 3]])).contains('3'));
        assert!(text(NearNullSpace::new(vec![vec![1.0, f64::NAN]])).contains("NaN at 1"));
        let endless = [vec![0.0; 2], vec![0.0, f64::INFINITY], vec![0.0; 2]];
        assert!(text(NearNullSpace::rigid(BY_NODES, &endless)).contains("inf at 1"));
        assert!(text(NearNullSpace::constants(7, BY_NODES)).contains("3 for 7 unknowns"));
        assert!(text(NearNullSpace::constants(7, Blocks::new(0, BlockOrder::Nodes))).contains("0 for 7"));
        let two = vec![vec![0.0, 1.0], vec![0.0, 1.0]];
        assert!(text(NearNullSpace::rigid(BY_NODES, &two)).contains("2 axes for blocks of 3"));
        let uneven = [vec![0.0, 1.0], vec![0.0], vec![1.0, 2.0]];
        assert!(matches!(NearNullSpace::rigid(BY_NODES, &uneven), Err(Error::LengthMismatch { .. })));
        let ones = NearNullSpace::new(vec![vec![1.0; 4]]).unwrap();
        assert!(text(ones.in_blocks(BY_NODES)).contains("3 for 4 unknowns"));
    }

    #[test]
    fn what_is_left_of_a_space_has_its_nodes_numbered_anew() {
        let space = NearNullSpace::constants(6, Blocks::new(2, BlockOrder::Nodes)).unwrap();
        assert_eq!(space.scalar(), None);
        // The first node is gone, and the second component of the last.
        let left = space.of_columns(&[2, 3, 4], &[1.0, 2.0, 4.0]).unwrap();
        assert_eq!(left.nodes(), [0, 0, 1]);
        assert_eq!(left.vectors(), [vec![1.0, 0.0, 0.25], vec![0.0, 0.5, 0.0]]);
        assert_eq!(space.of_columns(&[], &[]), None);
        assert_eq!(space.of_columns(&[1, 3], &[1.0; 2]).unwrap().vectors(), [vec![1.0; 2]]);
        for size in [1e-310, 1e-200, 1e-3, 1e200, 1e308] {
            let vectors = NearNullSpace::new(vec![vec![size, -size / 4.0]]).unwrap();
            let [large, small] = vectors.vectors()[0][..] else { panic!() };
            assert!(
                (0.5..=1.0).contains(&large) && (small / large + 0.25).abs() < 1e-9,
                "{size:e}: {large} {small}"
            );
        }
        // A line has no rotation about itself.
        let line =
            NearNullSpace::rigid(BY_NODES, &[vec![0.0, 1.0, 2.0], vec![0.0; 3], vec![0.0; 3]]).unwrap();
        assert_eq!(line.vectors().len(), 5);
    }
}
