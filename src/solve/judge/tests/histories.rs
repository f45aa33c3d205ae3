//! Properties of the judge on modelled histories.

use std::fmt::Write;

use super::super::{Judge, Order};
use super::model::Model;
use super::tape::{Tape, random, shrunk};

/// Enough that every branch of the judge is taken thousands of times.
const HISTORIES: u64 = 1_000_000;

fn history(bytes: &[u8], unit: f64) -> (Result<(), String>, Vec<Order>) {
    let mut model = Model::new(Tape::new(bytes), unit);
    let judge = Judge::new(model.terms);
    let outcome = model.history(judge);
    (outcome, model.trace)
}

/// What is wrong with a history in other units, if anything is.
fn scaled(bytes: &[u8], exponent: i32) -> Result<(), String> {
    let unit = f64::from(exponent).exp2();
    let (_, trace) = history(bytes, 1.0);
    let (outcome, other) = history(bytes, unit);
    outcome?;
    let in_units: Vec<String> = trace.iter().map(|order| format!("{:?}", times(*order, unit))).collect();
    let found: Vec<String> = other.iter().map(|order| format!("{order:?}")).collect();
    match in_units.iter().zip(&found).position(|(wanted, found)| wanted != found) {
        _ if in_units == found => Ok(()),
        at => Err(format!("times 2^{exponent} another order, {at:?}:\n{in_units:#?}\n{found:#?}")),
    }
}

/// An order with its residuals in other units.
fn times(order: Order, unit: f64) -> Order {
    match order {
        Order::Run(mut run) => {
            run.aim *= unit;
            run.ceiling *= unit;
            Order::Run(run)
        }
        Order::End(mut verdict) => {
            verdict.residuals.own *= unit;
            verdict.residuals.rounding = verdict.residuals.rounding.map(|r| r * unit);
            verdict.residuals.other = verdict.residuals.other.map(|r| r * unit);
            if let Some(found) = &mut verdict.components {
                found.omega *= unit;
            }
            Order::End(verdict)
        }
        Order::Components(most) => Order::Components(most * unit),
        order => order,
    }
}

fn check(bytes: &[u8], exponent: Option<i32>) -> Result<(), String> {
    exponent.map_or_else(|| history(bytes, 1.0).0, |exponent| scaled(bytes, exponent))
}

/// A history that is wrong, to be read.
fn told(bytes: &[u8], exponent: Option<i32>) -> String {
    let shortest = shrunk(bytes.to_vec(), |bytes| check(bytes, exponent).is_err());
    let mut model = Model::new(Tape::new(&shortest), 1.0);
    model.log = Some(Vec::new());
    let judge = Judge::new(model.terms);
    let _ = model.history(judge);
    let wrong = check(&shortest, exponent).err().unwrap_or_default();
    let mut text = format!("{wrong}\ntape {shortest:?}\n{:#?}\n", model.terms);
    for line in model.log.unwrap_or_default() {
        let _ = writeln!(text, "{line}");
    }
    text
}

/// On a million histories: nothing has converged above the bound, every solve ends, none runs from a lost iterate, the best
/// iterate is returned, and the verdict is true.
#[test]
fn verdicts_are_true_and_come() {
    let mut bytes = Vec::new();
    for seed in 0..HISTORIES {
        random(seed, &mut bytes);
        assert!(check(&bytes, None).is_ok(), "seed {seed}: {}", told(&bytes, None));
    }
}

/// In other units, by a power of two, a history has the same orders in these units.
#[test]
fn orders_are_scaled_with_their_history() {
    let mut bytes = Vec::new();
    for seed in 0..HISTORIES / 20 {
        random(seed + HISTORIES, &mut bytes);
        let exponent = Some([1, -1, 37, -41, 200][seed as usize % 5]);
        assert!(check(&bytes, exponent).is_ok(), "seed {seed}: {}", told(&bytes, exponent));
    }
}

/// Every order, reason and flag occurs among the histories: so each check applies to some history.
#[test]
fn histories_are_of_all_kinds() {
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    let mut bytes = Vec::new();
    for seed in 0..20_000 {
        random(seed, &mut bytes);
        for order in history(&bytes, 1.0).1 {
            let kind = match order {
                Order::End(verdict) => format!("{:?}", verdict.reason),
                Order::Run(run) => format!("Run, kept {}, attempt {}", run.keep_direction, run.attempt),
                order => format!("{order:?}"),
            };
            *seen.entry(kind).or_default() += 1;
        }
    }
    let kinds = [
        "Back",
        "Breakdown",
        "Certify",
        "CertifyOther",
        "Converged",
        "Diverged",
        "FromZero",
        "Keep",
        "MaxIterations",
        "OutOfTime",
        "Recompute",
        "Stagnated",
        "TakeBack",
        "Uncertified",
        "Widen",
        "Run, kept false, attempt 0",
        "Run, kept false, attempt 3",
        "Run, kept true, attempt 0",
    ];
    for kind in kinds {
        assert!(seen.get(kind).is_some_and(|count| *count >= 10), "{kind}: {seen:#?}");
    }
}
