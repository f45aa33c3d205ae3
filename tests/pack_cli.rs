//! `pack` and `vertex_state` from outside: flags, files, exit codes, reports, programs, pictures.
#![cfg(all(feature = "headless", feature = "pack", feature = "io"))]

mod common;

use std::fs;

use common::cli::{assert_refused, figure, passed, pixels, run, scratch, write};
use serde_json::Value;

const PATH_OF_4: &str = "%%MatrixMarket matrix coordinate real symmetric
4 4 7
1 1 2
2 1 -1
2 2 2
3 2 -1
3 3 2
4 3 -1
4 4 2
";

fn order(report: &Value) -> Vec<u64> {
    report["order"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect()
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let good = write("good.mtx", PATH_OF_4);
    let named = write("good.svg", PATH_OF_4);
    let wide = write("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 1\n");
    let empty = write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n0 0 0\n");
    let nan = write("nan.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n");
    let huge = write("huge.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1e300\n");
    let hollow = write("hollow.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 1\n");
    let long_b = write("long.mtx", "%%MatrixMarket matrix array real general\n5 1\n1\n0\n0\n1\n1\n");
    let short = write("short.txt", "0 1 2");
    let twice = write("twice.txt", "0 1 2 2");
    let far = write("far.txt", "0 1 2 4");
    let words = write("words.txt", "0 1 two 3");
    let minus = write("minus.txt", "0 1 -2 3");
    let none = "no such folder/x";
    let cases: &[(&[&str], &str)] = &[
        (&["--matrix", none], "no such folder"),
        (&["--matrix", &wide], "as many rows as columns"),
        (&["--matrix", &empty], "empty"),
        (&["--matrix", &nan], "nan"),
        (&["--matrix", &huge], "finite"),
        (&["--matrix", &hollow, "--gauss-seidel"], "zero on the diagonal of row 0"),
        (&["--matrix", &good, "--instance", "rk20"], "--instance"),
        (&["--matrix", &good, "--rhs", &long_b], "has 5 entries, expected 4"),
        (&["--matrix", &good, "--rhs", &long_b, "--rhs-pattern", "all"], "--rhs-pattern"),
        (&["--rhs-pattern", "none"], "--matrix"),
        (&["--instance", "rk21"], "rk21"),
        (&["--instance", "rk20", "--gauss-seidel"], "no iteration"),
        (&["--instance", "gs64", "--fold-zero-nodes"], "--fold-zero-nodes"),
        (&["--instance", "gs64", "--independent"], "--independent"),
        (&["--instance", "gs64", "--emit", "glsl-fragment"], "stage"),
        (&["--matrix", &good, "--order", &short], "has 3 values, expected 4"),
        (&["--matrix", &good, "--order", &twice], "a second time"),
        (&["--matrix", &good, "--order", &far], "out of range"),
        (&["--matrix", &good, "--order", &words], "number 3 is `two`"),
        (&["--matrix", &good, "--order", &minus], "number 3 is `-2`"),
        (&["--matrix", &good, "--order", none], "cannot read"),
        (&["--seconds", "0"], "--seconds 0"),
        (&["--seconds", "nan"], "--seconds NaN"),
        (&["--seconds=-1"], "--seconds -1"),
        (&["--proposals", "0"], "--proposals 0"),
        (&["--threads", "0"], "--threads 0"),
        (&["--seed=-1"], "--seed"),
        (&["--cost", "fetch", "--prove"], "--cost simd"),
        (&["--no-search", "--prove"], "--prove"),
        (&["--out", "x.glsl"], "--emit"),
        (&["--emit", "listing", "--out", none], "folder does not exist"),
        (&["--picture", "no such folder/x.svg"], "folder does not exist"),
        (&["--picture", "x.pdf"], "ends in .svg or .png"),
        (&["--matrix", &named, "--picture", &named], "is an input"),
        (&["--picture", "x.png", "--json", "./x.png"], "two outputs"),
    ];
    for (args, text) in cases {
        assert_refused("pack", args, text);
    }
    let cases: &[(&[&str], &str)] = &[
        (&["--steps", "0"], "--steps 0"),
        (&["--steps", "100001"], "from 1 to 100000"),
        (&["--waves", none], "folder does not exist"),
        (&["--cars", "x.png", "--waves", "./x.png"], "two outputs"),
    ];
    for (args, text) in cases {
        assert_refused("vertex_state", args, text);
    }
}

#[test]
fn instances_reach_what_is_proven() {
    for (name, before, cost, optimal) in [
        ("wave2d", 82, 63, false),
        ("rk20", 20, 14, true),
        ("gs64", 112, 72, true),
        ("poisson2d_s8", 6, 4, true),
        ("poisson3d_s40", 38, 20, true),
        ("wave_s32", 38, 24, true),
    ] {
        let report = passed("pack", &["--instance", name, "--proposals", "100000"]);
        assert_eq!((&report["cost_before"], &report["cost"]), (&before.into(), &cost.into()), "{name}");
        assert_eq!(report["optimal"], optimal, "{name}");
        let emitted: u64 =
            report["instructions"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        assert_eq!(emitted, cost, "{name}");
        let mut places = order(&report);
        places.sort_unstable();
        assert!(places.into_iter().eq(0..places_of(name)), "{name}");
    }
}

/// Past the table of the evaluator no swaps are tried: the order as it was, the seeds and the bound are an answer.
#[test]
fn large_expressions_are_packed_by_seeds() {
    let n = texla::pack::MAX_UNKNOWNS + 3;
    let entries =
        (0..n).flat_map(|i| [(i, i), (i, (7 * i + 3) % n)]).collect::<std::collections::BTreeSet<_>>();
    let mut text = format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n", entries.len());
    entries.iter().for_each(|(i, j)| text.push_str(&format!("{} {} 2\n", i + 1, j + 1)));
    let matrix = write("large.mtx", &text);
    let report = passed("pack", &["--matrix", &matrix, "--proposals", "1000"]);
    assert_eq!((&report["stopped_by"], &report["proposals"]), (&"size".into(), &0.into()));
    let value = |key: &str| report[key].as_u64().unwrap();
    assert!(value("cost") < value("cost_before") && value("lower_bound") < value("cost"), "{report}");
    assert_eq!(order(&report).len(), n.next_multiple_of(4));
}

fn places_of(name: &str) -> u64 {
    match name {
        "rk20" => 20,
        "poisson2d_s8" => 8,
        "poisson3d_s40" => 40,
        "wave_s32" => 32,
        _ => 64,
    }
}

#[test]
fn a_proof_makes_the_best_known_optimal() {
    let report = passed("pack", &["--instance", "rk20", "--prove"]);
    assert_eq!((&report["optimal"], &report["proof"]["verdict"]), (&true.into(), &"exhausted".into()));
    let folded = passed("pack", &["--instance", "wave2d", "--fold-zero-nodes", "--prove"]);
    assert_eq!((&folded["cost_before"], &folded["cost"]), (&80.into(), &56.into()));
    assert_eq!(folded["optimal"], true);
}

#[test]
fn an_order_is_priced_and_comes_back() {
    let matrix = write("path.mtx", PATH_OF_4);
    let file = write("order.txt", "3 1\n2\t0\n");
    let given = ["--matrix", &matrix, "--order", &file, "--no-search"];
    let report = passed("pack", &given);
    assert_eq!(order(&report), [3, 1, 2, 0]);
    assert_eq!((&report["start"], &report["proposals"]), (&"given".into(), &0.into()));
    let searched = passed("pack", &["--instance", "wave_s32", "--proposals", "1000"]);
    let text: Vec<String> = order(&searched).iter().map(u64::to_string).collect();
    let again = write("again.txt", &text.join(" "));
    let report = passed("pack", &["--instance", "wave_s32", "--order", &again, "--no-search"]);
    assert_eq!((&report["cost"], &report["order"]), (&searched["cost"], &searched["order"]));
}

#[test]
fn an_order_that_costs_more_is_priced_all_the_same() {
    let mut swapped: Vec<usize> = (0..64).collect();
    swapped.swap(0, 63);
    let text: Vec<String> = swapped.iter().map(usize::to_string).collect();
    let file = write("dear.txt", &text.join("\n"));
    let report = passed("pack", &["--instance", "wave2d", "--order", &file, "--no-search"]);
    assert_eq!((&report["cost_before"], &report["cost"]), (&82.into(), &87.into()));
}

#[test]
fn a_sum_that_nothing_needs_is_not_emitted() {
    let text = "%%MatrixMarket matrix coordinate real general\n6 6 9\n1 1 1\n2 2 1\n3 3 1\n4 4 1\n5 5 1\n6 6 1\n6 1 1\n6 2 1\n6 5 1\n";
    let file = write("sparse.mtx", text);
    let args = ["--matrix", &file, "--gauss-seidel", "--rhs-pattern", "none", "--no-search"];
    let report = passed("pack", &args);
    assert_eq!((&report["cost"], &report["extra_instructions"]), (&3.into(), &(-1).into()));
    assert_eq!(report["instructions"]["DP4"], 2);
}

#[test]
fn what_cannot_be_proven_is_reported_with_what_was_found() {
    let mut text = "%%MatrixMarket matrix coordinate real general\n70 70 139\n".to_owned();
    (1..=70).for_each(|i| text.push_str(&format!("{i} {i} 2\n")));
    (2..=70).for_each(|i| text.push_str(&format!("{i} {} 1\n", 1 + i * i % 7 % (i - 1))));
    let file = write("wide.mtx", &text);
    let report = passed("pack", &["--matrix", &file, "--prove", "--proposals", "2000"]);
    let verdict = report["proof"]["verdict"].as_str().unwrap();
    assert!(verdict == "unsupported" || report["optimal"] == true, "{verdict}");
    // In words of the program's, not of the library's.
    if verdict == "unsupported" {
        let why = report["proof"]["why"].as_str().unwrap();
        assert!(why.contains("70 unknowns, at most 64") && !why.contains("::"), "{why}");
    }
}

#[test]
fn the_same_seed_and_proposals_give_the_same_order_on_any_number_of_threads() {
    let orders: Vec<Value> = ["1", "3"]
        .iter()
        .map(|threads| {
            let args = ["--instance", "wave2d", "--seed", "5", "--proposals", "200000", "--threads", threads];
            passed("pack", &args)["order"].clone()
        })
        .collect();
    assert_eq!(orders[0], orders[1]);
}

#[test]
fn programs_are_printed_and_written() {
    let listing = run("pack", &["--instance", "gs64", "--emit", "listing"]);
    assert_eq!(listing.code, 0, "{}", listing.stderr);
    assert_eq!(listing.stdout.lines().filter(|line| line.starts_with("MAD Y")).count(), 72);
    for (emit, text) in
        [("glsl-vertex", "void kernel(int vertex)"), ("glsl-fragment", "vec4 kernel(ivec2 p)")]
    {
        let file = scratch(&format!("{emit}.glsl"));
        passed("pack", &["--instance", "rk20", "--emit", emit, "--out", &file]);
        let written = fs::read_to_string(&file).unwrap();
        assert!(written.contains(text), "{written}");
    }
    let report =
        passed("pack", &["--instance", "rk20", "--cost", "fetch", "--emit", "glsl-fragment", "--quick"]);
    assert!(report["instructions"]["TEX"].as_u64().unwrap() > 0);
    assert!(report["cost"].as_u64() <= report["cost_before"].as_u64());
}

#[test]
fn trivial_right_hand_sides_save_sums() {
    let row = write(
        "row.mtx",
        "%%MatrixMarket matrix array real general\n4 4\n1\n0\n0\n0\n1\n0\n0\n0\n1\n0\n0\n0\n1\n0\n0\n0\n",
    );
    let b = write("b.mtx", "%%MatrixMarket matrix array real general\n4 1\n0\n0\n3\n0\n");
    let price =
        |more: &[&str]| passed("pack", &[&["--matrix", &row, "--no-search"], more].concat())["cost"].clone();
    assert_eq!(
        (price(&[]), price(&["--rhs-pattern", "none"]), price(&["--rhs", &b])),
        (2.into(), 1.into(), 2.into())
    );
}

#[test]
fn the_picture_shows_both_kinds_of_segments() {
    let [file, svg] = ["wave.png", "wave.svg"].map(scratch);
    let drawn = |path: &str| {
        passed("pack", &["--instance", "wave2d", "--proposals", "1000", "--picture", path])["rows"][0].clone()
    };
    drawn(&file);
    let entries = drawn(&svg)["nonzeros"].as_u64().unwrap() as usize;
    let svg = figure(
        &svg,
        &[
            "Wave equation on 8x8 nodes (wave2d), before and after packing",
            "before: 82 instructions",
            "one product along a row",
            "one product of a peel",
        ],
    );
    // Before and after, an entry is a dot; a product of one has another, and the key has two.
    let dots = svg.matches("<circle").count();
    assert!((2 * entries + 2..3 * entries).contains(&dots), "{dots} of {entries}");
    let pixels = pixels(&file);
    for ink in [[0, 98, 178], [200, 90, 0]] {
        let count = pixels.iter().filter(|pixel| **pixel == ink).count();
        assert!(count > 40, "{count} pixels of {ink:?}");
    }
}

/// The key has the kinds that there are.
#[test]
fn the_key_of_a_picture_without_rows_is_of_peels_alone() {
    let svg = scratch("rk20.svg");
    passed("pack", &["--instance", "rk20", "--no-search", "--picture", &svg]);
    let title = "Suspensions of five cars, a Runge-Kutta stage (rk20), before and after packing";
    let svg = figure(&svg, &[title, "before: 20 instructions", "one product of a peel"]);
    assert!(!svg.contains("along a row"));
}

#[test]
fn vertex_programs_are_checked_and_drawn_on_both_dialects() {
    for api in ["gl33", "es30"] {
        let files = ["waves.png", "cars.png", "plot.svg"].map(|name| scratch(&format!("{api}-{name}")));
        let [waves, cars, plot] = &files;
        let args =
            ["--quick", "--steps", "7", "--api", api, "--waves", waves, "--cars", cars, "--plot", plot];
        let report = passed("vertex_state", &args);
        let costs: Vec<(&Value, &Value)> =
            report["rows"].as_array().unwrap().iter().map(|row| (&row["before"], &row["after"])).collect();
        let expected: [(Value, Value); 3] =
            [(82.into(), 63.into()), (20.into(), 14.into()), (112.into(), 72.into())];
        assert!(costs.into_iter().eq(expected.iter().map(|(a, b)| (a, b))));
        figure(
            plot,
            &["Five cars over a road: bounce and pitch", "seconds", "bounce in cm, pitch in degrees"],
        );
        figure(plot, &["car 1: bounce", "car 3: pitch"]);
        // Cars of five colours on a grey road.
        let decoder = png::Decoder::new(std::io::BufReader::new(fs::File::open(cars).unwrap()));
        let mut reader = decoder.read_info().unwrap();
        let mut frame = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut frame).unwrap();
        for colour in [[0, 97, 178], [230, 140, 0], [0, 148, 110], [191, 89, 161], [89, 176, 227]] {
            let near = |pixel: &&[u8]| pixel.iter().zip(colour).all(|(a, b)| a.abs_diff(b) <= 2);
            let count = frame.chunks(4).filter(|pixel| near(&&pixel[..3])).count();
            assert!(count > 1000, "{count} pixels of {colour:?} on {api}");
        }
    }
}
