//! Jacobi sweeps with nine bands: every rung of the ladder against the f64 twin, and the solvers on top of it.

mod common;
#[path = "../examples/jacobi_ladder/twin.rs"]
mod twin;

use common::bounds::assert_componentwise;
use common::harness::{assert_padded, headless, limits, on_both, on_both_with};
use common::random::{Rng, uniform};
use common::reference::widen;
use common::worst::worst;
use texla::host::NineBands;
use texla::solve::{
    CgParams, ConjugateGradient, Identity, JacobiLayout, JacobiProblem, JacobiSchedule, JacobiStep,
    NineBandJacobi, NineBandSmoother, Preconditioner, Smoother, Stationary, StationaryParams, Stop,
    StopReason, WeightedJacobi,
};
use texla::{BandedMatrix, Device, Error, Vector};
use twin::{full, twin};

/// A grid with bent lines and a coefficient that varies by elements.
fn distorted(side: usize, seed: u64) -> NineBands {
    let bend = 0.15 + 0.01 * seed as f64;
    let node = |x: usize, y: usize| {
        let (x, y) = (x as f64, y as f64);
        [x + bend * (1.7 * y).sin(), y + bend * (1.1 * x + 0.4 * y).cos()]
    };
    let mut rng = Rng::new(seed);
    NineBands::bilinear(side, node, |_, _| 0.5 + 4.0 * rng.unit()).unwrap()
}

/// Rungs that the device has room for: all of them but on lesser devices, and never only the host's.
fn rungs(dev: &Device, side: usize) -> Vec<JacobiSchedule> {
    let rungs: Vec<_> = JacobiSchedule::LADDER.into_iter().filter(|s| s.fits(dev, side)).collect();
    let caps = dev.capabilities();
    let all = caps.max_texture_size >= 1024 && caps.max_draw_buffers >= 8;
    assert!(rungs.len() >= if all { 14 } else { 11 }, "{rungs:?}");
    rungs
}

const SIDES: [usize; 11] = [1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31];

/// Sweeps four systems of every side by every schedule that is asked for, each held to the tutorial's loop.
fn check_rungs(
    dev: &Device,
    system: impl Fn(usize, u64) -> NineBands,
    wanted: impl Fn(JacobiSchedule) -> bool,
) -> usize {
    let (mut ratio, mut checked) = (0.0f64, 0);
    for side in SIDES {
        let rungs: Vec<_> = rungs(dev, side).into_iter().filter(|s| wanted(*s)).collect();
        for (omega, sweeps) in [(1.0, 1), (0.8, 2), (1.0, 7), (0.7, 25)] {
            let systems: Vec<_> = (0..4)
                .map(|k| (system(side, k), uniform(10 + k, side * side), uniform(20 + k, side * side)))
                .collect();
            let twins: Vec<_> = systems.iter().map(|(a, b, x)| twin(a, b, x, omega, sweeps)).collect();
            let problems: Vec<_> = systems.iter().map(|(a, b, x)| JacobiProblem { a, b, x }).collect();
            for schedule in &rungs {
                let problems = &problems[..schedule.systems()];
                let mut jacobi = NineBandJacobi::new(dev, problems, *schedule, omega).unwrap();
                jacobi.sweep(sweeps).unwrap();
                let read = jacobi.read().unwrap();
                assert_eq!(read.len(), problems.len());
                for (k, (got, (want, bound))) in read.iter().zip(&twins).enumerate() {
                    let name =
                        format!("{schedule:?}, side {side}, omega {omega}, {sweeps} sweeps, system {k}");
                    ratio = worst(ratio, assert_componentwise(&name, got, want, bound));
                    checked += 1;
                }
            }
        }
    }
    eprintln!("worst ratio of error to bound: {ratio:.3}");
    checked
}

#[test]
fn every_rung_within_the_bound_of_the_twin() {
    on_both(|dev| {
        let system = |side, k| if k == 1 { NineBands::laplace(side).unwrap() } else { distorted(side, k) };
        // By four choices of weight and sweeps.
        let systems = |side| rungs(dev, side).iter().map(|s| s.systems()).sum::<usize>();
        assert_eq!(check_rungs(dev, system, |_| true), 4 * SIDES.map(systems).iter().sum::<usize>());
    });
}

/// What a rung reads at the ends of rows is multiplied by numbers like any other: the wrap-around of the tutorial.
#[test]
fn the_tutorials_rungs_go_on_in_the_next_row() {
    on_both(|dev| {
        let packed = |s| matches!(s, JacobiSchedule::Packed { .. });
        let checked = check_rungs(dev, |side, k| full(side, k as usize).unwrap(), |s| !packed(s));
        // Two on the host, four of one system and four of four, at eleven sides.
        assert_eq!(checked, 4 * 11 * (2 + 4 + 16));
        // The others say where.
        let a = full(3, 0).unwrap();
        let problem = JacobiProblem { a: &a, b: &[1.0; 9], x: &[0.0; 9] };
        for schedule in rungs(dev, 3).into_iter().filter(|s| packed(*s)) {
            let live = dev.live_objects();
            let error = NineBandJacobi::new(dev, &[problem], schedule, 1.0).expect_err("refused");
            let Error::Matrix { op: "NineBandJacobi", detail } = &error else { panic!("{error}") };
            assert!(detail.contains("band 6 at unknown 0, which is (0, 0) of the grid"), "{detail}");
            assert_eq!(dev.live_objects(), live);
        }
        let error = NineBandSmoother::new(dev, &a, 1.0).expect_err("refused");
        assert!(matches!(error, Error::Matrix { op: "NineBandSmoother", .. }), "{error}");
        // Anything at any one end of a row is enough, and is found.
        let plain = NineBands::laplace(4).unwrap();
        for (k, i) in (0..9).flat_map(|k| (0..16).map(move |i| (k, i))) {
            let mut bands: [Vec<f64>; 9] = std::array::from_fn(|k| plain.band(k).to_vec());
            let column = i as i64 + plain.offset(k);
            if bands[k][i] != 0.0 || !(0..16).contains(&column) {
                continue;
            }
            bands[k][i] = 0.5;
            let a = NineBands::from_bands(4, bands).unwrap();
            let error = NineBandSmoother::new(dev, &a, 1.0).expect_err("refused");
            let place = format!("has 0.5 in band {k} at unknown {i},");
            assert!(matches!(&error, Error::Matrix { detail, .. } if detail.contains(&place)), "{error}");
            let entries = a.to_triplets().to_csr();
            let own = entries.entries().find(|(row, col, _)| (*row, *col as i64) == (i, column));
            assert_eq!(own.map(|entry| entry.2), Some(0.5));
            assert_eq!(entries.nnz(), plain.to_triplets().nnz() + 1);
        }
    });
}

#[test]
fn sweeps_cost_what_is_said() {
    on_both(|dev| {
        let rungs = rungs(dev, 5);
        let a = NineBands::laplace(5).unwrap();
        let problem = JacobiProblem { a: &a, b: &[1.0; 25], x: &[0.0; 25] };
        for schedule in rungs {
            let problems = vec![problem; schedule.systems()];
            let mut jacobi = NineBandJacobi::new(dev, &problems, schedule, 1.0).unwrap();
            // Both textures of the iterate have been targets then.
            jacobi.sweep(2).unwrap();
            let (before, live) = (dev.counters(), dev.live_objects());
            jacobi.sweep(10).unwrap();
            let spent = dev.counters().since(&before);
            assert_eq!(spent.draws, 10 * schedule.draws() as u64, "{schedule:?}");
            assert_eq!((spent.readbacks, spent.uploads, spent.compiles), (0, 0, 0), "{schedule:?}");
            assert_eq!(dev.live_objects(), live, "{schedule:?}");
        }
    });
}

#[test]
fn what_cannot_be_swept_is_refused() {
    on_both(|dev| {
        let a = NineBands::laplace(3).unwrap();
        let problem = JacobiProblem { a: &a, b: &[1.0; 9], x: &[0.0; 9] };
        let red = JacobiSchedule::Tutorial(JacobiLayout::Red, JacobiStep::ThreePass);
        let rgba = JacobiSchedule::Tutorial(JacobiLayout::Rgba, JacobiStep::ThreePass);
        let refused = |problems: &[JacobiProblem<'_>], schedule, omega| {
            let before = dev.live_objects();
            let error = NineBandJacobi::new(dev, problems, schedule, omega).expect_err("refused");
            assert_eq!(dev.live_objects(), before);
            error
        };
        for (problems, schedule) in
            [(&[problem; 4][..0], red), (&[problem; 4][..2], red), (&[problem; 4][..3], rgba)]
        {
            let error = refused(problems, schedule, 1.0);
            let (found, expected) = (problems.len(), schedule.systems());
            let wanted = Error::LengthMismatch { op: "NineBandJacobi", operand: "problems", found, expected };
            assert_eq!(error, wanted);
        }
        let error = refused(&[JacobiProblem { b: &[1.0; 8], ..problem }], red, 1.0);
        assert!(
            matches!(error, Error::LengthMismatch { operand: "b", found: 8, expected: 9, .. }),
            "{error}"
        );
        let error = refused(&[JacobiProblem { x: &[f32::NAN; 9], ..problem }], red, 1.0);
        assert!(matches!(error, Error::NonFinite { index: 0, .. }), "{error}");
        let other = NineBands::laplace(2).unwrap();
        let four = [problem, problem, JacobiProblem { a: &other, b: &[1.0; 4], x: &[0.0; 4] }, problem];
        assert!(matches!(refused(&four, rgba, 1.0), Error::ShapeMismatch { .. }));
        for omega in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = refused(&[problem], red, omega);
            assert!(matches!(error, Error::Parameter { name: "omega", .. }), "{omega}: {error}");
            let error = NineBandSmoother::new(dev, &a, omega).err().unwrap();
            assert!(matches!(error, Error::Parameter { name: "omega", .. }), "{omega}: {error}");
        }
        for rows in [0, 3, 16] {
            let error = refused(&[problem], JacobiSchedule::Packed { rows }, 1.0);
            assert!(matches!(error, Error::Parameter { name: "rows", .. }), "{rows}: {error}");
            assert!(!JacobiSchedule::Packed { rows }.fits(dev, 3), "{rows}");
        }
        let mut bands: [Vec<f64>; 9] = std::array::from_fn(|k| a.band(k).to_vec());
        bands[NineBands::DD][4] = 0.0;
        let singular = NineBands::from_bands(3, bands.clone()).unwrap();
        for schedule in JacobiSchedule::LADDER {
            let problems = vec![JacobiProblem { a: &singular, ..problem }; schedule.systems()];
            let error = refused(&problems, schedule, 1.0);
            assert!(matches!(&error, Error::Matrix { detail, .. } if detail.contains("row 4")), "{error}");
        }
        bands[NineBands::DD][4] = 1e-39;
        let tiny = NineBands::from_bands(3, bands).unwrap();
        assert!(matches!(
            refused(&[JacobiProblem { a: &tiny, ..problem }], red, 1.0),
            Error::NonFinite { .. }
        ));
        // Devices flush: 5e-39 would be a zero to divide by, and the inverse of 3e38 one to multiply by.
        for d in [5e-39, -5e-39, 3e38, -3e38] {
            let flushed = NineBands::from_bands(
                3,
                std::array::from_fn(|k| vec![if k == NineBands::DD { d } else { 0.0 }; 9]),
            )
            .unwrap();
            for schedule in JacobiSchedule::LADDER {
                let problems = vec![JacobiProblem { a: &flushed, ..problem }; schedule.systems()];
                let error = refused(&problems, schedule, 1.0);
                assert!(
                    matches!(&error, Error::Matrix { detail, .. } if detail.contains("row 0")),
                    "{error}"
                );
            }
        }
        let edges = [1.2e-38, 8e37].map(|d| {
            NineBands::from_bands(
                3,
                std::array::from_fn(|k| vec![if k == NineBands::DD { d } else { 0.0 }; 9]),
            )
            .unwrap()
        });
        for (a, b) in edges.iter().zip([1.2e-38f32, 8e37]) {
            let b = [b; 9];
            for schedule in rungs(dev, 3) {
                let problems = vec![JacobiProblem { a, b: &b, x: &[0.0; 9] }; schedule.systems()];
                let mut jacobi = NineBandJacobi::new(dev, &problems, schedule, 1.0).unwrap();
                jacobi.sweep(1).unwrap();
                let x = jacobi.read().unwrap().concat();
                assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-5), "{schedule:?}: {x:?}");
            }
        }
    });
}

#[test]
fn the_ends_of_the_device_are_typed_errors() {
    let small = limits().with_max_texture_size(Some(64)).with_max_draw_buffers(Some(1));
    on_both_with(small, |dev| {
        let a = NineBands::laplace(65).unwrap();
        let n = a.len();
        let (b, x) = (vec![1.0; n], vec![0.0; n]);
        let problem = JacobiProblem { a: &a, b: &b, x: &x };
        for schedule in JacobiSchedule::LADDER.into_iter().skip(2) {
            let problems = vec![problem; schedule.systems()];
            let error = NineBandJacobi::new(dev, &problems, schedule, 1.0).expect_err("refused");
            match schedule {
                JacobiSchedule::Packed { rows: 2 | 4 | 8 } => {
                    assert!(matches!(error, Error::Unsupported { .. }), "{schedule:?}: {error}");
                }
                _ => assert!(matches!(error, Error::TooLarge { limit: 64, .. }), "{schedule:?}: {error}"),
            }
        }
        assert!(matches!(NineBandSmoother::new(dev, &a, 1.0), Err(Error::TooLarge { limit: 64, .. })));
        // With one draw buffer the smoother does with a row a fragment.
        let a = NineBands::laplace(20).unwrap();
        assert_eq!(JacobiSchedule::best(dev, 20), JacobiSchedule::Packed { rows: 1 });
        check_smoother(dev, &a, 0.9, 3);
    });
    // Arithmetic with floor ends where halves of numbers of unknowns do.
    on_both(|dev| {
        let n = 2049 * 2049;
        let bands = std::array::from_fn(|k| vec![f64::from(u8::from(k == NineBands::DD)); n]);
        let (a, zeros) = (NineBands::from_bands(2049, bands).unwrap(), vec![0.0; n]);
        let problem = JacobiProblem { a: &a, b: &zeros, x: &zeros };
        let schedule = JacobiSchedule::Tutorial(JacobiLayout::Red, JacobiStep::OneShader);
        let error = NineBandJacobi::new(dev, &[problem], schedule, 1.0).expect_err("refused");
        assert!(matches!(error, Error::TooLarge { requested: 2049, limit: 2048, .. }), "{error}");
    });
}

/// The smoother, and the preconditioner, on folded vectors.
fn check_smoother(dev: &Device, a: &NineBands, omega: f64, sweeps: usize) {
    let name = format!("side {}, omega {omega}, {sweeps} sweeps", a.side());
    let (b, x) = (uniform(1, a.len()), uniform(2, a.len()));
    let smoother = NineBandSmoother::new(dev, a, omega).unwrap().preconditioning(sweeps).unwrap();
    let (rhs, mut out) = (Vector::from_slice(dev, &b).unwrap(), Vector::from_slice(dev, &x).unwrap());
    smoother.smooth(&mut out, &rhs, 0).unwrap();
    assert_eq!(out.read().unwrap(), x);
    smoother.smooth(&mut out, &rhs, sweeps).unwrap();
    let (want, bound) = twin(a, &b, &x, omega, sweeps);
    assert_componentwise(&name, &out.read().unwrap(), &want, &bound);
    assert_padded(&out, &name);
    smoother.apply(&mut out, &rhs).unwrap();
    let (want, bound) = twin(a, &b, &vec![0.0; a.len()], omega, sweeps);
    assert_componentwise(&name, &out.read().unwrap(), &want, &bound);
    assert_padded(&out, &name);
}

#[test]
fn the_smoother_sweeps_folded_vectors() {
    on_both(|dev| {
        for side in [1, 2, 3, 4, 6, 8, 11, 17, 31, 32] {
            check_smoother(dev, &distorted(side, 3), 0.8, 1);
            check_smoother(dev, &distorted(side, 4), 1.0, 4);
        }
        let smoother = NineBandSmoother::new(dev, &NineBands::laplace(3).unwrap(), 1.0).unwrap();
        let (mut x, b) = (Vector::zeros(dev, 9).unwrap(), Vector::zeros(dev, 8).unwrap());
        assert!(matches!(smoother.smooth(&mut x, &b, 1), Err(Error::ShapeMismatch { operand: "b", .. })));
        assert!(matches!(smoother.apply(&mut x, &b), Err(Error::ShapeMismatch { operand: "b", .. })));
        let other = headless(dev.api());
        let mut foreign = Vector::zeros(other.device(), 9).unwrap();
        let e = smoother.smooth(&mut x, &foreign, 1).unwrap_err();
        assert!(matches!(&e, Error::WrongDevice { operand, .. } if operand == "b"), "{e}");
        let e = smoother.apply(&mut foreign, &x).unwrap_err();
        assert!(matches!(&e, Error::WrongDevice { operand, .. } if operand == "x"), "{e}");
        assert!(smoother.preconditioning(0).is_err());
    });
}

/// The same as the general smoother, certified; and an omega past `2 / 1.5`, the end of the spectrum, diverges.
#[test]
fn it_converges_and_divergence_is_found() {
    on_both(|dev| {
        let side = 12;
        let a = NineBands::laplace(side).unwrap();
        let operator = BandedMatrix::from_triplets(dev, &a.to_triplets()).unwrap();
        assert_eq!(operator.offsets().len(), 9);
        let b = Vector::from_slice(dev, &uniform(3, a.len())).unwrap();
        let params = StationaryParams::default().with_stop(Stop::relative(1e-5));
        let solve = |smoother: &dyn Smoother| {
            let mut x = Vector::zeros(dev, a.len()).unwrap();
            let report = Stationary::new(&operator, smoother, params).unwrap().solve(&mut x, &b).unwrap();
            (report, x.read().unwrap())
        };
        let (report, x) = solve(&NineBandSmoother::new(dev, &a, 1.0).unwrap());
        assert_eq!(report.reason, StopReason::Converged, "{report:?}");
        assert_eq!(report.readbacks_in_loop, 0);
        let residual = residual(&a, &b.read().unwrap(), &x);
        assert!(residual <= 2e-5, "{residual}");
        let (general, _) = solve(&WeightedJacobi::new(&operator, 1.0).unwrap());
        assert!(
            general.iterations.abs_diff(report.iterations) <= params.test_every,
            "{general:?} {report:?}"
        );
        assert!(report.draws_per_iteration <= general.draws_per_iteration, "{general:?} {report:?}");
        let (report, x) = solve(&NineBandSmoother::new(dev, &a, 1.45).unwrap());
        assert_eq!(report.reason, StopReason::Diverged, "{report:?}");
        assert!(x.iter().all(|x| x.is_finite()));
    });
}

/// `‖b - A x‖ / ‖b‖` in f64.
fn residual(a: &NineBands, b: &[f32], x: &[f32]) -> f64 {
    let product = a.to_triplets().to_csr().mul_vec(&widen(x)).unwrap();
    let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    norm(&mut widen(b).iter().zip(&product).map(|(b, p)| b - p)) / norm(&mut widen(b).into_iter())
}

#[test]
fn it_preconditions_conjugate_gradients() {
    on_both(|dev| {
        let side = 32;
        // Coefficients that differ by much: conjugate gradients alone take long.
        let node = |x: usize, y: usize| [x as f64, y as f64];
        let coefficient = |x: usize, y: usize| if (x / 3 + y / 3).is_multiple_of(2) { 1.0 } else { 100.0 };
        let a = NineBands::bilinear(side, node, coefficient).unwrap();
        let operator = BandedMatrix::from_triplets(dev, &a.to_triplets()).unwrap();
        let b = uniform(4, a.len());
        let rhs = Vector::from_slice(dev, &b).unwrap();
        let params = CgParams::default().with_stop(Stop::relative(1e-5).check_every(1));
        let solve = |m: &dyn Preconditioner| {
            let cg = ConjugateGradient::preconditioned(&operator, m, params).unwrap();
            let mut x = Vector::zeros(dev, a.len()).unwrap();
            let report = cg.solve(&mut x, &rhs).unwrap();
            assert_eq!(report.reason, StopReason::Converged, "{report:?}");
            assert!(residual(&a, &b, &x.read().unwrap()) <= 2e-5);
            report.iterations
        };
        let smoother = NineBandSmoother::new(dev, &a, 1.0).unwrap();
        let plain = solve(&Identity);
        let two = solve(&smoother);
        assert!(4 * two < 3 * plain, "{two} iterations, {plain} without");
    });
}

/// Powers of two come out as they went in, which solvers build on.
#[test]
fn sweeps_are_linear_in_powers_of_two() {
    on_both(|dev| {
        let a = distorted(7, 5);
        let smoother = NineBandSmoother::new(dev, &a, 0.9).unwrap();
        let swept = |factor: f32| {
            let scaled = |seed| uniform(seed, 49).iter().map(|v| v * factor).collect::<Vec<_>>();
            let mut x = Vector::from_slice(dev, &scaled(6)).unwrap();
            smoother.smooth(&mut x, &Vector::from_slice(dev, &scaled(7)).unwrap(), 3).unwrap();
            x.read().unwrap()
        };
        let (one, many) = (swept(1.0), swept(2f32.powi(40)));
        assert!(one.iter().zip(&many).all(|(a, b)| a * 2f32.powi(40) == *b));
    });
}
