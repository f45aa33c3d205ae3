//! Fresh starts: from zero, with another shadow residual, in pairs of floats.

use super::super::{After, LEAST_BOUND_OF_PAIRS, Order, Traits};
use super::talk::{PLAIN, Talk, broken, is_near, recurrence, shadow};
use crate::solve::drive::report::StopReason;
use crate::solve::drive::state::Flag;

#[test]
fn three_more_starts_are_tried_where_a_run_did_nothing() {
    for (flag, reason) in [(Flag::Shadow, StopReason::Breakdown), (Flag::OutOfRange, StopReason::Diverged)] {
        let mut talk = Talk::new(recurrence(PLAIN));
        talk.residual(1.0);
        for attempt in 1..=3 {
            shadow(&mut talk, flag, 0, 1.0);
            assert_eq!(talk.done, [Order::Back]);
            let run = talk.residual(1.0).run();
            assert_eq!((run.attempt, run.keep_direction), (attempt, false));
        }
        shadow(&mut talk, flag, 0, 1.0).residual(1.0).ends(reason);
    }
    // Another end between them begins anew; a start that went on along an old direction is not the start's fault.
    let mut talk = Talk::new(recurrence(PLAIN));
    shadow(talk.residual(1.0), Flag::Shadow, 0, 1.0).residual(1.0);
    assert_eq!(talk.run().attempt, 1);
    assert_eq!(talk.met(3, 0.02).residual(0.02).run().attempt, 0);
    assert!(talk.run().keep_direction);
    assert_eq!(shadow(&mut talk, Flag::Shadow, 3, 0.02).residual(0.02).run().attempt, 0);
}

#[test]
fn a_shadow_after_iterations_keeps_what_they_gained() {
    for (recurrence_left, keeps) in [(100.0, true), (100.1, false)] {
        let mut talk = Talk::new(recurrence(PLAIN));
        shadow(talk.residual(1.0), Flag::ShadowDirection, 4, recurrence_left);
        assert_eq!(talk.done.is_empty(), keeps);
        let run = talk.residual(0.9).run();
        assert_eq!((run.attempt, run.keep_direction), (usize::from(!keeps), false));
    }
    // What has left the range is not kept.
    let mut talk = Talk::new(recurrence(PLAIN));
    assert_eq!(shadow(talk.residual(1.0), Flag::OutOfRange, 4, 0.5).done, [Order::Back]);
    // Of the least residual that was certified.
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residual(1.0).met(3, 0.02).residual(0.1);
    shadow(&mut talk, Flag::Shadow, 4, 11.0);
    assert_eq!(talk.done, [Order::Back]);
}

#[test]
fn sixty_four_shadows_without_progress_are_enough() {
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residual(1.0);
    // The first one has nothing before it.
    for k in 1..=65 {
        shadow(&mut talk, Flag::Shadow, k, 0.9).residual(if k == 1 { 1.0 } else { 0.9801 }).run();
    }
    let verdict = shadow(&mut talk, Flag::Shadow, 66, 0.9).residual(0.9801).ends(StopReason::Breakdown);
    assert_eq!(verdict.iterations, 66);
    // A fiftieth on the way is progress.
    let mut talk = Talk::new(recurrence(PLAIN));
    talk.residual(1.0);
    for k in 1..=100 {
        shadow(&mut talk, Flag::Shadow, k, 0.9).residual(if k < 40 { 1.0 } else { 0.98 }).run();
    }
}

#[test]
fn pairs_go_on_where_32_bits_end() {
    let widens = Traits { widens: true, spell: Some(100), ..PLAIN };
    let mut terms = recurrence(widens);
    terms.least = LEAST_BOUND_OF_PAIRS;
    // After a breakdown, with a copy of the better iterate.
    let mut talk = Talk::new(terms);
    talk.residual(1.0).ended(Flag::Curvature, 5, 0.1, After::End(broken(0.0))).residual(0.5);
    assert_eq!(talk.done, [Order::Keep, Order::Widen]);
    let run = talk.residual(0.5).run();
    assert_eq!((run.limit, run.keep_direction), (1000, false));
    // No stops on the way.
    assert!(is_near(run.aim, 1e-5), "{run:?}");
    let verdict = talk.met(25, 1e-5).residual(0.9e-5).ends(StopReason::Converged);
    assert_eq!((verdict.iterations, verdict.double_iterations), (25, 20));
    // From the best iterate where the range is left.
    let mut talk = Talk::new(terms);
    talk.residual(1.0).ended(Flag::OutOfRange, 5, 1e30, After::Judge).residual(f64::INFINITY);
    assert_eq!(talk.done, [Order::TakeBack, Order::Keep, Order::Widen]);
    talk.residual(1.0)
        .ended(Flag::OutOfRange, 9, 1e30, After::Judge)
        .residual(2.0)
        .ends(StopReason::Diverged);
    // From the last one, where that is best.
    let mut talk = Talk::new(terms);
    talk.residual(1.0).ended(Flag::OutOfRange, 5, 1e30, After::Judge).residual(0.5);
    assert_eq!(talk.done, [Order::Keep, Order::Widen]);
    // Not where nothing is left to do.
    let mut talk = Talk::new(terms);
    talk.residual(1.0)
        .ended(Flag::Curvature, 1000, 0.1, After::End(broken(0.0)))
        .residual(0.5)
        .ends(StopReason::Breakdown);
    let mut talk = Talk::new(terms);
    talk.residual(1.0)
        .ended(Flag::Curvature, 5, 0.1, After::End(broken(0.0)))
        .residual(1e-6)
        .ends(StopReason::Converged);
    // A recurrence of pairs from the beginning counts all.
    let mut talk = Talk::new(recurrence(Traits { wide: true, widens: true, ..PLAIN }));
    let verdict = talk.residual(1.0).met(7, 1e-5).residual(1e-6).ends(StopReason::Converged);
    assert_eq!(verdict.double_iterations, 7);
}

#[test]
fn pairs_go_on_where_stretches_of_32_bits_gain_nothing() {
    let widens = Traits { widens: true, unknowns: 500, spell: Some(100), ..PLAIN };
    let widened_at = |start: f64, residual_at: &dyn Fn(usize) -> f64| {
        let mut terms = recurrence(widens);
        terms.max_iters = 5000;
        let mut talk = Talk::new(terms);
        talk.residual(start);
        let mut iterations = 0;
        loop {
            iterations += 100;
            let residual = residual_at(iterations);
            talk.ended(Flag::Exhausted, iterations, residual, After::Judge).residual(residual);
            if talk.done.contains(&Order::Widen) {
                return iterations;
            }
        }
    };
    // The first stretch has nothing before it; two of 400.
    assert_eq!(widened_at(1.0, &|_| 0.9), 800);
    assert_eq!(widened_at(1.0, &|k| if k < 500 { 0.9 } else { 0.451 }), 800);
    // Half in every stretch: up to twice the unknowns and a spell.
    assert_eq!(widened_at(1.0, &|k| if k < 500 { 0.9 } else { 0.45 }), 1200);
    assert_eq!(
        widened_at(1.0, &|k| if k < 500 { 0.9 } else { 0.449 * 0.49f64.powi((k / 400) as i32) }),
        1200
    );
    // The start does not count: residuals may grow at the beginning.
    assert_eq!(widened_at(0.1, &|k| if k < 500 { 0.9 } else { 0.3 }), 1200);
    // By the least of a stretch, not the last.
    assert_eq!(widened_at(1.0, &|k| if k == 600 { 0.3 } else { 0.9 }), 1200);
}

#[test]
fn a_lost_iterate_makes_room_for_zero_once() {
    let mut terms = recurrence(PLAIN);
    terms.from_zero = false;
    // Hidden by rounding: above the bound with it, by more than half.
    for (rounding, lost) in [(0.6e-5, true), (0.4e-5, false)] {
        let mut talk = Talk::new(terms);
        talk.residual(0.9e-5).rounding(rounding);
        assert_eq!(talk.done == [Order::Keep, Order::FromZero], lost, "{rounding:e}");
    }
    // Certified all the same.
    let mut talk = Talk::new(terms);
    talk.residual(0.1e-5).rounding(0.8e-5).ends(StopReason::Converged);
    // Not finite: no candidate.
    let mut talk = Talk::new(terms);
    talk.residual(f64::NAN);
    assert_eq!(talk.done, [Order::FromZero]);
    talk.residual(1.0).met(5, 0.02).residual(f64::INFINITY).ends(StopReason::Diverged);
    // Late, once; what was planned before is forgotten.
    let mut talk = Talk::new(terms);
    talk.residual(1.0).met(5, 0.02).residual(0.02).met(9, 1e-4).residual(f64::INFINITY);
    assert_eq!(talk.done, [Order::FromZero]);
    let run = talk.residual(1.0).run();
    assert!(is_near(run.aim, 1e-5f64.powf(1.0 / 3.0)) && !run.keep_direction, "{run:?}");
    let verdict = talk.met(20, 0.02).residual(f64::INFINITY).ends(StopReason::Diverged);
    assert_eq!((verdict.residuals.own, verdict.replacements), (0.02, 1));
    // Nor how often a start had failed, or what was to be tested.
    let mut talk = Talk::new(terms);
    shadow(talk.residual(1.0), Flag::Shadow, 0, 1.0).residual(f64::INFINITY);
    assert_eq!(talk.residual(1.0).run().attempt, 0);
    let mut talk = Talk::new(terms);
    talk.residual(0.5)
        .ended(Flag::Exhausted, 9, 0.1, After::Unless(0.9, broken(0.0)))
        .residual(f64::INFINITY);
    talk.residual(1.0).run();
    let mut talk = Talk::new(terms);
    talk.residual(0.5).ended(Flag::Curvature, 9, 0.1, After::End(broken(0.0))).residual(f64::INFINITY);
    talk.residual(1.0).run();
    let mut talk = Talk::new(terms);
    talk.residual(0.5).met(0, 0.1).residual(f64::INFINITY);
    talk.residual(1.0).run();
    // Without a return only the start.
    terms.restarts = false;
    let mut talk = Talk::new(terms);
    talk.residual(1.0).met(5, 0.02).residual(f64::INFINITY).ends(StopReason::Diverged);
}

#[test]
fn a_start_may_be_far_or_needless() {
    let mut terms = recurrence(PLAIN);
    (terms.from_zero, terms.far) = (false, 1e3);
    for (residual, far) in [(1e3, false), (1.01e3, true)] {
        let mut talk = Talk::new(terms);
        talk.residual(residual);
        assert_eq!(talk.done.contains(&Order::FromZero), far);
    }
    // Also where that is the only return.
    terms.restarts = false;
    let mut talk = Talk::new(terms);
    talk.residual(1e4);
    assert_eq!(talk.done, [Order::Keep, Order::FromZero]);
    terms.restarts = true;
    // Later ones may be as large.
    let mut talk = Talk::new(terms);
    talk.residual(1.0).met(5, 0.02).residual(1e6).run();
    // A start at zero is not far from zero.
    terms.from_zero = true;
    Talk::new(terms).residual(1e6).run();
    (terms.from_zero, terms.zero_solves) = (false, true);
    let mut talk = Talk::new(terms);
    talk.residual(1e-7);
    assert_eq!(talk.done, [Order::Keep, Order::FromZero]);
    talk.residual(0.0).ends(StopReason::Converged);
}
