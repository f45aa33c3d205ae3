//! The helpers of the examples: report, exit codes, plots, images and tables.
#![cfg(all(feature = "headless", feature = "io"))]

#[path = "../examples/support/mod.rs"]
mod support;

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use support::bounded::{Bounded, Number};
use support::clock::{self, Rounds};
use support::figure::{self, Raster};
use support::{
    Api, Bar, BarChart, CommonArgs, Failure, Files, LinePlot, Report, Result, Table, differing, encode, json,
    paint, run_from, worst, worst_of, write_file, write_rgb,
};

#[derive(clap::Parser, Debug)]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// A flag with a value of its own
    #[arg(long, default_value_t = 1e-5)]
    tol: f64,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// Runs an example `demo`; gives its exit code and what it wrote to standard error.
fn run(args: &[&str], body: impl FnOnce(&Args, &mut Report) -> Result) -> (u8, String) {
    let mut stderr = Vec::new();
    let args = std::iter::once("demo").chain(args.iter().copied());
    let code = run_from("demo", args, &mut stderr, body);
    (code, String::from_utf8(stderr).unwrap())
}

/// A path of its own for each test, with nothing there yet.
fn scratch(name: &str) -> PathBuf {
    let path = common::scratch::folder().join(name);
    let _ = fs::remove_file(&path);
    path
}

fn read_json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Width, height and pixels of a PNG file.
fn decode(path: &Path) -> (u32, u32, png::ColorType, Vec<u8>) {
    let file = std::io::BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, info.color_type, pixels)
}

#[test]
fn the_envelope_has_its_keys_in_order_and_extra_ones_after_them() {
    let mut report = Report::new("demo");
    report.set("zeta", 3).set("alpha", json!({ "b": 1, "a": 2 })).set("rows", "an extra key must not win");
    report.device("llvmpipe", "Mesa", Api::Es30).row(json!({ "n": 64, "ms": 0.5 }));
    report.check("residual", 1e-5, 2e-6, true).at_most("passes", 3, 4_u32);
    let value = report.to_json();
    let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["schema", "example", "version", "device", "driver", "api", "rows", "checks", "zeta", "alpha"]
    );
    assert_eq!(
        value,
        json!({
            "schema": 1, "example": "demo", "version": env!("CARGO_PKG_VERSION"),
            "device": "llvmpipe", "driver": "Mesa", "api": "es30",
            "rows": [{ "n": 64, "ms": 0.5 }],
            "checks": [
                { "name": "residual", "bound": 1e-5, "value": 2e-6, "pass": true },
                { "name": "passes", "bound": 3.0, "value": 4.0, "pass": false },
            ],
            "zeta": 3, "alpha": { "b": 1, "a": 2 },
        })
    );
    assert_eq!(value.to_string(), report.to_json().to_string());
}

#[test]
fn non_finite_numbers_become_null() {
    let path = scratch("non_finite.json");
    let mut report = Report::new("demo");
    report.row(json!({ "nan": f64::NAN, "inf": f32::INFINITY, "list": [1.0, f64::NEG_INFINITY] }));
    report.at_most("nan", f64::INFINITY, f64::NAN).set("speed", f64::INFINITY);
    report.write(&path).unwrap();
    let value = read_json(&path);
    assert_eq!(value["rows"], json!([{ "nan": null, "inf": null, "list": [1.0, null] }]));
    assert_eq!(value["checks"], json!([{ "name": "nan", "bound": null, "value": null, "pass": false }]));
    assert!(value["speed"].is_null() && value["device"].is_null());
    report.print_checks();
}

#[test]
fn bounds_are_inclusive_and_nan_fails() {
    let passes = |build: fn(&mut Report) -> &mut Report| build(&mut Report::new("demo")).passed();
    assert!(
        passes(|report| report.at_most("x", 1.0, 1.0)) && passes(|report| report.at_least("x", 1.0, 1.0))
    );
    assert!(!passes(|report| report.at_most("x", 1.0, f64::NAN)));
    assert!(!passes(|report| report.at_least("x", 1.0, f64::NAN)));
    assert!(!passes(|report| report.at_most("x", 1.0, 1.5).at_most("y", 1.0, 0.5)));
}

#[test]
fn exit_0_when_done_and_1_with_json_when_a_check_fails() {
    let path = scratch("checks.json");
    let flag = path.to_str().unwrap();
    let (code, stderr) = run(&["--json", flag, "--quick", "--tol", "0.5"], |args, report| {
        assert!(args.common.quick);
        report.at_most("tol", 1.0, args.tol);
        Ok(())
    });
    assert_eq!((code, stderr.as_str()), (0, ""));
    assert_eq!(read_json(&path)["checks"][0]["pass"], json!(true));

    let (code, stderr) = run(&["--json", flag], |_, report| {
        report.at_most("residual", 1e-5, 1.0);
        Ok(())
    });
    assert_eq!((code, stderr.as_str()), (1, ""));
    assert_eq!(read_json(&path)["checks"][0]["pass"], json!(false));
}

#[test]
fn exit_1_with_json_and_the_reason_after_a_breakdown() {
    let path = scratch("breakdown.json");
    let (code, stderr) = run(&["--json", path.to_str().unwrap()], |_, report| {
        report.row(json!({ "iteration": 3 }));
        Err(texla::Error::Breakdown {
            solver: "cg",
            iteration: 3,
            quantity: "p.Ap",
            value: -1.0,
            expected: "positive",
        })?;
        Ok(())
    });
    assert_eq!(code, 1);
    assert_eq!(stderr, "demo: cg: breakdown in iteration 3: p.Ap = -1e0, expected positive\n");
    let value = read_json(&path);
    assert_eq!(value["rows"], json!([{ "iteration": 3 }]));
    assert_eq!(value["error"], json!("cg: breakdown in iteration 3: p.Ap = -1e0, expected positive"));
}

#[test]
fn exit_2_and_one_line_for_bad_flags() {
    let never = |_: &Args, _: &mut Report| -> Result { panic!("bad flags must not start the work") };
    for (args, word) in [
        (&["--nonsense"][..], "--nonsense"),
        (&["--tol", "many"], "many"),
        (&["--tol"], "--tol"),
        (&["--api", "vulkan"], "gl33"),
        (&["stray"], "stray"),
        (&["--quick", "--quick"], "--quick"),
    ] {
        let (code, stderr) = run(args, never);
        assert_eq!(code, 2, "{args:?}");
        assert!(stderr.starts_with("demo: ") && stderr.contains(word), "{args:?}: {stderr}");
        assert_eq!(stderr.matches('\n').count(), 1, "{args:?}: {stderr}");
        assert!(!stderr.contains("Usage"), "{args:?}: {stderr}");
    }
}

#[test]
fn help_and_the_api_flag() {
    assert_eq!(run(&["--help"], |_, _| Err(Failure::no_gl("never"))), (0, String::new()));
    let (code, _) = run(&["--api", "es30"], |args, _| {
        assert_eq!(args.common.api, Some(Api::Es30));
        Ok(())
    });
    assert_eq!(code, 0);
}

#[test]
fn exit_2_and_3_say_one_line_and_write_no_json() {
    let path = scratch("none.json");
    let flags = ["--json", path.to_str().unwrap()];
    let (code, stderr) = run(&flags, |_, _| Err(Failure::bad_input("a.mtx:3: two\n  lines")));
    assert_eq!((code, stderr.as_str()), (2, "demo: a.mtx:3: two lines\n"));
    let (code, stderr) = run(&flags, |_, _| Err(texla::Error::NoContext("no EGL\nat all".into()).into()));
    assert_eq!((code, stderr.as_str()), (3, "demo: no EGL at all\n"));
    assert!(!path.exists());
    let range = texla::Error::Parameter { op: "cg", name: "tol", value: "-1".into(), expected: "above 0" };
    assert_eq!(Failure::from(range).code(), 2);
    assert_eq!(Failure::from(texla::Error::ContextLost).code(), 1);
    // In the words of flags, but for what files are called; and what only begins or ends like a name is another.
    let failure = |error: texla::Error| Failure::from(error);
    let range = |name| texla::Error::Parameter { op: "Gmres", name, value: "9".into(), expected: "less" };
    assert_eq!(failure(range("restart")), Failure::bad_input("--restart 9: expected less"));
    assert_eq!(failure(range("ell")), Failure::bad_input("gmres: parameter `ell` is 9, expected less"));
    let detail = "is one for BlockJacobi or Jacobi, not WeightedJacobi or Jacobian".to_owned();
    let told = "ic0: the matrix is one for block-jacobi or jacobi, not WeightedJacobi or Jacobian";
    assert_eq!(failure(texla::Error::Matrix { op: "IncompleteCholesky", detail }), Failure::bad_input(told));
    let file = texla::Error::File { path: "Jacobi.mtx".into(), detail: "not found".into() };
    assert_eq!(failure(file), Failure::bad_input("Jacobi.mtx: not found"));
}

#[test]
fn an_unwritable_path_is_bad_input_found_before_the_work() {
    let folder = env!("CARGO_TARGET_TMPDIR");
    for path in [&format!("{folder}/no/such/folder/x.json"), folder, "", "/"] {
        let (code, stderr) = run(&["--json", path], |_, _| panic!("the work must not start"));
        assert_eq!((code, stderr.lines().count()), (2, 1), "{path:?}: {stderr}");
    }
    let missing = Path::new(folder).join("no/such/folder/x.png");
    assert_eq!(LinePlot::default().write(&missing).unwrap_err().code(), 2);
    assert_eq!(write_rgb(&missing, 1, 1, &[0; 3]).unwrap_err().code(), 2);
    assert_eq!(outputs([Path::new("plain_name.png")]).check(), Ok(()));
    assert!(!Path::new("plain_name.png").exists());
}

/// What an SVG figure shows: the attributes of all elements of a name, and all texts.
struct Svg(String);

impl Svg {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        assert!(resvg::usvg::roxmltree::Document::parse(&text).is_ok(), "{}", path.display());
        assert!(text.contains(" role=\"img\""), "{}", path.display());
        for family in text.split("font-family=\"").skip(1) {
            assert!(family.split_once('"').unwrap().0.ends_with("sans-serif"), "{}", path.display());
        }
        Svg(text)
    }

    /// An attribute of every element of this name that has `part` in it.
    fn all(&self, name: &str, part: &str, attribute: &str) -> Vec<String> {
        let start = format!("<{name} ");
        let elements = self.0.split(&start).skip(1).map(|rest| rest.split_once('>').unwrap().0);
        let value = |e: &str| {
            e.split_once(&format!(" {attribute}=\"")).unwrap().1.split_once('"').unwrap().0.to_owned()
        };
        elements.filter(|e| e.contains(part)).map(|e| value(&format!(" {e}"))).collect()
    }

    fn numbers(&self, name: &str, part: &str, attribute: &str) -> Vec<f64> {
        self.all(name, part, attribute).iter().map(|v| v.parse().unwrap()).collect()
    }

    fn says(&self, text: &str) -> bool {
        self.0.contains(&format!(">{text}<")) || self.0.contains(&format!(">\n{text}\n<"))
    }
}

const BLUE: &str = "#0062B2";

#[test]
fn a_plot_is_written_as_its_name_says() {
    let history = (0..144).map(|k| {
        (f64::from(k), 10_f64.powf(-f64::from(k) / 28.0) * (1.0 + 0.4 * (f64::from(k) * 0.9).sin()))
    });
    let plot = LinePlot {
        title: "Conjugate gradients & more, n < 2",
        subtitle: "65536 unknowns: converged after 143 iterations".to_owned(),
        axes: ["iteration", "relative residual"],
        curves: vec![
            ("cg".to_owned(), history.collect()),
            ("jacobi".to_owned(), vec![(0.0, 1.0), (10.0, 0.5), (20.0, 0.2)]),
        ],
        level: Some((1e-5, "tolerance 1e-5".to_owned())),
        logarithmic: true,
    };
    let path = scratch("residual.png");
    plot.write(&path).unwrap();
    let (width, height, color, pixels) = decode(&path);
    assert_eq!((width, height, color), (1200, 720, png::ColorType::Rgb));
    for ink in [[0, 98, 178], [200, 60, 50], [40, 44, 52]] {
        let count = pixels.chunks(3).filter(|pixel| *pixel == ink).count();
        assert!(count > 300, "{count} pixels of {ink:?}");
    }
    // Text is there without a font of the system's: in the title's lines, too.
    let heads = pixels[..3 * 1200 * 50].chunks(3).filter(|pixel| pixel[0] < 120).count();
    assert!(heads > 500, "{heads}");

    let path = scratch("residual.SVG");
    plot.write(&path).unwrap();
    let svg = Svg::read(&path);
    for text in [
        "Conjugate gradients &amp; more, n &lt; 2",
        "65536 unknowns: converged after 143 iterations",
        "cg",
        "jacobi",
    ] {
        assert!(svg.says(text), "{text}");
    }
    for text in ["iteration", "relative residual", "tolerance 1e-5", "1", "1e-5", "0.01", "100"] {
        assert!(svg.says(text), "{text}");
    }
    assert_eq!(svg.all("svg", "", "width"), ["1200"]);
    let curves = svg.all("polyline", BLUE, "points");
    assert_eq!(curves.iter().map(|points| points.split_whitespace().count()).max(), Some(144));
    // A dot for each of few points, for the last one of many.
    assert_eq!(svg.numbers("circle", BLUE, "cx").len(), 1);
    assert_eq!(svg.numbers("circle", "#E68C00", "cx").len(), 3);
    let dots = svg.numbers("circle", "#E68C00", "cx");
    assert!((dots[2] - 2.0 * dots[1] + dots[0]).abs() <= 2.0, "{dots:?}");
    let down = svg.numbers("circle", "#E68C00", "cy");
    let ratio = (down[2] - down[0]) / (down[1] - down[0]);
    assert!((ratio - 5f64.log10() / 2f64.log10()).abs() < 0.1, "{down:?}");

    for name in ["residual.txt", "residual", "png"] {
        let path = scratch(name);
        let failure = plot.write(&path).unwrap_err();
        assert!(failure.code() == 2 && format!("{failure:?}").contains(".svg or .png"), "{failure:?}");
        assert!(!path.exists());
    }
}

/// A flag of a figure, as examples have it.
#[derive(clap::Parser)]
struct Plotting {
    #[command(flatten)]
    common: CommonArgs,
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    plot: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Plotting {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

#[test]
fn a_figure_of_another_kind_is_refused_before_the_work() {
    let run = |plot: &str, works: bool| {
        let (mut stderr, mut worked) = (Vec::new(), false);
        let code = run_from("demo", ["demo", "--plot", plot], &mut stderr, |args: &Plotting, _| {
            worked = args.plot.is_some();
            Ok(())
        });
        assert_eq!(worked, works, "{plot}");
        (code, String::from_utf8(stderr).unwrap())
    };
    for name in ["a.txt", "a", "a.svgz", ".png", "/dev/null"] {
        let (code, stderr) = run(name, false);
        assert_eq!((code, stderr.lines().count()), (2, 1), "{name}: {stderr}");
        assert!(stderr.contains("--plot") && stderr.contains("ends in .svg or .png"), "{name}: {stderr}");
    }
    let (code, stderr) = run("no such folder/a.svg", false);
    assert!(code == 2 && stderr.contains("folder does not exist"), "{stderr}");
    for name in ["a.svg", "b.PNG"] {
        assert_eq!(run(scratch(name).to_str().unwrap(), true), (0, String::new()));
    }
}

#[test]
fn plots_of_little_or_odd_data_are_drawn_all_the_same() {
    let odd = [0.0, -1.0, f64::NAN, f64::INFINITY];
    let cases: [(&[f64], usize); 8] = [
        (&[], 0),
        (&odd, 0),
        (&[1.0], 1),
        (&[1e-3, 1e-3], 2),
        (&[1e300, 5e-324], 2),
        (&[1.0, 0.0, f64::NAN, 0.5], 2),
        (&[1.0, 1.0 + f64::EPSILON], 2),
        (&[-1e306, 1e306, f64::MAX], 2),
    ];
    for (number, (values, shown)) in cases.into_iter().enumerate() {
        let path = scratch(&format!("odd_{number}.svg"));
        let points: Vec<_> = (0..).map(f64::from).zip(values.iter().copied()).collect();
        let mut plot = LinePlot {
            title: "odd \u{3bb}",
            axes: ["s", "m"],
            curves: ["cg", "jacobi"].map(|name| (name.to_owned(), points.clone())).into(),
            level: Some((f64::NAN, "none".to_owned())),
            logarithmic: true,
            ..LinePlot::default()
        };
        plot.write(&path).unwrap();
        let svg = Svg::read(&path);
        assert!(!svg.says("none"));
        let positive = values.iter().filter(|v| **v > 0.0 && v.is_finite()).count();
        assert_eq!(svg.numbers("circle", BLUE, "cx").len(), positive, "{values:?}");
        assert_eq!(svg.says("nothing to show"), positive == 0, "{values:?}");

        let path = scratch(&format!("odd_linear_{number}.svg"));
        plot.logarithmic = false;
        plot.curves = vec![(String::new(), values.iter().map(|&v| (0.5, v)).collect())];
        plot.write(&path).unwrap();
        let finite = values.iter().filter(|v| v.abs() < 1e307).count();
        assert!(finite >= shown);
        let (right, down) =
            (Svg::read(&path).numbers("circle", BLUE, "cx"), Svg::read(&path).numbers("circle", BLUE, "cy"));
        assert_eq!(right.len(), finite, "{values:?}");
        assert!(
            right.iter().all(|x| (100.0..2400.0).contains(x))
                && down.iter().all(|y| (180.0..1400.0).contains(y))
        );
    }
    let path = scratch("long.png");
    let long = (0..100_000).map(|k| (f64::from(k), 1.0 / (1.0 + f64::from(k))));
    let curves = vec![("cg".to_owned(), long.collect())];
    LinePlot { title: "long", curves, logarithmic: true, ..LinePlot::default() }.write(&path).unwrap();
    assert_eq!(decode(&path).1, 720);
}

#[test]
fn a_linear_plot_is_a_straight_line_for_a_straight_line() {
    let path = scratch("linear.svg");
    let line = (0..=200).map(|k| (f64::from(k) / 20.0, f64::from(k) / 100.0 - 1.0));
    let (axes, curves) = (["seconds", "metres"], vec![(String::new(), line.collect())]);
    LinePlot { title: "y = x / 5 - 1", axes, curves, ..LinePlot::default() }.write(&path).unwrap();
    let svg = Svg::read(&path);
    assert!(["seconds", "metres", "0", "-0.8", "10"].into_iter().all(|text| svg.says(text)), "{}", svg.0);
    let points: Vec<(f64, f64)> = svg.all("polyline", BLUE, "points")[0]
        .split_whitespace()
        .map(|point| point.split_once(',').unwrap())
        .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
        .collect();
    assert_eq!(points.len(), 201);
    let [first, last] = [points[0], points[200]];
    assert!(last.0 - first.0 > 1800.0 && first.1 - last.1 > 700.0);
    for (k, (x, y)) in points.iter().enumerate() {
        let share = k as f64 / 200.0;
        assert!((x - first.0 - share * (last.0 - first.0)).abs() <= 1.5, "{k}: {x}");
        assert!((y - first.1 - share * (last.1 - first.1)).abs() <= 1.5, "{k}: {y}");
    }
}

/// Heights of the first three bars, and of the paler tops above them.
fn heights(values: [f64; 3], with: Option<f64>) -> ([f64; 3], [f64; 3]) {
    let path = scratch("bars.svg");
    let series = ["a", "b", "c"].into_iter().zip(values);
    let chart = BarChart {
        title: "Times",
        axis: "milliseconds",
        tops: Some("readback"),
        groups: vec!["copy".to_owned()],
        series: series.map(|(who, value)| (who.to_owned(), vec![Some(Bar { value, with })])).collect(),
        ..BarChart::default()
    };
    chart.write(&path).unwrap();
    let svg = Svg::read(&path);
    for text in ["Times", "milliseconds", "copy", "a", "b", "c", "readback", "1", "10", "100"] {
        assert!(svg.says(text), "{text}");
    }
    let of = |color: &str, paleness: &str| {
        let all = svg.numbers("rect", &format!("opacity=\"{paleness}\" fill=\"{color}\""), "height");
        // The legend's comes first.
        *all.last().unwrap()
    };
    let colors = [BLUE, "#E68C00", "#00946E"];
    (colors.map(|color| of(color, "1")), colors.map(|color| of(color, "0.4")))
}

#[test]
fn bars_grow_with_the_logarithm_and_have_paler_tops() {
    let ([one, ten, hundred], tops) = heights([1.0, 10.0, 100.0], None);
    assert!(ten - one > 150.0 && (ten - one - (hundred - ten)).abs() <= 2.0, "{one} {ten} {hundred}");
    assert_eq!(tops, [0.0; 3]);
    let (bars, tops) = heights([1.0, 10.0, 100.0], Some(1000.0));
    let sums = [0, 1, 2].map(|k| bars[k] + tops[k]);
    assert!(tops.is_sorted_by(|a, b| a > b) && tops[2] > 50.0, "{tops:?}");
    assert!(sums.iter().all(|sum| (sum - sums[0]).abs() <= 1.0), "{sums:?}");
}

/// Told apart without their colours: by hatching, and by the numbers above.
#[test]
fn bars_are_hatched_and_labelled() {
    let path = scratch("hatched.svg");
    let series = ["plain", "rising", "level", "falling"].into_iter().zip([1.0, 2.5, 0.0123, 4567.0]);
    let series = series.map(|(name, value)| (name.to_owned(), vec![Some(Bar::plain(value))])).collect();
    let groups = vec!["g".to_owned()];
    BarChart { title: "t", axis: "ms", groups, series, ..BarChart::default() }.write(&path).unwrap();
    let svg = Svg::read(&path);
    assert!(["1", "2.5", "0.0123", "4570"].into_iter().all(|number| svg.says(number)));
    let lines = svg.all("polyline", "stroke=\"#FFFFFF\"", "points");
    let slopes = lines.iter().map(|points| {
        let at: Vec<f64> = points.split([',', ' ']).filter_map(|n| n.parse().ok()).collect();
        ((at[3] - at[1]) * (at[2] - at[0]).signum()).partial_cmp(&0.0)
    });
    let [mut rising, mut level, mut falling] = [0, 0, 0];
    for slope in slopes {
        match slope.unwrap() {
            std::cmp::Ordering::Less => rising += 1,
            std::cmp::Ordering::Equal => level += 1,
            std::cmp::Ordering::Greater => falling += 1,
        }
    }
    assert!(rising > 10 && level > 3 && falling > 10, "{rising} {level} {falling}");
}

#[test]
fn charts_of_little_or_odd_data_are_drawn_all_the_same() {
    let odd = [f64::NAN, f64::INFINITY, -1.0, 0.0];
    for (number, values) in [&[][..], &odd, &[1.0], &[2.0, 2.0], &[1e300, 5e-324]].into_iter().enumerate() {
        let path = scratch(&format!("odd_bars_{number}.svg"));
        let bars = values.iter().map(|value| Some(Bar::plain(*value))).collect();
        let groups = (0..values.len()).map(|g| format!("group {g}")).collect();
        let series = vec![("a".to_owned(), bars), ("b".to_owned(), vec![None; 9])];
        BarChart { title: "odd", axis: "ms", groups, series, ..BarChart::default() }.write(&path).unwrap();
        let svg = Svg::read(&path);
        assert!((0..values.len()).all(|g| svg.says(&format!("group {g}"))));
        let shown = values.iter().filter(|v| v.is_finite() && **v > 0.0).count();
        assert_eq!(
            svg.all("rect", &format!("opacity=\"1\" fill=\"{BLUE}\""), "x").len(),
            1 + shown,
            "{values:?}"
        );
    }
    let missing = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no such folder/bars.png");
    assert_eq!(BarChart::default().write(&missing).unwrap_err().code(), 2);
}

/// Pixels within a figure are shown as they are, and text outside them, in a PNG and in an SVG.
#[test]
fn figures_keep_the_pixels_in_them() {
    let pixels: Vec<u8> = (0..18).map(|k| 14 * k).collect();
    let [png, svg] = ["raster.png", "raster.svg"].map(scratch);
    for path in [&png, &svg] {
        let raster = Raster { at: (10, 20), scale: 4, width: 3, pixels: pixels.clone() };
        figure::write(path, "pixels", (60, 40), |area, rasters| {
            rasters.push(raster);
            paint::text(area, "words", (2.0, 8.0))
        })
        .unwrap();
    }
    let (width, height, _, shown) = decode(&png);
    assert_eq!((width, height), (60, 40));
    for (k, pixel) in shown.chunks(3).enumerate() {
        let (x, y) = (k % 60, k / 60);
        if (10..22).contains(&x) && (20..28).contains(&y) {
            let at = 3 * (3 * ((y - 20) / 4) + (x - 10) / 4);
            assert_eq!(pixel, &pixels[at..at + 3], "({x}, {y})");
        } else if y >= 20 {
            assert_eq!(pixel, [255; 3], "({x}, {y})");
        }
    }
    assert!(shown.chunks(3).any(|pixel| pixel[0] < 128));
    // What is past an edge is left out.
    let outside = scratch("outside.png");
    figure::write(&outside, "", (8, 8), |_, rasters| {
        rasters.push(Raster { at: (6, 7), scale: 4, width: 3, pixels: pixels.clone() });
        rasters.push(Raster { at: (9, 9), scale: 1, width: 3, pixels: pixels.clone() });
        Ok(())
    })
    .unwrap();
    let (.., rest) = decode(&outside);
    assert_eq!(rest.chunks(3).filter(|pixel| **pixel == pixels[..3]).count(), 2);
    assert_eq!(rest.chunks(3).filter(|pixel| *pixel == [255; 3]).count(), 62);
    let svg = Svg::read(&svg);
    assert!(svg.says("words") && svg.says("pixels"));
    assert_eq!(
        ["x", "y", "width", "height"].map(|of| svg.numbers("image", "", of)[0]),
        [20.0, 40.0, 24.0, 16.0]
    );
    let uri = &svg.all("image", "", "href")[0];
    let bytes = BASE64_STANDARD.decode(uri.strip_prefix("data:image/png;base64,").unwrap()).unwrap();
    let copy = scratch("embedded.png");
    fs::write(&copy, bytes).unwrap();
    assert_eq!(decode(&copy), (3, 2, png::ColorType::Rgb, pixels));
}

#[test]
fn images_keep_their_pixels() {
    let path = scratch("image.png");
    let pixels: Vec<u8> = (0..24).collect();
    write_rgb(&path, 4, 2, &pixels).unwrap();
    assert_eq!(decode(&path), (4, 2, png::ColorType::Rgb, pixels.clone()));
    write_file(&path, &encode(png::ColorType::Rgba, 3, 2, &pixels).unwrap()).unwrap();
    assert_eq!(decode(&path), (3, 2, png::ColorType::Rgba, pixels.clone()));
    assert_eq!(write_rgb(&path, 5, 2, &pixels).unwrap_err().code(), 1);
}

#[test]
fn tables_align_numbers_to_the_right() {
    let mut table = Table::new(["method", "n", "time"]);
    table.row(["cg", "64", "0.5 ms"]).row(["jacobi", "1024", "12.0 ms"]).row(["none"]);
    let expected = "\
method     n     time
------  ----  -------
cg        64   0.5 ms
jacobi  1024  12.0 ms
none
";
    assert_eq!(table.to_string(), expected);
    table.print();
}

/// The middle, and how far rounds are apart; of none there is nothing to be said.
#[test]
fn rounds_say_how_far_they_are_apart() {
    let rounds: Rounds = [0.004, 0.001, 0.002].into_iter().collect();
    let row = rounds.times(1e3).in_row(json!({ "n": 4 }), "ms");
    assert_eq!(row, json!({ "n": 4, "ms": 2.0, "ms_least": 1.0, "ms_most": 4.0 }));
    assert!((rounds.mean() - 0.007 / 3.0).abs() < 1e-12);
    assert_eq!(Rounds::default().in_row(json!({}), "ms"), json!({ "ms": null }));

    let context = common::harness::headless(texla::gl::Api::Gl33);
    let mut done = 0;
    let job: clock::Job<'_> = Box::new(|times| {
        done += times;
        std::thread::sleep(std::time::Duration::from_millis(times as u64));
        Ok(())
    });
    let mut jobs = [job];
    let times = clock::in_turns(context.device(), &mut jobs, 3, 0.004).unwrap();
    assert!(times.len() == 1 && times[0].iter().len() == 3 && times[0].least() >= 0.001, "{times:?}");
    drop(jobs);
    assert!(done >= 2 + 3, "{done}");
}

#[test]
fn progress_is_silent_when_piped() {
    let progress = support::Progress::new("solve", 10);
    progress.set(3);
    progress.note("1e-3");
    progress.finish();
    drop(support::Progress::new("dropped", 10));
}

#[test]
fn the_worst_of_values_keeps_nan_and_its_check_fails() {
    let of = |values: &[f64]| values.iter().copied().fold(0.0, worst);
    assert_eq!(of(&[1.0, 3.0, 2.0]), 3.0);
    assert_eq!(of(&[-1.0]), 0.0);
    for values in [[f64::NAN, 1.0, 2.0], [1.0, f64::NAN, 2.0], [1.0, 2.0, f64::NAN]] {
        assert!(of(&values).is_nan(), "{values:?}");
        let mut report = Report::new("demo");
        report.at_most("a check", 10.0, of(&values));
        assert!(!report.passed(), "{values:?}");
    }
}

/// A list that is too short, which a zip would pass over.
#[test]
fn what_is_missing_is_as_bad_as_what_is_wrong() {
    let off = |a: &f32, b: &f32| f64::from((a - b).abs());
    assert_eq!(worst_of(&[1.0, 2.0], &[1.5, 2.25], off), 0.5);
    assert_eq!(worst_of(&[], &[], off), 0.0);
    assert_eq!((differing(&[1, 2], &[1, 3]), differing::<i32, i32>(&[], &[])), (1, 0));
    for (found, wanted) in [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[1.0], &[1.0, 2.0])] {
        assert!(worst_of(found, wanted, off).is_nan());
        assert_eq!(differing(found, wanted), 1);
    }
}

/// Outputs without inputs.
fn outputs<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Files {
    Files { outputs: paths.into_iter().map(Path::to_owned).collect(), ..Files::default() }
}

#[test]
fn one_file_for_two_outputs_is_refused() {
    let (a, b) = (scratch("distinct-a"), scratch("distinct-b"));
    let again = a.parent().unwrap().join(".").join("distinct-a");
    outputs([a.as_path(), &b]).check().unwrap();
    let failure = outputs([a.as_path(), &b, &again]).check().unwrap_err();
    assert_eq!(failure.code(), 2);
    fs::write(&a, "there").unwrap(); // and so are two names of a file that is there
    assert!(outputs([a.as_path(), &again]).check().is_err());
    assert!(outputs([a.as_path(), &b]).check().is_ok());
    assert!(!b.exists());
}

/// By another path, a link, a link to nothing yet, or a second name: all the same file.
#[cfg(unix)]
#[test]
fn an_output_is_known_by_every_name() {
    use std::os::unix::fs::symlink;
    let [input, soft, hard, new, dangling] =
        ["input", "soft", "hard", "new", "dangling"].map(|name| scratch(&format!("known-{name}")));
    fs::write(&input, "kept").unwrap();
    symlink(&input, &soft).unwrap();
    fs::hard_link(&input, &hard).unwrap();
    symlink(&new, &dangling).unwrap();
    for output in [&input, &soft, &hard] {
        let files = Files { inputs: vec![input.clone()], outputs: vec![output.clone()] };
        let failure = files.check().unwrap_err();
        assert!(failure.code() == 2 && format!("{failure:?}").contains("is an input"), "{failure:?}");
        assert!(outputs([input.as_path(), output]).check().is_err(), "{}", output.display());
    }
    assert!(outputs([new.as_path(), &dangling]).check().is_err());
    assert!(outputs([input.as_path(), &dangling]).check().is_ok());
    // Nothing is replaced in a device.
    assert!(outputs([Path::new("/dev/null"), Path::new("/dev/null")]).check().is_ok());
    assert_eq!(fs::read(&input).unwrap(), b"kept");
    assert!(!new.exists());
}

/// Files are there as a whole or as they were: links stay links, protection stays, and no part is left.
#[cfg(unix)]
#[test]
fn a_file_is_replaced_when_it_is_complete() {
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = scratch("whole-file").with_extension("d");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let [file, link, other] = ["file", "link", "other"].map(|name| folder.join(name));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    fs::hard_link(&file, &other).unwrap();
    let mut pending = texla::host::PendingFile::create(&link).unwrap();
    pending.write_all(b"half").unwrap();
    pending.flush().unwrap();
    drop(pending);
    assert_eq!(fs::read(&file).unwrap(), b"old");
    support::write_file(&link, b"new").unwrap();
    assert_eq!((fs::read(&file).unwrap(), fs::read(&other).unwrap()), (b"new".to_vec(), b"old".to_vec()));
    assert!(link.is_symlink());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    // A device is written as it is, and says what it has to say.
    assert_eq!(support::write_file(Path::new("/dev/null"), b"gone"), Ok(()));
    if Path::new("/dev/full").exists() {
        let failure = support::write_file(Path::new("/dev/full"), b"no room").unwrap_err();
        assert_eq!(failure.code(), 2);
    }
}

/// A name under /proc can be written, and nothing can be made beside it or take its place, not even by the super user.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_replaced_is_overwritten() {
    let name = Path::new("/proc/self/comm");
    let before = fs::read(name).unwrap();
    outputs([name]).check().unwrap();
    assert_eq!(fs::read(name).unwrap(), before);
    support::write_file(name, b"written").unwrap();
    assert_eq!(fs::read(name).unwrap(), b"written\n");
    fs::write(name, before).unwrap();
    assert!(support::write_file(Path::new("/proc/self/none"), b"written").is_err());
    // What only opens for writing, as it does for the super user, is refused before the work.
    let shown = Path::new("/proc/self/cmdline");
    assert_eq!(outputs([shown]).check().unwrap_err().code(), 2);
    assert!(texla::host::PendingFile::create(shown).is_err());
}

/// What cannot get to its place after the work is kept, and the error says where.
#[test]
fn a_result_that_has_lost_its_place_is_kept() {
    use std::io::Write;
    let folder = scratch("lost-place").with_extension("d");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let target = folder.join("x.mtx");
    let mut pending = texla::host::PendingFile::create(&target).unwrap();
    pending.write_all(b"hours of work").unwrap();
    fs::create_dir(&target).unwrap();
    let error = pending.finish().unwrap_err().to_string();
    let (_, kept) = error.split_once("what was to be written is kept in ").unwrap();
    assert_eq!(fs::read(kept).unwrap(), b"hours of work", "{error}");
}

/// Distances over bounds of zero: nothing off is nothing off.
#[test]
fn shares_keep_what_is_bad() {
    use support::{differing_bits, share};
    assert_eq!([share(0.0, 0.0), share(1.0, 4.0), share(1.0, 0.0)], [0.0, 0.25, f64::INFINITY]);
    assert!(share(f64::NAN, 1.0).is_nan());
    assert_eq!(differing_bits(&[0.0, f32::NAN, 1.0], &[-0.0, f32::NAN]), 2);
}

#[test]
fn what_a_terminal_would_obey_is_shown() {
    let text = "\u{1b}[31mred\u{202e}\u{7}";
    for failure in [Failure::bad_input(text), Failure::unsolved(text), Failure::at_place(text)] {
        let (_, stderr) = run(&[], |_, _| Err(failure.clone()));
        assert_eq!(stderr, "demo: \\u{1b}[31mred\\u{202e}\\u{7}\n", "{failure:?}");
    }
}

/// Some of everything, in any numbers: quotients of small differences too.
fn mixture<T: Number>(values: [f32; 4]) -> T {
    let [a, b, c, d] = values.map(T::of);
    let near = a * b - c * d;
    (near / (a + b) + (c - d).root() * near).larger(-(a / (near * near + d)))
}

#[test]
fn bounds_hold_what_32_bits_compute() {
    let mut state = 1u32;
    let mut unit = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 16_777_216.0
    };
    let mut furthest = 0.0_f64;
    for k in 0..20_000 {
        let mut values = [(); 4].map(|()| unit() + 0.01);
        if k % 2 == 0 {
            values[2] = values[0] * (1.0 + 1e-6 * unit()); // what cancels
            values[3] = values[1];
        }
        let bounded = mixture::<Bounded>(values);
        assert_eq!(bounded.value, mixture::<f64>(values));
        let share = bounded.share(mixture::<f32>(values).into());
        assert!(share <= 1.0, "{values:?}: {bounded:?}");
        // Plain values have bounds of a few units in the last place.
        assert!(k % 2 == 0 || bounded.error < 1e-2, "{values:?}: {bounded:?}");
        furthest = worst(furthest, share);
    }
    assert!(furthest > 0.1, "the bound is loose: {furthest}");
}

#[test]
fn bounds_tell_what_is_not_sure() {
    let [third, three] = [1.0 / 3.0, 3.0].map(Bounded::of);
    let one = Bounded::of(1.0);
    let sure = |a: Bounded, b: Bounded| {
        let mut sure = true;
        (a.below(b, &mut sure), sure)
    };
    assert_eq!(sure(third, three), (true, true));
    assert_eq!(sure(three, third), (false, true));
    assert!(!sure(third * three, one).1 && !sure(one, one / three * three).1);
    // Nothing is sure of what divides by what may be zero, or is no number.
    let zero = third * three - one;
    assert!(!sure(one / zero, one).1 && !sure((one / zero) * Bounded::of(0.0), one).1);
    assert_eq!(Bounded::of(-4.0).root().value, 0.0);
    assert_eq!(Bounded::of(2.0).share(f64::NAN), f64::INFINITY);
    assert_eq!((Bounded::of(2.0).share(2.0), Bounded::of(2.0).share(3.0)), (0.0, f64::INFINITY));
}
