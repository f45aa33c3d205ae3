//! Tiny systems, starts near and far, and the ways to end without converging.

use crate::common::harness::on_both;
use crate::common::worst::worst;
use crate::common::{random, reference};
use crate::systems::{self, System, bits, entries, norm, params, relative_residual, solve};
use texla::solve::{CgParams, ConjugateGradient, Identity, Jacobi, Preconditioner, StopReason};
use texla::{Device, MatrixFormat, SparseFormat, StoredMatrix, Vector};

const FORMATS: [MatrixFormat; 3] = [
    MatrixFormat::Sparse(SparseFormat::Gather),
    MatrixFormat::Sparse(SparseFormat::Points),
    MatrixFormat::Banded,
];

fn formats(device: &Device) -> Vec<MatrixFormat> {
    let blends = device.capabilities().float_blend;
    FORMATS.into_iter().filter(|f| blends || *f != MatrixFormat::Sparse(SparseFormat::Points)).collect()
}

#[test]
fn none_one_and_two_unknowns() {
    on_both(|device| {
        let two = [(0, 0, 2.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 3.0)];
        let cases = [
            (entries(0, 0, []), vec![], vec![]),
            (entries(1, 1, [(0, 0, 4.0)]), vec![2.0], vec![0.5]),
            (entries(2, 2, two), vec![3.0, 4.0], vec![1.0, 1.0]),
            (entries(2, 2, [(0, 0, 1.0), (1, 1, 1.0)]), vec![5.0, -7.0], vec![5.0, -7.0]),
        ];
        for (a, b, want) in cases {
            for format in formats(device) {
                for jacobi in [false, true] {
                    for schedule in systems::schedules(device) {
                        let system = System { name: "tiny".into(), a: a.clone(), b: b.clone() };
                        let params = params(1e-6).with_schedule(schedule);
                        let label = format!("{} {format:?} {jacobi} {schedule:?}", b.len());
                        let (x, report) = solve(device, &system, format, jacobi, params)
                            .unwrap_or_else(|e| panic!("{label}: {e}"));
                        assert_eq!(report.reason, StopReason::Converged, "{label}");
                        assert!(report.iterations <= b.len() + 1, "{label}: {}", report.iterations);
                        for (x, want) in x.iter().zip(&want) {
                            assert!((f64::from(*x) - want).abs() <= 1e-5 * want.abs(), "{label}: {x}");
                        }
                    }
                }
            }
        }
    });
}

/// Solves from a given start.
fn from(
    device: &Device,
    system: &System,
    jacobi: bool,
    params: CgParams,
    start: &[f32],
) -> (Vec<f32>, texla::solve::SolveReport) {
    let a = StoredMatrix::new(device, system.a.clone(), MatrixFormat::Auto).unwrap();
    let b = Vector::from_f64(device, &system.b).unwrap();
    let mut x = Vector::from_slice(device, start).unwrap();
    let m: Box<dyn Preconditioner> =
        if jacobi { Box::new(Jacobi::new(&a).unwrap()) } else { Box::new(Identity) };
    let solver = ConjugateGradient::preconditioned(&a, m.as_ref(), params).unwrap();
    let report =
        solver.solve(&mut x, &b).unwrap_or_else(|e| panic!("{} from {:e}: {e}", system.name, start[0]));
    (x.read().unwrap(), report)
}

#[test]
fn a_right_hand_side_of_zeros_has_the_solution_zero() {
    on_both(|device| {
        for mut system in systems::generated() {
            system.b.fill(0.0);
            for start in [0.0, 3.0, 1e30] {
                let (x, report) = from(device, &system, false, params(1e-6), &vec![start; system.n()]);
                assert!(x.iter().all(|v| *v == 0.0), "{}", system.name);
                assert_eq!((report.reason, report.iterations), (StopReason::Converged, 0));
                assert_eq!(report.true_residual, 0.0);
            }
        }
    });
}

#[test]
fn a_start_at_the_solution_takes_no_iteration() {
    on_both(|device| {
        for system in systems::generated() {
            // b = A 1 exactly: small integers, or rounded to 32 bits.
            let ones = vec![1.0; system.n()];
            let (x, report) = from(device, &system, true, params(1e-6), &ones);
            assert_eq!((report.reason, report.iterations), (StopReason::Converged, 0), "{}", system.name);
            assert_eq!(bits(&x), bits(&ones));
            // A better start is not worse.
            let near: Vec<f32> = random::uniform(1, system.n()).iter().map(|v| 1.0 + v * 1e-3).collect();
            let (_, warm) = from(device, &system, true, params(1e-5), &near);
            let (_, cold) = from(device, &system, true, params(1e-5), &vec![0.0; system.n()]);
            assert!(warm.converged() && warm.iterations <= cold.iterations + 2, "{}", system.name);
        }
    });
}

/// The first residual is far larger than the right-hand side that the bound is relative to.
#[test]
fn a_huge_start_is_come_back_from() {
    on_both(|device| {
        for system in systems::generated() {
            for size in [1e3f32, 1e12, 1e30] {
                let start: Vec<f32> = random::uniform(2, system.n()).iter().map(|v| v * size).collect();
                for jacobi in [false, true] {
                    for schedule in systems::schedules(device) {
                        let params = params(1e-5).with_schedule(schedule);
                        let (x, report) = from(device, &system, jacobi, params, &start);
                        let label = format!("{} from {size:e}, jacobi {jacobi}, {schedule:?}", system.name);
                        assert_eq!(report.reason, StopReason::Converged, "{label}: {report:?}");
                        let residual = relative_residual(&system.a, &x, &system.b);
                        assert!(residual <= 2e-5, "{label}: {residual:e}");
                    }
                }
            }
        }
    });
}

#[test]
fn max_iters_is_kept_to_exactly() {
    on_both(|device| {
        let system = System::of_ones("poisson", texla::host::problems::poisson_2d(30, 30).to_csr());
        for schedule in systems::schedules(device) {
            for jacobi in [false, true] {
                for count in [0, 1, 2, 3, 16, 17, 33] {
                    for every in [1, 16] {
                        let stop = params(1e-6).stop.check_every(every);
                        let params =
                            CgParams::default().with_max_iters(count).with_schedule(schedule).with_stop(stop);
                        let (x, report) = solve(device, &system, MatrixFormat::Auto, jacobi, params).unwrap();
                        let label = format!("{schedule:?} jacobi {jacobi} {count} every {every}");
                        assert_eq!(report.reason, StopReason::MaxIterations, "{label}");
                        assert_eq!(report.iterations, count, "{label}");
                        // The same as so many iterations of the twin.
                        let apply = |v: &[f64]| systems::apply(&system.a, v);
                        let diagonal = system.a.diagonal();
                        let d = jacobi.then_some(diagonal.as_slice());
                        let twin = reference::cg(apply, &system.b, &vec![0.0; system.n()], d, 1e-12, count);
                        let residual = relative_residual(&system.a, &x, &system.b);
                        assert!((report.true_residual - residual).abs() <= 0.05 * residual, "{label}");
                        let best = twin.history.iter().fold(f64::MAX, |m, v| m.min(*v)) / norm(&system.b);
                        let last = twin.history[twin.history.len() - 1] / norm(&system.b);
                        assert!(
                            residual <= 1.01 * worst(last, best) + 1e-6,
                            "{label}: {residual:e}, {last:e}"
                        );
                    }
                }
            }
        }
    });
}

#[test]
fn the_solution_is_that_of_the_twin() {
    on_both(|device| {
        for system in systems::generated() {
            let apply = |v: &[f64]| systems::apply(&system.a, v);
            let diagonal = system.a.diagonal();
            for jacobi in [false, true] {
                let d = jacobi.then_some(diagonal.as_slice());
                let twin = reference::cg(apply, &system.b, &vec![0.0; system.n()], d, 1e-12, 10_000);
                assert!(twin.converged);
                // In exact arithmetic the count is the twin's; 32 bits may cost some more.
                let count =
                    reference::cg(apply, &system.b, &vec![0.0; system.n()], d, 1e-5, 10_000).iterations;
                for format in formats(device) {
                    for schedule in systems::schedules(device) {
                        let params = params(1e-5).with_schedule(schedule);
                        let (x, report) = solve(device, &system, format, jacobi, params).unwrap();
                        let label = format!("{} {format:?} jacobi {jacobi} {schedule:?}", system.name);
                        assert_eq!(report.reason, StopReason::Converged, "{label}");
                        let most = count + count / 4 + 3;
                        assert!(report.iterations <= most, "{label}: {} > {most}", report.iterations);
                        // ‖x - x*‖_A² = r.A⁻¹r is at most what the residual allows: r = A (x* - x).
                        let error = reference::sub(&twin.x, &reference::widen(&x));
                        let residual = norm(&systems::apply(&system.a, &error));
                        assert!(residual <= 2e-5 * norm(&system.b), "{label}: {residual:e}");
                    }
                }
            }
        }
    });
}

#[test]
fn what_32_bits_cannot_reach_stagnates_with_the_true_value() {
    on_both(|device| {
        let side = 40;
        let system = System::of_ones("poisson", texla::host::problems::poisson_2d(side, side).to_csr());
        // A solution that 32 bits do not hold exactly.
        let want: Vec<f64> =
            random::uniform(3, side * side).iter().map(|v| 1.0 + f64::from(*v) / 3.0).collect();
        let b: Vec<f64> = system.a.mul_vec(&want).unwrap().iter().map(|v| f64::from(*v as f32)).collect();
        let system = System { b, ..system };
        for schedule in systems::schedules(device) {
            for jacobi in [false, true] {
                let params = params(1e-9).with_schedule(schedule);
                let (x, report) = solve(device, &system, MatrixFormat::Auto, jacobi, params).unwrap();
                let residual = relative_residual(&system.a, &x, &system.b);
                let label = format!("{schedule:?} jacobi {jacobi}: {report:?}, {residual:e}");
                assert_eq!(report.reason, StopReason::Stagnated, "{label}");
                assert!((report.true_residual - residual).abs() <= 0.05 * residual, "{label}");
                // Half an ulp in every element of x is about what is left: the best iterate, not the last.
                let reachable = 2f64.powi(-24) * 8.0 * norm(&want) / norm(&system.b);
                assert!(residual > 1e-9 && residual <= reachable, "{label}, reachable {reachable:e}");
                assert!(!report.converged() && report.iterations < 2000, "{label}");
            }
        }
    });
}

/// Elements that fit a float whose norm does not.
#[test]
fn a_right_hand_side_whose_norm_is_no_float_is_solved() {
    on_both(|device| {
        let a = texla::BandedMatrix::poisson_2d(device, 8, 8).unwrap();
        let b = Vector::filled(device, 64, 6e37).unwrap();
        let mut x = Vector::zeros(device, 64).unwrap();
        let report = ConjugateGradient::new(&a, CgParams::default()).unwrap().solve(&mut x, &b).unwrap();
        let x: Vec<f64> = x.read().unwrap().iter().map(|v| f64::from(*v)).collect();
        let r: f64 = a
            .pattern()
            .mul_vec(&x)
            .unwrap()
            .iter()
            .map(|ax| ((ax - f64::from(6e37f32)) / 6e37).powi(2))
            .sum();
        assert!(report.converged() || (r / 64.0).sqrt() > 1e-5, "{report:?}");
        assert!(!report.converged() || (r / 64.0).sqrt() <= 2e-5, "{report:?}: {}", (r / 64.0).sqrt());
        assert!(report.iterations > 0);
    });
}

/// What vanishes below the range of floats is an error or a breakdown, never a solution.
#[test]
fn underflow_is_no_convergence() {
    on_both(|device| {
        for tiny in [1e-38f32, 1e-40, f32::from_bits(1)] {
            let refused = Vector::from_slice(device, &[tiny, 0.0]);
            assert!(matches!(refused, Err(texla::Error::Parameter { .. })), "{tiny:e}");
        }
        let apart = texla::host::Triplets::from_diagonal(&[1e20, 1e-20]).to_csr();
        let a = StoredMatrix::new(device, apart, MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let b = Vector::from_slice(device, &[0.0, 1.0]).unwrap();
        let mut x = Vector::zeros(device, 2).unwrap();
        let squares = texla::solve::Cgls::new(&a, texla::solve::CglsParams::default()).unwrap();
        assert!(matches!(squares.solve(&mut x, &b), Err(texla::Error::Matrix { .. })));
        let report = ConjugateGradient::new(&a, CgParams::default()).unwrap().solve(&mut x, &b).unwrap();
        // A device that keeps subnormals divides by what others take for zero, and the quotient leaves the range.
        let small = Vector::from_slice(device, &[1e-20]).unwrap();
        let mut square = Vector::zeros(device, 1).unwrap();
        texla::ops::mul(&mut square, &small, &small).unwrap();
        if square.read().unwrap() == [0.0] {
            assert_eq!(report.reason, texla::solve::StopReason::Breakdown, "{report:?}");
            assert!(report.breakdown.is_some_and(|b| b.to_string().contains("below the range of floats")));
        } else {
            assert_eq!(report.reason, texla::solve::StopReason::Diverged, "{report:?}");
        }
        assert_eq!(x.read().unwrap(), [0.0, 0.0]);
    });
}

/// A host's texture as right-hand side is what its copy would be, and as unknown it is refused.
#[test]
fn borrowed_vectors_in_a_solve() {
    on_both(|device| {
        let values = random::uniform(3, 20);
        let own = Vector::from_slice(device, &values).unwrap();
        let host = texla::Packed::from_rows(device, texla::Shape::new(4, 5), texla::Layout::Column4, &values)
            .unwrap();
        // SAFETY: the texture is 5x1 texels of floats and outlives the vector.
        #[allow(unsafe_code)]
        let mut borrowed = unsafe { Vector::from_texture(device, host.texture(), 5, 1) }.unwrap();
        let mut copied = Vector::zeros(device, 20).unwrap();
        texla::ops::copy(&mut copied, &borrowed).unwrap();
        let csr = texla::host::problems::poisson_1d(20).to_csr();
        for format in [MatrixFormat::Sparse(SparseFormat::Gather), MatrixFormat::Banded] {
            let a = StoredMatrix::new(device, csr.clone(), format).unwrap();
            let solve = |b: &Vector| {
                let mut x = Vector::zeros(device, 20).unwrap();
                let report =
                    ConjugateGradient::new(&a, CgParams::default()).unwrap().solve(&mut x, b).unwrap();
                assert!(report.converged(), "{format:?}: {report:?}");
                assert!(x.read_texels().unwrap()[20..].iter().all(|v| *v == 0.0));
                (report.iterations, x.read().unwrap())
            };
            assert_eq!(solve(&borrowed), solve(&copied));
            let cg = ConjugateGradient::new(&a, CgParams::default()).unwrap();
            let from_zero = |b: &Vector| cg.iterate_from_zero(b, 30).unwrap().0.read().unwrap();
            assert_eq!(from_zero(&borrowed), from_zero(&copied));
            assert!(matches!(cg.solve(&mut borrowed, &own), Err(texla::Error::Unsupported { .. })));
            let product = texla::ops::Combine::Accumulate;
            let refused = texla::ops::product(&mut borrowed, product, 1.0, &a, &own);
            assert!(matches!(refused, Err(texla::Error::Unsupported { .. })));
        }
    });
}

/// The application may hold the name of the unknown's texture.
#[test]
fn a_solve_writes_into_the_callers_texture() {
    on_both(|device| {
        let a = texla::BandedMatrix::poisson_2d(device, 8, 8).unwrap();
        let b = Vector::filled(device, 64, 1.0).unwrap();
        let mut x = Vector::zeros(device, 64).unwrap();
        let before = x.texture();
        ConjugateGradient::new(&a, CgParams::default()).unwrap().solve(&mut x, &b).unwrap();
        assert_eq!(x.texture(), before);
    });
}
