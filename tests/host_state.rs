//! A guest's manners: the host's GL state neither matters to texla nor is changed by it.
#![cfg(all(feature = "script", feature = "sim"))]
#![allow(unsafe_code)]

mod common;

use std::sync::Arc;

use common::egl::Extra;
use common::harness::{block_schedules, fitting, on_both};
use common::hostile::{HOSTILE, Host};
use common::operations::every;
use common::random::uniform;
use common::state::{assert_same, blends_apart, clip_control, since, snapshot};
use common::worst::differing;
use glow::HasContext;
use texla::host::{Triplets, problems};
use texla::kernel::{
    Accum, Condition, Domain, IterateWhile, Kernel, NoParams, PingPong, Points, PointsKernel, Predicate,
    SplatKernel, WhileParams, WhileSchedule,
};
use texla::ops::{
    self, Accurate, Combine, Histogram, MatmulForm, MatmulSchedule, Reduction, Window, Windows,
};
use texla::script::{Interpreter, ScriptError, parse};
use texla::sim::fluid::{Fluid, FluidParams, Pressure};
use texla::sim::wave::{self, Boundaries, Boundary, Scheme, Wave, WaveParams};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, ConjugateGradient, Direction, GaussSeidel, LcpBatch,
    LcpParams, LcpSolver, Multigrid, MultigridParams, Preconditioner, ProjectedJacobi, Relaxation, Smoother,
    Stationary, StationaryParams, Stop, StopReason, WeightedJacobi, natural_residual, project_out,
};
use texla::{
    BandedMatrix, ColumnStack, Device, DeviceOptions, Error, Extent, FoldedBands, Grid, Layout, Matrix,
    Packed, Plane, Result, Scalar, Shape, Side, Sides, SparseFormat, SparseMatrix, Stencil, Vector,
};

texla::params! { struct Shift { by: f32 } }

const CLAMP_READ_COLOR: u32 = 0x891C;
const FIXED_ONLY: u32 = 0x891D;
const LOWER_LEFT: u32 = 0x8CA1;
const UPPER_LEFT: u32 = 0x8CA2;
const NEGATIVE_ONE_TO_ONE: u32 = 0x935E;
const ZERO_TO_ONE: u32 = 0x935F;

/// Runs a step with a name: the tests look at the state around it.
type Around<'a> = &'a mut dyn FnMut(&str, &mut dyn FnMut());

/// Everything the public API does on the device, one call a step; the results as bits.
fn everything(dev: &Device, around: Around<'_>) -> Vec<u32> {
    let mut bits: Vec<u32> = Vec::new();
    let n = fitting(dev, 1237);
    let (a, b) = (uniform(1, n), uniform(2, n));
    macro_rules! step {
        ($name:expr, $call:expr) => {{
            let mut result = None;
            around($name, &mut || result = Some($call));
            result.unwrap()
        }};
    }
    macro_rules! keep {
        ($values:expr) => {
            bits.extend($values.iter().map(|v| v.to_bits()))
        };
    }
    macro_rules! fails {
        ($name:expr, $call:expr, $error:pat) => {{
            let result = step!($name, $call.map(|_| ()));
            assert!(matches!(result, Err($error)), "{}: {result:?}", $name);
        }};
    }
    let x = step!("from_slice", Vector::from_slice(dev, &a).unwrap());
    let y = step!(
        "from_f64",
        Vector::from_f64(dev, &b.iter().map(|v| f64::from(*v)).collect::<Vec<_>>()).unwrap()
    );
    let mut out = step!("zeros", Vector::zeros(dev, n).unwrap());
    let filled = step!("filled", Vector::filled(dev, n, 0.75).unwrap());
    keep!(step!("read", filled.read().unwrap()));
    step!("write", out.write(&b).unwrap());
    keep!(step!("read_texels", out.read_texels().unwrap()));
    step!("set_zero", out.set_zero().unwrap());
    let s = step!("Scalar::new", Scalar::new(dev, 1.5).unwrap());
    let mut t = step!("Scalar::zero", Scalar::zero(dev).unwrap());
    step!("add of scalars", ops::add(&mut t, &s, &s).unwrap());
    keep!([step!("Scalar::read", t.read().unwrap())]);
    let mut slice = vec![0.0; n];

    type Unary = fn(&mut Vector, &Vector) -> Result<()>;
    let unary: [(&str, Unary); 5] = [
        ("copy", ops::copy),
        ("neg", ops::neg),
        ("abs", ops::abs),
        ("sqrt", ops::sqrt),
        ("reciprocal", ops::reciprocal),
    ];
    let positive = Vector::from_slice(dev, &a.iter().map(|v| v.abs() + 0.5).collect::<Vec<_>>()).unwrap();
    for (name, op) in unary {
        step!(name, op(&mut out, &positive).unwrap());
        step!("read_into", out.read_into(&mut slice).unwrap());
        keep!(slice);
    }
    type Binary = fn(&mut Vector, &Vector, &Vector) -> Result<()>;
    let binary: [(&str, Binary); 7] = [
        ("add", ops::add),
        ("sub", ops::sub),
        ("mul", ops::mul),
        ("div", ops::div),
        ("div_or_zero", ops::div_or_zero),
        ("max", ops::max),
        ("min", ops::min),
    ];
    for (name, op) in binary {
        step!(name, op(&mut out, &x, &positive).unwrap());
        keep!(out.read().unwrap());
    }
    step!("fill", ops::fill(&mut out, &s).unwrap());
    step!("scale", ops::scale(&mut out, 3.0).unwrap());
    keep!(out.read().unwrap());
    step!("scaled", ops::scaled(&mut out, &s, &x).unwrap());
    keep!(out.read().unwrap());
    step!("add_constant", ops::add_constant(&mut out, &x, 2.0).unwrap());
    keep!(out.read().unwrap());
    step!("clamp", ops::clamp(&mut out, &x, -0.5, 0.5).unwrap());
    keep!(out.read().unwrap());
    step!("axpy", ops::axpy(&mut out, &s, &x, &y).unwrap());
    keep!(out.read().unwrap());
    step!("axpby", ops::axpby(&mut out, &s, &x, 0.25, &y).unwrap());
    keep!(out.read().unwrap());
    step!("mul_add", ops::mul_add(&mut out, &x, &y, &positive).unwrap());
    keep!(out.read().unwrap());

    for (name, op) in [
        ("sum", ops::sum as fn(&Vector) -> Result<Scalar>),
        ("max_element", ops::max_element),
        ("min_element", ops::min_element),
        ("max_abs", ops::max_abs),
        ("nonfinite", ops::nonfinite),
        ("norm2", ops::norm2),
    ] {
        let result = step!(name, op(&x).unwrap());
        keep!([result.read().unwrap()]);
    }
    let dot = step!("dot", ops::dot(&x, &y).unwrap());
    keep!([dot.read().unwrap()]);
    step!("reduce_into", ops::reduce::reduce_into(&mut t, Reduction::Sum, &x, None, Window::PAPERS).unwrap());
    keep!([t.read().unwrap()]);

    let shape = Shape::new(7, 5);
    let packed =
        step!("Packed::from_rows", Packed::from_rows(dev, shape, Layout::Column4, &a[..35]).unwrap());
    let mut blocks = step!("repack", packed.repack(Layout::Block2x2).unwrap());
    keep!(step!("Packed::read", blocks.read().unwrap()));
    step!("ops::repack", ops::repack(&mut blocks, &packed).unwrap());
    keep!(step!("Packed::read_texels", blocks.read_texels().unwrap()));
    let folded = step!("to_vector", blocks.to_vector().unwrap());
    keep!(step!("to_packed", folded.to_packed(shape, Layout::Batch4).unwrap()).read().unwrap());

    let body = "vec4 kernel(ivec2 p) { return x(p) + by; }";
    let shift = step!("Kernel::new", Kernel::<Shift>::new(dev, "shift", ["x"], body).unwrap());
    step!("Kernel::run", shift.run(&mut out, [&x], &Shift { by: 0.5 }).unwrap());
    keep!(out.read().unwrap());
    let by = Shift { by: 1.0 };
    for (name, domain) in [
        ("Rect", Domain::Rect { x: 1, y: 1, width: 3, height: 5 }),
        ("Row", Domain::Row(2)),
        ("Column", Domain::Column(3)),
    ] {
        for accum in [Accum::Replace, Accum::Add, Accum::Max, Accum::Min] {
            step!(name, shift.run_on(&mut out, [&y], &by, domain, accum, Predicate::Always).unwrap());
        }
        keep!(out.read().unwrap());
    }
    let body =
        "void kernel(ivec2 p, out vec4 a, out vec4 b, out vec4 c) { a = x(p); b = 2.0 * a; c = 3.0 * a; }";
    let several =
        step!("with_outputs", Kernel::<NoParams>::with_outputs(dev, "several", ["x"], 3, body).unwrap());
    let (mut p, mut q, mut r) = (x_like(&x), x_like(&x), x_like(&x));
    for accum in [Accum::Replace, Accum::Add] {
        let (domain, always) = (Domain::Full, Predicate::Always);
        step!(
            "run_many",
            several.run_many([&mut p, &mut q, &mut r], [&y], &NoParams, domain, accum, always).unwrap()
        );
    }
    [&p, &q, &r].iter().for_each(|v| keep!(v.read().unwrap()));
    let body = "bool kernel(ivec2 p) { return x(p).x > 0.0; }";
    let condition =
        step!("Condition::new", Condition::<NoParams>::new(dev, "positive", ["x"], body).unwrap());
    let mask = step!("mask", condition.mask(&x, [&x], &NoParams).unwrap());
    for predicate in [Predicate::If(&mask), Predicate::Unless(&mask)] {
        step!("masked", shift.run_on(&mut out, [&y], &by, Domain::Full, Accum::Replace, predicate).unwrap());
        keep!(out.read().unwrap());
    }
    let body = "void point(int i, out ivec2 texel, out vec4 value) {
        texel = texel_position(i % 3); value = attribute0 + x_texel(i % 2); }";
    let scatter =
        step!("PointsKernel::new", PointsKernel::<NoParams>::new(dev, "scatter", ["x"], 1, body).unwrap());
    let vertices: Vec<[f32; 4]> = a.chunks_exact(4).map(|c| [c[0], c[1], c[2], c[3]]).collect();
    let points = step!("Points::new", Points::new(dev, &[&vertices]).unwrap());
    step!("PointsKernel::run", scatter.run(&mut out, [&y], &points, &NoParams, Accum::Add).unwrap());
    keep!(out.read().unwrap());
    let pending = step!("read_async", out.read_async().unwrap());
    while step!("poll", pending.poll().unwrap()).is_none() {}
    keep!(step!("wait", pending.wait().unwrap()));

    let csr = problems::poisson_2d(9, 7).to_csr();
    let sparse = |format| SparseMatrix::from_csr(dev, csr.clone(), format).unwrap();
    let banded = step!("BandedMatrix", BandedMatrix::from_csr(dev, csr.clone()).unwrap());
    let gathered = step!("SparseMatrix, gathered", sparse(SparseFormat::Gather));
    let scattered = step!("SparseMatrix, scattered", sparse(SparseFormat::Points));
    let (x63, mut y63) = (Vector::from_slice(dev, &a[..63]).unwrap(), Vector::zeros(dev, 63).unwrap());
    let accurate = Accurate { transposed: false, alpha: 1.0, x: &x63, plus: None };
    step!("banded_product", ops::product(&mut y63, Combine::Replace, 1.0, &banded, &x63).unwrap());
    keep!(y63.read().unwrap());
    step!("banded_accurate", ops::product_accurate(&mut y63, &banded, accurate).unwrap());
    keep!(y63.read().unwrap());
    for matrix in [&gathered, &scattered] {
        step!("sparse_product", ops::product(&mut y63, Combine::AddTo(&x63), 0.5, matrix, &x63).unwrap());
        keep!(y63.read().unwrap());
    }
    step!("sparse_accurate", ops::product_accurate(&mut y63, &gathered, accurate).unwrap());
    keep!(y63.read().unwrap());
    for schedule in [CgSchedule::Listing, CgSchedule::Merged] {
        let params =
            CgParams::default().with_schedule(schedule).with_stop(Stop::relative(1e-4).check_every(4));
        let solver = step!("ConjugateGradient::new", ConjugateGradient::new(&banded, params).unwrap());
        step!("set_zero", y63.set_zero().unwrap());
        let report = step!("solve", solver.solve(&mut y63, &x63).unwrap());
        assert!(report.converged());
        keep!(y63.read().unwrap());
    }
    let negative: Vec<f64> = csr.values().iter().map(|v| -v).collect();
    let mut changed = BandedMatrix::from_csr(dev, csr.clone()).unwrap();
    step!("set_values", changed.set_values(&negative).unwrap());
    let solver = ConjugateGradient::new(&changed, CgParams::default()).unwrap();
    let report = step!("breakdown", solver.solve(&mut y63, &x63).unwrap());
    assert_eq!(report.reason, StopReason::Breakdown);

    let jacobi = step!("ProjectedJacobi::new", ProjectedJacobi::new(&banded, 0.5).unwrap());
    step!("set_zero", y63.set_zero().unwrap());
    step!("run", jacobi.run(&mut y63, &x63, 3).unwrap());
    keep!(y63.read().unwrap());
    keep!([step!("natural_residual", natural_residual(&gathered, &y63, &x63).unwrap()).relative as f32]);
    let solver = step!("LcpSolver::new", LcpSolver::new(&banded, LcpParams::default()).unwrap());
    assert!(step!("solve an LCP", solver.solve(&mut y63, &x63).unwrap()).converged());
    keep!(y63.read().unwrap());
    let b63: Vec<f64> = a[..63].iter().map(|v| f64::from(*v)).collect();
    let batch = step!("LcpBatch::decompose", LcpBatch::decompose(dev, &csr, &b63).unwrap());
    let mut start = step!("LcpBatch::start", batch.start(&[0.0; 63]).unwrap());
    step!("LcpBatch::solve", batch.solve(&mut start, LcpParams::default()).unwrap());
    keep!(step!("LcpBatch::read", batch.read(&start).unwrap()));
    let no_p_matrix = Triplets::from_dense(Shape::new(2, 2), &[1.0, -3.0, -3.0, 1.0]).unwrap();
    let no_p_matrix = SparseMatrix::from_triplets(dev, &no_p_matrix, SparseFormat::Gather).unwrap();
    let fixed = LcpParams::default().with_relaxation(Relaxation::Fixed(1.0));
    let solver = LcpSolver::new(&no_p_matrix, fixed).unwrap();
    let (b2, mut x2) = (Vector::filled(dev, 2, -1.0).unwrap(), Vector::zeros(dev, 2).unwrap());
    fails!("divergence", solver.solve(&mut x2, &b2), Error::Breakdown { .. });
    fails!("negative relaxation", ProjectedJacobi::new(&banded, -0.1), Error::Parameter { .. });

    fails!(
        "shape",
        ops::add(&mut t, &s, &s).and_then(|()| ops::dot(&x, &folded)),
        Error::ShapeMismatch { .. }
    );
    let shape = Shape::new(23, 17);
    let mut dense = step!("Matrix::from_rows", Matrix::from_rows(dev, shape, &uniform(8, 391)).unwrap());
    keep!(step!("Matrix::read", dense.read().unwrap()));
    keep!([step!("Matrix::element", dense.element(3, 5).unwrap())]);
    let other = step!("Matrix::transposed", dense.transposed().unwrap());
    let mut c = step!("Matrix::zeros", Matrix::zeros(dev, Shape::new(23, 23)).unwrap());
    for schedule in [MatmulSchedule::Auto, MatmulSchedule::PAPER, MatmulSchedule::OnePass] {
        step!("matmul", ops::matmul_with(&mut c, MatmulForm::Plain, &dense, &other, schedule).unwrap());
        keep!(c.read().unwrap());
    }
    for schedule in block_schedules(dev) {
        step!("matmul", ops::matmul_with(&mut c, MatmulForm::TransposedB, &dense, &dense, schedule).unwrap());
        keep!(c.read().unwrap());
    }
    let ones = Vector::filled(dev, 17, 1.0).unwrap();
    let mut sums = Vector::zeros(dev, 23).unwrap();
    step!("dense_product", ops::product(&mut sums, Combine::Replace, 1.0, &dense, &ones).unwrap());
    keep!(sums.read().unwrap());
    step!("outer", ops::outer(&mut dense, 0.5, &sums, &ones).unwrap());
    let block = step!("Matrix::block", dense.block(3, 2, Shape::new(5, 6)).unwrap());
    step!("Matrix::set_block", dense.set_block(9, 7, &block).unwrap());
    step!("accumulate", ops::accumulate_scaled(&mut dense, &s, &other.transposed().unwrap()).unwrap());
    keep!(dense.read().unwrap());
    keep!([step!("norm1", ops::norm1(&dense).unwrap().read().unwrap())]);
    keep!([step!("trace", ops::trace(&dense).unwrap().read().unwrap())]);
    keep!(step!("Matrix::row", dense.row(2).unwrap().read().unwrap()));
    let mut interpreter = Interpreter::new(dev);
    step!("Interpreter::set", interpreter.set("A", Matrix::identity(dev, 9).unwrap()).unwrap());
    let script =
        parse("b = A(:, 2) + 1\nx = (A * A' + A) \\ b\nz = lcp(sparse(A), x - 2)\nprint(x, z)", "").unwrap();
    step!("Interpreter::run", interpreter.run(&script, &mut std::io::sink()).unwrap());
    keep!(step!("Value::read", interpreter.get("z").unwrap().read().unwrap()));
    let wrong = parse("y = A * x\ny = A * y'", "").unwrap();
    fails!("a script", interpreter.run(&wrong, &mut std::io::sink()), ScriptError { line: 2, .. });
    fails!("matmul of shapes", ops::matmul(&mut c, &dense, &dense), Error::ShapeMismatch { .. });
    fails!("large matrix", Matrix::zeros(dev, Shape::new(1 << 20, 1 << 20)), Error::TooLarge { .. });
    fails!("not finite", Vector::from_slice(dev, &[1.0, f32::NAN]), Error::NonFinite { .. });
    fails!("too large", Vector::zeros(dev, usize::MAX), Error::TooLarge { .. });
    fails!(
        "compile",
        Kernel::<NoParams>::new(dev, "bad", [], "vec4 kernel(ivec2 p) { oops }"),
        Error::Shader { .. }
    );
    fails!(
        "link",
        Kernel::<NoParams>::new(dev, "bad", [], "vec4 f(); vec4 kernel(ivec2 p) { return f(); }"),
        Error::Shader { .. }
    );
    let missing = "vec4 kernel(ivec2 p) {\n#include \"no\"\n}";
    fails!("include", Kernel::<NoParams>::new(dev, "bad", [], missing), Error::Include { .. });
    // Passes the compiler of one dialect, and the linker but not the interface.
    let converting = "vec4 kernel(ivec2 p) { return 2 * vec4(p, p); }";
    fails!("dialect", Kernel::<NoParams>::new(dev, "bad", [], converting), Error::Shader { .. });
    let hidden = "#define U uniform\nU float stray; vec4 kernel(ivec2 p) { return vec4(stray); }";
    fails!("hidden", Kernel::<NoParams>::new(dev, "bad", [], hidden), Error::Interface { .. });
    let undeclared = "uniform float stray; vec4 kernel(ivec2 p) { return vec4(stray); }";
    fails!("interface", Kernel::<NoParams>::new(dev, "bad", [], undeclared), Error::Interface { .. });
    fails!("run", shift.run(&mut out, [&x, &y], &by), Error::Interface { .. });
    fails!(
        "condition",
        Condition::<NoParams>::new(dev, "bad", [], "bool kernel(ivec2 p) { oops }"),
        Error::Shader { .. }
    );
    fails!(
        "row",
        shift.run_on(&mut out, [&x], &by, Domain::Row(9999), Accum::Replace, Predicate::Always),
        Error::IndexOutOfRange { .. }
    );
    let raw = x.texture();
    // SAFETY: the texture is alive while the borrow is.
    let borrowed = step!("from_texture", unsafe {
        Vector::from_texture(dev, raw, x.extent(), 4 * x.extent().area() as usize).unwrap()
    });
    keep!(step!("read of a borrowed texture", borrowed.read().unwrap()));
    drop(borrowed);
    if dev.api() == texla::gl::Api::Gl33 || since(&dev.glow(), (9, 9), (3, 1)) {
        // SAFETY: as above.
        let wrong = || unsafe { Vector::from_texture(dev, raw, Extent::new(1, 1), 4) };
        fails!("from_texture of a wrong size", wrong(), Error::Unsupported { .. });
    }
    framework(dev, around, &mut bits);
    predication(dev, around, &mut bits);
    drop((p, q, r, points, pending, mask));
    step!("scope after drops", drop(dev.scope().unwrap()));
    step!("finish", dev.finish().unwrap());
    step!("trim", dev.trim().unwrap());
    bits.extend(waves(dev, around));
    bits.extend(fluids(dev, around));
    bits.extend(grids(dev, around));
    bits.extend(sweeps(dev, around));
    bits.extend(ladder(dev, around));
    bits.extend(images(dev, around));
    bits.extend(captures(dev, around));
    bits.extend(every(dev, around).into_iter().map(f32::to_bits));
    bits
}

/// Histograms, means, and reductions through the linear sampler.
fn images(dev: &Device, around: Around<'_>) -> Vec<u32> {
    let mut bits = Vec::new();
    macro_rules! step {
        ($name:expr, $call:expr) => {{
            let mut result = None;
            around($name, &mut || result = Some($call));
            result.unwrap()
        }};
    }
    let (x, w) = (uniform(31, 1000), uniform(32, 1000));
    let [x, w] = [x, w].map(|v| Vector::from_slice(dev, &v).unwrap());
    let equal = step!("Histogram::equal_width", Histogram::equal_width(dev, -1.0, 1.0, 9).unwrap());
    let body = "float bin(float x) { return 4.5 + 4.0 * x; }";
    let own = step!("Histogram::new", Histogram::new(dev, 9, body).unwrap());
    let mut out = Vector::zeros(dev, 9).unwrap();
    step!("Histogram::count", equal.count(&mut out, &x).unwrap());
    bits.extend(out.read().unwrap().iter().map(|v| v.to_bits()));
    step!("Histogram::sum", own.sum(&mut out, &x, &w).unwrap());
    bits.extend(out.read().unwrap().iter().map(|v| v.to_bits()));
    bits.extend(step!("Histogram::counts", own.counts(&x).unwrap()).iter().map(|c| *c as u32));
    bits.extend(step!("histogram", ops::histogram(&x, 0.0, 1.0, 3).unwrap()).iter().map(|c| *c as u32));
    let bad =
        step!("Histogram::new, wrong", Histogram::new(dev, 9, "float bin(float x) { oops }").map(|_| ()));
    assert!(matches!(bad, Err(Error::Shader { .. })), "{bad:?}");
    bits.push(step!("mean", ops::mean(&x).unwrap()).read().unwrap().to_bits());
    let mut sum = Scalar::zero(dev).unwrap();
    // Filtered and fetched in turn: each has to find its own sampler on the unit.
    let filtered = |out: &mut Scalar| {
        ops::reduce_into(out, Reduction::Sum, &x, None, Windows::Filtered)?;
        ops::sum(&x).map(|_| ())?;
        ops::reduce_into(out, Reduction::Mean, &x, None, Windows::Filtered)
    };
    let done = step!("filtered windows", filtered(&mut sum));
    assert_eq!(done.is_ok(), dev.capabilities().float_filter, "{done:?}");
    bits.push(sum.read().unwrap().to_bits());
    bits
}

/// Waves: everything that draws, one call a step.
fn waves(dev: &Device, around: Around<'_>) -> Vec<u32> {
    let mut bits = Vec::new();
    let mut step = |name: &str, call: &mut dyn FnMut()| around(name, call);
    for scheme in [Scheme::Explicit, Scheme::CrankNicholson] {
        let boundaries = Boundaries { x: [Boundary::Absorbing; 2], y: [Boundary::Fixed; 2] };
        let mut made = None;
        let params = WaveParams::new(9, 7).with_boundaries(boundaries).with_scheme(scheme);
        step("Wave::new", &mut || made = Some(Wave::new(dev, params).unwrap()));
        let mut wave = made.unwrap();
        let x = Vector::from_slice(dev, &uniform(12, 63)).unwrap();
        let drop = wave::Drop { centre: [4.0, 3.0], radius: 2.5, height: 1.0, balanced: true };
        step("Wave::start", &mut || wave.start(&x, &x).unwrap());
        step("Wave::drop", &mut || wave.drop(drop).unwrap());
        step("Wave::bump", &mut || std::mem::drop(wave.bump(drop).unwrap()));
        step("Wave::displace", &mut || wave.displace(0.5, &x).unwrap());
        step("Wave::strike", &mut || wave.strike(0.5, &x).unwrap());
        step("Wave::step", &mut || wave.step().unwrap());
        step("Wave::step_forced", &mut || wave.step_forced(&x, 0.1).unwrap());
        step("Wave::step_forced, refused", &mut || assert!(wave.step_forced(&x, f64::NAN).is_err()));
        step("Wave::report", &mut || {
            assert_eq!(wave.report().unwrap().is_some(), scheme != Scheme::Explicit)
        });
        step("Wave::energy", &mut || bits.push(wave.energy().unwrap().read().unwrap().to_bits()));
        bits.extend(wave.displacement().read().unwrap().iter().map(|v| v.to_bits()));
    }
    let params = WaveParams::new(9, 7).with_scheme(Scheme::Explicit).with_dt(2.0);
    step("Wave::new, refused", &mut || assert!(Wave::new(dev, params).is_err()));
    bits
}

/// Operators on grids and multigrid.
fn grids(dev: &Device, step: Around<'_>) -> Vec<u32> {
    let mut bits = Vec::new();
    for (grid, side, solid) in [
        (Grid::new_2d(40, 16), Side::WALL, vec![]),
        (Grid::new_2d(33, 17), Side::Neumann, (0..561).map(|i| i % 50 == 20).collect()),
    ] {
        let n = grid.len();
        let mut made = None;
        step("Stencil", &mut || {
            let sides = Sides::all(side);
            made = Some(Stencil::with_solids(dev, grid, 0.1, [1.0, 1.0, 0.0], sides, &solid).unwrap());
        });
        let a = made.unwrap();
        let x = Vector::from_slice(dev, &uniform(5, n)).unwrap();
        let (mut y, mut z) = (Vector::zeros(dev, n).unwrap(), Vector::zeros(dev, n).unwrap());
        step("stencil_product", &mut || ops::product(&mut y, Combine::AddTo(&x), 1.5, &a, &x).unwrap());
        let terms = Accurate { transposed: false, alpha: 1.0, x: &x, plus: Some((1.0, &x)) };
        step("stencil_accurate", &mut || {
            ops::product_accurate(&mut z, &a, terms).unwrap();
        });
        bits.extend([&y, &z].iter().flat_map(|v| v.read().unwrap()).map(f32::to_bits));
        let mut m = None;
        step("Multigrid", &mut || m = Some(Multigrid::new(&a, MultigridParams::default()).unwrap()));
        let m = m.unwrap();
        step("Multigrid::apply", &mut || m.apply(&mut z, &x).unwrap());
        step("Multigrid::smooth", &mut || m.smooth(&mut z, &x, 1).unwrap());
        bits.extend(z.read().unwrap().into_iter().map(f32::to_bits));
    }
    step("Stencil, refused", &mut || {
        assert!(Stencil::new(dev, Grid::new_2d(2, 2), f64::NAN, [1.0; 3], Sides::all(Side::WALL)).is_err());
    });
    bits
}

/// The representations of [Krueger05] 44.2 and what goes with them, one call a step.
/// Splats, interpolated varyings, masks that nest and narrow, and a loop of variable length.
fn predication(dev: &Device, around: Around<'_>, bits: &mut Vec<u32>) {
    macro_rules! step {
        ($name:expr, $call:expr) => {{
            let mut result = None;
            around($name, &mut || result = Some($call));
            result.unwrap()
        }};
    }
    let mut keep = |values: Vec<f32>| bits.extend(values.iter().map(|v| v.to_bits()));
    let place = "void splat(int i, out vec4 rectangle, out vec4 value) {
        rectangle = attribute0; value = vec4(float(i) + 0.3); }";
    let body = "vec4 kernel(ivec2 p, vec4 value) { return value; }";
    let splats =
        step!("SplatKernel::new", SplatKernel::<NoParams>::new(dev, "splats", [], 1, place, body).unwrap());
    let rectangles =
        Points::new(dev, &[&[[1.0, 1.0, 4.0, 3.0], [2.0, 0.0, 9.0, 2.0], [3.0, 0.0, 5.0, 9.0]]]).unwrap();
    let mut plane = Plane::zeros(dev, 10, 7).unwrap();
    step!(
        "SplatKernel::run",
        splats.run(&mut plane, [], &rectangles, &NoParams, Accum::Add, Predicate::Always).unwrap()
    );
    keep(plane.read().unwrap());
    let point =
        "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(i % 10, 3); value = vec4(0.7); }";
    let points = PointsKernel::<NoParams>::new(dev, "numbered", [], 0, point).unwrap();
    let numbered = step!("Points::numbered", Points::numbered(dev, 25).unwrap());
    step!("numbered points", points.run(&mut plane, [], &numbered, &NoParams, Accum::Add).unwrap());
    keep(plane.read().unwrap());
    let ramp = step!(
        "Kernel::interpolated",
        Kernel::<NoParams>::interpolated(
            dev,
            "ramp",
            [],
            ["place"],
            "void vertex(vec2 p) { place = vec4(p, 0.0, 0.0); }",
            "vec4 kernel(ivec2 p) { return vec4(place.x + 3.0 * place.y); }"
        )
        .unwrap()
    );
    step!("interpolated", ramp.run(&mut plane, [], &NoParams).unwrap());
    keep(plane.read().unwrap());

    let n = 403;
    let x = Vector::from_slice(dev, &uniform(31, n)).unwrap();
    let above = Condition::<Shift>::new(dev, "above", ["x"], "bool kernel(ivec2 p) { return x(p).x > by; }");
    let above = above.unwrap();
    let mut mask = above.mask(&x, [&x], &Shift { by: -0.5 }).unwrap();
    let inner =
        step!("mask_within", above.mask_within(Predicate::If(&mask), &x, [&x], &Shift { by: 0.0 }).unwrap());
    step!("narrow", above.narrow(&mut mask, [&x], &Shift { by: 0.25 }).unwrap());
    assert!(step!("any", inner.any().unwrap()));
    let counted = step!("count", mask.count());
    assert_eq!(counted.is_ok(), dev.api() == texla::gl::Api::Gl33);
    let one = Kernel::<NoParams>::new(dev, "one", [], "vec4 kernel(ivec2 p) { return vec4(1.0); }").unwrap();
    for mask in [&mask, &inner] {
        let mut y = Vector::zeros(dev, n).unwrap();
        one.run_on(&mut y, [], &NoParams, Domain::Full, Accum::Replace, Predicate::If(mask)).unwrap();
        keep(y.read().unwrap());
    }
    let body = "bool unfinished(ivec2 p, vec4 s) { return s.x < 2.0 * by; }
        vec4 advance(ivec2 p, vec4 s) { return s + 0.3 * by * abs(x_here().x); }";
    let kernel = step!("IterateWhile::new", IterateWhile::<Shift>::new(dev, "climb", ["x"], body).unwrap());
    for schedule in [WhileSchedule::Predicated, WhileSchedule::Branching] {
        let mut state = PingPong::new(Vector::zeros(dev, n).unwrap(), Vector::zeros(dev, n).unwrap());
        let limits = WhileParams::default().with_steps_per_pass(3).with_max_passes(9).with_schedule(schedule);
        let run =
            step!("IterateWhile::run", kernel.run(&mut state, [&x], &Shift { by: 1.5 }, limits).unwrap());
        keep(vec![run.passes as f32]);
        keep(state.front().read().unwrap());
    }
}

fn framework(dev: &Device, around: Around<'_>, bits: &mut Vec<u32>) {
    macro_rules! step {
        ($name:expr, $call:expr) => {{
            let mut result = None;
            around($name, &mut || result = Some($call));
            result.unwrap()
        }};
    }
    let mut keep = |values: Vec<f32>| bits.extend(values.iter().map(|v| v.to_bits()));
    let n = 70;
    let shape = Shape::new(n, n);
    let values = uniform(21, n * n);
    let mut stack = step!("ColumnStack::from_rows", ColumnStack::from_rows(dev, shape, &values).unwrap());
    let dense = step!("ColumnStack::to_matrix", stack.to_matrix().unwrap());
    let csr = step!("Matrix::to_csr", dense.to_csr().unwrap());
    let again = step!("Matrix::from_csr", Matrix::from_csr(dev, &csr).unwrap());
    keep(again.read().unwrap());
    step!("ColumnStack::from_matrix", ColumnStack::from_matrix(&again).unwrap());
    let column = step!("ColumnStack::column", stack.column(3).unwrap());
    step!("ColumnStack::set_column", stack.set_column(60, &column).unwrap());
    keep(step!("ColumnStack::read", stack.read().unwrap()));
    let folded = step!("FoldedBands", FoldedBands::from_csr(dev, csr.clone()).unwrap());
    keep(step!("FoldedBands::to_matrix", folded.to_matrix().unwrap()).read().unwrap());
    let banded = BandedMatrix::poisson_2d(dev, 9, 4).unwrap();
    keep(step!("BandedMatrix::to_matrix", banded.to_matrix().unwrap()).read().unwrap());

    let mut y = Vector::zeros(dev, n).unwrap();
    let combine = Combine::Divide(&column);
    step!("stack_product", ops::product(&mut y, combine, 0.5, &stack, &column).unwrap());
    keep(y.read().unwrap());
    step!("transposed", ops::product_transposed(&mut y, Combine::Accumulate, 1.0, &stack, &column).unwrap());
    keep(y.read().unwrap());
    step!("folded_product", ops::product(&mut y, Combine::Max(&column), 1.0, &folded, &column).unwrap());
    keep(y.read().unwrap());
    let combine = Combine::Min(&column);
    step!("transposed", ops::product_transposed(&mut y, combine, 1.0, &folded, &column).unwrap());
    keep(y.read().unwrap());
    for transposed in [false, true] {
        let accurate = Accurate { transposed, alpha: -1.0, x: &column, plus: Some((1.0, &column)) };
        step!("stack_accurate", ops::product_accurate(&mut y, &stack, accurate).unwrap());
        keep(y.read().unwrap());
        step!("folded_accurate", ops::product_accurate(&mut y, &folded, accurate).unwrap());
        keep(y.read().unwrap());
    }
    step!("product", ops::product(&mut y, Combine::Subtract(&column), 1.0, &stack, &column).unwrap());
    step!("subtract_scaled", ops::subtract_scaled(&mut y, 0.5, &column).unwrap());
    step!("scale_and_add", ops::scale_and_add(&mut y, 2.0, &column).unwrap());
    keep(y.read().unwrap());
    let mut s = Scalar::zero(dev).unwrap();
    step!("dot_into", ops::dot_into(&mut s, &y, &column).unwrap());
    keep(vec![s.read().unwrap()]);
    let mut plane = step!("Plane::zeros", Plane::zeros(dev, 10, 7).unwrap());
    step!("unpack", ops::unpack(&mut plane, &y).unwrap());
    keep(step!("Plane::read", plane.read().unwrap()));
    step!("unpack_from", ops::unpack_from(&mut Plane::zeros(dev, 5, 2).unwrap(), &y, 20).unwrap());
    step!("pack", ops::pack(&mut y, &plane).unwrap());
    keep(y.read().unwrap());
    let refused = step!(
        "a matrix that is not square",
        FoldedBands::from_triplets(dev, &Triplets::new(Shape::new(2, 3)))
    );
    assert!(matches!(refused.map(drop), Err(Error::Matrix { .. })));
    let refused = step!("a plane past the texture size", Plane::zeros(dev, 1 << 20, 1));
    assert!(matches!(refused.map(drop), Err(Error::TooLarge { .. })));
}

/// Stationary methods, Gauss-Seidel, BiCGStab and null spaces.
fn sweeps(dev: &Device, step: Around<'_>) -> Vec<u32> {
    let (grid, n) = (Grid::new_2d(20, 9), 180);
    let mut bits = Vec::new();
    let closed = Stencil::new(dev, grid, 0.0, [1.0, 1.0, 0.0], Sides::all(Side::Neumann)).unwrap();
    let wind = problems::poisson_2d(20, 9).to_csr();
    let blown = wind.entries().map(|(i, j, v)| (i, j, if j + 1 == i { 2.0 * v } else { 2.0 * v.abs() * v }));
    let blown = Triplets::from_entries(Shape::new(n, n), blown.collect::<Vec<_>>()).unwrap();
    let a = BandedMatrix::from_triplets(dev, &blown).unwrap();
    let b = Vector::from_slice(dev, &uniform(9, n)).unwrap();
    let (mut x, mut p) = (Vector::zeros(dev, n).unwrap(), Vector::from_slice(dev, &uniform(10, n)).unwrap());
    step("project_out", &mut || project_out(&mut p, closed.null_space()).unwrap());
    let (mut jacobi, mut gs) = (None, None);
    step("WeightedJacobi", &mut || jacobi = Some(WeightedJacobi::new(&closed, 0.8).unwrap()));
    step("GaussSeidel", &mut || gs = Some(GaussSeidel::new(&a, 1.0, Direction::Symmetric).unwrap()));
    let (jacobi, gs) = (jacobi.unwrap(), gs.unwrap());
    step("WeightedJacobi::smooth", &mut || jacobi.smooth(&mut x, &p, 2).unwrap());
    bits.extend(x.read().unwrap());
    let params = StationaryParams::default().with_stop(Stop::relative(1e-3));
    step("Stationary", &mut || {
        let report = Stationary::new(&closed, &jacobi, params).unwrap().solve(&mut x, &p).unwrap();
        assert!(report.converged(), "{report:?}");
    });
    bits.extend(x.read().unwrap());
    step("GaussSeidel::smooth", &mut || gs.smooth(&mut x, &b, 2).unwrap());
    bits.extend(x.read().unwrap());
    step("GaussSeidel::apply", &mut || gs.apply(&mut x, &b).unwrap());
    bits.extend(x.read().unwrap());
    step("BiCgStab", &mut || {
        let params = BiCgStabParams::default();
        let report = BiCgStab::preconditioned(&a, &gs, params).unwrap().solve(&mut x, &b).unwrap();
        assert!(report.converged(), "{report:?}");
    });
    bits.extend(x.read().unwrap());
    step("an inconsistent system", &mut || {
        let ones = Vector::filled(dev, n, 1.0).unwrap();
        let refused = Stationary::new(&closed, &jacobi, params).unwrap().solve(&mut x, &ones);
        assert!(matches!(refused, Err(Error::Inconsistent { .. })), "{refused:?}");
    });
    step("a breakdown of BiCGStab", &mut || {
        let zero = Triplets::from_entries(Shape::new(3, 3), [(0, 0, 0.0)]).unwrap();
        let zero = BandedMatrix::from_triplets(dev, &zero).unwrap();
        let (b, mut x) = (Vector::filled(dev, 3, 1.0).unwrap(), Vector::zeros(dev, 3).unwrap());
        let report = BiCgStab::new(&zero, BiCgStabParams::default()).unwrap().solve(&mut x, &b).unwrap();
        assert_eq!(report.reason, StopReason::Breakdown, "{report:?}");
    });
    bits.into_iter().map(f32::to_bits).collect()
}

/// Fluids: everything that draws, one call a step.
fn fluids(dev: &Device, around: Around<'_>) -> Vec<u32> {
    let mut bits = Vec::new();
    let mut step = |name: &str, call: &mut dyn FnMut()| around(name, call);
    let stop = Stop::relative(1e-4);
    let (cg, multigrid) = (CgParams::default().with_stop(stop), MultigridParams::default());
    for (grid, pressure) in [
        (Grid::new_2d(9, 7), Pressure::ConjugateGradient(cg)),
        (Grid::new_2d(9, 7), Pressure::MultigridConjugateGradient(cg, multigrid)),
        (Grid::new_3d(5, 4, 3), Pressure::Fixed { params: cg, multigrid, iterations: 3 }),
        (Grid::new_2d(9, 7), Pressure::Multigrid { params: multigrid, cycles: 2 }),
        (Grid::new_2d(9, 7), Pressure::Jacobi { omega: 1.0, sweeps: 5 }),
    ] {
        let params = FluidParams::new(0.1).with_pressure(pressure).with_viscosity(0.01).with_confinement(1.0);
        let solid: Vec<bool> = (0..grid.len()).map(|i| i == 11).collect();
        let mut made = None;
        step("Fluid::new", &mut || made = Some(Fluid::new(dev, grid, params, &solid).unwrap()));
        let mut fluid = made.unwrap();
        let mut dye = Vector::from_slice(dev, &uniform(12, grid.len())).unwrap();
        let force = Vector::from_slice(dev, &uniform(13, fluid.faces(0).len())).unwrap();
        let middle = [0.4, 0.3, 0.1];
        let faces = uniform(14, fluid.faces(1).len());
        step("Fluid::set_velocity", &mut || fluid.set_velocity(1, &faces).unwrap());
        step("Fluid::accelerate", &mut || fluid.accelerate([0.0, -1.0, 0.5], 0.1).unwrap());
        step("Fluid::buoyancy", &mut || fluid.buoyancy(&dye, [0.0, 2.0, 0.0], 0.1).unwrap());
        step("Fluid::force", &mut || fluid.force(0, &force, 0.1).unwrap());
        step("Fluid::push", &mut || fluid.push(middle, 0.2, [1.0, 0.0, 0.0]).unwrap());
        step("Fluid::splat", &mut || fluid.splat(&mut dye, middle, 0.2, 1.0).unwrap());
        step("Fluid::confine", &mut || fluid.confine(0.1).unwrap());
        step("Fluid::advect", &mut || fluid.advect(0.1).unwrap());
        step("Fluid::diffuse", &mut || fluid.diffuse(0.1).unwrap());
        step("Fluid::project", &mut || assert!(fluid.project().is_ok()));
        step("Fluid::step", &mut || assert!(fluid.step(0.1).is_ok()));
        step("Fluid::transport", &mut || fluid.transport(&mut dye, 0.1).unwrap());
        let mut out = Vector::zeros(dev, grid.len()).unwrap();
        step("Fluid::divergence", &mut || fluid.divergence(&mut out).unwrap());
        step("Fluid::max_divergence", &mut || assert!(fluid.max_divergence().is_ok()));
        step("Fluid::project_reported", &mut || assert!(fluid.project_reported().is_ok()));
        step("Fluid::step, refused", &mut || assert!(fluid.step(f64::NAN).is_err()));
        step("Fluid::transport, refused", &mut || assert!(fluid.transport(&mut out, 0.0).is_err()));
        for field in [fluid.velocity(0).unwrap(), fluid.velocity(1).unwrap(), fluid.pressure(), &dye] {
            bits.extend(field.read().unwrap().iter().map(|v| v.to_bits()));
        }
    }
    let params = FluidParams::new(0.0);
    step("Fluid::new, refused", &mut || assert!(Fluid::new(dev, Grid::new_2d(3, 3), params, &[]).is_err()));
    bits
}

fn x_like(x: &Vector) -> Vector {
    Vector::zeros(x.device(), x.len()).unwrap()
}

/// Every hostile value that exists here, set together; the feedback in the end only where asked for.
fn set_all(host: &Host) {
    HOSTILE.iter().filter(|h| h.exists(host)).for_each(|h| h.set(host));
}

fn unset_all(host: &Host) {
    HOSTILE.iter().rev().filter(|h| h.exists(host)).for_each(|h| h.unset(host));
}

#[test]
fn no_public_call_changes_the_hosts_state() {
    on_both(|dev| {
        let host = Host::new(dev.glow());
        set_all(&host);
        let (mut calls, mut values) = (0, 0);
        everything(dev, &mut |name, call| {
            let before = snapshot(&host.gl, &host.extra);
            call();
            assert_same(&before, &snapshot(&host.gl, &host.extra), name);
            calls += 1;
            values = before.len();
        });
        eprintln!("{calls} calls, {values} values");
        assert!(calls >= 80 && values >= 60);
        unset_all(&host);
    });
}

#[test]
fn taking_a_context_over_changes_nothing() {
    on_both(|dev| {
        let gl = dev.glow();
        let host = Host::new(Arc::clone(&gl));
        // Without a loader the masks of draw buffers cannot be read one by one: they are taken to be equal. What else
        // needs one is refused: see below.
        for with_loader in [false, true] {
            let hostile: Vec<_> =
                HOSTILE.iter().filter(|h| h.exists(&host) && (with_loader || !h.needs_loader)).collect();
            hostile.iter().for_each(|h| h.set(&host));
            let before = snapshot(&gl, &host.extra);
            for without_float_blend in [false, true] {
                // Limits that no other test has, so that the probing is done and not remembered.
                let max_texture_size = Some(if with_loader { 61 } else { 62 });
                let limits = texla::gl::Limits::default()
                    .with_max_texture_size(max_texture_size)
                    .with_max_draw_buffers(Some(2))
                    .without_float_blend(without_float_blend);
                let options = DeviceOptions::default().with_limits(limits);
                // SAFETY: the context is current until the test ends.
                let guest = unsafe {
                    if with_loader {
                        Device::from_loader(common::egl::loader(), options)
                    } else {
                        Device::from_glow_with(Arc::clone(&gl), options)
                    }
                };
                let guest = guest.unwrap();
                assert_same(&before, &snapshot(&gl, &host.extra), "taking over");
                let ledger = guest.ledger();
                let x = Vector::from_slice(&guest, &[1.0, 2.0, 3.0]).unwrap();
                assert_eq!(ops::dot(&x, &x).unwrap().read().unwrap(), 14.0);
                assert_same(&before, &snapshot(&gl, &host.extra), "working");
                drop((x, guest));
                assert_same(&before, &snapshot(&gl, &host.extra), "dropping the guest");
                assert_eq!(ledger.live_objects().total(), 0);
            }
            hostile.iter().rev().for_each(|h| h.unset(&host));
        }
    });
}

/// Hostile values that extensions bring, on llvmpipe whatever version it is told to be; the last on the desktop alone.
const OF_EXTENSIONS: [&str; 8] = [
    "clip space from the upper left",
    "clip space of 0 to 1",
    "clip space of 0 to 1 from the upper left",
    "factors of a second source, not blending",
    "blending by a second source",
    "an advanced blend equation",
    "an advanced blend equation, not blending",
    "pack inverted",
];

/// A hostile value that does not exist is left out of the sweeps, which then say nothing of it.
#[test]
fn llvmpipe_has_the_hostile_values() {
    on_both(|dev| {
        if !dev.capabilities().renderer.contains("llvmpipe") {
            eprintln!("not looked at on {}", dev.capabilities().renderer);
            return;
        }
        let host = Host::new(dev.glow());
        let count = OF_EXTENSIONS.len() - usize::from(dev.api() == texla::gl::Api::Es30);
        for name in &OF_EXTENSIONS[..count] {
            assert!(HOSTILE.iter().any(|h| h.name == *name && h.exists(&host)), "{name} on {}", dev.api());
        }
    });
}

#[test]
fn hostile_state_changes_no_bit_of_a_result() {
    on_both(|dev| {
        let host = Host::new(dev.glow());
        let run = || everything(dev, &mut |_, call| call());
        let clean = run();
        assert!(clean.len() > 5000);
        let clean_state = snapshot(&host.gl, &host.extra);
        for hostile in HOSTILE.iter().filter(|h| h.exists(&host)) {
            hostile.set(&host);
            let before = snapshot(&host.gl, &host.extra);
            let bits = run();
            let differ = differing(&bits, &clean);
            assert_eq!(differ, 0, "{}: {differ} of {} values differ", hostile.name, clean.len());
            assert_same(&before, &snapshot(&host.gl, &host.extra), hostile.name);
            hostile.unset(&host);
            assert_same(&clean_state, &snapshot(&host.gl, &host.extra), "unsetting");
        }
        set_all(&host);
        let before = snapshot(&host.gl, &host.extra);
        assert!(run() == clean, "all at once");
        assert_same(&before, &snapshot(&host.gl, &host.extra), "all at once");
        unset_all(&host);
    });
}

#[test]
fn a_pending_error_is_the_hosts() {
    on_both(|dev| {
        let gl = dev.glow();
        let extra = Extra::load();
        let x = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
        let mut y = Vector::zeros(dev, 2).unwrap();
        // SAFETY: the context is current; the calls are wrong on purpose.
        let enum_error = || unsafe { gl.enable(0xFFFF) };
        // SAFETY: as above.
        let value_error = || unsafe { gl.viewport(0, 0, -1, -1) };
        // SAFETY: as above.
        let operation_error = || unsafe { gl.end_transform_feedback() };
        let raise: [(&dyn Fn(), u32); 3] = [
            (&enum_error, glow::INVALID_ENUM),
            (&value_error, glow::INVALID_VALUE),
            (&operation_error, glow::INVALID_OPERATION),
        ];
        let mut z = Vector::zeros(dev, 2).unwrap();
        for (raise, code) in raise {
            let before = snapshot(&gl, &extra);
            let (counters, live) = (dev.counters(), dev.live_objects());
            let expected = Error::HostGl { code };
            macro_rules! reports {
                ($($call:expr),* $(,)?) => {$(
                    raise();
                    assert_eq!($call.map(|_| ()).unwrap_err(), expected, "{}", stringify!($call));
                )*};
            }
            reports![
                ops::add(&mut y, &x, &z),
                ops::scale(&mut z, 2.0),
                ops::dot(&x, &x),
                x.read(),
                x.read_async(),
                Vector::from_slice(dev, &[1.0]),
                Vector::zeros(dev, 5),
                Scalar::new(dev, 1.0),
                texla::BufferVector::zeros(dev, 5),
                dev.scope(),
                dev.trim(),
                dev.finish(),
                Kernel::<NoParams>::new(dev, "one", [], "vec4 kernel(ivec2 p) { return vec4(1.0); }"),
            ];
            let guest = || {
                // SAFETY: the context is current.
                unsafe { Device::from_glow(dev.glow()) }
            };
            reports![guest()];
            let done = dev.counters().since(&counters);
            assert_eq!(
                (done.draws, done.uploads, done.readbacks, done.clears, done.compiles),
                (0, 0, 0, 0, 0)
            );
            assert_eq!(dev.live_objects(), live);
            assert_same(&before, &snapshot(&gl, &extra), "reporting an error");
            assert_eq!(ops::dot(&x, &x).unwrap().read().unwrap(), 5.0, "the next call works");
        }
    });
}

#[test]
fn a_panic_in_a_scope_restores() {
    on_both(|dev| {
        let host = Host::new(dev.glow());
        set_all(&host);
        let before = snapshot(&host.gl, &host.extra);
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _outer = dev.scope().unwrap();
            let x = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
            let _inner = dev.scope().unwrap();
            ops::sum(&x).unwrap();
            panic!("on purpose");
        }));
        std::panic::set_hook(hook);
        assert!(result.is_err());
        assert_same(&before, &snapshot(&host.gl, &host.extra), "a panic");
        let x = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 3.0);
        unset_all(&host);
    });
}

#[test]
fn nested_scopes_save_once() {
    on_both(|dev| {
        let x = Vector::from_slice(dev, &[1.0, 2.0, 3.0]).unwrap();
        let mut y = Vector::zeros(dev, 3).unwrap();
        let saves = || dev.counters().state_saves;
        let before = saves();
        {
            let _scope = dev.scope().unwrap();
            for _ in 0..10 {
                let _inner = dev.scope().unwrap();
                ops::axpy(&mut y, 2.0, &x, &x).unwrap();
                ops::norm2(&y).unwrap();
            }
            assert_eq!(y.read().unwrap(), [3.0, 6.0, 9.0]);
        }
        assert_eq!(saves() - before, 1);
        for (name, call) in [
            ("norm2", &(|| drop(ops::norm2(&x).unwrap())) as &dyn Fn()),
            ("zeros", &|| drop(Vector::zeros(dev, 100).unwrap())),
            ("read", &|| drop(x.read().unwrap())),
        ] {
            let before = saves();
            call();
            assert_eq!(saves() - before, 1, "{name}");
        }
    });
}

/// Values that cannot be set through glow and would change results: without a loader refused, with a word on what to do;
/// with one they work, as the sweeps above show, and leave no trace.
#[test]
fn what_glow_cannot_set_is_refused_without_a_loader() {
    on_both(|dev| {
        let gl = dev.glow();
        let extra = Extra::load();
        // SAFETY: the context is current until the test ends.
        let guest = unsafe { Device::from_glow(Arc::clone(&gl)) }.unwrap();
        let x = Vector::from_slice(&guest, &[1.0, 2.0]).unwrap();
        let own = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
        let refused = |what: &str| {
            let before = snapshot(&gl, &extra);
            for result in [x.read().map(|_| ()), ops::sum(&x).map(|_| ()), guest.scope().map(|_| ())] {
                let error = result.unwrap_err();
                assert!(matches!(error, Error::Unsupported { .. }), "{error}");
                for word in [what, "Device::from_loader"] {
                    assert!(error.to_string().contains(word), "{error}");
                }
            }
            assert_eq!(own.read().unwrap(), [1.0, 2.0], "{what}");
            assert_eq!(ops::sum(&own).unwrap().read().unwrap(), 3.0, "{what}");
            assert_same(&before, &snapshot(&gl, &extra), what);
        };
        if dev.api() == texla::gl::Api::Gl33 {
            extra.clamp_color(CLAMP_READ_COLOR, 1);
            refused("GL_CLAMP_READ_COLOR");
            // No clamping at all harms nobody.
            extra.clamp_color(CLAMP_READ_COLOR, 0);
            assert_eq!(x.read().unwrap(), [1.0, 2.0]);
            extra.clamp_color(CLAMP_READ_COLOR, FIXED_ONLY);
        }
        if clip_control(&gl) {
            for (origin, depth) in
                [(UPPER_LEFT, NEGATIVE_ONE_TO_ONE), (LOWER_LEFT, ZERO_TO_ONE), (UPPER_LEFT, ZERO_TO_ONE)]
            {
                extra.clip_control(origin, depth);
                refused("glClipControl");
            }
            extra.clip_control(LOWER_LEFT, NEGATIVE_ONE_TO_ONE);
        }
        assert_eq!(x.read().unwrap(), [1.0, 2.0]);
    });
}

/// What a renderer with a reversed depth buffer sets, and what a window system with its rows upside down does: masks lie
/// in depth, and rows in their order.
#[test]
fn masks_hold_in_every_clip_space() {
    on_both(|dev| {
        let gl = dev.glow();
        let extra = Extra::load();
        let spaces: Vec<(u32, u32)> = [LOWER_LEFT, UPPER_LEFT]
            .into_iter()
            .flat_map(|origin| [NEGATIVE_ONE_TO_ONE, ZERO_TO_ONE].map(|depth| (origin, depth)))
            .filter(|space| clip_control(&gl) || *space == (LOWER_LEFT, NEGATIVE_ONE_TO_ONE))
            .collect();
        let llvmpipe = dev.capabilities().renderer.contains("llvmpipe");
        assert!(spaces.len() == 4 || !llvmpipe, "{spaces:x?}");
        let n = fitting(dev, 4 * 77);
        let values: Vec<f32> = (0..n).map(|i| if i < n / 3 { 1.0 } else { -1.0 }).collect();
        for (origin, depth) in spaces {
            if clip_control(&gl) {
                extra.clip_control(origin, depth);
            }
            let before = snapshot(&gl, &extra);
            let x = Vector::from_slice(dev, &values).unwrap();
            let body = "bool kernel(ivec2 p) { return x(p).x > 0.0; }";
            let condition = Condition::<NoParams>::new(dev, "positive", ["x"], body).unwrap();
            let mask = condition.mask(&x, [&x], &NoParams).unwrap();
            let body = "vec4 kernel(ivec2 p) { return vec4(5.0); }";
            let five = Kernel::<NoParams>::new(dev, "five", [], body).unwrap();
            let holds = |texel: usize| values[4 * texel] > 0.0;
            for (predicate, wanted) in [(Predicate::If(&mask), true), (Predicate::Unless(&mask), false)] {
                let mut out = Vector::zeros(dev, n).unwrap();
                five.run_on(&mut out, [], &NoParams, Domain::Full, Accum::Replace, predicate).unwrap();
                for (i, value) in out.read().unwrap().iter().enumerate() {
                    let expected = if holds(i / 4) == wanted { 5.0 } else { 0.0 };
                    assert_eq!(*value, expected, "{origin:x} {depth:x} {wanted} {i}");
                }
            }
            assert!(mask.any().unwrap());
            if dev.api() == texla::gl::Api::Gl33 {
                let count = (0..n.div_ceil(4)).filter(|t| holds(*t)).count() as u64;
                assert_eq!(mask.count().unwrap(), count);
            }
            assert_same(&before, &snapshot(&gl, &extra), "masks");
        }
        if clip_control(&gl) {
            extra.clip_control(LOWER_LEFT, NEGATIVE_ONE_TO_ONE);
        }
    });
}

/// The compatibility profile has state without end that changes what is drawn and moved: refused, before anything is made.
#[test]
fn the_compatibility_profile_is_refused() {
    let _context = common::egl::compatibility();
    let loader = common::egl::loader();
    // SAFETY: the context is current until the test ends, and EGL knows the functions.
    let (gl, results) = unsafe {
        let gl = Arc::new(glow::Context::from_loader_function(loader.clone()));
        let by_glow = Device::from_glow(Arc::clone(&gl));
        (gl, [by_glow, Device::from_loader(loader, DeviceOptions::default())])
    };
    for result in results {
        let error = result.unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        assert!(error.to_string().contains("core profile"), "{error}");
    }
    // SAFETY: as above.
    unsafe {
        // The driver says of itself which profile it is.
        assert_eq!(gl.get_parameter_i32(glow::CONTEXT_PROFILE_MASK), 2);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
}

/// Jacobi sweeps with nine bands, by every schedule.
fn ladder(dev: &Device, step: Around<'_>) -> Vec<u32> {
    use texla::host::NineBands;
    use texla::solve::{JacobiProblem, JacobiSchedule, NineBandJacobi, NineBandSmoother};
    let mut bits = Vec::new();
    let a = NineBands::laplace(7).unwrap();
    let (b, x) = (uniform(21, 49), uniform(22, 49));
    let problem = JacobiProblem { a: &a, b: &b, x: &x };
    for schedule in JacobiSchedule::LADDER.into_iter().filter(|s| s.fits(dev, 7)) {
        let problems = vec![problem; schedule.systems()];
        let mut made = None;
        step("NineBandJacobi::new", &mut || {
            made = Some(NineBandJacobi::new(dev, &problems, schedule, 0.9).unwrap());
        });
        let mut jacobi = made.unwrap();
        step("NineBandJacobi::sweep", &mut || jacobi.sweep(2).unwrap());
        step("NineBandJacobi::read", &mut || {
            bits.extend(jacobi.read().unwrap().into_iter().flatten());
        });
    }
    step("NineBandJacobi::new, refused", &mut || {
        assert!(NineBandJacobi::new(dev, &[problem], JacobiSchedule::Packed { rows: 3 }, 1.0).is_err());
    });
    let mut made = None;
    step("NineBandSmoother::new", &mut || made = Some(NineBandSmoother::new(dev, &a, 0.9).unwrap()));
    let smoother = made.unwrap();
    let (mut out, rhs) = (Vector::from_slice(dev, &x).unwrap(), Vector::from_slice(dev, &b).unwrap());
    step("NineBandSmoother::smooth", &mut || smoother.smooth(&mut out, &rhs, 3).unwrap());
    bits.extend(out.read().unwrap());
    step("NineBandSmoother::apply", &mut || smoother.apply(&mut out, &rhs).unwrap());
    bits.extend(out.read().unwrap());
    bits.iter().map(|v| v.to_bits()).collect()
}

/// Vectors in buffers, and kernels whose vertices are captured.
fn captures(dev: &Device, around: Around<'_>) -> Vec<u32> {
    use texla::BufferVector;
    use texla::kernel::VertexKernel;
    let mut bits: Vec<u32> = Vec::new();
    macro_rules! step {
        ($name:expr, $call:expr) => {{
            let mut result = None;
            around($name, &mut || result = Some($call));
            result.unwrap()
        }};
    }
    let values = uniform(41, 61);
    let mut keep = |values: Vec<f32>| bits.extend(values.iter().map(|v| v.to_bits()));
    let mut x = step!("BufferVector::from_slice", BufferVector::from_slice(dev, &values).unwrap());
    let mut y = step!("BufferVector::zeros", BufferVector::zeros(dev, 127).unwrap());
    step!("BufferVector::write", x.write(&uniform(42, 61)).unwrap());
    let body = "void kernel(int vertex) {
        for (int i = 0; i < 15; i++) y[i] = a[i] + by * b[0] + c[1] * float(vertex); }";
    let inputs = [("a", 15), ("b", 1), ("c", 2)];
    let kernel =
        step!("VertexKernel::new", VertexKernel::<Shift>::new(dev, "sum", inputs, 15, body).unwrap());
    let by = Shift { by: 0.75 };
    step!("VertexKernel::run", kernel.run(&mut y, 1, [&x, &x, &x], &by).unwrap());
    keep(step!("BufferVector::read", y.read().unwrap()));
    step!("run_vertices", kernel.run_vertices(&mut y, 2, 2, [&x, &x, &x], &by).unwrap());
    keep(step!("BufferVector::read_vec4s", y.read_vec4s().unwrap()));
    step!("copy_range", y.copy_range(3, &x, 5..50).unwrap());
    let mut slice = vec![0.0; 127];
    step!("BufferVector::read_into", y.read_into(&mut slice).unwrap());
    keep(slice);
    let mut vector = step!("to_vector", y.to_vector().unwrap());
    keep(vector.read().unwrap());
    step!("BufferVector::set_zero", y.set_zero().unwrap());
    step!("copy_to", y.copy_to(&mut vector).unwrap());
    keep(vector.read().unwrap());
    let twice = step!("from_vector", BufferVector::from_vector(&vector).unwrap());
    keep(twice.read().unwrap());
    step!("copy_from", y.copy_from(&vector).unwrap());
    // Among other work, where the guest has bindings of its own already.
    step!("in a scope", {
        let _scope = dev.scope().unwrap();
        ops::scale(&mut vector, 2.0).unwrap();
        kernel.run(&mut y, 0, [&x, &twice, &x], &by).unwrap();
        ops::add_constant(&mut vector, &twice.to_vector().unwrap(), 1.0).unwrap();
        let masked = ops::sum(&vector).unwrap();
        kernel.run(&mut y, 15, [&twice, &x, &x], &by).unwrap();
        keep(vec![masked.read().unwrap()]);
        keep(y.read().unwrap());
    });
    for (name, result) in [
        ("run past the end", step!("run past the end", kernel.run(&mut y, 18, [&x, &x, &x], &by))),
        ("run with too little", step!("run with too little", kernel.run(&mut y, 0, [&x], &by))),
        ("zeros too large", step!("zeros too large", BufferVector::zeros(dev, usize::MAX).map(|_| ()))),
        ("copy past the end", step!("copy past the end", y.copy_range(100, &x, 0..61))),
        ("bad kernel", {
            let made = step!("bad kernel", VertexKernel::<NoParams>::new(dev, "bad", [], 1, "oops"));
            made.map(|_| ())
        }),
    ] {
        assert!(result.is_err(), "{name}");
    }
    drop((x, y, twice, kernel));
    step!("scope after buffers have dropped", drop(dev.scope().unwrap()));
    bits
}

/// The application draws from a vector's buffer and leaves it bound everywhere; then the vector goes.
#[test]
fn a_buffer_that_the_host_has_bound_may_go() {
    use texla::BufferVector;
    on_both(|dev| {
        let gl = dev.glow();
        let extra = Extra::load();
        let clean = snapshot(&gl, &extra);
        let x = BufferVector::from_slice(dev, &[1.0; 64]).unwrap();
        let targets = [glow::ARRAY_BUFFER, glow::PIXEL_PACK_BUFFER, glow::PIXEL_UNPACK_BUFFER];
        // SAFETY: the context is current; the buffer is alive.
        unsafe {
            targets.iter().for_each(|t| gl.bind_buffer(*t, Some(x.buffer())));
            gl.bind_buffer_base(glow::UNIFORM_BUFFER, 0, Some(x.buffer()));
            gl.bind_buffer_range(glow::UNIFORM_BUFFER, 1, Some(x.buffer()), 0, 64);
            gl.bind_buffer_range(glow::TRANSFORM_FEEDBACK_BUFFER, 0, Some(x.buffer()), 16, 32);
        }
        let bound = snapshot(&gl, &extra);
        let run = || {
            let _scope = dev.scope().unwrap();
            captures(dev, &mut |_, call| call());
        };
        run();
        assert_same(&bound, &snapshot(&gl, &extra), "working");
        {
            // Deleted while the bindings to it are put aside.
            let _scope = dev.scope().unwrap();
            run();
            drop(x);
            dev.trim().unwrap();
        }
        assert_same(&clean, &snapshot(&gl, &extra), "after its deletion");
        run();
    });
}

/// True in a process of the test's own, in which Mesa offers GL 3.3 and ES 3.1 and has these variables, of which it reads
/// each once; else runs that process, and the test is done.
fn alone_with(test: &str, variables: &[(&str, &str)]) -> bool {
    const CHILD: &str = "TEXLA_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let versions = [
        ("MESA_GL_VERSION_OVERRIDE", "3.3"),
        ("MESA_GLSL_VERSION_OVERRIDE", "330"),
        ("MESA_GLES_VERSION_OVERRIDE", "3.1"),
    ];
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, "1")
        .envs(versions.iter().chain(variables).copied())
        .output()
        .unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
    false
}

/// Before GL 4.0 and ES 3.2 draw buffers may blend apart by an extension that texla cannot set: alike they are put back,
/// and different ones are refused.
#[test]
fn draw_buffers_that_blend_apart_by_an_extension_are_refused() {
    if !alone_with("draw_buffers_that_blend_apart_by_an_extension_are_refused", &[]) {
        return;
    }
    on_both(|dev| {
        let (gl, extra) = (dev.glow(), Extra::load());
        let x = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
        let several = "void kernel(ivec2 p, out vec4 a, out vec4 b) { a = x(p); b = 2.0 * a; }";
        let several = Kernel::<NoParams>::with_outputs(dev, "several", ["x"], 2, several).unwrap();
        let run = || {
            let (mut a, mut b) = (Vector::zeros(dev, 2)?, Vector::zeros(dev, 2)?);
            several.run_many(
                [&mut a, &mut b],
                [&x],
                &NoParams,
                Domain::Full,
                Accum::Add,
                Predicate::Always,
            )?;
            b.read()
        };
        assert_eq!(run().unwrap(), [2.0, 4.0]);
        // SAFETY: the context is current.
        unsafe {
            gl.blend_func_separate(glow::SRC_ALPHA, glow::ONE_MINUS_SRC1_COLOR, glow::SRC1_ALPHA, glow::ZERO);
            gl.blend_equation_separate(glow::FUNC_SUBTRACT, glow::MAX);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
        let before = snapshot(&gl, &extra);
        assert_eq!(run().unwrap(), [2.0, 4.0]);
        assert_same(&before, &snapshot(&gl, &extra), "draw buffers alike");
        assert!(blends_apart(&gl));
        // SAFETY: as above.
        unsafe {
            gl.blend_func_draw_buffer(1, glow::DST_COLOR, glow::ONE);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
        let before = snapshot(&gl, &extra);
        if since(&gl, (4, 0), (3, 2)) {
            assert_eq!(run().unwrap(), [2.0, 4.0]);
        } else {
            let error = run().unwrap_err();
            assert!(
                matches!(&error, Error::Unsupported { what, .. } if what.contains("draw buffer")),
                "{error}"
            );
        }
        assert_same(&before, &snapshot(&gl, &extra), "draw buffers apart");
        // SAFETY: as above.
        unsafe {
            gl.blend_func(glow::ONE, glow::ZERO);
            gl.blend_equation(glow::FUNC_ADD);
        }
        assert_eq!(run().unwrap(), [2.0, 4.0]);
    });
}

/// GL 3.3 without ARB_transform_feedback2 has one binding for feedback, the host's: it is put back, and a feedback under
/// way is in the way. Mesa takes extensions away by a variable that it reads once, so this is a process of its own.
#[test]
fn without_feedback_objects_the_one_binding_comes_back() {
    let test = "without_feedback_objects_the_one_binding_comes_back";
    if !alone_with(test, &[("MESA_EXTENSION_OVERRIDE", "-GL_ARB_transform_feedback2")]) {
        return;
    }
    let context = common::harness::headless(texla::gl::Api::Gl33);
    let dev = context.device();
    let mesa = dev.capabilities().renderer.contains("llvmpipe");
    assert!(!mesa || dev.live_objects().transform_feedbacks == 0, "the extension is still there");
    let clean = captures(dev, &mut |_, call| call());
    let host = Host::new(dev.glow());
    for name in ["uniform buffers at indices", "transform feedback buffers at indices", "uniform buffer"] {
        HOSTILE.iter().find(|h| h.name == name).unwrap().set(&host);
    }
    let before = snapshot(&host.gl, &host.extra);
    let bits = captures(dev, &mut |name, call| {
        call();
        assert_same(&before, &snapshot(&host.gl, &host.extra), name);
    });
    assert!(bits == clean, "hostile bindings change results");
    let mut y = texla::BufferVector::zeros(dev, 4).unwrap();
    let body = "void kernel(int vertex) { y[0] = vec4(1.0); }";
    let one = texla::kernel::VertexKernel::<NoParams>::new(dev, "one", [], 1, body).unwrap();
    host.begin_feedback();
    if mesa {
        let error = one.run(&mut y, 0, [], &NoParams).unwrap_err();
        assert!(matches!(&error, Error::Unsupported { what, .. } if what.contains("feedback")), "{error}");
    }
    host.end_feedback();
    one.run(&mut y, 0, [], &NoParams).unwrap();
    assert_eq!(y.read().unwrap(), [1.0; 4]);
}
