//! Operators that a user writes.

use crate::common::harness::on_both;
use crate::problems::{assert_honest, flow};
use texla::kernel::Kernel;
use texla::ops::{Checked, Product};
use texla::solve::{Accuracy, LcpParams, LcpSolver, LinOp, ProjectedJacobi, StopReason, natural_residual};
use texla::{Device, Error, Result, Shape, Vector};

texla::params! { struct Speed { speed: f32 } }

/// Flow and diffusion without a matrix: `tridiag(-1 - speed, 2, speed - 1)`.
struct Stencil {
    kernel: Kernel<Speed>,
    device: Device,
    n: usize,
    speed: f32,
    knows_its_diagonal: bool,
}

const BODY: &str = "
float element(int i) { return i < 0 ? 0.0 : x_element(uint(i)); }
vec4 kernel(ivec2 p) {
    int i = 4 * texel_index(p);
    ivec2 e = x_extent();
    vec4 here = x(p);
    float after = i + 4 < 4 * e.x * e.y ? element(i + 4) : 0.0;
    return 2.0 * here - (1.0 + speed) * vec4(element(i - 1), here.xyz) - (1.0 - speed) * vec4(here.yzw, after);
}";

impl LinOp for Stencil {
    fn device(&self) -> &Device {
        &self.device
    }

    fn shape(&self) -> Shape {
        Shape::new(self.n, self.n)
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        let mut p = Vector::zeros(&self.device, self.n)?;
        self.kernel.run(&mut p, [terms.x], &Speed { speed: self.speed })?;
        terms.finish(y, &p)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        if self.knows_its_diagonal {
            return Ok(vec![2.0; self.n]);
        }
        Err(Error::Unsupported { what: "diagonal".into(), why: "the test says so".into() })
    }
}

fn stencil(device: &Device, n: usize, speed: f32) -> Stencil {
    let kernel = Kernel::new(device, "stencil", ["x"], BODY).unwrap();
    Stencil { kernel, device: device.clone(), n, speed, knows_its_diagonal: true }
}

/// No operator says whether it is symmetric; two products of the power iteration tell.
#[test]
fn a_matrix_free_operator_is_solved_with_and_says_that_nothing_certified_it() {
    on_both(|device| {
        for (n, speed) in [(5, 0.0), (64, 0.0), (64, 0.5), (61, 3.0)] {
            let a = stencil(device, n, speed);
            let lcp = flow(n, f64::from(speed));
            let b = Vector::from_f64(device, &lcp.b).unwrap();
            let mut x = Vector::zeros(device, n).unwrap();
            let report = LcpSolver::new(&a, LcpParams::default()).unwrap().solve(&mut x, &b).unwrap();
            assert_eq!(report.outcome.reason, StopReason::Uncertified, "{n} {speed}: {report:?}");
            assert!(!report.converged());
            assert_eq!(report.outcome.accelerated, speed == 0.0, "{n} {speed}");
            let found = natural_residual(&a, &x, &b).unwrap();
            assert_eq!(found.accuracy, Accuracy::Single);
            let (natural, scaled) = lcp.residuals(&x.read().unwrap());
            // Recomputed in 32 bits: close, but no certificate.
            assert!(natural <= 2e-4 && scaled <= 2e-4, "{n} {speed}: {natural:e} {scaled:e}");
            assert!((found.relative - natural).abs() <= 1e-4, "{n} {speed}");
            let mut outcome = report.outcome.clone();
            (outcome.natural_residual, outcome.scaled_residual) = (natural, scaled);
            assert_honest(&lcp, &x.read().unwrap(), &outcome, 1e-4);
            // The paper's form needs no more than the operator.
            let mut y = Vector::zeros(device, n).unwrap();
            ProjectedJacobi::new(&a, 0.1).unwrap().run(&mut y, &b, 10).unwrap();
            assert!(y.read().unwrap().iter().all(|v| *v >= 0.0));
        }
    });
}

#[test]
fn what_an_operator_does_not_provide_is_a_typed_error() {
    on_both(|device| {
        let a = Stencil { knows_its_diagonal: false, ..stencil(device, 8, 0.0) };
        assert!(matches!(ProjectedJacobi::new(&a, 0.5).err(), Some(Error::Unsupported { .. })));
        assert!(matches!(LcpSolver::new(&a, LcpParams::default()).err(), Some(Error::Unsupported { .. })));
    });
}
