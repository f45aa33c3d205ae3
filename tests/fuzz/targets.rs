//! What fuzzing runs, a function for each target: any bytes are something, or an error that says what is wrong with them. The device
//! works on afterwards, and holds what it held. `fuzz_targets` has each as a program of its own; `tests/fuzz_smoke.rs` runs all of
//! them on the stable toolchain.

use texla::host::Triplets;
use texla::host::market::{parse_matrix, parse_vector, write_matrix_to};
use texla::kernel::{Kernel, PointsKernel};
use texla::ops::{Window, Windows};
use texla::pack::{LinearExpression, LowerOptions, Order, Packing, Program, ShaderStage};
use texla::script::{Interpreter, ScriptLimits, parse};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, ConjugateGradient, Gmres, GmresParams, LcpParams, LcpSolver, Minres,
    MinresParams, Recurrence, Relaxation, SolveReport, Stationary, StationaryParams, Stop, StopReason,
    WeightedJacobi,
};
use texla::{Device, Error, Headless, Shape, SparseFormat, SparseMatrix, Vector};

/// One of the targets.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&Device, &[u8]),
    pub seeds: &'static [&'static [u8]],
    /// How many mutations of each seed the smoke test tries.
    pub mutations: usize,
}

/// What mutations begin from: files in `seeds`, where the fuzzer finds them too.
macro_rules! seeds {
    ($name:literal: $($file:literal),+) => {
        &[$(include_bytes!(concat!("seeds/", $name, "/", $file))),+]
    };
}

/// All of them, in the order of their names.
#[allow(dead_code)] // each program of the fuzzer has one
pub const TARGETS: [Target; 5] = [
    Target {
        name: "kernel",
        run: kernel,
        seeds: seeds!("kernel": "clash", "include", "too_many", "two_outputs", "uniform"),
        mutations: 10,
    },
    Target {
        name: "market",
        run: market,
        seeds: seeds!("market": "array", "pattern", "symmetric"),
        mutations: 2000,
    },
    Target {
        name: "packing",
        run: packing,
        seeds: seeds!("packing": "gauss_seidel", "jacobi", "no_order"),
        mutations: 500,
    },
    Target { name: "script", run: script, seeds: seeds!("script": "lcp", "repeat", "solve"), mutations: 12 },
    Target {
        name: "solver",
        run: solver,
        seeds: seeds!("solver": "gmres", "lcp", "restart_0", "zeros"),
        mutations: 6,
    },
];

/// Runs a target on a device of this thread: the first call makes it.
#[allow(dead_code)] // the smoke test has devices of its own
pub fn on_device(run: fn(&Device, &[u8]), bytes: &[u8]) {
    thread_local!(static CONTEXT: Headless = Headless::new(Default::default()).expect("no GL context"));
    CONTEXT.with(|context| run(context.device(), bytes));
}

/// Bytes as numbers; zeros once they have come to an end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> u8 {
        let (first, rest) = self.0.split_first().map_or((0, self.0), |(first, rest)| (*first, rest));
        self.0 = rest;
        first
    }

    fn below(&mut self, n: usize) -> usize {
        usize::from(self.byte()) % n
    }

    /// Any float there is; numbers of a common size more often than others.
    fn float(&mut self) -> f32 {
        match self.byte() {
            kind @ 0..240 => (f32::from(kind) - 96.0) / 64.0,
            _ => f32::from_bits(u32::from_le_bytes([self.byte(), self.byte(), self.byte(), self.byte()])),
        }
    }
}

/// Nothing is left over, and no GL error pending.
fn leaves_nothing<T>(dev: &Device, work: impl FnOnce() -> T) -> T {
    dev.trim().unwrap();
    let before = dev.live_objects();
    let done = work();
    dev.trim().unwrap();
    assert_eq!(dev.live_objects(), before);
    done
}

/// An error is about what was asked for, and in one line.
fn is_the_callers(error: &Error) {
    let faulty = matches!(error, Error::Internal { .. } | Error::Gl { .. } | Error::HostGl { .. });
    assert!(!faulty && *error != Error::ContextLost, "{error}");
}

/// A Matrix Market file: what is read comes back from what is written of it, and an error has one line.
pub fn market(_: &Device, bytes: &[u8]) {
    match parse_matrix(bytes, "fuzz") {
        Ok(read) => {
            assert!(read.triplets.nnz() <= 2 * bytes.len());
            let mut file = Vec::new();
            write_matrix_to(&mut file, &read.triplets).unwrap();
            let again = parse_matrix(file.as_slice(), "again").unwrap();
            assert_eq!(again.triplets.shape(), read.triplets.shape());
            assert!(again.triplets.entries().eq(read.triplets.entries()));
        }
        Err(e) => assert_eq!(e.to_string().lines().count(), 1, "{e}"),
    }
    match parse_vector(bytes, "fuzz") {
        Ok(values) => {
            // As much as a file of coordinates may ask for, however short it is.
            let most = usize::max(2 * bytes.len(), 1 << 20);
            assert!(values.len() <= most && values.iter().all(|v| v.is_finite()));
        }
        Err(e) => assert_eq!(e.to_string().lines().count(), 1, "{e}"),
    }
}

/// A matrix script, read and run: without files, within a small room.
pub fn script(dev: &Device, bytes: &[u8]) {
    let told = |e: texla::script::ScriptError| {
        assert!(e.line >= 1 && e.column >= 1);
        assert_eq!(e.to_string().lines().count(), 3, "{e}");
        assert!(!e.to_string().contains("a bug in texla"), "{e}");
    };
    match parse(bytes, "fuzz") {
        Err(e) => told(e),
        Ok(program) => leaves_nothing(dev, || {
            let limits = ScriptLimits::default().with_bytes(1 << 16).with_statements(40);
            let mut out = Vec::new();
            if let Err(e) = Interpreter::new(dev).with_limits(limits).run(&program, &mut out) {
                told(e);
            }
        }),
    }
}

texla::params! { struct Weights { weight: f32, count: i32, at: [f32; 3] } }

/// The interface that a kernel of a user's declares, a line for each: its name, its inputs, how many outputs, two lines of the text
/// before the function, and what it returns. Without loops: texla does not promise that those end.
pub fn kernel(dev: &Device, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    if ["for", "while", "do"].iter().any(|word| text.contains(word)) || text.contains("##") {
        return;
    }
    let mut lines = text.splitn(6, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let (name, inputs, outputs) = (line(), line(), line().parse().unwrap_or(1));
    let (include, define, value) = (line(), line(), line());
    let signature = match outputs {
        1 => format!("vec4 kernel(ivec2 p) {{ return {value}; }}"),
        _ => format!("void kernel(ivec2 p, out vec4 o0, out vec4 o1) {{ o0 = {value}; o1 = o0; }}"),
    };
    let body = format!("{include}\n{define}\n{signature}");
    leaves_nothing(dev, || {
        let x = Vector::from_slice(dev, &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let mut y = Vector::zeros(dev, 5).unwrap();
        let weights = Weights { weight: 0.5, count: 3, at: [1.0; 3] };
        let done = match inputs.split_once(',') {
            // More outputs than the body has; and as a number of attributes.
            _ if outputs > 2 => {
                let many = Kernel::<Weights>::with_outputs(dev, name, [inputs], outputs, &body);
                is_the_callers(&many.map(drop).unwrap_err());
                PointsKernel::<Weights>::new(dev, name, [inputs], outputs, &body).map(drop)
            }
            None => Kernel::<Weights>::with_outputs(dev, name, [inputs], outputs, &body)
                .and_then(|kernel| kernel.run(&mut y, [&x], &weights)),
            Some((a, b)) => Kernel::<Weights>::with_outputs(dev, name, [a, b], outputs, &body)
                .and_then(|kernel| kernel.run(&mut y, [&x, &x], &weights)),
        };
        // Whatever the driver would say: uniforms are texla's to declare, and an input has a name of its own.
        let declares = include.trim_start().starts_with("uniform ");
        let clashes = inputs.split(',').any(|input| ["weight", "count", "at"].contains(&input));
        match done {
            Ok(()) => {
                assert!(!declares && !clashes, "{body}");
                drop(y.read().unwrap());
            }
            Err(e) => {
                assert!(!clashes || matches!(e, Error::Interface { .. } | Error::Unsupported { .. }), "{e}");
                is_the_callers(&e);
            }
        }
    });
}

/// An expression, an order of its unknowns and what becomes of both: the program is well formed, costs what it says and computes
/// what the expression does.
pub fn packing(_: &Device, bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let n = bytes.below(21);
    let (kind, stage, entries) = (bytes.below(2), bytes.below(2), bytes.below(3 * n + 1));
    let at: Vec<usize> = match bytes.byte() {
        // A permutation; else anything.
        choice @ 0..200 => {
            let mut at: Vec<usize> = (0..n.next_multiple_of(4)).collect();
            (0..at.len()).for_each(|i| {
                let j = (bytes.below(at.len()) + usize::from(choice)) % at.len();
                at.swap(i, j);
            });
            at
        }
        _ => (0..bytes.below(30)).map(|_| bytes.below(40)).collect(),
    };
    let valid = at.len() == n.next_multiple_of(4) && (0..at.len()).all(|i| at.contains(&i));
    let order = Order::new(n, &at);
    assert_eq!(order.is_ok(), valid, "{at:?}");
    // Multiples of 1/64, which are exact; and, where the bytes say so, any floats.
    let mut list: Vec<(usize, usize, f64)> = (0..n).map(|i| (i, i, 4.0)).collect();
    for _ in 0..entries {
        let (i, j, v) = (bytes.below(n), bytes.below(n), f64::from(bytes.float()));
        list.extend((i != j).then_some((i, j, v)));
    }
    let exact = list.iter().all(|(_, _, v)| (v * 64.0).fract() == 0.0 && v.abs() <= 4.0);
    let expression = |list: Vec<_>| {
        let matrix = Triplets::from_entries(Shape::new(n, n), list)?;
        if kind == 0 { LinearExpression::gauss_seidel(&matrix) } else { LinearExpression::jacobi(&matrix) }
    };
    // The same with nothing that cancels, for the bound.
    let larger =
        expression(list.iter().map(|(i, j, v)| (*i, *j, if i == j { *v } else { -v.abs() })).collect());
    let (expression, order, larger) = match (expression(list), order, larger) {
        (Ok(expression), Ok(order), Ok(larger)) => (expression, order, larger),
        (expression, _, _) => return expression.map(drop).unwrap_or_else(|e| is_the_callers(&e)),
    };
    let options = LowerOptions::default().with_stage([ShaderStage::Vertex, ShaderStage::Fragment][stage]);
    let program = match Program::lower(&expression, &Packing::symmetric(order.clone()), options) {
        Ok(program) => program,
        Err(e) => {
            assert!(!exact || (kind == 0 && stage == 1), "{e}");
            return is_the_callers(&e);
        }
    };
    program.verify().unwrap();
    assert_eq!(i64::from(program.counts().total()), i64::from(program.cost.0) + i64::from(program.extra));
    let x: Vec<f64> = (0..n).map(|i| (i as f64 - 3.0) / 8.0).collect();
    let b: Vec<f64> = (0..n).map(|i| 1.0 / (1.0 + i as f64)).collect();
    // What a Gauss-Seidel iteration comes to depends on the order.
    let twin = |e: &LinearExpression, x: &[f64]| match kind {
        0 => e.sweep(&order, x, &b).unwrap(),
        _ => e.evaluate(x, &b).unwrap(),
    };
    let (found, expected) = (program.run(&x, &b).unwrap(), twin(&expression, &x));
    let sizes = twin(&larger, &x.iter().map(|x| x.abs()).collect::<Vec<_>>());
    for ((found, expected), size) in found.iter().zip(&expected).zip(&sizes) {
        assert!(!exact || (found - expected).abs() <= 1e-12 * size, "{found} for {expected}");
    }
}

/// Unknowns of the systems: more than a texel has, and not a multiple of four.
const N: usize = 13;

/// What a report says is true, of a system whose solution is known.
fn is_told(x: &Vector, report: &SolveReport, tolerance: f64) {
    let x = x.read().unwrap();
    if report.reason == StopReason::Converged {
        // A x = b with A = tridiag(-1, 4, -1) and b = 1, in 64 bits.
        let at = |i: usize| x.get(i).map_or(0.0, |v| f64::from(*v));
        let r = (0..x.len()).map(|i| {
            let left = if i > 0 { at(i - 1) } else { 0.0 };
            1.0 - 4.0 * at(i) + left + at(i + 1)
        });
        let residual = r.map(|r| r * r).sum::<f64>().sqrt() / (x.len() as f64).sqrt();
        assert!(residual <= 2.0 * tolerance, "{residual} for {tolerance}");
    }
}

/// Parameters of the solvers: refused, or a report that is true, after no more iterations than allowed.
pub fn solver(dev: &Device, bytes: &[u8]) {
    let mut bytes = Bytes(bytes);
    let which = bytes.below(6);
    // The limit that users set keeps the run short; 0 is for them to be told about.
    let (most, restart, ell) = (bytes.below(40), bytes.below(70), bytes.below(5));
    let tolerance = f64::from(bytes.float());
    let stop = match bytes.byte() {
        0..128 => Stop::relative(tolerance),
        every => Stop::relative(tolerance).check_every((usize::from(every) - 128) * 20),
    };
    let windows = match bytes.below(4) {
        0 => Windows::Balanced,
        1 => Windows::Filtered,
        _ => match Window::new(u32::from(bytes.byte()), u32::from(bytes.byte())) {
            Ok(window) => Windows::Each(window),
            Err(e) => return is_the_callers(&e),
        },
    };
    let recurrence = [Recurrence::Auto, Recurrence::Single, Recurrence::Double][bytes.below(3)];
    let omega = bytes.float();
    leaves_nothing(dev, || {
        let near = (1..N).flat_map(|i| [(i - 1, i, -1.0), (i, i - 1, -1.0)]);
        let all = (0..N).map(|i| (i, i, 4.0)).chain(near);
        let a = Triplets::from_entries(Shape::new(N, N), all.collect::<Vec<_>>()).unwrap().to_csr();
        let a = SparseMatrix::from_csr(dev, a, SparseFormat::Gather).unwrap();
        let b = Vector::filled(dev, N, 1.0).unwrap();
        let mut x = Vector::zeros(dev, N).unwrap();
        let done = match which {
            0 => {
                let params = CgParams::default().with_max_iters(most).with_stop(stop);
                let params = params.with_windows(windows).with_recurrence(recurrence);
                ConjugateGradient::new(&a, params).and_then(|s| s.solve(&mut x, &b))
            }
            1 => {
                let params = BiCgStabParams::default().with_max_iters(most).with_stop(stop).with_ell(ell);
                BiCgStab::new(&a, params.with_windows(windows)).and_then(|s| s.solve(&mut x, &b))
            }
            2 => {
                let params = GmresParams::default().with_max_iters(most).with_stop(stop);
                let params = params.with_restart(restart).with_windows(windows);
                Gmres::new(&a, params).and_then(|s| s.solve(&mut x, &b))
            }
            3 => {
                let params = MinresParams::default().with_max_iters(most).with_stop(stop);
                Minres::new(&a, params.with_windows(windows)).and_then(|s| s.solve(&mut x, &b))
            }
            4 => {
                let params = StationaryParams::default().with_max_sweeps(most).with_stop(stop);
                let params = params.with_test_every(restart).with_windows(windows);
                WeightedJacobi::new(&a, f64::from(omega))
                    .and_then(|m| Stationary::new(&a, &m, params)?.solve(&mut x, &b))
            }
            _ => {
                let params = LcpParams::default().with_max_sweeps(most).with_stop(stop);
                let params = params.with_relaxation(Relaxation::Fixed(omega));
                match LcpSolver::new(&a, params).and_then(|s| s.solve(&mut x, &b)) {
                    Ok(_) => return x.read().map(drop).unwrap(),
                    Err(e) => Err(e),
                }
            }
        };
        let sense = match which {
            1 => (1..=2).contains(&ell),
            2 | 4 => restart > 0,
            _ => true,
        };
        match done {
            Ok(report) => {
                assert!(sense && !tolerance.is_nan(), "ell {ell}, restart {restart}, tolerance {tolerance}");
                assert!(report.iterations <= most, "{report}");
                is_told(&x, &report, tolerance);
            }
            Err(e) => is_the_callers(&e),
        }
    });
}
