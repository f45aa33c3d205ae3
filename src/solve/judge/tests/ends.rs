//! When a solve ends, for which reason, and what is returned.

use super::super::{After, Event, LEAST_BOUND, Order, Terms, Traits};
use super::talk::{PLAIN, Talk, broken, is_near, recurrence, sweeps};
use crate::ops::Accuracy;
use crate::solve::drive::report::{Components, StopReason};
use crate::solve::drive::state::Flag;

#[test]
fn the_bound_missed_twice_without_a_gain_is_the_end() {
    for (last, goes_on) in [(0.5e-4, true), (0.5001e-4, false)] {
        let mut talk = Talk::new(recurrence(Traits { direct: true, ..PLAIN }));
        talk.residual(0.9).met(10, 1e-5).residual(1e-4);
        assert!(is_near(talk.run().aim, 5e-6));
        talk.met(20, 5e-6).residual(last);
        match goes_on {
            true => assert!(is_near(talk.run().aim, 5e-6)),
            false => {
                let verdict = talk.rounding(1e-7).end();
                assert_eq!(verdict.reason, StopReason::Stagnated);
                assert!(verdict.residuals.own > last + 1e-7 - 1e-12, "{verdict:?}");
            }
        }
    }
    // Once is not twice, and a run that did not meet its aim has missed nothing.
    let mut talk = Talk::new(recurrence(Traits { direct: true, ..PLAIN }));
    talk.residual(0.9).met(10, 1e-5).residual(0.8).run();
    talk.ended(Flag::Exhausted, 20, 0.7, After::Judge).residual(0.7).run();
    // Nor has one that aimed at a stop on the way.
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residual(1.0).met(10, 0.02).residual(0.9).met(20, 1e-5).residual(0.4).run();
}

#[test]
fn sums_are_compared_with_sums() {
    // 0.9e-5 meets the bound, with its rounding it does not: and is no better than what was seen before.
    let mut talk = Talk::new(recurrence(Traits { direct: true, ..PLAIN }));
    talk.residual(0.9).met(10, 1e-5).residual(2.2e-5).met(20, 5e-6).residual(0.9e-5).rounding(0.3e-5);
    assert_eq!(talk.end().reason, StopReason::Stagnated);
    let mut talk = Talk::new(recurrence(Traits { direct: true, ..PLAIN }));
    talk.residual(0.9).met(10, 1e-5).residual(3e-5).met(20, 5e-6).residual(0.9e-5).rounding(0.3e-5).run();
}

#[test]
fn a_run_of_no_iterations_that_gains_nothing_is_the_end() {
    for flag in [Flag::Met, Flag::Stalled] {
        for policy in [recurrence(PLAIN), sweeps(false, false), sweeps(true, false), sweeps(true, true)] {
            let mut talk = Talk::new(policy);
            let verdict = talk
                .residual(1.0)
                .ended(flag, 0, 0.1, After::Judge)
                .residual(1.0)
                .ends(StopReason::Stagnated);
            assert_eq!(verdict.iterations, 0);
        }
    }
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residual(1.0).met(1, 0.02).residual(0.9).run();
    // Out of range is another end, and so is a breakdown.
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residual(1.0).ended(Flag::OutOfRange, 0, 1.0, After::Judge).residual(1.0).ends(StopReason::Diverged);
}

#[test]
fn a_breakdown_ends_what_does_not_meet_the_bound() {
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residual(1.0).ended(Flag::Curvature, 5, 0.1, After::End(broken(-1.0)));
    let verdict = talk.residual(0.1).ends(StopReason::Breakdown);
    assert_eq!((verdict.breakdown, verdict.residuals.own), (Some(broken(-1.0)), 0.1));
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residual(1.0).ended(Flag::Curvature, 5, 0.1, After::End(broken(-1.0)));
    assert_eq!(talk.residual(1e-6).ends(StopReason::Converged).breakdown, None);
}

#[test]
fn progress_of_a_fiftieth_allows_another_run() {
    for (iterations, left, goes_on) in [(5, 0.98 * 0.8, true), (5, 0.7841, false), (0, 0.1, false)] {
        let mut talk = Talk::new(recurrence(PLAIN));
        talk.residual(0.8)
            .ended(Flag::Stalled, iterations, left, After::UnlessProgress(broken(2.0)))
            .residual(0.79);
        match goes_on {
            true => assert!(!talk.run().keep_direction),
            false => assert_eq!(talk.ends(StopReason::Breakdown).breakdown, Some(broken(2.0))),
        }
    }
}

#[test]
fn a_true_residual_above_a_share_of_the_best_ends() {
    for (left, goes_on) in [(0.45, true), (0.451, false)] {
        let mut talk = Talk::new(recurrence(Traits { spell: Some(9), ..PLAIN }));
        talk.residual(0.5).ended(Flag::Exhausted, 9, 0.1, After::Unless(0.9, broken(0.0))).residual(left);
        match goes_on {
            true => assert_eq!(talk.run().limit, 18),
            false => {
                let Some(found) = talk.ends(StopReason::Breakdown).breakdown else { panic!("no breakdown") };
                assert!(is_near(found.value, left / 0.5), "{found:?}");
            }
        }
    }
}

#[test]
fn verdicts_on_what_meets_the_bound() {
    let of = |bound: f64, accuracy: Accuracy| {
        let mut terms = recurrence(PLAIN);
        terms.bound = bound;
        let mut talk = Talk::new(terms);
        talk.accuracy = accuracy;
        talk.residual(bound);
        if accuracy == Accuracy::DoubleFloat {
            talk.rounding(0.0);
        }
        talk.end().reason
    };
    assert_eq!(of(LEAST_BOUND, Accuracy::DoubleFloat), StopReason::Converged);
    assert_eq!(of(0.999 * LEAST_BOUND, Accuracy::DoubleFloat), StopReason::Uncertified);
    assert_eq!(of(1e-3, Accuracy::Single), StopReason::Uncertified);
}

#[test]
fn a_norm_that_meets_the_bound_hides_rows() {
    let found = |omega: f64| Some(Components { omega, rows: 2, of: 9 });
    for (components, reason) in [
        (None, StopReason::Converged),
        (found(1e-3), StopReason::Converged),
        (found(1.001e-3), StopReason::NormOnly),
        (found(f64::NAN), StopReason::NormOnly),
    ] {
        let mut talk = Talk::new(Terms { components: Some(1e-6), ..recurrence(PLAIN) });
        talk.residual(0.9e-5).rounding(0.0);
        assert_eq!(talk.order, Order::Components(1e-3));
        let verdict = talk.tell(Event::Components(components)).end();
        assert_eq!(
            (verdict.reason, verdict.components.map(|c| c.rows)),
            (reason, components.map(|c| c.rows))
        );
    }
    // A least share counts however small the bound is.
    for (omega, reason) in [(0.01, StopReason::Converged), (0.0101, StopReason::NormOnly)] {
        let mut talk = Talk::new(Terms { components: Some(0.01), ..recurrence(PLAIN) });
        talk.residual(0.9e-5).rounding(0.0);
        assert_eq!(talk.order, Order::Components(0.01));
        assert_eq!(talk.tell(Event::Components(found(omega))).end().reason, reason);
    }
    // Only what would be called converged.
    let mut talk = Talk::new(Terms { components: Some(1e-6), ..recurrence(PLAIN) });
    talk.accuracy = Accuracy::Single;
    assert_eq!(talk.residual(0.9e-5).end().reason, StopReason::Uncertified);
}

#[test]
fn the_other_residual_may_meet_the_bound() {
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residuals(1.0, Some(1e-5));
    assert_eq!(talk.order, Order::CertifyOther);
    assert_eq!(talk.rounding(0.0).end().reason, StopReason::Converged);
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residuals(1.0, Some(0.9e-5)).rounding(0.2e-5).run();
    let verdict = talk.met(3, 0.02).residuals(0.5, Some(0.8e-5)).rounding(0.1e-5).end();
    assert!(verdict.residuals.other.is_some_and(|r| (0.9e-5..0.91e-5).contains(&r)), "{verdict:?}");
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residuals(1.0, Some(1.1e-5)).run();
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.accuracy = Accuracy::Single;
    assert_eq!(talk.residuals(1.0, Some(0.9e-5)).end().reason, StopReason::Uncertified);
}

#[test]
fn what_is_returned_is_the_best() {
    let mut terms = recurrence(PLAIN);
    terms.max_iters = 30;
    let run = |residuals: [f64; 3]| {
        let mut talk = Talk::new(terms);
        for (k, residual) in residuals.into_iter().enumerate() {
            talk.residual(residual);
            talk.met(10 * (k + 1), 0.02);
        }
        talk
    };
    let mut talk = run([1.0, 0.3, 0.4]);
    talk.residual(0.35);
    // Measured again, for its rounding.
    assert_eq!((talk.done.clone(), talk.order), (vec![Order::TakeBack], Order::Recompute));
    let verdict = talk.residual(0.3).rounding(1e-9).ends(StopReason::MaxIterations);
    assert_eq!((verdict.residuals.own, verdict.residuals.rounding), (0.3, Some(1e-9)));
    // Which cannot be asked for where it is not finite.
    let mut talk = run([1.0, 0.3, 0.4]);
    let verdict = talk.residual(0.35).residual(f64::NAN).end();
    assert_eq!((verdict.residuals.own, verdict.residuals.rounding), (0.3, None));
    // The last one, if it is the best.
    let mut talk = run([1.0, 0.3, 0.4]);
    talk.residual(0.29);
    assert_eq!((talk.done.clone(), talk.order), (vec![], Order::Certify));
    assert_eq!(talk.rounding(1e-9).end().residuals.own, 0.29);
    // Of two that are equal the first.
    let mut talk = run([1.0, 0.3, 0.4]);
    assert_eq!(talk.residual(0.3).done, [Order::TakeBack]);
    // Of 32 bits nobody knows the rounding.
    let mut talk = run([1.0, 0.3, 0.4]);
    talk.accuracy = Accuracy::Single;
    assert_eq!(talk.residual(0.29).end().residuals.rounding, None);
    // Nor is it reported where nobody asks.
    terms.reports_rounding = false;
    let mut talk = Talk::new(terms);
    let verdict = talk.residual(1.0).met(30, 0.02).residual(2.0).end();
    assert_eq!((verdict.residuals.own, verdict.residuals.rounding), (1.0, None));
}

#[test]
fn a_copy_is_made_of_what_is_better_alone() {
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residual(1.0);
    assert_eq!(talk.done, [Order::Keep]);
    talk.met(3, 0.02).residual(1.0);
    assert_eq!(talk.done, []);
    talk.met(4, 0.02).residual(0.99);
    assert_eq!(talk.done, [Order::Keep]);
}

#[test]
fn a_rounding_without_a_bound_ends() {
    for rounding in [f64::INFINITY, f64::NAN] {
        let mut talk = Talk::new(recurrence(PLAIN));
        let verdict = talk.residual(1e-6).rounding(rounding).end();
        assert_eq!(verdict.reason, StopReason::Stagnated);
    }
}

#[test]
fn time_that_is_over_ends_a_solve_unless_the_bound_is_met() {
    for policy in [recurrence(PLAIN), recurrence(Traits { widens: true, ..PLAIN }), sweeps(true, false)] {
        let late = |truth: f64| {
            let mut talk = Talk::new(policy);
            talk.residual(1.0).ended(Flag::OutOfTime, 10, 0.1, After::Judge).residual(truth);
            talk
        };
        let verdict = late(0.1).ends(StopReason::OutOfTime);
        assert_eq!((verdict.iterations, verdict.residuals.own), (10, 0.1));
        late(1e-6).rounding(0.0).ends(StopReason::Converged);
        // The best iterate is returned.
        let verdict = late(2.0).ends(StopReason::OutOfTime);
        assert_eq!(verdict.residuals.own, 1.0);
    }
}

#[test]
fn corrections_that_gain_little_go_on_in_pairs() {
    let widens = Traits { direct: true, widens: true, ..PLAIN };
    for (dear, truth, goes_on) in [(true, 0.0901, true), (true, 0.0899, false), (false, 0.0901, false)] {
        let mut talk = Talk::new(recurrence(Traits { dear, ..widens }));
        talk.residual(0.9).met(10, 1e-5).residual(truth);
        assert_eq!(talk.done.contains(&Order::Widen), goes_on, "{dear} {truth}");
    }
    // Not where the aim was as near, nor where the run has not met it.
    let mut talk = Talk::new(recurrence(Traits { dear: true, ..widens }));
    talk.residual(0.9).met(10, 1e-5).residual(6e-5).met(20, 5e-6).residual(2e-5);
    assert!(!talk.done.contains(&Order::Widen));
    let mut talk = Talk::new(recurrence(Traits { dear: true, ..widens }));
    talk.residual(0.9).ended(Flag::Exhausted, 10, 0.8, After::Judge).residual(0.8);
    assert!(!talk.done.contains(&Order::Widen));
}
