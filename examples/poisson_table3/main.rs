//! Table 3 of [Bajaj04]: the Poisson equations of Stam's projection by enhanced block Jacobi, plain and optimised, beside
//! Gauss-Seidel on the CPU, Jacobi, conjugate gradients, multigrid and matrices that are stored. Figures 9, 12 and 13 with --plot.

use std::path::PathBuf;
use std::process::ExitCode;

use texla::pack::StencilBoundary::{Copied, Dropped};
use texla::pack::{Order, RepeatedExpression};
use texla::solve::{BlockExpression, Multigrid, MultigridParams};
use texla::{Grid, Side, Sides, Stencil, StencilParams};

use run::{Blocks, Criterion, Gradients, Method, OnCpu, TOLERANCES};
use scene::Scene;
use simulate::Method as Splitting;
use support::{CommonArgs, Failure, Progress, Report, Result, Table, differing_bits, in_range, json, say};
use table::{FOLDED, GRADIENTS, JACOBI, Kind, MULTIGRID, ONE_THREAD, ORDER, PLAIN, Row, TWO_THREADS};

#[path = "../packing_table2/count.rs"]
mod count;
mod cpu;
mod each;
mod figures;
mod run;
mod scene;
mod simulate;
#[path = "../support/mod.rs"]
mod support;
mod table;

/// Table 3 of [Bajaj04]: Poisson equations of a fluid's projection, on packed textures and beside them
#[derive(clap::Parser)]
#[command(name = "poisson_table3")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Time steps, a system each [default: 20, 2 with --quick; the paper's 1000]
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Cells, lines along the first: 2 to 512 each [default: 40x80x80, 40x12x12 with --quick]
    #[arg(long, value_name = "NXxNYxNZ")]
    size: Option<String>,
    /// Draw Figures 9, 12 and 13, the smoke and its pressure
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    plot: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("poisson_table3", run)
}

/// Whether it is the paper's grid, beside which alone its numbers say anything.
fn is_papers(grid: Grid) -> bool {
    grid.sides() == [40, 80, 80]
}

/// The sides of a grid as users write them.
fn parsed(size: &str) -> Result<Grid> {
    let sides: Vec<Option<usize>> = size.split('x').map(|side| side.parse().ok()).collect();
    match sides[..] {
        [Some(nx), Some(ny), Some(nz)] if [nx, ny, nz].iter().all(|n| (2..=512).contains(n)) => {
            Ok(Grid::new_3d(nx, ny, nz))
        }
        _ => Err(Failure::bad_input(format_args!(
            "--size {size}: expected three numbers from 2 to 512, such as 40x80x80"
        ))),
    }
}

fn run(args: &Args, report: &mut Report) -> Result {
    let quick = args.common.quick;
    let grid = parsed(args.size.as_deref().unwrap_or(if quick { "40x12x12" } else { "40x80x80" }))?;
    let steps = in_range("--steps", args.steps.unwrap_or(if quick { 2 } else { 20 }), 1..=10_000)?;
    let context = args.common.headless(report)?;
    let device = context.device();
    say(format_args!("device     {} ({}, {})", context.name(), device.api(), device.capabilities().version));
    say(format_args!(
        "system     {grid}: {} unknowns; {steps} steps, each from the last one's x",
        grid.len()
    ));
    say("sides      zero at the next cell behind both ends of x, no flux through the others\n");

    // -D⁻¹ (L + U), with the denominator 6 everywhere: at the clamped sides the own old value stands in.
    let taps = [[0, 0, 0], [-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0, 1]];
    let taps = taps.map(|offset| (offset, if offset == [0; 3] { 6.0 } else { -1.0 }));
    let e = RepeatedExpression::stencil(grid, 1, &taps, [[Dropped; 2], [Copied; 2], [Copied; 2]], true)?
        .jacobi()?;
    let orders = [Order::identity(grid.nx), Order::accordion(grid.nx)];
    let plain = BlockExpression::new(device, &e, &orders[0])?;
    let folded = BlockExpression::new(device, &e, &orders[1])?;
    programs(&e, [&plain, &folded], &orders, report)?;

    let neumann = [Side::Neumann; 2];
    let sides = Sides { x: [Side::DIRICHLET; 2], y: neumann, z: neumann };
    let a = Stencil::new(device, grid, StencilParams::new([1.0; 3], sides))?;
    let multigrid = Multigrid::new(&a, MultigridParams::default())?;
    let method = |kind: Kind| -> Result<Box<dyn Method + '_>> {
        Ok(match kind.name {
            name if name == ONE_THREAD.name => Box::new(OnCpu::new(grid, 1)),
            name if name == TWO_THREADS.name => Box::new(OnCpu::new(grid, 2)),
            name if name == PLAIN.name => Box::new(Blocks::new(&a, &plain, false)?),
            name if name == FOLDED.name => Box::new(Blocks::new(&a, &folded, false)?),
            name if name == JACOBI.name => Box::new(Blocks::new(&a, &folded, true)?),
            name if name == GRADIENTS.name => Box::new(Gradients::new(&a, None)?),
            _ => Box::new(Gradients::new(&a, Some(&multigrid))?),
        })
    };
    let mut rows = Vec::new();
    for criterion in Criterion::ALL {
        for kind in ORDER {
            if criterion == Criterion::Residual || kind.changes {
                for column in 0..TOLERANCES.len() {
                    rows.push(Row::new(kind, (criterion, column), grid, method(kind)?));
                }
            }
        }
    }

    let mut scene = Scene::new(device, grid)?;
    let progress = Progress::new("step", steps as u64);
    let (mut first, mut pressure, mut apart) = (Vec::new(), Vec::new(), 0);
    for step in 0..steps {
        let b = scene.step()?;
        if step == 0 {
            // Programs are compiled before anything is timed.
            for row in &rows {
                let mut rehearsal = method(row.kind)?;
                rehearsal.upload(&b)?;
                rehearsal.solve(cpu::norm(&b), row.criterion, 0.5)?;
                rehearsal.read()?;
            }
        }
        let mut on_cpu = Vec::new();
        for row in &mut rows {
            progress.note(format_args!("{} at {:e}", row.kind.name, TOLERANCES[row.column]));
            let x = row.step(device, grid, &b)?;
            if row.criterion == Criterion::Residual && row.kind.name == ONE_THREAD.name {
                on_cpu.push(x);
            } else if row.criterion == Criterion::Residual && row.kind.name == TWO_THREADS.name {
                apart += differing_bits(&x, &on_cpu[row.column]);
            } else if row.kind.name == MULTIGRID.name {
                pressure = x;
            }
        }
        if step == 0 {
            first = b;
        }
        progress.set(step as u64 + 1);
    }
    progress.finish();
    Criterion::ALL.into_iter().for_each(|criterion| table::print(&rows, criterion));
    table::residuals(&rows);
    say(
        "Each from the last step's x. Tested after every sixteenth sweep more, by one number that is waited for (two for the",
    );
    say(
        "change): counts are up to that too large, times are with all of it. Gauss-Seidel in natural order, true diagonal, 32",
    );
    say(
        "bits: sums of lines vectorised, four lines in turns; two threads with half of the planes each, one a sweep behind.",
    );
    say(
        "The paper: GeForce FX 5900 Ultra and Pentium 4 at 2.66 GHz, 1000 steps; what its tolerance bounds it does not say.\n",
    );
    for row in &rows {
        row.check(report);
        report.row(row.json());
    }
    report.at_most("elements that differ between one thread and two", 0.0, apart as f64);
    in_order(&rows, report);
    diffusion(&scene, report);
    from_zero(&a, grid, [&plain, &folded], &orders, report)?;
    let rounds = if quick { 3 } else { 9 };
    let timed = each::measure(&a, [&plain, &folded], &first, rounds, if quick { 5 } else { 20 }, report)?;
    each::print(&timed, [plain.program(), folded.program()], rounds);
    report.set("iterations", timed.iter().map(each::Timed::json).collect::<Vec<_>>());
    report.set("size", json!(grid.sides())).set("steps", steps);
    args.plot.as_deref().map_or(Ok(()), |path| figures::draw(path, grid, &pressure, &scene.smoke.read()?))
}

/// The counts of the programs, from their text, and the paper's where the lines are as long as its.
fn programs(
    e: &RepeatedExpression,
    expressions: [&BlockExpression; 2],
    orders: &[Order; 2],
    report: &mut Report,
) -> Result {
    let papers = [78, 60];
    let mut all = Vec::new();
    for (((name, expression), order), papers) in
        ["plain", "optimised"].into_iter().zip(expressions).zip(orders).zip(papers)
    {
        let counts = expression.program().counts();
        let emitted = each::computing(e, order)?;
        let share = 100.0 * e.nnz() as f64 / (4 * emitted) as f64;
        say(format_args!(
            "{name:10} {emitted} instructions and {} fetches for {} multiplications of a block: {share:.1} % of four lanes",
            counts.tex,
            e.nnz()
        ));
        let cost = e.cost(order)?.0;
        report.check(
            format!("{name}: instructions emitted as the cost says"),
            cost,
            emitted as f64,
            cost as usize == emitted,
        );
        if e.block().unknowns() == 40 {
            report.check(
                format!("{name}: instructions as in the paper"),
                papers,
                emitted as f64,
                emitted == papers as usize,
            );
        }
        all.push(
            json!({ "order": name, "instructions": emitted, "fetches": counts.tex, "efficiency": share, "paper_instructions": (e.block().unknowns() == 40).then_some(papers) }),
        );
    }
    say("");
    report.set("programs", all);
    Ok(())
}

/// Jacobi, enhanced block Jacobi, optimised, Gauss-Seidel: none takes more than the one before, by the residual.
fn in_order(rows: &[Row<'_>], report: &mut Report) {
    for (column, tolerance) in TOLERANCES.iter().enumerate() {
        let of = |kind: Kind| {
            let is = |row: &&Row<'_>| {
                row.criterion == Criterion::Residual && row.column == column && row.kind.name == kind.name
            };
            rows.iter().find(is).filter(|row| row.met).map(|row| row.sweeps as f64)
        };
        // What rounding has kept from its tolerance is in no order.
        let Some(counts) =
            [JACOBI, PLAIN, FOLDED, ONE_THREAD].map(of).into_iter().collect::<Option<Vec<f64>>>()
        else {
            continue;
        };
        for (pair, what) in
            counts.windows(2).zip(["Jacobi, plain", "plain, optimised", "optimised, Gauss-Seidel"])
        {
            report.at_least(format!("sweeps to {tolerance:e} in order: {what}"), pair[1], pair[0]);
        }
    }
}

fn diffusion(scene: &Scene, report: &mut Report) {
    let mean = |counts: &[usize]| counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    let (diffused, projected) = (mean(&scene.diffused), mean(&scene.projected));
    say(format_args!(
        "The fluid's own steps, both by enhanced block Jacobi: {diffused:.1} sweeps a diffusion to {:e} (the paper: 5 to",
        scene::DIFFUSED
    ));
    say(format_args!(
        "10), {projected:.0} a projection, which leaves {:.1e} of the largest divergence.\n",
        scene.left
    ));
    report.set("diffusion_sweeps", diffused).set("projection_sweeps", projected);
    report.at_most("sweeps of the diffusion step, mean", 10.0, diffused);
    report.at_most("largest divergence after a projection, of that before it", 0.05, scene.left);
}

/// What is left of the residual of a right-hand side of ones, all but the whole of whose error is the slowest mode.
const SLOWEST: f64 = 0.1;

/// Iterations from zero against Gauss-Seidel's, in 64 bits and on the device.
fn from_zero(
    a: &Stencil,
    grid: Grid,
    expressions: [&BlockExpression; 2],
    orders: &[Order; 2],
    report: &mut Report,
) -> Result {
    let b = vec![1.0; grid.len()];
    let fine = |done: usize| done + (done / 200).max(1);
    let sweeps = |method: Splitting<'_>| method.sweeps(grid, &b, SLOWEST, fine);
    let gauss_seidel = sweeps(Splitting::GaussSeidel);
    let heading = format!("b = 1, from zero to {SLOWEST}");
    let mut table =
        Table::new([&heading, "in 64 bits", "times Gauss-Seidel", "expected", "the limit", "on the device"]);
    table.row(["Gauss-Seidel", &gauss_seidel.to_string(), "1.000", "1.000", "1", "-"]);
    let mut counts = vec![gauss_seidel];
    let named = ["plain", "optimised"].into_iter().zip(orders).zip(expressions).zip([1.925, 1.7]);
    for (((name, order), e), limit) in named.rev() {
        let twin = sweeps(Splitting::Blocks(order));
        counts.push(twin);
        let expected = Splitting::Blocks(order).rate(grid) / Splitting::GaussSeidel.rate(grid);
        let mut method = Blocks::new(a, e, false)?;
        method.upload(&b)?;
        let (found, met) = method.solve(cpu::norm(&b), Criterion::Residual, SLOWEST)?;
        let (ratio, late) = (twin as f64 / gauss_seidel as f64, found as f64 / twin as f64);
        let shown = if grid.nx == 40 { limit.to_string() } else { "-".to_owned() };
        let [twins, found_on] = [twin, found].map(|count| count.to_string());
        table.row([name, &twins, &format!("{ratio:.3}"), &format!("{expected:.3}"), &shown, &found_on]);
        let off = (ratio / expected - 1.0).abs();
        report.at_most(
            format!("{name}: ratio to Gauss-Seidel, relative distance from the expected"),
            0.03,
            off,
        );
        if is_papers(grid) {
            let off = (ratio / limit - 1.0).abs();
            report.at_most(
                format!("{name}: ratio to Gauss-Seidel, relative distance from {limit}"),
                0.03,
                off,
            );
        }
        // The device is tested after every sixteenth more.
        let within = met && (0.98..=1.07).contains(&late);
        report.check(format!("{name}: sweeps on the device over those in 64 bits"), 1.07, late, within);
        let key = format!("from_zero_{name}");
        report.set(&key, json!({ "sweeps": twin, "ratio": ratio, "expected": expected, "device": found }));
    }
    let jacobi = sweeps(Splitting::Jacobi);
    counts.push(jacobi);
    let times = |count: usize| format!("{:.3}", count as f64 / gauss_seidel as f64);
    let expected = Splitting::Jacobi.rate(grid) / Splitting::GaussSeidel.rate(grid);
    table.row(["Jacobi", &jacobi.to_string(), &times(jacobi), &format!("{expected:.3}"), "-", "-"]);
    report.at_least(
        "Gauss-Seidel, optimised, plain, Jacobi in order from zero",
        1.0,
        f64::from(u8::from(counts.is_sorted())),
    );
    table.print();
    say(
        "Expected: the slowest mode of this box. The limit: of 40 cells along x and many across, (6 - 9/40) / 3 and",
    );
    say("(6 - 36/40) / 3.\n");
    Ok(())
}
