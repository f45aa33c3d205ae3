//! The examples `tone_map` and `histogram` from outside: files of every kind, whole and broken, exit codes, reports, pictures.
#![cfg(feature = "headless")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::cli;
use common::random::Rng;
use image::{DynamicImage, ImageFormat, Rgb32FImage, RgbImage};
use serde_json::{Value, json};

/// A path for one test; nothing is there yet.
fn scratch(name: &str) -> PathBuf {
    cli::scratch(name).into()
}

fn file(name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = scratch(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Exit 2 with one line that says this, and none of the outputs written.
#[track_caller]
fn refused(name: &str, args: &[&str], says: &str, outputs: &[&Path]) {
    cli::assert_refused(name, args, says);
    for output in outputs {
        assert!(!output.exists(), "{name} {args:?} left {}", output.display());
    }
}

/// An image over eight decades, one pixel of it the brightest by far.
fn light(width: u32, height: u32) -> Rgb32FImage {
    let mut rng = Rng::new(3);
    let mut image = Rgb32FImage::from_fn(width, height, |_, _| {
        let size = 10f32.powf(8.0 * rng.unit() as f32 - 5.0);
        image::Rgb([0, 1, 2].map(|_| size * rng.unit() as f32))
    });
    image.put_pixel(width / 3, height / 2, image::Rgb([5000.0, 2500.0, 1000.0]));
    image
}

fn encode(image: DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

/// The same image in every format that is read.
fn formats() -> [(&'static str, Vec<u8>); 3] {
    let float = || DynamicImage::ImageRgb32F(light(37, 23));
    let mut rng = Rng::new(4);
    let eight = RgbImage::from_fn(37, 23, |x, y| {
        let white = (x, y) == (5, 7);
        image::Rgb([0, 1, 2].map(|_| if white { 255 } else { rng.below(256) as u8 }))
    });
    [
        ("light.exr", encode(float(), ImageFormat::OpenExr)),
        ("light.hdr", encode(float(), ImageFormat::Hdr)),
        ("light.png", encode(DynamicImage::ImageRgb8(eight), ImageFormat::Png)),
    ]
}

// --- tone_map ---

#[test]
fn every_format_is_mapped() {
    for (name, bytes) in formats() {
        let (input, output) = (file(name, &bytes), scratch(&format!("{name}.mapped.png")));
        for api in ["gl33", "es30"] {
            // Both have captions, and are 12 times as large to have room for them.
            let both = (2 * 12 * 37 + 2 * 16 + 16 + 2 * (480 - 12 * 37), 48 + 12 * 23 + 16);
            for (operator, size) in [("linear", (37, 23)), ("reinhard", (37, 23)), ("both", both)] {
                let files = ["--quick", "--input", text(&input), "--output", text(&output)];
                let report =
                    cli::passed("tone_map", &[&files[..], &["--api", api, "--operator", operator]].concat());
                assert_eq!(report["size"], json!([37, 23]), "{name}");
                let picture = image::open(&output).unwrap().into_rgb8();
                assert_eq!(picture.dimensions(), size, "{name} {operator}");
                match (operator, name) {
                    // What was white stays white, and so everything is what it was.
                    ("linear", "light.png") => {
                        assert!(picture == image::open(&input).unwrap().into_rgb8());
                    }
                    ("linear", _) => {
                        assert_eq!(picture.get_pixel(12, 11).0[0], 255, "{name}: the maximum becomes one");
                        let bright = picture.pixels().filter(|p| p.0[0] > 128).count();
                        assert!(bright < 20, "{name}: {bright} bright pixels beside one of 5000");
                    }
                    ("reinhard", _) => {
                        let shown = picture.pixels().filter(|p| (20..235).contains(&p.0[1])).count();
                        assert!(shown > 100, "{name}: {shown} pixels between black and white");
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn without_an_image_a_scene_is_rendered() {
    let output = scratch("scene.png");
    let report = cli::passed("tone_map", &["--quick", "--width", "128", "--output", text(&output)]);
    assert_eq!(report["size"], json!([128, 64]));
    // The sun is 20000, and a pixel holds some of it at least.
    let largest = report["largest"].as_f64().unwrap();
    assert!((2000.0..=20000.1).contains(&largest), "{largest}");
    let parts: Vec<_> = report["rows"].as_array().unwrap().iter().map(|row| row["by"].clone()).collect();
    assert!(parts.contains(&json!("2x2 windows")) && parts.contains(&json!("CPU")), "{parts:?}");
    for part in ["Reinhard", "all of it"] {
        let by = |who: &str| {
            report["rows"].as_array().unwrap().iter().any(|row| row["part"] == part && row["by"] == who)
        };
        assert!(by("CPU"), "{part}");
    }
    assert_eq!(report["filtered"] == true, parts.contains(&json!("2x2, filtered")), "{parts:?}");
    // Each 3 times as large for its caption.
    assert_eq!(
        image::open(&output).unwrap().into_rgb8().dimensions(),
        (2 * (480 + 16) + 16, 48 + 3 * 64 + 16)
    );
    let svg = scratch("scene.svg");
    cli::passed("tone_map", &["--quick", "--width", "128", "--output", text(&svg)]);
    let svg = cli::figure(&svg, &[]);
    assert!(
        svg.contains("\nlinear: divided by the largest channel, ") && svg.contains("becomes 0.18\n"),
        "{svg}"
    );
    assert_eq!(svg.matches("<image ").count(), 2);
}

/// The ends of what is let through: nothing overflows or is lost, whatever the key and the white.
#[test]
fn images_of_extreme_light_are_mapped() {
    for (name, size) in [("faint", 1e-18f32), ("glaring", 1e29)] {
        let mut image = Rgb32FImage::from_pixel(9, 7, image::Rgb([0.0; 3]));
        image.put_pixel(4, 3, image::Rgb([size, 0.0, 0.0]));
        image.put_pixel(5, 3, image::Rgb([0.02 * size, 0.01 * size, 0.0]));
        let exr = encode(DynamicImage::ImageRgb32F(image), ImageFormat::OpenExr);
        let (input, output) = (file(&format!("{name}.exr"), exr), scratch("extreme.png"));
        for key in ["1e-6", "1e6"] {
            let files = ["--quick", "--input", text(&input), "--output", text(&output), "--key", key];
            for white in [&[][..], &["--white", "1e-3"], &["--white", "1e12"]] {
                cli::passed("tone_map", &[&files[..], white].concat());
            }
        }
    }
}

#[test]
fn images_that_are_none_are_bad_input() {
    let (output, json) = (scratch("none.png"), scratch("none.json"));
    let outputs = ["--output", text(&output), "--json", text(&json)];
    let check = |input: &Path, says: &str| {
        refused("tone_map", &[&["--input", text(input)], &outputs[..]].concat(), says, &[&output, &json]);
    };
    check(&scratch("there is none.hdr"), "there is none.hdr");
    check(Path::new(env!("CARGO_TARGET_TMPDIR")), "cannot read");
    check(&file("empty.png", b""), "no PNG, Radiance HDR or OpenEXR image");
    check(&file("text.png", b"a picture is worth a thousand words"), "no PNG, Radiance HDR or OpenEXR image");
    check(&file("other.bmp", b"BM6\0\0\0\0\0\0\0"), "cannot read");
    check(&file("black.png", encode(DynamicImage::new_rgb8(5, 4), ImageFormat::Png)), "is black");
    for (k, bad) in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY].into_iter().enumerate() {
        let mut image = light(7, 5);
        image.put_pixel(4, 3, image::Rgb([1.0, bad, 1.0]));
        let exr = encode(DynamicImage::ImageRgb32F(image), ImageFormat::OpenExr);
        check(&file(&format!("bad-{k}.exr"), exr), "pixel (4, 3)");
    }
    // More than 32 bits are good for, or less; and light of which other channels leave nothing.
    for (name, [r, g, b]) in [
        ("bright", [1e38, 1e37, 1e37]),
        ("dim", [1e-33, 0.0, 0.0]),
        ("subnormal", [1e-40; 3]),
        ("odd", [-5.0, 0.1, 0.5]),
    ] {
        let image = Rgb32FImage::from_pixel(5, 4, image::Rgb([r, g, b]));
        let exr = encode(DynamicImage::ImageRgb32F(image), ImageFormat::OpenExr);
        check(&file(&format!("{name}.exr"), exr), &format!("{name}.exr: the largest luminance is"));
    }
    // A header that promises far more than there is.
    let huge = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 4000000000 +X 4000000000\n";
    check(&file("huge.hdr", huge), "cannot read");
    for (name, bytes) in formats() {
        for share in [1, 3, 5, 7] {
            let cut = file(&format!("cut-{share}-{name}"), &bytes[..bytes.len() * share / 8]);
            check(&cut, "cannot read");
        }
    }
}

/// A byte changed anywhere: a picture or one line, and never a panic.
#[test]
fn damaged_images_do_no_harm() {
    let mut rng = Rng::new(8);
    for (name, bytes) in formats() {
        for k in 0..6 {
            let mut damaged = bytes.clone();
            let at = rng.below(if k < 3 { 64 } else { bytes.len() });
            damaged[at] = damaged[at].wrapping_add(1 + rng.below(255) as u8);
            let (input, output) = (file(&format!("damaged-{name}"), damaged), scratch("damaged.png"));
            let args = ["--quick", "--input", text(&input), "--output", text(&output)];
            let cli::Ran { code, stderr, .. } = cli::run("tone_map", &args);
            let harmless = match code {
                0 => output.exists(),
                2 => stderr.lines().count() == 1 && !output.exists(),
                _ => false,
            };
            assert!(harmless, "{name} with byte {at} changed: {code} {stderr}");
        }
    }
}

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    let png = file("flags.png", encode(DynamicImage::new_rgb8(5, 4), ImageFormat::Png));
    let numbers = file("flags.txt", "1 2 3");
    let (png, numbers) = (text(&png), text(&numbers));
    let before = [png, numbers].map(|path| fs::read(path).unwrap());
    let cases: &[(&str, &[&str], &str)] = &[
        ("tone_map", &["--width", "100"], "--width 100"),
        ("tone_map", &["--width", "0"], "--width 0"),
        ("tone_map", &["--key", "0"], "--key 0"),
        ("tone_map", &["--key", "NaN"], "--key NaN"),
        ("tone_map", &["--white=-1"], "--white -1"),
        ("tone_map", &["--operator", "best"], "--operator"),
        ("tone_map", &["--output", "no such folder/a.png"], "folder does not exist"),
        ("tone_map", &["--input", png, "--output", png], "would be replaced"),
        ("tone_map", &["--input", png, "--width", "64"], "--width"),
        ("histogram", &["--bins", "0"], "--bins 0"),
        ("histogram", &["--bins", "65537"], "from 1 to 65536"),
        ("histogram", &["--min", "2", "--max", "1"], "min, max"),
        ("histogram", &["--min", "NaN"], "min, max"),
        ("histogram", &["--count", "0"], "--count 0"),
        ("histogram", &["--count", "5", "--numbers", numbers], "--count"),
        ("histogram", &["--image", png, "--numbers", numbers], "--image"),
        ("histogram", &["--channel", "red"], "--image"),
        ("histogram", &["--function", "x", "--min", "1"], "--min"),
        ("histogram", &["--outside", "there"], "--outside"),
        ("histogram", &["--plot", "no such folder/a.png"], "folder does not exist"),
        ("histogram", &["--image", png, "--plot", png], "would be replaced"),
        ("histogram", &["--numbers", numbers, "--plot", numbers], "ends in .svg or .png"),
        ("tone_map", &["--output", "a.jpg"], "ends in .svg or .png"),
        ("histogram", &["--numbers", numbers, "--weights", "no such file"], "no such file"),
    ];
    for (name, args, says) in cases {
        refused(name, &[&["--quick"], *args].concat(), says, &[]);
    }
    assert_eq!(before, [png, numbers].map(|path| fs::read(path).unwrap()), "inputs are as they were");
}

// --- histogram ---

/// The column of a report's rows.
fn column(report: &Value, name: &str) -> Vec<f64> {
    report["rows"].as_array().unwrap().iter().map(|row| row[name].as_f64().unwrap()).collect()
}

#[test]
fn numbers_are_counted() {
    let numbers = file("numbers.txt", "0, 0.5 1.5\n\n2.5;2.75\t-7\n1e3 4\n");
    let plot = scratch("numbers.png");
    for api in ["gl33", "es30"] {
        let common = ["--numbers", text(&numbers), "--api", api];
        let run = |args: &[&str]| cli::passed("histogram", &[&common[..], args].concat());
        let range = ["--bins", "4", "--min", "0", "--max", "4"];
        let clamped = run(&[&range[..], &["--plot", text(&plot)]].concat());
        assert_eq!(column(&clamped, "count"), [3.0, 1.0, 2.0, 2.0]);
        assert_eq!(column(&clamped, "from"), [0.0, 1.0, 2.0, 3.0]);
        let dropped = run(&[&range[..], &["--outside", "drop"]].concat());
        assert_eq!(column(&dropped, "count"), [2.0, 1.0, 2.0, 0.0]);
        let apart = run(&[&range[..], &["--outside", "apart"]].concat());
        assert_eq!(
            (column(&apart, "count"), &apart["below"], &apart["above"]),
            (vec![2.0, 1.0, 2.0, 0.0], &json!(1.0), &json!(2.0))
        );
        let own = run(&["--bins", "3", "--function", "x < 1.0 ? 0.0 : 2.0"]);
        assert_eq!(column(&own, "count"), [3.0, 0.0, 5.0]);
        let whole = run(&["--bins", "3", "--function", "float bin(float x) {\n    return x * 0.5;\n}"]);
        assert_eq!(column(&whole, "count"), [4.0, 2.0, 2.0]);
        let weights = file("weights.txt", "1 10 100 1000 10000 0.5 0.25 -4");
        let summed = run(&[&range[..], &["--weights", text(&weights)]].concat());
        assert_eq!(column(&summed, "weight"), [11.5, 100.0, 11000.0, -3.75]);
    }
    let picture = image::open(&plot).unwrap().into_rgb8();
    let blue = picture.pixels().filter(|p| p.0[2] > 150 && p.0[0] < 50).count();
    assert!(blue > 10_000, "{blue} pixels of bars");
    // As other systems write it.
    let marked = file("marked.txt", "\u{feff}1\r\n2\r\n");
    assert_eq!(
        column(&cli::passed("histogram", &["--numbers", text(&marked), "--bins", "2"]), "count"),
        [1.0, 1.0]
    );
    let spaced = ["--bins", "3", "--function", "float bin (float x) { return x; }"];
    let commented = ["--bins", "3", "--function", "x // as it is"];
    for own in [spaced, commented] {
        let counts = cli::passed("histogram", &[&["--numbers", text(&numbers)], &own[..]].concat());
        assert_eq!(column(&counts, "count"), [3.0, 1.0, 4.0]);
    }
    // Equal numbers have a range too.
    let huge =
        cli::passed("histogram", &["--numbers", text(&file("huge.txt", "3.4e38 3.4e38")), "--bins", "8"]);
    assert_eq!(column(&huge, "count").iter().sum::<f64>(), 2.0);
    let same = cli::passed("histogram", &["--numbers", text(&file("same.txt", "3 3 3")), "--bins", "2"]);
    assert_eq!(column(&same, "count").iter().sum::<f64>(), 3.0);
}

#[test]
fn images_and_random_numbers_are_counted() {
    for (name, bytes) in formats() {
        let input = file(&format!("counted-{name}"), &bytes);
        for channel in ["luminance", "red", "blue"] {
            let args = ["--image", text(&input), "--channel", channel, "--bins", "7"];
            let counts = column(&cli::passed("histogram", &args), "count");
            assert_eq!(counts.iter().sum::<f64>(), 37.0 * 23.0, "{name} {channel}");
        }
    }
    let random = cli::passed("histogram", &["--quick", "--count", "30000", "--bins", "32"]);
    assert_eq!((column(&random, "count").iter().sum::<f64>(), &random["numbers"]), (30000.0, &json!(30000)));
}

#[test]
fn numbers_that_are_none_are_bad_input() {
    let (plot, json) = (scratch("bad.png"), scratch("bad.json"));
    let outputs = ["--plot", text(&plot), "--json", text(&json)];
    let check = |args: &[&str], says: &str| {
        refused("histogram", &[args, &outputs[..]].concat(), says, &[&plot, &json]);
    };
    for (k, (bytes, says)) in [
        (&b"1 2\n3 four 5\n"[..], "line 2: `four` is no number"),
        (b"1\n2\nNaN\n", "line 3: `NaN` is not a finite"),
        (b"1 inf", "line 1: `inf` is not a finite"),
        (b"1e39", "line 1: `1e39` is not a finite"),
        (b"1.2.3", "`1.2.3` is no number"),
        (b" ,;\n", "holds no number"),
        (b"", "holds no number"),
        (b"1 2 \xff\xfe", "is no text"),
        (b"1 \x1b[31m2", "`\\u{1b}[31m2` is no number"),
    ]
    .into_iter()
    .enumerate()
    {
        check(&["--numbers", text(&file(&format!("bad-{k}.txt"), bytes))], says);
    }
    check(&["--numbers", text(&scratch("no numbers.txt"))], "no numbers.txt");
    if cfg!(unix) {
        check(&["--numbers", "/dev/zero"], "/dev/zero has more than");
    }
    check(&["--image", text(&file("bad.hdr", "1 2 3"))], "no PNG, Radiance HDR or OpenEXR image");
    let (three, two) = (file("three.txt", "1 2 3"), file("two.txt", "1 2"));
    check(&["--numbers", text(&three), "--weights", text(&two)], "2 weights for 3 numbers");
    for (function, says) in [
        ("x + ", "--function"),
        ("float bin(float x) {\n    float y = x;\n    return y * z;\n}", "bin:3"),
        ("float bin(float y);", "--function"),
        ("uniform float z; float bin(float x) { return x * z; }", "`z`"),
        ("#include \"no/such.glsl\"\nfloat bin(float x) { return x; }", "no/such.glsl"),
    ] {
        for api in ["gl33", "es30"] {
            check(&["--numbers", text(&three), "--function", function, "--api", api], says);
        }
    }
}

/// A disk that is full leaves no half of a picture. The limit is of 512 bytes; the signal would end the program.
#[cfg(target_os = "linux")]
#[test]
fn half_a_picture_is_removed() {
    let (output, plot) = (scratch("full.png"), scratch("full-plot.png"));
    for (name, args) in [
        ("tone_map", ["--width", "64", "--output", text(&output)]),
        ("histogram", ["--count", "999", "--plot", text(&plot)]),
    ] {
        let program = cli::command(name).get_program().to_owned();
        let mut limited = Command::new("sh");
        limited.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$@\"", "sh"]).arg(program).arg("--quick");
        limited.args(args).env("MESA_SHADER_CACHE_DISABLE", "true").env_remove("TEXLA_API");
        let cli::Ran { code, stderr, .. } = cli::finish(&mut limited, b"");
        assert_eq!(code, 2, "{name}: {stderr}");
        assert!(stderr.lines().count() == 1 && stderr.contains("cannot write"), "{name}: {stderr}");
        assert!(!Path::new(args[3]).exists(), "{name} left {}", args[3]);
    }
}
