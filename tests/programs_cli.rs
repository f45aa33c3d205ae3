//! The examples `caustics`, `coverage` and `reuse` from outside: exit codes, the JSON reports, the pictures.
#![cfg(feature = "headless")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

/// An example, which cargo builds beside this test: `target/PROFILE/examples/NAME`.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "{} is not built: a plain `cargo test` does it", program.display());
    let mut command = Command::new(program);
    command.env_remove("TEXLA_API");
    command
}

fn run(name: &str, args: &[&str]) -> Output {
    example(name).args(args).output().unwrap()
}

/// A path that no other test uses at the same time, with nothing there.
fn scratch(name: &str) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("programs-{count}-{name}"));
    let _ = fs::remove_file(&path);
    path
}

fn report(path: &Path) -> serde_json::Value {
    let report: serde_json::Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let checks = report["checks"].as_array().unwrap();
    assert!(!checks.is_empty() && checks.iter().all(|check| check["pass"] == true), "{checks:?}");
    report
}

/// Runs an example that has to succeed, and gives its report.
fn succeeds(name: &str, args: &[&str]) -> serde_json::Value {
    let json = scratch(&format!("{name}.json"));
    let output = run(name, &[args, &["--json", json.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(0), "{name} {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    report(&json)
}

/// Bad input: exit 2, one line that says what is wrong, and no file.
fn refuses(name: &str, args: &[&str], text: &str) {
    let outputs = ["json", "png"].map(|end| scratch(&format!("refused.{end}")));
    let [json, png] = [0, 1].map(|k| outputs[k].to_str().unwrap());
    let picture = if name == "reuse" { "--plot" } else { "--png" };
    let files: &[&str] =
        if args.contains(&picture) { &["--json", json] } else { &["--json", json, picture, png] };
    let Output { status, stderr, .. } = run(name, &[args, files].concat());
    let stderr = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{name} {args:?}: {stderr}");
    assert!(stderr.lines().count() == 1 && stderr.contains(text), "{name} {args:?}: {stderr}");
    assert!(outputs.iter().all(|path| !path.exists()), "{name} {args:?} has written a file");
}

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    let cases: [(&str, &[&str], &str); 25] = [
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
        refuses("coverage", &["--towers", path.to_str().unwrap()], text);
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    refuses("coverage", &["--towers", "no such file.csv"], "cannot read no such file.csv");
    refuses("coverage", &["--towers", env!("CARGO_TARGET_TMPDIR")], "cannot read");
    let file = path.to_str().unwrap();
    refuses("coverage", &["--towers", file, "--csv", file], "two outputs");
}

/// Mesa can be told to leave float blending out.
#[test]
fn without_float_blending_there_is_one_line() {
    let device = succeeds("reuse", &["--quick", "--size", "16", "--api", "es30"])["device"].to_string();
    if !["llvmpipe", "softpipe"].iter().any(|name| device.contains(name)) {
        println!("not run: {device} has float blending");
        return;
    }
    for name in ["caustics", "coverage"] {
        let json = scratch("unblended.json");
        let mut command = example(name);
        command.args(["--quick", "--api", "es30", "--json", json.to_str().unwrap()]);
        let output = command.env("MESA_EXTENSION_OVERRIDE", "-GL_EXT_float_blend").output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{name}: {stderr}");
        assert!(stderr.lines().count() == 1 && stderr.contains("cannot"), "{name}: {stderr}");
        assert!(!json.exists());
    }
}

/// The pixels of a picture, three bytes each.
fn pixels(path: &Path) -> Vec<[u8; 3]> {
    let mut reader =
        png::Decoder::new(std::io::BufReader::new(fs::File::open(path).unwrap())).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    bytes.chunks_exact(3).map(|p| [p[0], p[1], p[2]]).collect()
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
        let files = ["--png", png.to_str().unwrap(), "--map", map.to_str().unwrap()];
        let args = ["--photons", "60001", "--size", "64", "--api", api];
        let report = succeeds("caustics", &[&args[..], &["--seed", "7", "--ior", "1.5", "--quick"]].concat());
        let other = succeeds("caustics", &[&args[..], &["--ior", "1.5"], &files].concat());
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
    let bubble = ways(&succeeds("caustics", &[&args[..], &["0.7"]].concat()));
    let glass = ways(&succeeds("caustics", &[&args[..], &["1.5"]].concat()));
    let mirrored = |ways: &[[u64; 3]]| ways[1].iter().sum::<u64>();
    assert!(mirrored(&bubble) > 4 * mirrored(&glass), "{bubble:?} {glass:?}");
    let nothing = ways(&succeeds("caustics", &[&args[..], &["1"]].concat()));
    // Reflected with the chance zero.
    assert_eq!(mirrored(&nothing) + nothing[3..].iter().flatten().sum::<u64>(), 0, "{nothing:?}");
}

/// One tower's cone: it covers pi/4 of its square, and its mean is pi/12 there.
#[test]
fn coverage_of_a_single_tower() {
    let (towers, areas, png) = (scratch("one.csv"), scratch("areas.csv"), scratch("one.png"));
    // Columns in any order, an unknown one, spaces, and coordinates as of a map of a country.
    fs::write(&towers, "\u{feff}name, Range ,y,X\nonly,1500,5400000,400000\n").unwrap();
    let [file, csv, picture] = [&towers, &areas, &png].map(|path| path.to_str().unwrap());
    for api in ["gl33", "es30"] {
        let args = ["--towers", file, "--size", "200", "--csv", csv, "--png", picture, "--api", api];
        let report = succeeds("coverage", &args);
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
    let report = succeeds("coverage", &["--quick", "--size", "64"]);
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
    let report = succeeds("coverage", &["--towers", towers.to_str().unwrap(), "--size", "64"]);
    assert_eq!((&report["cells"], &report["mean"]), (&serde_json::json!([64, 1]), &0.0.into()));
}

#[test]
fn reuse_on_both_dialects() {
    for api in ["gl33", "es30"] {
        let plot = scratch("reuse.png");
        let args = ["--quick", "--size", "64", "--plot", plot.to_str().unwrap(), "--api", api];
        let report = succeeds("reuse", &args);
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 10);
        for row in rows {
            let affine = row["quantity"] == "affine map";
            assert!(row["per_fragment_seconds"].is_f64() && row["tables_seconds"].is_f64(), "{row}");
            assert_eq!(row["vertex_seconds"].is_f64(), affine, "{row}");
        }
        assert_eq!(report["checks"].as_array().unwrap().len(), 5 * 3 + 5 * 2);
        assert_eq!(report["crossings"].as_array().unwrap().len(), 2);
        assert!(fs::metadata(&plot).unwrap().len() > 1000);
    }
}
