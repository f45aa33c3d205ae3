//! Every solver on every kind of operator.

use std::fmt;

use texla::kernel::Predicate;
use texla::ops::{Accurate, Checked, ExactSum, LinOp, Part, Product, Summand};
use texla::solve::{
    Auto, AutoParams, BiCgStab, BiCgStabParams, BlockJacobi, Breakdown, CgParams, CgSchedule, Cgls,
    CglsParams, Chebyshev, ChebyshevParams, ConjugateGradient, Direction, FlexibleCgParams,
    FlexibleConjugateGradient, Fsai, GaussSeidel, Gmres, GmresParams, Identity, IluParams,
    IncompleteCholesky, IncompleteLu, Jacobi, LcpBatch, LcpOutcome, LcpParams, LcpProblem, LcpSolver, Minres,
    MinresParams, Multigrid, MultigridParams, NineBandSmoother, Preconditioner, Relaxation, Smoother,
    SolveReport, Spai, Stationary, StationaryParams, Stop, StopReason, Sweepable, WeightedJacobi,
};
use texla::{
    ColumnStack, Device, Error, FoldedBands, Matrix, MatrixFormat, Result, Shape, SparseFormat, Stencil,
    StencilParams, StoredMatrix, Vector, host,
};

use crate::common::random::Rng;
use crate::common::worst::worst;
use crate::exact::Term;
use crate::judge::{Measure, Outcome, Problem};
use crate::systems::{Form, System};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Help {
    None,
    Jacobi,
    GaussSeidel,
    NineBands,
    Multigrid,
    Block,
    Polynomial,
    Fsai,
    Spai,
    Cholesky,
    Ilut,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    Cg(CgSchedule, Help),
    Fixed(CgSchedule),
    /// With polynomials of this degree.
    BiCgStab(Help, usize),
    Gmres(Help, usize),
    Minres(Help),
    Flexible(Help),
    /// What suits the matrix.
    Auto,
    Cgls(Help),
    Jacobi(f64),
    GaussSeidel(f64, Direction),
    NineBands,
    Multigrid,
    Lcp(Relaxation),
    Batch(Relaxation),
}

impl Method {
    pub const ALL: [Method; 46] = [
        Method::Cg(CgSchedule::Fused, Help::None),
        Method::Cg(CgSchedule::Merged, Help::Jacobi),
        Method::Cg(CgSchedule::Listing, Help::None),
        Method::Cg(CgSchedule::Listing, Help::Jacobi),
        Method::Cg(CgSchedule::Auto, Help::GaussSeidel),
        Method::Cg(CgSchedule::Auto, Help::NineBands),
        Method::Cg(CgSchedule::Auto, Help::Multigrid),
        Method::Fixed(CgSchedule::Merged),
        Method::Fixed(CgSchedule::Listing),
        Method::BiCgStab(Help::None, 1),
        Method::BiCgStab(Help::Jacobi, 1),
        Method::BiCgStab(Help::GaussSeidel, 1),
        Method::BiCgStab(Help::None, 2),
        Method::BiCgStab(Help::Jacobi, 2),
        Method::Cgls(Help::None),
        Method::Cgls(Help::Jacobi),
        Method::Jacobi(2.0 / 3.0),
        Method::Jacobi(1.0),
        Method::Jacobi(1.9),
        Method::GaussSeidel(1.0, Direction::Forward),
        Method::GaussSeidel(1.5, Direction::Backward),
        Method::GaussSeidel(1.0, Direction::Symmetric),
        Method::NineBands,
        Method::Multigrid,
        Method::Lcp(Relaxation::Accelerated),
        Method::Lcp(Relaxation::Estimated),
        Method::Lcp(Relaxation::Fixed(0.5)),
        Method::Lcp(Relaxation::Fixed(1.5)),
        Method::Batch(Relaxation::Accelerated),
        Method::Batch(Relaxation::Fixed(0.5)),
        Method::Gmres(Help::None, 50),
        Method::Gmres(Help::Jacobi, 6),
        Method::Gmres(Help::GaussSeidel, 20),
        Method::Minres(Help::None),
        Method::Minres(Help::Jacobi),
        Method::Minres(Help::Fsai),
        Method::Gmres(Help::Ilut, 30),
        Method::Gmres(Help::Block, 12),
        Method::Cg(CgSchedule::Auto, Help::Fsai),
        Method::Cg(CgSchedule::Auto, Help::Cholesky),
        Method::Cg(CgSchedule::Auto, Help::Polynomial),
        Method::BiCgStab(Help::Spai, 1),
        Method::Auto,
        Method::Flexible(Help::None),
        Method::Flexible(Help::GaussSeidel),
        Method::Flexible(Help::Spai),
    ];

    /// Those that can be tried on a system.
    pub fn on(system: &System) -> Vec<Method> {
        let fits = |m: &Method| match m {
            Method::Cgls(_) => true,
            Method::NineBands | Method::Cg(_, Help::NineBands) => matches!(system.form, Form::NineBands(_)),
            Method::Multigrid | Method::Cg(_, Help::Multigrid) => {
                matches!(system.form, Form::Stencil { .. })
            }
            _ => system.is_square(),
        };
        Self::ALL.into_iter().filter(fits).collect()
    }

    /// Those that differ in nothing but parameters and ordinary help have one family; what smooths is one alone and as
    /// help. None for what gives no verdict.
    pub fn family(self) -> Option<&'static str> {
        Some(match self {
            Method::Fixed(_) => return None,
            Method::NineBands | Method::Cg(_, Help::NineBands) => "nine bands",
            Method::Multigrid | Method::Cg(_, Help::Multigrid) => "multigrid",
            Method::Cg(..) => "CG",
            Method::BiCgStab(_, 1) => "BiCGStab",
            Method::BiCgStab(..) => "BiCGStab(2)",
            Method::Gmres(..) => "GMRES",
            Method::Minres(_) => "MINRES",
            Method::Flexible(_) => "flexible CG",
            Method::Auto => "auto",
            Method::Cgls(_) => "CGLS",
            Method::Jacobi(_) => "Jacobi",
            Method::GaussSeidel(..) => "Gauss-Seidel",
            Method::Lcp(_) => "LCP",
            Method::Batch(_) => "LCP batch",
        })
    }

    fn measure(self) -> Measure {
        match self {
            Method::Fixed(_) => Measure::Nothing,
            Method::Cgls(_) => Measure::Normal,
            Method::Lcp(_) | Method::Batch(_) => Measure::Complementarity,
            _ => Measure::Residual,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let with = |help: &Help| match help {
            Help::None => String::new(),
            help => format!(" with {help:?}"),
        };
        match self {
            Method::Cg(schedule, help) => write!(f, "CG {schedule:?}{}", with(help)),
            Method::Fixed(schedule) => write!(f, "CG {schedule:?}, fixed run"),
            Method::BiCgStab(help, 1) => write!(f, "BiCGStab{}", with(help)),
            Method::BiCgStab(help, ell) => write!(f, "BiCGStab({ell}){}", with(help)),
            Method::Gmres(help, restart) => write!(f, "GMRES({restart}){}", with(help)),
            Method::Minres(help) => write!(f, "MINRES{}", with(help)),
            Method::Flexible(help) => write!(f, "flexible CG{}", with(help)),
            Method::Auto => write!(f, "auto"),
            Method::Cgls(help) => write!(f, "CGLS{}", with(help)),
            Method::Jacobi(omega) => write!(f, "Jacobi {omega:.2}"),
            Method::GaussSeidel(omega, direction) => write!(f, "Gauss-Seidel {omega} {direction:?}"),
            Method::NineBands => write!(f, "nine bands"),
            Method::Multigrid => write!(f, "multigrid"),
            Method::Lcp(relaxation) => write!(f, "LCP {relaxation:?}"),
            Method::Batch(relaxation) => write!(f, "LCP batch {relaxation:?}"),
        }
    }
}

/// How the matrix is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Banded,
    Gather,
    Points,
    Dense,
    Folded,
    Stack,
    Stencil,
    /// A batch's own.
    Batch,
}

pub enum Operator {
    Stored(StoredMatrix),
    Dense(Matrix),
    Folded(Box<FoldedBands>),
    Stack(ColumnStack),
    Stencil(Box<Stencil>),
}

/// Most diagonals of a matrix that is kept by them.
const MOST_BANDS: usize = 24;

pub fn format(system: &System, method: Method, csr: &host::Csr, rng: &mut Rng) -> Format {
    let swept = matches!(method, Method::GaussSeidel(..) | Method::Cg(_, Help::GaussSeidel))
        || matches!(
            method,
            Method::BiCgStab(Help::GaussSeidel, _)
                | Method::Gmres(Help::GaussSeidel, _)
                | Method::Flexible(Help::GaussSeidel)
        );
    let multigrid = matches!(method, Method::Multigrid | Method::Cg(_, Help::Multigrid));
    let banded = csr.distinct_diagonals() <= MOST_BANDS;
    let fits = |format: &Format| match format {
        Format::Stencil => matches!(system.form, Form::Stencil { .. }),
        _ if multigrid => false,
        Format::Banded => banded,
        Format::Folded => banded && system.is_square() && !swept,
        Format::Dense | Format::Stack => !swept,
        _ => true,
    };
    let all = [
        Format::Banded,
        Format::Gather,
        Format::Points,
        Format::Dense,
        Format::Folded,
        Format::Stack,
        Format::Stencil,
        Format::Stencil,
    ];
    let fitting: Vec<_> = all.into_iter().filter(fits).collect();
    fitting[rng.below(fitting.len())]
}

impl Operator {
    pub fn new(device: &Device, system: &System, csr: host::Csr, format: Format) -> Result<Self> {
        let dense = |csr: &host::Csr| {
            let mut values = vec![0.0; system.rows * system.cols];
            csr.entries().for_each(|(i, j, v)| values[i * system.cols + j] += v);
            (Shape::new(system.rows, system.cols), values)
        };
        let stored = |csr, format| Ok::<_, Error>(Operator::Stored(StoredMatrix::new(device, csr, format)?));
        Ok(match format {
            Format::Banded => stored(csr, MatrixFormat::Banded)?,
            Format::Gather | Format::Batch => stored(csr, MatrixFormat::Sparse(SparseFormat::Gather))?,
            Format::Points => stored(csr, MatrixFormat::Sparse(SparseFormat::Points))?,
            Format::Folded => Operator::Folded(Box::new(FoldedBands::from_csr(device, csr)?)),
            Format::Dense => {
                let (shape, values) = dense(&csr);
                Operator::Dense(Matrix::from_f64(device, shape, &values)?)
            }
            Format::Stack => {
                let (shape, values) = dense(&csr);
                Operator::Stack(ColumnStack::from_f64(device, shape, &values)?)
            }
            Format::Stencil => {
                let Form::Stencil { grid, shift, weights, sides, .. } = system.form else {
                    panic!("{} is no stencil", system.name)
                };
                let params = StencilParams::new(weights, sides).with_shift(shift);
                Operator::Stencil(Box::new(Stencil::new(device, grid, params)?))
            }
        })
    }

    fn linear(&self) -> &dyn LinOp {
        match self {
            Operator::Stored(a) => a,
            Operator::Dense(a) => a,
            Operator::Folded(a) => a.as_ref(),
            Operator::Stack(a) => a,
            Operator::Stencil(a) => a.as_ref(),
        }
    }

    /// Formats are chosen so that only these are swept.
    fn sweepable(&self) -> &dyn Sweepable {
        match self {
            Operator::Stored(a) => a,
            Operator::Stencil(a) => a.as_ref(),
            _ => panic!("this format has no rows to sweep"),
        }
    }
}

/// An operator that declares a null space, if it does not know it by itself.
pub struct Declared<'a> {
    pub operator: &'a Operator,
    pub null_space: Vec<Vector>,
}

impl LinOp for Declared<'_> {
    fn device(&self) -> &Device {
        self.operator.linear().device()
    }

    fn shape(&self) -> Shape {
        self.operator.linear().shape()
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.operator.linear().apply(y, terms)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.operator.linear().apply_transposed(y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        self.operator.linear().accurate(out, terms, part)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        self.operator.linear().accumulate(sum, terms)
    }

    fn pattern(&self) -> Option<&host::Csr> {
        self.operator.linear().pattern()
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        self.operator.linear().diagonal()
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        self.operator.linear().column_squares()
    }

    fn asymmetry(&self) -> texla::Result<Option<(usize, usize, f64, f64)>> {
        self.operator.linear().asymmetry()
    }

    fn null_space(&self) -> &[Vector] {
        match self.operator.linear().null_space() {
            [] => &self.null_space,
            own => own,
        }
    }

    fn exponent(&self) -> texla::Result<i32> {
        self.operator.linear().exponent()
    }
}

impl Sweepable for Declared<'_> {
    fn rows(&self) -> &host::Csr {
        self.operator.sweepable().rows()
    }

    fn residual_where(&self, r: &mut Vector, b: &Vector, x: &Vector, predicate: Predicate<'_>) -> Result<()> {
        self.operator.sweepable().residual_where(r, b, x, predicate)
    }
}

/// What was run, and what came of it.
pub struct Run {
    pub format: Format,
    pub measure: Measure,
    pub problem: Problem,
    pub outcome: Outcome,
}

/// The matrix as this format holds it.
pub fn held(csr: &host::Csr, system: &System, format: Format) -> Vec<Term> {
    match format {
        Format::Dense | Format::Stack => csr.entries().map(|(i, j, v)| (i, j, f64::from(v as f32))).collect(),
        Format::Stencil => system.terms.clone(),
        _ => csr.entries().collect(),
    }
}

pub fn problem(system: &System, terms: Vec<Term>, format: Format) -> Problem {
    let single = matches!(format, Format::Dense | Format::Stack);
    let flushed = single && terms.iter().any(|t| t.2 != 0.0 && !(t.2 as f32).is_normal());
    let largest = terms.iter().map(|t| t.2.abs()).fold(0.0, worst);
    let e = if largest == 0.0 { 0.0 } else { largest.log2().floor() };
    let taken = match format {
        Format::Dense | Format::Stack => 1.0,
        Format::Batch => e.exp2(),
        _ => (e - e.clamp(-60.0, 60.0)).exp2(),
    };
    Problem {
        terms,
        rows: system.rows,
        cols: system.cols,
        given: system.b.clone(),
        held: system.b.iter().map(|v| f64::from(*v as f32)).collect(),
        x0: system.x0.clone(),
        null_space: !system.null_space.is_empty(),
        bound: system.bound,
        flushed,
        taken,
        definite: system.definite,
    }
}

/// Of a system and a method: what the format is drawn from.
pub fn format_rng(system: &System, number: usize) -> Rng {
    Rng::new(system.seed.wrapping_mul(1_000_003) ^ number as u64)
}

/// Runs a method on a system; `Err` where it could not be put on the device.
pub fn run(device: &Device, system: &System, method: Method, number: usize) -> Result<Vec<Run>> {
    let mut rng = format_rng(system, number);
    if let Method::Batch(relaxation) = method {
        return batch(device, system, relaxation);
    }
    let csr = system.triplets().to_csr();
    let format = format(system, method, &csr, &mut rng);
    let mut problem = problem(system, held(&csr, system, format), format);
    let operator = Operator::new(device, system, csr, format)?;
    let b = Vector::from_f64(device, &system.b)?;
    problem.held = crate::common::reference::widen(&b.read()?);
    let mut x = Vector::from_slice(device, &system.x0)?;
    let null_space =
        system.null_space.iter().map(|n| Vector::from_slice(device, n)).collect::<Result<_>>()?;
    let a = Declared { operator: &operator, null_space };
    let solved = solve(system, method, &a, &mut x, &b);
    let outcome = outcome(solved, x.read()?, Some(b.read()?));
    Ok(vec![Run { format, measure: method.measure(), problem, outcome }])
}

/// What a solver says.
pub struct Said {
    reason: Option<StopReason>,
    breakdown: Option<Breakdown>,
    reported: Vec<f64>,
    own: Option<f64>,
}

pub fn of_report(report: SolveReport) -> Said {
    let SolveReport { reason, breakdown, true_residual, least_squares_residual, .. } = report;
    Said { reason: Some(reason), breakdown, reported: vec![true_residual], own: least_squares_residual }
}

pub fn of_lcp(outcome: &LcpOutcome) -> Said {
    let reported = vec![outcome.natural_residual, outcome.scaled_residual];
    Said { reason: Some(outcome.reason), breakdown: None, reported, own: None }
}

pub fn outcome(said: Result<Said>, x: Vec<f32>, b: Option<Vec<f32>>) -> Outcome {
    match said {
        Ok(Said { reason, breakdown, reported, own }) => {
            Outcome { reason: Ok(reason), breakdown, reported, own, x, b }
        }
        Err(error) => Outcome { reason: Err(error), breakdown: None, reported: Vec::new(), own: None, x, b },
    }
}

fn solve(system: &System, method: Method, a: &Declared<'_>, x: &mut Vector, b: &Vector) -> Result<Said> {
    let stop = Stop::relative(system.bound).check_every(system.every);
    let max_iters = system.most;
    let helped = |help: Help, least_squares: bool, f: &mut dyn FnMut(&dyn Preconditioner) -> Result<Said>| {
        match help {
            Help::None => f(&Identity),
            Help::Jacobi if least_squares => f(&Jacobi::for_least_squares(a)?),
            Help::Jacobi => f(&Jacobi::new(a)?),
            Help::GaussSeidel => f(&GaussSeidel::new(a, 1.0, Direction::Symmetric)?),
            Help::NineBands => f(&nine_bands(system, a)?),
            Help::Multigrid => f(&multigrid(system, a)?),
            entries => f(by_entries(entries, a)?.as_ref()),
        }
    };
    let mut stationary = |smoother: &dyn Smoother, test_every: usize| {
        let params = StationaryParams::default()
            .with_max_sweeps(max_iters)
            .with_stop(stop)
            .with_test_every(test_every);
        Stationary::new(a, smoother, params)?.solve(x, b).map(of_report)
    };
    match method {
        Method::Cg(schedule, help) => helped(help, false, &mut |m| {
            let params =
                CgParams::default().with_max_iters(max_iters).with_stop(stop).with_schedule(schedule);
            ConjugateGradient::preconditioned(a, m, params)?.solve(x, b).map(of_report)
        }),
        Method::Fixed(schedule) => {
            let params =
                CgParams::default().with_max_iters(max_iters).with_stop(stop).with_schedule(schedule);
            let fixed = ConjugateGradient::new(a, params)?.iterate(x, b, max_iters.min(20))?;
            let breakdown = fixed.read()?.breakdown;
            let reason = breakdown.map(|_| StopReason::Breakdown);
            Ok(Said { reason, breakdown, reported: Vec::new(), own: None })
        }
        Method::BiCgStab(help, ell) => helped(help, false, &mut |m| {
            let params = BiCgStabParams::default().with_max_iters(max_iters).with_stop(stop).with_ell(ell);
            BiCgStab::preconditioned(a, m, params)?.solve(x, b).map(of_report)
        }),
        Method::Gmres(help, restart) => helped(help, false, &mut |m| {
            let params =
                GmresParams::default().with_max_iters(max_iters).with_stop(stop).with_restart(restart);
            Gmres::preconditioned(a, m, params)?.solve(x, b).map(of_report)
        }),
        Method::Minres(help) => {
            let mut solve = |m: &dyn Preconditioner| {
                let params = MinresParams::default().with_max_iters(max_iters).with_stop(stop);
                Minres::preconditioned(a, m, params)?.solve(x, b).map(of_report)
            };
            if help == Help::Jacobi { solve(&Jacobi::absolute(a)?) } else { helped(help, false, &mut solve) }
        }
        Method::Flexible(help) => helped(help, false, &mut |m| {
            let params = FlexibleCgParams::default().with_max_iters(max_iters).with_stop(stop);
            FlexibleConjugateGradient::preconditioned(a, m, params)?.solve(x, b).map(of_report)
        }),
        Method::Auto => {
            let params = AutoParams::default().with_max_iters(max_iters).with_stop(stop);
            Auto::new(a, params)?.solve(x, b).map(|report| of_report(report.solved))
        }
        Method::Cgls(help) => helped(help, true, &mut |m| {
            let params = CglsParams::default().with_max_iters(max_iters).with_stop(stop);
            Cgls::preconditioned(a, m, params)?.solve(x, b).map(of_report)
        }),
        Method::Jacobi(omega) => stationary(&WeightedJacobi::new(a, omega)?, 8),
        Method::GaussSeidel(omega, direction) => stationary(&GaussSeidel::new(a, omega, direction)?, 8),
        Method::NineBands => stationary(&nine_bands(system, a)?, 8),
        Method::Multigrid => stationary(&multigrid(system, a)?, 1),
        Method::Lcp(relaxation) => {
            let params =
                LcpParams::default().with_max_sweeps(max_iters).with_stop(stop).with_relaxation(relaxation);
            Ok(of_lcp(&LcpSolver::new(a, params)?.solve(x, b)?.outcome))
        }
        Method::Batch(_) => panic!("a batch is solved by `batch`"),
    }
}

/// What is made of the entries of a matrix.
pub fn by_entries<'a>(help: Help, a: &'a dyn LinOp) -> Result<Box<dyn Preconditioner + 'a>> {
    Ok(match help {
        Help::Block => Box::new(BlockJacobi::new(a)?),
        Help::Polynomial => Box::new(Chebyshev::new(a, ChebyshevParams::default())?),
        Help::Fsai => Box::new(Fsai::new(a, 2)?),
        Help::Spai => Box::new(Spai::new(a, 1)?),
        Help::Cholesky => Box::new(IncompleteCholesky::new(a, 1e-2)?),
        Help::Ilut => Box::new(IncompleteLu::new(a, IluParams::default())?),
        other => panic!("{other:?} is not made of entries alone"),
    })
}

pub fn multigrid(system: &System, a: &Declared<'_>) -> Result<Multigrid> {
    let (Operator::Stencil(a), Form::Stencil { cycle, .. }) = (a.operator, &system.form) else {
        panic!("{} is no stencil", system.name)
    };
    Multigrid::new(a, MultigridParams::default().with_cycle(*cycle))
}

pub fn nine_bands(system: &System, a: &Declared<'_>) -> Result<NineBandSmoother> {
    let Form::NineBands(bands) = &system.form else { panic!("{} has no nine bands", system.name) };
    NineBandSmoother::new(a.device(), bands, 0.9)
}

/// `b` in 32 bits as a batch rounds it: after it is scaled.
fn rounded(b: &[f64]) -> Vec<f64> {
    let largest = b.iter().map(|v| v.abs()).fold(0.0, worst);
    let unit = if largest == 0.0 { 1.0 } else { largest.log2().floor().exp2() };
    b.iter().map(|v| f64::from((v / unit) as f32) * unit).collect()
}

/// The system between a small one that is always the same and itself with `b` of the other sign.
fn batch(device: &Device, system: &System, relaxation: Relaxation) -> Result<Vec<Run>> {
    let csr = system.triplets().to_csr();
    let small = host::Triplets::from_dense(Shape::new(2, 2), &[2.0, 1.0, 1.0, 2.0])?.to_csr();
    let small_b = [-5.0, 1e3];
    let opposite: Vec<f64> = system.b.iter().map(|v| -v).collect();
    let problems = [
        LcpProblem { a: &csr, b: &system.b },
        LcpProblem { a: &small, b: &small_b },
        LcpProblem { a: &csr, b: &opposite },
    ];
    let made = LcpBatch::new(device, &problems)?;
    let mut x0 = system.x0.clone();
    x0.extend([0.0; 2]);
    x0.extend(&system.x0);
    let mut x = made.start(&x0)?;
    // What has no room in a batch's units is gone from the start.
    let starts = made.split(&x)?;
    let stop = Stop::relative(system.bound).check_every(system.every);
    let solved = made.solve(
        &mut x,
        LcpParams::default().with_max_sweeps(system.most).with_stop(stop).with_relaxation(relaxation),
    );
    let parts = made.split(&x)?;
    let run = |number: usize, x: Vec<f32>| {
        let terms = csr.entries().collect();
        let mut problem = problem(system, terms, Format::Batch);
        problem.null_space = false;
        problem.held = rounded(&system.b);
        problem.x0 = starts[number].clone();
        if number == 2 {
            (problem.given.iter_mut()).chain(&mut problem.held).for_each(|v| *v = -*v);
        }
        if number == 1 {
            problem.terms = small.entries().collect();
            (problem.rows, problem.cols, problem.taken) = (2, 2, 2.0);
            problem.given = small_b.to_vec();
            problem.held = small_b.to_vec();
        }
        let said = match &solved {
            Ok(report) => Ok(of_lcp(&report.outcome[number])),
            Err(error) => Err(error.clone()),
        };
        let outcome = outcome(said, x, None);
        Run { format: Format::Batch, measure: Measure::Complementarity, problem, outcome }
    };
    Ok(parts.into_iter().enumerate().map(|(number, x)| run(number, x)).collect())
}
