//! The `solve` example from outside: exit codes, messages, the JSON report.
#![cfg(all(feature = "io", feature = "headless"))]

mod common;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use common::cli::{self, Ran, scratch, write};
use common::data;
use serde_json::Value;

const EXAMPLE: &str = "solve";

/// Runs something that is to end soon.
fn soon<T>(args: &[&str], run: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let done = run();
    assert!(started.elapsed() < Duration::from_secs(10), "{args:?} took {:?}", started.elapsed());
    done
}

fn run_with(args: &[&str], environment: &[(&str, &str)]) -> Ran {
    let environment = environment.iter().copied();
    soon(args, || cli::finish(cli::command(EXAMPLE).args(args).envs(environment), b""))
}

fn json(args: &[&str]) -> (i32, Value) {
    soon(args, || cli::json(EXAMPLE, args))
}

#[track_caller]
fn assert_refused(args: &[&str], text: &str) {
    soon(args, || cli::assert_refused(EXAMPLE, args, text));
}

/// `tridiag(-1, 3, -1)` of this size as a file.
fn tridiagonal(name: &str, n: usize) -> String {
    let mut text = format!("%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {}\n", 2 * n - 1);
    for i in 1..=n {
        text += &format!("{i} {i} 3\n");
        if i < n {
            text += &format!("{} {i} -1\n", i + 1);
        }
    }
    write(name, &text)
}

const KEYS: [&str; 16] = [
    "converged",
    "reason",
    "iterations",
    "true_relative_residual",
    "least_squares_residual",
    "lapack_ratio",
    "relative_error",
    "readbacks_in_loop",
    "async_checks",
    "draws_useful",
    "draws_in_vain",
    "draws_per_iteration",
    "ms_per_iteration",
    "wall_ms",
    "format",
    "device",
];

#[test]
fn the_built_in_problem_converges_on_both_apis() {
    for api in ["gl33", "es30"] {
        let (code, report) = json(&["--quick", "--api", api]);
        assert_eq!(code, 0, "{report}");
        for key in KEYS {
            assert!(report.get(key).is_some(), "{key} is missing in {report}");
            // Without a known solution there is no error to report, and this is no least squares.
            let none = ["relative_error", "least_squares_residual"].contains(&key);
            assert_eq!(report[key].is_null(), none, "{key}: {}", report[key]);
        }
        assert_eq!((&report["converged"], &report["reason"]), (&Value::Bool(true), &"converged".into()));
        assert!(report["true_relative_residual"].as_f64().unwrap() <= 2e-5);
        assert!(report["lapack_ratio"].as_f64().unwrap() < 30.0);
        assert_eq!(report["readbacks_in_loop"], 0);
        assert_eq!(report["format"], "banded");
        assert_eq!(report["example"], "solve");
        assert_eq!(report["schema"], 1);
        let said = report["api"].as_str().unwrap();
        let expected: texla::gl::Api = api.parse().unwrap();
        assert_eq!(said, expected.to_string());
        assert!(report["checks"].as_array().unwrap().iter().all(|c| c["pass"] == true));
        // The history, in order.
        let rows: Vec<u64> =
            report["rows"].as_array().unwrap().iter().map(|r| r["iteration"].as_u64().unwrap()).collect();
        assert!(rows.len() >= 2 && rows.windows(2).all(|w| w[0] < w[1]), "{rows:?}");
    }
}

/// What a solve takes is told whole: the wall from the call to the certificate, and each draw as useful or in vain.
#[track_caller]
fn assert_told(report: &Value) {
    let [wall, useful, in_vain] =
        ["wall_ms", "draws_useful", "draws_in_vain"].map(|key| report[key].as_f64().unwrap());
    let time = &report["time_ms"];
    // From the call to the answer: what was given up, what was set up, what was compiled, and iterations.
    let parts = ["given_up", "set_up", "compile", "iterate"].map(|key| time[key].as_f64().unwrap());
    let all: f64 = parts.iter().sum();
    assert!(
        wall > 0.0 && (wall - all).abs() <= 1e-6 * wall && parts.iter().all(|part| *part >= 0.0),
        "{report}"
    );
    let [each, iterations, draws] = ["draws_per_iteration", "iterations"]
        .map(|key| report[key].as_f64().unwrap())
        .into_iter()
        .chain(report["counters"]["draws"].as_f64())
        .collect::<Vec<_>>()
        .try_into()
        .unwrap();
    assert!(useful > each * (iterations - 1.0) && useful + in_vain <= draws, "{report}");
}

#[test]
fn the_built_in_problem_in_any_size_and_by_multigrid() {
    for (size, unknowns) in [("1", 1), ("2", 4), ("7", 49), ("33", 1089), ("96", 9216)] {
        let mut iterations = Vec::new();
        for precond in ["none", "jacobi", "multigrid"] {
            let (code, report) = json(&["--size", size, "--precond", precond]);
            assert_eq!((code, &report["matrix"]["rows"]), (0, &unknowns.into()), "{precond}: {report}");
            let kept = if precond == "multigrid" { "stencil" } else { "banded" };
            assert_eq!(report["format"], kept);
            assert_told(&report);
            iterations.push(report["iterations"].as_u64().unwrap());
        }
        // As many on any grid; without it as many as cells along a side, and more.
        assert!(iterations[2] <= 10 && (unknowns < 1000 || iterations[0] > 40), "{size}: {iterations:?}");
    }
    // The size is the flag's, also where small ones are asked for; and what is no conjugate gradient takes a cycle too.
    let args = ["--quick", "--size", "48", "--precond", "multigrid", "--method", "bicgstab", "--api", "es30"];
    let (code, report) = json(&args);
    assert_eq!((code, &report["matrix"]["rows"]), (0, &2304.into()), "{report}");
    assert!(report["iterations"].as_u64().unwrap() <= 10, "{report}");
    assert_told(&report);
    // Closer than the library asks for by itself.
    let same = json(&["--size", "16", "--precond", "multigrid", "--tol", "1e-6"]).1;
    assert_eq!(same["choice"], "cg with multigrid");
    assert!(same["true_relative_residual"].as_f64().unwrap() <= 1e-6, "{same}");
}

/// Systems at the ends of the range of floats, where pairs have no low parts, and beyond it, are solved for all digits.
#[test]
fn systems_of_any_magnitude_are_solved_for_their_digits() {
    for magnitude in [3e-30, 7e-42, 1e-200, 1.3e33] {
        let (file, out) = (scratch("magnitude.mtx"), scratch("magnitude_x.mtx"));
        let entries =
            format!("2 2 3\n1 1 {:e}\n2 1 {:e}\n2 2 {:e}\n", -magnitude, magnitude / 3.0, magnitude * 1.1);
        fs::write(&file, format!("%%MatrixMarket matrix coordinate real general\n{entries}")).unwrap();
        let (code, report) = json(&["--matrix", &file, "--tol", "1e-12", "--out", &out]);
        assert_eq!((code, &report["converged"]), (0, &true.into()), "{magnitude:e}: {report}");
        assert!(report["true_relative_residual"].as_f64().unwrap() <= 1e-12, "{magnitude:e}: {report}");
        let written = fs::read_to_string(&out).unwrap();
        let x: Vec<f64> = written.lines().skip(2).map(|line| line.trim().parse().unwrap()).collect();
        assert!(x.len() == 2 && x.iter().all(|x| (x - 1.0).abs() < 1e-11), "{magnitude:e}: {x:?}");
    }
}

/// What 64 bits do not hold is no solution once it is written: the file would say nothing of what was certified.
#[test]
fn a_solution_beyond_64_bits_is_not_told_as_written() {
    let [file, rhs, out] = ["beyond.mtx", "beyond_b.mtx", "beyond_x.mtx"].map(scratch);
    fs::write(&file, "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e30\n2 2 2e30\n").unwrap();
    fs::write(&rhs, "%%MatrixMarket matrix array real general\n2 1\n1e-300\n1e-300\n").unwrap();
    let files = ["--matrix", &file, "--rhs", &rhs];
    let (code, report) = json(&files);
    assert_eq!((code, &report["converged"]), (0, &true.into()), "{report}");
    let (code, report) = json(&[&files[..], &["--out", &out]].concat());
    assert_eq!(code, 1, "{report}");
    let checks = report["checks"].to_string();
    assert!(checks.contains("beyond the range of 64 bits"), "{report}");
}

/// A system in other units is the same system: of matrix and right-hand side times powers of two the same is told, and the solution
/// differs by the power of two alone. The diagonal is spread over 2^24: low parts of the smallest would leave the range.
#[test]
fn a_system_in_other_units_is_the_same_system() {
    const N: usize = 9;
    let scale = |i: usize| f64::from((5 * i % 9) as i32 * 3 - 12).exp2();
    let rounded = |seed: usize| ((seed * 7919 % 1009) as f64 / 1009.0).sqrt() + 0.1;
    let solved = |[of_a, of_b]: [i32; 2], options: &[&str]| {
        let [file, rhs, out] = ["units.mtx", "units_b.mtx", "units_x.mtx"].map(scratch);
        let [of_a, of_b] = [of_a, of_b].map(|e| f64::from(e).exp2());
        let mut text = format!("%%MatrixMarket matrix coordinate real symmetric\n{N} {N} {}\n", 2 * N - 1);
        for i in 0..N {
            let diagonal = (2.0 + rounded(i)) * scale(i) * scale(i) * of_a;
            text += &format!("{} {} {diagonal:e}\n", i + 1, i + 1);
            if i > 0 {
                let beside = -rounded(i + 50) * scale(i) * scale(i - 1) * of_a;
                text += &format!("{} {i} {beside:e}\n", i + 1);
            }
        }
        fs::write(&file, text).unwrap();
        let right: String =
            (0..N).map(|i| format!("{:e}\n", rounded(i + 99) * scale(i).sqrt() * of_b)).collect();
        fs::write(&rhs, format!("%%MatrixMarket matrix array real general\n{N} 1\n{right}")).unwrap();
        let files = ["--matrix", &file, "--rhs", &rhs, "--out", &out];
        let (code, report) = json(&[&files, options].concat());
        let written = fs::read_to_string(&out).unwrap();
        let x: Vec<f64> = written.lines().skip(2).map(|line| line.trim().parse().unwrap()).collect();
        let told = ["reason", "iterations", "true_relative_residual"].map(|key| report[key].clone());
        (code, told, x)
    };
    for options in
        ["--tol 1e-12", "--tol 1e-13 --method minres --precond jacobi", "--tol 1e-10 --method cgls"]
    {
        let options: Vec<&str> = options.split(' ').collect();
        let (code, told, x) = solved([0, 0], &options);
        assert_eq!(x.len(), N);
        for units in [[60, 0], [-60, 0], [0, 60], [0, -60], [60, -60], [-200, -110]] {
            let larger = f64::from(units[1] - units[0]).exp2();
            let expected = (code, told.clone(), x.iter().map(|x| x * larger).collect());
            assert_eq!(solved(units, &options), expected, "{units:?} {options:?}");
        }
    }
}

/// Without `--check-every` the solver looks when it thinks fit, and no more than a tenth of its draws is in vain; with it,
/// the last look decides. The answer is the same.
#[test]
fn the_schedule_of_looks_is_the_solvers_own_or_the_flags() {
    let (outputs, vain): (Vec<String>, Vec<u64>) = [None, Some("1"), Some("1000")]
        .into_iter()
        .map(|every| {
            let out = scratch(&format!("looks{}.mtx", every.unwrap_or("")));
            let flag = every.map(|k| ["--check-every", k]);
            let args = [&["--size", "40", "--out", &out][..], flag.as_ref().map_or(&[], |f| &f[..])].concat();
            let (code, report) = json(&args);
            assert_eq!(code, 0, "{report}");
            assert_told(&report);
            let [useful, in_vain] = ["draws_useful", "draws_in_vain"].map(|k| report[k].as_u64().unwrap());
            assert!(every.is_some() || 10 * in_vain <= useful, "{report}");
            (fs::read_to_string(out).unwrap(), in_vain)
        })
        .unzip();
    assert!(outputs.iter().all(|o| *o == outputs[0]));
    assert!(vain[2] > vain[0], "{vain:?}");
}

#[test]
fn formats_preconditioners_and_methods() {
    let file = tridiagonal("formats.mtx", 50);
    let mut iterations = Vec::new();
    for format in ["auto", "points", "gather", "banded"] {
        let args = ["--matrix", &file, "--format", format, "--precond", "jacobi", "--tol", "1e-6"];
        let (code, report) = json(&args);
        assert_eq!(code, 0, "{format}: {report}");
        assert_eq!(report["format"], if format == "auto" { "banded" } else { format });
        iterations.push(report["iterations"].as_u64().unwrap());
    }
    assert!(iterations.iter().all(|k| k.abs_diff(iterations[0]) <= 2), "{iterations:?}");
    let (code, report) = json(&["--matrix", &file, "--method", "cgls"]);
    assert_eq!((code, &report["converged"]), (0, &Value::Bool(true)));
}

#[test]
fn right_hand_side_known_solution_and_output_go_round() {
    let matrix = tridiagonal("round.mtx", 8);
    let want = [1.0, -2.0, 3.5, 0.0, 5.0, 0.25, -7.0, 8.0];
    let at = |i: usize| if i < 8 { want[i] } else { 0.0 };
    let vector = |values: &[f64]| {
        let lines: String = values.iter().map(|v| format!("{v}\n")).collect();
        format!("%%MatrixMarket matrix array real general\n{} 1\n{lines}", values.len())
    };
    let b: Vec<f64> = (0..8).map(|i| 3.0 * at(i) - at(i + 1) - at(i.wrapping_sub(1))).collect();
    let rhs = write("round-b.mtx", &vector(&b));
    let known = write("round-x.mtx", &vector(&want));
    let out = scratch("round-out.mtx");
    let plot = scratch("round.png");
    let system = ["--matrix", &matrix, "--rhs", &rhs, "--x-ref", &known, "--tol", "1e-9"];
    let (code, report) = json(&[&system[..], &["--out", &out, "--plot", &plot]].concat());
    assert_eq!(code, 0, "{report}");
    assert!(report["relative_error"].as_f64().unwrap() < 1e-5, "{report}");
    let solution = texla::host::market::read_vector(&out).unwrap();
    assert_eq!(solution.len(), 8);
    for (x, want) in solution.iter().zip(&want) {
        assert!((x - want).abs() < 1e-4, "{x} {want}");
    }
    assert!(solution.iter().any(|x| *x != f64::from(*x as f32)), "pairs are written as pairs: {solution:?}");
    assert!(fs::read(&plot).unwrap().starts_with(b"\x89PNG"));
    // What came out, as the known solution.
    let args = ["--matrix", &matrix, "--rhs", &rhs, "--x-ref", &out, "--tol", "1e-9"];
    let (_, again) = json(&args);
    assert_eq!(again["relative_error"].as_f64().unwrap(), 0.0);
}

/// Least squares end by either residual, and are judged by the one that they ended by: here by `b - A x`, long before the
/// small singular values are seen in `Aᵀ(b - A x)`.
#[test]
fn least_squares_are_judged_by_either_residual() {
    let entries = "1 1 1\n2 2 1e-2\n3 3 1e-3\n4 4 1e-4\n";
    let matrix =
        write("steep.mtx", &format!("%%MatrixMarket matrix coordinate real general\n4 4 4\n{entries}"));
    let rhs = write("steep-b.mtx", "%%MatrixMarket matrix array real general\n4 1\n1e-4\n0\n0\n1\n");
    let (code, report) = json(&["--matrix", &matrix, "--rhs", &rhs, "--method", "cgls", "--tol", "1e-3"]);
    assert_eq!((code, &report["reason"]), (0, &"converged".into()), "{report}");
    let [own, normal] =
        ["least_squares_residual", "true_relative_residual"].map(|key| report[key].as_f64().unwrap());
    assert!(own <= 1e-3 && normal > 2e-3, "{report}");
}

/// The driver's raster threads do not change a bit of the solution.
#[test]
fn threads_do_not_change_the_result() {
    let outputs: Vec<String> = ["0", "1", "2"]
        .iter()
        .map(|threads| {
            let out = scratch(&format!("threads{threads}.mtx"));
            let args = ["--quick", "--out", &out];
            let done = run_with(&args, &[("LP_NUM_THREADS", threads)]);
            assert_eq!(done.code, 0, "{}", done.stderr);
            fs::read_to_string(out).unwrap()
        })
        .collect();
    assert!(outputs.iter().all(|o| *o == outputs[0]));
}

#[test]
fn not_converging_is_exit_1_with_a_report() {
    let (code, report) = json(&["--quick", "--max-iters", "3"]);
    assert_eq!(code, 1, "{report}");
    assert_eq!(report["reason"], "max_iterations");
    assert_eq!((&report["converged"], &report["iterations"]), (&Value::Bool(false), &3.into()));
    assert!(report["checks"].as_array().unwrap().iter().any(|c| c["pass"] == false));
    // A solution that 32 bits do not hold.
    let matrix = tridiagonal("stagnated.mtx", 50);
    let ones = format!("%%MatrixMarket matrix array real general\n50 1\n{}", "1\n".repeat(50));
    let rhs = write("stagnated-b.mtx", &ones);
    let args = ["--matrix", &matrix, "--rhs", &rhs, "--tol", "1e-12"];
    let (code, report) = json(&[&args[..], &["--precision", "single"]].concat());
    assert_eq!((code, &report["reason"]), (1, &"stagnated".into()), "{report}");
    assert_eq!(report["precision"], "single");
    let said = run_with(&[&args[..], &["--precision", "single"]].concat(), &[]).stdout;
    assert!(said.contains("(--precision refined)") && !said.contains("DoubleVector"), "{said}");
    // Pairs do, and are what is taken.
    let (code, report) = json(&args);
    assert_eq!((code, &report["reason"]), (0, &"converged".into()), "{report}");
    assert_eq!((&report["precision"], &report["double_iterations"]), (&"refined".into(), &0.into()));
    assert!(report["true_relative_residual"].as_f64().unwrap() <= 1e-12, "{report}");
    for (precision, done) in [("single", "single"), ("auto", "refined")] {
        let (code, report) = json(&["--quick", "--method", "cgls", "--precision", precision]);
        assert_eq!((code, &report["precision"]), (0, &done.into()), "{report}");
    }
    // An iteration in pairs, by the one method that has it.
    let (code, report) = json(&[&args[..], &["--precision", "double"]].concat());
    assert_eq!((code, &report["precision"]), (0, &"double".into()), "{report}");
    assert_eq!(report["double_iterations"], report["iterations"], "{report}");
    assert_refused(&["--quick", "--method", "bicgstab", "--precision", "double"], "--method cg");
    let (code, report) = json(&["--quick", "--precond", "multigrid", "--precision", "double"]);
    assert_eq!((code, &report["precision"]), (0, &"double".into()), "{report}");
}

#[test]
fn a_breakdown_is_exit_1_with_a_report() {
    let file =
        write("indefinite.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 -5\n");
    let (code, report) = json(&["--matrix", &file, "--method", "cg"]);
    assert_eq!(code, 1, "{report}");
    assert_eq!((&report["converged"], &report["reason"]), (&Value::Bool(false), &"breakdown".into()));
    for key in KEYS {
        assert!(report.get(key).is_some(), "{key} is missing in {report}");
    }
    assert!(report["error"].as_str().unwrap().contains("p.Ap"), "{report}");
}

#[test]
fn flags_out_of_range_are_refused() {
    let refused: [(&[&str], &str); 30] = [
        (&["--tol", "0"], "--tol 0: expected at least 1e-18 and less than 1"),
        (&["--tol", "NaN"], "--tol NaN"),
        (&["--tol", "1e-30"], "--tol 1e-30"),
        (&["--tol", "1"], "--tol 1: expected"),
        (&["--tol=-1e-5"], "--tol -1e-5"),
        (&["--tol", "small"], "small"),
        (&["--check-every", "0"], "--check-every 0: expected 1 to 1000"),
        (&["--check-every", "1001"], "--check-every 1001"),
        (&["--check-every", "often"], "often"),
        (&["--size", "0"], "--size 0: expected a number from 1 to 4096"),
        (&["--size", "4097"], "--size 4097"),
        (&["--size", "18446744073709551615"], "--size 18446744073709551615"),
        (&["--size", "18446744073709551616"], "18446744073709551616"),
        (&["--size", "-1"], "-1"),
        (&["--size", "64.5"], "64.5"),
        (&["--size", "64", "--matrix", "A.mtx"], "--matrix"),
        (
            &["--matrix", "A.mtx", "--precond", "multigrid"],
            "needs the grid that a matrix stands for, and A.mtx",
        ),
        (&["--matrix", "A.mtx", "--precond", "multigrid"], "--precond amg needs none"),
        (&["--precond", "multigrid", "--method", "cgls"], "least squares"),
        (&["--precond", "multigrid", "--format", "gather"], "kept as a stencil"),
        (&["--precond", "multigrid", "--format", "banded"], "kept as a stencil"),
        (&["--precond", "ilu"], "ilu"),
        (&["--max-iters", "16777216"], "--max-iters 16777216: expected less than 2^24"),
        (&["--method", "gmres", "--restart", "201"], "solve: --restart 201: expected 1 to 200"),
        (&["--max-iters", "-1"], "-1"),
        (&["--format", "dense"], "dense"),
        (&["--api", "vulkan"], "vulkan"),
        (&["--no-such-flag"], "--no-such-flag"),
        (&["--matrix"], "--matrix"),
        (&["stray"], "stray"),
    ];
    for (args, text) in refused {
        assert_refused(&[&["--quick"], args].concat(), text);
    }
}

#[test]
fn files_that_cannot_be_used_are_refused() {
    let matrix = tridiagonal("files.mtx", 8);
    let short = write("short.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
    assert_refused(&["--matrix", &matrix, "--rhs", &short], "has 3 elements, expected 8");
    assert_refused(&["--matrix", &matrix, "--x-ref", &short], "has 3 elements, expected 8");
    assert_refused(&["--matrix", "no/such/file.mtx"], "no/such/file.mtx");
    assert_refused(&["--matrix", &matrix, "--rhs", "no/such/b.mtx"], "no/such/b.mtx");
    let folder = scratch("folder.png");
    fs::create_dir_all(&folder).unwrap();
    for flag in ["--json", "--plot", "--out"] {
        assert_refused(
            &["--matrix", &matrix, flag, "no/such/folder/file.svg"],
            "cannot write no/such/folder/file.svg",
        );
        assert_refused(&["--matrix", &matrix, flag, &folder], "it is a folder");
    }
    assert_refused(&["--matrix", &matrix, "--plot", "plot.gif"], "ends in .svg or .png");
    let zero = write("zero.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n");
    let jacobi = ["--matrix", &zero, "--precond", "jacobi", "--method", "cg"];
    assert_refused(&jacobi, "diagonal entry 0 at 1");
    let huge =
        write("huge.mtx", "%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1\n");
    assert_refused(&["--matrix", &huge], "2000000000x2000000000");
}

/// A refusal of a matrix speaks of flags alone, and what it ends with is taken.
#[test]
fn refusals_name_what_would_work() {
    const GMRES_ILUT: &[&str] = &["--method", "gmres", "--precond", "ilut"];
    const ILUT: &[&str] = &["--precond", "ilut"];
    let file = |name: &str, size: &str, entries: &str| {
        let count = entries.split(',').count();
        let text = format!("%%MatrixMarket matrix coordinate real general\n{size} {count}\n");
        write(name, &(text + &entries.replace(',', "\n") + "\n"))
    };
    let tall = file("tall.mtx", "3 2", "1 1 1,2 2 2,3 1 1,3 2 1");
    let gap = file("gap.mtx", "3 2", "1 1 1,2 1 2,3 1 1");
    let hollow =
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 1\n2 1 2\n3 1 1\n3 2 1\n3 3 -2\n";
    let hollow = write("hollow.mtx", hollow);
    assert_refused(&["--matrix", &hollow, "--assume", "definite"], "expected numbers of one sign");
    assert_refused(&["--matrix", &skew, "--assume", "definite", "--method", "cg"], "cannot be used with");
}

#[test]
fn least_squares_are_damped() {
    // Two equal columns: without damping the solution is not unique, with it both have half.
    let text = "%%MatrixMarket matrix array real general\n3 2\n1\n2\n2\n1\n2\n2\n";
    let (matrix, out) = (write("damped.mtx", text), scratch("damped_x.mtx"));
    let rhs = columns("damped_b.mtx", &[vec![1.0, 2.0, 2.0]]);
    let (code, report) =
        json(&["--matrix", &matrix, "--rhs", &rhs, "--damp", "3", "--tol", "1e-9", "--out", &out]);
    assert_eq!((code, &report["method"]), (0, &"cgls".into()), "{report}");
    // (18 + 9) x = 9.
    let x = texla::host::market::read_vector(&out).unwrap();
    assert!(x.len() == 2 && x.iter().all(|x| (x - 1.0 / 3.0).abs() < 1e-7), "{x:?}");
    // Of a square matrix too.
    let square = tridiagonal("damped_square.mtx", 9);
    let (code, report) = json(&["--matrix", &square, "--damp", "0.5"]);
    assert_eq!((code, &report["method"]), (0, &"cgls".into()), "{report}");
    for bad in ["0", "-1", "inf"] {
        assert_refused(&["--matrix", &square, &format!("--damp={bad}")], "expected a number above 0");
    }
    assert_refused(&["--matrix", &square, "--damp", "1", "--method", "cg"], "cannot be used with");
}

/// The time is limited, and what is tried meanwhile is told on standard error.
#[test]
fn time_is_limited_and_choices_are_told() {
    let (code, report) = json(&["--size", "200", "--tol", "1e-12", "--max-time", "1e-9", "--method", "cg"]);
    assert_eq!((code, &report["reason"]), (1, &"out_of_time".into()), "{report}");
    for bad in ["0", "-1", "nan", "1e10"] {
        assert_refused(&["--quick", &format!("--max-time={bad}")], "expected seconds");
    }
    // Indefinite with a positive diagonal: conjugate gradients are given up.
    let mut text = "%%MatrixMarket matrix coordinate real symmetric\n40 40 60\n".to_owned();
    for i in (1..=40).step_by(2) {
        text += &format!("{i} {i} 1\n{0} {0} 1\n{0} {i} 3\n", i + 1);
    }
    let matrix = write("told.mtx", &text);
    let rhs = columns("told_b.mtx", &[(0..40).map(|i| (i as f64).cos()).collect()]);
    let args = ["--matrix", &matrix, "--rhs", &rhs, "--direct", "never"];
    let Ran { code, stderr, stdout } = run_with(&args, &[]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    assert!(lines[0].starts_with("solve: trying cg with "), "{stderr}");
    assert!(lines[1].starts_with("solve: gave up cg with ") && lines[1].contains("p.Ap"), "{stderr}");
    assert!(lines[2].starts_with("solve: trying minres"), "{stderr}");
    // Nothing is told of what was asked for.
    let asked = run_with(&["--matrix", &matrix, "--method", "minres"], &[]);
    assert_eq!((asked.code, asked.stderr.as_str()), (0, ""));
}
