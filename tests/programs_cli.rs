//! The examples `caustics`, `coverage`, `reuse`, `regula_falsi` and `cubes` from outside: exit codes, the JSON reports, the pictures.
#![cfg(feature = "headless")]

mod common;

use std::fs;
use std::path::Path;

use common::cli::{assert_refused, command, figure, finish, passed, pixels, scratch};

/// Bad input: exit 2, one line that says what is wrong, and no file.
fn refuses(name: &str, args: &[&str], text: &str) {
    let [json, png] = ["json", "png"].map(|end| scratch(&format!("refused.{end}")));
    let picture = if name == "reuse" { "--plot" } else { "--png" };
    let files = [["--json", &json], [picture, &png]];
    let kept = if args.contains(&picture) { 1 } else { 2 };
    assert_refused(name, &[args, files[..kept].as_flattened()].concat(), text);
    assert!([json, png].iter().all(|path| !Path::new(path).exists()), "{name} {args:?} has written a file");
}

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    let cases: [(&str, &[&str], &str); 36] = [
        ("caustics", &["--photons", "0"], "--photons 0"),
        ("caustics", &["--photons", "16777217"], "from 1 to 16777216"),
        ("caustics", &["--photons", "many"], "--photons"),
        ("caustics", &["--size", "8"], "from 16 to 2048"),
        ("caustics", &["--size", "4096"], "from 16 to 2048"),
        ("caustics", &["--ior", "0.1"], "--ior 0.1"),
        ("caustics", &["--ior", "nan"], "--ior NaN"),
        ("caustics", &["--abbe", "0"], "--abbe 0"),
        ("caustics", &["--abbe", "inf"], "--abbe inf"),
        ("caustics", &["--light", "0", "0", "0.5"], "above the sphere"),
        ("caustics", &["--light", "0", "-5", "2"], "--light 0 -5 2"),
        ("caustics", &["--light", "0", "nan", "2"], "--light 0 NaN 2"),
        ("caustics", &["--light", "1", "2"], "--light"),
        ("caustics", &["--seed", "-1"], "--seed"),
        ("caustics", &["--png", "no such folder/a.png"], "folder does not exist"),
        ("caustics", &["--png", "a.png", "--map", "./a.png"], "two outputs"),
        ("coverage", &["--size", "15"], "from 16 to 4096"),
        ("coverage", &["--size", "5000"], "from 16 to 4096"),
        ("coverage", &["--csv", "no such folder/a.csv"], "folder does not exist"),
        ("coverage", &["--png", "a.png", "--csv", "./a.png"], "two outputs"),
        ("coverage", &["--towers", "a.csv", "--seed", "2"], "cannot be used with"),
        ("reuse", &["--size", "100"], "a power of two"),
        ("reuse", &["--size", "8192"], "from 16 to 4096"),
        ("reuse", &["--rounds", "0"], "--rounds 0"),
        ("reuse", &["--plot", "no such folder/a.png"], "folder does not exist"),
        ("regula_falsi", &["--side", "1"], "from 2 to 4096"),
        ("regula_falsi", &["--side", "4097"], "--side 4097"),
        ("regula_falsi", &["--side", "2.5"], "--side"),
        ("regula_falsi", &["--range", "0"], "--range 0"),
        ("regula_falsi", &["--range", "NaN"], "--range NaN"),
        ("regula_falsi", &["--range", "101"], "at most 100"),
        ("regula_falsi", &["--tolerance", "1e-6"], "--tolerance 1e-6:"),
        ("regula_falsi", &["--tolerance", "inf"], "--tolerance inf"),
        ("regula_falsi", &["--range", "100", "--tolerance", "1e-4"], "for --range 100"),
        ("regula_falsi", &["--rounds", "0"], "--rounds 0"),
        ("regula_falsi", &["--png", "no such folder/a.png"], "folder does not exist"),
    ];
    for (name, args, text) in cases {
        refuses(name, args, text);
    }
}

#[test]
fn files_that_list_no_towers_are_bad_input() {
    let path = scratch("towers.csv");
    let many = format!("x,y,range\n{}", "1,2,3\n".repeat(100_001));
    let wide = format!("x,y,range\n{}", "1,2,1000\n".repeat(60_000));
    let long = format!("x,y,range\n1,2,{}\n", "9".repeat(5000));
    let cases: [(&[u8], &str); 20] = [
        (b"", "line 1: no column `x`"),
        (b"\n\n", "line 3: no column `x`"),
        (b"x,y\n1,2\n", "line 1: no column `range` in the heading `x, y`"),
        (b"1,2,3\n4,5,6\n", "line 1: no column `x`"),
        (b"x,y,range\n", "no tower after the heading"),
        (b"\r\nx,y,range\r\n\r\n1,2\r\n", "line 4: 2 fields, expected 3"),
        (b"x,y,range\n1,2,3\n1,2,3,4\n", "line 3: 4 fields, expected 3"),
        (b"x,y,range\n1,2,3\n\n4,five,6\n", "line 4: y is `five`"),
        (b"x,y,range\n1,2,\n", "line 2: range is ``"),
        (b"x,y,range\nNaN,2,3\n", "line 2: x is `NaN`"),
        (b"x,y,range\n1,-inf,3\n", "line 2: y is `-inf`"),
        (b"x,y,range\n1,2,-3\n", "line 2: range is `-3`, expected a number from"),
        (b"x,y,range\n1,2,0\n", "line 2: range is `0`"),
        (b"x,y,range\n1e300,2,3\n", "line 2: x is `1e300`"),
        (b"x,y,range,strength\n1,2,3,-1\n", "line 2: strength is `-1`"),
        (b"x,y,range\n1,2,3\n1,\xff\xfe,3\n", "line 3: it is no UTF-8"),
        (b"x,y,range\n\"1,2,3\n4,5,6\n", "line 2: 1 fields, expected 3"),
        (many.as_bytes(), "line 100002: more than 100000 towers"),
        (wide.as_bytes(), "choose a smaller --size"),
        (long.as_bytes(), "line 2: range is `999999999999999999999999...`"),
    ];
    for (bytes, text) in cases {
        fs::write(&path, bytes).unwrap();
        refuses("coverage", &["--towers", &path], text);
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    refuses("coverage", &["--towers", "no such file.csv"], "cannot read no such file.csv");
    refuses("coverage", &["--towers", env!("CARGO_TARGET_TMPDIR")], "cannot read");
    let file = path.as_str();
    refuses("coverage", &["--towers", file, "--csv", file], "would be replaced");
}

/// Mesa can be told to leave float blending out.
#[test]
fn without_float_blending_there_is_one_line() {
    let device = passed("reuse", &["--quick", "--size", "16", "--api", "es30"])["device"].to_string();
    if !["llvmpipe", "softpipe"].iter().any(|name| device.contains(name)) {
        println!("not run: {device} has float blending");
        return;
    }
    for name in ["caustics", "coverage"] {
        let json = scratch("unblended.json");
        let mut command = command(name);
        command.args(["--quick", "--api", "es30", "--json", &json]);
        let ran = finish(command.env("MESA_EXTENSION_OVERRIDE", "-GL_EXT_float_blend"), b"");
        assert_eq!(ran.code, 3, "{name}: {}", ran.stderr);
        assert!(ran.stderr.lines().count() == 1 && ran.stderr.contains("cannot"), "{name}: {}", ran.stderr);
        assert!(!Path::new(&json).exists());
    }
}

/// The photons of a way that ended so: on the square, past it, absorbed.
fn ways(report: &serde_json::Value) -> Vec<[u64; 3]> {
    let counts = |row: &serde_json::Value| [0, 1, 2].map(|k| row[1][k].as_u64().unwrap());
    report["ways"].as_array().unwrap().iter().map(counts).collect()
}

#[test]
fn caustics_on_both_dialects() {
    for api in ["gl33", "es30"] {
        let (png, map) = (scratch("caustics.png"), scratch("caustics-map.png"));
        let files = ["--png", png.as_str(), "--map", &map];
        let args = ["--photons", "60001", "--size", "64", "--api", api];
        let report = passed("caustics", &[&args[..], &["--seed", "7", "--ior", "1.5", "--quick"]].concat());
        let other = passed("caustics", &[&args[..], &["--ior", "1.5"], &files].concat());
        let (found, others) = (ways(&report), ways(&other));
        assert_eq!(found.iter().flatten().sum::<u64>(), 60_001);
        // Other chances, other numbers, but not by much.
        assert!(found != others && found[0][0].abs_diff(others[0][0]) < 600, "{found:?} {others:?}");
        let (scene, map) = (pixels(&png), pixels(&map));
        assert_eq!((scene.len(), map.len()), (64 * 64, 64 * 64));
        // Seen from above: the shadow, the unhindered light, and the caustic in the shadow.
        let count = |test: fn(u8) -> bool| map.iter().filter(|p| test(p[1])).count();
        assert!(count(|v| v < 60) > 300, "{}", count(|v| v < 60));
        assert!(count(|v| (100..200).contains(&v)) > 1000);
        assert!(count(|v| v > 230) > 10, "{}", count(|v| v > 230));
    }
}

/// A bubble is not entered at a glancing angle; a sphere of nothing has no effect.
#[test]
fn bubbles_reflect_totally_and_air_refracts_nothing() {
    let args = ["--photons", "60000", "--size", "64", "--ior"];
    let bubble = ways(&passed("caustics", &[&args[..], &["0.7"]].concat()));
    let glass = ways(&passed("caustics", &[&args[..], &["1.5"]].concat()));
    let mirrored = |ways: &[[u64; 3]]| ways[1].iter().sum::<u64>();
    assert!(mirrored(&bubble) > 4 * mirrored(&glass), "{bubble:?} {glass:?}");
    let nothing = ways(&passed("caustics", &[&args[..], &["1"]].concat()));
    // Reflected with the chance zero.
    assert_eq!(mirrored(&nothing) + nothing[3..].iter().flatten().sum::<u64>(), 0, "{nothing:?}");
}

/// One tower's cone: it covers pi/4 of its square, and its mean is pi/12 there.
#[test]
fn coverage_of_a_single_tower() {
    let (towers, areas, png) = (scratch("one.csv"), scratch("areas.csv"), scratch("one.png"));
    // Columns in any order, an unknown one, spaces, and coordinates as of a map of a country.
    fs::write(&towers, "\u{feff}name, Range ,y,X\nonly,1500,5400000,400000\n").unwrap();
    let [file, csv, picture] = [&towers, &areas, &png];
    for api in ["gl33", "es30"] {
        let args = ["--towers", file, "--size", "200", "--csv", csv, "--png", picture, "--api", api];
        let report = passed("coverage", &args);
        assert_eq!(report["cells"], serde_json::json!([200, 200]));
        assert_eq!(report["cell"], 15.0);
        let near = |found: &serde_json::Value, exact: f64| {
            // Along the disc's rim, cells are counted or not: their share is pi over the cells of a side.
            assert!(
                (found.as_f64().unwrap() - exact).abs() < std::f64::consts::PI / 200.0,
                "{found} {exact}"
            );
        };
        near(&report["mean"], std::f64::consts::PI / 12.0);
        near(&report["areas"][0]["share"], std::f64::consts::PI / 4.0);
        // Half the signal is left at half the distance.
        near(&report["areas"][2]["share"], std::f64::consts::PI / 4.0 * 0.36);
        let table = fs::read_to_string(&areas).unwrap();
        assert!(table.starts_with("above,cells,area,share\n0,") && table.lines().count() == 6, "{table}");
        assert_eq!(pixels(&png).len(), 200 * 200);
    }
}

#[test]
fn coverage_compares_scatter_and_gather() {
    let report = passed("coverage", &["--quick", "--size", "64"]);
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        let times =
            ["scatter_seconds", "gather_seconds", "cpu_seconds"].map(|key| row[key].as_f64().unwrap());
        assert!(times.iter().all(|seconds| *seconds > 0.0), "{row}");
    }
    // A map of two towers that hardly reach each other, with a strength of their own.
    let towers = scratch("two.csv");
    fs::write(&towers, "x,y,range,strength\n0,0,1e-3,0.5\n1e6,1,1,2\n").unwrap();
    let report = passed("coverage", &["--towers", &towers, "--size", "64"]);
    assert_eq!((&report["cells"], &report["mean"]), (&serde_json::json!([64, 1]), &0.0.into()));
}

/// A loop of a shader ends after 65535 rounds on llvmpipe: the towers beyond have to be gathered too.
#[test]
fn very_many_towers_are_gathered() {
    let towers = scratch("many.csv");
    let near = "5,5,1\n".repeat(70_000);
    fs::write(&towers, format!("x,y,range\n{near}0,0,10\n")).unwrap();
    for api in ["gl33", "es30"] {
        let report = passed("coverage", &["--towers", &towers, "--size", "16", "--api", api]);
        assert!(report["rows"][0]["gather_seconds"].is_f64(), "{report}");
    }
}

#[test]
fn reuse_on_both_dialects() {
    for api in ["gl33", "es30"] {
        let plot = scratch("reuse.svg");
        let args = ["--quick", "--size", "64", "--plot", &plot, "--api", api];
        let report = passed("reuse", &args);
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 10);
        for row in rows {
            let affine = row["quantity"] == "affine map";
            assert!(row["per_fragment_seconds"].is_f64() && row["tables_seconds"].is_f64(), "{row}");
            assert_eq!(row["vertex_seconds"].is_f64(), affine, "{row}");
        }
        assert_eq!(report["checks"].as_array().unwrap().len(), 5 * 3 + 5 * 2);
        assert_eq!(report["crossings"].as_array().unwrap().len(), 2);
        let svg = figure(
            &plot,
            &["Computed again, or reused", "milliseconds (log scale)", "256 steps", "bells, in tables"],
        );
        // Every bar has its number above it.
        assert_eq!(svg.matches("rotate(270").count(), 5 * 3 + 5 * 2 + 1);
    }
}

/// Every schedule gives the same cells, the counts fall, and the picture shows where many steps are taken.
#[test]
fn regula_falsi_on_both_dialects() {
    for api in ["gl33", "es30"] {
        let png = scratch("roots.png");
        let args = ["--side", "70", "--rounds", "1", "--png", &png, "--api", api];
        let report = passed("regula_falsi", &args);
        assert_eq!(report["equations"], 4900);
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 9);
        for row in rows {
            assert!(row["passes"].as_u64().unwrap() > 0 && row["seconds"].as_f64().unwrap() > 0.0, "{row}");
            let active = row["active"].as_array().unwrap();
            if api == "es30" {
                assert!(active.is_empty(), "{row}");
                continue;
            }
            let active: Vec<u64> = active.iter().map(|n| n.as_u64().unwrap()).collect();
            assert_eq!((active[0], active.last()), (4900, Some(&0)));
            assert!(active.is_sorted_by(|a, b| a >= b), "{active:?}");
        }
        // Each equation is 7 pixels wide, right of the axis and below the title.
        let (shown, wide) = (pixels(&png), 7 * 70 + 170);
        let cells = (0..4900).map(|k| shown[(96 + 3 + 7 * (k / 70)) * wide + 100 + 3 + 7 * (k % 70)]);
        let bright = cells.clone().filter(|[r, ..]| *r > 235).count();
        assert!((1..2450).contains(&bright), "{bright}");
        assert!(cells.filter(|[r, g, b]| r.min(g).min(b) == &255).count() == 0, "paper among the equations");
        let svg = scratch("roots.svg");
        passed("regula_falsi", &["--side", "70", "--rounds", "1", "--png", &svg, "--api", api]);
        let most = report["steps"]["most"].as_f64().unwrap().to_string();
        let svg = figure(&svg, &["steps (log scale)", "0", "1", "10", &most, "a", "b", "-20", "20"]);
        assert_eq!(svg.matches("<image ").count(), 2);
    }
    // The fewest there can be.
    passed("regula_falsi", &["--side", "2", "--range", "0.5", "--tolerance", "1e-5", "--rounds", "1"]);
}

/// What [Moravanszky03] states of its Figure 4 has a row in the report of `cubes`.
#[test]
fn figure_4_is_measured_by_both_of_the_papers_forms() {
    let animation = scratch("figure4.png");
    let args = ["--quick", "--frames", "2", "--compare", "1", "--animation", &animation];
    let report = passed("cubes", &args);
    let figure4 = &report["figure4"];
    let number = |key: &str| figure4[key].as_f64().unwrap_or_else(|| panic!("{key}: {figure4}"));
    // The first problem's: as many unknowns as the first frame has contacts.
    assert_eq!(number("unknowns"), report["rows"][0]["contacts"].as_f64().unwrap());
    for key in ["dense_ms", "groups_ms", "dense_ms_median", "groups_ms_median"] {
        assert!(number(key) > 0.0, "{key}: {figure4}");
    }
    // What the paper says is of its own 400.
    assert!(figure4.as_object().unwrap().contains_key("paper") && figure4["paper"].is_null(), "{figure4}");
    assert!(fs::metadata(&animation).unwrap().len() > 1000);
}

/// The animation is written unless a window is asked for, which is refused here: there is no display.
#[test]
fn the_animation_is_written_where_nothing_is_said() {
    let cases: [(&str, &[&str]); 3] = [
        ("cubes", &["--quick", "--frames", "2", "--compare", "0"]),
        ("smoke", &["--quick", "--size", "32", "--frames", "2"]),
        ("water", &["--quick", "--size", "16", "--frames", "2"]),
    ];
    for (name, args) in cases {
        let folder = scratch(&format!("{name}-default"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir(&folder).unwrap();
        let here = |args: &[&str]| {
            let mut command = command(name);
            command.args(args).current_dir(&folder).env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
            finish(&mut command, b"")
        };
        let ran = here(&["--window"]);
        assert!(ran.code == 3 && fs::read_dir(&folder).unwrap().count() == 0, "{name}: {}", ran.stderr);
        here(args); // so few frames need not pass all checks
        let written = fs::read(format!("{folder}/out/{name}.png"));
        assert!(written.is_ok_and(|bytes| bytes.starts_with(b"\x89PNG")), "{name}");
    }
}

/// Those that play live, each one frame, in windows of winit's on a screen without a monitor.
#[cfg(feature = "window")]
#[test]
fn what_plays_in_a_window_does() {
    let screen = common::screen::Screen::start();
    for name in ["cubes", "smoke", "water"] {
        let mut command = command(name);
        command.args(["--window", "--quick", "--frames", "1"]);
        command.env("DISPLAY", screen.name()).env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
        let ran = finish(&mut command, b"");
        assert_eq!(ran.code, 0, "{name}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("pass"), "{name}: {}", ran.stdout);
    }
}
