//! A gallery of matrices: each solved by what suits it, beside a direct solver on the CPU in 64 bits.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use support::{CommonArgs, Failure, Ordinary, Report, Table, count, json, residual, say, worst};
use texla::host::{Csr, market};
use texla::solve::{
    Auto, AutoParams, AutoReport, Choice, ChoiceParams, MethodKind, PreconditionerKind, Stop, Tried,
};
use texla::{Device, DoubleVector, Error, MatrixFormat, StoredMatrix};

mod builtin;
mod direct;
mod pattern;
#[path = "../support/mod.rs"]
mod support;

/// Solves a system with each matrix of files and folders, by the method and the preconditioner that suit it.
#[derive(clap::Parser)]
#[command(name = "matrices")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Matrix Market files, and folders of them (*.mtx, *.mtx in folders of theirs); without any, matrices that are built in
    #[arg(value_name = "DIR|FILE", value_hint = clap::ValueHint::FilePath)]
    paths: Vec<PathBuf>,
    /// Bound on the relative residual
    #[arg(long, default_value_t = 1e-10)]
    tol: f64,
    /// Most iterations of all that is tried for a system
    #[arg(long, default_value_t = 20_000)]
    max_iters: usize,
    /// Solve each system by every preconditioner instead, with the method that suits the matrix, three times: the quickest is told
    #[arg(long)]
    compare: bool,
    /// Write a picture of each matrix' pattern into this folder
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
        if path.is_dir() {
            files(&path, found)?;
        } else if path.extension().is_some_and(|e| e == "mtx") {
            found.push(path);
        }
    }
    Ok(())
}

fn matrices(args: &Args) -> support::Result<Vec<Named>> {
    if args.paths.is_empty() {
        return Ok(builtin::all(args.common.quick));
    }
    let mut paths = Vec::new();
    for path in &args.paths {
        if path.is_dir() { files(path, &mut paths)? } else { paths.push(path.clone()) }
    }
    if paths.is_empty() {
        return Err(Failure::bad_input("no file that ends in .mtx in these folders"));
    }
    let mut read = Vec::new();
    for path in paths {
        match market::read_matrix(&path) {
            Ok(found) => read.push(Named { name: path.display().to_string(), a: found.triplets.to_csr() }),
            // One of several that cannot be read is told, and not the end.
            Err(error) if args.paths.iter().all(|p| *p != path) => say(format_args!("not read    {error}")),
            Err(error) => return Err(Error::from(error).into()),
        }
    }
    Ok(read)
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
    wall: Duration,
    found: f64,
}

fn solve(device: &Device, args: &Args, named: &Named, b: &[f64]) -> texla::Result<Outcome> {
    let Ordinary { a: host, b, .. } = Ordinary::new(named.a.clone(), b.to_vec())?;
    let a = StoredMatrix::new(device, host.clone(), MatrixFormat::Auto)?;
    let right = DoubleVector::from_f64(device, &b)?;
    let mut x = DoubleVector::zeros(device, host.shape().cols)?;
    let params = AutoParams::default().with_stop(Stop::relative(args.tol)).with_max_iters(args.max_iters);
    let started = Instant::now();
    let report = Auto::new(&a, params)?.solve(&mut x, &right)?;
    let wall = started.elapsed();
    Ok(Outcome { report, wall, found: relative(&host, &x.read()?, &b)? })
}

fn tried(tried: &Tried) -> serde_json::Value {
    json!({
        "method": tried.choice.method.word(), "preconditioner": tried.choice.preconditioner.word(),
        "choice": tried.choice.to_string(), "set_up_s": tried.set_up.as_secs_f64(),
        "solve_s": tried.solving.as_secs_f64(), "why": tried.why.to_string(),
    })
}

/// Every preconditioner in turn, on systems whose right-hand side is the row sums.
fn compare(args: &Args, device: &Device, all: &[Named], report: &mut Report) -> support::Result {
    let mut table = Table::new(["matrix", "rows", "by", "iterations", "set up", "solve", "ends"]);
    let params = ChoiceParams::default().with_stop(Stop::relative(args.tol)).with_max_iters(args.max_iters);
    for named in all {
        let a = StoredMatrix::new(device, named.a.clone(), MatrixFormat::Auto)?;
        let [(_, b), _] = right_hand_sides(&named.a)?;
        let right = DoubleVector::from_f64(device, &b)?;
        let suited =
            Auto::new(&a, AutoParams::default())?.choices().first().map_or(MethodKind::Gmres, |c| c.method);
        for (word, kind) in PreconditionerKind::WORDS {
            let mut row = json!({ "matrix": named.name, "method": suited.word(), "preconditioner": word });
            let start = [support::shortened(&named.name), named.a.shape().rows.to_string()];
            let mut least = [Duration::MAX; 2];
            let mut ended = None;
            for _ in 0..3 {
                let Ok(chosen) = Choice::new(suited, *kind).prepare(&a, params) else { break };
                let mut x = DoubleVector::zeros(device, named.a.shape().cols)?;
                device.finish()?;
                let started = Instant::now();
                ended = Some(chosen.solve(&mut x, &right)?);
                device.finish()?;
                let [set_up, solving] = least;
                least = [set_up.min(chosen.set_up()), solving.min(started.elapsed())];
            }
            // What the method does not take.
            let Some(solved) = ended else { continue };
            let [set_up, solving] = least.map(|d| d.as_secs_f64() * 1e3);
            let by = format!("{suited} with {word}");
            let cells =
                [by, solved.iterations.to_string(), format!("{set_up:.2} ms"), format!("{solving:.2} ms")];
            table.row(start.into_iter().chain(cells).chain([solved.reason.to_string()]));
            for (key, value) in [
                ("iterations", json!(solved.iterations)),
                ("set_up_ms", json!(set_up)),
                ("solve_ms", json!(solving)),
                ("reason", json!(solved.reason.to_string())),
            ] {
                row[key] = value;
            }
            report.row(row);
        }
    }
    table.print();
    Ok(())
}

fn run(args: &Args, report: &mut Report) -> support::Result {
    let all = matrices(args)?;
    let context = args.common.headless(report)?;
    let device = context.device();
    if let Some(folder) = &args.plot {
        std::fs::create_dir_all(folder)
            .map_err(|e| Failure::bad_input(format_args!("{}: {e}", folder.display())))?;
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
    for (number, named) in all.iter().enumerate() {
        let shape = named.a.shape();
        if let Some(folder) = &args.plot {
            pattern::write(&named.a, &folder.join(format!("{number:03}.png")))?;
        }
        for (which, b) in right_hand_sides(&named.a)? {
            systems += 1;
            let began = Instant::now();
            let reference = direct::solve(&named.a, &b);
            let direct_s = began.elapsed().as_secs_f64();
            let reference = reference.map(|x| relative(&named.a, &x, &b)).transpose()?;
            let start = [
                support::shortened(&named.name),
                shape.to_string(),
                named.a.nnz().to_string(),
                which.to_owned(),
            ];
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
                Ok(Outcome {
                    report: AutoReport { solved, choice, set_up, solving, tried: given_up, .. },
                    wall,
                    found,
                }) => {
                    let is_wrong = solved.converged() && found > 1.01 * args.tol;
                    wrong += usize::from(is_wrong);
                    reached += usize::from(solved.converged() && !is_wrong);
                    let by = if solved.converged() {
                        choice.to_string()
                    } else {
                        format!("{} ({choice})", solved.reason)
                    };
                    let end = [
                        by,
                        solved.iterations.to_string(),
                        seconds(set_up.as_secs_f64()),
                        seconds(solving.as_secs_f64()),
                        format!("{found:.1e}"),
                        given_up.len().to_string(),
                    ];
                    table.row(start.into_iter().chain(end).chain(direct));
                    for (key, value) in [
                        ("method", json!(choice.method.word())),
                        ("preconditioner", json!(choice.preconditioner.word())),
                        ("preparation", json!(if choice.prepares() { "matched" } else { "none" })),
                        ("choice", json!(choice.to_string())),
                        ("converged", json!(solved.converged())),
                        ("reason", json!(solved.reason.to_string())),
                        ("iterations", json!(solved.iterations)),
                        ("set_up_s", json!(set_up.as_secs_f64())),
                        ("solve_s", json!(solving.as_secs_f64())),
                        ("wall_s", json!(wall.as_secs_f64())),
                        ("device_true_residual", json!(solved.true_residual)),
                        ("true_relative_residual", json!(found)),
                        ("tried", json!(given_up.iter().map(tried).collect::<Vec<_>>())),
                    ] {
                        row[key] = value;
                    }
                }
                Err(error) => {
                    table.row(start.into_iter().chain([error.to_string()]));
                    row["error"] = json!(error.to_string());
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
