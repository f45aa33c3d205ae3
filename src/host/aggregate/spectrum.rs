//! How far the spectrum of `D⁻¹ A` reaches.

use crate::host::Csr;
use crate::host::parallel::Threads;

/// Steps of the power method, and by how much it may then fall short: 6 % in the plane, 10 % in space, half of that after twice the
/// steps, which cost nothing where there are few unknowns. What is made of it stands a quarter more.
const FEW: (usize, f64) = (12, 1.1);
const MANY: (usize, f64) = (6, 1.15);

/// About the largest eigenvalue of `D⁻¹ A` for a symmetric positive definite `A` and a positive diagonal, rather above it
/// than below: what the power method finds and some percent, and no more than the largest row sum of `|D⁻¹ A|`, which it cannot
/// exceed. 1 for no unknowns.
pub(crate) fn largest_eigenvalue(threads: Threads, a: &Csr, diagonal: &[f64]) -> f64 {
    let n = a.shape().rows;
    let (steps, margin) = if n < 10_000 { FEW } else { MANY };
    let mut x: Vec<f64> = (0..n as u32).map(scattered).collect();
    let mut next = vec![0.0; n];
    let most = largest_row_sum(threads, a, diagonal);
    let mut found = 0.0;
    for _ in 0..steps {
        // D⁻¹ A x, its size, and both parts of the Rayleigh quotient xᵀ A x / xᵀ D x.
        let parts = threads.blocks(&mut next, |begin, block| {
            let (mut above, mut below, mut size) = (0.0, 0.0, 0.0);
            for (i, slot) in (begin..).zip(block) {
                let (x_i, y, d) = (at(&x, i), a.row_times(i, &x), at(diagonal, i));
                above += x_i * y;
                below += x_i * x_i * d;
                *slot = y / d;
                size = f64::max(size, slot.abs());
            }
            (above, below, size)
        });
        let sums = |(a, b, c): (f64, f64, f64), (d, e, f)| (a + d, b + e, f64::max(c, f));
        let (above, below, size) = parts.into_iter().fold((0.0, 0.0, 0.0), sums);
        if below <= 0.0 || !(above / below).is_finite() {
            break;
        }
        found = f64::max(found, above / below);
        if size == 0.0 {
            break;
        }
        std::mem::swap(&mut x, &mut next);
        threads.blocks(&mut x, |_, block| block.iter_mut().for_each(|x| *x /= size));
    }
    let about = f64::min(most, margin * found);
    if about > 0.0 { about } else { 1.0 }
}

/// The largest row sum of `|D⁻¹ A|`, which no eigenvalue exceeds, of any matrix; 0 for no unknowns.
pub(crate) fn largest_row_sum(threads: Threads, a: &Csr, diagonal: &[f64]) -> f64 {
    let sum = |i: usize| a.row(i).map(|(_, v)| v.abs()).sum::<f64>() / at(diagonal, i);
    let largest = threads.parts(a.shape().rows, 4096, |part| part.map(sum).fold(0.0, f64::max));
    largest.into_iter().fold(0.0, f64::max)
}

fn at(list: &[f64], i: usize) -> f64 {
    list.get(i).copied().unwrap_or_default()
}

/// A number from -0.5 to 0.5 that has nothing to do with the next one's: no eigenvector is nearly orthogonal to a vector of
/// these. By the finalizer of MurmurHash3.
fn scattered(i: u32) -> f64 {
    let mut h = i.wrapping_add(0x9e37_79b9);
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    f64::from(h ^ (h >> 16)) / f64::from(u32::MAX) - 0.5
}
