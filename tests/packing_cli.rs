//! The examples on packing from outside: exit codes, JSON reports, figures.
#![cfg(all(feature = "headless", feature = "pack"))]

mod common;
#[path = "../examples/packing_table2/count.rs"]
mod count;

use std::fs;
use std::path::Path;

use common::cli::{assert_refused, command, finish, passed, scratch};
use serde_json::Value;
use texla::pack::{LowerOptions, Packing, Program, instances};

/// The numbers at `key` of some rows, which all have one.
fn numbers(rows: &[Value], key: &str) -> Vec<u64> {
    rows.iter().map(|row| row[key].as_u64().unwrap_or_else(|| panic!("{key}: {row}"))).collect()
}

/// An empty folder of this test binary's own.
fn folder(name: &str) -> String {
    let path = scratch(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir(&path).unwrap();
    path
}

#[test]
fn table2_refuses_flags_that_make_no_sense() {
    let file = common::cli::write("refused.txt", "a file");
    let empty = folder("refused");
    // The name of a figure stands for a folder already.
    let taken = folder("taken");
    fs::create_dir(Path::new(&taken).join("packing-rk20.svg")).unwrap();
    let figure = format!("{empty}/packing-gs64.svg");
    let cases: [(&[&str], &str); 16] = [
        (&["--seconds", "0"], "--seconds 0: expected a number from 0.001 to 86400"),
        (&["--seconds", "NaN"], "--seconds NaN"),
        (&["--seconds=-1"], "--seconds -1"),
        (&["--seed", "1.5"], "--seed"),
        (&["--threads", "1025"], "--threads 1025"),
        (&["--rounds", "0"], "--rounds 0"),
        (&["--rounds", "1001"], "from 1 to 1000"),
        (&["--prove", "0"], "--prove 0"),
        (&["--prove", "soon"], "--prove"),
        (&["--runs", "3"], "--plots"),
        (&["--runs", "0", "--plots", &empty], "--runs 0"),
        (&["--plots", "no such folder"], "expected a folder"),
        (&["--plots", &file], "expected a folder"),
        (&["--plots", &taken], "it is a folder"),
        (&["--plots", &empty, "--json", &figure], "two outputs"),
        (&["--api", "gl12"], "--api"),
    ];
    for (args, text) in cases {
        assert_refused("packing_table2", args, text);
    }
    assert_eq!(fs::read_dir(&empty).unwrap().count(), 0);
}

#[test]
fn table2_without_a_device_exits_with_3() {
    let ran = finish(command("packing_table2").arg("--quick").env("TEXLA_DEVICE", "no such device"), b"");
    assert_eq!((ran.code, ran.stderr.lines().count()), (3, 1), "{}", ran.stderr);
}

#[test]
fn table2_is_the_papers_on_both_dialects() {
    for api in ["gl33", "es30"] {
        let args =
            ["--quick", "--seconds", "0.1", "--rounds", "1", "--seed", "7", "--threads", "1", "--api", api];
        let report = passed("packing_table2", &args);
        assert_eq!(report["api"], api);
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(numbers(rows, "cost_before"), [82, 80, 112, 6, 38, 38]);
        assert_eq!(numbers(rows, "cost"), [63, 56, 72, 4, 20, 24]);
        assert_eq!(numbers(rows, "lower_bound"), [60, 56, 72, 4, 20, 24]);
        assert_eq!(numbers(rows, "scalar_operations")[..3], [462, 360, 576]);
        assert_eq!(numbers(rows, "emitted"), numbers(rows, "cost"));
        assert_eq!(numbers(rows, "shader_instructions")[..3], [63, 4 * 14 + 7 * 5, 72]);
        assert_eq!(numbers(rows, "fetches_before"), [54, 5, 64, 4, 28, 22]);
        for row in rows {
            assert_eq!(row["optimal"], row["instance"] != "wave2d", "{row}");
            let (n, mut order) = (row["unknowns"].as_u64().unwrap(), numbers_of(&row["order"]));
            order.sort_unstable();
            assert!(order.into_iter().eq(0..n.next_multiple_of(4)), "{row}");
        }
        // 5 for each instance, 1 less for the blocks, whose scalar operations the paper has not; 2 for each program.
        assert_eq!(report["checks"].as_array().unwrap().len(), 6 * 5 - 3 + 6);
        let timed = report["vertex_stage"].as_array().unwrap();
        assert_eq!(timed.len(), 3);
        for row in timed {
            let [before, after] = ["before_seconds", "after_seconds"].map(|key| row[key].as_f64().unwrap());
            assert!(before > 0.0 && (before / after / row["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-12);
        }
    }
}

/// The count that costs are held to is of the text: a statement too many is seen, whatever the program says.
#[test]
fn a_statement_too_many_counts() {
    for (e, cost) in
        [(instances::runge_kutta_20().unwrap(), 20), (instances::gauss_seidel_64().unwrap(), 112)]
    {
        let program = Program::lower(&e, &Packing::identity(e.unknowns()), LowerOptions::VERTEX).unwrap();
        let text: String = program.vertex_parts(64).unwrap().into_iter().map(|part| part.body).collect();
        let count = count::computing(&text);
        assert_eq!(count, cost);
        let with = |line: &str| count::computing(&format!("{text}\n    {line}\n"));
        assert_eq!(with("vec4 more = X0 * C0;"), count + 1);
        assert_eq!(with("R0 = R0 + C1.xxyy;"), count + 1);
        assert_eq!(with("vec4 name = R0;"), count, "a name computes nothing");
        assert_eq!(with("const vec4 C99 = vec4(2.0 * 3.0);"), count, "nor does a constant");
    }
}

fn numbers_of(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect()
}

#[test]
fn figure8_shows_each_schedule_and_says_how_it_ends() {
    let folder = folder("figures");
    let args = ["--quick", "--seconds", "0.1", "--rounds", "1", "--plots", &folder];
    let report = passed("packing_table2", &args);
    let figures = report["figure8"].as_array().unwrap();
    assert_eq!(figures.len(), 3);
    for (figure, (name, optimum)) in figures.iter().zip([("wave2d", 63), ("rk20", 14), ("gs64", 72)]) {
        assert_eq!((&figure["instance"], &figure["optimum"]), (&name.into(), &optimum.into()));
        let curves = figure["curves"].as_array().unwrap();
        assert_eq!(curves.len(), 3);
        for curve in curves {
            let points: Vec<Vec<u64>> = curve["points"].as_array().unwrap().iter().map(numbers_of).collect();
            let total = curve["steps"].as_u64().unwrap() * curve["proposals"].as_u64().unwrap();
            let [accepted, proposals, cost, best] = points.last().unwrap()[..] else { panic!("{curve}") };
            assert_eq!((accepted, proposals), (curve["accepted"].as_u64().unwrap(), total));
            assert!(points.is_sorted_by(|a, b| a[0] <= b[0] && a[1] < b[1] && a[3] >= b[3]), "{name}");
            assert!(points.iter().all(|p| p[2] >= p[3] && p[3] >= optimum), "{name}: {points:?}");
            // From a random order, which costs far more, to where it freezes.
            assert!(points[0][2] > cost && cost >= best, "{name}: {points:?}");
            let ends = numbers_of(&curve["ends"]);
            assert_eq!(ends, [best]);
            assert_eq!(curve["reached"], u64::from(best == optimum));
        }
        let title = match name {
            "wave2d" => "Packing by annealing: 2D wave equation (wave2d)",
            "rk20" => "Packing by annealing: Runge-Kutta, 4 stages (rk20)",
            _ => "Packing by annealing: Gauss-Seidel (gs64)",
        };
        let level = format!("{optimum}, the paper's cost");
        let svg = common::cli::figure(
            Path::new(&folder).join(format!("packing-{name}.svg")),
            &[title, &level, "accepted moves", "instructions of one evaluation"],
        );
        for ink in ["#0062B2", "#E68C00", "#00946E", "#C83C32"] {
            assert!(svg.contains(ink), "{name}: {ink}");
        }
    }
}

#[cfg(feature = "sim")]
#[test]
fn table4_refuses_flags_that_make_no_sense() {
    let cases: [(&[&str], &str); 7] = [
        (&["--size", "0"], "--size 0: expected a number from 32 to 2048"),
        (&["--size", "100"], "--size 100: expected a multiple of 32"),
        (&["--size", "4096"], "--size 4096"),
        (&["--steps", "0"], "--steps 0"),
        (&["--steps=-1"], "--steps"),
        (&["--plot", "no such folder/a.png"], "folder does not exist"),
        (&["--plot", "a.png", "--json", "./a.png"], "two outputs"),
    ];
    for (args, text) in cases {
        assert_refused("wave_table4", args, text);
    }
}

/// The paper's counts, and a row for everybody who makes the steps. Whether these are right is the example's own check.
#[cfg(feature = "sim")]
#[test]
fn table4_is_counted_checked_and_drawn_on_both_dialects() {
    for api in ["gl33", "es30"] {
        let plot = scratch(&format!("{api}-figure14.png"));
        let args = ["--quick", "--size", "64", "--steps", "30", "--plot", &plot, "--api", api];
        let report = passed("wave_table4", &args);
        assert_eq!((&report["api"], &report["steps"]), (&api.into(), &30.into()));
        let counts: Vec<Value> = ["before", "after"].map(|name| report["counts"][name].clone()).into();
        assert_eq!(numbers(&counts, "block"), [38, 24]);
        assert_eq!(numbers(&counts, "corners"), [2, 2]);
        assert_eq!(numbers(&counts, "links"), [16, 16]);
        assert_eq!(numbers(&counts, "instructions"), [56, 42]);
        assert_eq!(numbers(&counts, "fetches"), [48, 48]);
        let share = |k: usize| counts[k]["efficiency"].as_f64().unwrap();
        assert!((share(0) - 160.0 / 224.0).abs() < 1e-12 && (share(1) - 160.0 / 168.0).abs() < 1e-12);
        for row in report["rows"].as_array().unwrap() {
            assert!(row["ms"].as_f64().unwrap() > 0.0 && row["mean_ms"].as_f64().unwrap() > 0.0, "{row}");
            let blocks = row["instructions"].is_u64() && row["column"] == "no data transfer";
            assert_eq!(row["predicted_ms"].as_f64().is_some_and(|ms| ms > 0.0), blocks, "{row}");
        }
        // Every texel once for all that is drawn together; software rasterisers have eight targets.
        for (name, fetches) in [("GPU", 48.0), ("GPU, optimised", 48.0), ("GPU, optimised, 8 targets", 34.0)]
        {
            let mut rows = report["rows"].as_array().unwrap().iter().filter(|row| row["row"] == name);
            assert!(rows.all(|row| row["fetches"] == fetches), "{name}");
        }
        assert!(report["chosen"]["predicted_ms"].as_f64().unwrap() > 0.0);
        // The paper's times are those of its own size.
        for row in report["rows"].as_array().unwrap() {
            assert!(row.as_object().unwrap().contains_key("paper_ms") && row["paper_ms"].is_null(), "{row}");
        }
        // The waves have many colours, and each product of the matrices is drawn.
        let pixels = common::cli::pixels(&plot);
        assert!(pixels.iter().collect::<std::collections::HashSet<_>>().len() > 1000);
        assert!(pixels.iter().filter(|pixel| **pixel == [0, 98, 178]).count() > 1000);
    }
}

/// Beside the paper's size stand its times, those with transfer beside such.
#[cfg(feature = "sim")]
#[test]
fn table4_has_the_papers_times_at_its_size() {
    let report = passed("wave_table4", &["--quick", "--size", "512", "--steps", "1"]);
    let row = |row: &Value| {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        row["paper_ms"].as_f64().map(|ms| (text("row"), text("column"), ms))
    };
    let found: Vec<_> = report["rows"].as_array().unwrap().iter().filter_map(row).collect();
    let found: Vec<_> = found.iter().map(|(row, column, ms)| (row.as_str(), column.as_str(), *ms)).collect();
    let expected = [
        ("CPU, one thread", "total", 17.73),
        ("GPU", "total", 8.34),
        ("GPU", "no data transfer", 1.28),
        ("GPU, optimised", "total", 8.08),
        ("GPU, optimised", "no data transfer", 1.02),
    ];
    assert_eq!(found, expected);
}
