//! The numbers behind aims, directions and rounding, one by one.

use super::super::aims::{AT_ONCE_OF_PAIRS, KEPT_GROWTH, SPELL, WORTH_ANOTHER};
use super::super::rounding::{counted, hides};
use super::super::{After, LEAST_BOUND, LEAST_BOUND_OF_PAIRS, Order, Traits};
use super::talk::{PLAIN, Talk, broken, is_near, recurrence};
use crate::solve::drive::report::StopReason;
use crate::solve::drive::state::Flag;

#[test]
fn constants_are_what_they_are() {
    assert_eq!((WORTH_ANOTHER, KEPT_GROWTH, SPELL, AT_ONCE_OF_PAIRS), (0.5, 100.0, 100, 0.1));
    assert_eq!((LEAST_BOUND, LEAST_BOUND_OF_PAIRS), (2f64.powi(-24), 2f64.powi(-48)));
}

#[test]
fn rounding_counts_to_nine_bits_upwards() {
    for (rounding, wanted) in [
        (1.0, 1.0),
        (1.0 + 2f64.powi(-52), 1.0 + 2f64.powi(-8)),
        (1.0 + 2f64.powi(-8), 1.0 + 2f64.powi(-8)),
        (2f64.powi(-60), 2f64.powi(-60)),
        (0.9 * 2f64.powi(-60), 0.0),
        (f64::INFINITY, f64::INFINITY),
    ] {
        assert_eq!(counted(rounding, 1.0), wanted, "{rounding:e}");
    }
    assert!(counted(f64::NAN, 1.0).is_nan());
    assert!(!hides(0.5, 1.0) && hides(0.5 + 1e-12, 1.0) && hides(f64::NAN, 1.0));
}

#[test]
fn stops_on_the_way_lie_at_even_distances() {
    let mut talk = Talk::new(recurrence(PLAIN));
    // 5 digits: two stops.
    let run = talk.residual(1.0).run();
    assert!(is_near(run.aim, 1e-5f64.powf(1.0 / 3.0)), "{run:?}");
    assert_eq!((run.keep_direction, run.limit, run.attempt), (false, 1000, 0));
    assert!(is_near(run.ceiling, 1e4), "{run:?}");
    let run = talk.met(10, 0.02).residual(0.02).run();
    assert!(run.keep_direction && is_near(run.aim, 0.02 * (1e-5f64 / 0.02).sqrt()), "{run:?}");
    assert!(is_near(run.ceiling, 100.0 * 0.02), "{run:?}");
    let run = talk.met(20, 4e-4).residual(4e-4).run();
    assert!(run.keep_direction && is_near(run.aim, 1e-5), "{run:?}");
    // Falls short: half the bound, afresh.
    let run = talk.met(30, 1e-5).residual(1.5e-5).run();
    assert!(!run.keep_direction && is_near(run.aim, 5e-6), "{run:?}");
    let verdict = talk.met(40, 4e-6).residual(6e-6).rounding(1e-9).ends(StopReason::Converged);
    assert_eq!((verdict.iterations, verdict.replacements, verdict.double_iterations), (40, 3, 0));
    assert!(verdict.residuals.own > 6e-6 + 1e-9 - 1e-15 && verdict.residuals.own < 6.01e-6);
    assert_eq!(verdict.residuals.rounding, Some(1e-9));
}

#[test]
fn a_method_that_is_direct_makes_no_stops() {
    for traits in [Traits { direct: true, ..PLAIN }, Traits { wide: true, ..PLAIN }] {
        let mut talk = Talk::new(recurrence(traits));
        assert!(is_near(talk.residual(0.9).run().aim, 1e-5));
    }
    // But for what is more than five digits away.
    let mut talk = Talk::new(recurrence(Traits { direct: true, ..PLAIN }));
    assert!(is_near(talk.residual(30.0).run().aim, 30.0 * 1e-5));
    let run = talk.met(5, 2e-4).residual(3e-4).run();
    assert!(run.keep_direction && is_near(run.aim, 1e-5), "{run:?}");
    // A last aim is no closer than that, either.
    let mut talk = Talk::new(recurrence(Traits { direct: true, ..PLAIN }));
    talk.residual(30.0).met(5, 3e-4);
    let run = talk.residual(20.0).run();
    assert!(is_near(run.aim, 20.0 * 1e-5) && !run.keep_direction, "{run:?}");
}

#[test]
fn an_aim_within_a_factor_of_two_is_the_last() {
    // 1.5 digits a stop: none on the way from less than 3 digits.
    for (residual, aim) in [(0.9e-2, 1e-5), (1.1e-2, (1.1e-2f64 * 1e-5).sqrt())] {
        let mut talk = Talk::new(recurrence(PLAIN));
        assert!(is_near(talk.residual(residual).run().aim, aim), "{residual:e}");
    }
    for (residual, is_last) in [(2.1, false), (2.0, true)] {
        let mut talk = Talk::new(recurrence(Traits { direct: true, ..PLAIN }));
        let aim = talk.residual(residual).run().aim;
        assert!(is_near(aim, residual * 1e-5), "{aim:e}");
        // After the last aim comes half the bound, or as far as one run goes.
        let aim = talk.met(3, aim).residual(0.4 * residual).run().aim;
        assert!(is_near(aim, if is_last { 0.4 * residual * 1e-5 } else { 1e-5 }), "{aim:e}");
    }
}

#[test]
fn stops_that_were_passed_are_not_made() {
    let mut talk = Talk::new(recurrence(PLAIN));
    // One of two is left, and the residual is but a digit from the bound.
    assert!(is_near(talk.residual(1.0).met(10, 0.02).residual(1e-4).run().aim, 1e-5));
}

#[test]
fn a_stop_on_the_way_is_no_last_aim() {
    let mut talk = Talk::new(recurrence(Traits { direct: true, ..PLAIN }));
    // Twice the last aim; then from further off, where that is out of reach.
    talk.residual(1.9).met(1, 1e-5).residual(1.0).run();
    talk.ended(Flag::Stalled, 5, 0.1, After::UnlessProgress(broken(0.0)));
    let aim = talk.residual(30.0).run().aim;
    assert!(is_near(aim, 30.0 * 1e-5), "{aim:e}");
    talk.met(9, aim).residual(25.0).run();
}

#[test]
fn a_direction_is_kept_while_the_recurrence_agrees() {
    for (true_residual, keeps) in [(0.04, true), (0.0401, false)] {
        let mut talk = Talk::new(recurrence(PLAIN));
        let run = talk.residual(1.0).met(10, 0.02).residual(true_residual).run();
        assert_eq!(run.keep_direction, keeps);
        let growth = if keeps { 100.0 } else { 1e4 };
        assert!(is_near(run.ceiling, growth * true_residual), "{run:?}");
    }
}

#[test]
fn a_residual_that_does_not_fall_is_aimed_at_the_bound() {
    for (true_residual, aim) in [(0.5, (0.5f64 * 1e-5).sqrt()), (0.501, 1e-5)] {
        let mut talk = Talk::new(recurrence(PLAIN));
        let run = talk.residual(1.0).met(10, 0.3).residual(true_residual).run();
        assert!(is_near(run.aim, aim), "{run:?}");
    }
}

#[test]
fn a_run_that_used_up_its_spell_goes_on_with_its_aim() {
    let mut talk = Talk::new(recurrence(Traits { spell: Some(50), ..PLAIN }));
    let first = talk.residual(1.0).run();
    assert_eq!(first.limit, 50);
    let run = talk.ended(Flag::Exhausted, 50, 0.9, After::Judge).residual(0.9).run();
    assert_eq!((run.aim, run.limit, run.keep_direction), (first.aim, 100, true));
    let run = talk.ended(Flag::Exhausted, 100, 0.1, After::Judge).residual(0.5).run();
    assert_eq!((run.aim, run.keep_direction), (first.aim, false));
    assert_eq!(talk.ended(Flag::Exhausted, 970, 0.5, After::Judge).residual(0.5).run().limit, 1000);
    let verdict =
        talk.ended(Flag::Exhausted, 1000, 0.5, After::Judge).residual(0.6).ends(StopReason::MaxIterations);
    assert_eq!((verdict.replacements, verdict.residuals.own), (3, 0.5));
}

#[test]
fn a_direction_that_fails_is_dropped_with_its_run() {
    for (flag, blameless) in [
        (Flag::Met, true),
        (Flag::Exhausted, true),
        (Flag::OutOfTime, true),
        (Flag::Shadow, true),
        (Flag::ShadowDirection, true),
        (Flag::OutOfRange, false),
        (Flag::Curvature, false),
        (Flag::Stalled, false),
    ] {
        let mut talk = Talk::new(recurrence(PLAIN));
        talk.residual(1.0).met(10, 0.02).residual(0.02);
        assert!(talk.run().keep_direction);
        talk.ended(flag, 12, 0.01, After::Judge);
        assert_eq!(talk.done.contains(&Order::Back), !blameless, "{flag:?}");
        if !blameless {
            let run = talk.residual(0.02).run();
            assert!(!run.keep_direction && is_near(run.aim, 1e-5), "{flag:?}: {run:?}");
        }
    }
}
