//! The main job: a sparse system from a Matrix Market file (or a built-in Poisson problem), solved by what suits it
//! entirely in textures and checked on the CPU in 64 bits.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use support::{
    CommonArgs, Failure, LinePlot, MatrixFile, NodeArgs, Ordinary, Progress, Report, Table, count, in_flags,
    json, refused, residual, say, worst,
};
use texla::gl::Counters;
use texla::host::market::{self, ReadOptions};
use texla::host::{Csr, NearNullSpace, NormalParams, NormalPart, Triplets, problems};
use texla::solve::{
    Attempt, Auto, AutoEvent, AutoParams, AutoReport, Choice, ChoiceParams, Components, DirectUse,
    HistoryPoint, HostReport, HostSystem, HostSystemParams, LinOp, MethodKind, Multigrid, MultigridParams,
    Precision, PreconditionerKind, ResidualKind, SolveReport, SolvedBy, Stop, Tried,
};
use texla::{
    Device, DoubleVector, Error, Grid, MatrixFormat, Shape, Side, Sides, SparseFormat, Stencil,
    StencilParams, StoredMatrix, Unknowns, Vector,
};

mod support;

/// Solves A x = b on the GPU, in the sense of least squares where A is not square: by what suits the matrix, or as asked.
#[derive(clap::Parser)]
#[command(name = "solve")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Matrix Market file; without it the five-point Poisson problem on 512x512 (64x64 with --quick)
    #[arg(long, value_name = "A.mtx", value_hint = clap::ValueHint::FilePath)]
    matrix: Option<PathBuf>,
    /// Read the files as complex ones, in their real form: a block of 2 x 2 numbers for each entry, real and imaginary part in turn
    /// for each element of a vector; the solution is written as a complex vector
    #[arg(long, requires = "matrix")]
    complex: bool,
    /// Side of the built-in problem, which has N x N unknowns; up to 4096
    #[arg(long, value_name = "N", conflicts_with = "matrix")]
    size: Option<usize>,
    /// Right-hand side, or several as the columns of a file; without it the one in the matrix' file, or else b = A 1
    #[arg(long, value_name = "b.mtx", value_hint = clap::ValueHint::FilePath)]
    rhs: Option<PathBuf>,
    /// Known solution, to report the error against
    #[arg(long, value_name = "x.mtx", value_hint = clap::ValueHint::FilePath)]
    x_ref: Option<PathBuf>,
    /// The method: cg for symmetric positive definite matrices, minres for symmetric ones, bicgstab, bicgstab2 and gmres for square ones, cgls
    /// (least squares) for any; auto is what suits the matrix, and another where that leads nowhere
    #[arg(long, value_parser = words("auto", MethodKind::WORDS), ignore_case = true, default_value = "auto")]
    method: Word<MethodKind>,
    /// Iterations of a cycle of gmres, 1 to 200; 50 without it
    #[arg(long, value_name = "M")]
    restart: Option<usize>,
    /// Preconditioner; without it none, or with --method auto what suits the matrix. multigrid is for the built-in problem, which is
    /// then kept as a stencil
    #[arg(long, value_parser = words(MULTIGRID, PreconditionerKind::WORDS), ignore_case = true)]
    precond: Option<Word<PreconditionerKind>>,
    /// Method, preconditioner and their parameters in one, as an earlier run has told it: "gmres(100) with ilut(40, 0.00001)"
    #[arg(long, value_name = "WORDS", conflicts_with_all = ["method", "restart", "precond"])]
    choice: Option<Choice>,
    /// Bound on the relative residual (cgls: on that or on the one of the normal equations)
    #[arg(long, default_value_t = 1e-5)]
    tol: f64,
    /// Digits of the unknowns and of b, and of the iteration: 24 bits, or 48 in pairs of floats, which bounds below 1e-6 take;
    /// auto takes pairs where the device can, and iterates in them where 32 bits gain nothing
    #[arg(long, value_parser = words("", Precision::WORDS), ignore_case = true, default_value = "auto")]
    precision: Word<Precision>,
    /// Most iterations
    #[arg(long, default_value_t = 20_000)]
    max_iters: usize,
    /// The matrix as it is: without a normal form, in which a square one from a file is solved unless method, preconditioner, format
    /// or precision are asked for
    #[arg(long)]
    no_presolve: bool,
    /// Sparse factors on the host, where texla has the feature `direct`: by-cost, never, last, first
    #[arg(long, value_parser = words("", DirectUse::WORDS), ignore_case = true, default_value = "by-cost", requires = "matrix",
        conflicts_with_all = ["method", "precond", "choice", "format", "precision"])]
    direct: Word<DirectUse>,
    /// What is known of the matrix, which is refused if it is not so: symmetric (up to rounding), definite (that, and solved as such)
    #[arg(long, value_enum, ignore_case = true, requires = "matrix",
        conflicts_with_all = ["method", "precond", "choice", "format", "precision", "no_presolve"])]
    assume: Option<Assumed>,
    /// Vectors that the matrix maps to zero, and its transpose too: "ones", or a file with a vector in each column; the solution is
    /// then orthogonal to them
    #[arg(long, value_name = "ones|N.mtx", value_hint = clap::ValueHint::FilePath, requires = "matrix")]
    null: Option<PathBuf>,
    #[command(flatten)]
    nodes: NodeArgs,
    /// Damping of least squares: minimises |b - A x|^2 + DAMP^2 |x|^2
    #[arg(long, value_name = "DAMP", conflicts_with_all = ["method", "precond", "choice", "null", "assume", "direct", "x_ref"])]
    damp: Option<f64>,
    /// Longest time for iterations in seconds, of each right-hand side; what has been reached then is judged
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<f64>,
    /// Start of the iterations, or a column for each right-hand side; without it zero
    #[arg(long, value_name = "x0.mtx", value_hint = clap::ValueHint::FilePath)]
    x0: Option<PathBuf>,
    /// How the matrix is kept on the device
    #[arg(long, value_enum, ignore_case = true, default_value = "auto")]
    format: Format,
    /// Iterations between two looks at the residual, 1000 at most; without it the solver's own schedule
    #[arg(long, value_name = "K")]
    check_every: Option<usize>,
    /// Write the solution as a Matrix Market vector
    #[arg(long, value_name = "x.mtx")]
    out: Option<PathBuf>,
    /// Write a convergence plot
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    plot: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// A word of a list, and what it stands for; or the one word that is not in it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Word<T>(Option<T>);

const MULTIGRID: &str = "multigrid";

/// One of these words, or another one if that is not empty. The case of letters is clap's to judge.
fn words<T: Copy + Send + Sync + 'static>(
    other: &'static str,
    list: &'static [(&'static str, T)],
) -> impl TypedValueParser<Value = Word<T>> {
    let all = [other].into_iter().filter(|word| !word.is_empty()).chain(list.iter().map(|(word, _)| *word));
    PossibleValuesParser::new(all.collect::<Vec<_>>()).map(|given: String| {
        Word(list.iter().find(|(word, _)| given.eq_ignore_ascii_case(word)).map(|(_, kind)| *kind))
    })
}

impl Args {
    fn precision(&self) -> Precision {
        self.precision.0.unwrap_or_default()
    }

    /// The method that is asked for.
    fn method(&self) -> Option<MethodKind> {
        self.choice.map(|choice| choice.method).or(self.method.0)
    }

    /// The preconditioner that is asked for, if the matrix alone makes it.
    fn preconditioner(&self) -> Option<PreconditionerKind> {
        self.choice.map(|choice| choice.preconditioner).or(self.precond.and_then(|word| word.0))
    }

    /// Multigrid on the grid of the built-in problem.
    fn is_multigrid(&self) -> bool {
        self.precond == Some(Word(None))
    }

    /// What is tried, where anything is asked for by name: by every method that suits the matrix, if it is only the preconditioner.
    fn choices(&self, a: &dyn LinOp) -> texla::Result<Vec<Choice>> {
        if self.damp.is_some() {
            // Weights would make another solution of what little damping leaves open.
            let kinds = [PreconditionerKind::None, PreconditionerKind::Jacobi];
            return Ok(kinds.map(|kind| Choice::new(MethodKind::Cgls, kind)).to_vec());
        }
        if let Some(choice) = self.choice {
            return Ok(vec![choice]);
        }
        let asked = self.precond.and_then(|word| word.0);
        let double = self.precision() == Precision::Double;
        let mut methods: Vec<MethodKind> = Vec::new();
        match (self.method.0, asked) {
            (Some(method), _) => methods.push(method),
            (None, _) if double => methods.push(MethodKind::Cg),
            (None, None) => return Ok(Vec::new()),
            (None, Some(_)) => {
                for choice in Auto::new(a, AutoParams::default())?.choices() {
                    if !methods.contains(&choice.method) {
                        methods.push(choice.method);
                    }
                }
            }
        }
        let preconditioners = match asked {
            Some(kind) => vec![kind],
            None if self.method.0.is_none() => vec![PreconditionerKind::Jacobi, PreconditionerKind::None],
            None => vec![PreconditionerKind::None],
        };
        let of = |method| preconditioners.iter().map(move |kind| Choice::new(method, *kind));
        let cycles = |choice: Choice| self.restart.map_or(choice, |restart| choice.with_restart(restart));
        Ok(methods.into_iter().flat_map(of).map(cycles).collect())
    }

    /// Why something was asked for that cannot be.
    fn check(&self) -> support::Result {
        if self.restart.is_some() && self.method.0 != Some(MethodKind::Gmres) {
            return Err(Failure::bad_input("--restart: cycles are those of --method gmres"));
        }
        if self.no_presolve && self.direct() == DirectUse::First {
            return Err(Failure::bad_input(
                "--direct first: factors of the system as given are its last choice; leave --no-presolve out, or say --precond factors",
            ));
        }
        if self.is_multigrid() {
            check_multigrid(self)?;
        }
        if let Some(damp) = self.damp.filter(|damp| !(*damp > 0.0 && damp.is_finite())) {
            return Err(Failure::bad_input(format_args!("--damp {damp}: expected a number above 0")));
        }
        // The longest that a duration holds is far beyond this.
        if let Some(time) = self.max_time.filter(|time| !(*time > 0.0 && *time <= 1e9)) {
            return Err(Failure::bad_input(format_args!(
                "--max-time {time}: expected seconds, above 0 and up to 1e9"
            )));
        }
        Ok(())
    }

    /// Vectors that are said to be mapped to zero.
    fn null_space(&self, n: usize) -> support::Result<Vec<Vec<f64>>> {
        let Some(path) = &self.null else { return Ok(Vec::new()) };
        let columns = if path.as_os_str() == "ones" {
            let ones = |i: usize| if self.complex && i % 2 == 1 { 0.0 } else { 1.0 };
            vec![(0..n).map(ones).collect()]
        } else {
            let columns = ReadOptions::default().with_complex(self.complex).read_columns(path);
            columns.map_err(support::in_market)?
        };
        let mut vectors = Vec::new();
        for column in columns {
            let vector = of_length(path, column, "a null vector", n, self.complex)?;
            if self.complex {
                // i times it too.
                vectors.push(vector.chunks(2).flat_map(|z| z.iter().rev()).copied().collect::<Vec<_>>());
                if let Some(turned) = vectors.last_mut() {
                    turned.iter_mut().step_by(2).for_each(|v| *v = -*v);
                }
            }
            vectors.push(vector);
        }
        Ok(vectors)
    }

    fn direct(&self) -> DirectUse {
        self.direct.0.unwrap_or_default()
    }

    /// Whether a system is brought into its normal form first: nothing is asked for by name that belongs to the matrix as it is.
    fn by_normal_form(&self, device: &Device, problem: &Problem) -> bool {
        let named = self.method().is_some() || self.precond.is_some() || self.format != Format::Auto;
        let pairs = self.precision() == Precision::Auto && device.capabilities().exact_form.is_some();
        self.matrix.is_some() && problem.a.shape().is_square() && pairs && !named && !self.no_presolve
    }

    /// Digits that are asked for, where the device has them.
    fn settled(&self, device: &Device, a: &Csr) -> support::Result<Precision> {
        let able = device.capabilities().exact_form.is_some();
        match self.precision() {
            Precision::Double if !matches!(self.method(), None | Some(MethodKind::Cg)) => {
                Err(Failure::bad_input(
                    "--precision double: iterations in pairs are those of --method cg; --precision refined solves for \
                     pairs by any",
                ))
            }
            Precision::Double if !a.is_symmetric() => Err(Failure::bad_input(format!(
                "--precision double: iterations in pairs are those of conjugate gradients, and the matrix ({}) is not \
                 symmetric; --precision refined solves for pairs by any method",
                a.shape()
            ))),
            Precision::Auto if !able => Ok(Precision::Single),
            asked => Ok(asked),
        }
    }
}

/// What has been done in the end.
fn done(precision: Precision, report: &SolveReport) -> &'static str {
    match precision {
        Precision::Single => "single",
        Precision::Double => "double",
        _ if report.double_iterations > 0 => "double",
        _ => "refined",
    }
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Assumed {
    Symmetric,
    Definite,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Format {
    Auto,
    Points,
    Gather,
    Banded,
}

fn main() -> ExitCode {
    support::main_with("solve", run)
}

/// The problem on the host.
struct Problem {
    name: String,
    a: Csr,
    /// The side of the built-in problem.
    side: Option<usize>,
    /// Right-hand sides.
    columns: Vec<Vec<f64>>,
    null_space: Vec<Vec<f64>>,
    near_null_space: Option<NearNullSpace>,
    x_ref: Option<Vec<f64>>,
    /// Starts, one for each right-hand side.
    starts: Vec<Vec<f64>>,
    /// By how much solutions of this are larger than those of what was asked for, and the matrix smaller, as a power of two.
    larger: Vec<f64>,
    exponent: i32,
}

impl Problem {
    /// The same of a right-hand side as it was given.
    fn in_units_of(&self, column: usize, error: Error) -> Error {
        let Error::Inconsistent { op, found, bound } = error else { return error };
        let unit = f64::from(self.exponent).exp2() / self.larger.get(column).copied().unwrap_or(1.0);
        Error::Inconsistent { op, found: found * unit, bound: bound * unit }
    }
}

/// Past this side the entries alone take gigabytes on the host.
const LONGEST_SIDE: usize = 4096;

/// What flags do not go together with multigrid.
fn check_multigrid(args: &Args) -> support::Result {
    let why = match (&args.matrix, args.method.0, args.format) {
        (Some(path), ..) => {
            let path = path.display();
            format!(
                "it needs the grid that a matrix stands for, and {path} does not say it; --precond geometric looks for it in the entries, and --precond amg needs none, where the diagonal is positive"
            )
        }
        (_, Some(MethodKind::Cgls), _) => {
            "least squares ask for an inverse of A^T A, and it is one of A; --precond jacobi goes with them"
                .to_owned()
        }
        (_, _, Format::Points | Format::Gather | Format::Banded) => {
            "the problem is then kept as a stencil, in no other format".to_owned()
        }
        _ => return Ok(()),
    };
    Err(Failure::bad_input(format_args!("--precond multigrid: {why}")))
}

/// A vector of a file, in as many numbers as the matrix has rows or columns.
fn read_vector(path: &Path, options: ReadOptions, what: &str, expected: usize) -> support::Result<Vec<f64>> {
    let values = options.read_vector(path).map_err(support::in_market)?;
    of_length(path, values, what, expected, options.complex)
}

fn of_length(
    path: &Path,
    values: Vec<f64>,
    what: &str,
    expected: usize,
    complex: bool,
) -> support::Result<Vec<f64>> {
    if values.len() == expected {
        return Ok(values);
    }
    let of_one = if complex { 2 } else { 1 };
    let (found, expected) = (values.len() / of_one, expected / of_one);
    let path = path.display();
    Err(Failure::bad_input(format_args!("{path}: {what} has {found} elements, expected {expected}")))
}

fn problem(args: &Args) -> support::Result<Problem> {
    args.check()?;
    let options = ReadOptions::default().with_complex(args.complex);
    let mut built_in = None;
    let (name, MatrixFile { a, rhs, solution }) = match &args.matrix {
        Some(path) => (path.display().to_string(), support::read_matrix_file(path, options)?),
        None => {
            let side = args.size.unwrap_or(if args.common.quick { 64 } else { 512 });
            support::in_range("--size", side, 1..=LONGEST_SIDE)?;
            built_in = Some(side);
            let a = problems::poisson_2d(side, side).to_csr();
            let name = format!("five-point Poisson problem on {side}x{side}");
            (name, MatrixFile { a, rhs: None, solution: None })
        }
    };
    let rows = a.shape().rows;
    let columns: Vec<Vec<f64>> = match (&args.rhs, rhs) {
        (Some(path), _) => {
            let columns = options.read_columns(path).map_err(support::in_market)?;
            let fits = |column| of_length(path, column, "the right-hand side", rows, args.complex);
            columns.into_iter().map(fits).collect::<support::Result<_>>()?
        }
        (None, Some(rhs)) => vec![rhs],
        (None, None) => vec![a.mul_vec(&vec![1.0; a.shape().cols])?],
    };
    if columns.len() > 1 && (args.x_ref.is_some() || args.plot.is_some()) {
        let message = "--x-ref and --plot are of one right-hand side, and --rhs has several";
        return Err(Failure::bad_input(message));
    }
    if columns.len() > 1 && args.complex && args.out.is_some() {
        return Err(Failure::bad_input("--complex: --out writes one column, and --rhs has several"));
    }
    if args.assume.is_some() && !a.shape().is_square() {
        let message = format!("--assume: the matrix is {}, expected as many rows as columns", a.shape());
        return Err(Failure::bad_input(message));
    }
    let null_space = args.null_space(a.shape().cols)?;
    let near_null_space = args.nodes.space(&a)?;
    let (a, columns) = match args.damp {
        Some(damp) => damped(&a, columns, damp)?,
        None => (a, columns),
    };
    let x_ref = match &args.x_ref {
        Some(path) => Some(read_vector(path, options, "the known solution", a.shape().cols)?),
        None => solution,
    };
    let starts = starts(args, options, columns.len(), a.shape().cols)?;
    let Ordinary { a, larger, exponent, .. } =
        Ordinary::new(a, columns.first().cloned().unwrap_or_default())?;
    // Each in units of its own.
    let (columns, larger_each): (Vec<_>, Vec<_>) =
        columns.iter().map(|b| Ordinary::right(b, exponent)).unzip();
    // Nothing is nothing in any unit.
    let one = |x: f64, larger: f64| if x == 0.0 { 0.0 } else { x * larger };
    let scaled = |(x, larger): (Vec<f64>, f64)| x.iter().map(|x| one(*x, larger)).collect();
    let x_ref = x_ref.map(|x| scaled((x, larger)));
    let starts = starts.into_iter().zip(larger_each.iter().copied()).map(scaled).collect();
    Ok(Problem {
        name,
        a,
        side: built_in,
        columns,
        null_space,
        near_null_space,
        x_ref,
        starts,
        larger: larger_each,
        exponent,
    })
}

/// A start for each right-hand side: zeros, one for all, or one each.
fn starts(args: &Args, options: ReadOptions, count: usize, n: usize) -> support::Result<Vec<Vec<f64>>> {
    let Some(path) = &args.x0 else { return Ok(vec![vec![0.0; n]; count]) };
    let columns = options.read_columns(path).map_err(support::in_market)?;
    let fits = |column| of_length(path, column, "the start", n, options.complex);
    let columns = columns.into_iter().map(fits).collect::<support::Result<Vec<_>>>()?;
    match columns.as_slice() {
        [one] => Ok(vec![one.clone(); count]),
        _ if columns.len() == count => Ok(columns),
        _ => Err(Failure::bad_input(format_args!(
            "{}: has {} columns, expected one, or one for each of {count} right-hand sides",
            path.display(),
            columns.len()
        ))),
    }
}

/// Least squares with the damping as more rows: `DAMP I` below the matrix, zeros below right-hand sides.
fn damped(a: &Csr, columns: Vec<Vec<f64>>, damp: f64) -> support::Result<(Csr, Vec<Vec<f64>>)> {
    let Shape { rows, cols } = a.shape();
    let below = (0..cols).map(|j| (rows + j, j, damp));
    let stacked = Triplets::from_entries(Shape::new(rows + cols, cols), a.entries().chain(below))?.to_csr();
    let longer = |mut b: Vec<f64>| {
        b.resize(rows + cols, 0.0);
        b
    };
    Ok((stacked, columns.into_iter().map(longer).collect()))
}

/// What the f64 check on the CPU says of a solution.
struct Check {
    /// What the method makes small: for least squares `‖Aᵀ(b - A x)‖ / ‖Aᵀb‖`.
    true_relative_residual: f64,
    /// Of least squares, `‖b - A x‖ / ‖b‖`.
    least_squares_residual: Option<f64>,
    /// The residual beside the rounding of `A x` in 32 bits: says nothing of least squares, whose residual stays, nor where `x` is zero.
    lapack_ratio: Option<f64>,
    /// Rows whose residual is more than twice what counts as satisfied ([`Components`]): none of least squares.
    rows_off: usize,
    relative_error: Option<f64>,
}

impl Check {
    /// What the bound is on: least squares may end by either residual.
    fn judged(&self) -> f64 {
        self.least_squares_residual
            .map_or(self.true_relative_residual, |own| own.min(self.true_relative_residual))
    }
}

fn norm2(v: &[f64]) -> f64 {
    let largest = v.iter().map(|x| x.abs()).fold(0.0, worst);
    if largest == 0.0 { 0.0 } else { largest * v.iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt() }
}

fn norm1(v: &[f64]) -> f64 {
    v.iter().map(|x| x.abs()).sum()
}

/// 0 / 0 is 0: a zero residual is a zero residual.
fn ratio(a: f64, b: f64) -> f64 {
    if a == 0.0 { 0.0 } else { a / b }
}

fn check(problem: &Problem, b: &[f64], x: &[f64], method: MethodKind, tol: f64) -> support::Result<Check> {
    let r = residual(&problem.a, x, b);
    let own = ratio(norm2(&r), norm2(b));
    let (true_relative_residual, least_squares_residual) = match method {
        MethodKind::Cgls => {
            let of = |v: &[f64]| problem.a.mul_vec_transposed(v).map(|s| norm2(&s));
            (ratio(of(&r)?, of(b)?), Some(own))
        }
        _ => (own, None),
    };
    let rounding = problem.a.norm1() * norm1(x) * 2f64.powi(-24);
    let lapack_ratio = (method != MethodKind::Cgls && rounding != 0.0).then(|| ratio(norm1(&r), rounding));
    let relative_error = problem.x_ref.as_ref().map(|want| {
        let difference: Vec<f64> = x.iter().zip(want).map(|(x, w)| x - w).collect();
        ratio(norm2(&difference), norm2(want))
    });
    let share = 2.0 * Components::limit(tol);
    let rows_off = match method {
        MethodKind::Cgls => 0,
        _ => Components::measured(&problem.a, x, b, share)?.rows,
    };
    Ok(Check { true_relative_residual, least_squares_residual, lapack_ratio, rows_off, relative_error })
}

fn run(args: &Args, report: &mut Report) -> support::Result {
    let problem = problem(args)?;
    let context = args.common.headless(report)?;
    let device = context.device();
    let caps = device.capabilities();

    // Every key is there, whatever happens below.
    for key in [
        "converged",
        "reason",
        "method",
        "preconditioner",
        "grid",
        "preparation",
        "tried",
        "precision",
        "iterations",
        "double_iterations",
        "true_relative_residual",
        "least_squares_residual",
    ] {
        report.set(key, json!(null));
    }
    for key in [
        "lapack_ratio",
        "relative_error",
        "readbacks_in_loop",
        "async_checks",
        "draws_useful",
        "draws_in_vain",
        "draws_per_iteration",
        "ms_per_iteration",
        "wall_ms",
        "device_true_residual",
        "rounding",
        "replacements",
        "choice",
        "went_on_from",
        "normal_form",
        "components",
        "tol",
    ] {
        report.set(key, json!(null));
    }

    let started = Instant::now();
    let precision = args.settled(device, &problem.a)?;
    let way = Way::new(device, args, &problem, precision)?;
    device.finish()?;
    let upload = started.elapsed();
    let format = way.format();
    report.set("format", format.as_str());
    report.set("matrix", json!({
        "name": problem.name, "rows": problem.a.shape().rows, "cols": problem.a.shape().cols, "nnz": problem.a.nnz(),
    }));
    say(format_args!("device      {} ({}, {})", context.name(), device.api(), caps.version));
    say(format_args!(
        "matrix      {}: {}, {} nonzeros, kept as {format}",
        problem.name,
        problem.a.shape(),
        problem.a.nnz()
    ));

    let (mut outcomes, mut refused) = (Vec::new(), Vec::new());
    for (column, (b, start)) in problem.columns.iter().zip(&problem.starts).enumerate() {
        match way.outcome(device, args, &problem, column, (b, start)) {
            Ok(outcome) => outcomes.push(outcome),
            Err(error) if problem.columns.len() == 1 => {
                if error.message().starts_with("no solution") {
                    report.set("converged", false).set("reason", "no_solution");
                }
                return Err(error);
            }
            Err(error) => refused.push((column, error.of(format_args!("column {} of --rhs", column + 1)))),
        }
    }
    if let (true, Some((_, error))) = (outcomes.is_empty(), refused.first()) {
        return Err(error.clone());
    }
    let shown = Outcome::to_be_told(&outcomes);
    let Some(Outcome { auto, host, grid, check, all, read_back, work, .. }) = outcomes.get(shown) else {
        return Err(Failure::bad_input("--rhs: the file has no column"));
    };
    let (all, read_back) = (*all, *read_back);
    let by = host.as_ref().and_then(|host| host.by.without_iterations());
    let normal = host.as_ref().map(|host| &host.normal);
    let abandoned = host.as_ref().map_or(&[][..], |host| &host.given_up);
    let compile = work.compile_time;
    let AutoReport { solved, choice, solving: wall, compiling, tried: given_up, .. } = auto;
    let (choice, wall, compiling) = (*choice, *wall, *compiling);
    // What solver and preconditioner find out about the matrix before the last run, with what was tried before, and what that takes.
    let in_vain: Duration = given_up.iter().map(|tried| tried.set_up + tried.solving).sum();
    let before = all.saturating_sub(wall).saturating_sub(in_vain);
    let set_up = before.saturating_sub(compile.saturating_sub(compiling));
    let iterate = wall.saturating_sub(compiling);
    let ms_per_iteration = iterate.as_secs_f64() * 1e3 / solved.iterations.max(1) as f64;

    report
        .set("converged", solved.converged() && refused.is_empty())
        .set(
            "reason",
            if solved.converged() && !refused.is_empty() {
                "refused".to_owned()
            } else {
                solved.reason.to_string()
            },
        )
        .set("method", by.unwrap_or(choice.method.word()))
        .set("preconditioner", by.map_or(args.named(choice), |_| "none"))
        .set("normal_form", json!(normal))
        .set(
            "components",
            json!(solved.components.map(|c| json!({ "omega": c.omega, "rows": c.rows, "of": c.of }))),
        )
        .set("grid", json!(grid.map(|grid| grid.sides())))
        .set("preparation", if choice.prepares() { "matched" } else { "none" })
        .set("choice", json!(by.is_none().then(|| args.by(choice))))
        .set("went_on_from", json!(auto.went_on_from()))
        .set(
            "tried",
            json!(given_up.iter().map(told).chain(abandoned.iter().map(abandoned_as)).collect::<Vec<_>>()),
        )
        .set("precision", done(precision, solved))
        .set("iterations", solved.iterations)
        .set("double_iterations", solved.double_iterations)
        .set("true_relative_residual", check.true_relative_residual)
        .set("least_squares_residual", json!(check.least_squares_residual))
        .set("device_true_residual", solved.true_residual)
        .set("rounding", json!(solved.rounding))
        .set("lapack_ratio", json!(check.lapack_ratio))
        .set("relative_error", json!(check.relative_error))
        .set("readbacks_in_loop", solved.readbacks_in_loop)
        .set("async_checks", solved.async_checks)
        .set("replacements", solved.replacements)
        .set("draws_useful", solved.draws_useful)
        .set("draws_in_vain", solved.draws_in_vain)
        .set("draws_per_iteration", solved.draws_per_iteration)
        .set("ms_per_iteration", ms_per_iteration)
        .set("wall_ms", all.as_secs_f64() * 1e3)
        .set("tol", args.tol);
    if let Some(breakdown) = &solved.breakdown {
        report.set("error", breakdown.to_string());
    }
    let ms = |d: Duration| d.as_secs_f64() * 1e3;
    report.set(
        "time_ms",
        json!({
            "upload": ms(upload), "set_up": ms(set_up), "compile": ms(compile), "iterate": ms(iterate),
            "given_up": ms(in_vain), "read_back": ms(read_back),
        }),
    );
    report.set(
        "counters",
        json!({
            "draws": work.draws, "passes": work.passes, "uploads": work.uploads, "readbacks": work.readbacks,
            "async_checks": work.async_checks, "compiles": work.compiles,
        }),
    );
    for HistoryPoint { iteration, residual, kind, .. } in &solved.history {
        let kind = kind.to_string();
        report.row(json!({ "iteration": iteration, "relative_residual": residual, "kind": kind }));
    }
    if let Some(normal) = normal {
        say(format_args!("normal form {normal}"));
    }
    say(format_args!("by          {}", by.map_or(args.by(choice), str::to_owned)));
    if let Some(grid) = grid {
        say(format_args!("            {grid} found in the pattern"));
    }
    if let Some(residual) = auto.went_on_from() {
        say(format_args!("went on     from a relative residual of {residual:.1e}, to which others had come"));
    }
    for Tried { choice, why, .. } in given_up {
        say(format_args!("not by      {choice}: {}", in_flags(why)));
    }
    for Attempt { what, why, .. } in abandoned {
        say(format_args!("not by      {what}: {}", in_flags(why)));
    }
    print_summary(
        solved,
        check,
        [upload, in_vain, set_up, compile, iterate, all, read_back],
        ms_per_iteration,
        work,
    );
    if problem.columns.len() > 1 {
        tell_columns(&outcomes, &refused, shown, report);
    }

    if solved.converged() {
        // The device's certificate against the CPU's own computation.
        report.at_most("true relative residual (f64) within twice the bound", 2.0 * args.tol, check.judged());
        report.at_most("rows beyond twice their share (f64)", 0.0, check.rows_off as f64);
    } else {
        let residual = check.true_relative_residual;
        report.check(format!("converged (it says {})", solved.reason), args.tol, residual, false);
    }
    for (_, error) in refused.iter().rev() {
        report.set("error", error.message()).check(error.message(), args.tol, f64::NAN, false);
    }
    // Factors on the host read by nature.
    if choice.preconditioner != PreconditionerKind::Factors {
        report.at_most("readbacks in the loop", 0.0, solved.readbacks_in_loop as f64);
    }
    write_solutions(args, &problem, &outcomes, report)?;
    if let Some(path) = &args.plot {
        plot(args, &problem, (choice, solved), device.api(), path)?;
    }
    Ok(())
}

/// What has come of a right-hand side.
struct Outcome {
    /// Its number, counted from 0.
    column: usize,
    auto: AutoReport,
    /// Of its normal form.
    host: Option<HostReport>,
    /// The grid that was found in the entries, where that was of use.
    grid: Option<Grid>,
    solution: Vec<f64>,
    check: Check,
    all: Duration,
    read_back: Duration,
    work: Counters,
}

impl Outcome {
    /// The first that has not converged, or the one of the largest residual.
    fn to_be_told(all: &[Outcome]) -> usize {
        let failed = all.iter().position(|outcome| !outcome.auto.converged());
        let residual = |outcome: &Outcome| outcome.check.judged();
        let largest = (0..all.len()).max_by(|i, j| {
            let of = |i: &usize| all.get(*i).map_or(0.0, residual);
            of(i).total_cmp(&of(j)).then(j.cmp(i))
        });
        failed.or(largest).unwrap_or(0)
    }
}

/// A line for each right-hand side.
fn tell_columns(outcomes: &[Outcome], refused: &[(usize, Failure)], shown: usize, report: &mut Report) {
    let shown = outcomes.get(shown).map_or(0, |outcome| outcome.column);
    say(format_args!("The figures above are of right-hand side {}.", shown + 1));
    let mut table = Table::new(["right-hand side", "reason", "iterations", "true relative residual", "time"]);
    let (mut all, mut refused) = (Vec::new(), refused.iter().peekable());
    let mut until = |column: usize, table: &mut Table, all: &mut Vec<serde_json::Value>| {
        while let Some((k, error)) = refused.next_if(|(k, _)| *k < column) {
            table.row([
                (k + 1).to_string(),
                "refused".to_owned(),
                String::new(),
                String::new(),
                String::new(),
            ]);
            all.push(json!({ "converged": false, "reason": "refused", "error": error.message() }));
        }
    };
    for Outcome { column, auto, check, all: time, .. } in outcomes {
        until(*column, &mut table, &mut all);
        let SolveReport { reason, iterations, .. } = &auto.solved;
        let (residual, ms) = (check.judged(), time.as_secs_f64() * 1e3);
        table.row([
            (column + 1).to_string(),
            reason.to_string(),
            iterations.to_string(),
            format!("{residual:.3e}"),
            format!("{ms:.2} ms"),
        ]);
        all.push(json!({
            "converged": auto.converged(), "reason": reason.to_string(), "iterations": iterations,
            "true_relative_residual": residual, "wall_ms": ms,
        }));
    }
    until(usize::MAX, &mut table, &mut all);
    table.print();
    report.set("right_hand_sides", all);
}

/// Solutions as they are of the system in the files, checked, and written where that is asked for.
fn write_solutions(
    args: &Args,
    problem: &Problem,
    outcomes: &[Outcome],
    report: &mut Report,
) -> support::Result {
    // What is refused stays as it began.
    let mut solutions: Vec<&[f64]> = problem.starts.iter().map(Vec::as_slice).collect();
    for outcome in outcomes {
        solutions.get_mut(outcome.column).into_iter().for_each(|slot| *slot = &outcome.solution);
    }
    let as_given = |(x, larger): (&&[f64], &f64)| x.iter().map(|x| x / larger).collect();
    let written: Vec<Vec<f64>> = solutions.iter().zip(&problem.larger).map(as_given).collect();
    let solved = solutions.iter().copied().flatten();
    let lost = written.iter().flatten().zip(solved).filter(|(written, x)| **x != 0.0 && !written.is_normal());
    let lost = lost.count();
    if lost > 0 || args.out.is_some() {
        report.at_most("elements of the solution beyond the range of 64 bits", 0.0, lost as f64);
    }
    let Some(path) = args.out.as_deref().filter(|_| written.iter().flatten().all(|x| x.is_finite())) else {
        return Ok(());
    };
    let done = match written.as_slice() {
        [one] if args.complex => market::write_complex_vector(path, one),
        [one] => market::write_vector(path, one),
        several => {
            let shape = Shape::new(problem.a.shape().cols, several.len());
            let row = |i: usize| several.iter().map(move |x| x.get(i).copied().unwrap_or_default());
            market::write_array(path, shape, &(0..shape.rows).flat_map(row).collect::<Vec<_>>())
        }
    };
    Ok(done.map_err(Error::from)?)
}

/// How a problem is solved.
enum Way {
    /// As it is; with what is known of the matrix after a solve.
    Given(Operator, Precision, Box<OnceCell<Auto<Rc<StoredMatrix>>>>),
    /// In its normal form.
    Normal(Box<HostSystem>),
}

impl Way {
    fn new(device: &Device, args: &Args, problem: &Problem, precision: Precision) -> support::Result<Self> {
        if !args.by_normal_form(device, problem) {
            return Ok(Way::Given(Operator::new(device, args, problem)?, precision, Box::default()));
        }
        let mut auto = AutoParams::default().with_stop(args.stop()).with_max_iters(args.max_iters);
        let mut normal = NormalParams::default();
        if args.assume.is_some() {
            normal = normal.with_symmetry(NormalPart::Asserted);
        }
        if args.assume == Some(Assumed::Definite) {
            let kinds =
                [PreconditionerKind::Amg, PreconditionerKind::FsaiSquared, PreconditionerKind::Jacobi];
            auto = auto.with_choices(kinds.map(|kind| Choice::new(MethodKind::Cg, kind)).to_vec());
        }
        let params = HostSystemParams::default()
            .with_auto(auto)
            .with_direct(args.direct())
            .with_normal(normal)
            .with_null_space(problem.null_space.clone())
            .with_near_null_space(problem.near_null_space.clone());
        let system =
            HostSystem::new(device, problem.a.clone(), params).map_err(|e| args.refused(&e, problem))?;
        if args.assume == Some(Assumed::Definite)
            && let normal = system.normal()
            && let Some(k) = normal.matrix().diagonal().iter().position(|d| d.is_nan() || *d <= 0.0)
        {
            // As in the file, where it may have been negated.
            let i = normal.rows().get(k).copied().unwrap_or(k);
            let d = problem.a.row(i).find(|(j, _)| *j == i).map_or(0.0, |(_, d)| d);
            let expected = if normal.is_negated() { "below" } else { "above" };
            return Err(Failure::bad_input(format!(
                "--assume definite: {d} is on the diagonal in row {}, expected numbers {expected} zero",
                i + 1
            )));
        }
        Ok(Way::Normal(Box::new(system.heard(tell))))
    }

    /// How the matrix is kept, in small letters.
    fn format(&self) -> String {
        match self {
            Way::Given(a, ..) => a.format(),
            Way::Normal(system) => kept_as(system.format()),
        }
    }

    fn outcome(
        &self,
        device: &Device,
        args: &Args,
        problem: &Problem,
        column: usize,
        (b, start): (&[f64], &[f64]),
    ) -> support::Result<Outcome> {
        let before = device.counters();
        let started = Instant::now();
        let found = self.solve(args, b, start);
        device.finish()?;
        let all = started.elapsed();
        let work = device.counters().since(&before);
        let found = found.map_err(|error| problem.in_units_of(column, error));
        let (auto, host, answer) = found.map_err(|error| args.refused(&error, problem))?;
        let started = Instant::now();
        let solution = answer.read()?;
        let read_back = started.elapsed();
        // What a normal form solves is no least squares, whatever its last resort has been.
        let method = host.as_ref().map_or(auto.choice.method, |_| MethodKind::Gmres);
        let check = check(problem, b, &solution, method, args.tol)?;
        let by_iterations = host.as_ref().is_none_or(|host| host.by.without_iterations().is_none());
        let is_geometric = by_iterations && auto.choice.preconditioner == PreconditionerKind::Geometric;
        let matrix = match self {
            Way::Given(..) => &problem.a,
            Way::Normal(system) => system.normal().matrix(),
        };
        let grid = is_geometric.then(|| matrix.grid()).flatten();
        Ok(Outcome { column, auto, host, grid, solution, check, all, read_back, work })
    }

    fn solve(
        &self,
        args: &Args,
        b: &[f64],
        start: &[f64],
    ) -> texla::Result<(AutoReport, Option<HostReport>, Answer)> {
        match self {
            Way::Given(a, Precision::Single, auto) => {
                let device = a.device();
                let (mut x, b) = (Vector::from_f64(device, start)?, Vector::from_f64(device, b)?);
                Ok((solve(args, a, auto, &mut x, &b)?, None, Answer::Single(x)))
            }
            Way::Given(a, _, auto) => {
                let device = a.device();
                let (mut x, b) = (DoubleVector::from_f64(device, start)?, DoubleVector::from_f64(device, b)?);
                Ok((solve(args, a, auto, &mut x, &b)?, None, Answer::Pairs(x)))
            }
            Way::Normal(system) => {
                let watched = Watched::new(args.tol);
                let (x, report) = system.solve_observed(b, start, |point| watched.show(point))?;
                watched.progress.finish();
                if args.assume == Some(Assumed::Definite)
                    && report.by == (SolvedBy::Factors { cholesky: false })
                {
                    return Err(Error::Matrix {
                        op: "--assume definite",
                        detail: "is not definite: it has no Cholesky factors".to_owned(),
                    });
                }
                Ok((report.as_run(), Some(report), Answer::Host(x)))
            }
        }
    }
}

/// A solution, where it has been found.
enum Answer {
    Single(Vector),
    Pairs(DoubleVector),
    Host(Vec<f64>),
}

impl Answer {
    fn read(self) -> texla::Result<Vec<f64>> {
        match self {
            Answer::Single(x) => Ok(x.read()?.into_iter().map(f64::from).collect()),
            Answer::Pairs(x) => x.read(),
            Answer::Host(x) => Ok(x),
        }
    }
}

/// A line on standard error when a choice begins, and when it is given up: where no bar is shown.
fn tell(event: &AutoEvent<'_>) {
    match event {
        _ if Progress::is_shown() => {}
        AutoEvent::Begins(choice) => eprintln!("solve: trying {choice}"),
        AutoEvent::Factors { seconds } => eprintln!("solve: making sparse factors, {seconds:.1} s predicted"),
        AutoEvent::GivenUp(Tried { choice, why, .. }) => {
            eprintln!("solve: gave up {choice}: {}", in_flags(why))
        }
        AutoEvent::Failed(Attempt { what, why, .. }) => {
            eprintln!("solve: gave up {what}: {}", in_flags(why))
        }
        _ => {}
    }
}

/// A format in small letters.
fn kept_as(format: MatrixFormat) -> String {
    match format {
        MatrixFormat::Sparse(format) => format!("{format:?}"),
        format => format!("{format:?}"),
    }
    .to_lowercase()
}

/// A solve that is watched: how far the residual has come down its logarithmic way, in percent.
struct Watched {
    progress: Progress,
    tol: f64,
    /// When a line was written last, where no bar is shown.
    line: Cell<Instant>,
}

impl Watched {
    fn new(tol: f64) -> Self {
        Watched { progress: Progress::new("residual", 100), tol, line: Cell::new(Instant::now()) }
    }

    fn show(&self, HistoryPoint { iteration, residual, kind, .. }: HistoryPoint) {
        let share = residual.max(f64::MIN_POSITIVE).ln() / self.tol.ln();
        self.progress.set((100.0 * share.clamp(0.0, 1.0)) as u64);
        let note = format!("{residual:.1e} ({kind}) after {iteration} iterations");
        if !Progress::is_shown() && self.line.get().elapsed() >= Duration::from_secs(1) {
            self.line.set(Instant::now());
            eprintln!("solve: a relative residual of {note}");
        }
        self.progress.note(note);
    }
}

/// The operator on the device.
enum Operator {
    Stored(Rc<StoredMatrix>),
    /// The built-in problem with nothing stored.
    Stencil(Box<Stencil>),
}

impl Operator {
    fn new(device: &Device, args: &Args, problem: &Problem) -> texla::Result<Self> {
        let format = match (args.format, args.is_multigrid(), problem.side) {
            (_, true, Some(side)) => {
                let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::DIRICHLET));
                let stencil = Stencil::new(device, Grid::new_2d(side, side), params)?;
                return Ok(Operator::Stencil(Box::new(stencil)));
            }
            (Format::Auto, ..) => MatrixFormat::Auto,
            (Format::Points, ..) => MatrixFormat::Sparse(SparseFormat::Points),
            (Format::Gather, ..) => MatrixFormat::Sparse(SparseFormat::Gather),
            (Format::Banded, ..) => MatrixFormat::Banded,
        };
        let stored = StoredMatrix::new(device, problem.a.clone(), format)?;
        let stored = stored.with_null_space(&problem.null_space)?;
        Ok(Operator::Stored(Rc::new(match &problem.near_null_space {
            Some(space) => stored.with_near_null_space(space.clone())?,
            None => stored,
        })))
    }

    fn device(&self) -> &Device {
        match self {
            Operator::Stencil(a) => a.device(),
            Operator::Stored(a) => a.device(),
        }
    }

    /// How it is kept, in small letters.
    fn format(&self) -> String {
        match self {
            Operator::Stencil(_) => "stencil".to_owned(),
            Operator::Stored(a) => kept_as(a.format()),
        }
    }
}

impl Args {
    fn stop(&self) -> Stop {
        let stop = Stop::relative(self.tol);
        let within = |stop: Stop, seconds: f64| stop.within(Duration::from_secs_f64(seconds));
        let stop = self.max_time.map_or(stop, |seconds| within(stop, seconds));
        self.check_every.map_or(stop, |every| stop.check_every(every))
    }
}

impl Args {
    /// The name of the preconditioner.
    fn named(&self, choice: Choice) -> &'static str {
        if self.is_multigrid() { MULTIGRID } else { choice.preconditioner.word() }
    }

    /// The library's error, and where it is the matrix that does not suit what was asked for, what takes it.
    fn refused(&self, error: &Error, problem: &Problem) -> Failure {
        let mut text = refused(error, &problem.a, self.method(), self.preconditioner());
        if problem.exponent != 0 && matches!(error, Error::Matrix { .. } | Error::NonFinite { .. }) {
            text += &format!(" (entries are told as 2^{} of those in the file)", -problem.exponent);
        }
        match Failure::from(error.clone()) {
            Failure::BadInput(_) => Failure::bad_input(text),
            other => other,
        }
    }

    /// All of the choice in words.
    fn by(&self, choice: Choice) -> String {
        if self.is_multigrid() { format!("{choice} with {MULTIGRID}") } else { choice.to_string() }
    }
}

/// What was given up.
fn told(tried: &Tried) -> serde_json::Value {
    let Tried { choice, set_up, solving, why, .. } = tried;
    json!({
        "method": choice.method.word(), "preconditioner": choice.preconditioner.word(), "choice": choice.to_string(),
        "set_up_ms": set_up.as_secs_f64() * 1e3, "solve_ms": solving.as_secs_f64() * 1e3, "why": in_flags(why),
    })
}

/// The same of a whole way to the solution.
fn abandoned_as(attempt: &Attempt) -> serde_json::Value {
    let Attempt { what, took, why, .. } = attempt;
    json!({ "choice": what, "took_ms": took.as_secs_f64() * 1e3, "why": in_flags(why) })
}

/// By what is asked for, or what suits the matrix, for unknowns of either kind.
fn solve<X: Unknowns>(
    args: &Args,
    operator: &Operator,
    auto: &OnceCell<Auto<Rc<StoredMatrix>>>,
    x: &mut X,
    b: &X,
) -> texla::Result<AutoReport> {
    let watched = Watched::new(args.tol);
    let observe = |point| watched.show(point);
    let recurrence = args.precision().recurrence();
    let report = match operator {
        Operator::Stencil(a) => {
            let params = ChoiceParams::default().with_stop(args.stop()).with_max_iters(args.max_iters);
            let method = args.method.0.unwrap_or(MethodKind::Cg);
            let choice = Choice::new(method, PreconditionerKind::None);
            // The method's own checks come before those of its preconditioner.
            choice.prepare(a.as_ref(), params)?;
            let started = Instant::now();
            let m = Box::new(Multigrid::new(a, MultigridParams::default())?);
            let set_up = started.elapsed();
            let solver = choice.with_preconditioner(a.as_ref(), m, params.with_recurrence(recurrence))?;
            let (started, before) = (Instant::now(), a.device().counters());
            let solved = solver.solve_observed(x, b, observe)?;
            let compiling = a.device().counters().since(&before).compile_time;
            AutoReport::of(solved, choice, [set_up, started.elapsed(), compiling])
        }
        Operator::Stored(a) => {
            let auto = match auto.get() {
                Some(auto) => auto,
                None => {
                    let params = AutoParams::default().with_stop(args.stop()).with_max_iters(args.max_iters);
                    let choices = args.choices(a)?;
                    let asked = !choices.is_empty();
                    let params = params.with_recurrence(recurrence).with_choices(choices);
                    let params = params.with_factors(args.direct() != DirectUse::Never);
                    let made = Auto::new(Rc::clone(a), params)?;
                    auto.get_or_init(|| if asked { made } else { made.heard(tell) })
                }
            };
            auto.solve_observed(x, b, observe)?
        }
    };
    watched.progress.finish();
    Ok(report)
}

fn print_summary(
    solved: &SolveReport,
    check: &Check,
    [upload, in_vain, set_up, compile, iterate, all, read_back]: [Duration; 7],
    ms_per_iteration: f64,
    work: &Counters,
) {
    let ms = |d: Duration| format!("{:.2} ms", d.as_secs_f64() * 1e3);
    say(format_args!("result      {}", in_flags(solved)));
    let mut table = Table::new(["", "value"]);
    table.row([
        "true relative residual (f64, CPU)".to_owned(),
        format!("{:.3e}", check.true_relative_residual),
    ]);
    table.row(["the same as certified on the device".to_owned(), format!("{:.3e}", solved.true_residual)]);
    if let (Some(own), Some(device)) = (check.least_squares_residual, solved.least_squares_residual) {
        table.row(["|b - A x| / |b| (f64, CPU)".to_owned(), format!("{own:.3e}")]);
        table.row(["the same as certified on the device".to_owned(), format!("{device:.3e}")]);
    }
    if let Some(ratio) = check.lapack_ratio {
        table.row(["LAPACK ratio (below 30 is good)".to_owned(), format!("{ratio:.2}")]);
    }
    if let Some(error) = check.relative_error {
        table.row(["relative error against the known solution".to_owned(), format!("{error:.3e}")]);
    }
    table.row(["upload".to_owned(), ms(upload)]);
    if in_vain > Duration::ZERO {
        table.row(["given up".to_owned(), ms(in_vain)]);
    }
    table.row(["set up".to_owned(), ms(set_up)]);
    table.row(["compile".to_owned(), ms(compile)]);
    table.row(["iterate".to_owned(), format!("{} ({ms_per_iteration:.3} ms an iteration)", ms(iterate))]);
    table.row(["from the call to the certified answer".to_owned(), ms(all)]);
    table.row(["read back".to_owned(), ms(read_back)]);
    table.row([
        "an iteration".to_owned(),
        format!("{} draws into {} targets", solved.draws_per_iteration, solved.passes_per_iteration),
    ]);
    table.row([
        "readbacks in the loop".to_owned(),
        format!("{} ({} polled checks)", solved.readbacks_in_loop, solved.async_checks),
    ]);
    table.row(["residuals replaced by the true one".to_owned(), solved.replacements.to_string()]);
    let (useful, in_vain) = (solved.draws_useful, solved.draws_in_vain);
    table.row(["draws of the solve".to_owned(), format!("{useful} useful, {in_vain} in vain")]);
    table.row(["draws in all".to_owned(), work.draws.to_string()]);
    table.print();
}

/// What a history shows, a curve for each way in which residuals were found.
fn curves(history: &[HistoryPoint]) -> Vec<(String, Vec<(f64, f64)>)> {
    let of = |kind: ResidualKind| {
        let points = history.iter().filter(move |point| point.kind == kind);
        points.map(|point| (point.iteration as f64, point.residual)).collect()
    };
    let named = [
        (ResidualKind::Recurrence, "by the recurrence"),
        (ResidualKind::Bound, "bound on the recurrence"),
        (ResidualKind::Certified, "certified"),
    ];
    let curves = named.map(|(kind, name)| (name.to_owned(), of(kind)));
    curves.into_iter().filter(|(_, points): &(_, Vec<_>)| !points.is_empty()).collect()
}

fn plot(
    args: &Args,
    problem: &Problem,
    (choice, solved): (Choice, &SolveReport),
    api: texla::gl::Api,
    path: &Path,
) -> support::Result {
    LinePlot {
        title: &format!("texla: {}", args.by(choice)),
        subtitle: format!(
            "{}, {} after {}, {api}",
            problem.name,
            solved.reason,
            count(solved.iterations, "iteration", "iterations")
        ),
        axes: ["iteration", "relative residual"],
        curves: curves(&solved.history),
        level: Some((args.tol, format!("tolerance {:e}", args.tol))),
        logarithmic: true,
    }
    .write(path)
}
