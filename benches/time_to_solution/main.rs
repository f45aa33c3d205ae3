//! Time to solution: seconds from the call to the certified answer, on the device and on the CPU, in the same run:
//! `cargo bench --bench time_to_solution -- [--sizes 256,512] [--tol T] [--rounds R] [--only TEXT] [--json FILE] [--quick]
//! [--most SECONDS]`.
//!
//! In the first table of a problem setting up is not counted on either side: matrices, grids and the inverse on the coarsest one. In
//! the second everything is, from having the matrix to having the solution on the host, by a device that has done nothing before (the
//! driver may have kept its programs), beside what pyamg and SciPy take where Python (`TEXLA_PYTHON`, else `python3`) has them. Rows
//! are measured in turn, round after round, and the medians are compared; a row that has taken `--most` seconds is not measured again, and
//! one that would by what the size before has taken is left out. Every answer is looked at in 64 bits.

use std::collections::HashMap;
use std::process::ExitCode;

use answer::{Parts, Way};
use common::support::clock::median;
use common::support::{self, Report, in_range, json};
use common::{BenchArgs, context, or_dash, positive};
use device::OnDevice;
use host::OnHost;
use method::{Answer, Bits, Method};
use problem::{Kind, Problem, Right, System, problems};
use serde_json::Value;
use texla::{Device, Grid};

mod answer;
#[path = "../common/mod.rs"]
mod common;
mod device;
mod host;
mod host_multigrid;
mod method;
mod problem;

/// Seconds from the call to the certified answer
#[derive(clap::Parser)]
struct Args {
    #[command(flatten)]
    shared: BenchArgs,
    /// Cells along a side of the plane grids, ascending
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = positive)]
    sizes: Option<Vec<usize>>,
    /// The bound on the relative residual
    #[arg(long, value_name = "T", default_value_t = 1e-5)]
    tol: f64,
    /// Seconds a row may take in all
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    most: f64,
}

impl AsRef<support::CommonArgs> for Args {
    fn as_ref(&self) -> &support::CommonArgs {
        &self.shared.common
    }
}

/// What is asked for.
struct Asked<'a> {
    args: &'a Args,
    sizes: Vec<usize>,
    rounds: usize,
}

impl<'a> Asked<'a> {
    fn new(args: &'a Args) -> support::Result<Self> {
        let shared = &args.shared;
        in_range("--tol", args.tol, 1e-15..=1.0)?;
        let mut sizes = shared.or(args.sizes.clone(), [vec![64], vec![256, 512, 1024, 2048]]);
        sizes.sort_unstable();
        Ok(Asked { args, sizes, rounds: shared.or(shared.rounds, [1, 3]) })
    }

    fn keeps(&self, name: &str) -> bool {
        self.args.shared.keeps(name)
    }
}

/// What a line is about.
#[derive(Clone, Copy, Default, PartialEq)]
enum What {
    #[default]
    Solve,
    /// Not a solve, but what it is made of.
    Part,
    /// From the matrix to the answer.
    Answer,
}

/// A line of the tables.
#[derive(Default)]
struct Line {
    what: What,
    problem: String,
    grid: String,
    method: String,
    wall: Option<f64>,
    iterations: Option<f64>,
    useful: Option<u64>,
    in_vain: Option<u64>,
    residual: Option<f64>,
    /// The wall over what the useful work alone takes.
    over_useful: Option<f64>,
    /// Of an answer: upload, set-up, compiling and iterations.
    parts: [Option<f64>; 4],
    note: String,
}

impl Line {
    fn json(&self) -> Value {
        let ms = |seconds: Option<f64>| seconds.map(|s| 1e3 * s);
        let [upload, set_up, compile, iterate] = self.parts.map(ms);
        let what = match self.what {
            What::Solve => "solve",
            What::Part => "part",
            What::Answer => "answer",
        };
        json!({
            "what": what, "upload_ms": upload, "set_up_ms": set_up, "compile_ms": compile, "iterate_ms": iterate, "problem": self.problem, "grid": self.grid, "method": self.method,
            "wall_ms": ms(self.wall), "iterations": self.iterations,
            "draws_useful": self.useful, "draws_in_vain": self.in_vain,
            "true_residual": self.residual, "over_useful_work": self.over_useful, "note": self.note,
        })
    }

    fn print(&self) {
        let ms = |seconds: f64| format!("{:.3}", 1e3 * seconds);
        if self.what == What::Answer {
            let [upload, set_up, compile, iterate] = self.parts.map(|part| or_dash(part.map(ms)));
            println!(
                "{:34} {:44} {upload:>9} {set_up:>9} {compile:>9} {iterate:>9} {:>9} {:>6} {:>9}  {}",
                format!("{} {}", self.problem, self.grid),
                self.method,
                or_dash(self.wall.map(ms)),
                or_dash(self.iterations),
                or_dash(self.residual.map(|r| format!("{r:.2e}"))),
                self.note,
            );
            return;
        }
        println!(
            "{:34} {:26} {:>12} {:>10} {:>8} {:>8} {:>9} {:>7}  {}",
            format!("{} {}", self.problem, self.grid),
            self.method,
            or_dash(self.wall.map(ms)),
            or_dash(self.iterations.map(|k| format!("{}", (10.0 * k).round() / 10.0))),
            or_dash(self.useful),
            or_dash(self.in_vain),
            or_dash(self.residual.map(|r| format!("{r:.2e}"))),
            or_dash(self.over_useful.map(|r| format!("{r:.2}"))),
            self.note,
        );
    }
}

fn main() -> ExitCode {
    support::main_with("time_to_solution", run)
}

fn run(args: &Args, report: &mut Report) -> support::Result {
    let asked = Asked::new(args)?;
    let context = context(&args.shared, report)?;
    let device = context.device();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!("bound {:e}, {} rounds, {threads} CPU threads\n", args.tol, asked.rounds);
    println!("left out: the ladder on more than 64x64 cells, as its sweeps grow with the square of the side");
    report.set("tol", args.tol).set("cpu_threads", threads);
    let problems = problems(&asked.sizes, args.shared.common.quick);
    println!(
        "{:34} {:26} {:>12} {:>10} {:>8} {:>8} {:>9} {:>7}",
        "problem", "method", "wall ms", "iterations", "draws", "in vain", "residual", "/useful"
    );

    let mut lines = Vec::new();
    let mut took = HashMap::new();
    for problem in &problems {
        lines.extend(solves(&asked, device, problem, &mut took));
    }
    println!();
    lines.extend(parts(slopes(&asked, device)));
    println!(
        "\nfrom having the matrix to having the solution\n{:34} {:44} {:>9} {:>9} {:>9} {:>9} {:>9} {:>6} {:>9}",
        "problem",
        "from what, and how",
        "upload",
        "set-up",
        "compile",
        "iterate",
        "ms in all",
        "iter",
        "residual"
    );
    for problem in &problems {
        lines.extend(answers(&asked, device, problem)?);
    }
    for line in &lines {
        report.row(line.json());
    }
    Ok(())
}

/// Seconds that methods have taken for the last problem of a family, and its unknowns.
type Took = HashMap<(String, String), (usize, f64)>;

/// Solves a problem by all its methods.
fn solves(asked: &Asked<'_>, device: &Device, problem: &Problem, took: &mut Took) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut methods = problem.methods();
    methods.retain(|m| asked.keeps(&format!("{}, {m}", problem.title())));
    methods.retain(|m| {
        let before = took.get(&(problem.name.clone(), m.to_string()));
        let known = before.zip(problem.kind.unknowns());
        // Iterations grow with the side of a grid where nothing but the matrix is known of it. Far smaller sizes say little.
        let power = if matches!(m, Method::MultigridCg(_) | Method::HostMultigridCg) { 1.0 } else { 1.5 };
        let expected =
            known.map(|((n, s), now)| (s, now as f64 / *n as f64)).filter(|(_, times)| *times <= 16.0);
        let expected = expected.map_or(0.0, |(s, times)| s * times.powf(power));
        if expected > asked.args.most {
            let note = format!("left out: about {expected:.0} s");
            lines.push(Line { note, ..line(problem, &m.to_string()) });
        }
        expected <= asked.args.most
    });
    if !methods.is_empty() {
        let system = System::new(device, problem);
        let asked_for = methods.len();
        let on_host = OnHost::new(&system, &mut methods, asked.args.tol);
        if methods.len() < asked_for {
            let note = "left out: it halves even sides alone".to_owned();
            lines.push(Line { note, ..line(problem, &Method::HostMultigridCg.to_string()) });
        }
        let on_device = OnDevice::new(device, &system, &methods, asked.args.tol).expect("set-up");
        let run = &mut |method: Method| match on_host.as_ref().and_then(|host| host.solve(method)) {
            Some(answer) => answer,
            None => {
                let mut answer = on_device.solve(method).expect("solve");
                if method == Method::MultigridCg(Bits::Single) && !answer.first {
                    answer.over_useful = Some(on_device.over_useful(&answer).expect("parts of a solve"));
                }
                answer
            }
        };
        for (method, answers) in in_turn(asked, &methods, run) {
            let over_useful: Vec<f64> = answers.iter().filter_map(|a| a.over_useful).collect();
            let seconds = median(answers.iter().map(|a| a.seconds));
            let last = answers.last().expect("a round at least");
            let residual = system.residual(&last.x);
            // Who calls it solved has to be right, whatever made it: sums of 64 bits in another order are as good.
            let solved = residual <= asked.args.tol * (1.0 + 1e-9);
            assert!(
                solved || last.gave_up.is_some(),
                "{}, {method}: called solved at {residual:e}",
                problem.title()
            );
            took.insert((problem.name.clone(), method.to_string()), (system.b.len(), seconds));
            lines.push(Line {
                wall: Some(seconds),
                iterations: Some(last.iterations as f64),
                useful: last.draws.map(|[useful, _]| useful),
                in_vain: last.draws.map(|[_, in_vain]| in_vain),
                residual: Some(residual),
                over_useful: (!over_useful.is_empty()).then(|| median(over_useful)),
                note: last.gave_up.clone().unwrap_or_default(),
                ..line(problem, &method.to_string())
            });
        }
    }
    lines.iter().for_each(Line::print);
    let cycles = parts(cycles(asked, device, problem));
    cycles.iter().for_each(Line::print);
    lines.extend(cycles);
    lines
}

/// From the matrix to the answer, each time on a device of its own, and by Python's libraries.
fn answers(asked: &Asked<'_>, device: &Device, problem: &Problem) -> support::Result<Vec<Line>> {
    let keeps = |name: &str| asked.keeps(&format!("{}, {name}", problem.title()));
    let mut ways = problem.ways();
    let peers = !ways.is_empty() && matches!(problem.kind, Kind::Grid { .. }) && keeps("CPU: Python");
    ways.retain(|way| keeps(&way.to_string()));
    if ways.is_empty() && !peers {
        return Ok(Vec::new());
    }
    let system = System::new(device, problem);
    let b: Vec<f64> = system.b.iter().map(|v| f64::from(*v)).collect();
    let mut all: Vec<(Way, Vec<Parts>)> = ways.into_iter().map(|way| (way, Vec::new())).collect();
    for _ in 0..asked.rounds {
        for (way, found) in &mut all {
            if found.iter().map(|parts| parts.total).sum::<f64>() <= asked.args.most {
                let context = texla::Headless::new(
                    texla::HeadlessOptions::default().with_api(asked.args.shared.common.api),
                )?;
                let given = (problem, system.csr(), &b[..]);
                found.push(answer::answer(context.device(), given, *way, asked.args.tol)?);
            }
        }
    }
    let mut lines = Vec::new();
    for (way, found) in all {
        let of = |part: fn(&Parts) -> f64| Some(median(found.iter().map(part)));
        let Some(last) = found.last() else { continue };
        let residual = system.residual(&last.x);
        let solved = residual <= asked.args.tol * (1.0 + 1e-6) || last.gave_up.is_some();
        assert!(solved, "{}, {way}: called solved at {residual:e}", problem.title());
        lines.push(Line {
            wall: of(|parts| parts.total),
            parts: [of(|p| p.upload), of(|p| p.set_up), of(|p| p.compile), of(|p| p.iterate)],
            iterations: Some(last.iterations as f64),
            residual: Some(residual),
            note: last.gave_up.clone().unwrap_or_else(|| last.by.clone()),
            ..line(problem, &way.to_string())
        });
    }
    if peers {
        for found in answer::peers(&system, &b, asked.args.tol, asked.args.most) {
            let of = |name: &str| found[name].as_f64();
            let ms = |name: &str| of(name).map(|ms| 1e-3 * ms);
            let note = found["left_out"].as_str().map(|why| format!("left out: {why}")).unwrap_or_default();
            lines.push(Line {
                wall: ms("wall_ms"),
                parts: [None, ms("set_up_ms"), None, ms("iterate_ms")],
                iterations: of("iterations"),
                residual: of("true_residual"),
                note,
                ..line(problem, found["method"].as_str().unwrap_or("CPU: Python"))
            });
        }
    }
    let lines: Vec<Line> = lines.into_iter().map(|line| Line { what: What::Answer, ..line }).collect();
    lines.iter().for_each(Line::print);
    Ok(lines)
}

fn parts(lines: Vec<Line>) -> Vec<Line> {
    lines.into_iter().map(|line| Line { what: What::Part, ..line }).collect()
}

/// A line that says nothing yet.
fn line(problem: &Problem, method: &str) -> Line {
    Line {
        problem: problem.name.clone(),
        grid: problem.kind.size(),
        method: method.to_owned(),
        ..Line::default()
    }
}

/// Each method once a round, but for those that have taken too long.
fn in_turn(
    asked: &Asked<'_>,
    methods: &[Method],
    run: &mut dyn FnMut(Method) -> Answer,
) -> Vec<(Method, Vec<Answer>)> {
    let mut all: Vec<(Method, Vec<Answer>)> = methods.iter().map(|m| (*m, Vec::new())).collect();
    for _ in 0..asked.rounds {
        for (method, answers) in &mut all {
            if answers.iter().map(|a| a.seconds).sum::<f64>() > asked.args.most {
                continue;
            }
            let mut answer = run(*method);
            if answer.first {
                // What was compiled is not the solve's.
                answer = run(*method);
            }
            answers.push(answer);
        }
    }
    all
}

/// The V-cycle alone, once a grid: the right-hand side does not matter to it.
fn cycles(asked: &Asked<'_>, device: &Device, problem: &Problem) -> Vec<Line> {
    let names = ["V-cycle alone", "CPU: V-cycle alone"];
    let grid = matches!(problem.kind, Kind::Grid { .. }) && problem.right == Right::Random;
    let [ours, host] = names.map(|name| grid && asked.keeps(&format!("{}, {name}", problem.title())));
    if !ours && !host {
        return Vec::new();
    }
    let system = System::new(device, problem);
    let mut lines = Vec::new();
    if ours {
        let on_device = OnDevice::new(device, &system, &[Method::MultigridCg(Bits::Single)], asked.args.tol)
            .expect("set-up");
        let (seconds, draws) = on_device.cycle().expect("cycle");
        lines.push(Line { wall: Some(seconds), useful: Some(draws), ..line(problem, names[0]) });
    }
    if host && problem.methods().contains(&Method::HostMultigridCg) {
        let on_host = OnHost::new(&system, &mut vec![Method::HostMultigridCg], asked.args.tol);
        let wall = on_host.and_then(|host| host.cycle());
        lines.extend(wall.map(|seconds| Line { wall: Some(seconds), ..line(problem, names[1]) }));
    }
    lines
}

/// What an iteration of conjugate gradients takes, and what a solve takes besides: by two solves that their limit ends.
fn slopes(asked: &Asked<'_>, device: &Device) -> Vec<Line> {
    let sizes = match asked.args.sizes {
        Some(_) => asked.sizes.clone(),
        None => asked.args.shared.or(None, [vec![64], vec![64, 512, 2048]]),
    };
    let mut lines = Vec::new();
    for (n, method) in
        sizes.iter().flat_map(|n| [Method::CgMatrix, Method::CgStencil].map(|m| (*n, m(Bits::Single))))
    {
        let kind = Kind::Grid { grid: Grid::new_2d(n, n), weights: [1.0, 1.0, 0.0], obstacles: false };
        let problem = Problem { name: "Poisson 2D random".to_owned(), kind, right: Right::Random };
        let name = format!("{method}, slope");
        if !asked.keeps(&format!("{}, {name}", problem.title())) {
            continue;
        }
        let system = System::new(device, &problem);
        let on_device = OnDevice::new(device, &system, &[method], asked.args.tol).expect("set-up");
        // On small grids fewer, or they would be done; and the residual replaced no more often in one than in the other,
        // or that would count as iterations.
        let mut found = None;
        for limits in [[60, 360], [20, 120], [10, 60], [5, 35]] {
            let [first, second] = on_device.limited(method, limits, asked.rounds).expect("solve");
            if [&first.1, &second.1].map(|r| r.iterations) != limits {
                continue;
            }
            let alike = first.1.replacements == second.1.replacements;
            if alike || found.is_none() {
                found = Some((first, second));
            }
            if alike {
                break;
            }
        }
        let Some((first, second)) = found else {
            lines.push(Line { note: "done before the limit".into(), ..line(&problem, &name) });
            continue;
        };
        let [few, many] = [&first.1, &second.1].map(|r| r.iterations as f64);
        let each = (second.0 - first.0) / (many - few);
        let rest = first.0 - few * each;
        let replaced = [&first.1, &second.1].map(|r| r.replacements);
        lines.push(Line {
            wall: Some(each),
            iterations: Some(1.0),
            useful: Some(second.1.draws_per_iteration),
            note: format!("of {few} and {many} iterations, residual replaced {replaced:?} times"),
            ..line(&problem, &format!("{method}, an iteration"))
        });
        lines.push(Line {
            wall: Some(rest),
            iterations: Some(rest / each),
            note: "as many iterations would take as long".into(),
            ..line(&problem, &format!("{method}, besides"))
        });
    }
    lines.iter().for_each(Line::print);
    lines
}
