//! What is known of a matrix: null spaces, vectors that are nearly in them, what solves have shown, and how long they may take.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::common::harness::on_both;
use crate::common::pairs::is_exact;
use crate::precondition::stored;
use crate::systems::{entries, rhs_of_ones};
use texla::host::{Csr, NearNullSpace, problems};
use texla::solve::{
    AggregationMultigrid, AggregationParams, Auto, AutoEvent, AutoParams, CgParams, ConjugateGradient,
    DirectUse, GivenUp, HostSystem, HostSystemParams, MethodKind, PreconditionerKind, Recurrence, Stop,
    StopReason,
};
use texla::{DoubleVector, Error, MatrixFormat, StoredMatrix, Vector};

/// A grid of springs without a hold.
fn floating(nx: usize, ny: usize) -> Csr {
    let n = nx * ny;
    let mut all = Vec::new();
    for i in 0..n {
        let beside = if (i + 1) % nx != 0 { Some(i + 1) } else { None };
        for j in beside.into_iter().chain(Some(i + nx).filter(|j| *j < n)) {
            let k = 1.0 + (i % 3) as f64;
            all.extend([(i, i, k), (j, j, k), (i, j, -k), (j, i, -k)]);
        }
    }
    entries(n, n, all)
}

/// Times a diagonal from both sides.
fn scaled(a: &Csr, d: impl Fn(usize) -> f64) -> Csr {
    entries(a.shape().rows, a.shape().cols, a.entries().map(|(i, j, v)| (i, j, d(i) * v * d(j))))
}

#[test]
fn solutions_are_orthogonal_to_a_null_space_that_is_declared() {
    on_both(|device| {
        let (nx, ny) = (21, 17);
        let n = nx * ny;
        let a = floating(nx, ny);
        for d in [|_: usize| 1.0, |i: usize| f64::from(1u32 << (i % 5))] {
            let a = scaled(&a, d);
            let null: Vec<f64> = (0..n).map(|i| 1.0 / d(i)).collect();
            let matrix = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
            let matrix = matrix.with_null_space(&[null.iter().map(|v| 3.0 * v).collect()]).unwrap();
            let space = NearNullSpace::new(vec![null.clone()]).unwrap();
            let matrix = matrix.with_near_null_space(space).unwrap();
            // Of what is orthogonal to it.
            let square: f64 = null.iter().map(|v| v * v).sum();
            let free: Vec<f64> = (0..n).map(|i| (0.3 * i as f64).sin()).collect();
            let part = free.iter().zip(&null).map(|(f, v)| f * v).sum::<f64>() / square;
            let want: Vec<f64> = free.iter().zip(&null).map(|(f, v)| f - part * v).collect();
            let b = Vector::from_f64(device, &a.mul_vec(&want).unwrap()).unwrap();
            let m = AggregationMultigrid::new(&matrix, AggregationParams::default()).unwrap();
            let params = CgParams::default().with_stop(Stop::relative(1e-5));
            let mut x = Vector::zeros(device, n).unwrap();
            let report = ConjugateGradient::preconditioned(&matrix, &m, params).unwrap().solve(&mut x, &b);
            let report = report.unwrap();
            assert!(report.true_residual <= 1e-5 && report.iterations <= 14, "{report:?}");
            let x: Vec<f64> = x.read().unwrap().into_iter().map(f64::from).collect();
            let left = x.iter().zip(&null).map(|(x, v)| x * v).sum::<f64>() / square;
            assert!(left.abs() < 1e-5, "{left:e}");
            let most = |list: &[f64]| list.iter().map(|v| v.abs()).max_by(f64::total_cmp).unwrap();
            let error: Vec<f64> = x.iter().zip(&want).map(|(x, w)| x - w).collect();
            assert!(most(&error) < 0.02 * most(&want), "{:e}", most(&error));
            // What has a part in it has no solution.
            let ones = Vector::from_f64(device, &null).unwrap();
            let refused = ConjugateGradient::new(&matrix, params)
                .unwrap()
                .solve(&mut Vector::zeros(device, n).unwrap(), &ones);
            assert!(matches!(refused, Err(Error::Inconsistent { .. })), "{refused:?}");
        }
    });
}

#[test]
fn what_is_no_null_space_is_refused() {
    on_both(|device| {
        let a = floating(3, 2);
        let refused = |vectors: &[Vec<f64>]| {
            let matrix = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
            matrix.with_null_space(vectors).unwrap_err().to_string()
        };
        let ones = vec![1.0; 6];
        assert!(refused(&[vec![1.0; 5]]).contains("5"), "{}", refused(&[vec![1.0; 5]]));
        let mut off = ones.clone();
        off[4] = 1.001;
        assert!(refused(&[off]).contains("does not map to 0 in row"));
        assert!(refused(&[vec![0.0; 6]]).contains("not all of them 0"));
        assert!(refused(&[vec![f64::NAN; 6]]).contains("finite"));
        assert!(refused(&[ones.clone(), vec![-2.0; 6]]).contains("none is a sum of the others"));
        assert!(refused(&vec![ones.clone(); 65]).contains("at most 64"));
        // Of the transpose too.
        let oblique = entries(2, 2, [(0, 0, 1.0), (0, 1, -1.0), (1, 0, 2.0), (1, 1, -2.0)]);
        let matrix = StoredMatrix::new(device, oblique, MatrixFormat::Auto).unwrap();
        let error = matrix.with_null_space(&[vec![1.0; 2]]).unwrap_err().to_string();
        assert!(error.contains("the transpose of A does not map to 0"), "{error}");
        let near = NearNullSpace::new(vec![vec![1.0; 7]]).unwrap();
        let matrix = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
        let refused = matrix.with_near_null_space(near).unwrap_err();
        assert!(matches!(refused, Error::LengthMismatch { found: 7, expected: 6, .. }), "{refused}");
        // New values have another one.
        let mut matrix = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto)
            .unwrap()
            .with_null_space(&[ones])
            .unwrap();
        matrix.set_values(&a.values().iter().map(|v| 2.0 * v).collect::<Vec<_>>()).unwrap();
        let b = Vector::filled(device, 6, 1.0).unwrap();
        let solved = ConjugateGradient::new(&matrix, CgParams::default())
            .unwrap()
            .solve(&mut Vector::zeros(device, 6).unwrap(), &b);
        assert!(!solved.unwrap().converged());
    });
}

/// Diffusion with jumps of a million, scaled to a diagonal of about ones: interpolating ones is wrong then.
#[test]
fn aggregation_takes_the_vector_that_scaling_makes_of_ones() {
    on_both(|device| {
        let (nx, ny) = (40, 40);
        let k = |i: usize| if (i / 8) % 2 == (i / nx / 8) % 2 { 1e6 } else { 1.0 };
        let grid = problems::poisson_2d(nx, ny).to_csr();
        // Harmonic means of both sides' coefficients.
        let mean = |i: usize, j: usize| 2.0 / (1.0 / k(i) + 1.0 / k(j));
        let mut all = Vec::new();
        for (i, j, v) in grid.entries().filter(|(i, j, _)| i != j) {
            all.extend([(i, j, v * mean(i, j)), (i, i, mean(i, j))]);
        }
        all.extend((0..nx).map(|i| (i, i, k(i))));
        let a = entries(nx * ny, nx * ny, all);
        // Powers of two, so that it stays symmetric.
        let d: Vec<f64> = a.diagonal().iter().map(|d| 2f64.powi(-(d.log2() / 2.0).round() as i32)).collect();
        let a = scaled(&a, |i| d[i]);
        let b = Vector::from_f64(device, &d).unwrap();
        let iterations = |near: bool| {
            let mut matrix = StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap();
            if near {
                let space = NearNullSpace::new(vec![d.iter().map(|d| 1.0 / d).collect()]).unwrap();
                matrix = matrix.with_near_null_space(space).unwrap();
            }
            let m = AggregationMultigrid::new(&matrix, AggregationParams::default()).unwrap();
            let params = CgParams::default().with_stop(Stop::relative(1e-4)).with_max_iters(500);
            let mut x = Vector::zeros(device, nx * ny).unwrap();
            ConjugateGradient::preconditioned(&matrix, &m, params)
                .unwrap()
                .solve(&mut x, &b)
                .unwrap()
                .iterations
        };
        let [with, without] = [true, false].map(iterations);
        assert!(with < 100 && without > 2 * with, "{with} and {without}");
    });
}

/// Where corrections in 32 bits gain nothing, conjugate gradients go on in pairs with a preconditioner of 32 bits.
#[test]
fn any_preconditioner_serves_pairs() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        let (nx, ny) = (48, 48);
        // Islands.
        let k =
            |i: usize| if (i / 6).is_multiple_of(2) && (i / nx / 6).is_multiple_of(2) { 1e7 } else { 1.0 };
        let grid = problems::poisson_2d(nx, ny).to_csr();
        let mut all = Vec::new();
        for (i, j, v) in grid.entries().filter(|(i, j, _)| i != j) {
            let mean = 2.0 / (1.0 / k(i) + 1.0 / k(j));
            all.extend([(i, j, v * mean), (i, i, mean)]);
        }
        all.extend((0..nx).map(|i| (i, i, k(i))));
        let a = entries(nx * ny, nx * ny, all);
        let operator = stored(device, &a);
        let m = AggregationMultigrid::new(&operator, AggregationParams::default()).unwrap();
        let b = DoubleVector::from_f64(device, &vec![1.0; nx * ny]).unwrap();
        let solve = |recurrence| {
            let params = CgParams::default()
                .with_stop(Stop::relative(1e-4))
                .with_recurrence(recurrence)
                .with_max_iters(400);
            let mut x = DoubleVector::zeros(device, nx * ny).unwrap();
            ConjugateGradient::preconditioned(&operator, &m, params).unwrap().solve(&mut x, &b).unwrap()
        };
        for recurrence in [Recurrence::Auto, Recurrence::Double] {
            let report = solve(recurrence);
            assert!(report.converged() && report.double_iterations > 0, "{recurrence:?}: {report}");
        }
        let [auto, double] = [Recurrence::Auto, Recurrence::Double].map(|r| solve(r).iterations);
        assert!(double < 40 && double < auto + 5, "{double}, {auto}");
        assert!(!solve(Recurrence::Single).converged());
    });
}

#[test]
fn what_has_worked_and_failed_is_remembered() {
    on_both(|device| {
        // Conjugate gradients fail.
        let n = 60;
        let operator = stored(device, &crate::auto::indefinite(n));
        let said = Rc::new(RefCell::new(Vec::new()));
        let hear = Rc::clone(&said);
        let auto = Auto::new(&operator, AutoParams::default()).unwrap().heard(move |event| {
            hear.borrow_mut().push(match event {
                AutoEvent::Begins(choice) => format!("begins {}", choice.method),
                AutoEvent::GivenUp(tried) => format!("gives up {}", tried.choice.method),
                other => panic!("{other:?}"),
            });
        });
        let right = |k: f64| {
            Vector::from_f64(device, &(0..n).map(|i| (k + i as f64).cos()).collect::<Vec<_>>()).unwrap()
        };
        let mut x = Vector::zeros(device, n).unwrap();
        let first = auto.solve(&mut x, &right(1.0)).unwrap();
        assert!(first.converged() && !first.tried.is_empty(), "{first}");
        // MINRES comes at the first negative curvature.
        assert_eq!((first.choice.method, first.tried.len()), (MethodKind::Minres, 1), "{first}");
        assert_eq!(said.take(), ["begins cg", "gives up cg", "begins minres"]);
        for k in 2..5 {
            let mut x = Vector::zeros(device, n).unwrap();
            let again = auto.clone().solve(&mut x, &right(f64::from(k))).unwrap();
            assert!(again.converged() && again.tried.is_empty(), "{again}");
            assert_eq!((again.choice, again.set_up), (first.choice, Duration::ZERO), "{again}");
        }
        assert_eq!(said.take(), ["begins minres"; 3]);
    });
}

/// What costs hundreds of products to apply waits for what costs one.
#[test]
fn what_costs_many_products_waits() {
    on_both(|device| {
        // Transport by bilinear elements with next to no diffusion: factors with growing couplings, which sweeps pass on one by one.
        let side = 30;
        let n = side * side;
        let (mass, slope, bend) = ([1.0, 4.0, 1.0].map(|m| m / 6.0), [-0.5, 0.0, 0.5], [-1.0, 2.0, -1.0]);
        let element = |p: usize, q: usize| {
            slope[p] * mass[q] + 0.4 * mass[p] * slope[q] + 1e-4 * (bend[p] * mass[q] + mass[p] * bend[q])
        };
        let of = |i: usize| {
            let near = |p: usize, q: usize| {
                let (x, y) = ((i % side + p).checked_sub(1)?, (i / side + q).checked_sub(1)?);
                (x < side && y < side).then_some((i, y * side + x, element(p, q)))
            };
            (0..9).filter_map(move |k| near(k % 3, k / 3)).collect::<Vec<_>>()
        };
        let a = entries(n, n, (0..n).flat_map(of).collect::<Vec<_>>());
        let operator = stored(device, &a);
        let auto = Auto::new(&operator, AutoParams::default().with_max_iters(310)).unwrap();
        let mut x = Vector::zeros(device, n).unwrap();
        let report = auto.solve(&mut x, &Vector::from_f64(device, &rhs_of_ones(&a)).unwrap()).unwrap();
        let cheap = |method, kind| method == MethodKind::BiCgStab2 && kind == PreconditionerKind::Jacobi;
        let first = report.tried.first().map_or(report.choice, |tried| tried.choice);
        assert!(cheap(first.method, first.preconditioner), "{report}");
        assert_eq!(report.choice, auto.choices()[0], "{report}");
    });
}

#[test]
fn time_ends_what_would_go_on() {
    on_both(|device| {
        let a = problems::poisson_2d(60, 60).to_csr();
        let operator = stored(device, &a);
        let b = Vector::filled(device, 3600, 1.0).unwrap();
        // What is compiled first is not what is timed.
        let warm = CgParams::default().with_max_iters(3);
        let mut x = Vector::zeros(device, 3600).unwrap();
        ConjugateGradient::new(&operator, warm).unwrap().solve(&mut x, &b).unwrap();
        // No iterate of 32 bits meets that, and 2^24 iterations would take hours.
        let stop = Stop::relative(1e-17).within(Duration::from_millis(30));
        let params = CgParams::default().with_stop(stop).with_max_iters((1 << 24) - 1);
        let mut x = Vector::zeros(device, 3600).unwrap();
        let report = ConjugateGradient::new(&operator, params).unwrap().solve(&mut x, &b).unwrap();
        let ended = [StopReason::OutOfTime, StopReason::Stagnated];
        assert!(ended.contains(&report.reason) && report.iterations > 0, "{report}");
        // At least one iteration is made, and what meets its bound in time has converged.
        let at_once = CgParams::default().with_stop(Stop::relative(1e-5).within(Duration::ZERO));
        let mut x = Vector::zeros(device, 3600).unwrap();
        let report = ConjugateGradient::new(&operator, at_once).unwrap().solve(&mut x, &b).unwrap();
        assert_eq!(report.reason, StopReason::OutOfTime, "{report}");
        assert!((1..60).contains(&report.iterations), "{report}");
        let in_time = CgParams::default().with_stop(Stop::relative(1e-4).within(Duration::from_secs(1000)));
        let mut x = Vector::zeros(device, 3600).unwrap();
        assert!(ConjugateGradient::new(&operator, in_time).unwrap().solve(&mut x, &b).unwrap().converged());
        // Of all that is tried together.
        let ring = |i: usize| [(i, (i + 2) % 901, 3.0), (i, (i + 1) % 901, -3.1), (i, (i + 7) % 901, 0.5)];
        let hard = stored(device, &entries(901, 901, (0..901).flat_map(ring).collect::<Vec<_>>()));
        let params = AutoParams::default().with_stop(Stop::relative(1e-14).within(Duration::from_millis(1)));
        let mut x = Vector::zeros(device, 901).unwrap();
        let began = Instant::now();
        let report =
            Auto::new(&hard, params).unwrap().solve(&mut x, &Vector::filled(device, 901, 1.0).unwrap());
        let report = report.unwrap();
        assert_eq!(report.solved.reason, StopReason::OutOfTime, "{report}; {:?}", began.elapsed());
        assert!(report.tried.iter().all(|tried| matches!(tried.why, GivenUp::Refused(_))), "{report}");
        // And of a system of the host's.
        let params = HostSystemParams::default()
            .with_auto(AutoParams::default().with_stop(Stop::relative(1e-13).within(Duration::ZERO)))
            .with_direct(DirectUse::Never);
        let system = HostSystem::new(device, a, params).unwrap();
        let (_, report) = system.solve(&vec![1.0; 3600]).unwrap();
        assert_eq!(report.solved.reason, StopReason::OutOfTime, "{report}");
    });
}

#[test]
fn systems_of_the_hosts_take_a_null_space() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        // Not of ones: rows do not sum to zero.
        let d = |i: usize| 1.0 + (i % 4) as f64;
        let a = scaled(&floating(12, 9), d);
        let null: Vec<f64> = (0..108).map(|i| 1.0 / d(i)).collect();
        let free: Vec<f64> = (0..108).map(|i| (0.7 * i as f64).cos()).collect();
        let b = a.mul_vec(&free).unwrap();
        let params = HostSystemParams::default()
            .with_auto(AutoParams::default().with_stop(Stop::relative(1e-6)))
            .with_null_space(vec![null.clone()]);
        let system = HostSystem::new(device, a, params.clone()).unwrap();
        let (x, report) = system.solve(&b).unwrap();
        assert!(report.converged(), "{report}");
        let dot: f64 = x.iter().zip(&null).map(|(x, v)| x * v).sum();
        assert!(dot.abs() < 1e-4, "{dot:e}");
        let refused = system.solve(&null).unwrap_err();
        assert!(matches!(refused, Error::Inconsistent { .. }), "{refused}");
        let wrong = HostSystem::new(device, problems::poisson_2d(12, 9).to_csr(), params).unwrap_err();
        assert!(wrong.to_string().contains("does not map to 0"), "{wrong}");
    });
}
