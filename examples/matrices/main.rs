//! A gallery of matrices: each solved by what suits it, beside a direct solver on the CPU in 64 bits.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use support::{
    CommonArgs, Failure, Ordinary, Report, Table, count, in_flags, json, residual, say, told, worst,
};
use texla::host::{Csr, Triplets};
use texla::solve::{
    Attempt, Auto, AutoParams, AutoReport, Choice, ChoiceParams, DirectUse, HostSystem, HostSystemParams,
    MethodKind, PreconditionerKind, SolveReport, Stop, Tried,
};
use texla::{Device, DoubleVector, MatrixFormat, StoredMatrix};

mod builtin;
mod direct;
mod label;
mod pattern;
#[path = "../support/mod.rs"]
mod support;

/// Solves a system with each matrix of files and folders, by the method and the preconditioner that suit it.
#[derive(clap::Parser)]
#[command(name = "matrices")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Matrix Market files, and folders of them (*.mtx and *.mtx.gz, also in folders of theirs); without any, matrices that are
    /// built in
    #[arg(value_name = "DIR|FILE", value_hint = clap::ValueHint::FilePath)]
    paths: Vec<PathBuf>,
    /// Read complex matrices too, in their real form: a block of 2 x 2 numbers for each complex one
    #[arg(long)]
    complex: bool,
    /// Bound on the relative residual
    #[arg(long, default_value_t = 1e-10)]
    tol: f64,
    /// Most iterations of all that is tried for a system
    #[arg(long, default_value_t = 20_000)]
    max_iters: usize,
    /// The matrices as they are: without a normal form, in which square ones are solved otherwise
    #[arg(long)]
    no_presolve: bool,
    /// Iterations alone, where texla has sparse factors (the feature `direct`)
    #[arg(long)]
    no_direct: bool,
    /// Solve each system by every preconditioner instead, with the method that suits the matrix, three times: the quickest is told
    #[arg(long)]
    compare: bool,
    /// Write a picture of each matrix' pattern into this folder, by the name of its file
    #[arg(long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    plot: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("matrices", run)
}

/// A matrix, and what it is called.
struct Named {
    name: String,
    /// No longer than needed to tell it from the others.
    label: String,
    a: Csr,
}

/// The files of a folder and of the folders in it, by name.
fn files(folder: &Path, found: &mut Vec<PathBuf>) -> support::Result {
    let failed = |e| Failure::bad_input(format_args!("{}: {e}", folder.display()));
    let mut entries: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    for path in entries {
        // A link may lead back to where it is.
        if path.is_dir() && !path.is_symlink() {
            files(&path, found)?;
        } else if is_matrix(&path) {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether a name ends in `.mtx`, or in `.mtx.gz` as compressed ones do.
fn is_matrix(path: &Path) -> bool {
    let ends = |path: &Path, end: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(end));
    ends(path, "mtx") || ends(path, "gz") && ends(&path.with_extension(""), "mtx")
}

fn matrices(args: &Args, report: &mut Report) -> support::Result<Vec<Named>> {
    if args.paths.is_empty() {
        return Ok(builtin::all(args.common.quick));
    }
    let mut paths = Vec::new();
    for path in &args.paths {
        if path.is_dir() { files(path, &mut paths)? } else { paths.push(path.clone()) }
    }
    if paths.is_empty() {
        return Err(Failure::bad_input("no file that ends in .mtx or .mtx.gz in these folders"));
    }
    let (mut read, mut unread) = (Vec::new(), Vec::new());
    for path in paths {
        match support::read_matrix(&path, args.complex) {
            Ok(a) => read.push((path, a)),
            // One of several that cannot be read is told, and not the end.
            Err(Failure::BadInput(why)) if args.paths.iter().all(|p| *p != path) => {
                say(format_args!("not read    {why}"));
                unread.push(why);
            }
            Err(other) => return Err(other),
        }
    }
    if let (true, Some(first)) = (read.is_empty(), unread.first()) {
        let files = count(unread.len(), "file", "files");
        return Err(Failure::bad_input(format_args!(
            "none of {files} could be read, the first for this: {first}"
        )));
    }
    report.set("not_read", json!(unread));
    let labels = label::of_paths(&read.iter().map(|(path, _)| path.as_path()).collect::<Vec<_>>());
    let named =
        |((path, a), label): ((PathBuf, Csr), String)| Named { name: path.display().to_string(), label, a };
    Ok(read.into_iter().zip(labels).map(named).collect())
}

/// Refuses flags that no solver takes, before all the work.
fn check(device: &Device, args: &Args) -> support::Result {
    let one = StoredMatrix::new(device, Triplets::from_diagonal(&[1.0]).to_csr(), MatrixFormat::Auto)?;
    Auto::new(&one, args.params())?;
    Ok(())
}

impl Args {
    fn params(&self) -> AutoParams {
        AutoParams::default()
            .with_stop(Stop::relative(self.tol))
            .with_max_iters(self.max_iters)
            .with_factors(!self.no_direct)
    }
}

/// Right-hand sides by name.
fn right_hand_sides(a: &Csr) -> texla::Result<[(&'static str, Vec<f64>); 2]> {
    let sums = a.mul_vec(&vec![1.0; a.shape().cols])?;
    let mut state = 1u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    Ok([("row sums", sums), ("random", (0..a.shape().rows).map(|_| next()).collect())])
}

/// `‖b - A x‖ / ‖b‖` as in twice the precision, and of least squares `‖Aᵀ(b - A x)‖ / ‖Aᵀb‖`, if that is less.
fn relative(a: &Csr, x: &[f64], b: &[f64]) -> texla::Result<f64> {
    let norm = |v: &[f64]| {
        let largest = v.iter().map(|v| v.abs()).fold(0.0, worst);
        if largest == 0.0 {
            0.0
        } else {
            largest * v.iter().map(|v| (v / largest).powi(2)).sum::<f64>().sqrt()
        }
    };
    let ratio = |r: f64, b: f64| if r == 0.0 { 0.0 } else { r / b };
    let r = residual(a, x, b);
    let own = ratio(norm(&r), norm(b));
    if a.shape().is_square() {
        return Ok(own);
    }
    let of = |v: &[f64]| a.mul_vec_transposed(v).map(|s| norm(&s));
    Ok(own.min(ratio(of(&r)?, of(b)?)))
}

/// What a system came to.
struct Outcome {
    report: AutoReport,
    /// What has solved it, where that was no iteration, and what the normal form did.
    by: Option<&'static str>,
    normal: Option<String>,
    /// What that gave up besides the iterations' own.
    given_up: Vec<Attempt>,
    wall: Duration,
    found: f64,
}

fn solve(device: &Device, args: &Args, named: &Named, b: &[f64]) -> texla::Result<Outcome> {
    let Ordinary { a: host, b, .. } = Ordinary::new(named.a.clone(), b.to_vec())?;
    if host.shape().is_square() && !args.no_presolve && device.capabilities().exact_form.is_some() {
        let started = Instant::now();
        let params = HostSystemParams::default().with_auto(args.params());
        let params = if args.no_direct { params.with_direct(DirectUse::Never) } else { params };
        let (x, report) = HostSystem::new(device, host.clone(), params)?.solve(&b)?;
        let (wall, found) = (started.elapsed(), relative(&host, &x, &b)?);
        let (by, normal) = (report.by.without_iterations(), Some(report.normal.clone()));
        return Ok(Outcome { report: report.as_run(), by, normal, given_up: report.given_up, wall, found });
    }
    let a = StoredMatrix::new(device, host.clone(), MatrixFormat::Auto)?;
    let right = DoubleVector::from_f64(device, &b)?;
    let mut x = DoubleVector::zeros(device, host.shape().cols)?;
    let started = Instant::now();
    let report = Auto::new(&a, args.params())?.solve(&mut x, &right)?;
    let wall = started.elapsed();
    Ok(Outcome {
        report,
        by: None,
        normal: None,
        given_up: Vec::new(),
        wall,
        found: relative(&host, &x.read()?, &b)?,
    })
}

fn way(attempt: &Attempt) -> serde_json::Value {
    json!({ "choice": attempt.what, "took_s": attempt.took.as_secs_f64(), "why": in_flags(&attempt.why) })
}

fn tried(tried: &Tried) -> serde_json::Value {
    json!({
        "method": tried.choice.method.word(), "preconditioner": tried.choice.preconditioner.word(),
        "choice": tried.choice.to_string(), "set_up_s": tried.set_up.as_secs_f64(),
        "solve_s": tried.solving.as_secs_f64(), "why": in_flags(&tried.why),
    })
}

/// Solves a system three times by what was chosen: how it ended, and the least times for setting up and solving.
fn timed(
    device: &Device,
    params: ChoiceParams,
    choice: Choice,
    a: &StoredMatrix,
    b: &DoubleVector,
) -> texla::Result<(SolveReport, [Duration; 2])> {
    let once = || -> texla::Result<(SolveReport, [Duration; 2])> {
        let chosen = choice.prepare(a, params)?;
        let mut x = DoubleVector::zeros(device, a.pattern().shape().cols)?;
        device.finish()?;
        let started = Instant::now();
        let solved = chosen.solve(&mut x, b)?;
        device.finish()?;
        Ok((solved, [chosen.set_up(), started.elapsed()]))
    };
    let (mut solved, mut least) = once()?;
    for _ in 1..3 {
        let [set_up, solving] = least;
        let (again, [other_set_up, other_solving]) = once()?;
        (solved, least) = (again, [set_up.min(other_set_up), solving.min(other_solving)]);
    }
    Ok((solved, least))
}

/// A matrix on the device, what suits it, and a right-hand side of its row sums.
fn suited(device: &Device, a: &Csr) -> texla::Result<(StoredMatrix, MethodKind, DoubleVector)> {
    let [(_, b), _] = right_hand_sides(a)?;
    let Ordinary { a, b, .. } = Ordinary::new(a.clone(), b)?;
    let stored = StoredMatrix::new(device, a, MatrixFormat::Auto)?;
    let b = DoubleVector::from_f64(device, &b)?;
    let choices = Auto::new(&stored, AutoParams::default())?;
    let method = choices.choices().first().map_or(MethodKind::Gmres, |choice| choice.method);
    Ok((stored, method, b))
}

/// Every preconditioner in turn, on systems whose right-hand side is the row sums. What is refused, or fails, has a row that says so.
fn compare(args: &Args, device: &Device, all: &[Named], report: &mut Report) -> support::Result {
    let mut table = Table::new(["matrix", "rows", "by", "iterations", "set up", "solve", "ends"]);
    let params = ChoiceParams::default().with_stop(Stop::relative(args.tol)).with_max_iters(args.max_iters);
    for named in all {
        let start = [named.label.clone(), named.a.shape().rows.to_string()];
        let untimed = ["-"; 3].map(str::to_owned);
        let (a, method, b) = match suited(device, &named.a) {
            Ok(suited) => suited,
            Err(error) => {
                let cells = ["-".to_owned()].into_iter().chain(untimed).chain([told(&error)]);
                table.row(start.into_iter().chain(cells));
                report.row(json!({ "matrix": named.name, "error": told(&error) }));
                continue;
            }
        };
        for (word, kind) in PreconditionerKind::WORDS {
            let mut row = json!({ "matrix": named.name, "method": method.word(), "preconditioner": word });
            let (cells, end) = match timed(device, params, Choice::new(method, *kind), &a, &b) {
                Ok((solved, least)) => {
                    let [set_up, solving] = least.map(|d| d.as_secs_f64() * 1e3);
                    for (key, value) in [
                        ("iterations", json!(solved.iterations)),
                        ("set_up_ms", json!(set_up)),
                        ("solve_ms", json!(solving)),
                        ("reason", json!(solved.reason.to_string())),
                    ] {
                        row[key] = value;
                    }
                    let ms = |time| format!("{time:.2} ms");
                    ([solved.iterations.to_string(), ms(set_up), ms(solving)], solved.reason.to_string())
                }
                // What the method does not take. The report has all of it.
                Err(error) => {
                    let text = told(&error);
                    let first = text.split("; ").next().unwrap_or_default().to_owned();
                    row["error"] = json!(text);
                    (untimed.clone(), first)
                }
            };
            let by = format!("{method} with {word}");
            table.row(start.clone().into_iter().chain([by]).chain(cells).chain([end]));
            report.row(row);
        }
    }
    table.print();
    Ok(())
}

fn run(args: &Args, report: &mut Report) -> support::Result {
    let context = args.common.headless(report)?;
    let device = context.device();
    check(device, args)?;
    let all = matrices(args, report)?;
    if let Some(folder) = &args.plot {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::bad_input(format_args!("{}: {e}", folder.display())))?;
        let names = label::of_files(all.iter().map(|named| named.label.as_str()));
        for (named, name) in all.iter().zip(names) {
            pattern::write(&named.a, &folder.join(format!("{name}.png")))?;
        }
    }
    if args.compare {
        return compare(args, device, &all, report);
    }
    let mut table = Table::new([
        "matrix",
        "rows",
        "nonzeros",
        "b",
        "by",
        "iterations",
        "set up",
        "solve",
        "residual",
        "given up",
        "direct",
        "its residual",
    ]);
    let (mut reached, mut systems, mut wrong) = (0usize, 0usize, 0usize);
    for named in &all {
        let shape = named.a.shape();
        for (which, b) in right_hand_sides(&named.a)? {
            systems += 1;
            let began = Instant::now();
            let reference = direct::solve(&named.a, &b);
            let direct_s = began.elapsed().as_secs_f64();
            let reference = reference.map(|x| relative(&named.a, &x, &b)).transpose()?;
            let start = [named.label.clone(), shape.to_string(), named.a.nnz().to_string(), which.to_owned()];
            let seconds = |s: f64| format!("{s:.3} s");
            let direct = match reference {
                Some(found) => [seconds(direct_s), format!("{found:.1e}")],
                None => ["-".to_owned(), "-".to_owned()],
            };
            let mut row = json!({
                "matrix": named.name, "rows": shape.rows, "cols": shape.cols, "nnz": named.a.nnz(), "b": which,
                "direct_s": reference.map(|_| direct_s), "direct_residual": reference,
            });
            match solve(device, args, named, &b) {
                Ok(Outcome { report, by: no_iterations, normal, given_up: ways, wall, found }) => {
                    let from = report.went_on_from();
                    let AutoReport { solved, choice, set_up, solving, tried: given_up, .. } = report;
                    let is_wrong = solved.converged() && found > 1.01 * args.tol;
                    wrong += usize::from(is_wrong);
                    reached += usize::from(solved.converged() && !is_wrong);
                    let named = no_iterations.map_or(choice.to_string(), str::to_owned);
                    let by = if solved.converged() { named } else { format!("{} ({named})", solved.reason) };
                    let end = [
                        by,
                        solved.iterations.to_string(),
                        seconds(set_up.as_secs_f64()),
                        seconds(if no_iterations.is_some() { wall } else { solving }.as_secs_f64()),
                        format!("{found:.1e}"),
                        (given_up.len() + ways.len()).to_string(),
                    ];
                    table.row(start.into_iter().chain(end).chain(direct));
                    for (key, value) in [
                        ("method", json!(no_iterations.unwrap_or(choice.method.word()))),
                        (
                            "preconditioner",
                            json!(no_iterations.map_or(choice.preconditioner.word(), |_| "none")),
                        ),
                        ("normal_form", json!(normal)),
                        ("preparation", json!(if choice.prepares() { "matched" } else { "none" })),
                        ("choice", json!(no_iterations.is_none().then(|| choice.to_string()))),
                        ("converged", json!(solved.converged())),
                        ("reason", json!(solved.reason.to_string())),
                        ("iterations", json!(solved.iterations)),
                        ("set_up_s", json!(set_up.as_secs_f64())),
                        ("solve_s", json!(solving.as_secs_f64())),
                        ("wall_s", json!(wall.as_secs_f64())),
                        ("device_true_residual", json!(solved.true_residual)),
                        ("true_relative_residual", json!(found)),
                        ("went_on_from", json!(from)),
                        (
                            "tried",
                            json!(given_up.iter().map(tried).chain(ways.iter().map(way)).collect::<Vec<_>>()),
                        ),
                    ] {
                        row[key] = value;
                    }
                }
                Err(error) => {
                    table.row(start.into_iter().chain([told(&error)]));
                    row["error"] = json!(told(&error));
                }
            }
            report.row(row);
        }
    }
    table.print();
    say(format_args!("{reached} of {} reached {:e}", count(systems, "system", "systems"), args.tol));
    report.set("tol", args.tol).set("systems", systems).set("reached", reached);
    report.at_most("verdicts that 64 bits do not confirm", 0.0, wrong as f64);
    report.at_least("systems that reached the bound", systems as f64, reached as f64);
    Ok(())
}
