//! Incomplete factors, applied by sweeps.

use super::approximate_inverse::scaled;
use super::{Preconditioner, entries};
use crate::data::{self, MatrixFormat, SparseMatrix, StoredMatrix, Vector};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::approximate::{Factors, ic0, ilu0, ilut, minimum_degree};
use crate::host::{Csr, Prepared};
use crate::ops::{self, Combine, LinOp};
use crate::shape::Shape;
use crate::solve::drive::check::{check_square, check_symmetric, check_vectors_of};
use crate::solve::drive::scales::exponent_of;

/// Parameters of [`IncompleteLu`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct IluParams {
    /// Elements that a row of either factor may have beside as many as the matrix has there; none keeps to the pattern of the
    /// matrix, ILU(0).
    pub fill: usize,
    /// What is less than this share of the norm of the matrix' row is dropped.
    pub drop: f64,
    /// Whether rows are matched to columns and both scaled first ([`Prepared`]): factors need no zero on the diagonal, and none that is
    /// small beside its row. With fill columns are exchanged on the way, too, where pivots become small (ILUTP).
    pub prepared: bool,
    /// Sweeps by which a triangle is solved end where they agree with substitution to this.
    pub tolerance: f64,
}

with!(const IluParams:
    with_fill(fill: usize),
    with_drop(drop: f64),
    with_prepared(prepared: bool),
    with_tolerance(tolerance: f64),
);

impl Default for IluParams {
    fn default() -> Self {
        IluParams { fill: 20, drop: 1e-3, prepared: true, tolerance: 1e-2 }
    }
}

/// Incomplete factors `L U ≈ A` by elimination that keeps the largest elements of each row (ILUT: Y. Saad, Numer. Linear Algebra
/// Appl. 1, 1994), or those where the matrix has some (ILU(0)); for [`Gmres`](crate::solve::Gmres) and
/// [`BiCgStab`](crate::solve::BiCgStab).
///
/// Elimination is done on the host, in 64 bits; where rows are matched, in the order of minimum degree (P. Amestoy, T. Davis, I. Duff,
/// SIAM J. Matrix Anal. Appl. 17, 1996), in which factors fill least and chains are short. Triangles are solved by Jacobi sweeps, `z ← r - (L - I) z`, each of them a product
/// (H. Anzt, E. Chow, J. Dongarra, *Iterative sparse triangular solves for preconditioning*, 2015). After as many as the longest
/// chain of dependencies has links they are exact; how many are made is found on the host beforehand: the fewest that agree with
/// substitution to [`tolerance`](IluParams::tolerance). Fixed-point sweeps for the factors themselves (E. Chow, A. Patel, SIAM J. Sci.
/// Comput. 37, 2015) would converge to what elimination gives at once.
///
/// *Cost* of an application: a pass for each sweep, one more, and two where rows are matched.
///
/// ```
/// use texla::{SparseFormat, SparseMatrix, Vector, host::Triplets, solve::{Gmres, GmresParams, IluParams, IncompleteLu}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // Nothing on the diagonal: the rows of a ring are exchanged.
/// let mut t = Triplets::new(texla::Shape::new(60, 60));
/// for i in 0..60 {
///     t.push(i, (i + 1) % 60, 4.0)?;
///     t.push(i, (i + 2) % 60, -1.0)?;
/// }
/// let a = SparseMatrix::from_triplets(dev, &t, SparseFormat::Auto)?;
/// let m = IncompleteLu::new(&a, IluParams::default())?;
/// let b = Vector::filled(dev, 60, 3.0)?;
/// let mut x = Vector::zeros(dev, 60)?;
/// let report = Gmres::preconditioned(&a, &m, GmresParams::default())?.solve(&mut x, &b)?;
/// assert!(report.converged() && report.iterations <= 4, "{report}");
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Debug)]
pub struct IncompleteLu {
    solves: Triangles,
    /// Rows exchanged and scaled before, and columns scaled after.
    around: Option<[SparseMatrix; 2]>,
}

/// Unknowns up to which the order of minimum degree is worth its time, some twenty microseconds each; beyond it is reverse
/// Cuthill-McKee.
const MOST_ORDERED: usize = 50_000;

impl IncompleteLu {
    /// From the entries of a square operator.
    ///
    /// *Cost*: elimination on the host; up to 6 uploads a matrix. *Errors*: [`Error::Matrix`] when it is not square;
    /// [`Error::Parameter`]; [`Error::Unsupported`] when the operator does not give its entries ([`pattern`](crate::ops::LinOp::pattern)).
    pub fn new(a: impl LinOp, params: IluParams) -> Result<Self> {
        Self::of(&a, params)
    }

    fn of(a: &dyn LinOp, params: IluParams) -> Result<Self> {
        let op = "IncompleteLu";
        check_square(op, a)?;
        let IluParams { fill, drop, prepared, tolerance } = params;
        check_share(op, "drop", drop)?;
        check_share(op, "tolerance", tolerance)?;
        let csr = entries(op, a)?;
        let prepared = match prepared {
            true => Some(Prepared::new(csr)?),
            false => None,
        };
        // Factors fill least and their chains are short: a fraction of the sweeps.
        let prepared = prepared.map(|prepared| {
            let few = prepared.rows().len() <= MOST_ORDERED;
            let order = if few {
                minimum_degree(prepared.matrix())
            } else {
                prepared.matrix().reverse_cuthill_mckee()
            };
            prepared.in_order(&order)
        });
        let matrix = prepared.as_ref().map_or(csr, Prepared::matrix);
        let factors = if fill == 0 { ilu0(matrix)? } else { ilut(matrix, fill, drop, prepared.is_some())? };
        let mut exponent = exponent_of(a)?;
        let around = match &prepared {
            None => None,
            Some(prepared) => {
                let [rows, columns] = prepared.factors()?;
                let columns =
                    columns.permuted(&(0..factors.columns.len()).collect::<Vec<_>>(), &factors.columns)?;
                // The largest is 1 on the device, and what that takes out stands with the pivots.
                let mut on_device = |csr: Csr| {
                    let own = if csr.nnz() > 0 { data::exponent(csr.max_abs()) } else { 0 };
                    exponent += own;
                    scaled(a.device(), &csr, -own)
                };
                Some([on_device(rows)?, on_device(columns)?])
            }
        };
        // A times this is about 1, as is the matrix on the device: by powers of two.
        let solves = Triangles::new(a.device(), &factors, (tolerance, exponent), false)?;
        Ok(IncompleteLu { solves, around })
    }

    /// Sweeps for the lower and for the upper triangle.
    pub fn sweeps(&self) -> [usize; 2] {
        self.solves.sweeps
    }

    /// Multiplications of an application, for the cost of that beside a product's.
    pub fn multiplications(&self) -> f64 {
        let Triangles { lower, upper, sweeps: [down, up], .. } = &self.solves;
        let of = |t: &StoredMatrix, sweeps: usize| (t.pattern().nnz() * sweeps) as f64;
        of(lower, *down) + of(upper.as_ref().unwrap_or(lower), *up)
    }
}

fn check_share(op: &'static str, name: &'static str, value: f64) -> Result<()> {
    if (0.0..1.0).contains(&value) {
        return Ok(());
    }
    let (value, expected) = (crate::host::number(value), "0 or more and less than 1");
    Err(Error::Parameter { op, name, value, expected })
}

impl Preconditioner for IncompleteLu {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        self.solves.check("IncompleteLu::apply", z, r)?;
        let _scope = r.device().scope()?;
        let Some([rows, columns]) = &self.around else { return self.solves.solve(z, r) };
        let fresh = || Vector::uninit(r.device(), r.len());
        let (mut of_rows, mut solved) = (fresh()?, fresh()?);
        ops::product(&mut of_rows, Combine::Replace, 1.0, rows, r)?;
        self.solves.solve(&mut solved, &of_rows)?;
        ops::product(z, Combine::Replace, 1.0, columns, &solved)
    }

    fn indefinite(&self) -> Option<String> {
        Some("is one of incomplete factors that are not symmetric (IncompleteCholesky is)".to_owned())
    }

    fn is_replayable(&self) -> bool {
        true
    }
}

/// Incomplete factors `L D Lᵀ ≈ A` of a symmetric positive definite matrix, on its own pattern: IC(0), solved by sweeps as
/// [`IncompleteLu`]'s are. As many for `Lᵀ` as for `L`, so that what is applied is symmetric and positive definite itself.
///
/// Where a pivot is not positive elimination is begun again with a larger diagonal (T. Manteuffel, 1980).
///
/// *Cost* of an application: a pass for each sweep and one more.
///
/// ```
/// use texla::{SparseFormat, StoredMatrix, Vector, host::problems};
/// use texla::solve::{CgParams, ConjugateGradient, IncompleteCholesky};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = StoredMatrix::new(dev, problems::poisson_2d(40, 40).to_csr(), SparseFormat::Gather)?;
/// let b = Vector::filled(dev, 1600, 1.0)?;
/// let m = IncompleteCholesky::new(&a, 1e-2)?;
/// let iterations = |report: texla::solve::SolveReport| report.iterations;
/// let plain = ConjugateGradient::new(&a, CgParams::default())?.solve(&mut Vector::zeros(dev, 1600)?, &b)?;
/// let cg = ConjugateGradient::preconditioned(&a, &m, CgParams::default())?;
/// let fewer = cg.solve(&mut Vector::zeros(dev, 1600)?, &b)?;
/// assert!(2 * fewer.iterations < plain.iterations, "{fewer}; {plain}");
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Debug)]
pub struct IncompleteCholesky {
    solves: Triangles,
}

impl IncompleteCholesky {
    /// From the entries of a symmetric operator; sweeps agree with substitution to `tolerance`.
    ///
    /// *Cost*: elimination on the host; up to 6 uploads. *Errors*: [`Error::Matrix`] when it is not square, not symmetric, or a
    /// diagonal entry is not positive; [`Error::Parameter`]; [`Error::Unsupported`] when the operator does not give its entries.
    pub fn new(a: impl LinOp, tolerance: f64) -> Result<Self> {
        Self::of(&a, tolerance)
    }

    fn of(a: &dyn LinOp, tolerance: f64) -> Result<Self> {
        let op = "IncompleteCholesky";
        check_square(op, a)?;
        check_symmetric(op, a)?;
        check_share(op, "tolerance", tolerance)?;
        let factors = ic0(entries(op, a)?)?;
        let solves = Triangles::new(a.device(), &factors, (tolerance, exponent_of(a)?), true)?;
        Ok(IncompleteCholesky { solves })
    }

    /// Sweeps for each triangle.
    pub fn sweeps(&self) -> usize {
        self.solves.sweeps[0]
    }
}

impl Preconditioner for IncompleteCholesky {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        self.solves.check("IncompleteCholesky::apply", z, r)?;
        let _scope = r.device().scope()?;
        self.solves.solve(z, r)
    }

    fn is_replayable(&self) -> bool {
        true
    }
}

/// `(I + L) D (I + U)`, of which the strict triangles are multiplied with alone.
#[derive(Debug)]
struct Triangles {
    lower: StoredMatrix,
    /// None where it is the transpose of the other.
    upper: Option<StoredMatrix>,
    /// `2^exponent / D`.
    inverse: Vector,
    sweeps: [usize; 2],
}

impl Triangles {
    fn new(
        device: &Device,
        factors: &Factors,
        (tolerance, exponent): (f64, i32),
        symmetric: bool,
    ) -> Result<Self> {
        let stored = |csr: &Csr| StoredMatrix::new(device, csr.clone(), MatrixFormat::Auto);
        let [lower, upper] = factors.sweeps(tolerance);
        let unit = f64::from(exponent).exp2();
        let inverse: Vec<f64> = factors.diagonal.iter().map(|d| unit / d).collect();
        Ok(Triangles {
            lower: stored(&factors.lower)?,
            upper: if symmetric { None } else { Some(stored(&factors.upper)?) },
            inverse: Vector::from_f64(device, &inverse)?,
            sweeps: if symmetric { [lower.max(upper); 2] } else { [lower, upper] },
        })
    }

    fn check(&self, op: &'static str, z: &Vector, r: &Vector) -> Result<()> {
        let n = self.inverse.len();
        check_vectors_of(op, self.inverse.device(), Shape::new(n, n), z, r)
    }

    fn solve(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        let [lower, upper] = self.sweeps;
        let y = swept(r, lower, None, |next, of| {
            ops::product(next, Combine::SubtractFrom(r), 1.0, &self.lower, of)
        })?;
        let mut scaled = Vector::uninit(r.device(), r.len())?;
        ops::mul(&mut scaled, &self.inverse, y.as_ref().unwrap_or(r))?;
        let last = swept(&scaled, upper, Some(&mut *z), |next, of| match &self.upper {
            Some(upper) => ops::product(next, Combine::SubtractFrom(&scaled), 1.0, upper, of),
            None => ops::product_transposed(next, Combine::SubtractFrom(&scaled), 1.0, &self.lower, of),
        })?;
        // No sweep has written it.
        if upper == 0 { ops::copy(z, last.as_ref().unwrap_or(&scaled)) } else { Ok(()) }
    }
}

/// So many sweeps from what they are to begin with; the last one is written to `into`, if that is given, else returned.
fn swept(
    first: &Vector,
    sweeps: usize,
    mut into: Option<&mut Vector>,
    sweep: impl Fn(&mut Vector, &Vector) -> Result<()>,
) -> Result<Option<Vector>> {
    let mut now: Option<Vector> = None;
    for k in 1..=sweeps {
        let of = now.as_ref().unwrap_or(first);
        match into.as_deref_mut().filter(|_| k == sweeps) {
            Some(into) => sweep(into, of)?,
            None => {
                let mut next = Vector::uninit(first.device(), first.len())?;
                sweep(&mut next, of)?;
                now = Some(next);
            }
        }
    }
    Ok(now)
}
