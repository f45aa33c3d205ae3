//! Everything on a driver, step by step.

use std::sync::OnceLock;

use texla::gl::Api;
use texla::{Device, DeviceOptions};

use super::super::attempt::{attempt, error_of, quietly};
use super::super::egl;
use super::super::everything::PARTS;
use super::super::harness::limits;
use super::super::loader::sweep::goes_on;

pub fn options() -> DeviceOptions {
    DeviceOptions::default().with_limits(limits())
}

/// The name of each step of everything and its outcome: bits, or the error of a refusal.
pub type Outcomes = Vec<(String, std::result::Result<Vec<u32>, String>)>;

/// Runs everything, and calls `after` with the name of each step.
pub fn all(dev: &Device, after: &dyn Fn(&str)) -> Outcomes {
    some(dev, 1, after)
}

/// The same of one step in so many, and of all that go on from where the last one has ended.
pub fn some(dev: &Device, stride: usize, after: &dyn Fn(&str)) -> Outcomes {
    let (mut outcomes, mut number) = (Vec::new(), 0);
    quietly(|| {
        for (i, part) in PARTS.iter().enumerate() {
            let whole = error_of(|| {
                (part.0)(dev, &mut |name, step| {
                    number += 1;
                    if number % stride != 0 && !goes_on(name) {
                        return;
                    }
                    outcomes.push((name.to_owned(), attempt(step)));
                    after(name);
                });
            });
            // Steps share data: where that cannot be made, they are refused together.
            if let Err(error) = whole {
                outcomes.push((format!("what comes next of part {i}"), Err(error)));
            }
        }
    });
    outcomes
}

/// The same on the real driver.
pub fn plain(api: Api) -> &'static Outcomes {
    static PLAIN: [OnceLock<Outcomes>; 2] = [const { OnceLock::new() }; 2];
    PLAIN[usize::from(api == Api::Es30)].get_or_init(|| {
        let _current = egl::core(api, None);
        // SAFETY: the context is current as long as the device lives.
        let dev = unsafe { Device::from_loader(egl::loader(), options()) }.unwrap();
        all(&dev, &|_| {})
    })
}

/// The steps whose outcomes differ, each with a word on how.
pub fn differences(got: &Outcomes, expected: &Outcomes) -> Vec<String> {
    let names = |all: &Outcomes| all.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if names(got) != names(expected) {
        return vec![format!("{} steps, expected {}", got.len(), expected.len())];
    }
    let word = |of: &std::result::Result<Vec<u32>, String>| {
        of.as_ref().map(|bits| format!("{} numbers", bits.len())).unwrap_or_else(Clone::clone)
    };
    let pairs = got.iter().zip(expected).filter(|((_, got), (_, expected))| got != expected);
    pairs
        .map(|((name, got), (_, expected))| format!("{name}: {}, expected {}", word(got), word(expected)))
        .collect()
}
