//! Random numbers that are the same on every machine, with any number of threads.

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

/// The stream of a seed and a restart: ChaCha with 8 rounds, the seed as the first eight bytes of the key (little-endian, the
/// others 0), the restart as the stream number. Streams of one seed never overlap.
pub(crate) struct Stream(ChaCha8Rng);

impl Stream {
    pub fn new(seed: u64, restart: u64) -> Self {
        let mut key = [0; 32];
        for (to, from) in key.iter_mut().zip(seed.to_le_bytes()) {
            *to = from;
        }
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(restart);
        Self(rng)
    }

    /// 32 random bits.
    #[inline]
    pub fn bits(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// An integer below `n`, which is at least 1; without bias.
    ///
    /// The upper half of bits * n, drawn again while the lower half is below 2^32 mod n (D. Lemire, 2019): then every result
    /// has equally many draws.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        let mut product = u64::from(self.bits()) * u64::from(n);
        if (product as u32) < n {
            let uneven = n.wrapping_neg() % n.max(1);
            while (product as u32) < uneven {
                product = u64::from(self.bits()) * u64::from(n);
            }
        }
        (product >> 32) as u32
    }

    /// Two different positions below `n`, which is at least 2; every ordered pair equally likely.
    #[inline]
    pub fn pair(&mut self, n: u32) -> (usize, usize) {
        let (p, q) = (self.below(n), self.below(n - 1));
        (p as usize, (q + u32::from(q >= p)) as usize)
    }

    /// A random permutation of 0, 1, ... n - 1 (Fisher and Yates).
    pub fn permutation(&mut self, n: usize) -> Vec<u32> {
        let mut items: Vec<u32> = (0u32..).take(n).collect();
        for i in (1..n).rev() {
            items.swap(i, self.below(i as u32 + 1) as usize);
        }
        items
    }
}
