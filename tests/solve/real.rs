//! Real matrices: no false "converged", quality of the solution (the LAPACK ratio), number of iterations.

use crate::common::data;
use crate::common::harness::on_both;
use crate::systems::{self, System, fits, gather_fits, lapack_ratio, params, relative_residual, solve};
use texla::solve::StopReason;
use texla::{MatrixFormat, SparseFormat};

/// Iterations that conjugate gradients with Jacobi scaling take in 32 bits on a CPU, to a recursive residual of 1e-6.
const JACOBI_F32: [(&str, usize); 15] = [
    ("494_bus", 375),
    ("685_bus", 183),
    ("LFAT5", 7),
    ("bcsstk01", 47),
    ("bcsstk02", 41),
    ("bcsstk03", 138),
    ("bcsstk05", 131),
    ("bcsstk09", 158),
    ("bcsstk10", 291),
    ("bcsstk20", 292),
    ("bcsstk22", 109),
    ("bcsstm22", 1),
    ("gr_30_30", 36),
    ("nos4", 70),
    ("pts5ldd03", 31),
];

/// More diagonals than these are no banded matrix.
const MOST_BANDS: usize = 40;

fn each(tol: f64) {
    let matrices = systems::data_matrices(&[("spd", 15)], &format!("solves with real matrices to {tol:e}"));
    on_both(|device| {
        for (name, a) in &matrices {
            let system = System::of_ones(name, a.clone());
            for format in [MatrixFormat::Sparse(SparseFormat::Gather), MatrixFormat::Banded] {
                let banded = format == MatrixFormat::Banded && a.distinct_diagonals() > MOST_BANDS;
                if banded || !fits(device, a, format) {
                    continue;
                }
                for jacobi in [false, true] {
                    let label = format!("{name}, {format:?}, jacobi {jacobi}, {tol:e}");
                    let (x, report) = solve(device, &system, format, jacobi, params(tol))
                        .unwrap_or_else(|e| panic!("{label}: {e}"));
                    if std::env::var_os("TEXLA_TEST_VERBOSE").is_some() {
                        data::say(&format!(
                            "{label}: {} {} its, {:e}",
                            report.reason, report.iterations, report.true_residual
                        ));
                    }
                    let residual = relative_residual(a, &x, &system.b);
                    let said = report.true_residual;
                    assert!(
                        (said - residual).abs() <= 0.05 * residual,
                        "{label}: {} with a residual of {said:e}, the f64 one is {residual:e}",
                        report.reason
                    );
                    if report.reason == StopReason::Converged {
                        assert!(residual <= 2.0 * tol, "{label}: converged with {residual:e}");
                        if tol <= 1e-6 {
                            let ratio = lapack_ratio(a, &x, &system.b);
                            assert!(ratio < 30.0, "{label}: LAPACK ratio {ratio:.1}");
                        }
                    }
                    assert_eq!(report.readbacks_in_loop, 0, "{label}");
                    assert!(
                        report.history.windows(2).all(|w| w[0].iteration < w[1].iteration),
                        "{label}: history"
                    );
                    let file = name.trim_start_matches("spd/").trim_end_matches(".mtx");
                    let known = JACOBI_F32.iter().find(|k| k.0 == file);
                    if let Some((_, f32_count)) = known.filter(|_| jacobi && tol == 1e-5) {
                        assert!(crate::systems::is_met(name, &report), "{label}: {report:?}");
                        let most = f32_count + f32_count / 2 + 5;
                        let count = report.iterations;
                        assert!(count <= most, "{label}: {count} iterations, at most {most} expected");
                    }
                }
            }
            if !gather_fits(device, a) {
                data::say(&format!("{name} does not fit these textures"));
            }
        }
    });
}

#[test]
fn to_1e4() {
    each(1e-4);
}

#[test]
fn to_1e5() {
    each(1e-5);
}

#[test]
fn to_1e6() {
    each(1e-6);
}
