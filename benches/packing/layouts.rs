//! Orders, layouts and schedules of repeated blocks, all timed.

use std::time::Instant;

use texla::ops::{self, Combine, LinOp};
use texla::pack::{
    Order, RepeatedExpression,
    StencilBoundary::{Copied, Dropped},
    instances,
};
use texla::profile::DeviceProfile;
use texla::solve::{BlockExpression, BlockLayout, BlockPlan, BlockUse, Direction, Smoother, WeightedJacobi};
use texla::{
    BandedMatrix, Device, Grid, Side, Sides, SparseFormat, SparseMatrix, Stencil, StencilParams, Vector,
};

use crate::common::support::{self, Report, json};
use crate::common::{BenchArgs, context};

/// Iterations, or steps, between two looks at the clock: shorter than what a busy machine gives one process.
const TIMES: usize = 4;

/// Looks at the clock in a round.
const WINDOWS: usize = 12;

/// Runs so many iterations or steps.
type Run<'a> = Box<dyn FnMut() + 'a>;

/// The least seconds of each, all in turn.
fn least(device: &Device, rows: &mut [Run<'_>], rounds: usize) -> Vec<f64> {
    let _scope = device.scope().expect("scope");
    let mut least = vec![f64::MAX; rows.len()];
    for round in 0..=rounds {
        for (run, least) in rows.iter_mut().zip(&mut least) {
            // What another one has left behind.
            run();
            device.finish().expect("finish");
            let started = Instant::now();
            run();
            device.finish().expect("finish");
            if round > 0 {
                *least = least.min(started.elapsed().as_secs_f64() / TIMES as f64);
            }
        }
    }
    least
}

struct Problem {
    name: &'static str,
    grid: Grid,
    used: BlockUse,
    /// What is run.
    e: RepeatedExpression,
    /// The matrix of the system, or of the step.
    a: RepeatedExpression,
}

fn problems(quick: bool) -> Vec<Problem> {
    let sides = [[Dropped; 2], [Copied; 2], [Copied; 2]];
    let laplace = |dimensions: usize, own: f64, other: f64| -> Vec<([i32; 3], f64)> {
        let axes = (0..dimensions).flat_map(|axis| [-1, 1].map(|step| (axis, step)));
        let neighbour = |(axis, step): (usize, i32)| {
            let mut offset = [0; 3];
            offset[axis] = step;
            (offset, other)
        };
        std::iter::once(([0; 3], own)).chain(axes.map(neighbour)).collect()
    };
    let made = |name, grid, pieces, taps: &[([i32; 3], f64)], used| {
        let a = RepeatedExpression::stencil(grid, pieces, taps, sides, true).expect("stencil");
        let e = if used == BlockUse::Iterate { a.jacobi().expect("a diagonal") } else { a.clone() };
        Problem { name, grid, used, e, a }
    };
    let (side, wide, deep) =
        if quick { (64, 8, Grid::new_3d(40, 8, 8)) } else { (512, 16, Grid::new_3d(40, 80, 80)) };
    let s = instances::COURANT_SQUARED;
    let flat = Grid::new_2d(side, side);
    vec![
        made("poisson 3d", deep, 1, &laplace(3, 6.0, -1.0), BlockUse::Iterate),
        // A line of 512 is cut, as the wave's are: no block has more quads than there are texture units for.
        made("poisson 2d", flat, side / 32, &laplace(2, 4.0, -1.0), BlockUse::Iterate),
        made("wave", flat, (side / 32).min(wide), &laplace(2, 2.0 * (1.0 - 2.0 * s), s), BlockUse::Apply),
    ]
}

pub fn run(args: &BenchArgs, report: &mut Report) -> support::Result {
    let context = context(args, report)?;
    let device = context.device();
    let profile = DeviceProfile::measure(device)?;
    let rounds = args.or(args.rounds, [1, 9]);
    let mut chosen = serde_json::Map::new();
    for problem in problems(args.common.quick).into_iter().filter(|p| args.keeps(p.name)) {
        let plan = timed(device, &profile, &problem, rounds, report);
        chosen.insert(format!("chosen for {}", problem.name), plan.to_string().into());
    }
    report.set("chosen", chosen);
    Ok(())
}

/// Steps w(k+1) = A w(k) - w(k-1), or iterates in place.
fn steps<'a>(device: &'a Device, problem: &'a Problem, plan: &BlockPlan) -> Run<'a> {
    let params = plan.params.with_subtract_b(problem.used == BlockUse::Apply);
    let e = BlockExpression::with(device, &problem.e, &plan.order, params).expect("an expression");
    let start = Vector::filled(device, problem.grid.len(), 1e-3).expect("a vector");
    let [mut before, mut now, mut next] = [0, 1, 2].map(|_| e.pack(&start).expect("a vector"));
    Box::new(move || {
        if problem.used == BlockUse::Iterate {
            e.iterate(&mut now, &before, TIMES, Direction::Forward).expect("iterations");
        } else {
            for _ in 0..TIMES {
                e.apply(&mut next, &now, &before).expect("a step");
                std::mem::swap(&mut before, &mut now);
                std::mem::swap(&mut now, &mut next);
            }
        }
    })
}

/// The same on a stored matrix.
fn stored<'a>(
    device: &'a Device,
    problem: &'a Problem,
    a: &'a dyn LinOp,
) -> (Run<'a>, Option<texla::profile::Workload>) {
    let [mut before, mut now, mut next] =
        [0, 1, 2].map(|_| Vector::filled(device, problem.grid.len(), 1e-3).expect("a vector"));
    if problem.used == BlockUse::Iterate {
        let jacobi = WeightedJacobi::new(a, 1.0).expect("a smoother");
        let work = jacobi.workload().expect("work");
        return (
            Box::new(move || {
                jacobi.smooth(&mut now, &before, TIMES).expect("sweeps");
            }),
            work,
        );
    }
    let run = Box::new(move || {
        for _ in 0..TIMES {
            ops::product(&mut next, Combine::AddTo(&before), -1.0, a, &now).expect("a step");
            std::mem::swap(&mut before, &mut now);
            std::mem::swap(&mut now, &mut next);
        }
    });
    (run, a.workload())
}

/// Fetches of quads and of single unknowns.
fn fetches(w: &texla::profile::Workload) -> f64 {
    [w.fetches, w.fetches_r32f].map(|f| f.own + f.adjacent).iter().sum()
}

/// Times them all, and says which is chosen.
fn timed(
    device: &Device,
    profile: &DeviceProfile,
    problem: &Problem,
    rounds: usize,
    report: &mut Report,
) -> BlockPlan {
    let (e, used) = (&problem.e, problem.used);
    let by_rule = BlockPlan::choose(device, e, used).expect("a choice");
    device.set_profile(Some(profile.clone()));
    let mut plans = BlockPlan::candidates(device, e, used).expect("candidates");
    let chosen = BlockPlan::choose(device, e, used).expect("a choice");
    device.set_profile(None);
    // What the paper compares: quads as they come and in the order of fewest instructions, one after the other.
    let quads = e.block().quads() as f64;
    let plain = |plan: &BlockPlan, order: &Order| {
        plan.order == *order && plan.params.layout == BlockLayout::Apart && plan.workload.draws == quads
    };
    let natural = Order::identity(e.block().unknowns());
    let fewest = plans.iter().filter(|p| !p.coloured).min_by_key(|p| e.cost(&p.order).expect("cost"));
    let fewest = fewest.expect("an order").order.clone();
    plans.retain(|plan| plan.seconds.is_some());

    let triplets = problem.a.to_triplets().expect("a matrix");
    let banded = BandedMatrix::from_triplets(device, &triplets).expect("bands");
    let sparse = SparseMatrix::from_triplets(device, &triplets, SparseFormat::Gather).expect("rows");
    let mut others: Vec<(&str, &dyn LinOp)> = vec![("bands", &banded), ("sparse rows", &sparse)];
    // Nothing stored, and four unknowns next to one another a texel.
    let sides = Sides { x: [Side::DIRICHLET; 2], y: [Side::Neumann; 2], z: [Side::Neumann; 2] };
    let weights = [1.0, 1.0, if problem.grid.nz > 1 { 1.0 } else { 0.0 }];
    let stencil = Stencil::new(device, problem.grid, StencilParams::new(weights, sides)).expect("a stencil");
    if used == BlockUse::Iterate {
        others.push(("stencil", &stencil));
    }
    let mut rows: Vec<Run<'_>> = plans.iter().map(|plan| steps(device, problem, plan)).collect();
    let mut works = Vec::new();
    for (_, a) in &others {
        let (run, work) = stored(device, problem, *a);
        rows.push(run);
        works.push(work);
    }
    let seconds = least(device, &mut rows, WINDOWS * rounds);
    let (of_plans, of_stored) = seconds.split_at(plans.len());

    println!(
        "{} on {}: ms a step or iteration, least of {} runs of {TIMES}",
        problem.name,
        problem.grid,
        WINDOWS * rounds
    );
    println!(
        "{:56} {:>12} {:>7} {:>7} {:>9} {:>9} {:>6}",
        "order, layout, schedule", "instructions", "fetches", "flops", "measured", "predicted", "ratio"
    );
    let blocks = e.blocks().iter().product::<usize>() as f64;
    let mut sorted: Vec<usize> = (0..plans.len()).collect();
    sorted.sort_by(|&a, &b| of_plans[a].total_cmp(&of_plans[b]));
    for &k in &sorted {
        let (plan, work) = (&plans[k], plans[k].workload);
        let predicted = plan.seconds.expect("a prediction");
        let mut name = plan.to_string();
        name.truncate(name.find(" draws").map_or(name.len(), |at| at + 6));
        println!(
            "{name:56} {:>12} {:>7} {:>7} {:>9.4} {:>9.4} {:>6.2}",
            e.cost(&plan.order).expect("cost").0,
            fetches(&work) / blocks,
            work.multiply_adds / blocks,
            1e3 * of_plans[k],
            1e3 * predicted,
            predicted / of_plans[k]
        );
        report.row(json!({
            "problem": problem.name, "row": name, "instructions": e.cost(&plan.order).expect("cost").0,
            "ms": 1e3 * of_plans[k], "predicted_over_least": predicted / of_plans[k],
            "over_fastest": of_plans[k] / of_plans[sorted[0]],
        }));
    }
    let fastest = of_plans[sorted[0]];
    for (what, choice) in [("with the profile", &chosen), ("by rule", &by_rule)] {
        let same = |plan: &BlockPlan| plan.order == choice.order && plan.params == choice.params;
        let taken = plans.iter().position(same).map(|k| of_plans[k]);
        let ratio = taken.map_or("not timed".to_owned(), |s| format!("{:.3} of the fastest", s / fastest));
        println!("chosen {what}: {choice}: {ratio}");
    }
    let of =
        |order: &Order| plans.iter().position(|p| plain(p, order)).map(|k| (of_plans[k], plans[k].workload));
    if let (Some((slow, before)), Some((quick, after))) = (of(&natural), of(&fewest)) {
        let counts = [&natural, &fewest].map(|order| f64::from(e.cost(order).expect("cost").0));
        println!(
            "one draw a quad, natural over optimised: {:.3}; by fetches {:.3}, by instructions {:.3}",
            slow / quick,
            fetches(&before) / fetches(&after),
            counts[0] / counts[1]
        );
    }
    for ((name, _), (work, seconds)) in others.iter().zip(works.into_iter().zip(of_stored)) {
        let predicted = work.map_or("-".to_owned(), |w| format!("{:.4}", 1e3 * profile.predict(&w)));
        report.row(json!({
            "problem": problem.name, "row": name, "ms": 1e3 * seconds, "over_fastest": seconds / fastest,
        }));
        println!(
            "{name}: {:.4} ms (predicted {predicted}), {:.2} times the fastest packed, {:.2} times the chosen",
            1e3 * seconds,
            seconds / fastest,
            seconds / plans.iter().position(|p| *p == chosen).map_or(fastest, |k| of_plans[k])
        );
    }
    println!();
    chosen
}
