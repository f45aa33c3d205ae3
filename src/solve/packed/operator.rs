//! Operators whose products run on the generated programs of repeated blocks.

use super::blocks::BlockExpression;
use super::{BlockParams, BlockPlan, BlockUse};
use crate::data::{Scaling, StoredMatrix, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::host::Csr;
use crate::ops::{
    Accurate, Checked, Coefficient, Combine, ExactSum, LinOp, Part, Product, Summand, check_shape,
};
use crate::pack::{Order, RepeatedExpression};
use crate::profile::Workload;
use crate::shape::Shape;

/// The matrix of a [`RepeatedExpression`] as an operator: what it multiplies goes through the generated programs, and no matrix is
/// fetched. It is usable wherever a [`LinOp`] is, with [`EnhancedBlockJacobi`](super::EnhancedBlockJacobi) of the same
/// expression as its smoother or preconditioner.
///
/// Whatever else an operator is asked is answered by an *exact* form of the same matrix beside it: residuals in double-float,
/// by which solvers certify; the transpose; entries, symmetry, null spaces. That is a [`StoredMatrix`] made of
/// [`RepeatedExpression::to_triplets`], or [one's own](Self::with): a [`Stencil`](crate::Stencil) stores nothing, and knows its
/// null space. Programs hold coefficients in 32 bits, and sums of pairs would take many times their instructions, for what a
/// solve asks once in many iterations.
///
/// *Shapes*: square, of all [unknowns](RepeatedExpression::unknowns) in natural order. *Cost* of a product: the draws of
/// [`BlockExpression::apply`], those of [`BlockExpression::pack`] before and of [`BlockExpression::unpack`] after them, and one
/// more where it is combined with another vector or its factor is on the device; no readback. What can keep its vectors in blocks, as sweeps and explicit
/// updates do, is better off with [`BlockExpression`]: bringing them there and back fetches more than most products. *Bound*:
/// as [`ops::product`](crate::ops::product), for the terms of a block row. *Source*: \[Bajaj04\] section 4.
///
/// ```
/// use texla::host::Triplets;
/// use texla::pack::{LinearExpression, RepeatedExpression};
/// use texla::solve::{BlockOperator, CgParams, ConjugateGradient, EnhancedBlockJacobi, StopReason};
/// use texla::{Shape, Vector};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // A small sparse system of one's own, for two right-hand sides: as many blocks, and no link.
/// let entries = [(0, 0, 4.0), (0, 2, 1.0), (1, 1, 2.0), (2, 0, 1.0), (2, 2, 3.0)];
/// let small = Triplets::from_entries(Shape::new(3, 3), entries)?; // of a Csr: its to_triplets
/// let e = RepeatedExpression::new(LinearExpression::new(&small, &[true; 3])?, [2, 1], Default::default())?;
/// let (a, _plan) = BlockOperator::chosen(dev, &e)?;
/// let (jacobi, _) = EnhancedBlockJacobi::chosen(dev, &e)?;
/// let b = Vector::from_slice(dev, &[5., 2., 4., 9., 4., 5.])?;
/// let mut x = Vector::zeros(dev, 6)?;
/// let cg = ConjugateGradient::preconditioned(&a, &jacobi, CgParams::default())?;
/// assert_eq!(cg.solve(&mut x, &b)?.reason, StopReason::Converged);
/// assert!(x.read()?.iter().zip([1., 1., 1., 2., 2., 1.]).all(|(x, exact)| (x - exact).abs() < 1e-5));
/// # Ok::<(), texla::Error>(())
/// ```
pub struct BlockOperator<A = StoredMatrix> {
    /// Of the matrix divided by the power of two that is stored, without b.
    product: BlockExpression,
    scaling: Scaling,
    exact: A,
}

shown!(BlockOperator, |a| "BlockOperator({:?})", a.product);

impl BlockOperator {
    /// The operator of an expression, whose b is not looked at, in the order, layout and schedule that are
    /// [chosen](BlockPlan::choose) for this device, with a [`StoredMatrix`] beside it; and what was chosen.
    ///
    /// *Errors*: as [`with`](Self::with), [`BlockPlan::choose`], [`RepeatedExpression::to_triplets`] and [`StoredMatrix::new`].
    pub fn chosen(device: &Device, e: &RepeatedExpression) -> Result<(Self, BlockPlan)> {
        let plan = BlockPlan::choose(device, &e.times(1.0)?, BlockUse::Apply)?;
        let exact = StoredMatrix::new(device, e.to_triplets()?.to_csr(), crate::MatrixFormat::Auto)?;
        Ok((Self::with(exact, e, &plan.order, plan.params)?, plan))
    }
}

impl<A: LinOp> BlockOperator<A> {
    /// The same in an order, a layout and by a schedule of one's own, beside an exact form: an operator on the same device that
    /// stands for the same matrix. Whether it does is not asked; if not, solves do not converge. There is no b to be subtracted:
    /// [`BlockParams::subtract_b`] makes no difference.
    ///
    /// *Errors*: [`Error::ShapeMismatch`](crate::Error::ShapeMismatch) for an exact form of another shape; otherwise as
    /// [`BlockExpression::with`].
    pub fn with(exact: A, e: &RepeatedExpression, order: &Order, params: BlockParams) -> Result<Self> {
        let n = e.unknowns();
        check_shape("BlockOperator::with", "exact", exact.shape(), Shape::new(n, n))?;
        let scaling = Scaling::new("BlockOperator", &e.coefficients())?;
        let e = e.times((-f64::from(scaling.stored)).exp2())?;
        let product = BlockExpression::of(exact.device(), &e, order, params, &[BlockUse::Apply])?;
        Ok(Self { product, scaling, exact })
    }
}

impl<A> BlockOperator<A> {
    /// The programs that multiply.
    pub fn expression(&self) -> &BlockExpression {
        &self.product
    }

    /// The form that answers for residuals.
    pub fn exact(&self) -> &A {
        &self.exact
    }
}

/// *Cost*, *bound*: see [`BlockOperator`].
impl<A: LinOp> LinOp for BlockOperator<A> {
    fn device(&self) -> &Device {
        self.exact.device()
    }

    fn shape(&self) -> Shape {
        self.exact.shape()
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        let _scope = self.device().scope()?;
        let x = self.product.pack(terms.x)?;
        let mut made = self.product.uninit()?;
        // There is no b to be read.
        self.product.apply(&mut made, &x, &x)?;
        let (factors, rest) = (self.scaling.factors(terms.factor()), terms.rest());
        if let (Combine::Replace, Coefficient::Host(_)) = (rest.combine, rest.alpha) {
            return self.product.unpack_scaled(y, &made, factors);
        }
        let mut alone = Vector::uninit(self.device(), y.len())?;
        self.product.unpack_scaled(&mut alone, &made, factors)?;
        rest.finish(y, &alone)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.exact.apply_transposed(y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        self.exact.accurate(out, terms, part)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        self.exact.accumulate(sum, terms)
    }

    fn workload(&self) -> Option<Workload> {
        Some(self.product.workload(BlockUse::Apply) + self.product.relayout())
    }

    fn pattern(&self) -> Option<&Csr> {
        self.exact.pattern()
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        self.exact.diagonal()
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        self.exact.column_squares()
    }

    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        self.exact.asymmetry()
    }

    fn null_space(&self) -> &[Vector] {
        self.exact.null_space()
    }

    fn exponent(&self) -> Result<i32> {
        self.exact.exponent()
    }
}
