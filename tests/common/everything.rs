//! The one list of everything: what the public functions of `ops`, the solvers, data, kernels and simulations do on the
//! device, each a step in a small form. What all sweeps share, so that none forgets one; `tests/architecture.rs` compares
//! this list with what the library exports.

mod data;
mod kernels;
mod sim;

use std::time::Duration;

use texla::host::{NearNullSpace, NineBands, Triplets, problems};
use texla::ops::{
    self, Accurate, Combine, ExactSum, Histogram, LinOp, MatmulForm, MatmulSchedule, Part, Product,
    Reduction, Shades, Window, Windows,
};
use texla::profile::DeviceProfile;
use texla::script::{Interpreter, parse};
use texla::solve::{
    AggregationMultigrid, AggregationParams, Attempt, Auto, AutoParams, BiCgStab, BiCgStabParams,
    BlockJacobi, CgParams, CgSchedule, Cgls, CglsParams, Chebyshev, ChebyshevParams, Choice, ChoiceParams,
    Chosen, ConjugateGradient, DirectUse, Direction, FixedRun, FlexibleCgParams, FlexibleConjugateGradient,
    Fsai, GaussSeidel, Gmres, GmresParams, HostSystem, HostSystemParams, Identity, IluParams,
    IncompleteCholesky, IncompleteLu, Jacobi, JacobiProblem, JacobiSchedule, LcpBatch, LcpParams, LcpProblem,
    LcpSolver, MethodKind, Minres, MinresParams, Multigrid, MultigridParams, NineBandJacobi,
    NineBandSmoother, Preconditioner, PreconditionerKind, ProjectedJacobi, Recurrence, Slice, Smoother,
    Solving, Spai, Stationary, StationaryParams, Stop, WeightedJacobi, natural_residual, project_out,
};
use texla::{
    BandedMatrix, ColumnStack, Device, DoubleVector, Error, FoldedBands, Grid, Layout, Matrix, MatrixFormat,
    Packed, Picture, Plane, Result, Scalar, Shape, Side, Sides, SparseFormat, SparseMatrix, Stencil,
    StencilParams, StoredMatrix, Vector,
};

use super::harness::{block_schedules, fitting};
use super::random::{nonzero, uniform};

/// Runs a step with a name: a sweep looks at what is so before it and after.
pub type Around<'a> = &'a mut dyn FnMut(&str, &mut dyn FnMut());

/// What a step makes, it drops: it leaves its results alone.
pub type Step<'a> = &'a mut dyn FnMut(&str, &dyn Fn() -> Vec<f32>);

/// Runs everything, a step at a time; all results in turn. A step may run again, and then leaves no more behind.
///
/// [`ops::calibrate`] is none of them: it takes seconds, and decides about products that come after it. Of
/// [`DeviceProfile::measure`] only the shortest form is here.
pub fn every(dev: &Device, around: Around<'_>) -> Vec<f32> {
    PARTS.iter().flat_map(|part| part.run(dev, around)).collect()
}

/// Some of the steps, with the data that they share.
#[derive(Clone, Copy)]
pub struct Steps(pub fn(&Device, Step<'_>));

impl Steps {
    /// Runs them as [`every`] does. Who is called around a step may leave it out.
    pub fn run(self, dev: &Device, around: Around<'_>) -> Vec<f32> {
        collect(around, |step| self.0(dev, step))
    }
}

/// All of them. None needs what another has made.
pub const PARTS: &[Steps] = &[
    Steps(data::vectors),
    Steps(data::layouts),
    Steps(data::pictures),
    Steps(data::matrices),
    Steps(data::forms),
    Steps(data::buffers),
    Steps(elementwise),
    Steps(reductions),
    Steps(histograms),
    Steps(dense),
    Steps(stored),
    Steps(layouts),
    Steps(solvers),
    Steps(stationary),
    Steps(grids),
    Steps(aggregation),
    Steps(complementarity),
    Steps(kernels::quads),
    Steps(kernels::masks),
    Steps(kernels::points),
    Steps(kernels::vertices),
    #[cfg(feature = "pack")]
    Steps(packed),
    Steps(sim::waves),
    Steps(sim::fluids),
    Steps(scripts),
    Steps(profiles),
];

/// The steps that draw into buffers.
pub fn captures(dev: &Device, around: Around<'_>) -> Vec<f32> {
    collect(around, |step| {
        data::buffers(dev, step);
        kernels::vertices(dev, step);
    })
}

/// The steps that draw in every way: to parts of a target, to several, onto what is there, where a mask lets them.
pub fn draws(dev: &Device, around: Around<'_>) -> Vec<f32> {
    collect(around, |step| {
        kernels::quads(dev, step);
        kernels::masks(dev, step);
    })
}

fn collect(around: Around<'_>, steps: impl FnOnce(Step<'_>)) -> Vec<f32> {
    let mut results = Vec::new();
    steps(&mut |name, call| {
        around(name, &mut || {
            let made = call();
            assert!(!made.is_empty(), "{name} has no result");
            results.extend(made);
        });
    });
    results
}

/// What a device can do or not: refused where it cannot, and no other error.
fn if_able<T: std::fmt::Debug>(able: bool, done: Result<T>) -> Option<T> {
    if able {
        return Some(done.unwrap());
    }
    match done {
        Err(Error::Unsupported { .. }) => None,
        done => panic!("refused by no device: {:?}", done.unwrap()),
    }
}

/// What takes exact sums of two floats.
fn if_exact<T: std::fmt::Debug>(dev: &Device, done: Result<T>) -> Option<T> {
    if_able(dev.capabilities().exact_form.is_some(), done)
}

/// A matrix times a vector.
fn product(a: &dyn LinOp) -> Vec<f32> {
    let x = Vector::from_slice(a.device(), &uniform(41, a.shape().cols)).unwrap();
    changed(a.device(), &vec![0.0; a.shape().rows], |y| ops::product(y, Combine::Replace, 1.0, a, &x))
}

/// A vector of these values, after `f`.
fn changed(dev: &Device, values: &[f32], f: impl FnOnce(&mut Vector) -> Result<()>) -> Vec<f32> {
    let mut out = Vector::from_slice(dev, values).unwrap();
    f(&mut out).unwrap();
    out.read().unwrap()
}

fn elementwise(dev: &Device, step: Step<'_>) {
    let n = fitting(dev, 1237);
    let [x, y, z] = [1, 2, 3].map(|seed| Vector::from_slice(dev, &nonzero(seed, n)).unwrap());
    let s = Scalar::new(dev, 0.75).unwrap();
    let start = uniform(4, n);
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
    // As much as takes several passes.
    let n = fitting(dev, 1237);
    let [x, y] = [5, 6].map(|seed| Vector::from_slice(dev, &uniform(seed, n)).unwrap());
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
    for reduction in [
        Reduction::Sum,
        Reduction::Dot,
        Reduction::Max,
        Reduction::Min,
        Reduction::MaxAbs,
        Reduction::NonFinite,
    ] {
        let y = (reduction == Reduction::Dot).then_some(&y);
        to("reduce_into", &|| into(&|out| ops::reduce_into(out, reduction, &x, y, Window::PAPERS)));
    }
    // Filtered and fetched in turn: each has to find its own sampler on the unit.
    to("reduce_into, filtered", &|| {
        into(&|out| {
            let done = ops::reduce_into(out, Reduction::Sum, &x, None, Windows::Filtered)
                .and_then(|()| ops::sum(&x).map(drop))
                .and_then(|()| ops::reduce_into(out, Reduction::Mean, &x, None, Windows::Filtered));
            match if_able(dev.capabilities().float_filter, done) {
                Some(()) => Ok(()),
                None => ops::reduce_into(out, Reduction::Mean, &x, None, Windows::Balanced),
            }
        })
    });
    to("sum", &|| ops::sum(&x));
}

fn histograms(dev: &Device, step: Step<'_>) {
    let [x, w] = [31, 32].map(|seed| Vector::from_slice(dev, &uniform(seed, fitting(dev, 1000))).unwrap());
    let floats = |counts: Vec<u64>| counts.into_iter().map(|count| count as f32).collect::<Vec<_>>();
    let zeros = [0.0; 9];
    let own = || Histogram::new(dev, 9, "float bin(float x) { return 4.5 + 4.0 * x; }").unwrap();
    let equal = || Histogram::equal_width(dev, -1.0, 1.0, 9).unwrap();
    let (made, even) = (own(), equal());
    step("Histogram::new", &|| changed(dev, &zeros, |out| own().count(out, &x)));
    step("Histogram::equal_width", &|| changed(dev, &zeros, |out| equal().sum(out, &x, &w)));
    step("Histogram::count", &|| changed(dev, &zeros, |out| even.count(out, &x)));
    step("Histogram::sum", &|| changed(dev, &zeros, |out| made.sum(out, &x, &w)));
    step("Histogram::counts", &|| floats(made.counts(&x).unwrap()));
    step("histogram", &|| floats(ops::histogram(&x, -1.0, 1.0, 5).unwrap()));
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
    let schedules = [MatmulSchedule::Auto, MatmulSchedule::PAPER, MatmulSchedule::OnePass];
    for schedule in schedules.into_iter().chain(block_schedules(dev)) {
        for (form, a, b) in [
            (MatmulForm::Plain, &a, &b),
            (MatmulForm::TransposedA, &at, &b),
            (MatmulForm::TransposedB, &a, &bt),
        ] {
            to("matmul_with", [9, 6], &|c| ops::matmul_with(c, form, a, b, schedule).map(drop));
        }
    }
    to("matmul_workload, on the host", [1, 1], &|_| {
        ops::matmul_workload(dev, MatmulForm::Plain, a.shape(), b.shape(), MatmulSchedule::OnePass).map(drop)
    });
    to("outer", [9, 7], &|c| ops::outer(c, 0.5, &ys, &xs));
    to("transpose", [7, 9], &|c| ops::transpose(c, &a));
    // The longest rows and the longest columns are summed in ranges.
    let (large, long) = (of(25, 90, 90), Vector::from_slice(dev, &uniform(26, 90)).unwrap());
    let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| {
        step(name, &|| changed(dev, &[0.5; 90], f));
    };
    to("product, 90 columns", &|y| ops::product(y, Combine::Replace, 1.0, &large, &long));
    to("product, 90 rows", &|y| ops::product_transposed(y, Combine::Multiply(&long), 1.0, &large, &long));
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
    let points = SparseMatrix::from_csr(dev, csr.clone(), SparseFormat::Points);
    let points = if_able(dev.capabilities().float_blend, points);
    let chosen = StoredMatrix::new(dev, csr, MatrixFormat::Banded).unwrap();
    let stack = ColumnStack::from_matrix(&banded.to_matrix().unwrap()).unwrap();
    let params = StencilParams::new([1.0, 2.0, 0.0], Sides::all(Side::WALL)).with_shift(0.1);
    let stencil = Stencil::new(dev, grid, params).unwrap();
    let start = uniform(14, n);
    let x = Vector::from_slice(dev, &uniform(15, n)).unwrap();
    let (z, factor) = (Vector::from_slice(dev, &nonzero(16, n)).unwrap(), Scalar::new(dev, 0.5).unwrap());
    let dense = banded.to_matrix().unwrap();
    let forms: [(&str, Option<&dyn LinOp>); 8] = [
        ("Matrix", Some(&dense)),
        ("ColumnStack", Some(&stack)),
        ("BandedMatrix", Some(&banded)),
        ("FoldedBands", Some(&folded)),
        ("SparseMatrix", Some(&sparse)),
        ("SparseMatrix of points", points.as_ref().map(|points| points as &dyn LinOp)),
        ("Stencil", Some(&stencil)),
        ("StoredMatrix", Some(&chosen)),
    ];
    let terms = Accurate { transposed: false, alpha: -1.0, x: &x, plus: Some((2.0, &z)) };
    let back = Accurate { transposed: true, plus: None, ..terms };
    let more = [Combine::Divide(&z), Combine::Max(&z), Combine::Min(&z), Combine::Multiply(&z)];
    for (i, (form, a)) in forms.into_iter().enumerate() {
        let Some(a) = a else { continue };
        let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| {
            step(&format!("{name}, {form}"), &|| changed(dev, &start, f));
        };
        to("product", &|y| ops::product(y, Combine::AddTo(&z), 0.5, a, &x));
        to("product", &|y| ops::product(y, Combine::Accumulate, &factor, a, &x));
        to("product_transposed", &|y| ops::product_transposed(y, Combine::Subtract(&z), 0.5, a, &x));
        to("product", &|y| ops::product(y, more[i % 4], 0.5, a, &x));
        to("product_transposed", &|y| ops::product_transposed(y, more[(i + 1) % 4], 1.0, a, &x));
        to("product_accurate", &|y| ops::product_accurate(y, a, terms).map(drop));
        to("product_accurate", &|y| ops::product_accurate(y, a, back).map(drop));
        to("product_part", &|y| ops::product_part(y, a, terms, Part::Error).map(drop));
        let summed = |mut sum: ExactSum| {
            let done = sum.add_product(a, -1.0, false, &x).unwrap();
            assert_eq!(done, dev.capabilities().exact_form.is_some());
            [sum.rounded().read().unwrap(), sum.error().read().unwrap()].concat()
        };
        let pairs = || DoubleVector::from_vector(&z).unwrap();
        let mut to = |name: &str, f: &dyn Fn() -> Vec<f32>| step(&format!("{name}, {form}"), f);
        to("ExactSum::of", &|| ExactSum::of(2.0, &pairs()).unwrap().rounded().read().unwrap());
        to("ExactSum::add_product", &|| summed(ExactSum::of(2.0, &pairs()).unwrap()));
        to("ExactSum::bounding", &|| summed(ExactSum::bounding(2.0, &pairs()).unwrap()));
    }
    let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| step(name, &|| changed(dev, &start, f));
    for combine in more.into_iter().chain([Combine::SubtractFrom(&z)]) {
        to("Product::finish", &|y| Product { combine, alpha: (&factor).into(), x: &x }.finish(y, &z));
    }
    let ones = [Vector::filled(dev, n, 1.0).unwrap()];
    to("project_out", &|y| project_out(y, &ones));
}

fn layouts(dev: &Device, step: Step<'_>) {
    let values = uniform(16, 35);
    let shape = Shape::new(7, 5);
    let columns = Packed::from_rows(dev, shape, Layout::Column4, &values).unwrap();
    let vector = Vector::from_slice(dev, &values).unwrap();
    let mut plane = Plane::zeros(dev, 7, 5).unwrap();
    ops::vector_to_plane(&mut plane, &vector).unwrap();
    step("repack", &|| {
        let mut blocks = columns.repack(Layout::Block2x2).unwrap();
        ops::repack(&mut blocks, &columns).unwrap();
        blocks.read().unwrap()
    });
    step("repack_to_vector", &|| ops::repack_to_vector(&columns).unwrap().read().unwrap());
    step("repack_vector", &|| ops::repack_vector(&vector, shape, Layout::Block2x2).unwrap().read().unwrap());
    step("plane_to_vector", &|| changed(dev, &[0.0; 35], |out| ops::plane_to_vector(out, &plane)));
    let to_plane = |width, height, f: &dyn Fn(&mut Plane) -> Result<()>| {
        let mut plane = Plane::zeros(dev, width, height).unwrap();
        f(&mut plane).unwrap();
        plane.read().unwrap()
    };
    step("vector_to_plane", &|| to_plane(7, 5, &|plane| ops::vector_to_plane(plane, &vector)));
    step("vector_to_picture", &|| {
        let mut picture = Picture::new(dev, 7, 5).unwrap();
        ops::vector_to_picture(&mut picture, &vector, &Shades::viridis(-1.0, 1.0)).unwrap();
        picture.read().unwrap().into_iter().flatten().map(f32::from).collect()
    });
    step("slice_to_plane", &|| to_plane(5, 2, &|plane| ops::slice_to_plane(plane, &vector, 20)));
}

fn solvers(dev: &Device, step: Step<'_>) {
    let (n, stop) = (48, Stop::relative(1e-4).check_every(4));
    let a = BandedMatrix::from_csr(dev, problems::poisson_2d(8, 6).to_csr()).unwrap();
    let b = Vector::from_slice(dev, &uniform(17, n)).unwrap();
    let zeros = vec![0.0; n];
    let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| step(name, &|| changed(dev, &zeros, f));
    let diagonal = Jacobi::new(&a).unwrap();
    for schedule in [CgSchedule::Listing, CgSchedule::Merged, CgSchedule::Fused] {
        for m in [&Identity as &dyn Preconditioner, &diagonal] {
            to("ConjugateGradient", &|x| {
                let params = CgParams::default().with_schedule(schedule).with_stop(stop);
                let report = ConjugateGradient::preconditioned(&a, m, params)?.solve(x, &b)?;
                assert!(report.converged(), "{report:?}");
                Ok(())
            });
        }
    }
    to("ConjugateGradient for pairs", &|x| {
        let mut pairs = DoubleVector::zeros(dev, n)?;
        let solver = ConjugateGradient::new(&a, CgParams::default().with_stop(Stop::relative(1e-9)))?;
        let report = if_exact(dev, solver.solve(&mut pairs, &b));
        assert!(report.is_none_or(|report| report.converged()));
        ops::copy(x, pairs.high())
    });
    for m in [&Identity as &dyn Preconditioner, &diagonal] {
        to("ConjugateGradient in pairs", &|x| {
            let mut pairs = DoubleVector::zeros(dev, n)?;
            let params =
                CgParams::default().with_stop(Stop::relative(1e-9)).with_recurrence(Recurrence::Double);
            let solver = ConjugateGradient::preconditioned(&a, m, params)?;
            let report = if_exact(dev, solver.solve(&mut pairs, &b));
            assert!(report.is_none_or(|report| report.converged()));
            ops::copy(x, pairs.high())
        });
    }
    to("FixedRun", &|x| {
        let run: FixedRun =
            ConjugateGradient::new(&a, CgParams::default().with_stop(stop))?.iterate(x, &b, 3)?;
        assert_eq!(run.read()?.iterations, 3);
        Ok(())
    });
    to("FixedRun from zero", &|x| {
        let cg = ConjugateGradient::new(&a, CgParams::default().with_stop(stop))?;
        let (own, run) = cg.iterate_from_zero(&b, 3)?;
        assert_eq!(run.read()?.iterations, 3);
        ops::copy(x, &own)
    });
    to("BiCgStab", &|x| {
        let report = BiCgStab::new(&a, BiCgStabParams::default().with_stop(stop))?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("BiCgStab(2)", &|x| {
        let params = BiCgStabParams::default().with_stop(stop).with_ell(2);
        let report = BiCgStab::preconditioned(&a, &Jacobi::new(&a)?, params)?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("Gmres", &|x| {
        let report = Gmres::new(&a, GmresParams::default().with_stop(stop))?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("FlexibleConjugateGradient", &|x| {
        let m = Spai::new(&a, 1)?;
        let params = FlexibleCgParams::default().with_stop(stop);
        let report = FlexibleConjugateGradient::preconditioned(&a, &m, params)?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("Minres", &|x| {
        let m = Jacobi::absolute(&a)?;
        let report = Minres::preconditioned(&a, &m, MinresParams::default().with_stop(stop))?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("SaddlePoint", &|x| {
        // The first row of a grid tied to the last one.
        let ties = (0..8).flat_map(|k| [(40 + k, k, 1.0), (40 + k, 32 + k, -1.0)]);
        let ties = ties.flat_map(|(i, j, v)| [(i, j, v), (j, i, v)]);
        let grid = problems::poisson_2d(8, 5).to_csr();
        let saddle = Triplets::from_entries(Shape::new(n, n), grid.entries().chain(ties))?.to_csr();
        let saddle = StoredMatrix::new(dev, saddle, SparseFormat::Gather)?;
        let m = texla::solve::SaddlePoint::new(&saddle)?;
        let report =
            Minres::preconditioned(&saddle, &m, MinresParams::default().with_stop(stop))?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("Cgls", &|x| {
        let report = Cgls::new(&a, CglsParams::default().with_stop(stop))?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("Identity", &|x| Identity.apply(x, &b));
    to("Jacobi", &|x| Jacobi::new(&a)?.apply(x, &b));
    to("BlockJacobi", &|x| BlockJacobi::new(&a)?.apply(x, &b));
    to("Chebyshev", &|x| Chebyshev::new(&a, ChebyshevParams::default())?.apply(x, &b));
    to("Fsai", &|x| Fsai::new(&a, 2)?.apply(x, &b));
    to("Spai", &|x| Spai::new(&a, 1)?.apply(x, &b));
    to("IncompleteLu", &|x| IncompleteLu::new(&a, IluParams::default())?.apply(x, &b));
    #[cfg(feature = "direct")]
    to("SparseFactors", &|x| {
        // By itself it draws nothing.
        let m = texla::solve::SparseFactors::new(&a)?;
        let report = Gmres::preconditioned(&a, &m, GmresParams::default().with_stop(stop))?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("IncompleteCholesky", &|x| IncompleteCholesky::new(&a, 1e-2)?.apply(x, &b));
    to("Auto", &|x| {
        // What is tried by itself stands in its own steps.
        let jacobi = Choice::new(MethodKind::Cg, PreconditionerKind::Jacobi);
        let params = AutoParams::default().with_stop(stop).with_choices(vec![jacobi]);
        let report = Auto::new(&a, params)?.solve(x, &b)?;
        assert!(report.converged(), "{report}");
        Ok(())
    });
    to("HostSystem", &|x| {
        let jacobi = Choice::new(MethodKind::Cg, PreconditionerKind::Jacobi);
        let auto = AutoParams::default().with_stop(stop).with_choices(vec![jacobi]);
        let params = HostSystemParams::default().with_auto(auto).with_direct(DirectUse::Never);
        let system = HostSystem::new(dev, a.pattern().clone(), params)?;
        let right: Vec<f64> = (0..a.shape().rows).map(|i| 1.0 + (i % 3) as f64).collect();
        let (found, report) = system.solve(&right)?;
        if let Some(error) = report.given_up.into_iter().find_map(Attempt::into_error) {
            return Err(error);
        }
        x.write(&found.into_iter().map(|v| v as f32).collect::<Vec<_>>())
    });
    to("Solving", &|x| {
        let solver = ConjugateGradient::new(&a, CgParams::default().with_stop(stop))?;
        let mut solving: Solving<'_, _, _> = solver.begin(x, &b);
        while !solving.advance(Slice::iterations(2))?.done {}
        assert!(solving.finish().1?.converged());
        Ok(())
    });
    to("Chosen", &|x| {
        let choice = Choice::new(MethodKind::Cg, PreconditionerKind::BlockJacobi);
        let chosen: Chosen<'_> = choice.prepare(&a, ChoiceParams::default().with_stop(stop))?;
        let report = chosen.solve(x, &b)?;
        assert!(report.converged(), "{report}");
        Ok(())
    });
}

/// Stationary methods, on a closed box too, and what sweeps do for others.
fn stationary(dev: &Device, step: Step<'_>) {
    let (grid, n) = (Grid::new_2d(20, 9), 180);
    let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::Neumann));
    let closed = Stencil::new(dev, grid, params).unwrap();
    let wind = problems::poisson_2d(20, 9).to_csr();
    let blown = wind.entries().map(|(i, j, v)| (i, j, if j + 1 == i { 2.0 * v } else { 2.0 * v.abs() * v }));
    let blown = Triplets::from_entries(Shape::new(n, n), blown.collect::<Vec<_>>()).unwrap();
    let a = BandedMatrix::from_triplets(dev, &blown).unwrap();
    let b = Vector::from_slice(dev, &uniform(9, n)).unwrap();
    let mut free = Vector::from_slice(dev, &uniform(10, n)).unwrap();
    project_out(&mut free, closed.null_space()).unwrap();
    let zeros = vec![0.0; n];
    let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| step(name, &|| changed(dev, &zeros, f));
    to("project_out", &|x| {
        x.write(&uniform(10, n))?;
        project_out(x, closed.null_space())
    });
    to("project_out of pairs", &|x| {
        let mut pairs = DoubleVector::from_vector(&Vector::from_slice(dev, &uniform(10, n))?)?;
        if_exact(dev, project_out(&mut pairs, closed.null_space()));
        ops::copy(x, pairs.high())
    });
    let jacobi = WeightedJacobi::new(&closed, 0.8).unwrap();
    to("Stationary", &|x| {
        let params = StationaryParams::default().with_stop(Stop::relative(1e-3));
        let report = Stationary::new(&closed, &jacobi, params)?.solve(x, &free)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    to("Stationary for pairs", &|x| {
        let (mut pairs, gs) =
            (DoubleVector::zeros(dev, n)?, GaussSeidel::new(&a, 1.0, Direction::Symmetric)?);
        let params = StationaryParams::default().with_stop(Stop::relative(1e-9));
        let solver = Stationary::new(&a, &gs, params)?;
        let report = if_exact(dev, solver.solve(&mut pairs, &b));
        assert!(report.is_none_or(|report| report.converged()));
        ops::copy(x, pairs.high())
    });
    to("WeightedJacobi", &|x| WeightedJacobi::new(&closed, 0.8)?.smooth(x, &free, 2));
    to("GaussSeidel", &|x| GaussSeidel::new(&a, 1.2, Direction::Symmetric)?.smooth(x, &b, 1));
    let gs = GaussSeidel::new(&a, 1.0, Direction::Symmetric).unwrap();
    to("smooth by Gauss-Seidel", &|x| gs.smooth(x, &b, 2));
    to("apply Gauss-Seidel", &|x| gs.apply(x, &b));
    to("BiCgStab, preconditioned", &|x| {
        let report = BiCgStab::preconditioned(&a, &gs, BiCgStabParams::default())?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    let cycles = GmresParams::default().with_restart(5).with_flexible(true);
    to("Gmres, preconditioned", &|x| {
        let report = Gmres::preconditioned(&a, &gs, cycles)?.solve(x, &b)?;
        assert!(report.converged(), "{report:?}");
        Ok(())
    });
    // Skew-symmetric: the residual is no shadow.
    to("BiCgStab, another shadow", &|_| {
        let skew = Triplets::from_entries(Shape::new(2, 2), [(0, 1, 1.0), (1, 0, -1.0)])?;
        let skew = BandedMatrix::from_triplets(dev, &skew)?;
        let (b, mut x) = (Vector::filled(dev, 2, 1.0)?, Vector::zeros(dev, 2)?);
        assert!(BiCgStab::new(&skew, BiCgStabParams::default())?.solve(&mut x, &b)?.converged());
        Ok(())
    });
    let nine = NineBands::laplace(7).unwrap();
    let (right, start) = (uniform(21, 49), uniform(22, 49));
    let rows = Vector::from_slice(dev, &right).unwrap();
    step("NineBandSmoother", &|| {
        changed(dev, &start, |x| NineBandSmoother::new(dev, &nine, 0.9)?.smooth(x, &rows, 3))
    });
    let smoother = NineBandSmoother::new(dev, &nine, 0.9).unwrap();
    step("apply nine bands", &|| changed(dev, &start, |x| smoother.apply(x, &rows)));
    let problem = JacobiProblem { a: &nine, b: &right, x: &start };
    for schedule in JacobiSchedule::LADDER.into_iter().filter(|s| s.fits(dev, 7)) {
        let sweep = || {
            let problems = vec![problem; schedule.systems()];
            let mut jacobi = NineBandJacobi::new(dev, &problems, schedule, 0.9).unwrap();
            jacobi.sweep(2).unwrap();
            jacobi.read().unwrap().concat()
        };
        match schedule {
            JacobiSchedule::HostLoop | JacobiSchedule::HostBands => step("nine bands on the host", &sweep),
            _ => step("NineBandJacobi", &sweep),
        }
    }
}

/// Operators on grids and multigrid: rows of whole texels and others, with solid cells and without.
fn grids(dev: &Device, step: Step<'_>) {
    for (grid, side, holes) in [
        (Grid::new_2d(40, 16), Side::WALL, 0),
        (Grid::new_2d(32, 20), Side::WALL, 600),
        (Grid::new_2d(33, 20), Side::WALL, 0),
        (Grid::new_2d(33, 17), Side::Neumann, 50),
    ] {
        let (n, sides) = (grid.len(), Sides::all(side));
        let solid: Vec<bool> = (0..n).map(|i| holes > 0 && i % holes == 20).collect();
        let params = StencilParams::new([1.0, 1.0, 0.0], sides).with_shift(0.1).with_solid(&solid);
        let a = Stencil::new(dev, grid, params).unwrap();
        let x = Vector::from_slice(dev, &uniform(5, n)).unwrap();
        let zeros = vec![0.0; n];
        let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| {
            step(name, &|| changed(dev, &zeros, f));
        };
        to("product on a grid", &|y| ops::product(y, Combine::AddTo(&x), 1.5, &a, &x));
        let terms = Accurate { transposed: false, alpha: 1.0, x: &x, plus: Some((1.0, &x)) };
        to("product_accurate on a grid", &|y| ops::product_accurate(y, &a, terms).map(drop));
        to("Multigrid", &|y| Multigrid::new(&a, MultigridParams::default())?.apply(y, &x));
        let m = Multigrid::new(&a, MultigridParams::default()).unwrap();
        to("apply multigrid", &|y| m.apply(y, &x));
        to("smooth by multigrid", &|y| m.smooth(y, &x, 1));
    }
}

/// Multigrid by aggregation: a constant diagonal and another one, and a matrix without connections that is too large to be
/// solved.
fn aggregation(dev: &Device, step: Step<'_>) {
    let plane = problems::poisson_2d(21, 17).to_csr();
    let of = |value: &dyn Fn(usize, usize, f64) -> f64| {
        let values: Vec<f64> = plane.entries().map(|(i, j, v)| value(i, j, v)).collect();
        StoredMatrix::new(dev, plane.with_values(&values).unwrap(), MatrixFormat::Auto).unwrap()
    };
    let grid = of(&|_, _, v| v);
    step("Multigrid::of_matrix", &|| {
        let x = Vector::from_slice(dev, &uniform(5, plane.shape().rows)).unwrap();
        changed(dev, &vec![0.0; x.len()], |y: &mut Vector| {
            Multigrid::of_matrix(&grid, MultigridParams::default())?.apply(y, &x)
        })
    });
    let rows = |i: usize| 1.0 + (i % 3) as f64;
    for a in
        [of(&|_, _, v| v), of(&|i, j, v| v * rows(i) * rows(j)), of(&|i, j, v| if i == j { v } else { 0.0 })]
    {
        let x = Vector::from_slice(dev, &uniform(5, a.shape().rows)).unwrap();
        let zeros = vec![0.0; x.len()];
        let mut to = |name: &str, f: &dyn Fn(&mut Vector) -> Result<()>| {
            step(name, &|| changed(dev, &zeros, f));
        };
        let params = AggregationParams::default();
        to("AggregationMultigrid", &|y| AggregationMultigrid::new(&a, params)?.apply(y, &x));
        let copy = || StoredMatrix::new(dev, a.pattern().clone(), MatrixFormat::Auto);
        to("StoredMatrix::with_near_null_space", &|y| {
            let near = copy()?.with_near_null_space(NearNullSpace::new(vec![vec![2.0; x.len()]])?)?;
            AggregationMultigrid::new(&near, params)?.apply(y, &x)
        });
        to("StoredMatrix::with_null_space", &|y| {
            // Rows that sum to zero.
            let rest = |i: usize| -a.pattern().row(i).filter(|(j, _)| *j != i).map(|(_, v)| v).sum::<f64>();
            let entries = a.pattern().entries().map(|(i, j, v)| if i == j { rest(i) } else { v });
            let mut floating = copy()?;
            floating.set_values(&entries.collect::<Vec<_>>())?;
            let floating = floating.with_null_space(&[vec![1.0; x.len()]])?;
            let b = Vector::zeros(dev, x.len())?;
            ConjugateGradient::new(&floating, CgParams::default())?.solve(y, &b).map(|_| ())
        });
        to("StoredMatrix::set_values", &|y| {
            let mut other = copy()?;
            other.set_values(&a.pattern().values().iter().map(|v| 2.0 * v).collect::<Vec<_>>())?;
            ops::product(y, Combine::Replace, 1.0, &other, &x)
        });
        let m = AggregationMultigrid::new(&a, params.with_sweeps(2)).unwrap();
        to("apply aggregation", &|y| m.apply(y, &x));
        to("smooth by aggregation", &|y| m.smooth(y, &x, 1));
    }
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
    step("LcpSolver for pairs", &|| {
        changed(dev, &zeros, |x| {
            let mut pairs = DoubleVector::zeros(dev, x.len())?;
            let params = LcpParams::default().with_stop(Stop::relative(1e-9));
            let report = if_exact(dev, LcpSolver::new(&a, params)?.solve(&mut pairs, &b));
            assert!(report.is_none_or(|report| report.converged()));
            ops::copy(x, pairs.high())
        })
    });
    step("LcpBatch", &|| {
        let batch = LcpBatch::decompose(dev, &csr, &exact).unwrap();
        let mut x = batch.start(&zeros).unwrap();
        assert!(batch.solve(&mut x, LcpParams::default()).unwrap().converged());
        batch.read(&x).unwrap()
    });
    step("LcpBatch, two problems", &|| {
        let problem = LcpProblem { a: &csr, b: &exact };
        let batch = LcpBatch::new(dev, &[problem, problem]).unwrap();
        // Worse than no start, which is chosen against.
        let mut x = batch.start(&[1e30; 60]).unwrap();
        assert!(batch.solve(&mut x, LcpParams::default()).unwrap().converged());
        batch.read(&x).unwrap()
    });
    step("LcpBatch::begin", &|| {
        let batch = LcpBatch::decompose(dev, &csr, &exact).unwrap();
        let mut x = batch.start(&zeros).unwrap();
        let mut solving = batch.begin(&mut x, LcpParams::default());
        solving.advance(Slice::iterations(8)).unwrap();
        assert!(solving.finish().1.unwrap().converged());
        batch.read(&x).unwrap()
    });
    step("natural_residual", &|| vec![natural_residual(&a, &b, &b).unwrap().relative as f32]);
    step("natural_residual of pairs", &|| {
        let pairs = DoubleVector::from_vector(&b).unwrap();
        let found = if_exact(dev, natural_residual(&a, &pairs, &pairs));
        vec![found.map_or(0.0, |found| found.relative) as f32]
    });
}

fn scripts(dev: &Device, step: Step<'_>) {
    step("Interpreter", &|| {
        let mut interpreter = Interpreter::new(dev);
        interpreter.set("A", Matrix::identity(dev, 9).unwrap()).unwrap();
        let lines = "b = A(:, 2) + 1\nx = (A * A' + A) \\ b\nz = lcp(sparse(A), x - 2)\nprint(x, z)";
        interpreter.run(&parse(lines, "").unwrap(), &mut std::io::sink()).unwrap();
        interpreter.get("z").unwrap().read().unwrap()
    });
}

fn profiles(dev: &Device, step: Step<'_>) {
    step("DeviceProfile::measure_within", &|| {
        let profile = DeviceProfile::measure_within(dev, Duration::ZERO).unwrap();
        // Times are never the same; that there are some is.
        vec![f32::from(u8::from(profile.draw > 0.0 && profile.readback > 0.0))]
    });
}

/// Packed expressions in both stages.
#[cfg(feature = "pack")]
fn packed(dev: &Device, step: Step<'_>) {
    use texla::BufferVector;
    use texla::pack::{LinearExpression, Order, Packing, RepeatedExpression, StencilBoundary::*};
    use texla::solve::{
        BlockExpression, BlockLayout, BlockOperator, BlockParams, BlockUse, EnhancedBlockJacobi,
        FragmentExpression, VertexExpression, VertexGaussSeidel, VertexRungeKutta,
    };
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
    // A line of 61 has more quads than are brought back in one pass.
    let (grid, order) = (Grid::new_2d(61, 3), Order::identity(61));
    let taps =
        [([0, 0, 0], 4.0), ([-1, 0, 0], -1.0), ([1, 0, 0], -1.0), ([0, 1, 0], -1.0), ([0, -1, 0], -1.0)];
    let sides = [[Dropped; 2], [Copied, Dropped], [Dropped; 2]];
    let lines = RepeatedExpression::stencil(grid, 1, &taps, sides, true).unwrap();
    let start = uniform(25, grid.len());
    step("BlockExpression", &|| {
        let expression = BlockExpression::new(dev, &lines, &order).unwrap();
        let x = expression.pack(&Vector::from_slice(dev, &start).unwrap()).unwrap();
        let mut y = expression.zeros().unwrap();
        expression.apply(&mut y, &x, &x).unwrap();
        expression.iterate(&mut y, &x, 2, Direction::Symmetric).unwrap();
        changed(dev, &start, |out| expression.unpack(out, &y))
    });
    // Quads apart in colour, so that several go together.
    let coloured: Vec<usize> = [0, 8].iter().flat_map(|odd| (0..8).map(move |k| 2 * k + odd / 8)).collect();
    let coloured: Vec<usize> = coloured.iter().flat_map(|quad| 4 * quad..4 * quad + 4).collect();
    let coloured = Order::new(61, &coloured).unwrap();
    let stacked = BlockParams::default().with_layout(BlockLayout::Stacked);
    let together = BlockParams::default().with_targets(usize::MAX);
    let single = together.with_layout(BlockLayout::Single);
    for (name, params) in [
        ("BlockExpression, stacked", stacked),
        ("BlockExpression, together", together),
        ("BlockExpression, single", single),
    ] {
        step(name, &|| {
            let expression = BlockExpression::with(dev, &lines, &coloured, params).unwrap();
            let x = expression.pack(&Vector::from_slice(dev, &start).unwrap()).unwrap();
            let mut y = expression.zeros().unwrap();
            expression.apply(&mut y, &x, &x).unwrap();
            expression.iterate(&mut y, &x, 2, Direction::Symmetric).unwrap();
            changed(dev, &start, |out| expression.unpack(out, &y))
        });
    }
    step("EnhancedBlockJacobi, chosen", &|| {
        let (jacobi, _) = EnhancedBlockJacobi::chosen(dev, &lines).unwrap();
        let b = Vector::from_slice(dev, &start).unwrap();
        changed(dev, &start, |x| jacobi.smooth(x, &b, 2))
    });
    step("BlockExpression, chosen", &|| {
        let (expression, _) = BlockExpression::chosen(dev, &lines, BlockUse::Apply).unwrap();
        let x = expression.pack(&Vector::from_slice(dev, &start).unwrap()).unwrap();
        let mut y = expression.zeros().unwrap();
        expression.apply(&mut y, &x, &x).unwrap();
        changed(dev, &start, |out| expression.unpack(out, &y))
    });
    step("BlockOperator, chosen", &|| {
        let (a, _) = BlockOperator::chosen(dev, &lines).unwrap();
        let x = Vector::from_slice(dev, &start).unwrap();
        changed(dev, &start, |y| ops::product(y, Combine::Accumulate, 0.5, &a, &x))
    });
    step("BlockOperator::with", &|| {
        let sides = Sides { y: [Side::Neumann, Side::DIRICHLET], ..Sides::all(Side::DIRICHLET) };
        let exact = Stencil::new(dev, grid, StencilParams::new([1.0, 1.0, 0.0], sides)).unwrap();
        let a = BlockOperator::with(exact, &lines, &order, stacked).unwrap();
        let x = Vector::from_slice(dev, &start).unwrap();
        let terms = ops::Accurate { transposed: false, alpha: 2.0, x: &x, plus: None };
        changed(dev, &start, |y| {
            ops::product(y, Combine::Replace, 1.0, &a, &x)?;
            ops::product_accurate(y, &a, terms).map(|_| ())
        })
    });
    step("EnhancedBlockJacobi", &|| {
        let jacobi = EnhancedBlockJacobi::new(dev, &lines, &order).unwrap();
        let b = Vector::from_slice(dev, &start).unwrap();
        let mut z = Vector::zeros(dev, grid.len()).unwrap();
        jacobi.apply(&mut z, &b).unwrap();
        changed(dev, &z.read().unwrap(), |x| jacobi.smooth(x, &b, 2))
    });
    step("EnhancedBlockJacobi::from_stencil", &|| {
        let sides = Sides { y: [Side::WALL, Side::Neumann], ..Sides::all(Side::DIRICHLET) };
        let a = Stencil::new(dev, grid, StencilParams::new([1.0, 1.0, 0.0], sides)).unwrap();
        let jacobi = EnhancedBlockJacobi::from_stencil(&a, None).unwrap();
        let b = Vector::from_slice(dev, &start).unwrap();
        changed(dev, &start, |x| jacobi.smooth(x, &b, 2))
    });
    step("EnhancedBlockJacobi::renewed", &|| {
        let of = |shift| {
            let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::DIRICHLET)).with_shift(shift);
            Stencil::new(dev, grid, params).unwrap()
        };
        let jacobi = EnhancedBlockJacobi::from_stencil(&of(0.0), Some(&order)).unwrap();
        let (jacobi, b) = (jacobi.renewed(&of(2.0)).unwrap(), Vector::from_slice(dev, &start).unwrap());
        changed(dev, &start, |x| jacobi.smooth(x, &b, 2))
    });
}
