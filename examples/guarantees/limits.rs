//! Devices that can do less: results stay within their bounds, and what is past a limit is refused before anything is allocated.

use texla::gl::{Api, Limits};
use texla::host::problems;
use texla::ops::{self, Combine, OutOfRange, ReducePlan, Windows};
use texla::solve::{CgParams, ConjugateGradient, Stop};
use texla::{
    DeviceOptions, Error, Headless, HeadlessOptions, Matrix, Plane, Result, Shape, SparseFormat,
    SparseMatrix, Vector,
};

use crate::common::random::{nonzero, wide_range};
use crate::common::{bounds, harness, histogram, reference, systems, threads};

/// The lesser devices, by what they lack.
pub fn lesser() -> [(&'static str, Limits); 5] {
    let none = Limits::default();
    [
        ("textures of 64", none.clone().with_max_texture_size(Some(64))),
        ("textures of 1,024", none.clone().with_max_texture_size(Some(1024))),
        ("4 draw buffers", none.clone().with_max_draw_buffers(Some(4))),
        ("no float blending", none.clone().without_float_blend(true)),
        ("no float filters, no capture", none.without_float_filter(true).with_max_vertex_outputs(Some(0))),
    ]
}

/// How many results, and how many of them are out of their bounds against the same in 64 bits.
pub fn wrong(api: Api, limits: Limits) -> Result<(usize, usize)> {
    let context = harness::headless_with(api, limits);
    let dev = context.device();
    let (mut looked, mut wrong) = (0, 0);
    let mut check = |found: &[f32], exact: &[f64], bounds: &[f64]| {
        looked += exact.len();
        let out = |((found, exact), bound): ((&f32, &f64), &f64)| {
            let within = (f64::from(*found) - exact).abs() <= *bound;
            !within
        };
        wrong += found.iter().zip(exact).zip(bounds).filter(|one| out(*one)).count();
        wrong += exact.len().abs_diff(found.len());
    };

    let n = 10_007;
    let (x, y) = (wide_range(1, n, 4), nonzero(2, n));
    let (wide_x, wide_y) = (reference::widen(&x), reference::widen(&y));
    let (x, y) = (Vector::from_slice(dev, &x)?, Vector::from_slice(dev, &y)?);
    let mut z = Vector::zeros(dev, n)?;
    ops::axpby(&mut z, 0.75, &x, -1.25, &y)?;
    let sizes = reference::axpby(0.75, &reference::abs(&wide_x), 1.25, &reference::abs(&wide_y));
    check(
        &z.read()?,
        &reference::axpby(0.75, &wide_x, -1.25, &wide_y),
        &bounds::product_bounds(&sizes, vec![2; n]),
    );
    let dot = ops::dot(&x, &y)?.read()?;
    let chain = ReducePlan::new(x.extent(), Windows::Balanced).longest_chain() as usize;
    let bound = bounds::reduction_bound(chain, reference::abs_dot(&wide_x, &wide_y));
    check(&[dot], &[reference::dot(&wide_x, &wide_y)], &[bound]);

    // Counts have no error, on whatever way.
    let (bins, ends) = (61, [-3.0, 5.0]);
    let counts = ops::histogram(&x, ends[0], ends[1], bins)?;
    let positions = wide_x.iter().map(|v| histogram::equal_width(*v as f32, ends[0], ends[1], bins));
    let expected = histogram::counts(positions, bins, OutOfRange::Clamp);
    check(
        &counts.iter().map(|count| *count as f32).collect::<Vec<_>>(),
        &expected.iter().map(|count| *count as f64).collect::<Vec<_>>(),
        &vec![0.0; bins],
    );

    let a = problems::poisson_2d(60, 53).to_csr();
    let xs = nonzero(3, a.shape().cols);
    let wide = reference::widen(&xs);
    let operator = SparseMatrix::from_csr(dev, a.clone(), SparseFormat::Gather)?;
    let (x, mut y) = (Vector::from_slice(dev, &xs)?, Vector::zeros(dev, a.shape().rows)?);
    ops::product(&mut y, Combine::Replace, 1.0, &operator, &x)?;
    let bounds = bounds::product_bounds(&systems::apply_abs(&a, &wide), systems::row_terms(&a));
    check(&y.read()?, &systems::apply(&a, &wide), &bounds);

    // More than one tile of the smallest textures in each direction.
    let (rows, inner, cols) = (261, 67, 73);
    let (left, right) = (nonzero(4, rows * inner), nonzero(5, inner * cols));
    let exact = reference::matmul(&reference::widen(&left), &reference::widen(&right), rows, inner, cols);
    let [of_left, of_right] = [&left, &right].map(|values| reference::abs(&reference::widen(values)));
    let sizes = reference::matmul(&of_left, &of_right, rows, inner, cols);
    let mut c = Matrix::zeros(dev, Shape::new(rows, cols))?;
    let [left, right] = [(rows, inner, &left), (inner, cols, &right)]
        .map(|(rows, cols, values)| Matrix::from_rows(dev, Shape::new(rows, cols), values));
    ops::matmul(&mut c, &left?, &right?)?;
    check(&c.read()?, &exact, &bounds::product_bounds(&sizes, vec![inner; rows * cols]));

    // A verdict of the device, and what 64 bits say.
    let values = systems::rhs_of_ones(&a);
    let (b, mut u) = (Vector::from_f64(dev, &values)?, Vector::zeros(dev, values.len())?);
    let params = CgParams::default().with_stop(Stop::relative(1e-5));
    let report = ConjugateGradient::new(&operator, params)?.solve(&mut u, &b)?;
    let residual = systems::relative_residual(&a, &u.read()?, &values);
    check(&[if report.converged() { 0.0 } else { 1.0 }, residual as f32], &[0.0, 0.0], &[0.0, 1e-5]);
    Ok((looked, wrong))
}

/// Requests past all limits, and how many were no typed error or allocated something.
pub fn overflows(api: Api) -> (usize, usize) {
    let context = harness::headless(api);
    let dev = context.device();
    let huge = [usize::MAX, usize::MAX / 4, 1 << 60, 1 << 40];
    let shape = |rows, cols| Shape::new(rows, cols);
    let mut refused: Vec<Result<()>> = Vec::new();
    let before = dev.pool_stats().allocated;
    for n in huge {
        refused.push(Vector::zeros(dev, n).map(drop));
        refused.push(Matrix::zeros(dev, shape(n, n)).map(drop));
        refused.push(Matrix::zeros(dev, shape(n, 1)).map(drop));
        refused.push(texla::DoubleVector::zeros(dev, n).map(drop));
        refused.push(Plane::zeros(dev, n, n).map(drop));
    }
    let typed = refused.iter().filter(|result| matches!(result, Err(Error::TooLarge { .. }))).count();
    let allocated = dev.pool_stats().allocated - before;
    (refused.len(), refused.len() - typed + allocated as usize)
}

/// The most bytes that wait in the pool while textures of many sizes come and go, under this budget.
pub fn pooled(api: Api, budget: u64) -> Result<u64> {
    let options = DeviceOptions::default().with_pool_budget(budget);
    let options = HeadlessOptions::default().with_api(Some(api)).with_options(options);
    let context = Headless::new(options)?;
    let mut most = 0;
    for side in (1..200).chain((1..200).rev()) {
        let held: Vec<Vector> =
            (0..3).map(|k| Vector::filled(context.device(), side * (100 + k), 0.5)).collect::<Result<_>>()?;
        most = most.max(context.device().pool_stats().free_bytes);
        drop(held);
        most = most.max(context.device().pool_stats().free_bytes);
    }
    Ok(most)
}

/// How many types need the context, and how many of them could go to another thread or be shared with one, by the compiler.
pub fn mobile() -> (usize, usize) {
    let could = |(_, (sent, shared)): &threads::Answer| *sent || *shared;
    (threads::held().count(), threads::held().filter(could).count())
}
