//! The packing optimiser: proposals a second, on the instances of [Bajaj04] and by size; swaps against prices from scratch; and
//! with `--seeds N`, how often annealing alone reaches the paper's costs.
//! `cargo bench --bench packing -- [--rounds R] [--only TEXT] [--seeds N] [--millions M] [--threads T]`.

use std::time::{Duration, Instant};

use common::Options;
use texla::Grid;
use texla::host::problems;
use texla::pack::{
    AnnealParams, Annealer, Axis, CostModel, Evaluator, Instructions, Limits, LinearExpression, Packing,
    Schedule, SearchParams, SimdMachine, Start, TexelFetch, instances, optimize,
};

mod common;

fn main() {
    let o = Options::read(&[("--seeds", 0), ("--millions", 200), ("--threads", 0), ("--search", 0)]);
    let wanted = |name: &str| o.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let made = instances::ALL.iter().map(|(name, make)| (name.to_string(), make().expect("instance")));
    let grids = [8, 16, 32, 64]
        .map(|n| (format!("wave {n}x{n}"), instances::wave_on(Grid::new_2d(n, n)).expect("grid")));
    if o.size("--search") > 0 {
        let poisson = |n: usize| {
            let a = problems::poisson_2d(n, n);
            LinearExpression::new(&a, &vec![true; n * n]).expect("grid")
        };
        let dirichlet = [8, 16, 64].map(|n| (format!("poisson {n}x{n}"), poisson(n)));
        let folded = ("wave2d folded".to_owned(), instances::wave_2d().expect("instance").fold_zero_nodes());
        for (name, e) in made.chain([folded]).chain(dirichlet).chain(grids).filter(|(name, _)| wanted(name)) {
            search(&name, &e, &o);
        }
        return;
    }
    if o.size("--seeds") == 0 {
        for (name, e) in made.clone().chain(grids).filter(|(name, _)| wanted(name)) {
            speed(&name, &e, o.rounds);
        }
        return;
    }
    for (name, e) in made.filter(|(name, _)| wanted(name)) {
        success(&name, &e, &o);
    }
}

/// Median of rounds in seconds.
fn median(rounds: usize, mut run: impl FnMut() -> f64) -> f64 {
    let mut seconds: Vec<f64> = (0..rounds).map(|_| run()).collect();
    seconds.sort_by(f64::total_cmp);
    seconds[rounds / 2]
}

fn speed(name: &str, e: &LinearExpression, rounds: usize) {
    let proposals = 1_000_000;
    let annealing = |temperature: f64| {
        // Equilibrium first, then at the same temperature what is timed.
        let schedule = Schedule { temperature, rate: 1.0, steps: 1, proposals, boltzmann: 1.0 };
        let params =
            |start| AnnealParams { schedule, start, threads: 1, trace: 0, ..AnnealParams::default() };
        let limits = Limits { restarts: Some(1), ..Limits::default() };
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
    println!(
        "{name:14} n {:5}  proposals/s {:5.2}e6 at T 0.6, {:5.2}e6 at T 0.35   swaps/s {:5.2}e6 (fetches {:5.2}e6)   from scratch x{:.0}",
        e.unknowns(),
        1e-6 * proposals as f64 / hot,
        1e-6 * proposals as f64 / cold,
        1e-6 / swap,
        1e-6 / fetch,
        scratch / swap
    );
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

fn success(name: &str, e: &LinearExpression, o: &Options) {
    let target = AFTER.iter().find(|(of, _)| *of == name).expect("an instance").1;
    let (mut hits, mut proposals) = (Vec::new(), Vec::new());
    for seed in 0..o.size("--seeds") as u64 {
        let schedule = std::env::var("SCHED")
            .ok()
            .map(|s| {
                let v: Vec<f64> = s.split(',').map(|x| x.parse().unwrap()).collect();
                Schedule {
                    temperature: v[0],
                    rate: v[1],
                    steps: v[2] as u32,
                    proposals: v[3] as u64,
                    boltzmann: 1.0,
                }
            })
            .unwrap_or_default();
        let params = AnnealParams {
            seed,
            threads: o.size("--threads"),
            trace: 0,
            schedule,
            ..AnnealParams::default()
        };
        let limits = Limits {
            proposals: Some(1_000_000 * o.size("--millions") as u64),
            target: Some(Instructions(target)),
            ..Limits::default()
        };
        let found = Annealer::new(&SimdMachine, e, params).expect("annealer").anneal(&limits).expect("run");
        if found.cost <= Instructions(target) {
            hits.push(found.seconds);
            proposals.push(found.proposals);
        }
    }
    hits.sort_by(f64::total_cmp);
    proposals.sort_unstable();
    println!(
        "{name:14} {target}: {} of {} seeds, median {:.2} s, longest {:.2} s; proposals: median {:.1e}, most {:.1e}",
        hits.len(),
        o.size("--seeds"),
        hits.get(hits.len() / 2).copied().unwrap_or_default(),
        hits.last().copied().unwrap_or_default(),
        proposals.get(proposals.len() / 2).copied().unwrap_or_default() as f64,
        proposals.last().copied().unwrap_or_default() as f64,
    );
}

/// The whole search.
fn search(name: &str, e: &LinearExpression, o: &Options) {
    let limits = Limits {
        time: Some(Duration::from_secs(o.size("--search") as u64)),
        proposals: None,
        ..Limits::default()
    };
    let params = SearchParams { threads: o.size("--threads"), ..SearchParams::default() };
    let found = optimize(&SimdMachine, e, &params, &limits).expect("search");
    println!(
        "{name:14} {} -> {} by {}, bound {}, {:.2} of {:.2} s, {:.1e} proposals, {:?}",
        found.cost_before.0,
        found.cost.0,
        found.origin,
        found.lower_bound.0,
        found.found_after,
        found.seconds,
        found.proposals as f64,
        found.reason
    );
}
