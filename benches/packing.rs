//! The packing optimiser: proposals a second, on the instances of [Bajaj04] and by size, and swaps against prices from scratch.
//! With `--search S` the whole search, S seconds for each expression; with `--seeds N`, from how many of N seeds annealing alone
//! reaches the paper's costs within M million proposals.
//! `cargo bench --bench packing -- [--rounds R] [--only TEXT] [--search S] [--seeds N] [--millions M] [--threads T]
//! [--json FILE] [--quick]`.
//!
//! With `--layouts` every order, layout and schedule of repeated blocks on the device: what each takes beside what its profile
//! predicts, which is chosen, and stored matrices beside; `--quick` on small grids.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::BenchArgs;
use common::support::{self, Report, clock, json};
use texla::host::{Triplets, problems};
use texla::pack::{
    AnnealParams, Annealer, Axis, CoolingSchedule, CostModel, Evaluator, Instructions, LinearExpression,
    Packing, SearchLimits, SearchParams, SimdMachine, Start, TexelFetch, instances, optimize,
};
use texla::{Grid, Shape};

mod common;
#[path = "packing/layouts.rs"]
mod layouts;

/// Speed and success of the packing optimiser
#[derive(clap::Parser)]
pub struct Args {
    #[command(flatten)]
    pub shared: BenchArgs,
    /// The whole search, S seconds for each expression
    #[arg(long, value_name = "S", conflicts_with_all = ["seeds", "layouts"])]
    search: Option<u64>,
    /// From how many of N seeds annealing alone reaches the paper's costs
    #[arg(long, value_name = "N", conflicts_with = "layouts")]
    seeds: Option<u64>,
    /// Proposals for a seed, in millions
    #[arg(long, value_name = "M", default_value_t = 200)]
    millions: u64,
    /// Threads of a search; 0 for all
    #[arg(long, value_name = "T", default_value_t = 0)]
    threads: usize,
    /// Orders, layouts and schedules of repeated blocks on the device
    #[arg(long)]
    layouts: bool,
}

impl AsRef<support::CommonArgs> for Args {
    fn as_ref(&self) -> &support::CommonArgs {
        &self.shared.common
    }
}

fn main() -> ExitCode {
    support::main_with("packing", run)
}

fn run(args: &Args, report: &mut Report) -> support::Result {
    if args.layouts {
        return layouts::run(&args.shared, report);
    }
    let papers = instances::ALL.map(|(name, make)| (name.to_owned(), make().expect("instance")));
    let all = papers.clone().into_iter().chain(others()).filter(|(name, _)| args.shared.keeps(name));
    if let Some(seeds) = args.seeds {
        for (name, e) in papers.iter().filter(|(name, _)| args.shared.keeps(name)) {
            success(name, e, seeds, args, report);
        }
    } else if let Some(seconds) = args.search {
        for (name, e) in all {
            search(&name, &e, (seconds, false), args, report);
            if name.starts_with("random") {
                search(&format!("{name}, two orders"), &e, (seconds, true), args, report);
            }
        }
    } else {
        all.for_each(|(name, e)| speed(&name, &e, args.shared.or(args.shared.rounds, [1, 9]), report));
    }
    Ok(())
}

/// Five-point grids with all neighbours, waves with two sides held, and random matrices.
fn others() -> Vec<(String, LinearExpression)> {
    let affine = |a: &Triplets| LinearExpression::new(a, &vec![true; a.shape().rows]).expect("expression");
    let grid = |n: usize| (format!("grid {n}x{n}"), affine(&problems::poisson_2d(n, n)));
    let wave = |n: usize| (format!("wave {n}x{n}"), instances::wave_on(Grid::new_2d(n, n)).expect("grid"));
    let folded = ("wave2d folded".to_owned(), instances::wave_2d().expect("instance").fold_zero_nodes());
    let random = |(n, per_row): (usize, usize)| {
        // The same on every machine.
        let mut state = 1u64;
        let mut below = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        let entries: Vec<_> = (0..n * per_row).map(|k| (k / per_row, below(n), 1.0)).collect();
        let a = Triplets::from_entries(Shape::new(n, n), entries).expect("entries");
        (format!("random {n}, {per_row} a row"), affine(&a))
    };
    let mut all = vec![folded];
    all.extend([8, 16, 32, 64].map(grid));
    all.extend([16, 32, 64].map(wave));
    all.extend([(32, 3), (64, 3), (64, 5)].map(random));
    all
}

/// Median of rounds in seconds.
fn median(rounds: usize, mut run: impl FnMut() -> f64) -> f64 {
    clock::median((0..rounds).map(|_| run()))
}

fn speed(name: &str, e: &LinearExpression, rounds: usize, report: &mut Report) {
    let proposals = 1_000_000;
    let annealing = |temperature: f64| {
        // Equilibrium first, then at the same temperature what is timed.
        let schedule = CoolingSchedule::default()
            .with_temperature(temperature)
            .with_rate(1.0)
            .with_steps(1)
            .with_proposals(proposals);
        let params = |start| {
            AnnealParams::default().with_schedule(schedule).with_start(start).with_threads(1).with_trace(0)
        };
        let limits = SearchLimits::default().with_restarts(Some(1));
        let run = |start| {
            Annealer::new(&SimdMachine, e, params(start)).expect("annealer").anneal(&limits).expect("run")
        };
        let warm = run(Start::Random).packing;
        median(rounds, || run(Start::Given(warm.clone())).seconds)
    };
    let (hot, cold) = (annealing(0.6), annealing(0.35));
    let packing = Packing::identity(e.unknowns());
    let n = packing.rows().len();
    let pairs: Vec<(usize, usize)> = (0..10_000).map(|k| (k * 7919 % n, (k * 104_729 + 1) % n)).collect();
    let timed = |count: usize, run: &mut dyn FnMut(usize, usize)| {
        let began = Instant::now();
        pairs.iter().take(count).for_each(|&(p, q)| run(p, q));
        began.elapsed().as_secs_f64() / count as f64
    };
    let mut evaluator = SimdMachine.evaluator(e, &packing).expect("evaluator");
    let swap = median(rounds, || {
        timed(10_000, &mut |p, q| {
            evaluator.swap(Axis::Both, p, q);
        })
    });
    let mut fetches = TexelFetch.evaluator(e, &packing).expect("evaluator");
    let fetch = median(rounds, || {
        timed(10_000, &mut |p, q| {
            fetches.swap(Axis::Both, p, q);
        })
    });
    let mut moved = packing.clone();
    let scratch = median(rounds, || {
        timed(20, &mut |p, q| {
            moved.swap(Axis::Both, p, q);
            assert!(SimdMachine.cost(e, &moved).expect("cost") > Instructions(0));
        })
    });
    let [hot, cold] = [hot, cold].map(|seconds| proposals as f64 / seconds);
    println!(
        "{name:14} n {:5}  proposals/s {:5.2}e6 at T 0.6, {:5.2}e6 at T 0.35   swaps/s {:5.2}e6 (fetches {:5.2}e6)   from scratch x{:.0}",
        e.unknowns(),
        1e-6 * hot,
        1e-6 * cold,
        1e-6 / swap,
        1e-6 / fetch,
        scratch / swap
    );
    report.row(json!({
        "row": name, "unknowns": e.unknowns(), "proposals_per_s_hot": hot, "proposals_per_s_cold": cold,
        "swaps_per_s": 1.0 / swap, "swaps_per_s_fetches": 1.0 / fetch, "times_from_scratch": scratch / swap,
    }));
}

/// The costs that the paper reaches.
const AFTER: [(&str, u32); 6] = [
    ("wave2d", 63),
    ("rk20", 14),
    ("gs64", 72),
    ("poisson2d_s8", 4),
    ("poisson3d_s40", 20),
    ("wave_s32", 24),
];

/// Annealing alone, from random orders. What it finds does not depend on the machine; only the seconds do.
fn success(name: &str, e: &LinearExpression, seeds: u64, args: &Args, report: &mut Report) {
    let target = Instructions(AFTER.iter().find(|(of, _)| *of == name).expect("an instance").1);
    let (mut seconds, mut proposals) = (Vec::new(), Vec::new());
    for seed in 0..seeds {
        let params = AnnealParams::default().with_seed(seed).with_threads(args.threads).with_trace(0);
        let limits =
            SearchLimits::default().with_proposals(Some(1_000_000 * args.millions)).with_target(Some(target));
        let found = Annealer::new(&SimdMachine, e, params).expect("annealer").anneal(&limits).expect("run");
        if found.cost <= target {
            seconds.push(found.seconds);
            proposals.push(found.proposals);
        }
    }
    seconds.sort_by(f64::total_cmp);
    proposals.sort_unstable();
    let half = seconds.len() / 2;
    report.row(json!({
        "row": name, "target": target.0, "seeds": seeds, "reached": seconds.len(),
        "proposals": proposals.get(half), "proposals_most": proposals.last(),
        "s": seconds.get(half), "s_most": seconds.last(),
    }));
    let Some((slowest, most)) = seconds.last().zip(proposals.last()) else {
        return println!("{name:14} {target}: from none of {seeds} seeds");
    };
    println!(
        "{name:14} {target}: from {} of {seeds} seeds; proposals: median {:.1e}, most {:.1e}; median {:.2} s, longest {slowest:.2} s",
        seconds.len(),
        proposals[half] as f64,
        *most as f64,
        seconds[half],
    );
}

/// The whole search.
fn search(
    name: &str,
    e: &LinearExpression,
    (seconds, independent): (u64, bool),
    args: &Args,
    report: &mut Report,
) {
    let limits = SearchLimits::default().with_time(Some(Duration::from_secs(seconds))).with_proposals(None);
    let params = SearchParams::default().with_threads(args.threads).with_independent(independent);
    let found = optimize(&SimdMachine, e, &params, &limits).expect("search");
    println!(
        "{name:32} {} -> {} by {}, bound {}, found after {:.2} s of {:.2} s, {:.1e} proposals, {:?}",
        found.cost_before.0,
        found.cost.0,
        found.origin,
        found.lower_bound.0,
        found.found_after,
        found.seconds,
        found.proposals as f64,
        found.reason
    );
    report.row(json!({
        "row": name, "before": found.cost_before.0, "after": found.cost.0, "origin": found.origin.to_string(),
        "bound": found.lower_bound.0, "found_after_s": found.found_after, "s": found.seconds,
        "proposals": found.proposals, "reason": format!("{:?}", found.reason),
    }));
}
