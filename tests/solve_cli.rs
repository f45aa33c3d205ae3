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

/// What 64 bits do not hold is no solution: a file would say nothing of what was certified, and one of infinities is not written.
#[test]
fn a_solution_beyond_64_bits_is_none() {
    for (name, a, b, written) in [("small", "1e30", "1e-300", true), ("large", "1e-200", "1e200", false)] {
        let [file, rhs, out] = ["", "_b", "_x"].map(|end| scratch(&format!("beyond_{name}{end}.mtx")));
        let _ = fs::remove_file(&out);
        let text = format!("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 {a}\n2 2 {a}\n");
        fs::write(&file, text).unwrap();
        fs::write(&rhs, format!("%%MatrixMarket matrix array real general\n2 1\n{b}\n{b}\n")).unwrap();
        let files = ["--matrix", &file, "--rhs", &rhs];
        for flags in [&files[..], &[&files[..], &["--out", &out]].concat()] {
            let (code, report) = json(flags);
            assert_eq!(code, 1, "{report}");
            let checks = report["checks"].to_string();
            assert!(checks.contains("beyond the range of 64 bits"), "{report}");
        }
        assert_eq!(fs::exists(&out).unwrap(), written, "{name}");
    }
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
    let hollow = file("hollow.mtx", "3 3", "1 2 1,2 1 1,2 3 2,3 2 2,3 3 4");
    let negative = file("negative.mtx", "2 2", "1 1 1,2 2 -5");
    let upper = file("upper.mtx", "2 2", "1 1 2,1 2 1,2 2 3");
    let indefinite = file("saddle.mtx", "2 2", "1 1 1,1 2 5,2 1 5,2 2 1");
    let blocks =
        "1 5 1,2 6 1,3 7 1,4 8 1,5 1 1,6 2 1,7 3 1,8 4 1,1 1 1,2 2 1,3 3 1,4 3 1,5 5 1,6 6 1,7 7 1,8 8 1";
    let singular = file("blocks.mtx", "8 8", blocks);
    let mut cases: Vec<(&str, Vec<&str>, &str, &[&str])> = Vec::new();
    for method in ["gmres", "bicgstab", "bicgstab2", "cg", "minres"] {
        let text = "3x2, expected as many rows as columns; --method cgls takes it";
        assert_refused(
            &["--matrix", &tall, "--method", method],
            &format!("solve: {method}: the matrix is 3x2"),
        );
        cases.push((&tall, vec!["--method", method], text, &["--method", "cgls"]));
    }
    for precond in ["jacobi", "fsai", "fsai2", "chebyshev", "ic0", "amg"] {
        let text = "--precond ilut takes it, which matches rows first, and so does --precond none";
        let args = ["--matrix", &hollow, "--method", "gmres", "--precond", precond];
        assert_refused(&args, &format!("solve: {precond}: the matrix "));
        cases.push((&hollow, vec!["--method", "gmres", "--precond", precond], text, ILUT));
        cases.push((&hollow, vec!["--method", "gmres", "--precond", precond], text, &["--precond", "none"]));
        let text = "--method gmres with --precond ilut takes it, which matches rows first, and --method auto";
        cases.push((&negative, vec!["--method", "cg", "--precond", precond], text, GMRES_ILUT));
        cases.push((&negative, vec!["--method", "cg", "--precond", precond], text, &["--method", "auto"]));
    }
    let rows_first =
        "--precond ilut takes it, which matches rows first, and without --precond the matrix decides";
    let by_matrix =
        "--method gmres takes it, with --precond ilut at best, and --method auto chooses by the matrix";
    let quick = "--method gmres takes it, and --method cg takes --precond fsai, ic0 or jacobi";
    let least = "--precond jacobi and --precond none go with least squares";
    cases.extend([
        (hollow.as_str(), vec!["--precond", "fsai"], rows_first, ILUT),
        (&upper, vec!["--precond", "fsai"], rows_first, &[]),
        (&indefinite, vec!["--precond", "amg"], rows_first, ILUT),
        (&singular, vec!["--precond", "block-jacobi"], rows_first, ILUT),
        (&upper, vec!["--method", "cg"], by_matrix, GMRES_ILUT),
        (&upper, vec!["--method", "minres"], by_matrix, &["--method", "auto"]),
        (&indefinite, vec!["--method", "cg", "--precond", "ilut"], quick, GMRES_ILUT),
        (
            &negative,
            vec!["--method", "cg", "--precond", "spai"],
            "there; --method gmres takes it",
            GMRES_ILUT,
        ),
        (&tall, vec!["--precond", "fsai"], least, &["--precond", "jacobi"]),
        (&tall, vec!["--method", "cgls", "--precond", "ilut"], least, &["--precond", "none"]),
        (
            &gap,
            vec!["--precond", "jacobi", "--method", "cgls"],
            "--precond none takes it",
            &["--precond", "none"],
        ),
    ]);
    for (matrix, asked, text, instead) in cases {
        let args = [&["--matrix", matrix], &asked[..]].concat();
        assert_refused(&args, text);
        let told = run_with(&args, &[]).stderr;
        let by_name = asked.iter().any(|word| told.starts_with(&format!("solve: {word}")));
        assert!(by_name, "{args:?}: {told}");
        for name in
            ["ConjugateGradient", "BiCg", "Gmres", "Cgls", "Jacobi", "Fsai", "Incomplete", "Multi", "::"]
        {
            assert!(!told.contains(name), "{args:?} names {name}: {told}");
        }
        let (code, report) = json(&[&["--matrix", matrix], instead].concat());
        assert!(code < 2 && report["iterations"].is_number(), "{matrix} {instead:?}: {report}");
    }
    for precond in ["fsai", "ic0", "jacobi"] {
        let args = ["--matrix", &indefinite, "--method", "cg", "--precond", precond];
        assert!(json(&args).0 < 2, "{precond}");
    }
}

/// Words of methods, preconditioners, digits and formats, in letters of any case; what is reported has its own.
#[test]
fn words_are_taken_in_any_case() {
    let words = ["--method", "GMRES", "--precond", "Ilut", "--precision", "REFINED", "--format", "Gather"];
    let (code, report) = json(&[&["--quick"], &words[..]].concat());
    let names = ["method", "preconditioner", "precision", "format"].map(|key| report[key].as_str().unwrap());
    assert_eq!((code, names), (0, ["gmres", "ilut", "refined", "gather"]), "{report}");
    let (code, report) = json(&["--size", "16", "--precond", "MultiGrid", "--method", "Auto"]);
    assert_eq!((code, &report["preconditioner"]), (0, &"multigrid".into()), "{report}");
    let multigrid = ["--size", "16", "--precond", "MULTIGRID", "--method", "cgls"];
    assert_refused(&multigrid, "--precond jacobi goes with them");
}

/// The LAPACK ratio says nothing of least squares, nor where `x` is zero.
#[test]
fn the_lapack_ratio_is_told_where_it_says_something() {
    let tall = "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1\n2 2 2\n3 1 1\n3 2 1\n";
    let tall = write("ratio-tall.mtx", tall);
    let rhs = write("ratio-b.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n4\n");
    let matrix = tridiagonal("ratio.mtx", 3);
    let zero = write("ratio-zero.mtx", "%%MatrixMarket matrix array real general\n3 1\n0\n0\n0\n");
    for (args, is_told) in [
        (["--matrix", &tall, "--rhs", &rhs], false),
        (["--matrix", &matrix, "--rhs", &zero], false),
        (["--matrix", &matrix, "--rhs", &rhs], true),
    ] {
        let (code, report) = json(&args);
        assert_eq!((code, report["lapack_ratio"].is_number()), (0, is_told), "{args:?}: {report}");
        assert!(report.get("lapack_ratio").is_some());
        let shown = run_with(&args, &[]).stdout;
        assert_eq!(shown.contains("LAPACK ratio"), is_told, "{args:?}: {shown}");
    }
}

/// Files of the data folder that are no positive definite system, for conjugate gradients: exit 2 in one line each.
#[test]
fn bad_and_unsymmetric_files_of_the_data_set_are_refused() {
    let Some(root) = data::data_root() else {
        data::not_run(49, "exit codes for bad and unsymmetric files");
        return;
    };
    let mut count = 0;
    for folder in ["bad", "unsym", "rect"] {
        for path in data::files(&root, folder) {
            let json = scratch("refused.json");
            let args = ["--matrix", path.to_str().unwrap(), "--json", &json, "--method", "cg"];
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_refused(&args, name_or_matrix(folder, name));
            assert!(!Path::new(&json).exists(), "{name}: a report of what did not run");
            count += 1;
        }
    }
    assert!(count > 0);
}

/// A file at fault is named; a matrix at fault is described.
fn name_or_matrix<'a>(folder: &str, name: &'a str) -> &'a str {
    let read = name.contains("mangled14") || name.contains("mangled_") && !name.contains("format");
    if folder == "bad" && !read { name } else { "the matrix" }
}

#[test]
fn the_breakdown_of_the_data_set_is_exit_1() {
    let Some(root) = data::data_root() else {
        data::not_run(1, "the breakdown of bcsstm10");
        return;
    };
    let file = root.join("sym/bcsstm10.mtx");
    let (code, report) = json(&["--matrix", file.to_str().unwrap(), "--method", "cg"]);
    assert_eq!((code, &report["reason"]), (1, &"breakdown".into()), "{report}");
    // With no option given another method takes its place, and the report says so.
    let (code, report) = json(&["--matrix", file.to_str().unwrap(), "--no-presolve"]);
    assert_eq!((code, &report["method"]), (0, &"gmres".into()), "{report}");
    let tried = report["tried"].as_array().unwrap();
    assert!(tried.len() == 2 && tried[0]["choice"] == "cg with fsai2", "{report}");
    assert!(tried[0]["why"].as_str().unwrap().contains("p.Ap = -"), "{report}");
}

/// A matrix that is symmetric but for its last bits, of negative sign and with an identity row, is solved as what it is; the parts of
/// that can be refused, and a start is gone on from.
#[test]
fn files_are_solved_in_their_normal_form() {
    let entry = |i: usize| match i {
        1 => "1 1 1\n".to_owned(),
        _ => format!("{i} {i} -4\n{i} {} {}\n", i - 1, if i == 7 { 1.0 + f64::EPSILON } else { 1.0 }),
    };
    let above: String = (2..60).map(|i| format!("{i} {} 1\n", i + 1)).collect();
    let entries: String = (1..=60).map(entry).collect();
    let text = format!("%%MatrixMarket matrix coordinate real general\n60 60 177\n{entries}{above}");
    let matrix = write("normal.mtx", &text);
    let (code, report) = json(&["--matrix", &matrix, "--tol", "1e-9", "--direct", "never"]);
    assert_eq!((code, &report["method"], &report["converged"]), (0, &"cg".into(), &true.into()), "{report}");
    let normal = report["normal_form"].as_str().unwrap();
    assert!(normal.starts_with("1 row solved directly; symmetric up to "), "{normal}");
    assert!(normal.contains("; negated"), "{normal}");
    assert!(report["components"]["omega"].as_f64().unwrap() < 1e-7, "{report}");
    assert_eq!(report["components"]["of"], 60, "{report}");
    let (code, given) = json(&["--matrix", &matrix, "--tol", "1e-9", "--no-presolve"]);
    assert_eq!((code, &given["normal_form"]), (0, &Value::Null), "{given}");
    assert_ne!(given["method"], "cg", "{given}");
    // From the solution, which is one everywhere.
    let start = write(
        "normal_x0.mtx",
        &format!("%%MatrixMarket matrix array real general\n60 1\n{}", "1\n".repeat(60)),
    );
    for flags in [&["--direct", "never"][..], &["--no-presolve"], &["--method", "gmres"]] {
        let (code, near) = json(&[&["--matrix", &matrix, "--x0", &start][..], flags].concat());
        assert_eq!((code, &near["iterations"]), (0, &0.into()), "{flags:?}: {near}");
    }
    let short = write("short_x0.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n1\n");
    assert_refused(&["--matrix", &matrix, "--x0", &short], "the start has 2 elements, expected 60");
    assert_refused(&["--matrix", &matrix, "--direct", "never", "--method", "cg"], "cannot be used with");
    assert_refused(&["--matrix", &matrix, "--direct", "sometimes"], "by-cost, never, last, first");
    let (code, direct) = json(&["--matrix", &matrix, "--tol", "1e-9", "--direct", "first"]);
    assert_eq!((code, &direct["method"]), (0, &"sparse Cholesky factors".into()), "{direct}");
    assert_eq!((&direct["choice"], &direct["iterations"]), (&Value::Null, &0.into()), "{direct}");
}

/// A penalty row hides the others from the norm: not converged as it is given, and solved in its normal form.
#[test]
fn penalties_do_not_pass_for_converged() {
    let inner: String = (2..40).map(|i| format!("{i} {} -1\n{i} {i} 2\n{i} {} -1\n", i - 1, i + 1)).collect();
    let text = format!(
        "%%MatrixMarket matrix coordinate real general\n40 40 118\n1 1 1e30\n1 2 -1\n{inner}40 39 -1\n40 40 1e30\n"
    );
    let matrix = write("penalty.mtx", &text);
    let rhs = write(
        "penalty_b.mtx",
        &format!("%%MatrixMarket matrix array real general\n40 1\n1e30\n{}2e30\n", "0\n".repeat(38)),
    );
    let flags = ["--matrix", &matrix, "--rhs", &rhs];
    let (code, report) = json(&[&flags[..], &["--no-presolve"]].concat());
    assert_eq!((code, &report["reason"]), (1, &"converged_in_norm_only".into()), "{report}");
    assert!(report["components"]["rows"].as_u64().unwrap() > 0, "{report}");
    let (code, report) = json(&flags);
    assert_eq!((code, &report["reason"]), (0, &"converged".into()), "{report}");
    assert!(report["normal_form"].as_str().unwrap().starts_with("2 penalty rows fixed"), "{report}");
}

/// What is chosen has a name for each of its parts, and these names repeat it; a preconditioner alone leaves the method to the matrix.
#[test]
fn what_is_chosen_can_be_asked_for() {
    let wind = (1..50).map(|i| format!("{i} {i} 3\n{} {i} 2\n{i} {} 1\n", i + 1, i + 1)).collect::<String>();
    let wind = format!("%%MatrixMarket matrix coordinate real general\n50 50 148\n{wind}50 50 3\n");
    let wind = write("wind.mtx", &wind);
    let (code, report) = json(&["--matrix", &wind, "--no-presolve"]);
    let names =
        ["method", "preconditioner", "preparation"].map(|key| report[key].as_str().unwrap().to_owned());
    assert_eq!((code, names.each_ref().map(String::as_str)), (0, ["gmres", "ilut", "matched"]), "{report}");
    assert!(report["tried"].as_array().unwrap().is_empty());
    let (code, again) = json(&["--matrix", &wind, "--method", &names[0], "--precond", &names[1]]);
    assert_eq!((code, &again["true_relative_residual"]), (0, &report["true_relative_residual"]));
    // All of it at once, as it was told.
    let choice = report["choice"].as_str().unwrap();
    let (code, again) = json(&["--matrix", &wind, "--choice", choice]);
    assert_eq!((code, &again["true_relative_residual"]), (0, &report["true_relative_residual"]));
    assert_eq!((&again["choice"], &again["went_on_from"]), (&report["choice"], &Value::Null));
    let (code, other) =
        json(&["--matrix", &wind, "--choice", "GMRES(3) with ilut(1, 0.5) of rows as they are"]);
    assert_eq!((code, &other["preparation"]), (0, &"none".into()), "{other}");
    assert!(other["iterations"].as_u64() > report["iterations"].as_u64(), "{other}");
    for (choice, text) in [
        ("lu", "one of cg, minres"),
        ("gmres(0)", "\"gmres(0)\", expected 1 to 200 iterations of a cycle, as in gmres(50)"),
        ("cg with jacobi", "--method gmres"),
    ] {
        assert_refused(&["--matrix", &wind, "--choice", choice], text);
    }
    assert_refused(&["--matrix", &wind, "--choice", "cg", "--precond", "jacobi"], "cannot be used with");
    for (precond, method) in [("spai", "gmres"), ("fsai", ""), ("block-jacobi", "gmres"), ("amg", "gmres")] {
        let args = ["--matrix", &wind, "--precond", precond];
        if method.is_empty() {
            assert_refused(&args, "symmetric");
            continue;
        }
        let (code, report) = json(&args);
        assert_eq!(
            (code, &report["method"], &report["preconditioner"]),
            (0, &method.into(), &precond.into()),
            "{report}"
        );
    }
    let (code, report) = json(&["--quick", "--precond", "amg"]);
    assert_eq!((code, &report["method"]), (0, &"cg".into()), "{report}");
    assert!(report["iterations"].as_u64().unwrap() <= 15, "{report}");
    assert_refused(&["--quick", "--method", "cg", "--precond", "ilut"], "positive definite");
    assert_refused(&["--quick", "--method", "cgls", "--precond", "fsai"], "least squares");
}

#[test]
fn without_usable_gl_the_packages_are_named() {
    let done = run_with(&["--quick"], &[("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent")]);
    assert_eq!(done.code, 3, "{}", done.stderr);
    assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
    assert!(
        done.stderr.contains("libegl-mesa0") && done.stderr.contains("libgl1-mesa-dri"),
        "{}",
        done.stderr
    );
}

#[test]
fn help_is_no_error() {
    let done = run_with(&["--help"], &[]);
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    for flag in ["--precond", "--check-every", "--size", "multigrid"] {
        assert!(done.stdout.contains(flag), "{flag}");
    }
}

/// A vector, or several as columns, as a file.
fn columns(name: &str, columns: &[Vec<f64>]) -> String {
    let rows = columns[0].len();
    let values: String = columns.iter().flatten().map(|v| format!("{v:e}\n")).collect();
    write(name, &format!("%%MatrixMarket matrix array real general\n{rows} {}\n{values}", columns.len()))
}

#[test]
fn right_hand_sides_are_solved_one_by_one() {
    let matrix = tridiagonal("columns.mtx", 30);
    let sides = [vec![1.0; 30], (0..30).map(|i| (i as f64).sin()).collect(), vec![0.0; 30]];
    let rhs = columns("columns_b.mtx", &sides);
    let out = scratch("columns_x.mtx");
    for flags in [&[][..], &["--direct", "never"], &["--method", "cg"], &["--no-presolve", "--tol", "1e-9"]] {
        let (code, report) =
            json(&[&["--matrix", &matrix, "--rhs", &rhs, "--out", &out][..], flags].concat());
        assert_eq!((code, &report["converged"]), (0, &true.into()), "{flags:?}: {report}");
        let all = report["right_hand_sides"].as_array().unwrap();
        assert!(all.len() == 3 && all.iter().all(|one| one["converged"] == true), "{report}");
        let found = texla::host::market::read_matrix(&out).unwrap().triplets.to_csr();
        assert_eq!(found.shape(), texla::Shape::new(30, 3));
        for (k, b) in sides.iter().enumerate() {
            let mut x = [0.0; 30];
            found.entries().filter(|(_, j, _)| *j == k).for_each(|(i, _, v)| x[i] = v);
            for i in 0..30usize {
                let beside = [i.wrapping_sub(1), i + 1].map(|j| x.get(j).copied().unwrap_or(0.0));
                assert!((3.0 * x[i] - beside[0] - beside[1] - b[i]).abs() < 1e-4, "{flags:?}, {k}: {x:?}");
            }
        }
    }
    // Each in units of its own, however far they are apart.
    let far = columns("columns_far.mtx", &[vec![1e200; 30], vec![1e-200; 30]]);
    for flags in [&[][..], &["--method", "cg"]] {
        let (code, report) =
            json(&[&["--matrix", &matrix, "--rhs", &far, "--out", &out][..], flags].concat());
        assert_eq!(code, 0, "{flags:?}: {report}");
        let found = texla::host::market::read_matrix(&out).unwrap().triplets.to_csr();
        let of = |column: usize| found.entries().find(|(i, j, _)| (*i, *j) == (15, column)).unwrap().2;
        assert!((of(0) * 1e-200 - of(1) * 1e200).abs() < 1e-4 * of(0) * 1e-200, "{} {}", of(0), of(1));
    }
    let short = columns("columns_short.mtx", &[vec![1.0; 29], vec![1.0; 29]]);
    assert_refused(&["--matrix", &matrix, "--rhs", &short], "has 29 elements, expected 30");
    // A start for each, or one for all.
    let cold = json(&["--matrix", &matrix, "--rhs", &rhs, "--method", "cg", "--out", &out]).1;
    let near = ["--matrix", &matrix, "--rhs", &rhs, "--method", "cg", "--x0", &out];
    let (code, warm) = json(&near);
    let steps = |report: &serde_json::Value, k: usize| report["right_hand_sides"][k]["iterations"].as_u64();
    assert_eq!((code, steps(&warm, 0), steps(&warm, 1)), (0, Some(0), Some(0)), "{warm}");
    assert!(steps(&cold, 0) > Some(0) && steps(&cold, 1) > Some(0), "{cold}");
    let one = columns("columns_x0.mtx", &[vec![1.0; 30]]);
    assert_eq!(json(&["--matrix", &matrix, "--rhs", &rhs, "--x0", &one]).0, 0);
    let two = columns("columns_x0s.mtx", &[vec![1.0; 30], vec![1.0; 30]]);
    assert_refused(
        &["--matrix", &matrix, "--rhs", &rhs, "--x0", &two],
        "has 2 columns, expected one, or one for each of 3 right-hand sides",
    );
    assert_refused(&["--matrix", &matrix, "--rhs", &rhs, "--x-ref", &one], "--rhs has several");
}

/// A right-hand side that has no solution does not keep the others from theirs.
#[test]
fn one_right_hand_side_without_a_solution_is_named_beside_the_others() {
    // Of rows that sum to zero.
    let (n, mut text) = (20, String::from("%%MatrixMarket matrix coordinate real general\n20 20 58\n"));
    for i in 1..=n {
        text += &format!("{i} {i} {}\n", if i == 1 || i == n { 1 } else { 2 });
        if i > 1 {
            text += &format!("{i} {} -1\n{} {i} -1\n", i - 1, i - 1);
        }
    }
    let matrix = write("neumann.mtx", &text);
    let fine: Vec<f64> = (0..20).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let rhs = columns("neumann_b.mtx", &[fine.clone(), vec![1.0; 20], fine]);
    let (out, file) = (scratch("neumann_x.mtx"), scratch("neumann.json"));
    let done = run_with(&["--matrix", &matrix, "--rhs", &rhs, "--out", &out, "--json", &file], &[]);
    assert_eq!(done.code, 1, "{}", done.stderr);
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    let all = report["right_hand_sides"].as_array().unwrap();
    let told = |k: usize| (all[k]["converged"].as_bool(), all[k]["reason"].as_str());
    assert_eq!(told(0), (Some(true), Some("converged")), "{report}");
    assert_eq!((told(1), told(2)), ((Some(false), Some("refused")), told(0)), "{report}");
    let said = report["error"].as_str().unwrap();
    assert!(
        said.starts_with("column 2 of --rhs: no solution: the right-hand side has a part of norm 4.472e0 in"),
        "{said}"
    );
    assert_eq!(report["reason"], "refused");
    assert_eq!(report["converged"], false);
    let x = texla::host::market::read_matrix(&out).unwrap().triplets.to_csr();
    let column = |k: usize| x.entries().filter(move |(_, j, v)| *j == k && *v != 0.0).count();
    assert!(column(0) > 10 && column(1) == 0 && column(2) > 10, "{:?}", [0, 1, 2].map(column));
}

/// What no unit brings into the range of floats together is said, and not solved as another system.
#[test]
fn entries_that_lose_each_other_are_refused() {
    let far = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e300\n2 2 1e-300\n";
    let far = write("far.mtx", far);
    for flags in [&[][..], &["--method", "cg"], &["--no-presolve"]] {
        assert_refused(
            &[&["--matrix", &far][..], flags].concat(),
            "has 1e-300 at (1, 1) (counted from 0) and nothing larger in that row or column, beside entries of 2^994",
        );
    }
    // What is large as a whole, and noise beside what is not.
    for entries in ["2\n1 1 1e300\n2 2 2e290\n", "4\n1 1 1e5\n1 2 1e-310\n2 1 1e-310\n2 2 2e5\n"] {
        let text = format!("%%MatrixMarket matrix coordinate real general\n2 2 {entries}");
        let (code, report) = json(&["--matrix", &write("near.mtx", &text)]);
        assert_eq!((code, &report["converged"]), (0, &true.into()), "{report}");
    }
}

/// A sheet of springs between 16 by 12 nodes in rows, held on the left by identity rows that nothing else sees.
#[test]
fn nodes_and_what_moves_them_can_be_said() {
    let (sheet, axes) = common::systems::springs(16, 12, 0.0);
    let n = 384;
    let held = |i: usize| (i / 2).is_multiple_of(16);
    let entries: Vec<(usize, usize, f64)> = sheet
        .entries()
        .filter(|&(i, j, v)| v != 0.0 && (i == j || !held(i)))
        .map(|(i, j, v)| (i, j, if held(i) { 1.0 } else { v }))
        .collect();
    let lines = |place: &dyn Fn(usize) -> usize| {
        let lines: String =
            entries.iter().map(|(i, j, v)| format!("{} {} {v}\n", place(*i) + 1, place(*j) + 1)).collect();
        format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n{lines}", entries.len())
    };
    let matrix = write("sheet.mtx", &lines(&|i| i));
    let by_axis = write("sheet_axis.mtx", &lines(&|i| (i % 2) * (n / 2) + i / 2));
    let nodes = columns("sheet_nodes.mtx", &axes);
    let each = |list: &Vec<f64>| (0..n).map(|i| list[i / 2]).collect::<Vec<f64>>();
    let unknowns = columns("sheet_unknowns.mtx", &[each(&axes[0]), each(&axes[1])]);
    let motion = |i: usize| if i.is_multiple_of(2) { -axes[1][i / 2] } else { axes[0][i / 2] };
    let parts: [&dyn Fn(usize) -> f64; 3] =
        [&|i| f64::from(u8::from(i % 2 == 0)), &|i| f64::from(u8::from(i % 2 == 1)), &motion];
    let near = columns("sheet_near.mtx", &parts.map(|part| (0..n).map(part).collect()));
    let iterations = |matrix: &str, flags: &[&str]| {
        let args = [&["--matrix", matrix, "--direct", "never", "--tol", "1e-8"][..], flags].concat();
        let (code, report) = json(&args);
        assert_eq!((code, &report["preconditioner"]), (0, &"amg".into()), "{flags:?}: {report}");
        report["iterations"].as_u64().unwrap()
    };
    let found = iterations(&matrix, &[]);
    assert_eq!(iterations(&matrix, &["--block", "2"]), found);
    // In another order sums are rounded otherwise.
    assert!(iterations(&by_axis, &["--block", "2:axis"]).abs_diff(found) <= found / 8);
    let motions = iterations(&matrix, &["--coordinates", &nodes]);
    assert!(motions < found, "{motions} of {found}");
    assert_eq!(iterations(&matrix, &["--coordinates", &unknowns, "--block", "2:node"]), motions);
    assert!(iterations(&by_axis, &["--coordinates", &nodes]).abs_diff(motions) <= motions / 3);
    let said = iterations(&matrix, &["--near-null", &near, "--block", "2"]);
    assert!(said.abs_diff(motions) <= 2, "{said} and {motions}");
    let refused = |flags: &[&str], text: &str| {
        assert_refused(&[&["--matrix", &matrix][..], flags].concat(), text);
    };
    refused(&["--block", "5"], "--block 5 for 384 unknowns: expected a divisor of the number of unknowns");
    refused(&["--block", "0"], "expected a size from 1 to 12");
    refused(&["--block", "2:row"], "expected \"axis\" or \"node\"");
    refused(&["--block", "3", "--coordinates", &nodes], "192 rows for 384 unknowns, 3 in a node");
    let line = columns("sheet_line.mtx", &axes[..1]);
    refused(&["--coordinates", &line], "--coordinates 1 axes for blocks of 2");
    let short = columns("sheet_short.mtx", &[vec![1.0; 5]]);
    refused(&["--near-null", &short], "a near-null vector has 5 elements, expected 384");
    let zeros = columns("sheet_zeros.mtx", &[vec![0.0; n]]);
    refused(&["--near-null", &zeros], "--near-null zeros in vector 0");
    refused(&["--near-null", &near, "--coordinates", &nodes], "cannot be used with");
    refused(&["--coordinates", "no/such.mtx"], "no/such.mtx");
}

#[test]
fn what_is_known_of_a_matrix_can_be_said() {
    // Springs in a row without a hold, in units that differ: rows do not sum to zero.
    let d = |i: usize| 1.0 + (i % 3) as f64;
    let mut text = "%%MatrixMarket matrix coordinate real symmetric\n20 20 39\n".to_owned();
    for i in 0..20 {
        let own = if i == 0 || i == 19 { 1.0 } else { 2.0 };
        text += &format!("{0} {0} {1}\n", i + 1, own * d(i) * d(i));
        if i > 0 {
            text += &format!("{} {i} {}\n", i + 1, -d(i) * d(i - 1));
        }
    }
    let matrix = write("springs.mtx", &text);
    let null = columns("springs_null.mtx", &[(0..20).map(|i| 1.0 / d(i)).collect()]);
    let out = scratch("springs_x.mtx");
    for flags in [&[][..], &["--method", "cg"], &["--no-presolve"]] {
        let args = [&["--matrix", &matrix, "--null", &null, "--out", &out][..], flags].concat();
        let (code, report) = json(&args);
        assert_eq!((code, &report["converged"]), (0, &true.into()), "{flags:?}: {report}");
        let x = texla::host::market::read_vector(&out).unwrap();
        let dot: f64 = x.iter().enumerate().map(|(i, x)| x / d(i)).sum();
        assert!(dot.abs() < 1e-3, "{flags:?}: {dot:e}");
    }
    assert_refused(&["--matrix", &matrix, "--null", "ones"], "--null vector 0, which A does not map to 0");
    assert_refused(&["--matrix", &matrix, "--null", "no/such.mtx"], "no/such.mtx");
    let along = columns("springs_b.mtx", &[(0..20).map(|i| 1.0 / d(i)).collect()]);
    let none = run_with(&["--matrix", &matrix, "--null", &null, "--rhs", &along], &[]);
    assert_eq!(none.code, 1, "{}", none.stdout);
    // All of it, in the units of the file.
    let norm = (0..20).map(|i| d(i).powi(-2)).sum::<f64>().sqrt();
    let said = format!("solve: no solution: the right-hand side has a part of norm {norm:.3e} in");
    assert!(none.stderr.starts_with(&said), "{}", none.stderr);
    let skew = write(
        "skew.mtx",
        "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 2\n1 2 1\n2 1 -1\n2 2 2\n",
    );
    for word in ["symmetric", "definite"] {
        let definite = tridiagonal("assumed.mtx", 12);
        let (code, report) = json(&["--matrix", &definite, "--assume", word, "--direct", "never"]);
        assert_eq!((code, &report["method"]), (0, &"cg".into()), "{report}");
        assert_refused(&["--matrix", &skew, "--assume", word], "expected a difference of at most");
    }
    let hollow =
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 1\n2 1 2\n3 1 1\n3 2 1\n3 3 -2\n";
    let hollow = write("hollow.mtx", hollow);
    assert_refused(
        &["--matrix", &hollow, "--assume", "definite"],
        "0 is on the diagonal in row 2, expected numbers above zero",
    );
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
    // What little damping leaves open is the solution of least norm.
    let wide =
        write("damped_wide.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 1\n1 2 1000\n");
    let one = write("damped_one.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n");
    let args = ["--matrix", &wide, "--rhs", &one, "--damp", "1e-6", "--tol", "1e-8", "--out", &out];
    assert_eq!(json(&args).0, 0);
    let x = texla::host::market::read_vector(&out).unwrap();
    assert!((x[0] - 1e-6).abs() < 1e-9 && (x[1] - 1e-3).abs() < 1e-6, "{x:?}");
    // Of a square matrix too.
    let square = tridiagonal("damped_square.mtx", 9);
    let (code, report) = json(&["--matrix", &square, "--damp", "0.5"]);
    assert_eq!((code, &report["method"]), (0, &"cgls".into()), "{report}");
    for bad in ["0", "-1", "inf"] {
        assert_refused(&["--matrix", &square, "--damp", bad], "expected a number above 0");
    }
    assert_refused(&["--matrix", &square, "--damp", "1", "--method", "cg"], "cannot be used with");
}

/// The time is limited, and what is tried meanwhile stands on standard error.
#[test]
fn time_is_limited_and_choices_are_told() {
    let (code, report) = json(&["--size", "200", "--tol", "1e-12", "--max-time", "1e-9", "--method", "cg"]);
    assert_eq!((code, &report["reason"]), (1, &"out_of_time".into()), "{report}");
    for bad in ["0", "-1", "nan", "1e10"] {
        assert_refused(&["--quick", "--max-time", bad], "expected seconds");
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
    // Not where it was asked for.
    let asked = run_with(&["--matrix", &matrix, "--method", "minres"], &[]);
    assert_eq!((asked.code, asked.stderr.as_str()), (0, ""));
}
