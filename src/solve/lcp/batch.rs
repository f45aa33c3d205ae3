//! Many independent problems in the same draws.

use std::ops::DerefMut;
use std::rc::Rc;

use super::certify::drive;
use super::diagonal::check_positive;
use super::natural::NaturalResidual;
use super::partition::Partition;
use super::report::{LcpOutcome, LcpParams, LcpReport, Relaxation};
use super::run::Run;
use super::solver::{natural_unit, unit_of_sides};
use super::spectrum::estimate;
use super::system::{Measured, Problem, Residual, System};
use super::table::Table;
use crate::data::{SparseFormat, SparseMatrix, Vector, exponent, times_power_of_two};
use crate::device::Device;
use crate::error::{Error, Result, check_finite};
use crate::host::{Csr, Triplets};
use crate::ops;
use crate::shape::Shape;
use crate::solve::drive::finite::Finite;
use crate::solve::drive::looks::Observer;
use crate::solve::drive::slices::{now, scoped};
use crate::solve::drive::unknown::Iterand;
use crate::solve::solving::Solving;

/// The name under which errors come.
const OP: &str = "LcpBatch";

/// One problem of a batch: `x >= 0`, `A x + b >= 0`, `xᵀ(A x + b) = 0`.
#[derive(Clone, Copy, Debug)]
pub struct LcpProblem<'a> {
    /// Square, with a positive diagonal.
    pub a: &'a Csr,
    /// As many numbers as `a` has rows.
    pub b: &'a [f64],
}

/// Where a problem lies in the batch.
struct Place {
    /// Its first row; a multiple of four.
    first: usize,
    rows: usize,
    /// Exponents of the powers of two that matrix and right-hand side are divided by.
    matrix: i32,
    own: i32,
    /// What residuals are relative to; none if no side is negative.
    norm: Option<f64>,
}

impl Place {
    /// Unknowns of about 2 to the power of so much are floats, and so are others some digits smaller or larger.
    const MOST_UNIT: i32 = 110;

    /// Rows with those that fill the last texel.
    fn padded(rows: usize) -> usize {
        rows.next_multiple_of(4)
    }

    /// By what a scaled unknown is multiplied.
    fn unit(&self) -> f64 {
        f64::from(self.own - self.matrix).exp2()
    }
}

/// Many independent problems as one block-diagonal operator, solved in the same passes \[Moravanszky03\] 5: the
/// decomposition into sub-problems that makes the paper's simulation run in real time.
///
/// Each problem has a relaxation, a momentum and a verdict of its own and is frozen when it is done; one that cannot be
/// solved does not hold up or disturb the others. With the same sparse format, a problem comes out with the same bits as
/// [`LcpSolver`](super::LcpSolver) gives it alone.
///
/// Vectors of a batch hold the problems one after another, each scaled by powers of two and filled up to a multiple of
/// four: [`start`](Self::start) and [`read`](Self::read) translate.
///
/// ```
/// use texla::{Shape, host::Triplets, solve::{LcpBatch, LcpParams}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // Unknowns 0 and 2 are coupled, and 1 is alone.
/// let a = Triplets::from_dense(Shape::new(3, 3), &[2.0, 0.0, 1.0, 0.0, 4.0, 0.0, 1.0, 0.0, 2.0])?.to_csr();
/// let batch = LcpBatch::decompose(dev, &a, &[-5.0, 8.0, -6.0])?;
/// assert_eq!(batch.groups(), [vec![0, 2], vec![1]]);
/// let mut x = batch.start(&[0.0; 3])?;
/// let report = batch.solve(&mut x, LcpParams::default())?;
/// assert!(report.converged());
/// let x = batch.read(&x)?;
/// assert!((x[0] - 4.0 / 3.0).abs() < 1e-3 && x[1] == 0.0 && (x[2] - 7.0 / 3.0).abs() < 1e-3);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone)]
pub struct LcpBatch {
    matrix: Rc<SparseMatrix>,
    b: Rc<Vector>,
    inverses: Rc<Vector>,
    partition: Rc<Partition>,
    places: Rc<[Place]>,
    groups: Rc<[Vec<usize>]>,
}

shown!(LcpBatch, |s| "LcpBatch({} problems, {:?})", s.places.len(), s.matrix);

impl LcpBatch {
    /// Puts problems on the device. Their unknowns are numbered one problem after another.
    ///
    /// *Cost*: the uploads of a [`SparseMatrix`], and about ten more. *Errors*: [`Error::Matrix`] naming the problem
    /// that is not square, or whose diagonal has an entry that is not positive, and its row;
    /// [`Error::LengthMismatch`], [`Error::NonFinite`], [`Error::TooLarge`]. Also [`Error::Matrix`] where matrix and
    /// right-hand side are of such sizes that the unknowns would leave the range of floats, and [`Error::Parameter`] where
    /// an element of a right-hand side is more than 2¹³⁰ times larger than the most negative one.
    pub fn new(device: &Device, problems: &[LcpProblem<'_>]) -> Result<Self> {
        let mut next = 0;
        let mut groups = Vec::with_capacity(problems.len());
        for problem in problems {
            let rows = problem.a.shape().rows;
            groups.push((next..next + rows).collect());
            next += rows;
        }
        Self::build(device, problems, groups)
    }

    /// Takes one problem apart into its [independent groups](Csr::independent_groups), which keep their numbers.
    ///
    /// *Cost* and *errors*: as [`new`](Self::new).
    pub fn decompose(device: &Device, a: &Csr, b: &[f64]) -> Result<Self> {
        check_shapes(&LcpProblem { a, b }, "")?;
        let groups = a.independent_groups();
        let mut places = vec![(0, 0); b.len()];
        for (g, group) in groups.iter().enumerate() {
            for (k, i) in group.iter().enumerate() {
                if let Some(place) = places.get_mut(*i) {
                    *place = (g, k);
                }
            }
        }
        let mut parts: Vec<Triplets> =
            groups.iter().map(|g| Triplets::new(Shape::new(g.len(), g.len()))).collect();
        for (row, col, value) in a.entries() {
            let (Some((g, i)), Some((_, j))) = (places.get(row), places.get(col)) else { continue };
            if let Some(part) = parts.get_mut(*g) {
                part.push(*i, *j, value)?;
            }
        }
        let parts: Vec<Csr> = parts.iter().map(Triplets::to_csr).collect();
        let of = |group: &Vec<usize>| group.iter().filter_map(|i| b.get(*i).copied()).collect::<Vec<_>>();
        let sides: Vec<Vec<f64>> = groups.iter().map(of).collect();
        let problems: Vec<_> = parts.iter().zip(&sides).map(|(a, b)| LcpProblem { a, b }).collect();
        Self::build(device, &problems, groups)
    }

    fn build(device: &Device, problems: &[LcpProblem<'_>], groups: Vec<Vec<usize>>) -> Result<Self> {
        let mut places = Vec::with_capacity(problems.len());
        let mut first = 0;
        for (number, problem) in problems.iter().enumerate() {
            let name = format!("of problem {number} ");
            check_shapes(problem, &name)?;
            check_finite(&format!("LcpBatch: b of problem {number}"), problem.b.iter().copied())?;
            check_finite(
                &format!("LcpBatch: the matrix of problem {number}"),
                problem.a.values().iter().copied(),
            )?;
            check_positive(OP, &problem.a.diagonal(), &name)?;
            // In 64 bits: what 32 have no room for has some when it is scaled.
            let sides = || problem.b.iter().copied();
            let (least, largest) = (sides().fold(0.0, f64::min), sides().map(f64::abs).fold(0.0, f64::max));
            let (own, norm) = unit_of_sides(OP, least, largest)?;
            let (rows, matrix) = (problem.b.len(), exponent(problem.a.max_abs()));
            if norm.is_some() && (own - matrix).abs() > Place::MOST_UNIT {
                let detail = format!(
                    "{name}has coefficients of about 2^{matrix} where b is about 2^{own}: x would leave the range of \
                     32-bit floats"
                );
                return Err(Error::Matrix { op: OP, detail });
            }
            places.push(Place { first, rows, matrix, own, norm });
            first += Place::padded(rows);
        }
        let mut triplets = Triplets::new(Shape::new(first, first));
        let (mut b, mut inverses) = (vec![0.0; first], vec![0.0; first]);
        for (problem, place) in problems.iter().zip(&places) {
            let scaled = |value| times_power_of_two(value, -place.matrix);
            for (row, col, value) in problem.a.entries() {
                triplets.push(place.first + row, place.first + col, scaled(value))?;
            }
            // Rows that fill up are problems of their own, with the solution zero.
            for row in place.rows..Place::padded(place.rows) {
                triplets.push(place.first + row, place.first + row, 1.0)?;
            }
            let sides = problem.b.iter().zip(problem.a.diagonal());
            for ((value, diagonal), i) in sides.zip(place.first..) {
                if let (Some(b), Some(inverse)) = (b.get_mut(i), inverses.get_mut(i)) {
                    *b = times_power_of_two(*value, -place.own);
                    *inverse = 1.0 / scaled(diagonal);
                }
            }
        }
        let _scope = device.scope()?;
        let texels: Vec<usize> = places.iter().map(|p| Place::padded(p.rows) / 4).collect();
        Ok(LcpBatch {
            matrix: Rc::new(SparseMatrix::from_triplets(device, &triplets, SparseFormat::Auto)?),
            b: Rc::new(Vector::from_f64(device, &b)?),
            inverses: Rc::new(Vector::from_f64(device, &inverses)?),
            partition: Rc::new(Partition::of(device, &texels)?),
            places: places.into(),
            groups: groups.into(),
        })
    }

    /// The unknowns of each problem, by their numbers.
    pub fn groups(&self) -> &[Vec<usize>] {
        &self.groups
    }

    /// The block-diagonal operator, scaled and filled up: for [`ProjectedJacobi`](super::ProjectedJacobi) with all
    /// problems at once, whose sweeps do not notice the scales.
    pub fn operator(&self) -> &SparseMatrix {
        &self.matrix
    }

    /// The right-hand side that goes with it.
    pub fn right_hand_side(&self) -> &Vector {
        &self.b
    }

    /// A vector of the batch from a warm start, by the numbers of the unknowns.
    ///
    /// *Cost*: 1 upload. *Errors*: [`Error::LengthMismatch`]; [`Error::NonFinite`] also for what overflows when scaled.
    pub fn start(&self, x: &[f32]) -> Result<Vector> {
        let expected = self.groups.iter().map(Vec::len).sum();
        if x.len() != expected {
            let (op, operand, found) = ("LcpBatch::start", "x", x.len());
            return Err(Error::LengthMismatch { op, operand, found, expected });
        }
        check_finite("LcpBatch::start: x", x.iter().copied().map(f64::from))?;
        let mut values = vec![0.0; self.b.len()];
        for (place, group) in self.places.iter().zip(self.groups.iter()) {
            for (number, i) in group.iter().zip(place.first..) {
                if let (Some(slot), Some(x)) = (values.get_mut(i), x.get(*number)) {
                    let (value, index) = (f64::from(*x) / place.unit(), *number);
                    if !(value as f32).is_finite() {
                        let what = "LcpBatch::start: x in the unit of its problem".to_owned();
                        return Err(Error::NonFinite { what, index, value });
                    }
                    *slot = value;
                }
            }
        }
        Vector::from_f64(self.matrix.device(), &values)
    }

    /// A vector of the batch by the numbers of the unknowns. *Cost*: 1 readback. *Errors*: [`Error::ShapeMismatch`].
    pub fn read(&self, x: &Vector) -> Result<Vec<f32>> {
        let parts = self.split(x)?;
        let mut all = vec![0.0; self.groups.iter().map(Vec::len).sum()];
        for (group, part) in self.groups.iter().zip(&parts) {
            for (number, value) in group.iter().zip(part) {
                if let Some(slot) = all.get_mut(*number) {
                    *slot = *value;
                }
            }
        }
        Ok(all)
    }

    /// A vector of the batch problem by problem. *Cost*: 1 readback. *Errors*: [`Error::ShapeMismatch`];
    /// [`Error::NonFinite`] for an element, by its place in the batch, that has no 32 bits without the scale.
    pub fn split(&self, x: &Vector) -> Result<Vec<Vec<f32>>> {
        ops::check_shape("LcpBatch::split", "x", x.shape(), self.b.shape())?;
        let values = x.read()?;
        let of = |place: &Place| {
            let own = values.get(place.first..place.first + place.rows).unwrap_or_default();
            let own: Vec<f32> = own.iter().map(|v| (f64::from(*v) * place.unit()) as f32).collect();
            check_finite("LcpBatch: x", own.iter().copied().map(f64::from))?;
            Ok(own)
        };
        self.places.iter().map(of).collect()
    }

    /// Solves all problems, from the warm start in `x`. What has diverged is a report here
    /// ([`StopReason::Diverged`](crate::solve::StopReason::Diverged)), and leaves the others alone.
    ///
    /// *Cost*: as [`LcpSolver`](super::LcpSolver) with the block-diagonal operator; the power iterations included.
    /// *Errors*: [`Error::Parameter`], [`Error::ShapeMismatch`], [`Error::NonFinite`] for an `x` that is not finite.
    pub fn solve(&self, x: &mut Vector, params: LcpParams) -> Result<LcpReport<Vec<LcpOutcome>>> {
        now(self.solving(x, params, &mut |_| {}))
    }

    /// The same solve, to be advanced a [slice](crate::solve::Slice) at a time: see [`Solving`]. `x` is borrowed (`&mut x`) or owned
    /// (boxed); the batch is cloned, which copies handles. The power iterations are in one slice.
    ///
    /// *Cost*: nothing is drawn, nor refused, before the first slice.
    ///
    /// ```
    /// use texla::{Shape, host::Triplets, solve::{LcpBatch, LcpParams, Slice}};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let a = Triplets::from_dense(Shape::new(2, 2), &[2.0, 0.0, 0.0, 4.0])?.to_csr();
    /// let batch = LcpBatch::decompose(ctx.device(), &a, &[-6.0, 8.0])?;
    /// let mut solving = batch.begin(Box::new(batch.start(&[0.0; 2])?), LcpParams::default());
    /// while !solving.advance(Slice::iterations(5))?.done {} // draw a frame
    /// let (x, report) = solving.finish();
    /// assert!(report?.converged());
    /// let x = batch.read(&x)?;
    /// assert!((x[0] - 3.0).abs() < 1e-3 && x[1] == 0.0);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn begin<'s, X>(&self, x: X, params: LcpParams) -> Solving<'s, X, LcpReport<Vec<LcpOutcome>>>
    where
        X: DerefMut<Target = Vector> + 's,
    {
        let batch = self.clone();
        Solving::new(self.matrix.device(), move |seen| async move {
            let mut x = x;
            let tell = &mut |point| seen.set(Some(point));
            let done = batch.solving(&mut x, params, tell).await;
            (x, done)
        })
    }

    async fn solving(
        &self,
        x: &mut Vector,
        params: LcpParams,
        observe: &mut Observer<'_>,
    ) -> Result<LcpReport<Vec<LcpOutcome>>> {
        let op = "LcpBatch::solve";
        params.check(op)?;
        x.writable(op)?;
        ops::check_shape(op, "x", x.shape(), self.b.shape())?;
        let device = self.matrix.device();
        scoped(device, async {
            let finite = Finite::ask(op, x, None)?;
            let spectrum = match params.relaxation {
                Relaxation::Fixed(_) => None,
                _ => Some(estimate(&*self.matrix, 1.0, &self.inverses, &self.partition)?),
            };
            let mut projected = Vector::uninit(device, x.len())?;
            ops::clamp(&mut projected, x, 0.0, f32::MAX)?;
            let start = Iterand { high: projected, low: None };
            let mut run = Run::new(self.system(spectrum.as_ref()), start, params.relaxation)?;
            finite.check().await?;
            let report = drive(&mut run, &params, observe).await?.report;
            ops::copy(x, &run.x.high)?;
            Ok(report)
        })
        .await
    }

    /// The natural residual of every problem: see [`natural_residual`](super::natural_residual). For what fixed sweeps
    /// have come to.
    ///
    /// *Cost*: a product in double-float, a reduction; 1 readback. *Errors*: [`Error::ShapeMismatch`].
    pub fn natural_residuals(&self, x: &Vector) -> Result<Vec<NaturalResidual>> {
        ops::check_shape("LcpBatch::natural_residuals", "x", x.shape(), self.b.shape())?;
        let _scope = self.matrix.device().scope()?;
        let system = self.system(None);
        let Measured { residuals, accuracy, .. } = now(system.residuals((x, None), &system.units()?))?;
        let of = |(r, place): (&Residual, &Place)| {
            let largest = r.natural * place.norm.unwrap_or(1.0) * f64::from(place.own).exp2();
            let relative = if place.norm.is_some() { r.natural } else { largest };
            NaturalResidual { largest, relative, accuracy }
        };
        Ok(residuals.iter().zip(self.places.iter()).map(of).collect())
    }

    fn system<'a>(&'a self, spectrum: Option<&'a Table>) -> System<'a> {
        let problem = |p: &Place| Problem {
            norm: p.norm.unwrap_or(1.0),
            trivial: p.norm.is_none(),
            unit: natural_unit(p.matrix),
            rows: p.rows,
        };
        System {
            a: &*self.matrix,
            matrix_scale: 1.0,
            inverses: &self.inverses,
            partition: &self.partition,
            spectrum,
            b: &self.b,
            b_low: None,
            unit: 0,
            problems: self.places.iter().map(problem).collect(),
        }
    }
}

fn check_shapes(problem: &LcpProblem<'_>, name: &str) -> Result<()> {
    let shape = problem.a.shape();
    if !shape.is_square() {
        let detail = format!("{name}is {shape}, expected as many rows as columns");
        return Err(Error::Matrix { op: OP, detail });
    }
    if problem.b.len() != shape.rows {
        let (found, expected) = (problem.b.len(), shape.rows);
        return Err(Error::LengthMismatch { op: OP, operand: "b", found, expected });
    }
    Ok(())
}
