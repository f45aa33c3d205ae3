//! A guest's manners: whatever the application has set, each call leaves every value that GL answers as it was, and its
//! result has the bits that it has in a state nobody has touched.

use texla::Device;

use super::hostile::{HOSTILE, Host};
use super::refusals::everything;
use super::state::assert_same;
use super::worst::differing;

/// What a sweep has compared.
#[derive(Debug, Default)]
pub struct Manners {
    /// Hostile values set, each alone or all together.
    pub hostile: usize,
    /// Calls with everything compared before and after, within a scope or without.
    pub calls: usize,
    /// Values compared at each.
    pub values: usize,
    /// Results compared bit by bit.
    pub results: usize,
}

/// Around every call, or around one in so many.
pub const EVERY: usize = 1;
pub const SOME: usize = 24;

impl Manners {
    /// Everything in the state that the application has set. Every second call that is looked at is within a scope; of all
    /// that are, each is so in one of two rounds.
    fn run(&mut self, dev: &Device, host: &Host, (stride, round): (usize, usize)) -> Vec<u32> {
        let mut number = round;
        everything(dev, &mut |name, call| {
            number += 1;
            if !number.is_multiple_of(stride) {
                return call();
            }
            let before = host.snapshot();
            let scope = (number / stride).is_multiple_of(2).then(|| dev.scope().unwrap());
            call();
            drop(scope);
            assert_same(&before, &host.snapshot(), name);
            self.calls += 1;
            self.values = before.len();
        })
    }

    fn compare(&mut self, name: &str, bits: &[u32], clean: &[u32]) {
        let differ = differing(bits, clean);
        assert_eq!(differ, 0, "{name}: {differ} of {} values differ", clean.len());
        self.results += clean.len();
    }
}

fn clean(dev: &Device) -> Vec<u32> {
    let clean = everything(dev, &mut |_, call| call());
    assert!(clean.len() > 5000);
    clean
}

/// With all hostile values at once.
pub fn together(dev: &Device, stride: usize) -> Manners {
    let (host, clean) = (Host::new(dev.glow()), clean(dev));
    let mut found =
        Manners { hostile: HOSTILE.iter().filter(|h| h.exists(&host)).count(), ..Manners::default() };
    host.set_all();
    for round in if stride == EVERY { 0..2 } else { 0..1 } {
        let bits = found.run(dev, &host, (stride, round));
        found.compare("all at once", &bits, &clean);
    }
    host.unset_all();
    found
}

/// With each hostile value whose number has its turn.
pub fn singly(dev: &Device, turn: &dyn Fn(usize) -> bool, stride: usize) -> Manners {
    let (host, clean) = (Host::new(dev.glow()), clean(dev));
    let mut found = Manners::default();
    let untouched = host.snapshot();
    for (k, hostile) in HOSTILE.iter().enumerate().filter(|(k, h)| h.exists(&host) && turn(*k)) {
        hostile.set(&host);
        let before = host.snapshot();
        for round in if stride == EVERY { 0..2 } else { k..k + 1 } {
            let bits = found.run(dev, &host, (stride, round));
            found.compare(hostile.name, &bits, &clean);
        }
        assert_same(&before, &host.snapshot(), hostile.name);
        hostile.unset(&host);
        assert_same(&untouched, &host.snapshot(), "unsetting");
        found.hostile += 1;
    }
    found
}
