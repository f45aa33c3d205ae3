//! The choices of which a history is made, and how a history that fails is made short.

/// Choices, one byte each. Past the end every choice is the first of its menu, or, of a tape that repeats, the tape again.
#[derive(Clone, Debug)]
pub struct Tape<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Tape<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Tape { bytes, at: 0 }
    }

    fn byte(&mut self) -> usize {
        let (first, rest) = self.bytes.split_first().unwrap_or((&0, &[]));
        let repeats = first % 4 == 1 && !rest.is_empty();
        let at = if repeats { self.at % rest.len() } else { self.at };
        self.at += 1;
        usize::from(rest.get(at).copied().unwrap_or(0))
    }

    /// One of these, the plainest first.
    pub fn pick<T: Copy, const N: usize>(&mut self, menu: [T; N]) -> T {
        menu[self.byte() % N]
    }
}

/// A tape from a seed: up to 60 bytes, a third of them 0.
pub fn random(seed: u64, bytes: &mut Vec<u8>) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as usize
    };
    bytes.clear();
    for _ in 0..next() % 61 {
        let word = next();
        bytes.push(if word % 3 == 0 { 0 } else { (word >> 8) as u8 });
    }
}

/// The shortest tape with the smallest bytes that fails and to which this one leads, by steps that fail all.
pub fn shrunk(mut bytes: Vec<u8>, fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    'again: loop {
        for len in (1..=bytes.len()).rev() {
            for at in 0..=bytes.len() - len {
                let mut shorter = bytes.clone();
                shorter.drain(at..at + len);
                if fails(&shorter) {
                    bytes = shorter;
                    continue 'again;
                }
            }
        }
        for at in 0..bytes.len() {
            for byte in 0..bytes[at] {
                let mut smaller = bytes.clone();
                smaller[at] = byte;
                if fails(&smaller) {
                    bytes = smaller;
                    continue 'again;
                }
            }
        }
        return bytes;
    }
}

#[test]
fn a_failing_tape_becomes_short() {
    let fails = |bytes: &[u8]| bytes.iter().filter(|b| **b >= 100).count() >= 2;
    assert_eq!(shrunk((0..=255).collect(), fails), [100, 100]);
    let mut bytes = Vec::new();
    let distinct: std::collections::BTreeSet<Vec<u8>> = (0..1000)
        .map(|seed| {
            random(seed, &mut bytes);
            bytes.clone()
        })
        .collect();
    assert!(distinct.len() > 900 && distinct.iter().any(|b| b.len() == 60));
}

#[test]
fn tapes_end_plainly_or_repeat() {
    let mut tape = Tape::new(&[0, 5, 1]);
    assert_eq!([(); 4].map(|()| tape.pick([7, 8, 9])), [9, 8, 7, 7]);
    let mut tape = Tape::new(&[1, 5, 1]);
    assert_eq!([(); 4].map(|()| tape.pick([7, 8, 9])), [9, 8, 9, 8]);
}
