//! Products of dense matrices by every schedule, beside the shader of TensorFlow.js on the same device and faer on the
//! CPU: `cargo bench --bench dense -- [--n N] [--rounds R] [--only TEXT] [--json FILE] [--quick]`.

use std::process::ExitCode;

use common::support::{self, Report, json};
use common::{Bench, BenchArgs, Row, context, positive};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use texla::kernel::{Kernel, NoParams};
use texla::ops::{self, Combine, MatmulForm, MatmulSchedule};
use texla::{Device, Layout, Matrix, Packed, Result, Shape, Vector};

mod common;

/// The forms, with the paper's schedule for each; it has none for the last.
const FORMS: [(&str, MatmulForm, MatmulSchedule); 3] = [
    ("A B", MatmulForm::Plain, MatmulSchedule::PAPER),
    ("At B", MatmulForm::TransposedA, MatmulSchedule::PAPER_TRANSPOSED),
    ("A Bt", MatmulForm::TransposedB, MatmulSchedule::PAPER_TRANSPOSED),
];

/// Products of dense matrices by every schedule
#[derive(clap::Parser)]
struct Args {
    #[command(flatten)]
    shared: BenchArgs,
    /// The side of the matrices
    #[arg(long, value_name = "N", value_parser = positive)]
    n: Option<usize>,
}

impl AsRef<support::CommonArgs> for Args {
    fn as_ref(&self) -> &support::CommonArgs {
        &self.shared.common
    }
}

fn main() -> ExitCode {
    support::main_with("dense", run)
}

fn run(args: &Args, report: &mut Report) -> support::Result {
    let shared = &args.shared;
    let (n, rounds) = (shared.or(args.n, [200, 1000]), shared.or(shared.rounds, [3, 9]));
    let context = context(shared, report)?;
    let device = context.device();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    println!("n = {n}, {rounds} rounds, {threads} CPU threads\n");
    report.set("n", n).set("cpu_threads", threads);

    let value = |k: usize, seed: usize| ((k * 7919 + seed) % 1009) as f32 / 504.0 - 1.0;
    let host_a: Vec<f32> = (0..n * n).map(|k| value(k, 0)).collect();
    let host_b: Vec<f32> = (0..n * n).map(|k| value(k, 500)).collect();
    let shape = Shape::new(n, n);
    let upload = |values: &[f32]| Matrix::from_rows(device, shape, values).expect("matrix");
    let (a, b) = (upload(&host_a), upload(&host_b));
    let x = Vector::from_slice(device, &host_a[..n]).expect("vector");
    let columns = |values: &[f32]| Mat::<f32>::from_fn(n, n, |i, j| values[i * n + j]);
    let (fa, fb) = (columns(&host_a), columns(&host_b));
    let fx = Mat::<f32>::from_fn(n, 1, |i, _| host_a[i]);
    let (a, b, x, fa, fb, fx) = (&a, &b, &x, &fa, &fb, &fx);
    let mut bench = Bench::new(device, shared.only.as_deref());
    let work = 2 * n * n * n;

    let schedules = [
        MatmulSchedule::OnePass,
        MatmulSchedule::Blocked { buffers: 4 },
        MatmulSchedule::Blocked { buffers: 8 },
        MatmulSchedule::Split { buffers: 4 },
        MatmulSchedule::Split { buffers: 8 },
        MatmulSchedule::Uniform,
        MatmulSchedule::Auto,
    ];
    for (form_name, form, paper) in FORMS {
        let check = Check::new(form, &host_a, &host_b, n);
        for schedule in [paper].into_iter().chain(schedules) {
            let name = if schedule == paper { PAPER.to_owned() } else { format!("{schedule:?}") };
            let name = format!("{form_name}, {name}");
            let mut c = Matrix::zeros(device, shape).expect("matrix");
            // Not every device has eight draw buffers, or exact derivatives.
            if let Err(error) = ops::matmul_with(&mut c, form, a, b, schedule) {
                println!("left out: {name}: {error}");
                continue;
            }
            check.rows(&name, &c.read().expect("result"));
            bench.row(&name, work, Some(form_name), move || {
                ops::matmul_with(&mut c, form, a, b, schedule).map(drop)
            });
        }
        let mut tensorflow = TensorFlow::new(device, form, [&host_a, &host_b], n);
        let name = format!("{form_name}, {TENSORFLOW}");
        tensorflow.run().expect("benchmark");
        check.rows(&name, &tensorflow.c.read().expect("result"));
        bench.row(&name, work, Some(form_name), move || tensorflow.run());
    }

    let mut y = Vector::zeros(device, n).expect("vector");
    bench.row("A x", 2 * n * n, None, move || ops::product(&mut y, Combine::Replace, 1.0, a, x));
    let mut y = Vector::zeros(device, n).expect("vector");
    bench.row("At x", 2 * n * n, None, move || ops::product_transposed(&mut y, Combine::Replace, 1.0, a, x));

    for (who, par) in [("CPU: faer, one thread", Par::Seq), ("CPU: faer, all threads", Par::rayon(0))] {
        for (form_name, form, _) in FORMS {
            let a = if form == MatmulForm::TransposedA { fa.transpose() } else { fa.as_ref() };
            let b = if form == MatmulForm::TransposedB { fb.transpose() } else { fb.as_ref() };
            let mut c = Mat::<f32>::zeros(n, n);
            bench.row(&format!("{form_name}, {who}"), work, Some(form_name), move || {
                matmul(&mut c, Accum::Replace, a, b, 1.0, par);
                std::hint::black_box(&mut c);
                Ok(())
            });
        }
        for (name, a) in [("A x", fa.as_ref()), ("At x", fa.transpose())] {
            let mut y = Mat::<f32>::zeros(n, 1);
            bench.row(&format!("{name}, {who}"), 2 * n * n, None, move || {
                matmul(&mut y, Accum::Replace, a, fx, 1.0, par);
                std::hint::black_box(&mut y);
                Ok(())
            });
        }
    }

    bench.measure(rounds);
    print(&bench, report);
    Ok(())
}

const PAPER: &str = "paper's passes";
const TENSORFLOW: &str = "TensorFlow.js shader";

/// Prints the rows beside the paper's schedule and the shader of TensorFlow.js, for the same form.
fn print(bench: &Bench<'_>, report: &mut Report) {
    println!(
        "{:44} {:>11} {:>11} {:>9} {:>9} {:>9}",
        "row", "ms median", "ms min", "GFLOP/s", "x paper", "x TF.js"
    );
    for row in &bench.rows {
        let times = |other: &str| {
            let name = format!("{}, {other}", row.reference?);
            let other = bench.rows.iter().find(|r: &&Row| r.name == name)?;
            Some(other.seconds.median() / row.seconds.median())
        };
        let gflops = 1e-9 * row.elements / row.seconds.median();
        let [paper, tensorflow] = [PAPER, TENSORFLOW].map(times);
        let shown = |times: Option<f64>| times.map(|t| format!("{t:.2}")).unwrap_or_default();
        println!(
            "{:44} {:>11.4} {:>11.4} {:>9.2} {:>9} {:>9}",
            row.name,
            row.seconds.median() * 1e3,
            row.seconds.least() * 1e3,
            gflops,
            shown(paper),
            shown(tensorflow),
        );
        let mut line = row.json();
        line["gflops"] = json!(gflops);
        line["times_paper"] = json!(paper);
        line["times_tensorflow"] = json!(tensorflow);
        report.row(line);
    }
}

/// The shader of TensorFlow.js, as a kernel of a user's.
struct TensorFlow {
    kernel: Kernel<NoParams>,
    a: Packed,
    b: Packed,
    c: Packed,
}

impl TensorFlow {
    fn new(device: &Device, form: MatmulForm, [a, b]: [&[f32]; 2], n: usize) -> Self {
        let (left, a_first, a_second) = match form {
            MatmulForm::TransposedA => ("ivec2(p.y, i)", "xxyy", "zzww"),
            _ => ("ivec2(i, p.y)", "xxzz", "yyww"),
        };
        let (right, b_first, b_second) = match form {
            MatmulForm::TransposedB => ("ivec2(i, p.x)", "xzxz", "ywyw"),
            _ => ("ivec2(p.x, i)", "xyxy", "zwzw"),
        };
        let steps = n.div_ceil(2);
        let body = format!(
            "#define STEPS {steps}\n#define LEFT {left}\n#define RIGHT {right}\n#define A_FIRST {a_first}\n\
             #define A_SECOND {a_second}\n#define B_FIRST {b_first}\n#define B_SECOND {b_second}\n{}",
            include_str!("tfjs_matmul.frag")
        );
        let kernel = Kernel::<NoParams>::new(device, "tfjs_matmul", ["a", "b"], &body).expect("kernel");
        let packed = |values: &[f32]| {
            Packed::from_rows(device, Shape::new(n, n), Layout::Block2x2, values).expect("packed")
        };
        TensorFlow { kernel, a: packed(a), b: packed(b), c: packed(&vec![0.0; n * n]) }
    }

    fn run(&mut self) -> Result<()> {
        self.kernel.run(&mut self.c, [&self.a, &self.b], &NoParams)
    }
}

/// A few rows of a product in 64 bits: no row of the table is a wrong product.
struct Check {
    n: usize,
    rows: Vec<(usize, Vec<f64>, Vec<f64>)>,
}

impl Check {
    fn new(form: MatmulForm, a: &[f32], b: &[f32], n: usize) -> Self {
        let of = |values: &[f32], transposed: bool, i: usize, j: usize| {
            f64::from(if transposed { values[j * n + i] } else { values[i * n + j] })
        };
        let row = |i: usize| {
            let (mut exact, mut bound) = (vec![0.0; n], vec![0.0; n]);
            for k in 0..n {
                let factor = of(a, form == MatmulForm::TransposedA, i, k);
                for j in 0..n {
                    let term = factor * of(b, form == MatmulForm::TransposedB, k, j);
                    exact[j] += term;
                    bound[j] += term.abs();
                }
            }
            // γ_(n+2) |A| |B|.
            let ku = (n + 2) as f64 / f64::from(1u32 << 24);
            bound.iter_mut().for_each(|b| *b *= ku / (1.0 - ku));
            (i, exact, bound)
        };
        let mut chosen = vec![0, n / 3, n / 2, n - 1];
        chosen.dedup();
        Check { n, rows: chosen.into_iter().map(row).collect() }
    }

    fn rows(&self, name: &str, result: &[f32]) {
        for (i, exact, bound) in &self.rows {
            for (j, (want, bound)) in exact.iter().zip(bound).enumerate() {
                let got = f64::from(result[i * self.n + j]);
                assert!((got - want).abs() <= *bound, "{name}: element ({i}, {j}) is {got}, expected {want}");
            }
        }
    }
}
