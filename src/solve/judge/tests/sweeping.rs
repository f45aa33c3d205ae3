//! How sweeps are aimed, and when they end.

use super::super::{After, Policy, Sweeps};
use super::talk::{Talk, is_near, sweeps};
use crate::solve::drive::report::StopReason;
use crate::solve::drive::state::Flag;

#[test]
fn sweeps_of_32_bits_aim_closer_after_each_miss() {
    let mut talk = Talk::new(sweeps(false, false));
    let run = talk.residual(1.0).run();
    assert_eq!((run.aim, run.limit, run.keep_direction, run.ceiling), (1e-5, 1000, false, f64::INFINITY));
    // However little it gained, the first miss is no end.
    assert_eq!(talk.met(10, 1e-5).residual(0.9).run().aim, 0.5e-5);
    assert_eq!(talk.met(20, 1e-5).residual(0.44).run().aim, 0.25e-5);
    let verdict = talk.met(30, 1e-5).residual(0.23).ends(StopReason::Stagnated);
    assert_eq!(verdict.replacements, 3);
    // A halt is the end at once, and the sweeps allowed are.
    let mut talk = Talk::new(sweeps(false, false));
    talk.residual(1.0).ended(Flag::Stalled, 9, 0.1, After::Judge).residual(0.1).ends(StopReason::Stagnated);
    let mut talk = Talk::new(sweeps(false, false));
    let verdict = talk
        .residual(1.0)
        .ended(Flag::Exhausted, 1000, 0.1, After::Judge)
        .residual(0.1)
        .ends(StopReason::MaxIterations);
    assert_eq!(verdict.replacements, 0);
    // Past the range of squares there are stops on the way, which are no misses.
    let mut terms = sweeps(false, false);
    terms.bound = 1e-17;
    let mut talk = Talk::new(terms);
    assert_eq!(talk.residual(1.0).run().aim, 1e-15);
    assert_eq!(talk.met(10, 1e-15).residual(0.9).run().aim, 0.9e-15);
    assert_eq!(talk.met(20, 1e-15).residual(1.9e-2).run().aim, 1e-17);
}

#[test]
fn sweeps_for_pairs_go_down_by_tenths() {
    let mut talk = Talk::new(sweeps(true, false));
    assert!(is_near(talk.residual(1.0).run().aim, 0.1));
    assert!(is_near(talk.met(3, 0.1).residual(0.1).run().aim, 0.01));
    // The last aim, from within twenty times the bound.
    assert!(is_near(talk.met(6, 0.01).residual(2.1e-4).run().aim, 2.1e-5));
    // A run that gained hardly anything is a miss.
    assert!(is_near(talk.met(9, 0.01).residual(1.9e-4).run().aim, 1.9e-5));
    assert!(is_near(talk.met(12, 0.01).residual(0.9e-4).run().aim, 0.5e-5));
    let mut talk = Talk::new(sweeps(true, false));
    assert!(is_near(talk.residual(1.99e-4).run().aim, 1e-5));
    // Twenty times, to the bit.
    let mut terms = sweeps(true, false);
    (terms.bound, terms.policy) =
        (0.0625, Policy::Sweeps(Sweeps { pairs: true, at_once: 0.125, forgives: false }));
    assert_eq!(Talk::new(terms).residual(1.0).run().aim, 0.0625);
    // A halt half of the way is none.
    let mut talk = Talk::new(sweeps(true, false));
    talk.residual(1.0).ended(Flag::Stalled, 9, 0.1, After::Judge).residual(0.49).run();
    talk.ended(Flag::Stalled, 12, 0.1, After::Judge).residual(0.25).ends(StopReason::Stagnated);
    // Two runs that gain nothing, wherever they are.
    let mut talk = Talk::new(sweeps(true, false));
    talk.residual(1.0).met(3, 0.1).residual(0.6).met(6, 0.1).residual(0.1).met(9, 0.01).residual(0.06);
    talk.ends(StopReason::Stagnated);
}

#[test]
fn sweeps_that_forgive_count_misses_in_a_row() {
    let mut talk = Talk::new(sweeps(true, true));
    talk.residual(1.0).met(3, 0.1).residual(0.6);
    // On the way nothing is aimed closer.
    assert!(is_near(talk.run().aim, 0.06));
    talk.met(6, 0.1).residual(0.1).met(9, 0.01).residual(0.06).run();
    talk.met(12, 0.01).residual(0.05).ends(StopReason::Stagnated);
    // The last aim is halved.
    let mut talk = Talk::new(sweeps(true, true));
    assert!(is_near(talk.residual(1.5e-4).run().aim, 1e-5));
    assert!(is_near(talk.met(3, 1e-5).residual(6e-5).run().aim, 0.5e-5));
    assert!(is_near(talk.met(6, 1e-5).residual(2.9e-5).run().aim, 0.25e-5));
    // A run that met nothing is none of them.
    let mut talk = Talk::new(sweeps(true, true));
    talk.residual(1.0).met(3, 0.1).residual(0.6).ended(Flag::Stalled, 5, 0.1, After::Judge).residual(0.2);
    assert!(is_near(talk.run().aim, 0.02));
    talk.met(9, 0.1).residual(0.15).ends(StopReason::Stagnated);
}
