//! Operators and preconditioners that a user writes.

use crate::common::harness::on_both;
use crate::systems::{System, params, relative_residual};
use texla::kernel::{Kernel, NoParams};
use texla::ops::{self, Combine};
use texla::ops::{Checked, Product};
use texla::solve::{
    CgSchedule, Cgls, CglsParams, ConjugateGradient, Jacobi, LinOp, Preconditioner, StopReason,
};
use texla::{Device, Error, MatrixFormat, Result, Shape, StoredMatrix, Vector};

/// The matrix `tridiag(-1, 2.5, -1)` without a matrix: what it does to a vector is a kernel.
struct Stencil {
    kernel: Kernel<NoParams>,
    device: Device,
    n: usize,
}

const BODY: &str = "
float element(int i) { return i < 0 ? 0.0 : x_element(uint(i)); }
vec4 kernel(ivec2 p) {
    int i = 4 * texel_index(p);
    ivec2 e = x_extent();
    vec4 here = x(p);
    float after = i + 4 < 4 * e.x * e.y ? element(i + 4) : 0.0;
    return 2.5 * here - vec4(element(i - 1), here.xyz) - vec4(here.yzw, after);
}";

impl Stencil {
    fn new(device: &Device, n: usize) -> Self {
        let kernel = Kernel::new(device, "stencil", ["x"], BODY).unwrap();
        Stencil { kernel, device: device.clone(), n }
    }
}

impl LinOp for Stencil {
    fn device(&self) -> &Device {
        &self.device
    }

    fn shape(&self) -> Shape {
        Shape::new(self.n, self.n)
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        let mut p = Vector::zeros(&self.device, self.n)?;
        self.kernel.run(&mut p, [terms.x], &NoParams)?;
        terms.finish(y, &p)
    }
}

#[test]
fn a_matrix_free_operator_is_solved_with_and_says_that_nothing_certified_it() {
    on_both(|device| {
        for n in [5, 64, 333] {
            let a = Stencil::new(device, n);
            let entries = (0..n).flat_map(|i| {
                [(i, i.wrapping_sub(1), -1.0), (i, i, 2.5), (i, i + 1, -1.0)].into_iter().filter(|e| e.1 < n)
            });
            let system =
                System::of_ones("stencil", crate::systems::entries(n, n, entries.collect::<Vec<_>>()));
            let b = Vector::from_f64(device, &system.b).unwrap();
            let mut x = Vector::zeros(device, n).unwrap();
            let report = ConjugateGradient::new(&a, params(1e-5)).unwrap().solve(&mut x, &b).unwrap();
            assert_eq!(report.reason, StopReason::Uncertified, "{report:?}");
            assert!(!report.converged());
            let x = x.read().unwrap();
            assert!(relative_residual(&system.a, &x, &system.b) <= 2e-5);
            // The smallest eigenvalue is above 0.5, and b has elements to 1.5.
            assert!(x.iter().all(|v| (v - 1.0).abs() < 1e-3), "{x:?}");
        }
    });
}

#[test]
fn what_an_operator_does_not_provide_is_a_typed_error() {
    on_both(|device| {
        let a = Stencil::new(device, 8);
        assert!(matches!(Jacobi::new(&a).err(), Some(Error::Unsupported { .. })));
        assert!(matches!(Jacobi::for_least_squares(&a).err(), Some(Error::Unsupported { .. })));
        let b = Vector::filled(device, 8, 1.0).unwrap();
        let mut x = Vector::zeros(device, 8).unwrap();
        let error = Cgls::new(&a, CglsParams::default()).unwrap().solve(&mut x, &b).err();
        assert!(matches!(error, Some(Error::Unsupported { .. })), "{error:?}");
    });
}

/// Two terms of the series of the inverse: `M = D⁻¹ (2 - A D⁻¹)`, positive definite while the spectrum of `D⁻¹ A` lies
/// within (0, 2).
struct Polynomial<'a> {
    a: &'a dyn LinOp,
    inverse: f32,
}

impl Preconditioner for Polynomial<'_> {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        let mut scaled = Vector::zeros(r.device(), r.len())?;
        ops::scaled(&mut scaled, self.inverse, r)?;
        let mut product = Vector::zeros(r.device(), r.len())?;
        ops::product(&mut product, Combine::Replace, self.inverse, self.a, &scaled)?;
        ops::axpby(z, 2.0, &scaled, -1.0, &product)
    }
}

#[test]
fn a_users_preconditioner_works_through_the_listing_schedule() {
    on_both(|device| {
        let system = System::of_ones("poisson", texla::host::problems::poisson_2d(40, 40).to_csr());
        let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
        let m = Polynomial { a: &a, inverse: 0.25 };
        let b = Vector::from_f64(device, &system.b).unwrap();
        let solve = |m: &dyn Preconditioner, schedule| {
            let params = params(1e-5).with_schedule(schedule);
            let mut x = Vector::zeros(device, system.n()).unwrap();
            let report = ConjugateGradient::preconditioned(&a, m, params)?.solve(&mut x, &b)?;
            assert!(relative_residual(&system.a, &x.read()?, &system.b) <= 2e-5);
            Ok(report)
        };
        let jacobi = solve(&Jacobi::new(&a).unwrap(), CgSchedule::Listing).unwrap();
        for schedule in [CgSchedule::Auto, CgSchedule::Listing] {
            let report = solve(&m, schedule).unwrap();
            assert!(report.converged(), "{report:?}");
            // The condition number falls to about a third.
            let most = jacobi.iterations * 3 / 4;
            assert!(report.iterations <= most, "{} of {}", report.iterations, jacobi.iterations);
        }
        let refused = solve(&m, CgSchedule::Merged);
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    });
}
