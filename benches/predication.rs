//! What early-z predication gains [BeyondVector] 28.4.1, by the coherence of the mask and the share of active cells:
//! against computing every cell, against a branch in the shader, and against computing both branches and choosing.
//! `cargo bench --bench predication -- [--side S] [--work K] [--rounds R] [--only TEXT] [--json FILE] [--quick]`: S x S cells,
//! K dependent multiply-adds in each active cell.

use std::process::ExitCode;

use common::support::{self, Report, json};
use common::{Bench, BenchArgs, context, positive};
use texla::kernel::{Condition, Kernel, NoParams, PingPong, Predicate};
use texla::{Plane, Vector};

mod common;

/// How active cells lie.
#[derive(Clone, Copy)]
enum Pattern {
    /// Whole blocks of this side, chosen at random.
    Blocks(usize),
    Checkerboard,
}

impl Pattern {
    fn name(self, percent: usize) -> String {
        match self {
            Pattern::Blocks(1) => format!("{percent} % at random"),
            Pattern::Blocks(side) => format!("{percent} % in blocks of {side}"),
            Pattern::Checkerboard => "50 % as a checkerboard".into(),
        }
    }

    fn active(self, x: usize, y: usize, percent: usize) -> bool {
        match self {
            Pattern::Checkerboard => (x + y).is_multiple_of(2),
            // A scramble of the block's place, the same on every machine.
            Pattern::Blocks(side) => {
                let mut h = ((x / side) as u64) << 32 | (y / side) as u64;
                for _ in 0..3 {
                    h = (h ^ (h >> 29))
                        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
                        .wrapping_add(0x9e37_79b9_7f4a_7c15);
                }
                (h >> 40) % 100 < percent as u64
            }
        }
    }
}

/// Cells, and in which order the rows compare them.
const CASES: [(usize, Pattern); 11] = [
    (10, Pattern::Blocks(64)),
    (10, Pattern::Blocks(16)),
    (10, Pattern::Blocks(8)),
    (10, Pattern::Blocks(4)),
    (10, Pattern::Blocks(2)),
    (10, Pattern::Blocks(1)),
    (50, Pattern::Blocks(64)),
    (50, Pattern::Blocks(4)),
    (50, Pattern::Blocks(2)),
    (50, Pattern::Blocks(1)),
    (50, Pattern::Checkerboard),
];

fn body(work: usize, text: &str) -> String {
    // Two chains of dependent multiply-adds that no compiler folds: their constants come from the data.
    format!(
        "vec4 chain(vec4 s, vec4 a) {{ for (int k = 0; k < {work}; k++) s = s * a + a; return s; }}
         vec4 f(ivec2 p) {{ return chain(x_here(), vec4(0.5) + 0.01 * x_here()); }}
         vec4 g(ivec2 p) {{ return chain(x_here(), vec4(0.3) + 0.02 * x_here()); }}
         bool condition(ivec2 p) {{ return flag_here().x > 0.5; }}
         {text}"
    )
}

/// How many times as long the first takes as the second: masks count where they are named.
const RATIOS: [&str; 5] = ["all/mask+pass", "all/pass", "branch/mask+pass", "both/two", "branches/two"];

/// What predication gains, by the coherence of its mask
#[derive(clap::Parser)]
struct Args {
    #[command(flatten)]
    shared: BenchArgs,
    /// Cells along a side
    #[arg(long, value_name = "S", value_parser = positive)]
    side: Option<usize>,
    /// Dependent multiply-adds in each active cell
    #[arg(long, value_name = "K")]
    work: Option<usize>,
}

impl AsRef<support::CommonArgs> for Args {
    fn as_ref(&self) -> &support::CommonArgs {
        &self.shared.common
    }
}

fn main() -> ExitCode {
    support::main_with("predication", run)
}

fn run(args: &Args, report: &mut Report) -> support::Result {
    let shared = &args.shared;
    let (side, work) = (shared.or(args.side, [256, 1024]), shared.or(args.work, [100, 400]));
    let rounds = shared.or(shared.rounds, [3, 9]);
    let context = context(shared, report)?;
    let device = context.device();
    println!("{side}x{side} cells, {work} dependent multiply-adds, {rounds} rounds\n");

    let cells = side * side;
    let x = Vector::from_slice(device, &(0..4 * cells).map(|i| (i % 97) as f32 / 97.0).collect::<Vec<_>>())
        .expect("x");
    let kernel = |name: &str, text: &str| {
        Kernel::<NoParams>::new(device, name, ["x", "flag"], &body(work, text)).expect("kernel")
    };
    let all = kernel("all", "vec4 kernel(ivec2 p) { return f(p); }");
    let other = kernel("other", "vec4 kernel(ivec2 p) { return g(p); }");
    let branch =
        kernel("branch", "vec4 kernel(ivec2 p) { if (condition(p)) return f(p); return vec4(0.0); }");
    let branches = kernel("branches", "vec4 kernel(ivec2 p) { if (condition(p)) return f(p); return g(p); }");
    let both =
        kernel("both", "vec4 kernel(ivec2 p) { vec4 a = f(p), b = g(p); return condition(p) ? a : b; }");
    let test = "bool kernel(ivec2 p) { return flag_here().x > 0.5; }";
    let condition = Condition::<NoParams>::new(device, "condition", ["flag"], test).expect("condition");

    println!(
        "{:24} {:>7} {:>14} {:>9} {:>17} {:>9} {:>13}   ms: all, mask, pass",
        "pattern", "active", RATIOS[0], RATIOS[1], RATIOS[2], RATIOS[3], RATIOS[4]
    );
    for (percent, pattern) in CASES {
        let name = pattern.name(percent);
        if !shared.keeps(&name) {
            continue;
        }
        let flags: Vec<bool> = (0..cells).map(|i| pattern.active(i % side, i / side, percent)).collect();
        let active = flags.iter().filter(|f| **f).count() as f64 / cells as f64;
        let numbers: Vec<f32> = flags.iter().map(|f| f32::from(u8::from(*f))).collect();
        let flag = Plane::from_rows(device, side, side, &numbers).expect("flags");
        let mask = condition.mask(&flag, [&flag], &NoParams).expect("mask");
        // Targets take turns, as in any iteration: a driver that gathers draws into one target would do many in one go.
        let targets = || {
            let fresh = || Vector::zeros(device, 4 * cells).expect("target");
            PingPong::new(fresh(), fresh())
        };
        let mut bench = Bench::new(device, None);
        let (x, flag, mask) = (&x, &flag, &mask);
        let restricted = |kernel: &Kernel<NoParams>, y: &mut PingPong<Vector>, predicate: Predicate<'_>| {
            kernel.with([x, flag], &NoParams).only(predicate).run(y.front_mut())
        };
        for (name, kernel) in [("all", &all), ("branch", &branch), ("branches", &branches), ("both", &both)] {
            let mut y = targets();
            bench.row(name, cells, None, move || {
                y.swap();
                restricted(kernel, &mut y, Predicate::Always)
            });
        }
        let (condition, all, other) = (&condition, &all, &other);
        let masked = || condition.mask(flag, [flag], &NoParams);
        bench.row("mask", cells, None, move || masked().map(drop));
        let mut y = targets();
        bench.row("pass", cells, None, move || {
            y.swap();
            restricted(all, &mut y, Predicate::If(mask))
        });
        let mut y = targets();
        bench.row("mask and pass", cells, None, move || {
            y.swap();
            restricted(all, &mut y, Predicate::If(&masked()?))
        });
        let mut y = targets();
        bench.row("mask and two passes", cells, None, move || {
            y.swap();
            let mask = masked()?;
            restricted(all, &mut y, Predicate::If(&mask))?;
            restricted(other, &mut y, Predicate::Unless(&mask))
        });
        bench.measure(rounds);
        let ms: Vec<f64> = bench.rows.iter().map(|row| 1e3 * row.seconds.median()).collect();
        let [all, branch, branches, both, mask, pass, once, two] = ms[..] else { panic!("eight rows") };
        let ratios = [all / once, all / pass, branch / once, both / two, branches / two];
        let shown = ratios.map(|ratio| format!("{ratio:.2}x"));
        println!(
            "{name:24} {:>6.1}% {:>14} {:>9} {:>17} {:>9} {:>13}   {all:.2}, {mask:.2}, {pass:.2}",
            100.0 * active,
            shown[0],
            shown[1],
            shown[2],
            shown[3],
            shown[4],
        );
        let mut row = json!({ "row": name, "active": active });
        for (name, ratio) in RATIOS.iter().zip(ratios) {
            row[*name] = json!(ratio);
        }
        for row_of in &bench.rows {
            row[format!("{} ms", row_of.name)] = json!(1e3 * row_of.seconds.median());
        }
        report.row(row);
    }
    Ok(())
}
