//! What is chosen by the matrix: that it leads to the solution, that what was given up is told, and that names repeat it.

use std::collections::BTreeMap;

use crate::bicgstab::convection;
use crate::common::harness::on_both;
use crate::common::pairs::{is_exact, paired, true_residual};
use crate::minres::saddle;
use crate::precondition::stored;
use crate::systems::{self, entries, is_met, rhs_of_ones};
use texla::host::{Csr, problems};
use texla::solve::{
    Auto, AutoParams, Choice, ChoiceParams, GivenUp, MethodKind, PreconditionerKind, Stop, StopReason,
};
use texla::{DoubleVector, Error, Grid, Matrix, Shape, Side, Sides, Stencil, StencilParams, Vector};

fn ring(n: usize) -> Csr {
    let of = |i: usize| [(i, (i + 2) % n, 3.0), (i, (i + 1) % n, -1.0), (i, (i + 7) % n, 0.5)];
    entries(n, n, (0..n).flat_map(of).collect::<Vec<_>>())
}

fn kinds() -> Vec<(&'static str, Csr, MethodKind)> {
    let tall = |i: usize| [(i, i % 7, 1.0 + i as f64), (i, (3 * i + 1) % 7, -0.5)];
    vec![
        ("definite", problems::poisson_2d(14, 11).to_csr(), MethodKind::Cg),
        ("saddle", saddle(9, 6), MethodKind::Minres),
        ("wind", convection(12, 9, 2.0), MethodKind::Gmres),
        ("nothing on the diagonal", ring(90), MethodKind::Gmres),
        (
            "more rows than columns",
            entries(40, 7, (0..40).flat_map(tall).collect::<Vec<_>>()),
            MethodKind::Cgls,
        ),
        ("one", problems::poisson_1d(1).to_csr(), MethodKind::Cg),
    ]
}

/// Transport on a grid is solved by aggregation at once, whatever its speed, and in the normal form too; a sign that does not suit
/// leaves it to others.
#[test]
fn transport_is_solved_by_aggregation() {
    on_both(|device| {
        for speed in [0.1, 2.0, 1e3] {
            let a = convection(24, 20, speed);
            let operator = stored(device, &a);
            let b = Vector::from_f64(device, &rhs_of_ones(&a)).unwrap();
            let mut x = Vector::zeros(device, a.shape().cols).unwrap();
            let report = Auto::new(&operator, AutoParams::default()).unwrap().solve(&mut x, &b).unwrap();
            assert!(report.converged() && report.tried.is_empty(), "{speed}: {report}");
            assert_eq!(report.choice.to_string(), "gmres(50) with amg", "{speed}");
            assert!(report.iterations() <= 12, "{speed}: {report}");
        }
        let a = convection(24, 20, 2.0);
        let other = entries(480, 480, a.entries().map(|(i, j, v)| (i, j, if i == j { v } else { v.abs() })));
        let operator = stored(device, &other);
        let b = Vector::from_f64(device, &rhs_of_ones(&other)).unwrap();
        let mut x = Vector::zeros(device, 480).unwrap();
        let report = Auto::new(&operator, AutoParams::default()).unwrap().solve(&mut x, &b).unwrap();
        assert!(report.converged() && report.choice.preconditioner != PreconditionerKind::Amg, "{report}");
    });
}

#[test]
fn every_kind_is_solved_with_no_option_given() {
    on_both(|device| {
        for (name, a, method) in kinds() {
            let operator = stored(device, &a);
            let b = Vector::from_f64(device, &rhs_of_ones(&a)).unwrap();
            let mut x = Vector::zeros(device, a.shape().cols).unwrap();
            let report = Auto::new(&operator, AutoParams::default()).unwrap().solve(&mut x, &b).unwrap();
            assert!(report.converged() && report.tried.is_empty(), "{name}: {report}");
            assert_eq!(report.choice.method, method, "{name}");
            assert_eq!(report.solved.readbacks_in_loop, 0, "{name}");
            assert!(x.read().unwrap().iter().all(|x| (x - 1.0).abs() < 1e-2), "{name}: {report}");
            // By its name the same again.
            let params = ChoiceParams::default();
            let mut again = Vector::zeros(device, a.shape().cols).unwrap();
            let repeated = report.choice.prepare(&operator, params).unwrap().solve(&mut again, &b).unwrap();
            assert_eq!(again.read().unwrap(), x.read().unwrap(), "{name}");
            assert_eq!(repeated.iterations, report.solved.iterations, "{name}");
        }
    });
}

#[test]
fn pairs_come_to_ten_digits() {
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for (name, a, _) in kinds().into_iter().filter(|(_, a, _)| a.shape().is_square()) {
            let operator = stored(device, &a);
            let values: Vec<f64> = (0..a.shape().rows).map(|i| (0.1 + i as f64).sin()).collect();
            let b = DoubleVector::from_f64(device, &values).unwrap();
            let mut x = DoubleVector::zeros(device, a.shape().cols).unwrap();
            let params = AutoParams::default().with_stop(Stop::relative(1e-10));
            let report = Auto::new(&operator, params).unwrap().solve(&mut x, &b).unwrap();
            assert!(report.converged(), "{name}: {report}");
            let held: Vec<f64> = values.iter().copied().map(paired).collect();
            let found = true_residual(&a, &x.read().unwrap(), &held);
            assert!(found <= 1e-10, "{name}: {found:e}, {report}");
        }
    });
}

/// A positive diagonal, and not definite: 2x2 blocks [1 3; 3 1].
pub fn indefinite(n: usize) -> Csr {
    let of = |i: usize| [(i, i, 1.0), (i, i ^ 1, 3.0), (i, (i + 2) % n, 0.25), (i, (i + n - 2) % n, 0.25)];
    entries(n, n, (0..n).flat_map(of).collect::<Vec<_>>())
}

#[test]
fn what_starts_wrong_gives_way() {
    on_both(|device| {
        let (n, a) = (60, indefinite(60));
        let operator = stored(device, &a);
        assert!(a.is_symmetric());
        let values: Vec<f64> = (0..n).map(|i| (1.0 + i as f64).cos()).collect();
        let b = Vector::from_f64(device, &values).unwrap();
        let mut x = Vector::zeros(device, n).unwrap();
        let mut seen = 0;
        let auto = Auto::new(&operator, AutoParams::default()).unwrap();
        let report = auto.solve_observed(&mut x, &b, |point| seen = seen.max(point.iteration)).unwrap();
        assert!(report.converged(), "{report}");
        assert!(report.tried.iter().any(|t| t.choice.method == MethodKind::Cg), "{report}");
        assert!(report.to_string().contains("not by cg with fsai2"), "{report}");
        assert!(report.iterations() >= report.solved.iterations && seen <= report.iterations());
        // What goes on from where others have come to says so; by its words alone it begins at zero.
        let from = report.went_on_from().unwrap();
        assert!(
            from <= 1.0 && report.to_string().contains("it went on from a relative residual"),
            "{report}"
        );
        let params = AutoParams::default().with_choices(vec![report.choice.to_string().parse().unwrap()]);
        let mut again = Vector::zeros(device, n).unwrap();
        let alone = Auto::new(&operator, params).unwrap().solve(&mut again, &b).unwrap();
        assert_eq!((alone.went_on_from(), alone.choice), (None, report.choice));
        for tried in &report.tried {
            match &tried.why {
                GivenUp::Ended(report) => assert_ne!(report.reason, StopReason::Converged),
                GivenUp::Refused(error) => panic!("{error}"),
                other => panic!("{other}"),
            }
        }
    });
}

/// More equations in some of the unknowns than there are of these: elimination finds no pivots, and breaks down.
#[test]
fn a_singular_system_is_solved_where_it_has_a_solution() {
    on_both(|device| {
        let n = 12;
        let of = |i: usize| {
            let first = 10 * i * i % n;
            [(i, first, 1.0), (i, (first + i + 10) % n, 1.0)]
        };
        let places: BTreeMap<_, _> = (0..n).flat_map(of).map(|(i, j, v)| ((i, j), v)).collect();
        let a = entries(n, n, places.into_iter().map(|((i, j), v)| (i, j, v)).collect::<Vec<_>>());
        let operator = stored(device, &a);
        let auto = Auto::new(&operator, AutoParams::default().with_max_iters(4000)).unwrap();
        let values = rhs_of_ones(&a);
        let b = Vector::from_f64(device, &values).unwrap();
        let mut x = Vector::zeros(device, n).unwrap();
        let report = auto.solve(&mut x, &b).unwrap();
        assert!(report.converged() && report.choice.method == MethodKind::Cgls, "{report}");
        let found = systems::relative_residual(&a, &x.read().unwrap(), &values);
        assert!((found - report.solved.true_residual).abs() < 1e-5, "{found:e}, {report}");
        if !is_exact(device) {
            return;
        }
        // And never told as solved where it has none: what cannot be reached is what is left.
        let values: Vec<f64> = (0..n).map(|i| (1.0 + i as f64).cos()).collect();
        let b = DoubleVector::from_f64(device, &values).unwrap();
        let mut x = DoubleVector::zeros(device, n).unwrap();
        let report = auto.solve(&mut x, &b).unwrap();
        let told = (report.solved.reason, report.choice.method, report.solved.least_squares_residual);
        assert_eq!(told, (StopReason::Stagnated, MethodKind::Cgls, None), "{report}");
        // Where no x leaves less, what is left is orthogonal to all columns.
        let (told, x) = (report.solved.true_residual, x.read().unwrap());
        let found = true_residual(&a, &x, &values);
        assert!(found > 0.1 && (found - told).abs() < 1e-5, "{found:e}, {report}");
        let x: Vec<f32> = x.iter().map(|x| *x as f32).collect();
        let normal = systems::normal_residual(&a, &x, &values);
        assert!(normal < 1e-5, "{normal:e}, {report}");
    });
}

/// Least squares refuse a right-hand side with an element below the range; that undoes no answer that others had before.
#[test]
fn what_a_later_choice_refuses_is_no_error() {
    on_both(|device| {
        // Nilpotent, so that nothing before the last one solves it.
        let a = entries(3, 3, [(0, 1, 1.0), (1, 2, 0.5)]);
        let operator = stored(device, &a);
        let b = Vector::from_slice(device, &[1.0, 1e-44, 0.25]).unwrap();
        let mut x = Vector::zeros(device, 3).unwrap();
        let report = Auto::new(&operator, AutoParams::default()).unwrap().solve(&mut x, &b).unwrap();
        assert!(!report.converged() && !report.tried.is_empty(), "{report}");
        let found = systems::relative_residual(&a, &x.read().unwrap(), &[1.0, 1e-44, 0.25]);
        assert!((found - report.solved.true_residual).abs() < 1e-5, "{found:e}, {report}");
    });
}

#[cfg(feature = "direct")]
#[test]
fn factors_are_the_last_choice_and_one_of_its_own() {
    let a = ring(300);
    on_both(|device| {
        let operator = stored(device, &a);
        let last =
            |params: AutoParams| Auto::new(&operator, params).unwrap().choices().last().copied().unwrap();
        let factors = Choice::new(MethodKind::Gmres, PreconditionerKind::Factors);
        assert_eq!(last(AutoParams::default()), factors);
        assert_ne!(last(AutoParams::default().with_factors(false)), factors);
        // Asked for alone they lead to pairs' last digits in a few iterations, and the twin is the known solution.
        if !is_exact(device) {
            return;
        }
        let params = AutoParams::default().with_stop(Stop::relative(1e-12)).with_choices(vec![factors]);
        let auto = Auto::new(&operator, params).unwrap();
        let (mut x, b) = (
            DoubleVector::zeros(device, 300).unwrap(),
            DoubleVector::from_f64(device, &rhs_of_ones(&a)).unwrap(),
        );
        for _ in 0..2 {
            x = DoubleVector::zeros(device, 300).unwrap();
            let report = auto.solve(&mut x, &b).unwrap();
            assert!(report.converged() && report.iterations() <= 6, "{report}");
            assert!(report.tried.is_empty(), "{report}");
        }
        assert!(x.read().unwrap().iter().all(|x| (x - 1.0).abs() < 1e-9));
        // What is singular has none.
        let singular = stored(device, &entries(2, 2, [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0), (1, 1, 1.0)]));
        let b = Vector::from_slice(device, &[1.0, 0.0]).unwrap();
        let alone = factors.prepare(&singular, ChoiceParams::default());
        let refused = alone.and_then(|m| m.solve(&mut Vector::zeros(device, 2).unwrap(), &b)).unwrap_err();
        assert!(matches!(refused, Error::Matrix { .. }), "{refused}");
    });
}

/// An operator on a grid is solved by geometric multigrid, one that is scaled row by row by another choice.
#[test]
fn grids_are_found_in_the_entries() {
    let grid = problems::poisson_2d(24, 17).to_csr();
    let d = |i: usize| f64::from(1 << (i % 3));
    let scaled: Vec<f64> = grid.entries().map(|(i, j, v)| d(i) * v * d(j)).collect();
    let scaled = grid.with_values(&scaled).unwrap();
    on_both(|device| {
        for (a, is_grid) in [(&grid, true), (&scaled, false)] {
            let operator = stored(device, a);
            let auto = Auto::new(&operator, AutoParams::default().with_stop(Stop::relative(1e-4))).unwrap();
            let first = auto.choices().first().copied().unwrap();
            assert_eq!(first.preconditioner == PreconditionerKind::Geometric, is_grid, "{first}");
            let b = Vector::from_f64(device, &rhs_of_ones(a)).unwrap();
            let mut x = Vector::zeros(device, b.len()).unwrap();
            let report = auto.solve(&mut x, &b).unwrap();
            assert!(report.converged(), "{report}");
            if is_grid {
                assert_eq!(report.choice.to_string(), "cg with geometric");
                assert!(report.iterations() <= 6 && report.tried.is_empty(), "{report}");
            }
            assert!(systems::relative_residual(a, &x.read().unwrap(), &rhs_of_ones(a)) <= 1e-4);
        }
        let refused = Choice::new(MethodKind::Cg, PreconditionerKind::Geometric)
            .prepare(stored(device, &scaled), ChoiceParams::default())
            .unwrap_err();
        assert!(matches!(&refused, Error::Unsupported { why, .. } if why.contains("grid")), "{refused}");
    });
}

#[test]
fn what_keeps_no_entries_is_solved_by_what_needs_none() {
    on_both(|device| {
        let sides = Sides::all(Side::DIRICHLET);
        let grid =
            Stencil::new(device, Grid::new_2d(9, 8), StencilParams::new([1.0, 1.0, 0.0], sides)).unwrap();
        let b = Vector::filled(device, 72, 1.0).unwrap();
        let mut x = Vector::zeros(device, 72).unwrap();
        let report = Auto::new(&grid, AutoParams::default()).unwrap().solve(&mut x, &b).unwrap();
        assert!(report.converged() && report.choice.method == MethodKind::Cg, "{report}");
        let dense =
            Matrix::from_rows(device, Shape::new(3, 3), &[0.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 3.0])
                .unwrap();
        let b = Vector::from_slice(device, &[3.0, 1.0, 4.0]).unwrap();
        let mut x = Vector::zeros(device, 3).unwrap();
        let report = Auto::new(&dense, AutoParams::default()).unwrap().solve(&mut x, &b).unwrap();
        assert!(report.converged(), "{report}");
        assert!(x.read().unwrap().iter().all(|x| (x - 1.0).abs() < 1e-3));
    });
}

#[test]
fn choices_by_name_and_refusals() {
    on_both(|device| {
        for (word, kind) in MethodKind::WORDS {
            assert_eq!((kind.word(), kind.to_string()), (*word, (*word).to_owned()));
        }
        let a = problems::poisson_2d(10, 10).to_csr();
        let operator = stored(device, &a);
        let b = Vector::from_f64(device, &rhs_of_ones(&a)).unwrap();
        // Every pair of a method and a preconditioner is solved with, or refused with a reason.
        for (method, kind) in MethodKind::WORDS {
            for (preconditioner, of) in PreconditionerKind::WORDS {
                let made = Choice::new(*kind, *of).prepare(&operator, ChoiceParams::default());
                match made {
                    Ok(solver) => {
                        let mut x = Vector::zeros(device, 100).unwrap();
                        let report = solver.solve(&mut x, &b).unwrap();
                        assert!(report.converged(), "{method} with {preconditioner}: {report}");
                    }
                    Err(Error::Unsupported { what, why }) => {
                        let definite = ["spai", "spai2", "ilu0", "ilut"].contains(preconditioner)
                            && ["cg", "minres"].contains(method);
                        assert!(
                            definite || *method == "cgls",
                            "{method} with {preconditioner}: {what}: {why}"
                        );
                    }
                    Err(Error::Matrix { detail, .. }) => {
                        assert!(
                            *preconditioner == "saddle" && detail.contains("no saddle point"),
                            "{detail}"
                        );
                    }
                    Err(other) => panic!("{method} with {preconditioner}: {other}"),
                }
            }
        }
        // What is asked for is what is tried, and nothing else.
        let only =
            AutoParams::default().with_choices(vec![Choice::new(MethodKind::Cg, PreconditionerKind::Ilut)]);
        let mut x = Vector::zeros(device, 100).unwrap();
        let error = Auto::new(&operator, only).unwrap().solve(&mut x, &b).unwrap_err();
        assert!(error.to_string().contains("positive definite"), "{error}");
        let short = Vector::zeros(device, 99).unwrap();
        let error = Auto::new(&operator, AutoParams::default()).unwrap().solve(&mut x, &short).unwrap_err();
        assert!(matches!(error, Error::ShapeMismatch { .. }), "{error}");
        assert!(Auto::new(&operator, AutoParams::default().with_stop(Stop::relative(2.0))).is_err());
    });
}

#[test]
fn choices_are_read_from_the_words_that_tell_them() {
    for (_, method) in MethodKind::WORDS {
        for (_, preconditioner) in PreconditionerKind::WORDS {
            let plain = Choice::new(*method, *preconditioner);
            let same = match method {
                MethodKind::Gmres => plain.with_restart(7),
                _ => plain,
            };
            let ilu = match preconditioner {
                PreconditionerKind::Ilut => same.ilu.with_fill(40).with_drop(1e-5).with_tolerance(1e-4),
                PreconditionerKind::Ilu0 | PreconditionerKind::Ic0 => same.ilu.with_tolerance(0.3),
                _ => same.ilu,
            };
            let unprepared = match preconditioner {
                PreconditionerKind::Ilut | PreconditionerKind::Ilu0 => {
                    plain.with_ilu(ilu.with_prepared(false))
                }
                _ => plain,
            };
            for choice in [plain, same.with_ilu(ilu), unprepared] {
                let words = choice.to_string();
                assert_eq!(words.parse::<Choice>().unwrap(), choice, "{words}");
                assert_eq!(words.to_uppercase().parse::<Choice>().unwrap(), choice, "{words}");
            }
        }
    }
    for (words, what) in [
        ("", "one of cg, minres"),
        ("lu", "one of cg, minres"),
        ("cg with", "one of cg, minres"),
        ("cg with lu", "one of none, jacobi"),
        ("cg(50)", "gmres alone"),
        ("gmres()", "gmres(50)"),
        ("gmres(5.5)", "gmres(50)"),
        ("gmres with ilut(4)", "ilut(20, 0.001)"),
        ("gmres with ilut(4, x)", "ilut(20, 0.001)"),
        ("gmres with ilut(4, 1, 1, 1)", "ilut(20, 0.001)"),
        ("gmres with ilu0(x)", "ilu0(0.01)"),
        ("cg with jacobi(2)", "numbers in brackets"),
        ("cg with jacobi of matched rows", "ilut and ilu0 alone"),
    ] {
        let error = words.parse::<Choice>().unwrap_err();
        assert!(matches!(error, Error::Parameter { .. }), "{words}: {error}");
        assert!(error.to_string().contains(what), "{words}: {error}");
    }
}

/// Columns so far apart that what factors and approximate inverses make of them leaves the range of floats.
#[test]
fn what_no_preconditioner_can_be_made_of_is_solved_without_one() {
    on_both(|device| {
        let a = entries(2, 2, vec![(0, 0, 1e20), (0, 1, 1e-20), (1, 0, 2e20), (1, 1, -1e-20)]);
        let operator = stored(device, &a);
        let mut x = Vector::zeros(device, 2).unwrap();
        let b = Vector::from_slice(device, &[1.0, 2.0]).unwrap();
        #[cfg(feature = "direct")]
        {
            let mut x = Vector::zeros(device, 2).unwrap();
            let last = Auto::new(&operator, AutoParams::default()).unwrap().solve(&mut x, &b).unwrap();
            assert!(last.converged() && last.choice.preconditioner == PreconditionerKind::Factors, "{last}");
            assert!((x.read().unwrap()[0] - 1e-20).abs() < 1e-25);
        }
        let auto = Auto::new(&operator, AutoParams::default().with_factors(false)).unwrap();
        let report = auto.solve(&mut x, &b).unwrap();
        assert!(report.converged() && report.choice.preconditioner == PreconditionerKind::None, "{report}");
        assert_eq!(report.tried.len(), auto.choices().len(), "{report}");
        // Diagonals can be made, and lead nowhere.
        let refused = |choice: Choice| {
            report.tried.iter().any(|t| t.choice == choice && matches!(t.why, GivenUp::Refused(_)))
        };
        let dear = |choice: &Choice| {
            !matches!(choice.preconditioner, PreconditionerKind::Jacobi | PreconditionerKind::BlockJacobi)
        };
        assert!(auto.choices().iter().copied().filter(dear).all(refused), "{report}");
        assert_eq!(report.went_on_from(), Some(1.0));
        let x = x.read().unwrap();
        assert!((x[0] - 1e-20).abs() < 1e-25, "{x:?}");
        // Nothing else is tried in place of what is asked for.
        let only = AutoParams::default().with_choices(vec!["gmres with ilut".parse().unwrap()]);
        let mut x = Vector::zeros(device, 2).unwrap();
        assert!(Auto::new(&operator, only).unwrap().solve(&mut x, &b).is_err());
    });
}

/// The files that are not given to every checkout: what prototypes in 32 bits on a CPU came to, and ten digits.
#[test]
fn real_matrices() {
    let all = systems::data_matrices(&[("spd", 15), ("sym", 1), ("unsym", 6)], "matrices for auto");
    on_both(|device| {
        if !is_exact(device) {
            return;
        }
        for (name, a) in &all {
            // Singular in 64 bits, or nearly.
            if name.contains("qh1484") || !systems::gather_fits(device, a) {
                continue;
            }
            let operator = stored(device, a);
            let values = rhs_of_ones(a);
            let b = DoubleVector::from_f64(device, &values).unwrap();
            let mut x = DoubleVector::zeros(device, a.shape().cols).unwrap();
            let params = AutoParams::default().with_stop(Stop::relative(1e-10));
            let report = Auto::new(&operator, params).unwrap().solve(&mut x, &b).unwrap();
            assert!(is_met(name, &report.solved), "{name}: {report}");
            let held: Vec<f64> = values.iter().copied().map(paired).collect();
            let found = true_residual(a, &x.read().unwrap(), &held);
            assert!(found <= 1e-10, "{name}: {found:e}, {report}");
        }
    });
}

/// Where a row is near all others few iterations do without multigrid, which is next where they do not.
#[test]
fn hubs_are_tried_without_multigrid_first() {
    let n = 600;
    let wheel = |spoke: f64| {
        let ring = (0..n).flat_map(|i| [(i, (i + 1) % n), ((i + 1) % n, i)]).map(|(i, j)| (i, j, -1.0));
        let spokes = (0..n).flat_map(|i| [(i, n, -spoke), (n, i, -spoke)]);
        let diagonal = (0..n).map(|i| (i, i, 2.0 + 2.0 * spoke)).chain([(n, n, 2.0 * spoke * n as f64)]);
        entries(n + 1, n + 1, ring.chain(spokes).chain(diagonal).collect::<Vec<_>>())
    };
    let b: Vec<f64> = (0..=n).map(|i| f64::from((i * i % 97) as u8) - 48.0).collect();
    on_both(|device| {
        // The row of the middle, as gathered, takes a texture that textures of 64 x 64 are not.
        if device.capabilities().max_texture_size < 128 {
            return;
        }
        for (a, first_does) in [(wheel(1.0), true), (wheel(1e-4), false)] {
            let operator = stored(device, &a);
            let mut x = Vector::zeros(device, n + 1).unwrap();
            let right = Vector::from_f64(device, &b).unwrap();
            let report = Auto::new(&operator, AutoParams::default()).unwrap().solve(&mut x, &right).unwrap();
            assert!(report.converged(), "{report}");
            let others = report.tried.iter().map(|tried| tried.choice.to_string()).collect::<Vec<_>>();
            if first_does {
                assert_eq!(
                    (report.choice.to_string(), others.len()),
                    ("cg with jacobi".to_owned(), 0),
                    "{report}"
                );
            } else {
                assert_eq!(report.choice.to_string(), "cg with amg", "{report}");
                assert_eq!(others, ["cg with jacobi"], "{report}");
            }
            assert!(report.iterations() <= 600, "{report}");
            assert!(systems::relative_residual(&a, &x.read().unwrap(), &b) <= 2e-5);
        }
    });
}
