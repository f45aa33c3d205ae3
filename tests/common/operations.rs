//! Every operation once, in a small form: the public functions of `ops`, the solvers, and the kinds of kernels. What all
//! sweeps share, so that none forgets one; `tests/architecture.rs` compares this file with what the library exports.

use texla::host::{NineBands, Triplets, problems};
use texla::kernel::{
    Accum, Condition, IterateWhile, Kernel, NoParams, PingPong, Points, PointsKernel, Predicate, SplatKernel,
    VertexKernel, WhileParams,
};
use texla::ops::{self, Accurate, Combine, LinOp, MatmulForm, MatmulSchedule, Part, Reduction, Window};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, Cgls, CglsParams, ConjugateGradient, Direction, GaussSeidel,
    Identity, Jacobi, JacobiProblem, JacobiSchedule, LcpBatch, LcpParams, LcpSolver, Multigrid,
    MultigridParams, NineBandJacobi, NineBandSmoother, Preconditioner, ProjectedJacobi, Smoother, Stationary,
    StationaryParams, Stop, WeightedJacobi, natural_residual, project_out,
};
use texla::{
    BandedMatrix, BufferVector, ColumnStack, Device, FoldedBands, Grid, Layout, Matrix, MatrixFormat, Packed,
    Plane, Result, Scalar, Shape, Side, Sides, SparseFormat, SparseMatrix, Stencil, StoredMatrix, Vector,
};

use super::random::{nonzero, uniform};

/// Runs a step with a name: a sweep looks at what is so before it and after.
pub type Around<'a> = &'a mut dyn FnMut(&str, &mut dyn FnMut());

/// What a step makes, it drops: it leaves its results alone.
type Step<'a> = &'a mut dyn FnMut(&str, &dyn Fn() -> Vec<f32>);

/// Runs every operation as a step of its own; all results in turn.
///
/// [`ops::calibrate`] is none of them: it takes seconds, and decides about products that come after it.
pub fn every(dev: &Device, around: Around<'_>) -> Vec<f32> {
    let mut results = Vec::new();
    let mut step = |name: &str, call: &dyn Fn() -> Vec<f32>| {
        let before = results.len();
        around(name, &mut || results.extend(call()));
        assert!(results.len() > before, "{name} has no result");
    };
    elementwise(dev, &mut step);
    reductions(dev, &mut step);
    dense(dev, &mut step);
    stored(dev, &mut step);
    layouts(dev, &mut step);
    solvers(dev, &mut step);
    complementarity(dev, &mut step);
    kernels(dev, &mut step);
    #[cfg(feature = "pack")]
    packed(dev, &mut step);
    results
}

/// A vector of these values, after `f`.
fn changed(dev: &Device, values: &[f32], f: impl FnOnce(&mut Vector) -> Result<()>) -> Vec<f32> {
    let mut out = Vector::from_slice(dev, values).unwrap();
    f(&mut out).unwrap();
    out.read().unwrap()
}

fn elementwise(dev: &Device, step: Step<'_>) {
    let [x, y, z] = [1, 2, 3].map(|seed| Vector::from_slice(dev, &nonzero(seed, 37)).unwrap());
    let s = Scalar::new(dev, 0.75).unwrap();
    let start = uniform(4, 37);
    let positive: Vec<f32> = start.iter().map(|v| v.abs()).collect();
    let positive = Vector::from_slice(dev, &positive).unwrap();
    let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| step(name, &|| changed(dev, &start, f));
    to("abs", &|out| ops::abs(out, &x));
    to("add", &|out| ops::add(out, &x, &y));
    to("add_constant", &|out| ops::add_constant(out, &x, &s));
    to("axpby", &|out| ops::axpby(out, &s, &x, 0.3, &y));
    to("axpy", &|out| ops::axpy(out, &s, &x, &y));
    to("clamp", &|out| ops::clamp(out, &x, -0.6, &s));
    to("copy", &|out| ops::copy(out, &x));
    to("div", &|out| ops::div(out, &x, &y));
    to("div_or_zero", &|out| ops::div_or_zero(out, &x, &y));
    to("fill", &|out| ops::fill(out, &s));
    to("madad", &|out| ops::madad(out, &x, &y, &z, &x));
    to("max", &|out| ops::max(out, &x, &y));
    to("max_constant", &|out| ops::max_constant(out, &x, 0.2));
    to("min", &|out| ops::min(out, &x, &y));
    to("mul", &|out| ops::mul(out, &x, &y));
    to("mul_add", &|out| ops::mul_add(out, &x, &y, &z));
    to("neg", &|out| ops::neg(out, &x));
    to("reciprocal", &|out| ops::reciprocal(out, &x));
    to("scaled", &|out| ops::scaled(out, &s, &x));
    to("sqrt", &|out| ops::sqrt(out, &positive));
    to("sub", &|out| ops::sub(out, &x, &y));
    to("accumulate", &|out| ops::accumulate(out, &x));
    to("accumulate_product", &|out| ops::accumulate_product(out, &x, &y));
    to("accumulate_scaled", &|out| ops::accumulate_scaled(out, &s, &x));
    to("scale", &|out| ops::scale(out, &s));
    to("scale_and_add", &|out| ops::scale_and_add(out, 0.4, &x));
    to("subtract_scaled", &|out| ops::subtract_scaled(out, &s, &x));
}

fn reductions(dev: &Device, step: Step<'_>) {
    let [x, y] = [5, 6].map(|seed| Vector::from_slice(dev, &uniform(seed, 61)).unwrap());
    let mut to = |name: &str, f: &dyn Fn() -> Result<Scalar>| {
        step(name, &|| vec![f().unwrap().read().unwrap()]);
    };
    let into = |f: &dyn Fn(&mut Scalar) -> Result<()>| {
        let mut out = Scalar::zero(dev)?;
        f(&mut out).map(|()| out)
    };
    to("dot", &|| ops::dot(&x, &y));
    to("dot_into", &|| into(&|out| ops::dot_into(out, &x, &y)));
    to("max_abs", &|| ops::max_abs(&x));
    to("max_element", &|| ops::max_element(&x));
    to("mean", &|| ops::mean(&x));
    to("min_element", &|| ops::min_element(&x));
    to("norm_squared", &|| ops::norm_squared(&x));
    to("nonfinite", &|| ops::nonfinite(&x));
    to("norm2", &|| ops::norm2(&x));
    to("reduce_into", &|| into(&|out| ops::reduce_into(out, Reduction::Sum, &x, None, Window::PAPERS)));
    to("sum", &|| ops::sum(&x));
    step("histogram", &|| {
        ops::histogram(&x, -1.0, 1.0, 5).unwrap().into_iter().map(|count| count as f32).collect()
    });
}

fn dense(dev: &Device, step: Step<'_>) {
    let of = |seed, rows, cols| {
        Matrix::from_rows(dev, Shape::new(rows, cols), &uniform(seed, rows * cols)).unwrap()
    };
    let (a, b, square) = (of(7, 9, 7), of(8, 7, 6), of(9, 9, 9));
    let (at, bt) = (of(10, 7, 9), of(11, 6, 7));
    let (x, y) = (uniform(12, 7), uniform(13, 9));
    let [xs, ys] = [&x, &y].map(|values| Vector::from_slice(dev, values).unwrap());
    let mut to = |name: &str, shape: [usize; 2], f: &dyn Fn(&mut Matrix) -> Result<()>| {
        step(name, &|| {
            let mut c = Matrix::zeros(dev, Shape::new(shape[0], shape[1])).unwrap();
            f(&mut c).unwrap();
            c.read().unwrap()
        });
    };
    to("matmul", [9, 6], &|c| ops::matmul(c, &a, &b));
    to("matmul_at", [9, 6], &|c| ops::matmul_at(c, &at, &b));
    to("matmul_bt", [9, 6], &|c| ops::matmul_bt(c, &a, &bt));
    to("matmul_with", [9, 6], &|c| {
        ops::matmul_with(c, MatmulForm::Plain, &a, &b, MatmulSchedule::OnePass).map(drop)
    });
    to("outer", [9, 7], &|c| ops::outer(c, 0.5, &ys, &xs));
    to("transpose", [7, 9], &|c| ops::transpose(c, &a));
    step("norm1", &|| vec![ops::norm1(&a).unwrap().read().unwrap()]);
    step("norm_inf", &|| vec![ops::norm_inf(&a).unwrap().read().unwrap()]);
    step("trace", &|| vec![ops::trace(&square).unwrap().read().unwrap()]);
}

/// Products with every kind of matrix that is stored otherwise.
fn stored(dev: &Device, step: Step<'_>) {
    let grid = Grid::new_2d(7, 5);
    let (n, csr) = (grid.len(), problems::poisson_2d(7, 5).to_csr());
    let banded = BandedMatrix::from_csr(dev, csr.clone()).unwrap();
    let folded = FoldedBands::from_csr(dev, csr.clone()).unwrap();
    let sparse = SparseMatrix::from_csr(dev, csr.clone(), SparseFormat::Gather).unwrap();
    let chosen = StoredMatrix::new(dev, csr, MatrixFormat::Banded).unwrap();
    let stack = ColumnStack::from_matrix(&banded.to_matrix().unwrap()).unwrap();
    let stencil = Stencil::new(dev, grid, 0.1, [1.0, 2.0, 0.0], Sides::all(Side::WALL)).unwrap();
    let start = uniform(14, n);
    let x = Vector::from_slice(dev, &uniform(15, n)).unwrap();
    let (z, factor) = (Vector::from_slice(dev, &uniform(16, n)).unwrap(), Scalar::new(dev, 0.5).unwrap());
    let dense = banded.to_matrix().unwrap();
    let forms: [(&str, &dyn LinOp); 7] = [
        ("Matrix", &dense),
        ("ColumnStack", &stack),
        ("BandedMatrix", &banded),
        ("FoldedBands", &folded),
        ("SparseMatrix", &sparse),
        ("Stencil", &stencil),
        ("StoredMatrix", &chosen),
    ];
    let terms = Accurate { transposed: false, alpha: -1.0, x: &x, plus: Some((2.0, &z)) };
    for (form, a) in forms {
        let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| {
            step(&format!("{name}, {form}"), &|| changed(dev, &start, f));
        };
        to("product", &|y| ops::product(y, Combine::AddTo(&z), 0.5, a, &x));
        to("product", &|y| ops::product(y, Combine::Accumulate, &factor, a, &x));
        to("product_transposed", &|y| ops::product_transposed(y, Combine::Subtract(&z), 0.5, a, &x));
        to("product_accurate", &|y| ops::product_accurate(y, a, terms).map(drop));
        to("product_part", &|y| ops::product_part(y, a, terms, Part::Error).map(drop));
    }
    let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| step(name, &|| changed(dev, &start, f));
    let ones = [Vector::filled(dev, n, 1.0).unwrap()];
    to("project_out", &|y| project_out(y, &ones));
}

fn layouts(dev: &Device, step: Step<'_>) {
    let values = uniform(16, 35);
    let shape = Shape::new(7, 5);
    let columns = Packed::from_rows(dev, shape, Layout::Column4, &values).unwrap();
    let vector = Vector::from_slice(dev, &values).unwrap();
    let mut plane = Plane::zeros(dev, 7, 5).unwrap();
    ops::unpack(&mut plane, &vector).unwrap();
    step("repack", &|| {
        let mut blocks = columns.repack(Layout::Block2x2).unwrap();
        ops::repack(&mut blocks, &columns).unwrap();
        blocks.read().unwrap()
    });
    step("repack_to_vector", &|| ops::repack_to_vector(&columns).unwrap().read().unwrap());
    step("repack_vector", &|| ops::repack_vector(&vector, shape, Layout::Block2x2).unwrap().read().unwrap());
    step("pack", &|| changed(dev, &[0.0; 35], |out| ops::pack(out, &plane)));
    let to_plane = |width, height, f: &dyn Fn(&mut Plane) -> Result<()>| {
        let mut plane = Plane::zeros(dev, width, height).unwrap();
        f(&mut plane).unwrap();
        plane.read().unwrap()
    };
    step("Plane::write, Plane::read_into, Plane::element", &|| {
        let mut plane = Plane::zeros(dev, 7, 5).unwrap();
        plane.write(&values).unwrap();
        let mut out = vec![0.0; 35];
        plane.read_into(&mut out).unwrap();
        out.push(plane.element(6, 4).unwrap());
        out
    });
    step("ColumnStack::write, ColumnStack::read_into, ColumnStack::element", &|| {
        let mut stack = ColumnStack::zeros(dev, shape).unwrap();
        stack.write(&values).unwrap();
        let mut out = vec![0.0; 35];
        stack.read_into(&mut out).unwrap();
        out.push(stack.element(6, 4).unwrap());
        out
    });
    step("unpack", &|| to_plane(7, 5, &|plane| ops::unpack(plane, &vector)));
    step("unpack_from", &|| to_plane(5, 2, &|plane| ops::unpack_from(plane, &vector, 20)));
}

fn solvers(dev: &Device, step: Step<'_>) {
    let grid = Grid::new_2d(8, 6);
    let (n, stop) = (grid.len(), Stop::relative(1e-4).check_every(4));
    let a = BandedMatrix::from_csr(dev, problems::poisson_2d(8, 6).to_csr()).unwrap();
    let stencil = Stencil::new(dev, grid, 0.0, [1.0, 1.0, 0.0], Sides::all(Side::WALL)).unwrap();
    let b = Vector::from_slice(dev, &uniform(17, n)).unwrap();
    let jacobi = WeightedJacobi::new(&a, 0.8).unwrap();
    let zeros = vec![0.0; n];
    let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| step(name, &|| changed(dev, &zeros, f));
    to("ConjugateGradient", &|x| {
        let report = ConjugateGradient::new(&a, CgParams::default().with_stop(stop))?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("FixedRun", &|x| {
        let run = ConjugateGradient::new(&a, CgParams::default().with_stop(stop))?.iterate(x, &b, 3)?;
        assert_eq!(run.read()?.iterations, 3);
        Ok(())
    });
    to("BiCgStab", &|x| {
        let report = BiCgStab::new(&a, BiCgStabParams::default().with_stop(stop))?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("Cgls", &|x| {
        let report = Cgls::new(&a, CglsParams::default().with_stop(stop))?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("Stationary", &|x| {
        let params = StationaryParams::default().with_stop(Stop::relative(0.1));
        let report = Stationary::new(&a, &jacobi, params)?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("WeightedJacobi", &|x| jacobi.smooth(x, &b, 2));
    to("GaussSeidel", &|x| GaussSeidel::new(&a, 1.2, Direction::Symmetric)?.smooth(x, &b, 1));
    to("Multigrid", &|x| Multigrid::new(&stencil, MultigridParams::default())?.apply(x, &b));
    to("Identity", &|x| Identity.apply(x, &b));
    to("Jacobi", &|x| Jacobi::new(&a)?.apply(x, &b));
    let nine = NineBands::laplace(5).unwrap();
    let (right, start) = (uniform(18, 25), uniform(19, 25));
    let rows = Vector::from_slice(dev, &right).unwrap();
    step("NineBandSmoother", &|| {
        changed(dev, &start, |x| NineBandSmoother::new(dev, &nine, 0.9)?.smooth(x, &rows, 2))
    });
    step("NineBandJacobi", &|| {
        let problem = JacobiProblem { a: &nine, b: &right, x: &start };
        let schedule = JacobiSchedule::best(dev, 5);
        let mut jacobi = NineBandJacobi::new(dev, &[problem], schedule, 0.9).unwrap();
        jacobi.sweep(2).unwrap();
        jacobi.read().unwrap().concat()
    });
}

fn complementarity(dev: &Device, step: Step<'_>) {
    let csr = problems::poisson_2d(6, 5).to_csr();
    let a = SparseMatrix::from_csr(dev, csr.clone(), SparseFormat::Gather).unwrap();
    let b = uniform(20, 30);
    let exact: Vec<f64> = b.iter().map(|b| f64::from(*b)).collect();
    let b = Vector::from_slice(dev, &b).unwrap();
    let zeros = [0.0; 30];
    step("ProjectedJacobi", &|| changed(dev, &zeros, |x| ProjectedJacobi::new(&a, 0.5)?.run(x, &b, 3)));
    step("LcpSolver", &|| {
        changed(dev, &zeros, |x| {
            assert!(LcpSolver::new(&a, LcpParams::default())?.solve(x, &b)?.converged());
            Ok(())
        })
    });
    step("LcpBatch", &|| {
        let batch = LcpBatch::decompose(dev, &csr, &exact).unwrap();
        let mut x = batch.start(&zeros).unwrap();
        assert!(batch.solve(&mut x, LcpParams::default()).unwrap().converged());
        batch.read(&x).unwrap()
    });
    step("natural_residual", &|| vec![natural_residual(&a, &b, &b).unwrap().relative as f32]);
}

fn kernels(dev: &Device, step: Step<'_>) {
    let none = &NoParams;
    let x = Vector::from_slice(dev, &nonzero(21, 45)).unwrap();
    let zeros = [0.0; 45];
    step("Kernel", &|| {
        let body = "vec4 kernel(ivec2 p) { return 2.0 * x(p); }";
        let kernel = Kernel::<NoParams>::new(dev, "twice", ["x"], body).unwrap();
        changed(dev, &zeros, |out| kernel.run(out, [&x], none))
    });
    step("Condition", &|| {
        let body = "bool kernel(ivec2 p) { return x(p).x > 0.0; }";
        let positive = Condition::<NoParams>::new(dev, "positive", ["x"], body).unwrap();
        vec![f32::from(u8::from(positive.mask(&x, [&x], none).unwrap().any().unwrap()))]
    });
    step("IterateWhile", &|| {
        let body = "bool unfinished(ivec2 p, vec4 s) { return s.x < 3.0; }
            vec4 advance(ivec2 p, vec4 s) { return s + abs(x_here()); }";
        let climb = IterateWhile::<NoParams>::new(dev, "climb", ["x"], body).unwrap();
        let [front, back] = [0, 1].map(|_| Vector::zeros(dev, 45).unwrap());
        let mut state = PingPong::new(front, back);
        climb.run(&mut state, [&x], none, WhileParams::default().with_max_passes(9)).unwrap();
        state.front().read().unwrap()
    });
    step("PointsKernel", &|| {
        let body = "void point(int i, out ivec2 texel, out vec4 value) {
            texel = texel_position(i % 3); value = attribute0 + x_texel(i % 2); }";
        let scatter = PointsKernel::<NoParams>::new(dev, "scatter", ["x"], 1, body).unwrap();
        let points = Points::new(dev, &[&[[1.0; 4], [0.5; 4], [0.25; 4], [0.125; 4]]]).unwrap();
        changed(dev, &zeros, |out| scatter.run(out, [&x], &points, none, Accum::Add))
    });
    step("SplatKernel", &|| {
        let place = "void splat(int i, out vec4 r, out vec4 v) { r = attribute0; v = vec4(0.3); }";
        let body = "vec4 kernel(ivec2 p, vec4 v) { return v; }";
        let splats = SplatKernel::<NoParams>::new(dev, "splats", [], 1, place, body).unwrap();
        let points = Points::new(dev, &[&[[1.0, 1.0, 4.0, 3.0], [2.0, 0.0, 9.0, 2.0]]]).unwrap();
        let mut plane = Plane::zeros(dev, 10, 7).unwrap();
        splats.run(&mut plane, [], &points, none, Accum::Add, Predicate::Always).unwrap();
        plane.read().unwrap()
    });
    step("VertexKernel", &|| {
        let body = "void kernel(int vertex) { y[0] = 3.0 * x[0]; }";
        let kernel = VertexKernel::<NoParams>::new(dev, "thrice", [("x", 1)], 1, body).unwrap();
        let x = BufferVector::from_slice(dev, &uniform(22, 4)).unwrap();
        let mut y = BufferVector::zeros(dev, 4).unwrap();
        kernel.run(&mut y, 0, [&x], none).unwrap();
        y.read().unwrap()
    });
}

/// Packed expressions in both stages.
#[cfg(feature = "pack")]
fn packed(dev: &Device, step: Step<'_>) {
    use texla::pack::{LinearExpression, Packing};
    use texla::solve::{FragmentExpression, VertexExpression, VertexGaussSeidel, VertexRungeKutta};
    let n = 8;
    let entries = (0..n).flat_map(|i| [(i, i, 4.0), (i, (i + 1) % n, -1.0), (i, (i + 3) % n, 0.5)]);
    let a = Triplets::from_entries(Shape::new(n, n), entries.collect::<Vec<_>>()).unwrap();
    let affine = LinearExpression::new(&a, &vec![true; n]).unwrap();
    let sweep = LinearExpression::gauss_seidel(&a).unwrap();
    let stage = LinearExpression::ode_stage(&a, &vec![true; n], 0.01).unwrap();
    let packing = Packing::identity(n);
    let (x, b) = (uniform(23, n), uniform(24, n));
    step("FragmentExpression", &|| {
        let [x, b] = [&x, &b].map(|values| Vector::from_slice(dev, values).unwrap());
        let expression = FragmentExpression::new(dev, &affine, &packing).unwrap();
        changed(dev, &vec![0.0; n], |y| expression.apply(y, &x, &b))
    });
    let buffer = |values: &[f32]| BufferVector::from_slice(dev, values).unwrap();
    step("VertexExpression", &|| {
        let mut y = BufferVector::zeros(dev, n).unwrap();
        let expression = VertexExpression::new(dev, &affine, &packing).unwrap();
        expression.apply(&mut y, &buffer(&x), &buffer(&b)).unwrap();
        y.read().unwrap()
    });
    step("VertexGaussSeidel", &|| {
        let mut now = buffer(&x);
        VertexGaussSeidel::new(dev, &sweep, &packing).unwrap().iterate(&mut now, &buffer(&b), 2).unwrap();
        now.read().unwrap()
    });
    step("VertexRungeKutta", &|| {
        let mut next = BufferVector::zeros(dev, n).unwrap();
        let method = VertexRungeKutta::new(dev, &stage, &packing).unwrap();
        method.step(&mut next, &buffer(&x), &buffer(&b.repeat(3))).unwrap();
        next.read().unwrap()
    });
}
