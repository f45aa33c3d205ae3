//! Starts that an inverse on the host corrects: what they gain, what is left where they gain nothing, and errors.

use crate::common::harness::on_both;
use crate::common::pairs::{is_exact, true_residual};
use crate::precondition::stored;
use crate::systems::{self, entries};
use texla::host::{Csr, Direct};
use texla::solve::{Gmres, GmresParams, HostInverse, Preconditioner, SparseFactors, Stop};
use texla::{DoubleVector, Error, Result, Vector, ops};

/// Times an exact inverse by a number, or an error; on the device zero.
struct Rough {
    direct: Direct,
    times: Option<f64>,
}

impl HostInverse for Rough {
    fn solve(&self, r: &[f64]) -> Result<Vec<f64>> {
        let times = self.times.ok_or(Error::Internal { place: "test", detail: "the host's inverse" })?;
        Ok(self.direct.solve(r)?.iter().map(|v| times * v).collect())
    }
}

impl Preconditioner for Rough {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        ops::scaled(z, 0.0, r)
    }

    fn on_host(&self) -> Option<&dyn HostInverse> {
        Some(self)
    }
}

/// One that returns too little.
struct Short;

impl HostInverse for Short {
    fn solve(&self, r: &[f64]) -> Result<Vec<f64>> {
        Ok(r[1..].to_vec())
    }
}

impl Preconditioner for Short {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        ops::copy(z, r)
    }

    fn on_host(&self) -> Option<&dyn HostInverse> {
        Some(self)
    }
}

/// The square of the second difference, whose condition is about `(n / 3)^4`.
fn beam(n: usize) -> Csr {
    let of = |i: usize| {
        [(-2, 1.0), (-1, -4.0), (0, 6.0), (1, -4.0), (2, 1.0)].map(|(k, v): (isize, f64)| (i, k, v))
    };
    let inside =
        |(i, k, v): (usize, isize, f64)| i.checked_add_signed(k).filter(|j| *j < n).map(|j| (i, j, v));
    entries(n, n, (0..n).flat_map(of).filter_map(inside).collect::<Vec<_>>())
}

fn params(relative: f64, iterations: usize) -> GmresParams {
    GmresParams::default().with_stop(Stop::relative(relative)).with_max_iters(iterations)
}

#[test]
fn factors_solve_what_32_bits_do_not() {
    let a = beam(101);
    let b: Vec<f64> = (0..101).map(|i| 1.0 + (i % 5) as f64).collect();
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let a_on = stored(device, &a);
        let solver =
            Gmres::preconditioned(&a_on, SparseFactors::new(&a_on).unwrap(), params(1e-7, 50)).unwrap();
        let mut x = DoubleVector::zeros(device, 101).unwrap();
        let report = solver.solve(&mut x, &DoubleVector::from_f64(device, &b).unwrap()).unwrap();
        assert!(report.converged() && report.iterations == 0, "{report}");
        assert!((1..=3).contains(&report.readbacks_in_loop), "{}", report.readbacks_in_loop);
        let left = true_residual(&a, &x.read().unwrap(), &b);
        assert!(left <= 1.01e-7, "{left}");
    });
}

#[test]
fn corrections_end_where_they_gain_nothing_and_the_report_is_of_what_is_left() {
    let a = beam(23);
    let b = vec![1.0; 23];
    let direct = || Direct::new(&a).unwrap();
    on_both(|device| {
        let a_on = stored(device, &a);
        // The share that is left each time, and how many residuals are read for it: four fifths gain too little to go on.
        for (times, left, reads) in [(0.95, 0.05f64.powi(3), 3), (0.2, 0.8, 2), (1e300, 1.0, 1)] {
            let m = Rough { direct: direct(), times: Some(times) };
            // Without an iteration, and where the first breaks down: what is left is the corrected start.
            for most in [0, 9] {
                let mut x = Vector::zeros(device, 23).unwrap();
                let solver = Gmres::preconditioned(&a_on, &m, params(1e-6, most)).unwrap();
                let report = solver.solve(&mut x, &Vector::from_f64(device, &b).unwrap()).unwrap();
                assert!(!report.converged() && report.readbacks_in_loop == reads, "{report}");
                let found = systems::relative_residual(&a, &x.read().unwrap(), &b);
                // Rounding of x to 32 bits, by the condition of some 5,000.
                assert!((found - left).abs() <= 3e-4, "{times}, {most}: {found}, expected {left}");
                assert!((report.true_residual - found).abs() <= 1e-6 + 1e-3 * found, "{times}: {report}");
            }
        }
        let m = Rough { direct: direct(), times: None };
        let mut x = Vector::filled(device, 23, 2.0).unwrap();
        let solver = Gmres::preconditioned(&a_on, &m, params(1e-6, 9)).unwrap();
        let error = solver.solve(&mut x, &Vector::from_f64(device, &b).unwrap()).unwrap_err();
        assert!(matches!(error, Error::Internal { place: "test", .. }), "{error}");
        assert_eq!(x.read().unwrap(), [2.0; 23]);
        let solver = Gmres::preconditioned(&a_on, Short, params(1e-6, 9)).unwrap();
        let error = solver.solve(&mut x, &Vector::from_f64(device, &b).unwrap()).unwrap_err();
        assert!(matches!(error, Error::LengthMismatch { found: 22, expected: 23, .. }), "{error}");
    });
}
