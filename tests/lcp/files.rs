//! The problems of the data folder: solved, or refused by name.

use crate::common::data;
use crate::common::harness::on_both;
use crate::problems::{Lcp, assert_honest, dense, params, solve};
use texla::Error;
use texla::solve::{LcpSolver, ProjectedJacobi, Relaxation, StopReason};
use texla::{MatrixFormat, SparseFormat, StoredMatrix};

/// What is known of a file.
enum Known {
    /// The only solution.
    Solution(&'static [f64]),
    /// A condition that every solution meets.
    Holds(fn(&[f32]) -> bool),
    /// The first row whose diagonal entry is zero.
    ZeroDiagonal(usize),
    Solvable,
}

const FILES: [(&str, Known); 10] = [
    ("lcp_CPS_1", Known::Holds(|x| (x[0] + x[1] - 1.0).abs() <= 1e-4)),
    ("lcp_CPS_2", Known::ZeroDiagonal(0)),
    ("lcp_CPS_5", Known::Holds(|x| (x[1] - x[0] - 1.0).abs() <= 1e-4)),
    ("lcp_Pang_isolated_sol", Known::ZeroDiagonal(0)),
    ("lcp_deudeu", Known::Solution(&[4.0 / 3.0, 7.0 / 3.0])),
    ("lcp_exp_murty", Known::Solution(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])),
    ("lcp_mmc", Known::Solvable),
    ("lcp_ortiz", Known::Solution(&[2.0 / 3.0, 0.0, 1.0 / 3.0, 0.0])),
    ("lcp_tobenna", Known::ZeroDiagonal(32)),
    ("lcp_trivial", Known::Solvable),
];

/// n, the storage, the shape twice, the matrix row by row, and the right-hand side; what follows is commentary.
fn read(name: &str, text: &str) -> Lcp {
    let mut words = text.split_whitespace();
    let n: usize = words.next().unwrap().parse().unwrap();
    let header: Vec<usize> = words.by_ref().take(5).map(|w| w.parse().unwrap()).collect();
    assert_eq!(header, [0, n, n, n, n], "{name}");
    let numbers: Vec<f64> = words.take(n * n + n).map(|w| w.parse().unwrap()).collect();
    Lcp::new(name, dense(n, &numbers[..n * n]), numbers[n * n..].to_vec())
}

fn all() -> Vec<(Lcp, &'static Known)> {
    let Some(root) = data::data_root() else {
        data::not_run(FILES.len(), "complementarity problems");
        return Vec::new();
    };
    let mut found = Vec::new();
    for path in data::files(&root, "lcp") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        match FILES.iter().find(|f| f.0 == name) {
            Some((_, known)) => found.push((read(&name, &std::fs::read_to_string(path).unwrap()), known)),
            None => data::say(&format!("no outcome is written down for {name}")),
        }
    }
    assert_eq!(found.len(), FILES.len(), "files are missing");
    found
}

#[test]
fn every_problem_is_solved_or_refused() {
    let problems = all();
    on_both(|device| {
        for (lcp, known) in &problems {
            for relaxation in [Relaxation::Accelerated, Relaxation::Estimated] {
                for tol in [1e-4, 1e-5] {
                    let label = format!("{} {relaxation:?} {tol:e}", lcp.name);
                    let params = params(tol).with_relaxation(relaxation);
                    let solved = solve(device, lcp, MatrixFormat::Sparse(SparseFormat::Gather), params);
                    if let Known::ZeroDiagonal(row) = known {
                        refused(&label, solved.err(), "LcpSolver", *row);
                        continue;
                    }
                    let (x, report) = solved.unwrap_or_else(|e| panic!("{label}: {e}"));
                    if std::env::var_os("TEXLA_TEST_VERBOSE").is_some() {
                        data::say(&format!("{label}: {:?}", report.outcome));
                    }
                    assert_eq!(report.outcome.reason, StopReason::Converged, "{label}: {report:?}");
                    assert_honest(lcp, &x, &report.outcome, tol);
                    let (natural, scaled) = lcp.residuals(&x);
                    assert!(natural <= tol && scaled <= tol * 1.001, "{label}: {natural:e} {scaled:e}");
                    match known {
                        Known::Solution(solution) => {
                            for (x, s) in x.iter().zip(*solution) {
                                // The matrices' condition numbers are below 10, and max |b| below 6.
                                assert!((f64::from(*x) - s).abs() <= 60.0 * tol, "{label}: {x:?}");
                                assert!(*s > 0.0 || *x <= 10.0 * tol as f32);
                            }
                        }
                        Known::Holds(holds) => assert!(holds(&x), "{label}: {x:?}"),
                        _ => {}
                    }
                }
            }
        }
    });
}

/// What an error says of a diagonal that is no diagonal to divide by.
fn refused(label: &str, error: Option<Error>, op: &str, row: usize) {
    match error {
        Some(Error::Matrix { op: found, detail }) => {
            assert_eq!(found, op, "{label}");
            let expected = format!("has the diagonal entry 0 in row {row} (counted from 0)");
            assert!(detail.contains(&expected) && detail.contains("does not apply"), "{label}: {detail}");
        }
        other => panic!("{label}: {other:?}"),
    }
}

#[test]
fn the_papers_form_refuses_zero_diagonals_too() {
    let problems = all();
    on_both(|device| {
        for (lcp, known) in &problems {
            let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Auto).unwrap();
            let made = ProjectedJacobi::new(&a, 0.5).err();
            match known {
                Known::ZeroDiagonal(row) => {
                    refused(&lcp.name, made, "ProjectedJacobi", *row);
                    refused(&lcp.name, LcpSolver::new(&a, params(1e-4)).err(), "LcpSolver", *row);
                }
                _ => assert_eq!(made, None, "{}", lcp.name),
            }
        }
    });
}
