//! Calls of the public API that come to an error or to no good end, beside the one list of everything.
#![allow(unsafe_code)]

use texla::host::{NineBands, Triplets, problems};
use texla::kernel::{Condition, Domain, Kernel, NoParams, VertexKernel};
use texla::ops::{self, Histogram};
use texla::script::{Interpreter, ScriptError, parse};
use texla::sim::fluid::{Fluid, FluidParams};
use texla::sim::wave::{Scheme, Wave, WaveParams};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, ConjugateGradient, JacobiProblem, JacobiSchedule, LcpParams,
    LcpSolver, NineBandJacobi, ProjectedJacobi, Relaxation, Stationary, StationaryParams, Stop, StopReason,
    WeightedJacobi,
};
use texla::{
    BandedMatrix, BufferVector, Device, Error, FoldedBands, Grid, Matrix, Plane, Result, Shape, Side, Sides,
    SparseFormat, SparseMatrix, Stencil, StencilParams, Vector,
};

use super::everything::{Around, every};
use super::harness::fitting;
use super::state::since;

texla::params! { struct Shift { by: f32 } }

/// What the public API does on the device, one call a step: the one list, and what no other sweep asks for. The results
/// as bits.
pub fn everything(dev: &Device, around: Around<'_>) -> Vec<u32> {
    let bits = every(dev, around).into_iter().map(f32::to_bits).collect();
    refusals(dev, around);
    around("scope after drops", &mut || drop(dev.scope().unwrap()));
    around("finish", &mut || dev.finish().unwrap());
    around("trim", &mut || dev.trim().unwrap());
    bits
}

/// Calls that come to an error or to no good end.
pub fn refusals(dev: &Device, around: Around<'_>) {
    macro_rules! fails {
        ($name:expr, $call:expr, $error:pat) => {
            around($name, &mut || {
                let result = $call.map(|_| ());
                assert!(matches!(result, Err($error)), "{}: {result:?}", $name);
            })
        };
    }
    let mut out = Vector::zeros(dev, fitting(dev, 1237)).unwrap();
    let (x, three) = (Vector::zeros(dev, out.len()).unwrap(), Vector::zeros(dev, 3).unwrap());
    fails!("shape", ops::dot(&x, &three), Error::ShapeMismatch { .. });
    let (mut c, dense) =
        (Matrix::zeros(dev, Shape::new(23, 23)).unwrap(), Matrix::zeros(dev, Shape::new(23, 17)).unwrap());
    fails!("matmul of shapes", ops::matmul(&mut c, &dense, &dense), Error::ShapeMismatch { .. });
    fails!("large matrix", Matrix::zeros(dev, Shape::new(1 << 20, 1 << 20)), Error::TooLarge { .. });
    fails!("not finite", Vector::from_slice(dev, &[1.0, f32::NAN]), Error::NonFinite { .. });
    fails!("too large", Vector::zeros(dev, usize::MAX), Error::TooLarge { .. });
    fails!("a plane past the texture size", Plane::zeros(dev, 1 << 20, 1), Error::TooLarge { .. });
    let oblong = Triplets::new(Shape::new(2, 3));
    fails!("a matrix that is not square", FoldedBands::from_triplets(dev, &oblong), Error::Matrix { .. });
    let wall = Sides::all(Side::WALL);
    around("Stencil, refused", &mut || {
        let params = StencilParams::new([1.0; 3], wall).with_shift(f64::NAN);
        assert!(Stencil::new(dev, Grid::new_2d(2, 2), params).is_err());
    });
    let raw = x.texture();
    if dev.api() == texla::gl::Api::Gl33 || since(&dev.glow(), (9, 9), (3, 1)) {
        // SAFETY: the texture is alive while the borrow is.
        let wrong = || unsafe { Vector::from_texture(dev, raw, 1, 1) };
        fails!("from_texture of a wrong size", wrong(), Error::Unsupported { .. });
    }

    let kernel = |body: &str| Kernel::<NoParams>::new(dev, "bad", [], body);
    fails!("compile", kernel("vec4 kernel(ivec2 p) { oops }"), Error::Shader { .. });
    fails!("link", kernel("vec4 f(); vec4 kernel(ivec2 p) { return f(); }"), Error::Shader { .. });
    fails!("include", kernel("vec4 kernel(ivec2 p) {\n#include \"no\"\n}"), Error::Include { .. });
    // Passes the compiler of one dialect, and the linker but not the interface.
    let converting = "vec4 kernel(ivec2 p) { return 2 * vec4(p, p); }";
    fails!("dialect", kernel(converting), Error::Shader { .. });
    let hidden = "#define U uniform\nU float stray; vec4 kernel(ivec2 p) { return vec4(stray); }";
    fails!("hidden", kernel(hidden), Error::Interface { .. });
    let undeclared = "uniform float stray; vec4 kernel(ivec2 p) { return vec4(stray); }";
    fails!("interface", kernel(undeclared), Error::Interface { .. });
    let body = "vec4 kernel(ivec2 p) { return x(p) + by; }";
    let (shift, by) = (Kernel::<Shift>::new(dev, "shift", ["x"], body).unwrap(), Shift { by: 1.0 });
    fails!("run", shift.run(&mut out, [&x, &x], &by), Error::Interface { .. });
    let condition = || Condition::<NoParams>::new(dev, "bad", [], "bool kernel(ivec2 p) { oops }");
    fails!("condition", condition(), Error::Shader { .. });
    fails!("row", shift.with([&x], &by).on(Domain::Row(9999)).run(&mut out), Error::IndexOutOfRange { .. });
    let bin = "float bin(float x) { oops }";
    fails!("Histogram::new, wrong", Histogram::new(dev, 9, bin), Error::Shader { .. });
    refused_captures(dev, around);

    let csr = problems::poisson_2d(9, 7).to_csr();
    let (b63, mut x63) = (Vector::filled(dev, 63, 1.0).unwrap(), Vector::zeros(dev, 63).unwrap());
    let banded = BandedMatrix::from_csr(dev, csr.clone()).unwrap();
    let negative: Vec<f64> = csr.values().iter().map(|v| -v).collect();
    let changed = BandedMatrix::from_csr(dev, csr.with_values(&negative).unwrap()).unwrap();
    let solver = ConjugateGradient::new(&changed, CgParams::default()).unwrap();
    around("breakdown", &mut || {
        let report = solver.solve(&mut x63, &b63).unwrap();
        assert_eq!(report.reason, StopReason::Breakdown);
    });
    let no_p_matrix = Triplets::from_dense(Shape::new(2, 2), &[1.0, -3.0, -3.0, 1.0]).unwrap();
    let no_p_matrix = SparseMatrix::from_triplets(dev, &no_p_matrix, SparseFormat::Gather).unwrap();
    let fixed = LcpParams::default().with_relaxation(Relaxation::Fixed(1.0));
    let solver = LcpSolver::new(&no_p_matrix, fixed).unwrap();
    let (b2, mut x2) = (Vector::filled(dev, 2, -1.0).unwrap(), Vector::zeros(dev, 2).unwrap());
    fails!("divergence", solver.solve(&mut x2, &b2), Error::Breakdown { .. });
    fails!("negative relaxation", ProjectedJacobi::new(&banded, -0.1), Error::Parameter { .. });
    around("an inconsistent system", &mut || {
        let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::Neumann));
        let closed = Stencil::new(dev, Grid::new_2d(9, 7), params).unwrap();
        let jacobi = WeightedJacobi::new(&closed, 0.8).unwrap();
        let params = StationaryParams::default().with_stop(Stop::relative(1e-3));
        let refused = Stationary::new(&closed, &jacobi, params).unwrap().solve(&mut x63, &b63);
        assert!(matches!(refused, Err(Error::Inconsistent { .. })), "{refused:?}");
    });
    around("a breakdown of BiCGStab", &mut || {
        let zero = Triplets::from_entries(Shape::new(3, 3), [(0, 0, 0.0)]).unwrap();
        let zero = BandedMatrix::from_triplets(dev, &zero).unwrap();
        let (b, mut x) = (Vector::filled(dev, 3, 1.0).unwrap(), Vector::zeros(dev, 3).unwrap());
        let report = BiCgStab::new(&zero, BiCgStabParams::default()).unwrap().solve(&mut x, &b).unwrap();
        assert_eq!(report.reason, StopReason::Breakdown, "{report:?}");
    });
    let (nine, zeros) = (NineBands::laplace(7).unwrap(), [0.0; 49]);
    let problem = JacobiProblem { a: &nine, b: &zeros, x: &zeros };
    around("NineBandJacobi::new, refused", &mut || {
        assert!(NineBandJacobi::new(dev, &[problem], JacobiSchedule::Packed { rows: 3 }, 1.0).is_err());
    });

    let params = WaveParams::new(9, 7).with_scheme(Scheme::Explicit).with_dt(2.0);
    around("Wave::new, refused", &mut || assert!(Wave::new(dev, params).is_err()));
    for scheme in [Scheme::Explicit, Scheme::CrankNicholson] {
        let mut wave = Wave::new(dev, WaveParams::new(9, 7).with_scheme(scheme)).unwrap();
        around("Wave::step_forced, refused", &mut || assert!(wave.step_forced(&x63, f64::NAN).is_err()));
    }
    let grid = Grid::new_2d(9, 7);
    around("Fluid::new, refused", &mut || {
        assert!(Fluid::new(dev, grid, FluidParams::new(0.0), &[]).is_err());
    });
    let mut fluid = Fluid::new(dev, grid, FluidParams::new(0.1), &[]).unwrap();
    around("Fluid::step, refused", &mut || assert!(fluid.step(f64::NAN).is_err()));
    around("Fluid::transport, refused", &mut || assert!(fluid.transport(&mut x63, 0.0).is_err()));

    let mut interpreter = Interpreter::new(dev);
    interpreter.set("A", Matrix::identity(dev, 9).unwrap()).unwrap();
    interpreter.set("x", Vector::zeros(dev, 9).unwrap()).unwrap();
    let wrong = parse("y = A * x\ny = A * y'", "").unwrap();
    fails!("a script", interpreter.run(&wrong, &mut std::io::sink()), ScriptError { line: 2, .. });
}

/// Mistakes of those who draw into buffers; the buffers have dropped in the end.
pub fn refused_captures(dev: &Device, around: Around<'_>) {
    let body = "void kernel(int vertex) {
        for (int i = 0; i < 15; i++) y[i] = a[i] + by * b[0] + c[1] * float(vertex); }";
    let inputs = [("a", 15), ("b", 1), ("c", 2)];
    let kernel = VertexKernel::<Shift>::new(dev, "sum", inputs, 15, body).unwrap();
    let (x, mut y) = (BufferVector::zeros(dev, 61).unwrap(), BufferVector::zeros(dev, 127).unwrap());
    let by = Shift { by: 0.75 };
    let mut refused = |name: &str, call: &mut dyn FnMut() -> Result<()>| {
        around(name, &mut || assert!(call().is_err(), "{name}"));
    };
    refused("run past the end", &mut || kernel.run(&mut y, 18, [&x, &x, &x], &by));
    refused("run with too little", &mut || kernel.run(&mut y, 0, [&x], &by));
    refused("zeros too large", &mut || BufferVector::zeros(dev, usize::MAX).map(drop));
    refused("copy past the end", &mut || y.copy_range(100, &x, 0..61));
    refused("bad kernel", &mut || VertexKernel::<NoParams>::new(dev, "bad", [], 1, "oops").map(drop));
    drop((x, y, kernel));
    around("scope after buffers have dropped", &mut || drop(dev.scope().unwrap()));
}
