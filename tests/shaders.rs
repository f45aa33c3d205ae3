//! Every file in `glsl/` compiles in both dialects, and is driven through the public API.
#![cfg(feature = "sim")]

mod common;

use std::cell::RefCell;
use std::collections::BTreeSet;

use common::harness::{block_schedules, headless, headless_with, limits, on_both};
use common::operations::every;
use common::random::uniform;
use texla::gl::Api;
use texla::host::{NineBands, Triplets};
use texla::kernel::{Accum, Condition, Kernel, NoParams, Points, PointsKernel, VertexKernel};
use texla::ops::{self, Accurate, Coefficient, Combine, MatmulForm, MatmulSchedule, Reduction, Window};
use texla::sim::fluid::{Fluid, FluidParams};
use texla::sim::wave::{self, Scheme, Wave, WaveParams};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, ConjugateGradient, Direction, GaussSeidel, Identity,
    Jacobi, JacobiProblem, JacobiSchedule, LcpBatch, LcpParams, LcpProblem, LcpSolver, Multigrid,
    MultigridParams, NineBandJacobi, Preconditioner, ProjectedJacobi, Smoother, Stationary, StationaryParams,
    Stop, WeightedJacobi, project_out,
};
use texla::{
    BandedMatrix, BufferVector, ColumnStack, Device, FoldedBands, Grid, Layout, Matrix, Packed, Plane,
    Scalar, Shape, Side, Sides, SparseFormat, SparseMatrix, Stencil, Vector,
};

/// The files below `glsl/`.
fn files() -> BTreeSet<String> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("glsl");
    let mut found = BTreeSet::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found
}

fn poisson() -> Triplets {
    let mut triplets = Triplets::new(Shape::new(6, 6));
    for i in 0..6 {
        triplets.push(i, i, 4.0).unwrap();
        if i > 0 {
            triplets.push(i, i - 1, -1.0).unwrap();
            triplets.push(i - 1, i, -1.0).unwrap();
        }
    }
    triplets
}

fn product(x: &Vector) -> Accurate<'_> {
    Accurate { transposed: false, alpha: 1.0, x, plus: None }
}

fn counting(dev: &Device) {
    let x = Vector::zeros(dev, 8).unwrap();
    let all = Condition::<NoParams>::new(dev, "all", [], "bool kernel(ivec2 p) { return true; }").unwrap();
    assert!(all.mask(&x, [], &NoParams).unwrap().any().unwrap());
}

fn capture(dev: &Device) {
    let body = "void kernel(int vertex) { y[0] = vec4(2.0); }";
    let kernel = VertexKernel::<NoParams>::new(dev, "two", [], 1, body).unwrap();
    let mut y = BufferVector::zeros(dev, 3).unwrap();
    kernel.run(&mut y, 0, [], &NoParams).unwrap();
    assert_eq!(y.read().unwrap(), [2.0; 3]);
}

fn elementwise(dev: &Device) {
    let x = Vector::from_slice(dev, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let y = Vector::from_slice(dev, &[2.0; 6]).unwrap();
    let mut out = Vector::zeros(dev, 6).unwrap();
    let s = Scalar::new(dev, 2.0).unwrap();
    for unary in [ops::copy, ops::neg, ops::abs, ops::sqrt, ops::reciprocal] {
        unary(&mut out, &x).unwrap();
    }
    for binary in [ops::add, ops::sub, ops::mul, ops::div, ops::div_or_zero, ops::max, ops::min] {
        binary(&mut out, &x, &y).unwrap();
    }
    ops::mul_add(&mut out, &x, &y, &x).unwrap();
    for a in [Coefficient::Host(2.0), Coefficient::Device(&s)] {
        ops::fill(&mut out, a).unwrap();
        ops::scaled(&mut out, a, &x).unwrap();
        ops::scale(&mut out, a).unwrap();
        ops::add_constant(&mut out, &x, a).unwrap();
        ops::axpy(&mut out, a, &x, &y).unwrap();
        ops::subtract_scaled(&mut out, a, &x).unwrap();
        for b in [Coefficient::Host(3.0), Coefficient::Device(&s)] {
            ops::axpby(&mut out, a, &x, b, &y).unwrap();
            ops::clamp(&mut out, &x, a, b).unwrap();
        }
    }
}

fn reductions(dev: &Device) {
    for n in [1, 1000] {
        let x = Vector::from_slice(dev, &uniform(1, n)).unwrap();
        let mut out = Scalar::zero(dev).unwrap();
        for reduction in [
            Reduction::Sum,
            Reduction::Dot,
            Reduction::Max,
            Reduction::Min,
            Reduction::MaxAbs,
            Reduction::NonFinite,
        ] {
            let y = (reduction == Reduction::Dot).then_some(&x);
            ops::reduce::reduce_into(&mut out, reduction, &x, y, Window::PAPERS).unwrap();
        }
        ops::norm2(&x).unwrap();
        ops::mean(&x).unwrap();
        if dev.capabilities().float_filter {
            ops::reduce_into(&mut out, Reduction::Mean, &x, None, ops::Windows::Filtered).unwrap();
        }
    }
}

fn histograms(dev: &Device) {
    let x = Vector::from_slice(dev, &uniform(1, 100)).unwrap();
    let mut out = Vector::zeros(dev, 3).unwrap();
    let equal = ops::Histogram::equal_width(dev, -1.0, 1.0, 3).unwrap();
    equal.count(&mut out, &x).unwrap();
    let own = ops::Histogram::new(dev, 3, "float bin(float x) { return x; }").unwrap();
    own.sum(&mut out, &x, &x).unwrap();
}

fn repack(dev: &Device) {
    let x = Packed::from_rows(dev, Shape::new(3, 5), Layout::Column4, &[1.0; 15]).unwrap();
    for layout in [Layout::Folded, Layout::Block2x2, Layout::Single, Layout::Batch4] {
        assert_eq!(x.repack(layout).unwrap().read().unwrap(), [1.0; 15]);
    }
}

/// Every pair of orders between which elements move.
fn dense(dev: &Device) {
    let mut a = Matrix::identity(dev, 5).unwrap();
    assert_eq!(a.diagonal().unwrap().read().unwrap(), [1.0; 5]);
    let v = a.transposed().unwrap().to_vector().unwrap();
    let block =
        Matrix::from_vector_rows(&v, Shape::new(1, 25)).unwrap().block(0, 3, Shape::new(1, 4)).unwrap();
    a.set_block(2, 1, &block).unwrap();
    assert_eq!(a.row(2).unwrap().read().unwrap(), [0.0, 0.0, 0.0, 0.0, 1.0].map(|v: f32| v));
}

fn ones(dev: &Device, rows: usize, cols: usize) -> Matrix {
    Matrix::filled(dev, Shape::new(rows, cols), 1.0).unwrap()
}

fn matmul(dev: &Device) {
    let a = ones(dev, 9, 9);
    let mut c = ones(dev, 9, 9);
    for schedule in [MatmulSchedule::PAPER, MatmulSchedule::OnePass].into_iter().chain(block_schedules(dev)) {
        for form in [MatmulForm::Plain, MatmulForm::TransposedA, MatmulForm::TransposedB] {
            ops::matmul_with(&mut c, form, &a, &a, schedule).unwrap();
            assert_eq!(c.read().unwrap(), [9.0; 81]);
        }
    }
}

fn dense_vector(dev: &Device) {
    let (a, x) = (ones(dev, 90, 90), Vector::filled(dev, 90, 1.0).unwrap());
    let mut y = Vector::zeros(dev, 90).unwrap();
    ops::product(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
    ops::product_transposed(&mut y, Combine::Multiply(&x), 1.0, &a, &x).unwrap();
    ops::product_accurate(&mut y, &a, product(&x)).unwrap();
    assert_eq!(y.read().unwrap(), [90.0; 90]);
    assert_eq!(ops::norm1(&a).unwrap().read().unwrap(), 90.0);
}

fn outer(dev: &Device) {
    let x = Vector::filled(dev, 3, 2.0).unwrap();
    let mut c = ones(dev, 3, 3);
    ops::outer(&mut c, 1.0, &x, &x).unwrap();
    ops::matmul_at(&mut c, &ones(dev, 1, 3), &ones(dev, 1, 3)).unwrap();
    assert_eq!(c.read().unwrap(), [1.0; 9]);
}

fn banded(dev: &Device) {
    let a = BandedMatrix::from_triplets(dev, &poisson()).unwrap();
    let x = Vector::from_slice(dev, &[1.0; 6]).unwrap();
    let mut y = Vector::zeros(dev, 6).unwrap();
    ops::product(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
    ops::product_transposed(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
    assert_eq!(y.read().unwrap(), [3.0, 2.0, 2.0, 2.0, 2.0, 3.0]);
}

fn banded_accurate(dev: &Device) {
    let a = BandedMatrix::from_triplets(dev, &poisson()).unwrap();
    let x = Vector::from_slice(dev, &[1.0; 6]).unwrap();
    let mut y = Vector::zeros(dev, 6).unwrap();
    ops::product_accurate(&mut y, &a, product(&x)).unwrap();
    assert_eq!(y.read().unwrap()[0], 3.0);
}

fn sparse(format: SparseFormat, accurate: bool) -> impl Fn(&Device) {
    move |dev| {
        let a = SparseMatrix::from_triplets(dev, &poisson(), format).unwrap();
        let x = Vector::from_slice(dev, &[1.0; 6]).unwrap();
        let mut y = Vector::zeros(dev, 6).unwrap();
        if accurate {
            ops::product_accurate(&mut y, &a, product(&x)).unwrap();
        } else {
            ops::product_transposed(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
            ops::product(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
        }
        assert_eq!(y.read().unwrap(), [3.0, 2.0, 2.0, 2.0, 2.0, 3.0]);
    }
}

fn cg(schedule: CgSchedule) -> impl Fn(&Device) {
    move |dev| {
        let a = BandedMatrix::from_triplets(dev, &poisson()).unwrap();
        let b = Vector::from_slice(dev, &[1.0; 6]).unwrap();
        let jacobi = Jacobi::new(&a).unwrap();
        for m in [&Identity as &dyn Preconditioner, &jacobi] {
            let mut x = Vector::zeros(dev, 6).unwrap();
            let params = CgParams::default()
                .with_schedule(schedule)
                .with_stop(Stop::relative(1e-5))
                .with_max_iters(20);
            let report = ConjugateGradient::preconditioned(&a, m, params).unwrap().solve(&mut x, &b).unwrap();
            assert!(report.converged());
        }
    }
}

fn stationary(dev: &Device) {
    let a = BandedMatrix::from_triplets(dev, &poisson()).unwrap();
    let b = Vector::from_slice(dev, &[1.0; 6]).unwrap();
    let mut x = Vector::zeros(dev, 6).unwrap();
    let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
    let solver = Stationary::new(&a, &jacobi, StationaryParams::default()).unwrap();
    assert!(solver.solve(&mut x, &b).unwrap().converged());
}

fn coloured(dev: &Device) {
    let a = BandedMatrix::from_triplets(dev, &poisson()).unwrap();
    let b = Vector::from_slice(dev, &[1.0; 6]).unwrap();
    let mut x = Vector::zeros(dev, 6).unwrap();
    GaussSeidel::new(&a, 1.0, Direction::Symmetric).unwrap().smooth(&mut x, &b, 1).unwrap();
    assert!(x.read().unwrap().iter().all(|v| *v > 0.0));
}

/// A system, and a skew-symmetric one for which the residual is no shadow.
fn unsymmetric(dev: &Device) {
    let skew = Triplets::from_entries(Shape::new(2, 2), [(0, 1, 1.0), (1, 0, -1.0)]).unwrap();
    for triplets in [poisson(), skew] {
        let a = BandedMatrix::from_triplets(dev, &triplets).unwrap();
        let n = a.shape().rows;
        let (b, mut x) = (Vector::filled(dev, n, 1.0).unwrap(), Vector::zeros(dev, n).unwrap());
        let solved = BiCgStab::new(&a, BiCgStabParams::default()).unwrap().solve(&mut x, &b);
        assert!(solved.is_ok_and(|report| report.converged()));
    }
}

fn projection(dev: &Device) {
    let mut v = Vector::from_slice(dev, &[1.0, 3.0]).unwrap();
    project_out(&mut v, &[Vector::from_slice(dev, &[1.0; 2]).unwrap()]).unwrap();
    assert_eq!(v.read().unwrap(), [-1.0, 1.0]);
}

fn fixed_sweeps(dev: &Device) {
    let a = BandedMatrix::from_triplets(dev, &poisson()).unwrap();
    let b = Vector::from_slice(dev, &[-2.0; 6]).unwrap();
    let mut x = Vector::zeros(dev, 6).unwrap();
    ProjectedJacobi::new(&a, 1.0).unwrap().run(&mut x, &b, 1).unwrap();
    assert_eq!(x.read().unwrap(), [0.5; 6]);
}

/// One problem, and two with a start worse than none, which is chosen against.
fn complementarity(dev: &Device) {
    let a = BandedMatrix::from_triplets(dev, &poisson()).unwrap();
    let b = Vector::from_slice(dev, &[-1.0; 6]).unwrap();
    let mut x = Vector::zeros(dev, 6).unwrap();
    let report = LcpSolver::new(&a, LcpParams::default()).unwrap().solve(&mut x, &b).unwrap();
    assert!(report.converged());
    let csr = poisson().to_csr();
    let problem = LcpProblem { a: &csr, b: &[-1.0; 6] };
    let batch = LcpBatch::new(dev, &[problem, problem]).unwrap();
    let mut x = batch.start(&[1e30; 12]).unwrap();
    assert!(batch.solve(&mut x, LcpParams::default()).unwrap().converged());
}

/// Compiles an include file in both stages of a user's kernel.
fn include(name: &'static str) -> impl Fn(&Device) {
    move |dev| {
        let body = format!("#include \"{name}\"\nvec4 kernel(ivec2 p) {{ return x(p); }}");
        Kernel::<NoParams>::new(dev, "include", ["x"], &body).unwrap();
        let point = format!(
            "#include \"{name}\"\nvoid point(int i, out ivec2 texel, out vec4 value) {{ texel = ivec2(0); value = x_at(texel); }}"
        );
        PointsKernel::<NoParams>::new(dev, "include", ["x"], 0, &point).unwrap();
    }
}

/// With and without what a define leaves out.
fn stencils(dev: &Device) {
    for (grid, side) in [
        (Grid::new_2d(8, 3), Side::WALL),
        (Grid::new_2d(5, 3), Side::Periodic),
        (Grid::new_3d(4, 3, 2), Side::Periodic),
        (Grid::new_3d(3, 2, 2), Side::Neumann),
    ] {
        let n = grid.len();
        let (x, mut y) = (Vector::filled(dev, n, 1.0).unwrap(), Vector::zeros(dev, n).unwrap());
        for solid in [vec![], (0..n).map(|i| i == 1).collect()] {
            let a = Stencil::with_solids(dev, grid, 1.0, [1.0; 3], Sides::all(side), &solid).unwrap();
            ops::product(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
            ops::product_accurate(&mut y, &a, product(&x)).unwrap();
        }
    }
}

fn stacks(dev: &Device) {
    for (rows, cols) in [(6, 6), (3, 200)] {
        let dense = ones(dev, rows, cols);
        let mut a = ColumnStack::from_matrix(&dense).unwrap();
        let (x, mut y) = (Vector::filled(dev, cols, 1.0).unwrap(), Vector::zeros(dev, rows).unwrap());
        let (mut xt, yt) = (Vector::zeros(dev, cols).unwrap(), Vector::filled(dev, rows, 1.0).unwrap());
        ops::product(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
        ops::product_transposed(&mut xt, Combine::Replace, 1.0, &a, &yt).unwrap();
        ops::product_accurate(&mut y, &a, product(&x)).unwrap();
        ops::product_accurate(&mut xt, &a, Accurate { transposed: true, ..product(&yt) }).unwrap();
        a.set_column(1, &a.column(0).unwrap()).unwrap();
        assert_eq!(a.to_matrix().unwrap().read().unwrap(), dense.read().unwrap());
    }
}

fn folded(dev: &Device) {
    let a = FoldedBands::from_triplets(dev, &poisson()).unwrap();
    let x = Vector::from_slice(dev, &[1.0; 6]).unwrap();
    let mut y = Vector::zeros(dev, 6).unwrap();
    ops::product(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
    ops::product_transposed(&mut y, Combine::Replace, 1.0, &a, &x).unwrap();
    ops::product_accurate(&mut y, &a, product(&x)).unwrap();
    ops::product_accurate(&mut y, &a, Accurate { transposed: true, ..product(&x) }).unwrap();
    assert_eq!(a.to_matrix().unwrap().read().unwrap()[..3], [4.0, -1.0, 0.0]);
    Matrix::from_csr(dev, a.pattern()).unwrap();
}

fn planes(dev: &Device) {
    let mut plane = Plane::zeros(dev, 3, 2).unwrap();
    let mut x = Vector::filled(dev, 6, 1.0).unwrap();
    ops::unpack(&mut plane, &x).unwrap();
    ops::pack(&mut x, &plane).unwrap();
}

/// On rows of whole texels and on others, with and without solid cells.
fn multigrid(dev: &Device) {
    for (nx, ny) in [(32, 20), (33, 20)] {
        let n = nx * ny;
        for solid in [vec![], (0..n).map(|i| i == 1).collect()] {
            let (grid, sides) = (Grid::new_2d(nx, ny), Sides::all(Side::WALL));
            let a = Stencil::with_solids(dev, grid, 1.0, [1.0, 1.0, 0.0], sides, &solid).unwrap();
            let b = Vector::filled(dev, n, 1.0).unwrap();
            let mut x = Vector::zeros(dev, n).unwrap();
            Multigrid::new(&a, MultigridParams::default()).unwrap().apply(&mut x, &b).unwrap();
        }
    }
}

fn points(dev: &Device) {
    let body = "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(0); value = attribute0; }";
    let kernel = PointsKernel::<NoParams>::new(dev, "points", [], 1, body).unwrap();
    let points = Points::new(dev, &[&[[1.0; 4]]]).unwrap();
    let mut y = Vector::zeros(dev, 4).unwrap();
    kernel.run(&mut y, [], &points, &NoParams, Accum::Replace).unwrap();
    assert_eq!(y.read().unwrap(), [1.0; 4]);
}

fn waves(dev: &Device) {
    for scheme in [Scheme::Explicit, Scheme::CrankNicholson] {
        let mut wave = Wave::new(dev, WaveParams::new(9, 7).with_scheme(scheme)).unwrap();
        wave.drop(wave::Drop { centre: [4.0, 3.0], radius: 2.0, height: 1.0, balanced: true }).unwrap();
        wave.step().unwrap();
    }
}

/// All forms of a fluid's kernels: in both dimensions, around obstacles and without.
fn fluids(dev: &Device) {
    for grid in [Grid::new_2d(5, 4), Grid::new_3d(4, 3, 2)] {
        for solid in [vec![], (0..grid.len()).map(|i| i == 6).collect()] {
            let params = FluidParams::new(0.2).with_viscosity(0.1).with_confinement(1.0);
            let mut fluid = Fluid::new(dev, grid, params, &solid).unwrap();
            let mut dye = Vector::filled(dev, grid.len(), 1.0).unwrap();
            let force = Vector::filled(dev, fluid.faces(1).len(), 1.0).unwrap();
            fluid.accelerate([1.0, 0.0, 0.5], 0.1).unwrap();
            fluid.buoyancy(&dye, [0.0, 1.0, 0.5], 0.1).unwrap();
            fluid.force(1, &force, 0.1).unwrap();
            fluid.push([0.5, 0.4, 0.1], 0.3, [1.0, 0.5, 0.2]).unwrap();
            fluid.splat(&mut dye, [0.5, 0.4, 0.1], 0.3, 1.0).unwrap();
            fluid.step(0.1).unwrap();
            fluid.transport(&mut dye, 0.1).unwrap();
            fluid.max_divergence().unwrap();
        }
    }
}

fn ladder(dev: &Device) {
    let a = NineBands::laplace(5).unwrap();
    let problem = JacobiProblem { a: &a, b: &[1.0; 25], x: &[0.0; 25] };
    for schedule in JacobiSchedule::LADDER.into_iter().filter(|s| s.fits(dev, 5)) {
        let mut jacobi = NineBandJacobi::new(dev, &vec![problem; schedule.systems()], schedule, 0.9).unwrap();
        jacobi.sweep(1).unwrap();
        jacobi.read().unwrap();
    }
}

#[test]
fn every_file_compiles_in_both_dialects() {
    let left = RefCell::new(files());
    assert!(left.borrow().len() >= 20);
    let drive = |names: &[&str], run: &dyn Fn(&Device)| {
        for api in Api::ALL {
            // A device of its own: nothing is compiled yet.
            let context = headless(api);
            let before = context.device().counters().compiles;
            run(context.device());
            assert!(context.device().counters().compiles > before, "{names:?} compiled nothing");
        }
        names.iter().for_each(|name| assert!(left.borrow_mut().remove(*name), "there is no file {name}"));
    };
    drive(&["quad.vert", "include/corner.glsl", "elementwise/table.frag"], &elementwise);
    drive(&["reduce/window.frag", "include/window.glsl"], &reductions);
    drive(&["scatter/histogram.vert", "scatter/equal_width.vert"], &histograms);
    drive(&["repack/repack.frag"], &repack);
    drive(&["dense/move.frag", "dense/identity.frag"], &dense);
    drive(
        &[
            "dense/matmul.frag",
            "dense/split.frag",
            "dense/assemble.frag",
            "include/block.glsl",
            "include/exchange.glsl",
        ],
        &matmul,
    );
    drive(&["dense/partial.frag", "dense/total.frag", "dense/accurate.frag"], &dense_vector);
    drive(&["dense/outer.frag"], &outer);
    drive(&["points.frag"], &points);
    drive(&["banded/product.frag"], &banded);
    drive(&["banded/accurate.frag"], &banded_accurate);
    drive(&["stencil/product.frag", "stencil/accurate.frag", "include/stencil.glsl"], &stencils);
    let moves = ["stack/move.frag", "include/stack.glsl"];
    drive(
        &[&moves[..], &["stack/product.frag", "stack/total.frag", "stack/accurate.frag"]].concat(),
        &stacks,
    );
    let folds = ["banded/extend.frag", "banded/fold.frag", "banded/fold_accurate.frag", "banded/dense.frag"];
    drive(&[&folds[..], &["dense/scatter.vert"]].concat(), &folded);
    drive(&["repack/unpack.frag", "repack/pack.frag"], &planes);
    let (passes, includes) = (
        [
            "multigrid/sweep.frag",
            "multigrid/residual.frag",
            "multigrid/restrict.frag",
            "multigrid/correct.frag",
        ],
        ["include/operator.glsl", "include/transfer.glsl"],
    );
    drive(&[passes.as_slice(), &includes].concat(), &multigrid);
    drive(&["sparse/gather.frag"], &sparse(SparseFormat::Gather, false));
    drive(&["sparse/scatter.vert"], &sparse(SparseFormat::Points, false));
    drive(&["sparse/accurate.frag"], &sparse(SparseFormat::Gather, true));
    drive(
        &["solve/alpha_step.frag", "solve/beta_step.frag", "solve/advance.frag", "solve/direction.frag"],
        &cg(CgSchedule::Listing),
    );
    drive(
        &["solve/merged_step.frag", "solve/merged_update.frag", "solve/dots.frag", "include/solver.glsl"],
        &cg(CgSchedule::Merged),
    );
    drive(&["solve/relax.frag", "solve/test.frag", "solve/keep.frag"], &stationary);
    drive(&["solve/colour.frag", "solve/substitute.frag"], &coloured);
    let (scalars, vectors) = (
        ["solve/bicg_alpha.frag", "solve/bicg_omega.frag"],
        ["solve/bicg_half.frag", "solve/bicg_update.frag", "solve/shadow.frag", "include/hash.glsl"],
    );
    drive(&[scalars.as_slice(), &vectors].concat(), &unsymmetric);
    drive(&["solve/coefficient.frag", "include/total.glsl"], &projection);
    drive(&["lcp/fixed.frag"], &fixed_sweeps);
    let (sweeps, estimate) = (
        ["lcp/sweep.frag", "lcp/sums.frag", "lcp/control.frag", "lcp/choose.frag", "include/owner.glsl"],
        ["lcp/start.frag", "lcp/power.frag", "lcp/power_vector.frag", "include/flags.glsl"],
    );
    drive(&[sweeps.as_slice(), &estimate].concat(), &complementarity);
    let fluid = ["advect", "maccormack", "divergence", "gradient", "viscous", "force", "curl", "confine"];
    let fluid = fluid.map(|name| format!("fluid/{name}.frag"));
    let fluid: Vec<&str> = fluid.iter().map(String::as_str).collect();
    let shared = ["include/staggered.glsl", "include/trace.glsl"];
    drive(&[fluid.as_slice(), &shared].concat(), &fluids);
    drive(&["wave/advance.frag", "wave/drop.frag"], &waves);
    let (steps, rows) = (
        ["jacobi/tutorial.frag", "jacobi/neighbours.vert", "include/neighbours.glsl"],
        ["jacobi/packed.frag", "jacobi/pack.frag", "jacobi/unpack.frag"],
    );
    drive(&[steps, rows].concat(), &ladder);
    drive(&["predicate/count.frag"], &counting);
    drive(&["capture.frag"], &capture);
    for name in ["include/prelude.glsl", "include/exact.glsl", "include/layout.glsl"] {
        drive(&[name], &include(name));
    }
    // The probes run when a device is made with limits that are new to this process.
    let unseen = limits().with_max_texture_size(Some(61));
    for api in Api::ALL {
        let context = headless_with(api, unseen.clone());
        assert!(context.device().counters().compiles >= 7, "a probe was left out on {api}");
    }
    left.borrow_mut().retain(|name| !name.starts_with("probe/"));
    assert!(left.borrow().is_empty(), "driven by nothing: {:?}", left.borrow());
}

/// On a device that has compiled nothing, every operation by itself: none lives on what another has left.
#[test]
fn every_operation_compiles_in_both_dialects() {
    for api in Api::ALL {
        let context = headless(api);
        let (mut calls, mut compiled) = (0, 0);
        every(context.device(), &mut |name, call| {
            let before = context.device().counters();
            call();
            let spent = context.device().counters().since(&before);
            assert!(spent.draws > 0, "{name} draws nothing on {api}");
            calls += 1;
            compiled += usize::from(spent.compiles > 0);
        });
        assert!(calls > 80 && compiled > calls / 2, "{compiled} of {calls} steps have compiled on {api}");
    }
}

/// Both forms of a fetch, and all ways in which an input can lie against a target, in both stages.
#[test]
fn the_generated_accessors_compile() {
    on_both(|dev| {
        let body = "vec4 kernel(ivec2 p) {
            return x(p) + x_at(p) + x_texel(1) + x_shifted(-1) + vec4(x_element(2u)) + x_value() + vec4(x_extent(), 0, 0)
                + vec4(texel_index(p)) + vec4(texel_position(1), 0, 0); }";
        let kernel = Kernel::<NoParams>::new(dev, "all", ["x"], body).unwrap();
        let mut y = Vector::zeros(dev, 64).unwrap();
        let programs = dev.live_objects().programs;
        for n in [64, 1, 100] {
            kernel.run(&mut y, [&Vector::zeros(dev, n).unwrap()], &NoParams).unwrap();
        }
        let odd = Packed::from_rows(dev, Shape::new(16, 5), Layout::Column4, &[0.0; 80]).unwrap();
        kernel.run(&mut y, [&odd], &NoParams).unwrap();
        assert_eq!(dev.live_objects().programs - programs, 3, "one program for each fold");
        kernel.run(&mut y, [&odd], &NoParams).unwrap();
        assert_eq!(dev.live_objects().programs - programs, 3, "and no more on further runs");
    });
}
