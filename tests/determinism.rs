//! Repeatability and agreement between drivers: bits that never change on one driver, and bounds that hold on another.
//!
//! Threads, vector width and driver are chosen by environment variables that Mesa reads once, so each configuration
//! is a process of its own: a test runs itself again with `TEXLA_TEST_CHILD` set, and then only computes.
#![cfg(feature = "sim")]

mod common;

use std::process::Command;

use common::bounds::{self, DIV_ULPS, SQRT_ULPS, assert_componentwise, assert_within, product_bound};
use common::everything::every;
use common::harness::{block_schedules, fitting, headless, limits};
use common::histogram;
use common::random::{cancelling_pair, nonzero, uniform, wide_range};
use common::reference::{self, widen};
use texla::gl::{Api, Limits};
use texla::kernel::{
    Accum, Bodies, IterateWhile, Kernel, NoParams, PingPong, Points, SplatKernel, WhileParams,
};
use texla::ops::{
    self, Accurate, Combine, Histogram, MatmulForm, MatmulSchedule, OutOfRange, ReducePlan, Reduction,
    Windows,
};
use texla::sim::fluid::{Diffusion, Fluid, FluidParams, Pressure};
use texla::sim::wave::{self, Boundaries, Boundary, Wave, WaveParams};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, ConjugateGradient, Direction, GaussSeidel, LcpBatch, LcpParams,
    LcpProblem, LcpSolver, LinOp, Multigrid, MultigridParams, Smoother, Stationary, StationaryParams, Stop,
};
use texla::{
    BandedMatrix, ColumnStack, Device, FoldedBands, Grid, Matrix, Plane, Scalar, Shape, Side, Sides, Stencil,
    StencilParams, Vector,
};

/// Set in the processes that a test starts.
const CHILD: &str = "TEXLA_TEST_CHILD";
/// What a child writes in front of its hash.
const MARK: &str = "hash of all results: ";
/// And of every step's.
const STEPS_MARK: &str = "hash of all steps: ";

/// FNV-1a over the bits of floats.
struct Hash(u64);

impl Hash {
    fn add(&mut self, values: &[f32]) {
        for byte in values.iter().flat_map(|v| v.to_bits().to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// The inputs, uploaded once for all repetitions.
struct Inputs {
    x: Vector,
    y: Vector,
    divisors: Vector,
    out: Vector,
}

impl Inputs {
    fn new(dev: &Device) -> Self {
        let n = fitting(dev, 200_003);
        let (x, y) = cancelling_pair(1, n);
        let [x, y, divisors] = [x, y, nonzero(2, n)].map(|v| Vector::from_slice(dev, &v).unwrap());
        Inputs { x, y, divisors, out: Vector::zeros(dev, n).unwrap() }
    }

    /// One number for all that layer 4 computes.
    fn hash(&mut self) -> u64 {
        let Inputs { x, y, divisors, out } = self;
        let mut hash = Hash(0xcbf2_9ce4_8422_2325);
        ops::axpby(out, 0.723_456_7, x, -1.312_345_6, y).unwrap();
        hash.add(&out.read().unwrap());
        ops::div(out, x, divisors).unwrap();
        hash.add(&out.read().unwrap());
        ops::mul_add(out, x, y, divisors).unwrap();
        hash.add(&out.read().unwrap());
        let dot = ops::dot(x, y).unwrap();
        ops::axpy(out, &dot, divisors, x).unwrap();
        hash.add(&out.read().unwrap());
        for scalar in [Ok(dot), ops::sum(x), ops::norm2(x), ops::sum(out), ops::max_abs(y), ops::nonfinite(x)]
        {
            hash.add(&[scalar.unwrap().read().unwrap()]);
        }
        hash.0
    }
}

/// One number for a solve with residual checks that are polled: when a poll succeeds must not matter.
fn hash_of_solve(dev: &Device) -> u64 {
    let a = BandedMatrix::poisson_2d(dev, 24, 20).unwrap();
    let b = Vector::from_slice(dev, &wide_range(5, 480, 4)).unwrap();
    let mut x = Vector::zeros(dev, 480).unwrap();
    let params = CgParams::default().with_stop(Stop::relative(1e-5).check_every(4));
    let report = ConjugateGradient::new(&a, params).unwrap().solve(&mut x, &b).unwrap();
    let mut hash = Hash(report.iterations as u64);
    hash.add(&x.read().unwrap());
    hash.0
}

/// One number for complementarity problems, alone and in company: relaxation, momentum and verdict are found on the
/// device, between looks that are polled.
fn hash_of_complementarity(dev: &Device) -> u64 {
    let csr = texla::host::problems::poisson_2d(16, 13).to_csr();
    let b: Vec<f64> = wide_range(6, 208, 2).iter().map(|v| f64::from(*v)).collect();
    let a = BandedMatrix::from_csr(dev, csr.clone()).unwrap();
    let rhs = Vector::from_f64(dev, &b).unwrap();
    let mut x = Vector::zeros(dev, 208).unwrap();
    let params = LcpParams::default().with_stop(Stop::relative(1e-5).check_every(5));
    let report = LcpSolver::new(&a, params).unwrap().solve(&mut x, &rhs).unwrap();
    assert!(report.converged(), "{report:?}");
    let mut hash = Hash(report.outcome.sweeps as u64);
    hash.add(&x.read().unwrap());
    let small = texla::host::problems::poisson_1d(13).to_csr();
    let problems =
        [LcpProblem { a: &csr, b: &b }, LcpProblem { a: &small, b: &b[..13] }, LcpProblem { a: &csr, b: &b }];
    let batch = LcpBatch::new(dev, &problems).unwrap();
    let mut x = batch.start(&[0.0; 429]).unwrap();
    let report = batch.solve(&mut x, params).unwrap();
    hash.add(&batch.read(&x).unwrap());
    for outcome in report.outcome {
        hash.add(&[outcome.sweeps as f32, outcome.natural_residual as f32, outcome.omega as f32]);
    }
    hash.0
}

/// One number for waves: conjugate gradients of a fixed number, frozen on the way.
fn hash_of_waves(dev: &Device) -> u64 {
    let boundaries = Boundaries { x: [Boundary::Absorbing, Boundary::Fixed], y: [Boundary::Periodic; 2] };
    let mut wave = Wave::new(dev, WaveParams::new(33, 19).with_boundaries(boundaries).with_dt(1.5)).unwrap();
    let drop = wave::Drop { centre: [12.0, 7.0], radius: 5.0, height: 1.0, balanced: true };
    wave.drop(drop).unwrap();
    for _ in 0..3 {
        wave.step().unwrap();
    }
    let mut hash = Hash(wave.report().unwrap().unwrap().iterations as u64);
    hash.add(&wave.displacement().read().unwrap());
    hash.add(&[wave.energy().unwrap().read().unwrap()]);
    hash.0
}

/// One number for a fluid: every part of a step, around obstacles and in three dimensions; both together are a step of the
/// list of everything.
fn hash_of_fluids(dev: &Device) -> u64 {
    let mut hash = Hash(17);
    // No longer than they have to be to freeze on the way.
    let stop = Stop::relative(1e-2).check_every(1);
    let pressure =
        Pressure::MultigridConjugateGradient(CgParams::default().with_stop(stop), MultigridParams::default());
    let blocks =
        Pressure::EnhancedBlockJacobi { params: StationaryParams::default().with_stop(stop), sweeps: None };
    for (grid, steps, pressure, diffusion) in [
        (Grid::new_2d(37, 21), 2, pressure, Diffusion::ConjugateGradient),
        (Grid::new_3d(9, 6, 5), 2, blocks, Diffusion::EnhancedBlockJacobi),
    ] {
        let params = FluidParams::new(0.05)
            .with_viscosity(0.002)
            .with_confinement(2.0)
            .with_pressure(pressure)
            .with_diffusion(diffusion)
            .with_viscous_stop(stop);
        let obstacles = diffusion == Diffusion::ConjugateGradient;
        let solid: Vec<bool> = (0..grid.len()).map(|i| obstacles && i % 29 == 11).collect();
        let mut fluid = Fluid::new(dev, grid, params, &solid).unwrap();
        let mut dye = Vector::from_slice(dev, &uniform(5, grid.len())).unwrap();
        for axis in 0..if grid.nz > 1 { 3 } else { 2 } {
            fluid.set_velocity(axis, &uniform(6, fluid.faces(axis).len())).unwrap();
        }
        for _ in 0..steps {
            fluid.buoyancy(&dye, [0.0, 1.0, 0.0], 0.04).unwrap();
            fluid.push([0.3, 0.2, 0.1], 0.1, [1.0, 0.5, 0.0]).unwrap();
            fluid.step(0.04).unwrap();
            fluid.transport(&mut dye, 0.04).unwrap();
        }
        for field in [fluid.velocity(0).unwrap(), fluid.velocity(1).unwrap(), fluid.pressure(), &dye] {
            hash.add(&field.read().unwrap());
        }
    }
    hash.0
}

/// One number for products on grids and cycles, with solid cells and without.
fn hash_of_multigrid(dev: &Device) -> u64 {
    let mut hash = Hash(1);
    for (nx, ny, holes) in [(64, 24, 0), (31, 30, 17)] {
        let (grid, sides) = (Grid::new_2d(nx, ny), Sides::all(Side::WALL));
        let solid: Vec<bool> = (0..grid.len()).map(|i| holes > 0 && i % holes == 0).collect();
        let params = StencilParams::new([1.0, 0.7, 0.0], sides).with_solid(&solid);
        let a = Stencil::new(dev, grid, params).unwrap();
        let b = Vector::from_slice(dev, &wide_range(4, grid.len(), 6)).unwrap();
        let mut x = Vector::zeros(dev, grid.len()).unwrap();
        let m = Multigrid::new(&a, MultigridParams::default()).unwrap();
        m.smooth(&mut x, &b, 2).unwrap();
        hash.add(&x.read().unwrap());
        let params = CgParams::default().with_stop(Stop::relative(1e-4).check_every(2));
        ConjugateGradient::preconditioned(&a, &m, params).unwrap().solve(&mut x, &b).unwrap();
        hash.add(&x.read().unwrap());
    }
    hash.0
}

/// Every schedule that the device has.
fn schedules(dev: &Device) -> Vec<MatmulSchedule> {
    let mut all = vec![MatmulSchedule::Auto, MatmulSchedule::PAPER, MatmulSchedule::OnePass];
    all.extend(block_schedules(dev));
    all
}

/// One number for products of dense matrices by every schedule, with vectors, and a dense solve.
fn hash_of_dense(dev: &Device) -> u64 {
    let (n, q, m) = (45, 37, 29);
    let of = |seed, rows, cols| {
        Matrix::from_rows(dev, Shape::new(rows, cols), &wide_range(seed, rows * cols, 6)).unwrap()
    };
    let (a, b) = (of(1, n, q), of(2, q, m));
    let (at, bt) = (a.transposed().unwrap(), b.transposed().unwrap());
    let mut c = Matrix::zeros(dev, Shape::new(n, m)).unwrap();
    let mut hash = Hash(1);
    for schedule in schedules(dev) {
        for (form, a, b) in [
            (MatmulForm::Plain, &a, &b),
            (MatmulForm::TransposedA, &at, &b),
            (MatmulForm::TransposedB, &a, &bt),
        ] {
            ops::matmul_with(&mut c, form, a, b, schedule).unwrap();
            hash.add(&c.read().unwrap());
        }
    }
    let x = Vector::from_slice(dev, &wide_range(3, q, 6)).unwrap();
    let mut y = Vector::zeros(dev, n).unwrap();
    ops::product(&mut y, Combine::Replace, 0.3, &a, &x).unwrap();
    hash.add(&y.read().unwrap());
    let mut gram = Matrix::identity(dev, n).unwrap();
    let identity = Matrix::identity(dev, n).unwrap();
    ops::matmul_bt(&mut gram, &a, &a).unwrap();
    let largest = ops::norm_inf(&gram).unwrap();
    ops::accumulate_scaled(&mut gram, &largest, &identity).unwrap();
    let mut x = Vector::zeros(dev, n).unwrap();
    let params = CgParams::default().with_stop(Stop::relative(1e-5).check_every(4));
    ConjugateGradient::new(&gram, params).unwrap().solve(&mut x, &y).unwrap();
    hash.add(&x.read().unwrap());
    hash.0
}

/// One number for products with the representations of [Krueger05], and for the loop of its listing.
fn hash_of_framework(dev: &Device) -> u64 {
    let n = 61;
    let stack = ColumnStack::from_rows(dev, Shape::new(n, n), &wide_range(11, n * n, 6)).unwrap();
    let folded = FoldedBands::from_csr(dev, stack.to_csr().unwrap()).unwrap();
    let x = Vector::from_slice(dev, &wide_range(12, n, 6)).unwrap();
    let z = Vector::from_slice(dev, &nonzero(13, n)).unwrap();
    let mut y = Vector::zeros(dev, n).unwrap();
    let mut hash = Hash(2);
    for form in [&stack as &dyn LinOp, &folded] {
        for combine in [Combine::Subtract(&z), Combine::Divide(&z), Combine::Max(&z)] {
            ops::product(&mut y, combine, 0.7, form, &x).unwrap();
            hash.add(&y.read().unwrap());
            ops::product_transposed(&mut y, combine, -0.3, form, &x).unwrap();
            hash.add(&y.read().unwrap());
        }
        for transposed in [false, true] {
            ops::product_accurate(
                &mut y,
                form,
                Accurate { transposed, alpha: -1.0, x: &x, plus: Some((1.0, &z)) },
            )
            .unwrap();
            hash.add(&y.read().unwrap());
        }
    }
    let (mut s, mut t) = (ops::dot(&x, &y).unwrap(), Scalar::zero(dev).unwrap());
    ops::dot_into(&mut t, &z, &z).unwrap();
    let numerator = std::mem::replace(&mut s, Scalar::zero(dev).unwrap());
    ops::div_or_zero(&mut s, &numerator, &t).unwrap();
    ops::subtract_scaled(&mut y, &s, &z).unwrap();
    ops::scale_and_add(&mut y, &s, &x).unwrap();
    hash.add(&y.read().unwrap());
    hash.0
}

/// One number for stationary methods, Gauss-Seidel under masks, BiCGStab and null spaces.
fn hash_of_sweeps(dev: &Device) -> u64 {
    let grid = Grid::new_2d(14, 11);
    let a = Stencil::new(dev, grid, StencilParams::new([1.0, 2.0, 0.0], Sides::all(Side::Periodic))).unwrap();
    let mut b = Vector::from_slice(dev, &wide_range(9, grid.len(), 4)).unwrap();
    texla::solve::project_out(&mut b, a.null_space()).unwrap();
    // A sweep takes a pass for every colour.
    let stop = Stop::relative(1e-2).check_every(2);
    let mut hash = Hash(1);
    let gs = GaussSeidel::new(&a, 1.4, Direction::Forward).unwrap();
    let mut x = Vector::zeros(dev, grid.len()).unwrap();
    let params = StationaryParams::default().with_stop(stop).with_test_every(3);
    let report = Stationary::new(&a, &gs, params).unwrap().solve(&mut x, &b).unwrap();
    assert!(report.converged(), "{report:?}");
    hash.add(&[report.iterations as f32]);
    hash.add(&x.read().unwrap());
    let gs = GaussSeidel::new(&a, 1.4, Direction::Symmetric).unwrap();
    gs.smooth(&mut x, &b, 2).unwrap();
    hash.add(&x.read().unwrap());
    let mut x = Vector::zeros(dev, grid.len()).unwrap();
    let params = BiCgStabParams::default().with_stop(stop);
    let report = BiCgStab::preconditioned(&a, &gs, params).unwrap().solve(&mut x, &b).unwrap();
    hash.add(&[report.iterations as f32]);
    hash.add(&x.read().unwrap());
    hash.0
}

/// One number for histograms, whose points are blended in their order, and for filtered reductions.
fn images(dev: &Device) -> impl Fn() -> u64 {
    let n = fitting(dev, 20_011);
    let x = Vector::from_slice(dev, &uniform(14, n)).unwrap();
    let w = Vector::from_slice(dev, &wide_range(15, n, 20)).unwrap();
    let histogram = Histogram::equal_width(dev, -0.9, 0.9, 37).unwrap();
    let filtered = dev.capabilities().float_filter;
    let dev = dev.clone();
    move || {
        let mut out = Vector::zeros(&dev, 37).unwrap();
        let mut hash = Hash(3);
        histogram.sum(&mut out, &x, &w).unwrap();
        hash.add(&out.read().unwrap());
        hash.add(&histogram.counts(&x).unwrap().iter().map(|c| *c as f32).collect::<Vec<_>>());
        let mut mean = ops::mean(&w).unwrap();
        hash.add(&[mean.read().unwrap()]);
        if filtered {
            ops::reduce_into(&mut mean, Reduction::Mean, &w, None, Windows::Filtered).unwrap();
            hash.add(&[mean.read().unwrap()]);
        }
        hash.0
    }
}

/// Splats that overlap, an interpolated ramp, and a loop whose cells end one after another; kernels are compiled once.
fn predication(dev: &Device) -> impl Fn() -> u64 {
    let place =
        "void splat(int i, out vec4 r, out vec4 v) { r = attribute0; v = vec4(0.1 + 0.37 * float(i)); }";
    let add = "vec4 kernel(ivec2 p, vec4 v) { return v / (1.0 + float(p.x)); }";
    let bodies = Bodies { vertex: place, fragment: add };
    let splats = SplatKernel::<NoParams>::new(dev, "splats", [], 1, bodies).unwrap();
    let corner = |v: &[f32]| {
        let (left, bottom) = (30.0 * v[0], 20.0 * v[1]);
        [left, bottom, left + 17.3, bottom + 9.8]
    };
    let rectangles: Vec<[f32; 4]> = uniform(41, 60).chunks(2).map(corner).collect();
    let points = Points::new(dev, &[&rectangles]).unwrap();
    let corner = "void vertex(vec2 p) { place = vec4(0.3 * p.x + 0.7 * p.y); }";
    let body = "vec4 kernel(ivec2 p) { return place * place; }";
    let bodies = Bodies { vertex: corner, fragment: body };
    let ramp = Kernel::<NoParams>::interpolated(dev, "ramp", [], ["place"], bodies).unwrap();
    let body = "bool unfinished(ivec2 p, vec4 s) { return s.x < 3.0; }
        vec4 advance(ivec2 p, vec4 s) { return s + abs(x_here()) * (0.1 + 1.0 / (1.0 + s)); }";
    let climb = IterateWhile::<NoParams>::new(dev, "climb", ["x"], body).unwrap();
    let n = 4001;
    let x = Vector::from_slice(dev, &nonzero(42, n)).unwrap();
    let dev = dev.clone();
    move || {
        let mut hash = Hash(29);
        let mut plane = Plane::zeros(&dev, 31, 23).unwrap();
        splats.with([], &points, &NoParams).accumulate(Accum::Add).run(&mut plane).unwrap();
        hash.add(&plane.read().unwrap());
        ramp.run(&mut plane, [], &NoParams).unwrap();
        hash.add(&plane.read().unwrap());
        let mut state = PingPong::new(Vector::zeros(&dev, n).unwrap(), Vector::zeros(&dev, n).unwrap());
        let limits = WhileParams::default().with_steps_per_pass(4).with_max_passes(6);
        let report = climb.run(&mut state, [&x], &NoParams, limits).unwrap();
        hash.add(&report.active.iter().map(|n| *n as f32).collect::<Vec<_>>());
        hash.add(&[report.passes as f32]);
        hash.add(&state.front().read().unwrap());
        hash.0
    }
}

/// What a child does: the hash on both dialects, `repeats` times over; then `steps`, every step of the list of everything,
/// on one of them: what a dialect changes are the words of a program, and compiling it is what takes long here.
fn compute(repeats: usize, steps: bool) -> [String; 2] {
    let mut each = Hash(31);
    let hashes = Api::ALL.map(|api| {
        let context = headless(api);
        let renderer = context.device().capabilities().renderer;
        if let (true, Ok(width)) = (renderer.contains("llvmpipe"), std::env::var("LP_NATIVE_VECTOR_WIDTH")) {
            assert!(renderer.contains(&format!("{width} bits")), "{renderer} has not heard of {width} bits");
        }
        let mut inputs = Inputs::new(context.device());
        // Whatever else the library computes joins here.
        let dev = context.device();
        let (predication, images, vertices) = (predication(dev), images(dev), vertices(dev));
        let mut all = || {
            [
                hash_of_ladder(dev),
                inputs.hash(),
                hash_of_solve(dev),
                hash_of_complementarity(dev),
                hash_of_dense(dev),
                hash_of_waves(dev),
                hash_of_fluids(dev),
                hash_of_multigrid(dev),
                hash_of_framework(dev),
                hash_of_sweeps(dev),
                images(),
                predication(),
                vertices(),
            ]
        };
        let first = all();
        for i in 1..repeats {
            assert_eq!(all(), first, "repetition {i} on {api}");
        }
        if steps && api == Api::ALL[0] {
            each.add(&every(dev, &mut |_, call| call()));
        }
        format!("{api} {first:016x?}")
    });
    [hashes.join(", "), format!("{:016x}", each.0)]
}

/// Runs one test of this binary in a process of its own; returns what it printed, or fails with all of it.
fn run_again(test: &str, variables: &[(&str, &str)]) -> String {
    let binary = std::env::current_exe().unwrap();
    let run = || {
        Command::new(&binary)
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(CHILD, "1")
            .envs(variables.iter().copied())
            .output()
            .unwrap()
    };
    let mut output = run();
    // The driver's threads, which only this test asks for, now and then kill the process on a loaded machine (see the
    // Makefile). What is asked here is whether results differ; a process that comes to no result is asked again.
    for _ in 0..2 {
        if output.status.code().is_some() {
            break;
        }
        eprintln!("{test} with {variables:?}: {}, once more", output.status);
        output = run();
    }
    let [out, err] = [output.stdout, output.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
    assert!(output.status.success(), "{test} with {variables:?}: {}\n{out}\n{err}", output.status);
    assert!(out.contains("1 passed"), "{test} with {variables:?} ran nothing:\n{out}\n{err}");
    out
}

/// Repeatability.
#[test]
fn one_hash_for_all_threads_and_vector_widths() {
    let test = "one_hash_for_all_threads_and_vector_widths";
    if std::env::var_os(CHILD).is_some() {
        let number = |name| std::env::var(name).unwrap().parse::<usize>().unwrap();
        let [all, each] = compute(number("TEXLA_TEST_REPEATS"), number("TEXLA_TEST_STEPS") > 0);
        // On lines of their own, whatever the test harness has printed before.
        println!("\n{MARK}{all}\n{STEPS_MARK}{each}");
        return;
    }
    let lesser = limits() != Limits::default();
    // The width that the driver takes by itself, with its own cache, which other tests fill and use; and the least.
    let of_width = |width: Option<&str>| {
        ["0", "1", "2"].map(|threads| {
            // All hundred repetitions, fifty in each dialect, in the configuration that a two-core machine has by itself; the
            // steps in it and in the one that differs from it in both. On lesser devices less: what depends on threads and
            // widths is the same there.
            let own = (threads, width) == ("2", None);
            let steps = !lesser && (own || (threads, width) == ("0", Some("128")));
            let mut variables = vec![
                ("LP_NUM_THREADS", threads),
                ("TEXLA_TEST_REPEATS", if own && !lesser { "50" } else { "3" }),
                ("TEXLA_TEST_STEPS", if steps { "1" } else { "0" }),
            ];
            // Mesa caches compiled shaders on disk, and its key does not know the width: with one cache for both, the
            // second would run the first one's code, which also writes more vertices than the second allocates.
            let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/shaders of 128 bits");
            if let Some(width) = width {
                variables.extend([("LP_NATIVE_VECTOR_WIDTH", width), ("MESA_SHADER_CACHE_DIR", cache)]);
            }
            let out = run_again(test, &variables);
            let marked = |mark| out.lines().find_map(|l| l.strip_prefix(mark)).expect("a hash").to_owned();
            (format!("{threads} threads, width {width:?}"), marked(MARK), steps.then(|| marked(STEPS_MARK)))
        })
    };
    // Mostly compiling, which takes one core.
    let hashes = std::thread::scope(|scope| {
        let narrow = scope.spawn(|| of_width(Some("128")));
        [of_width(None), narrow.join().unwrap()].concat()
    });
    let steps: Vec<_> = hashes.iter().filter_map(|(.., steps)| steps.as_ref()).collect();
    assert!(hashes.iter().all(|(_, hash, _)| *hash == hashes[0].1), "{hashes:#?}");
    assert_eq!(steps.len(), if lesser { 0 } else { 2 });
    assert!(steps.windows(2).all(|pair| pair[0] == pair[1]), "{hashes:#?}");
}

/// Operations and reductions within their bounds; for any driver.
fn check_bounds(dev: &Device) {
    let n = fitting(dev, 5_003);
    let (x, y, z) = (wide_range(1, n, 10), wide_range(2, n, 10), nonzero(3, n));
    let [xs, ys, zs] = [&x, &y, &z].map(|v| Vector::from_slice(dev, v).unwrap());
    let [x, y, z] = [x, y, z].map(|v| widen(&v));
    let mut out = Vector::zeros(dev, n).unwrap();
    let a = 0.723_456_7;

    ops::mul(&mut out, &xs, &ys).unwrap();
    let want = reference::mul(&x, &y);
    assert_componentwise("mul", &out.read().unwrap(), &want, &bounds::ulp_bounds(&want, 0.5));
    ops::div(&mut out, &xs, &zs).unwrap();
    let want = reference::div(&x, &z);
    assert_componentwise("div", &out.read().unwrap(), &want, &bounds::ulp_bounds(&want, DIV_ULPS));
    ops::abs(&mut out, &ys).unwrap();
    let mut roots = Vector::zeros(dev, n).unwrap();
    ops::sqrt(&mut roots, &out).unwrap();
    let want = reference::sqrt(&reference::abs(&y));
    assert_componentwise("sqrt", &roots.read().unwrap(), &want, &bounds::ulp_bounds(&want, SQRT_ULPS));
    ops::axpy(&mut out, a, &xs, &ys).unwrap();
    let want = reference::axpy(f64::from(a), &x, &y);
    let sums = reference::axpy(f64::from(a), &reference::abs(&x), &reference::abs(&y));
    let bound: Vec<_> = sums.iter().map(|s| product_bound(*s, 2)).collect();
    assert_componentwise("axpy", &out.read().unwrap(), &want, &bound);

    let (c, d) = cancelling_pair(4, n);
    let [cs, ds] = [&c, &d].map(|v| Vector::from_slice(dev, v).unwrap());
    let [c, d] = [c, d].map(|v| widen(&v));
    let chain = ReducePlan::new(cs.extent(), Windows::Balanced).longest_chain() as usize;
    let bound = bounds::reduction_bound(chain, reference::abs_dot(&c, &d));
    assert_within("dot", ops::dot(&cs, &ds).unwrap().read().unwrap(), reference::dot(&c, &d), bound);
    let bound = bounds::reduction_bound(chain, reference::abs_sum(&c));
    assert_within("sum", ops::sum(&cs).unwrap().read().unwrap(), reference::sum(&c), bound);
    let largest = ops::max_abs(&cs).unwrap().read().unwrap();
    assert_eq!(f64::from(largest), reference::max_abs(&c));

    // Counts are the same everywhere, in draws of whatever length.
    let numbers = uniform(8, fitting(dev, 20_011));
    let counts = ops::histogram(&Vector::from_slice(dev, &numbers).unwrap(), -0.9, 0.9, 37).unwrap();
    let positions = numbers.iter().map(|v| histogram::equal_width(*v, -0.9, 0.9, 37));
    assert_eq!(counts, histogram::counts(positions, 37, OutOfRange::Clamp));

    let (n, q, m) = (21, 18, 11);
    let (a, b) = (wide_range(5, n * q, 6), wide_range(6, q * m, 6));
    let [a, b] = [(a, n, q), (b, q, m)]
        .map(|(v, rows, cols)| (Matrix::from_rows(dev, Shape::new(rows, cols), &v).unwrap(), widen(&v)));
    let want = reference::matmul(&a.1, &b.1, n, q, m);
    let sizes = reference::matmul(&reference::abs(&a.1), &reference::abs(&b.1), n, q, m);
    let bound: Vec<_> = sizes.iter().map(|s| product_bound(*s, q)).collect();
    let mut product = Matrix::zeros(dev, Shape::new(n, m)).unwrap();
    for schedule in schedules(dev) {
        ops::matmul_with(&mut product, MatmulForm::Plain, &a.0, &b.0, schedule).unwrap();
        assert_componentwise(&format!("{schedule:?}"), &product.read().unwrap(), &want, &bound);
    }
}

/// Agreement between drivers: Mesa's other rasteriser, which shares no code with the first below the shader compiler's
/// front end.
#[test]
fn bounds_hold_on_another_driver() {
    if std::env::var_os(CHILD).is_some() {
        for api in Api::ALL {
            let context = headless(api);
            let renderer = context.device().capabilities().renderer;
            assert!(renderer.contains("softpipe"), "asked for softpipe, got {renderer}");
            check_bounds(context.device());
        }
        return;
    }
    run_again("bounds_hold_on_another_driver", &[("GALLIUM_DRIVER", "softpipe")]);
}

/// One number for Jacobi sweeps with nine bands, by every schedule of one system and by four systems at once.
fn hash_of_ladder(dev: &Device) -> u64 {
    use texla::host::NineBands;
    use texla::solve::{JacobiProblem, JacobiSchedule, NineBandJacobi};
    let mut hash = Hash(23);
    let side = if dev.capabilities().max_texture_size < 256 { 23 } else { 37 };
    let a = NineBands::laplace(side).unwrap();
    let (b, x) = (uniform(7, a.len()), uniform(8, a.len()));
    let problem = JacobiProblem { a: &a, b: &b, x: &x };
    for schedule in JacobiSchedule::LADDER.into_iter().filter(|s| s.fits(dev, side)) {
        let mut jacobi = NineBandJacobi::new(dev, &vec![problem; schedule.systems()], schedule, 0.9).unwrap();
        jacobi.sweep(3).unwrap();
        jacobi.read().unwrap().iter().for_each(|x| hash.add(x));
    }
    hash.0
}

/// Programs of the vertex stage, in one run, in two, and for many vertices; kernels are compiled once.
fn vertices(dev: &Device) -> impl Fn() -> u64 {
    use texla::BufferVector;
    use texla::kernel::VertexKernel;
    let x = BufferVector::from_slice(dev, &wide_range(61, 60, 8)).unwrap();
    let b = BufferVector::from_slice(dev, &wide_range(62, 57, 8)).unwrap();
    let line = |k: usize| format!("y[{k}] = b[{k}] + 0.37 * x[{}].wzyx * x[{}];", (k + 4) % 15, (3 * k) % 15);
    let body = format!("void kernel(int vertex) {{ {} }}", (0..15).map(line).collect::<String>());
    let inputs = [("x", 15), ("b", 15)];
    let step = VertexKernel::<NoParams>::new(dev, "step", inputs, 15, &body).unwrap();
    let body = "void kernel(int vertex) {
        float t = 0.001 * float(vertex);
        y[0] = vec4(t * t * x[vertex % 15].x - t, sqrt(t), 1.0 / (1.0 + t), x[vertex % 15].y * t);
        y[1] = y[0].wzyx * y[0] + x[3];
    }";
    let curve = VertexKernel::<NoParams>::new(dev, "curve", [("x", 15)], 2, body).unwrap();
    let dev = dev.clone();
    move || {
        let mut hash = Hash(31);
        let mut y = BufferVector::zeros(&dev, 119).unwrap();
        step.run(&mut y, 0, [&x, &b], &NoParams).unwrap();
        step.run(&mut y, 15, [&x, &b], &NoParams).unwrap();
        hash.add(&y.read_vec4s().unwrap());
        let mut y = BufferVector::zeros(&dev, 8 * 1009).unwrap();
        curve.run_vertices(&mut y, 0, 1009, [&x], &NoParams).unwrap();
        hash.add(&y.read().unwrap());
        hash.add(&y.to_vector().unwrap().read().unwrap());
        hash.0
    }
}
