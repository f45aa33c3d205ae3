//! Which rises of the cost are accepted.

use super::stream::Stream;

/// Rises that are small integers, as those of instruction counts are, are looked up.
const TABLE: usize = 64;

/// A rise d is accepted with probability exp(-d / (k T)): \[Bajaj04\] Figure 4, line (c).
///
/// The probability is rounded down to a multiple of 2^-32 and compared with 32 random bits.
pub(crate) struct Metropolis {
    scale: f64,
    thresholds: [u64; TABLE],
}

impl Metropolis {
    /// For k T, which is positive.
    pub fn new(scale: f64) -> Self {
        Self { scale, thresholds: std::array::from_fn(|rise| threshold(rise as f64, scale)) }
    }

    #[inline]
    pub fn accepts(&self, rise: f64, stream: &mut Stream) -> bool {
        let whole = rise as usize;
        let threshold = match self.thresholds.get(whole) {
            Some(&threshold) if whole as f64 == rise => threshold,
            _ => threshold(rise, self.scale),
        };
        u64::from(stream.bits()) < threshold
    }
}

/// exp(-rise / scale) in units of 2^-32.
fn threshold(rise: f64, scale: f64) -> u64 {
    (exp_minus(rise / scale) * 4_294_967_296.0) as u64
}

/// exp(-x) for x >= 0 from additions, multiplications and divisions alone, so that it is the same on every machine: the
/// platform's own differs in the last digit from one to the next. Within 2^-51, relative; 0 from 700 on.
///
/// x = n ln 2 + r with |r| <= ln 2 / 2, and exp(-r) by its Taylor series to the 13th power, whose remainder is below 2^-56.
pub(crate) fn exp_minus(x: f64) -> f64 {
    // The leading bits of ln 2, whose multiples below 2^21 are exact, and the rest.
    const HIGH: f64 = 6.931_471_803_691_238e-1;
    const LOW: f64 = 1.908_214_929_270_587_7e-10;
    if x.is_nan() || x >= 700.0 {
        return 0.0;
    }
    let n = (x * std::f64::consts::LOG2_E + 0.5) as u64;
    let r = (x - n as f64 * HIGH) - n as f64 * LOW;
    let series = (1..=13u32).rev().fold(1.0, |sum, k| 1.0 - r / f64::from(k) * sum);
    series * f64::from_bits((1023 - n.min(1022)) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_right_to_the_last_bits() {
        assert_eq!((exp_minus(0.0), exp_minus(700.0), exp_minus(f64::NAN)), (1.0, 0.0, 0.0));
        for k in 0..70_000 {
            let x = f64::from(k) * 0.01 * (1.0 - f64::EPSILON * f64::from(k % 7));
            let (found, expected) = (exp_minus(x), (-x).exp());
            // The rounding of r, of its product with the last sum, and of that sum: 2^-53 each; the library's own 2^-53.
            assert!(
                (found - expected).abs() <= 4.0 * f64::EPSILON / 2.0 * expected,
                "{x}: {found} {expected}"
            );
        }
    }

    #[test]
    fn rises_are_accepted_as_often_as_they_should_be() {
        let (metropolis, mut stream) = (Metropolis::new(0.8), Stream::new(1, 0));
        for rise in [0.25, 1.0, 1.5, 2.0, 65.0] {
            let p = (-rise / 0.8f64).exp();
            let accepted = (0..100_000).filter(|_| metropolis.accepts(rise, &mut stream)).count() as f64;
            // Six standard deviations.
            assert!((accepted - 1e5 * p).abs() <= 6.0 * (1e5 * p * (1.0 - p)).sqrt(), "{rise}: {accepted}");
        }
    }

    #[test]
    fn draws_are_even() {
        let mut stream = Stream::new(7, 3);
        let (mut singles, mut pairs) = ([0u32; 5], [0u32; 20]);
        for _ in 0..100_000 {
            singles[stream.below(5) as usize] += 1;
            let (p, q) = stream.pair(5);
            assert_ne!(p, q);
            pairs[4 * p + q - usize::from(q > p)] += 1;
        }
        // Six standard deviations.
        assert!(
            singles.iter().all(|&n| (f64::from(n) - 20_000.0).abs() < 6.0 * 16_000f64.sqrt()),
            "{singles:?}"
        );
        assert!(pairs.iter().all(|&n| (f64::from(n) - 5_000.0).abs() < 6.0 * 4_750f64.sqrt()), "{pairs:?}");
        let mut seen = stream.permutation(100);
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..100));
    }
}
