//! Faults in turn: every call of GL that can fail does, in every step of the one list of everything, and the context is
//! lost at every call.

use std::ops::Range;
use std::panic::{self, AssertUnwindSafe, catch_unwind};

use texla::gl::Api;
use texla::{Device, DeviceOptions, Headless};

use super::{Entry, Fault, TABLE, begin, fail_any, failed, heal, left, loader, lose_at, numbered, pending};
use crate::common::attempt::{attempt, quietly};
use crate::common::everything::{PARTS, Steps};
use crate::common::harness::{headless, limits};

/// What a sweep has found.
#[derive(Debug, Default)]
pub struct Survived {
    /// Steps of the list that have been looked at.
    pub steps: u64,
    /// Calls that failed and runs in which all failed from one on: an error that says why, or the right result.
    pub errors: u64,
    pub right: u64,
    /// Contexts lost in the middle of a step.
    pub losses: u64,
    /// Runs without a fault after one with, whose results had the bits of the first.
    pub recovered: u64,
    /// Promises that have not held.
    pub broken: Vec<String>,
}

impl Survived {
    fn broken(&mut self, what: String) {
        eprintln!("{what}");
        self.broken.push(what);
    }
}

/// Which of all places to look at: one step in so many, and of its calls one in so many.
#[derive(Clone, Copy)]
pub struct Stride {
    pub steps: u64,
    pub faults: u64,
    pub losses: u64,
}

/// Every call that can fail; a loss takes a new context each, and so at one call in so many.
pub const LONG: Stride = Stride { steps: 1, faults: 1, losses: 60 };

/// As many as fit between other tests.
pub const SOME: Stride = Stride { steps: 16, faults: 24, losses: 3000 };

/// Each part of the list in turn, on this dialect.
pub fn sweep(api: Api, stride: Stride) -> Survived {
    let mut found = Survived::default();
    quietly(|| {
        let mut number = Counter { number: 0 };
        for part in PARTS {
            let lose = faults(api, *part, stride, &mut number, &mut found);
            losses(api, *part, &lose, &mut found);
        }
    });
    found
}

/// Picks one place in so many, the same ones in every run.
struct Counter {
    number: u64,
}

impl Counter {
    fn picks(&mut self, stride: u64) -> bool {
        self.number += 1;
        // Multiplied, so that not always the same call of a step is met.
        self.number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 < (1 << 32) / stride
    }
}

/// A step of a simulation, which goes on from where the last one has ended.
pub fn goes_on(name: &str) -> bool {
    name.starts_with("Wave::") || name.starts_with("Fluid::")
}

/// Whether an error says what went wrong: the one call that failed, or some call of those that did.
fn explains(error: &str, failed: u32, last: Option<Entry>) -> bool {
    let Some(entry) = last else { return false };
    let words: &[&str] = match (TABLE[entry as usize].fault, entry) {
        _ if failed > 1 => &["OutOfMemory", "code: 1285", "IncompleteFramebuffer", "Shader", "NoContext"],
        (Fault::Memory, _) => &["OutOfMemory", "code: 1285"],
        // A texture of the host's that cannot be read is refused.
        (_, Entry::glCheckFramebufferStatus) => &["IncompleteFramebuffer", "Unsupported"],
        (_, Entry::glCompileShader | Entry::glLinkProgram | Entry::glCreateShader) => &["Shader"],
        _ => &["NoContext"],
    };
    words.iter().any(|word| error.contains(word))
}

fn guest() -> Device {
    // SAFETY: the context is current while the sweep holds the guest; the loader knows the functions.
    unsafe { Device::from_loader(loader(), DeviceOptions::default().with_limits(limits())) }.unwrap()
}

fn context(api: Api) -> (Headless, Device) {
    let context = headless(api);
    begin();
    let guest = guest();
    (context, guest)
}

/// A step in which a context is to be lost: which of its part, how, at which call, and the right result if it is one.
struct Loss {
    step: usize,
    call: u32,
    clean: Option<Vec<u32>>,
}

fn faults(api: Api, part: Steps, stride: Stride, number: &mut Counter, found: &mut Survived) -> Vec<Loss> {
    let (_context, guest) = context(api);
    let (mut lose, mut at) = (Vec::new(), 0);
    (part.0)(&guest, &mut |name, step| {
        at += 1;
        if !number.picks(stride.steps) {
            if goes_on(name) {
                attempt(step).unwrap();
            }
            return;
        }
        let cold = |of: &dyn Fn()| {
            guest.trim().unwrap();
            of();
            attempt(step)
        };
        found.steps += 1;
        let clean = cold(&|| fail_any(0..0)).unwrap();
        let fallible = numbered();
        let again = cold(&|| lose_at(u32::MAX)).unwrap();
        let same = !goes_on(name);
        assert!(!same || again == clean, "{name}, run again");
        let calls = numbered();
        let ranges = (0..fallible).flat_map(|n| [n..n + 1, n..u32::MAX]);
        for range in ranges.filter(|_| number.picks(stride.faults)) {
            fault(name, &range, (&cold(&|| fail_any(range.clone())), same.then_some(&clean)), found);
            match attempt(step) {
                Ok(bits) if !same || bits == clean => found.recovered += 1,
                next => {
                    found.broken(format!("{name}, after {range:?} of {fallible} failed: {:?}", next.err()))
                }
            }
        }
        let picked = (0..calls).filter(|_| number.picks(stride.losses));
        lose.extend(picked.map(|call| Loss { step: at - 1, call, clean: same.then(|| clean.clone()) }));
        heal();
    });
    drop(guest);
    let left = left();
    if !left.0.is_empty() || !left.1.is_empty() {
        found.broken(format!("left, and deleted of others: {left:?}"));
    }
    lose
}

/// What a run with these failures has come to.
fn fault(
    name: &str,
    range: &Range<u32>,
    (got, clean): (&Result<Vec<u32>, String>, Option<&Vec<u32>>),
    found: &mut Survived,
) {
    let (count, last) = failed();
    let what = format!("{name}, calls {range:?} fail, the last {last:?}");
    if pending() > 0 {
        found.broken(format!("{what}: flags are left"));
    }
    heal();
    match got {
        // How many calls a loop makes is up to when the driver tells what it has found: so far this one did not come.
        Ok(bits) if count == 0 && clean.is_none_or(|clean| clean == bits) => {}
        Ok(bits) if clean.is_none_or(|clean| clean == bits) => found.right += 1,
        Err(error) if explains(error, count, last) => found.errors += 1,
        other => found.broken(format!("{what}: {:?}", other.as_ref().err())),
    }
}

/// Loses the context at these calls, each in a new one, in which the step has had the right result before.
fn losses(api: Api, part: Steps, lose: &[Loss], found: &mut Survived) {
    for Loss { step, call, clean } in lose {
        let (_context, guest) = context(api);
        let mut at = 0;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            (part.0)(&guest, &mut |name, run| {
                at += 1;
                if at - 1 < *step && goes_on(name) {
                    attempt(run).unwrap();
                } else if at - 1 == *step {
                    lose_in(&guest, (name, run), (*call, clean.as_ref()), found);
                    // What the part would make next is of no account.
                    panic::resume_unwind(Box::new(Ended));
                }
            });
        }));
        if let Err(payload) = ended
            && !payload.is::<Ended>()
        {
            panic::resume_unwind(payload);
        }
        drop(guest);
        heal();
    }
}

/// Leaves a part behind.
struct Ended;

fn lose_in(
    guest: &Device,
    (name, step): (&str, &dyn Fn() -> Vec<f32>),
    (call, clean): (u32, Option<&Vec<u32>>),
    found: &mut Survived,
) {
    if let Some(clean) = clean {
        match attempt(step) {
            Ok(bits) if bits == *clean => found.recovered += 1,
            other => found.broken(format!("{name}, in a new context: {:?}", other.err())),
        }
    }
    guest.trim().unwrap();
    lose_at(call);
    let got = attempt(step);
    let (lost, last) = failed();
    if lost == 0 {
        return;
    }
    let what = format!("{name}, lost at call {call}, {last:?}");
    let gone = |e: &str| e.contains("ContextLost");
    match got {
        Ok(bits) if clean.is_none_or(|clean| *clean == bits) => {}
        Err(error) if gone(&error) => {}
        other => found.broken(format!("{what}: {:?}", other.err())),
    }
    match attempt(step) {
        Err(error) if gone(&error) => found.losses += 1,
        other => found.broken(format!("{what}: and then {:?}", other.err())),
    }
}
