//! "Converged" means converged: of the `x` that the caller gets, against the system in 64 bits, whatever its size, its start
//! and what rounding hides.

use crate::common::harness::on_both;
use crate::common::{random, reference};
use crate::systems::{Method, apply, csr, entries, mapped, normal_residual, relative_residual, rhs_of_ones};
use texla::host::Csr;
use texla::solve::{CgSchedule, SolveReport, Stop, StopReason};
use texla::{Device, Error, MatrixFormat, Result, SparseFormat, StoredMatrix, Vector};

const METHODS: [Method; 6] = [
    Method::Cg(CgSchedule::Auto),
    Method::Cg(CgSchedule::Listing),
    Method::BiCgStab,
    Method::BiCgStab2,
    Method::Cgls,
    Method::Jacobi(0.6),
];

/// The result, and what is said of it.
fn solve(
    device: &Device,
    method: Method,
    (a, b): (&Csr, &[f64]),
    start: &[f32],
    stop: Stop,
) -> Result<(Vec<f32>, SolveReport)> {
    let a = StoredMatrix::new(device, a.clone(), MatrixFormat::Sparse(SparseFormat::Gather))?;
    let b = Vector::from_f64(device, b)?;
    let mut x = Vector::from_slice(device, start)?;
    let report = method.solve(&a, &mut x, &b, 400, stop)?;
    Ok((x.read()?, report))
}

/// The verdict is so in 64 bits, and what comes out are numbers.
#[track_caller]
fn assert_honest(label: &str, (a, b): (&Csr, &[f64]), (x, report): &(Vec<f32>, SolveReport), bound: f64) {
    assert!(x.iter().all(|v| v.is_finite()), "{label}: {x:?}");
    if report.reason != StopReason::Converged {
        return;
    }
    let own = relative_residual(a, x, b);
    // Least squares may end by either.
    let normal = report.least_squares_residual.map(|_| normal_residual(a, x, b));
    let met = [Some(own), normal].into_iter().flatten().any(|residual| residual <= 1.001 * bound);
    assert!(met, "{label}: converged at {own:e}, normal equations {normal:?}: {report:?}");
}

#[test]
fn what_has_no_room_in_32_bits_has_not_converged() {
    on_both(|device| {
        for (a, b) in [(1e12, 1e-30), (1e-20, 1e20)] {
            let system = (&entries(5, 5, (0..5).map(|i| (i, i, a))), &[b; 5][..]);
            for method in METHODS {
                for start in [0.0, 1.0] {
                    let label = format!("{a:e} x = {b:e} from {start}, {method:?}");
                    let found = solve(device, method, system, &[start; 5], Stop::relative(1e-4)).unwrap();
                    assert_ne!(found.1.reason, StopReason::Converged, "{label}: {:?}", found.0);
                    assert_honest(&label, system, &found, 1e-4);
                }
            }
        }
    });
}

/// `b` times what makes it about 1 takes a start out of the range that is in it.
#[test]
fn a_start_beyond_the_scale_of_b_does_no_harm() {
    on_both(|device| {
        let system = (&entries(3, 3, (0..3).map(|i| (i, i, 2.0))), &[1e-36; 3][..]);
        for method in METHODS {
            for start in [1e3, 1e30] {
                let found = solve(device, method, system, &[start; 3], Stop::relative(1e-4)).unwrap();
                let label = format!("from {start:e}, {method:?}");
                assert_eq!(found.1.reason, StopReason::Converged, "{label}: {found:?}");
                assert_honest(&label, system, &found, 1e-4);
            }
        }
    });
}

#[test]
fn systems_of_any_size() {
    on_both(|device| {
        let a = csr(&random::spd(7, 10, 0.3));
        let b = rhs_of_ones(&a);
        // By method: solved, and refused.
        let mut counted = [(0, 0); METHODS.len()];
        for e in [-120, -80, -40, 0, 40, 80, 120] {
            for f in [-120, -80, -40, 0, 40, 80, 120] {
                let scaled = (
                    mapped(&a, |v| v * 2f64.powi(e)),
                    b.iter().map(|v| v * 2f64.powi(f)).collect::<Vec<_>>(),
                );
                for (method, counted) in METHODS.into_iter().zip(&mut counted) {
                    let label = format!("A 2^{e}, b 2^{f}, {method:?}");
                    match solve(device, method, (&scaled.0, &scaled.1), &[0.0; 10], Stop::relative(1e-5)) {
                        Ok(found) => {
                            counted.0 += u32::from(found.1.reason == StopReason::Converged);
                            assert_honest(&label, (&scaled.0, &scaled.1), &found, 1e-5);
                        }
                        // What overflows or vanishes at the door is refused there.
                        Err(Error::NonFinite { .. } | Error::Matrix { .. }) => counted.1 += 1,
                        Err(other) => panic!("{label}: {other}"),
                    }
                }
            }
        }
        assert!(counted.iter().all(|(converged, refused)| *converged >= 20 && *refused <= 10), "{counted:?}");
    });
}

/// A constant of 1e16 is mapped to zero, and so is what ought to be seen beside it.
#[test]
fn cancellation_hides_no_residual() {
    on_both(|device| {
        let w = 0.3;
        let path = [(0, 0, w), (0, 1, -w), (1, 0, -w), (1, 1, 2.0 * w), (1, 2, -w), (2, 1, -w), (2, 2, w)];
        let system = (&entries(3, 3, path), &[1.0, 0.0, -1.0][..]);
        for method in METHODS {
            for start in [1e16, 1e10, 1e7, 3e30] {
                let label = format!("from {start:e}, {method:?}");
                let found = solve(device, method, system, &[start; 3], Stop::relative(1e-5)).unwrap();
                // From so far off zero is the better start, and there is a solution near it. A start that hides nothing
                // may keep its constant, where 32 bits have no room for the rest.
                if start >= 1e10 {
                    assert_eq!(found.1.reason, StopReason::Converged, "{label}: {found:?}");
                    assert!(found.0.iter().all(|x| x.abs() < 1e4), "{label}: {found:?}");
                }
                assert_honest(&label, system, &found, 1e-5);
            }
        }
    });
}

/// The right-hand side lies on the device in 32 bits, and what is given in 64 may be 2⁻²⁴ away from that.
#[test]
fn closer_than_the_right_hand_side_nothing_is_certified() {
    on_both(|device| {
        let system = (&entries(4, 4, (0..4).map(|i| (i, i, 1.0))), &[0.1, 0.2, 0.3, 0.7][..]);
        for method in METHODS {
            for (tol, reason) in [(1e-10, StopReason::Uncertified), (1e-7, StopReason::Converged)] {
                let found =
                    solve(device, method, system, &[0.1, 0.2, 0.3, 0.7], Stop::relative(tol)).unwrap();
                assert_eq!(found.1.reason, reason, "{method:?} to {tol:e}: {:?}", found.1);
            }
        }
    });
}

/// Both residuals of least squares are told as they are, and either ends the iterations.
#[test]
fn least_squares_tell_both_residuals() {
    on_both(|device| {
        let stop = |tol| Stop::relative(tol).check_every(64);
        let said = |a: &Csr, b: &[f64], start: &[f32], tol: f64| {
            let (x, report) = solve(device, Method::Cgls, (a, b), start, stop(tol)).unwrap();
            let other = report.least_squares_residual.unwrap();
            let (want, normal) = (relative_residual(a, &x, b), normal_residual(a, &x, b));
            assert!((other - want).abs() <= 1e-3 * want + 1e-7, "{other:e}, not {want:e}");
            assert!((report.true_residual - normal).abs() <= 1e-3 * normal + 1e-7, "{report:?}, {normal:e}");
            assert_eq!(report.reason, StopReason::Converged, "{report:?}");
            (report.true_residual, other, report.iterations)
        };
        // Consistent, with the large part of b along a small singular value: the normal equations are met at once.
        let a = entries(40, 20, (0..20).map(|i| (i, i, 0.5f64.powi(i as i32 / 2))));
        let b: Vec<f64> = (0..40)
            .map(|i| {
                if i < 18 {
                    1.0
                } else if i < 20 {
                    40.0
                } else {
                    0.0
                }
            })
            .collect();
        let (normal, own, _) = said(&a, &b, &[0.0; 20], 1e-2);
        assert!(normal <= 1e-2 && own > 0.02, "{normal:e} {own:e}");
        // The other way round: what is left of b lies along a large singular value.
        let a = entries(40, 20, (0..20).map(|i| (i, i, 1.0 + 5.0 * i as f64)));
        let start: Vec<f32> = (0..20).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
        let b: Vec<f64> = (0..40)
            .map(|i| {
                if i == 0 {
                    1.0
                } else if i == 19 {
                    5e-3
                } else {
                    0.0
                }
            })
            .collect();
        let (normal, own, iterations) = said(&a, &b, &start, 1e-2);
        assert!(own <= 1e-2 && normal > 1e-2 && iterations == 0, "{normal:e} {own:e} {iterations}");
        // The device itself freezes by it, whenever the host looks.
        let b: Vec<f64> = (0..40).map(|i| if i < 20 { (-(i as f64)).exp() } else { 0.0 }).collect();
        let counted = |every| {
            let stop = Stop::relative(1e-2).check_every(every);
            solve(device, Method::Cgls, (&a, &b), &[0.0; 20], stop).unwrap().1.iterations
        };
        assert!(counted(1) > 1 && counted(1) == counted(64), "{} {}", counted(1), counted(64));
        // And an inconsistent one has a residual that stays.
        let a = entries(40, 20, (0..40).map(|i| (i, i % 20, 1.0)));
        let b: Vec<f64> = (0..40).map(|i| if i < 20 { 1.0 } else { 3.0 }).collect();
        let (normal, own, _) = said(&a, &b, &[0.0; 20], 1e-5);
        assert!(normal <= 1e-5 && (own - 0.2f64.sqrt()).abs() <= 1e-4, "{normal:e} {own:e}");
    });
}

/// Bounds on errors go by the bits of coefficients: arithmetic takes the weight across for zero here, and with it a row
/// that is off by more than a hundredth of `b`.
#[test]
fn coefficients_below_the_range_are_not_overlooked() {
    use texla::{Grid, Side, Sides, Stencil, StencilParams};
    on_both(|device| {
        let sides = Sides { x: [Side::Neumann; 2], y: [Side::DIRICHLET; 2], z: [Side::Neumann; 2] };
        let params = StencilParams::new([1.0, 1e-40, 0.0], sides).with_solid(&[false, true, false, false]);
        let a = Stencil::new(device, Grid::new_2d(4, 1), params).unwrap();
        let b = Vector::from_slice(device, &[0.0, 0.0, 1.0, -1.0]).unwrap();
        for schedule in crate::systems::SCHEDULES {
            let mut x = Vector::from_slice(device, &[1e38, 0.0, 0.5, -0.5]).unwrap();
            let params = texla::solve::CgParams::default().with_schedule(schedule).with_max_iters(100);
            let report = texla::solve::ConjugateGradient::new(&a, params).unwrap().solve(&mut x, &b).unwrap();
            let off = 2e-40 * f64::from(x.read().unwrap()[0]) / 2f64.sqrt();
            assert!(!report.converged() || off.abs() <= 1e-5, "{schedule:?}: {off:e} in {report:?}");
        }
    });
}

/// What an operator tells of its sums: magnitude, rest, and a bound on the error that holds and is no guess into the blue.
#[test]
fn parts_of_accurate_products() {
    use texla::ops::{self, Accurate, Part};
    on_both(|device| {
        let a = crate::systems::rounded(&csr(&random::spd(9, 37, 0.3)));
        let formats = [MatrixFormat::Sparse(SparseFormat::Gather), MatrixFormat::Banded];
        // Terms of very different sizes, which cancel.
        let x: Vec<f32> =
            random::uniform(10, 37).iter().enumerate().map(|(i, v)| v * 4f32.powi(i as i32 % 9)).collect();
        let z: Vec<f32> = random::uniform(11, 37);
        for format in formats {
            let operator = StoredMatrix::new(device, a.clone(), format).unwrap();
            let (dx, dz) = (Vector::from_slice(device, &x).unwrap(), Vector::from_slice(device, &z).unwrap());
            for transposed in [false, true] {
                let part = |part| {
                    let mut out = Vector::zeros(device, 37).unwrap();
                    let terms = Accurate { transposed, alpha: -0.5, x: &dx, plus: Some((4.0, &dz)) };
                    assert!(ops::product_part(&mut out, &operator, terms, part).unwrap());
                    crate::common::harness::assert_padded(&out, "part");
                    reference::widen(&out.read().unwrap())
                };
                let [sum, rest] = [part(Part::Sum), part(Part::Rest)];
                let [magnitude, error] = [part(Part::Magnitude), part(Part::Error)];
                let m = if transposed { a.transposed() } else { a.clone() };
                let half: Vec<f64> = x.iter().map(|v| -0.5 * f64::from(*v)).collect();
                let four: Vec<f64> = z.iter().map(|v| 4.0 * f64::from(*v)).collect();
                let want = reference::add(&crate::systems::apply(&m, &half), &four);
                let size = reference::add(
                    &crate::systems::apply_abs(&m, &half),
                    &four.iter().map(|v| v.abs()).collect::<Vec<_>>(),
                );
                for i in 0..37 {
                    assert!(
                        (magnitude[i] - size[i]).abs() <= 1e-5 * size[i],
                        "{i}: {} {}",
                        magnitude[i],
                        size[i]
                    );
                    let off = (sum[i] + rest[i] - want[i]).abs();
                    // The twin itself is off by some 2^-53 of the magnitude.
                    assert!(off <= error[i] + 1e-15 * size[i], "{i}: off by {off:e}, bound {:e}", error[i]);
                    assert!(
                        error[i] <= 40.0 * 2f64.powi(-44) * size[i] && error[i] > 0.0,
                        "{i}: {:e}",
                        error[i]
                    );
                }
                assert!(rest.iter().any(|v| *v != 0.0));
            }
        }
    });
}

/// `Aᵀb` is so small beside `b` that its square vanishes: whatever is aimed at is met by doing nothing, for ever.
#[test]
fn squares_that_vanish_end_a_solve() {
    on_both(|device| {
        let a = entries(3, 3, [(0, 0, 1e-15), (1, 1, 1e15), (1, 2, 1.0), (2, 2, 1e-15)]);
        let b = [1.0, 0.0, 1.0];
        for tol in [1e-5, 1e-10] {
            let found = solve(device, Method::Cgls, (&a, &b), &[0.0; 3], Stop::relative(tol)).unwrap();
            assert_ne!(found.1.reason, StopReason::Converged, "{found:?}");
            assert!(found.1.true_residual <= 1.0 + 1e-6, "{found:?}");
        }
    });
}

/// One step is exact, and what is left is rounding: the direction after it is of no use, and going on along it diverges.
#[test]
fn far_starts_on_multiples_of_the_identity() {
    on_both(|device| {
        for (c, b, start) in
            [(1.9197592735290527, 7.508895e-6, 0.53307366), (1.0165709257125854, 7.3436313e-6, 0.6228478)]
        {
            let system = (&entries(1, 1, [(0, 0, c)]), &[b][..]);
            let found =
                solve(device, Method::Cg(CgSchedule::Auto), system, &[start], Stop::relative(1e-3)).unwrap();
            assert_eq!(found.1.reason, StopReason::Converged, "{found:?}");
        }
        let mut diverged = Vec::new();
        for (seed, n) in (0..60).zip([1, 2, 4, 16].into_iter().cycle()) {
            let v = random::nonzero(300 + seed, 2 * n + 1);
            let c = 1.0 + f64::from(v[0].abs());
            let a = entries(n, n, (0..n).map(|i| (i, i, c)));
            let b: Vec<f64> =
                v[1..=n].iter().map(|v| f64::from(*v) * 2f64.powi(-14 - seed as i32 % 20)).collect();
            let found =
                solve(device, Method::Cg(CgSchedule::Auto), (&a, &b), &v[n + 1..], Stop::relative(1e-3))
                    .unwrap();
            if found.1.reason != StopReason::Converged {
                diverged.push((seed, n, found.1.reason));
            }
        }
        assert!(diverged.is_empty(), "{diverged:?}");
    });
}

/// A bound that rounding has no room for: the solvers come to an end, and say so.
#[test]
fn a_bound_within_rounding_comes_to_an_end() {
    on_both(|device| {
        let eye = entries(3, 3, (0..3).map(|i| (i, i, 1.0)));
        for bound in [1e-12, 1e-13, 1e-15, 1e-18] {
            for method in METHODS {
                let label = format!("{method:?} to {bound:e}");
                let system = (&eye, &[1.0, 2.0, 3.0][..]);
                let found = solve(device, method, system, &[0.0; 3], Stop::relative(bound)).unwrap();
                assert!(found.1.iterations <= 400, "{label}: {:?}", found.1);
                assert_honest(&label, system, &found, bound);
            }
        }
        // Of the constant, next to nothing is left: what rounding hides of it is of the size of the default bound.
        let n = 64;
        let close = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
        let value = |(i, j)| (i, j, if i == j { 63.0 + 1.0 / f64::from(1 << 18) } else { -1.0 });
        let a = entries(n, n, close.map(value));
        for bound in [1e-4, 1e-5, 1e-6] {
            for method in METHODS {
                let system = (&a, &vec![1.0; n][..]);
                let found = solve(device, method, system, &vec![0.0; n], Stop::relative(bound)).unwrap();
                assert_honest(&format!("{method:?} to {bound:e}"), system, &found, bound);
            }
        }
    });
}

/// Products that vanish below the range, and low parts of coefficients that do: neither is certified.
#[test]
fn what_underflows_is_not_certified() {
    on_both(|device| {
        for (power, off) in [(-123, 0.1), (-120, 1e-2), (-118, 1e-3)] {
            let s = f64::from(power).exp2();
            let a = entries(4, 3, [(0, 0, 1.0), (1, 1, s), (2, 1, s / 2.0), (2, 2, s), (3, 2, s / 4.0)]);
            let x = [0.0, 1.0 / s, 0.5 / s];
            let b = apply(&a, &x);
            let start = x.map(|v| (v * (1.0 + off)) as f32);
            let found = solve(device, Method::Cgls, (&a, &b), &start, Stop::relative(1e-6)).unwrap();
            assert_honest(&format!("s = 2^{power}"), (&a, &b), &found, 1e-6);
        }
        for power in [-105, -110] {
            let s = f64::from(power).exp2();
            let block = [
                (1, 1, 0.101),
                (1, 2, -0.1),
                (2, 1, -0.1),
                (2, 2, 0.8),
                (2, 3, -0.7),
                (3, 2, -0.7),
                (3, 3, 0.701),
            ];
            let all = || block.iter().map(|(i, j, v)| (*i, *j, v * s));
            let a = entries(4, 4, all().chain([(0, 0, 1.0)]));
            let rounded =
                entries(4, 4, all().map(|(i, j, v)| (i, j, f64::from(v as f32))).chain([(0, 0, 1.0)]));
            let start = [0.0, 1.0, 1.000_976_6, 1.0f32];
            let b = apply(&rounded, &start.map(f64::from));
            for method in METHODS {
                let found = solve(device, method, (&a, &b), &start, Stop::relative(1e-5)).unwrap();
                assert_honest(&format!("2^{power}, {method:?}"), (&a, &b), &found, 1e-5);
            }
        }
    });
}
