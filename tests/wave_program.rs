//! The explicit program that [Krueger05] prints in 44.4, behind Equation 44-6, written in texla line for line: each line of
//! the original stands as a comment above the call that it has become. Runs with every representation of its matrix. And the
//! implicit one of 44.4.1, which stands so in the example `framework_table44_1`.

mod common;
#[path = "../examples/framework_table44_1/printed.rs"]
mod printed;

use common::bounds::{assert_componentwise, product_bounds};
use common::harness::{assert_padded, on_both};
use common::worst::worst;
use common::{forms, random, reference, systems};
use texla::host::{Csr, Triplets, problems};
use texla::ops::{self, Combine};
use texla::solve::LinOp;
use texla::{BandedMatrix, Device, Plane, Result, Shape, Vector};

use printed::Printed;

/// `shift + factor A`, with `A` the five-point Laplacian and the surface held at the rim. Rounded, so that the twin multiplies
/// by the coefficients that the device has.
fn shifted(grid: [usize; 2], shift: f64, factor: f64) -> Csr {
    let stiffness = problems::poisson_2d(grid[0], grid[1]).to_csr();
    let n = grid[0] * grid[1];
    let entries = stiffness.entries().map(|(i, j, a)| (i, j, if i == j { shift } else { 0.0 } + factor * a));
    systems::rounded(&Triplets::from_entries(Shape::new(n, n), entries).unwrap().to_csr())
}

/// The matrix of Equation 44-6.
fn matrix(nx: usize, ny: usize, alpha: f64) -> Csr {
    shifted([nx, ny], 2.0, -alpha)
}

/// What the original's program works on.
#[allow(non_snake_case)]
struct Explicit<'a> {
    clMatrix: &'a dyn LinOp,
    clLast: Vector,
    clCurrent: Vector,
    clNext: Vector,
    cluNext: Plane,
}

impl<'a> Explicit<'a> {
    /// A surface at rest, so that both levels are the same.
    fn new(device: &Device, matrix: &'a dyn LinOp, [nx, ny]: [usize; 2], start: &[f32]) -> Self {
        let level = || Vector::from_slice(device, start).unwrap();
        Explicit {
            clMatrix: matrix,
            clLast: level(),
            clCurrent: level(),
            clNext: Vector::zeros(device, nx * ny).unwrap(),
            cluNext: Plane::zeros(device, nx, ny).unwrap(),
        }
    }

    fn step(&mut self) -> Result<()> {
        // clMatrix->matrixVectorOp(CL_SUB, clCurrent, clLast, clNext);
        ops::product(&mut self.clNext, Combine::Subtract(&self.clLast), 1.0, self.clMatrix, &self.clCurrent)?;
        // clLast->copyVector(clCurrent);          // save for next iteration
        ops::copy(&mut self.clLast, &self.clCurrent)?;
        // clCurrent->copyVector(clNext);          // save for next iteration
        ops::copy(&mut self.clCurrent, &self.clNext)?;
        // cluNext->unpack(clNext);                // unpack for rendering
        ops::vector_to_plane(&mut self.cluNext, &self.clNext)
        // renderHF(cluNext->m_pVectorTexture);    // render as height field
        // Rendering is the application's, with `cluNext.texture()`; here the texture is read where it is asked for.
    }
}

/// Twin and bound of a run. Of a step from what the device itself has reached the error is the product bound, `d`. From
/// the start on, errors obey the program's own recurrence, `e⁺ = M e - e⁻ + d`, so that `d` of a step that is `j` back comes
/// in as `U_j(M / 2) d`. The Chebyshev polynomial of the second kind is at most `j + 1` on [-1, 1], where the spectrum of
/// `M / 2` lies up to `α = 1/2`, and `M` is symmetric: `‖e‖ <= Σ (j + 1) ‖d‖`.
struct Twin {
    last: Vec<f64>,
    current: Vec<f64>,
    /// `‖d‖` of all steps so far.
    steps: Vec<f64>,
}

impl Twin {
    fn new(start: &[f32]) -> Self {
        Twin { last: reference::widen(start), current: reference::widen(start), steps: Vec::new() }
    }

    /// A step of the explicit program; `d` is of the device's.
    fn step(&mut self, matrix: &Csr, d: &[f64]) {
        let next = reference::sub(&systems::apply(matrix, &self.current), &self.last);
        self.advance(next, systems::norm(d));
    }

    fn advance(&mut self, next: Vec<f64>, step: f64) {
        self.last = std::mem::replace(&mut self.current, next);
        self.steps.push(step);
    }

    fn bound(&self) -> f64 {
        self.steps.iter().rev().zip(1..).map(|(d, j)| d * f64::from(j)).sum()
    }
}

fn run(device: &Device, name: &str, form: &dyn LinOp, matrix: &Csr, grid: [usize; 2], steps: usize) {
    let start = random::uniform(7, grid[0] * grid[1]);
    let mut program = Explicit::new(device, form, grid, &start);
    let mut twin = Twin::new(&start);
    let terms: Vec<usize> = systems::row_terms(matrix).iter().map(|k| k + 1).collect();
    for step in 0..steps {
        let label = format!("{name}, step {step}");
        let [last, current] = [&program.clLast, &program.clCurrent].map(|v| v.read().unwrap());
        let [wide_last, wide] = [&last, &current].map(|v| reference::widen(v));
        program.step().unwrap();

        let sizes = reference::add(&systems::apply_abs(matrix, &wide), &reference::abs(&wide_last));
        let bound = product_bounds(&sizes, terms.iter().copied());
        let next = program.clNext.read().unwrap();
        let want = reference::sub(&systems::apply(matrix, &wide), &wide_last);
        assert_componentwise(&label, &next, &want, &bound);
        // What is copied and unpacked is so to the last bit.
        assert_eq!(program.clLast.read().unwrap(), current, "{label}");
        assert_eq!(program.clCurrent.read().unwrap(), next, "{label}");
        assert_eq!(program.cluNext.read().unwrap(), next, "{label}");
        assert_padded(&program.clNext, &label);

        twin.step(matrix, &bound);
        let error = systems::norm(&reference::sub(&reference::widen(&next), &twin.current));
        assert!(error <= twin.bound(), "{label}: {error:e} from the twin, bound {:e}", twin.bound());
    }
}

#[test]
fn the_explicit_program_runs_with_every_representation() {
    on_both(|device| {
        for (grid, alpha) in [([9, 7], 0.25), ([1, 13], 0.45), ([8, 4], 0.5)] {
            let matrix = matrix(grid[0], grid[1], alpha);
            for (name, form) in forms::all_forms(device, &matrix) {
                run(device, &format!("{grid:?}, {name}"), form.as_ref(), &matrix, grid, 6);
            }
        }
    });
}

#[test]
fn errors_stay_within_their_bound_over_a_long_run() {
    on_both(|device| {
        let (grid, alpha) = ([31, 17], 0.45);
        let matrix = matrix(grid[0], grid[1], alpha);
        let bands = BandedMatrix::from_csr(device, matrix.clone()).unwrap();
        run(device, "bands", &bands, &matrix, grid, 200);
    });
}

/// "If the integration time step becomes too large, the system will become unstable": past `α = 1/2` the fastest mode
/// grows by more than 2 a step, below it no step is more than what the twin's bound lets through.
#[test]
fn past_its_limit_the_program_is_unstable() {
    on_both(|device| {
        let grid = [16, 16];
        let largest = |alpha: f64| {
            let bands = BandedMatrix::from_csr(device, matrix(grid[0], grid[1], alpha)).unwrap();
            let mut program = Explicit::new(device, &bands, grid, &random::uniform(3, 256));
            for _ in 0..50 {
                program.step().unwrap();
            }
            let heights = program.cluNext.read().unwrap();
            heights.iter().map(|y| f64::from(y.abs())).fold(0.0, worst)
        };
        let (below, past) = (largest(0.49), largest(0.6));
        assert!(below < 100.0, "{below}");
        assert!(past > 1e10, "{past}");
    });
}

/// A product of one pass, two copies and the unpacking; what is drawn from is never read back.
#[test]
fn a_step_is_four_draws_and_reads_nothing() {
    on_both(|device| {
        let grid = [9, 7];
        let bands = BandedMatrix::from_csr(device, matrix(9, 7, 0.25)).unwrap();
        let mut program = Explicit::new(device, &bands, grid, &random::uniform(1, 63));
        program.step().unwrap();
        let (work, pool) = (device.counters(), device.pool_stats());
        for _ in 0..10 {
            program.step().unwrap();
        }
        let done = device.counters().since(&work);
        assert_eq!((done.draws, done.readbacks, done.uploads), (40, 0, 0));
        assert_eq!(device.pool_stats().allocated, pool.allocated);
    });
}

/// `2 y - y⁻ - α/2 A y` of Equation 44-7, and the sum of the magnitudes of its terms.
fn right_hand_side(stiffness: &Csr, half_alpha: f64, current: &[f64], last: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let levels = reference::axpby(2.0, current, -1.0, last);
    let c = reference::axpy(-half_alpha, &systems::apply(stiffness, current), &levels);
    let sizes = reference::axpby(2.0, &reference::abs(current), 1.0, &reference::abs(last));
    (c, reference::axpy(half_alpha, &systems::apply_abs(stiffness, &reference::abs(current)), &sizes))
}

/// `A x = b` in 64 bits, for a matrix as well-conditioned as these.
fn solved(a: &Csr, b: &[f64]) -> Vec<f64> {
    let (mut x, mut r, mut p) = (vec![0.0; b.len()], b.to_vec(), b.to_vec());
    let mut rho = reference::dot(&r, &r);
    for _ in 0..200 {
        if rho <= 1e-26 * reference::dot(b, b) {
            break;
        }
        let q = systems::apply(a, &p);
        let alpha = rho / reference::dot(&p, &q);
        (x, r) = (reference::axpy(alpha, &p, &x), reference::axpy(-alpha, &q, &r));
        let next = reference::dot(&r, &r);
        p = reference::axpy(next / rho, &p, &r);
        rho = next;
    }
    assert!(systems::norm(&reference::sub(b, &systems::apply(a, &x))) <= 1e-12 * systems::norm(b));
    x
}

/// The right-hand side is within the product bound of its five terms and two levels, what is repacked and unpacked is so to
/// the last bit, and the solver leaves at most twice the residual that it was asked for, in the norm of squares. The
/// inverse of `1 + α/2 A` shortens, so a step is within the sum of both; and so is a run within [`Twin::bound`], for the
/// roots of its modes have the modulus `1/√(1 + α λ / 2)` while `α λ < 16`.
#[test]
fn the_implicit_program_runs_within_its_bound() {
    const TOLERANCE: f64 = 1e-6;
    on_both(|device| {
        for (grid, alpha) in [([9, 7], 0.25), ([31, 17], 1.0), ([16, 3], 1.7)] {
            let stiffness = problems::poisson_2d(grid[0], grid[1]).to_csr();
            let matrix = shifted(grid, 1.0, 0.5 * alpha);
            let half_alpha = f64::from((0.5 * alpha) as f32);
            let start = random::uniform(11, grid[0] * grid[1]);
            let mut program = Printed::new(device, grid, alpha, &start, TOLERANCE, 60).unwrap();
            let mut twin = Twin::new(&start);
            for step in 0..30 {
                let label = format!("{grid:?}, α = {alpha}, step {step}");
                let [last, current] = [&program.cluLast, &program.cluCurrent].map(|p| p.read().unwrap());
                let [wide_last, wide] = [&last, &current].map(|p| reference::widen(p));
                let before = device.counters();
                let steps = program.step().unwrap();
                assert_eq!(device.counters().since(&before).readbacks, 0, "{label}");
                assert!(steps.read().unwrap().met, "{label}");

                let (c, sizes) = right_hand_side(&stiffness, half_alpha, &wide, &wide_last);
                let bound = product_bounds(&sizes, std::iter::repeat_n(8, c.len()));
                let repacked = program.clRHS.read().unwrap();
                assert_componentwise(&label, &repacked, &c, &bound);
                assert_padded(&program.clRHS, &label);
                assert_eq!(program.cluRHS.read().unwrap(), repacked, "{label}");
                assert_eq!(program.cluLast.read().unwrap(), current, "{label}");

                let next = program.cluCurrent.read().unwrap();
                assert_eq!(program.clNext.read().unwrap(), next, "{label}");
                let (wide_next, b) = (reference::widen(&next), reference::widen(&repacked));
                let left = systems::norm(&reference::sub(&b, &systems::apply(&matrix, &wide_next)));
                assert!(left <= 2.0 * TOLERANCE * systems::norm(&b), "{label}: {left:e}");

                let (c, _) = right_hand_side(&stiffness, half_alpha, &twin.current, &twin.last);
                twin.advance(solved(&matrix, &c), left + systems::norm(&bound));
                let error = systems::norm(&reference::sub(&wide_next, &twin.current));
                assert!(error <= twin.bound(), "{label}: {error:e} from the twin, bound {:e}", twin.bound());
            }
        }
    });
}

/// What the guide says of Table 44-1: the average over three levels takes fewer iterations than the paper's.
#[cfg(feature = "sim")]
#[test]
fn the_papers_average_takes_half_as_many_iterations_again() {
    use texla::sim::wave::{Scheme, WaveParams};
    let iterations = |scheme| {
        let params = WaveParams::new(512, 512).with_dt(1.0).with_tolerance(1e-4);
        params.with_scheme(scheme).iterations()
    };
    assert_eq!(iterations(Scheme::CrankNicholson), 8);
    assert_eq!(iterations(Scheme::CurrentAndNext), 12);
}
