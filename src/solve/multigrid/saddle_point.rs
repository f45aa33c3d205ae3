//! Block preconditioner for saddle points: multigrid for one block, an approximate Schur complement for the other.

use std::rc::Rc;

use super::{AggregationMultigrid, AggregationParams};
use crate::data::{StoredMatrix, Vector};
use crate::error::{Error, Result};
use crate::ops::LinOp;
use crate::solve::drive::check::check_square;
use crate::solve::precondition::{Preconditioner, entries};

/// Name of the operation in errors.
const OP: &str = "SaddlePoint";

/// The preconditioner `diag(K, S)⁻¹` of a saddle point `A = (K Bᵀ; B -C)`, for [`Minres`](crate::solve::Minres).
///
/// The unknowns may have any order: those whose diagonal entry is not positive are the second block (pressures, multipliers). `K` is
/// divided by with a cycle of [`AggregationMultigrid`], and so is what stands for the Schur complement `B K⁻¹ Bᵀ + C`: with `D` the diagonal of
/// `K`, all of `B D⁻¹ Bᵀ + C` where `D` is near `K` (Darcy's flow, constraints), and of that the diagonal where `K` maps ones to nearly
/// zero (Stokes).
///
/// # Cost
/// Of the set-up that of [`AggregationMultigrid`] for a matrix of about as many entries, of an application that of its cycle.
///
/// # Source
/// A. Wathen, D. Silvester, 1993; M. Murphy, G. Golub, A. Wathen, 2000 (MINRES with the exact blocks takes three iterations).
///
/// # Examples
/// ```
/// use texla::{Shape, SparseFormat, StoredMatrix, Vector, host::{problems, Triplets}};
/// use texla::solve::{Minres, MinresParams, SaddlePoint};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // A grid of 20 x 20 springs, of which the first row is tied to the last one.
/// let (springs, n) = (problems::poisson_2d(20, 20).to_csr(), 400);
/// let ties = (0..20).flat_map(|k| [(k, 1.0), (k + 380, -1.0)].map(|(j, v)| (n + k, j, v)));
/// let ties = ties.flat_map(|(i, j, v)| [(i, j, v), (j, i, v)]);
/// let a = Triplets::from_entries(Shape::new(420, 420), springs.entries().chain(ties))?.to_csr();
/// let b: Vec<f64> = (0..420).map(|i| if i < n { 1.0 } else { 0.0 }).collect();
///
/// let a = StoredMatrix::new(dev, a, SparseFormat::Auto)?;
/// let solver = Minres::preconditioned(&a, SaddlePoint::new(&a)?, MinresParams::default())?;
/// let mut x = Vector::zeros(dev, 420)?;
/// let report = solver.solve(&mut x, &Vector::from_f64(dev, &b)?)?;
/// assert!(report.converged() && report.iterations < 60, "{report}");
/// let x = x.read()?;
/// assert!((x[7] - x[387]).abs() < 1e-2 * x[7]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct SaddlePoint {
    inner: AggregationMultigrid<Rc<StoredMatrix>>,
}

shown!(SaddlePoint, |m| "SaddlePoint({:?})", m.inner);

impl SaddlePoint {
    /// Sets up the preconditioner.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the operator does not give its entries ([`LinOp::pattern`]); [`Error::Matrix`] if it is not
    /// symmetric or no saddle point: each diagonal entry is positive, more than half are not, or a row without a positive one has no entry in a
    /// column with one; those of [`AggregationMultigrid::new`].
    pub fn new(a: impl LinOp) -> Result<Self> {
        check_square(OP, &a)?;
        let pattern = entries(OP, &a)?;
        if let Some((i, j, one, other)) = a.asymmetry()? {
            let detail = format!("is not symmetric: A[{i}, {j}] = {one:e}, A[{j}, {i}] = {other:e}");
            return Err(Error::Matrix { op: OP, detail });
        }
        let second = pattern.second_block();
        if second.is_empty() {
            let detail = "is no saddle point, expected at most half of all diagonal entries zero or negative, in rows that are \
                          coupled to others"
                .to_owned();
            return Err(Error::Matrix { op: OP, detail });
        }
        let near = a.near_null_space();
        let vector = near.and_then(|space| space.scalar());
        let blocks = pattern.beside_schur(&second, vector)?;
        let blocks = StoredMatrix::rounded(a.device(), blocks)?;
        let blocks = match near {
            Some(space) => blocks.with_near_null_space(space.clone())?,
            None => blocks,
        };
        let inner = AggregationMultigrid::new(Rc::new(blocks), AggregationParams::default())?;
        Ok(SaddlePoint { inner })
    }
}

impl Preconditioner for SaddlePoint {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        self.inner.apply(z, r)
    }

    fn is_replayable(&self) -> bool {
        self.inner.is_replayable()
    }
}
