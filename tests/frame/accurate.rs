//! Products in double-float: residuals that cancel, rounded once.

use crate::common::forms::{full, new_forms};
use crate::common::harness::{limits, on_both, on_both_with};
use crate::common::products::check_accurate;
use crate::common::random;
use crate::common::reference::widen;
use crate::common::systems;
use texla::Device;

use texla::host::Csr;

/// `α op(A) x + β z` where `z` is what the product was rounded to: nothing is left but rounding errors.
fn check(device: &Device, a: &Csr, pairs: bool, seed: u64) {
    if device.capabilities().exact_form.is_none() {
        return;
    }
    for (name, form) in new_forms(device, a) {
        // A stack holds 32 bits, folded diagonals the pair.
        let held = if name == "stack" || !pairs { systems::rounded(a) } else { a.clone() };
        for transposed in [false, true] {
            let side = if transposed { held.transposed() } else { held.clone() };
            let (m, n) = (side.shape().rows, side.shape().cols);
            let hx = random::nonzero(seed, n);
            let hz: Vec<f32> = systems::apply(&side, &widen(&hx)).iter().map(|p| *p as f32).collect();
            for (alpha, beta) in [(1.0f32, Some(-1.0f32)), (-0.5, Some(0.5)), (4.0, None)] {
                let label = format!("{name} {m}x{n} transposed {transposed} {alpha} {beta:?}");
                let plus = beta.map(|beta| (beta, hz.as_slice()));
                check_accurate(device, &label, form.as_ref(), &side, transposed, (alpha, &hx), plus);
            }
        }
    }
}

#[test]
fn residuals_of_full_matrices() {
    on_both(|device| {
        for n in [0, 1, 2, 3, 5, 9, 50, 97] {
            check(device, &full(n, n, &random::nonzero(n as u64, n * n)), false, 3);
        }
        for (m, n) in [(7, 130), (130, 7)] {
            check(device, &full(m, n, &random::nonzero(1, m * n)), false, 4);
        }
    });
}

/// Coefficients that 32 bits do not hold, some of them constant along a pair of diagonals.
#[test]
fn folded_bands_keep_remainders() {
    on_both(|device| {
        for n in [4usize, 9, 30] {
            let mut rng = random::Rng::new(n as u64);
            let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            let entries: Vec<_> = all
                .map(|(i, j)| {
                    let d = (j + n - i) % n;
                    (i, j, if d % 3 == 0 { 1.0 / (3.0 + d as f64) } else { 0.5 + rng.unit() })
                })
                .collect();
            check(device, &systems::entries(n, n, entries), true, 5);
        }
    });
}

/// Sums that span several textures carry their low part.
#[test]
fn across_several_textures() {
    let small = limits().with_max_texture_size(Some(16));
    on_both_with(small, |device| {
        for (m, n) in [(50, 100), (500, 6), (1000, 5)] {
            check(device, &full(m, n, &random::nonzero(2, m * n)), false, 6);
        }
    });
}
