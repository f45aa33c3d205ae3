//! Scale invariance: a system multiplied by a power of two takes the same iterations to the same bits.

use crate::common::harness::on_both;
use crate::common::worst::worst;
use crate::systems::{self, System, fits, mapped, params, solve};
use texla::Error;
use texla::{MatrixFormat, SparseFormat};

/// The system with `A` times 2^e and `b` times 2^f.
fn scaled(base: &System, e: i32, f: i32) -> System {
    System {
        name: format!("{}, A 2^{e}, b 2^{f}", base.name),
        a: mapped(&base.a, |v| v * 2f64.powi(e)),
        b: base.b.iter().map(|v| v * 2f64.powi(f)).collect(),
    }
}

/// The same bits, but for elements so far below the largest one that on the way some number was flushed to zero.
fn assert_same(label: &str, got: &[f32], want: &[f32]) {
    let largest = want.iter().map(|v| v.abs()).fold(0.0, worst);
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let flushed = (g - w).abs() <= largest * 2f32.powi(-60) && w.abs() <= largest * 2f32.powi(-24);
        assert!(g.to_bits() == w.to_bits() || flushed, "{label}: element {i} is {g:e}, not {w:e}");
    }
}

fn check(all: &[System], formats: &[MatrixFormat]) {
    on_both(|device| {
        for base in all {
            for format in formats {
                if !fits(device, &base.a, *format) || !systems::gather_fits(device, &base.a) {
                    continue;
                }
                for jacobi in [false, true] {
                    let run = |system: &System, schedule| {
                        let params = params(1e-5).with_schedule(schedule).with_max_iters(300);
                        solve(device, system, *format, jacobi, params)
                    };
                    for schedule in systems::schedules(device) {
                        let (x, report) =
                            run(base, schedule).unwrap_or_else(|e| panic!("{}: {e}", base.name));
                        for s in [60, -60, 120] {
                            for (e, f) in [(s, s), (s, 0), (0, s)] {
                                let system = scaled(base, e, f);
                                let label =
                                    format!("{} {format:?} {schedule:?} jacobi {jacobi}", system.name);
                                let fits32 = |v: &f64| (*v as f32).is_finite();
                                let solved = run(&system, schedule);
                                if !system.a.values().iter().chain(&system.b).all(fits32) {
                                    let refused = matches!(solved, Err(Error::NonFinite { .. }));
                                    assert!(refused, "{label}: {solved:?}");
                                    continue;
                                }
                                if s == 120 {
                                    continue; // sums of such numbers may overflow
                                }
                                let (y, other) = solved.unwrap_or_else(|e| panic!("{label}: {e}"));
                                assert_eq!(other.iterations, report.iterations, "{label}");
                                assert_eq!(other.reason, report.reason, "{label}");
                                let back: Vec<f32> =
                                    y.iter().map(|v| (f64::from(*v) * 2f64.powi(e - f)) as f32).collect();
                                assert_same(&label, &back, &x);
                            }
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn generated_systems() {
    check(&systems::generated(), &[MatrixFormat::Auto]);
}

#[test]
fn real_systems() {
    let wanted = ["bcsstk20", "nos4", "bcsstm22", "LFAT5"];
    let mut all = Vec::new();
    for (name, a) in systems::data_matrices(&[("spd", 15)], "scaled systems") {
        if wanted.iter().any(|w| name.contains(w)) {
            all.push(System::of_ones(&name, a));
        }
    }
    check(&all, &[MatrixFormat::Sparse(SparseFormat::Gather)]);
}
