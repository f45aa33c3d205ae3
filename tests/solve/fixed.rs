//! A fixed number of iterations: nothing read, the same draws whatever happens, frozen once the bound is met.

use texla::host::{Triplets, problems};
use texla::ops::{ReducePlan, Windows};
use texla::solve::{
    CgParams, CgSchedule, ConjugateGradient, FixedReport, Jacobi, LinOp, Preconditioner, Stop,
};
use texla::{BandedMatrix, Device, Error, Shape, Vector};

use crate::common::harness::on_both;
use crate::common::random::uniform;
use crate::common::worst::worst_of;
use crate::systems;

fn params(schedule: CgSchedule) -> CgParams {
    CgParams::default().with_schedule(schedule).with_stop(Stop::relative(1e-4))
}

/// The iterate, how the run went, and the draws it took.
fn iterate(a: &dyn LinOp, schedule: CgSchedule, b: &[f32], count: usize) -> (Vec<f32>, FixedReport, u64) {
    let b = Vector::from_slice(a.device(), b).unwrap();
    iterate_by(&ConjugateGradient::new(a, params(schedule)).unwrap(), &b, count)
}

fn iterate_by(
    cg: &ConjugateGradient<impl LinOp, impl Preconditioner>,
    b: &Vector,
    count: usize,
) -> (Vec<f32>, FixedReport, u64) {
    let dev: &Device = b.device();
    let mut x = Vector::zeros(dev, b.len()).unwrap();
    let before = dev.counters();
    let run = cg.iterate(&mut x, b, count).unwrap();
    let done = dev.counters().since(&before);
    assert_eq!((done.readbacks, done.async_checks, done.uploads), (0, 0, 0));
    (x.read().unwrap(), run.read().unwrap(), done.draws)
}

#[test]
fn iterates_freeze_where_the_solver_stops() {
    on_both(|dev| {
        let csr = problems::poisson_2d(19, 13).to_csr();
        let a = BandedMatrix::from_csr(dev, csr.clone()).unwrap();
        let b = uniform(4, 247);
        for schedule in systems::SCHEDULES {
            let (x, report, draws) = iterate(&a, schedule, &b, 80);
            assert!(report.met && report.iterations < 80, "{report:?}");
            let (more, again, draws_of_more) = iterate(&a, schedule, &b, 160);
            assert_eq!((more, again), (x.clone(), report), "frozen");
            let fewer = iterate(&a, schedule, &b, 40).2;
            assert_eq!(draws_of_more - draws, 2 * (draws - fewer), "a fixed number of draws");
            let (_, short, _) = iterate(&a, schedule, &b, report.iterations - 2);
            assert_eq!((short.iterations, short.met, short.breakdown), (report.iterations - 2, false, None));
            let (zero, quiet, draws_of_zero) = iterate(&a, schedule, &[0.0; 247], 80);
            assert_eq!((quiet.iterations, draws_of_zero), (0, draws));
            assert!(zero.iter().all(|x| *x == 0.0));
            // The residual is what was promised, up to the rounding of the recurrence.
            let x: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
            let square = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>();
            let mut ax = vec![0.0; 247];
            csr.entries().for_each(|(i, j, v)| ax[i] += v * x[j]);
            let r = square(&mut ax.iter().zip(&b).map(|(ax, b)| f64::from(*b) - ax));
            assert!((r / square(&mut b.iter().map(|b| f64::from(*b)))).sqrt() <= 1.1e-4);
        }
    });
}

/// Whatever the update of `x` waits for, an odd number of iterations and a frozen one included; and it costs the fewer
/// draws: no residual of a start and no sum besides that of the first iteration.
#[test]
fn from_zero_is_from_a_start_of_zeros() {
    on_both(|dev| {
        let a = BandedMatrix::poisson_2d(dev, 19, 13).unwrap();
        let b = Vector::from_slice(dev, &uniform(4, 247)).unwrap();
        let stages = ReducePlan::new(b.extent(), Windows::Balanced).stages().len() as u64;
        let jacobi = Jacobi::new(&a).unwrap();
        for (schedule, diagonal) in systems::SCHEDULES.into_iter().flat_map(|s| [(s, false), (s, true)]) {
            let (mut steps, mut none) = (Vec::new(), None);
            let m = diagonal.then_some(&jacobi);
            let cg = ConjugateGradient::preconditioned(&a, m, params(schedule)).unwrap();
            for count in [0, 1, 2, 3, 4, 79, 80] {
                let (x, report, draws) = iterate_by(&cg, &b, count);
                let before = dev.counters();
                let (own, run) = cg.iterate_from_zero(&b, count).unwrap();
                let done = dev.counters().since(&before);
                assert_eq!((done.readbacks, done.async_checks), (0, 0));
                assert_eq!((own.read().unwrap(), run.read().unwrap()), (x.clone(), report), "{count}");
                assert_eq!(report.iterations, count.min(report.iterations));
                steps.push(x);
                // Besides iterations: the largest element of b, and whether those of x are finite; and the first direction.
                let besides = match schedule {
                    CgSchedule::Listing => 2 + 3 * stages,
                    CgSchedule::Fused => 1 + 2 * stages,
                    _ => 2 * stages + u64::from(diagonal),
                };
                let start = *none.get_or_insert(draws);
                assert_eq!(done.draws, draws - start + besides, "{schedule:?} {count}");
            }
            // One iteration leads to another place than the one before, until they are frozen.
            assert!(steps[..5].windows(2).all(|pair| pair[0] != pair[1]) && steps[5] == steps[6]);
            let cg = ConjugateGradient::new(&a, params(schedule)).unwrap();
            assert!(matches!(cg.iterate_from_zero(&b, 1 << 24), Err(Error::Parameter { .. })));
            let short = Vector::zeros(dev, 1).unwrap();
            let refused = cg.iterate_from_zero(&short, 4);
            assert!(matches!(refused, Err(Error::ShapeMismatch { operand: "b", .. })));
        }
    });
}

#[test]
fn a_guess_is_improved_and_a_preconditioner_used() {
    on_both(|dev| {
        let a = BandedMatrix::poisson_2d(dev, 9, 9).unwrap();
        let b = Vector::from_slice(dev, &uniform(7, 81)).unwrap();
        let mut x = Vector::zeros(dev, 81).unwrap();
        let jacobi = Jacobi::new(&a).unwrap();
        for schedule in systems::SCHEDULES {
            let cg = ConjugateGradient::preconditioned(&a, &jacobi, params(schedule)).unwrap();
            x.set_zero().unwrap();
            assert!(cg.iterate(&mut x, &b, 60).unwrap().read().unwrap().met);
            let kept = x.read().unwrap();
            // Good enough already: nothing is done, and nothing lost.
            let again = cg.iterate(&mut x, &b, 5).unwrap().read().unwrap();
            assert!(again.met && again.iterations <= 1, "{again:?}");
            let apart = worst_of(&x.read().unwrap(), &kept, |a, b| f64::from((a - b).abs()));
            assert!(apart < 1e-3, "{apart}");
        }
    });
}

#[test]
fn what_the_theory_excludes_is_told_on_request() {
    on_both(|dev| {
        let indefinite = Triplets::from_dense(Shape::new(2, 2), &[1.0, 0.0, 0.0, -2.0]).unwrap();
        let a = BandedMatrix::from_triplets(dev, &indefinite).unwrap();
        let b = Vector::from_slice(dev, &[1.0, 1.0]).unwrap();
        for schedule in systems::SCHEDULES {
            let mut x = Vector::zeros(dev, 2).unwrap();
            let cg = ConjugateGradient::new(&a, params(schedule)).unwrap();
            let run = cg.iterate(&mut x, &b, 4).unwrap();
            let report = run.read().unwrap();
            assert!(!report.met && report.iterations == 0, "{report:?}");
            let broken = report.breakdown.unwrap();
            assert!(broken.quantity == "p.Ap" && broken.iteration == 0 && broken.value < 0.0, "{broken}");
            assert!(broken.to_string().contains("the matrix is not positive definite"), "{broken}");
            assert_eq!(x.read().unwrap(), [0.0, 0.0]);
            let short = Vector::zeros(dev, 1).unwrap();
            assert!(matches!(cg.iterate(&mut x, &short, 4), Err(Error::ShapeMismatch { .. })));
            assert!(matches!(cg.iterate(&mut x, &b, 1 << 24), Err(Error::Parameter { .. })));
        }
    });
}

/// Whatever the units of `b` are: sums are taken in others.
#[test]
fn units_change_no_bit() {
    on_both(|dev| {
        let a = BandedMatrix::poisson_2d(dev, 19, 13).unwrap();
        // Of 12 bits, so that no element or product of them comes near the end of the range.
        let b: Vec<f32> = uniform(4, 247).into_iter().map(|v| (v * 2048.0).round() / 2048.0).collect();
        for schedule in systems::SCHEDULES {
            for count in [0, 1, 7, 80] {
                let once = iterate(&a, schedule, &b, count);
                assert_eq!(once.1.met, count == 80);
                for exponent in [-85, -62, -41, 40, 62, 110] {
                    let unit = 2f32.powi(exponent);
                    let scaled: Vec<f32> = b.iter().map(|v| v * unit).collect();
                    let (x, report, draws) = iterate(&a, schedule, &scaled, count);
                    let x: Vec<f32> = x.iter().map(|v| v / unit).collect();
                    assert_eq!((x, report, draws), once, "{schedule:?}, {count} of 2^{exponent}");
                }
            }
        }
        // From a start as well.
        let ones = vec![1.0; 247];
        let near: Vec<f32> = uniform(5, 247);
        let cg = ConjugateGradient::new(&a, params(CgSchedule::Auto)).unwrap();
        let from = |unit: f32| {
            let scaled = |v: &[f32]| v.iter().map(|v| v * unit).collect::<Vec<f32>>();
            let b = Vector::from_slice(dev, &scaled(&ones)).unwrap();
            let mut x = Vector::from_slice(dev, &scaled(&near)).unwrap();
            let report = cg.iterate(&mut x, &b, 40).unwrap().read().unwrap();
            let x: Vec<f32> = x.read().unwrap().iter().map(|v| v / unit).collect();
            (x, report)
        };
        assert!(from(1.0).1.iterations > 4);
        for exponent in [-70, 70] {
            assert_eq!(from(2f32.powi(exponent)), from(1.0), "2^{exponent}");
        }
    });
}
