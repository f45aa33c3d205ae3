//! Fuzzing without a fuzzer: mutations of what the targets begin from.

use texla::Device;

use crate::common::random::Rng;
use crate::targets::Target;

/// One of the changes that find most: a bit, a byte of any value or of one that text is made of, a part taken out or twice, the end
/// cut off, a part of another seed.
fn mutated(rng: &mut Rng, seed: &[u8], other: &[u8]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len() + 1);
        let to = (at + 1 + rng.below(6)).min(bytes.len());
        let text = b"0123456789.-+eE()[]{};,'\" \n\r%#*/";
        match rng.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 if at < bytes.len() => bytes[at] = rng.next_u32() as u8,
            2 => bytes.insert(at, text[rng.below(text.len())]),
            3 => drop(bytes.drain(at..to)),
            4 => {
                let part = bytes[at..to].to_vec();
                bytes.splice(at..at, part);
            }
            5 => bytes.truncate(at),
            _ => {
                let from = rng.below(other.len());
                bytes.splice(at..to, other[from..(from + 8).min(other.len())].iter().copied());
            }
        }
    }
    bytes
}

/// So many mutations of each seed, and how many inputs that was; a failure names the bytes.
pub fn run(dev: &Device, target: &Target, mutations: usize) -> usize {
    let mut rng = Rng::new(20);
    let try_out = |bytes: &[u8]| {
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (target.run)(dev, bytes)));
        assert!(ran.is_ok(), "{} fails on b\"{}\"", target.name, bytes.escape_ascii());
    };
    for (i, seed) in target.seeds.iter().enumerate() {
        try_out(seed);
        let other = target.seeds[(i + 1) % target.seeds.len()];
        (0..mutations).for_each(|_| try_out(&mutated(&mut rng, seed, other)));
    }
    target.seeds.len() * (mutations + 1)
}
