//! The example `anisotropic_diffusion` from outside: pictures, reports, a user's image, flags that make no sense.
#![cfg(all(feature = "headless", feature = "pack"))]

mod common;

use common::cli;
use image::RgbImage;
use serde_json::json;

const NAME: &str = "anisotropic_diffusion";

/// Mean squares of the differences between neighbours along x and along y, in `columns`.
fn roughness(pixels: &[[u8; 3]], width: usize, columns: std::ops::Range<usize>) -> [f64; 2] {
    let rows = pixels.len() / width;
    let at = |x: usize, y: usize| f64::from(pixels[width * y + x][1]);
    let mean = |dx: usize, dy: usize| {
        let places = (0..rows - dy).flat_map(|y| (columns.start..columns.end - dx).map(move |x| (x, y)));
        let all: Vec<f64> = places.map(|(x, y)| (at(x + dx, y + dy) - at(x, y)).powi(2)).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    [mean(1, 0), mean(0, 1)]
}

#[test]
fn an_image_is_smoothed_along_the_direction() {
    let output = cli::scratch("along.png");
    for (api, angle, along) in [("gl33", "0", 0), ("es30", "90", 1)] {
        let flags = ["--quick", "--size", "96", "--steps", "60", "--api", api, "--across", "0"];
        let report = cli::passed(NAME, &[&flags[..], &["--angle", angle, "--output", &output]].concat());
        assert_eq!((&report["size"], &report["steps"]), (&json!([96, 96]), &json!(60)));
        assert_eq!(report["predicted_ms"], json!(null), "without --measure the rule decides");
        let pixels = cli::pixels(&output);
        assert_eq!(pixels.len(), 2 * 96 * 96);
        let [before, after] = [0..96, 96..192].map(|columns| roughness(&pixels, 192, columns));
        let kept = [0, 1].map(|axis| after[axis] / before[axis]);
        // 60 steps of 0.2 leave of a wave of two or three pixels next to nothing; across, all of it is there but what the
        // mean of many rows has taken.
        assert!(kept[along] < 0.02 && kept[1 - along] > 2.0 * kept[along], "{api}: {kept:?}");
    }
}

#[test]
fn a_choice_by_measurement_says_what_it_predicts() {
    let output = cli::scratch("measured.png");
    let flags = ["--quick", "--size", "64", "--steps", "3", "--measure", "--output", &output];
    let report = cli::passed(NAME, &flags);
    assert!(
        report["predicted_ms"].as_f64().unwrap() > 0.0
            && report["plan"].as_str().unwrap().contains("predicted")
    );
    // What is read and computed for a block of 32 pixels: 9 coefficients each, no fetch of a coefficient.
    assert!(report["instructions"].as_u64().unwrap() >= 32 * 9 / 4);
    assert!((8.0..9.0 * 32.0).contains(&report["fetches"].as_f64().unwrap()));
    let rows = report["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    assert!(rows.iter().all(|row| row["ms"].as_f64().unwrap() > 0.0 && row["predicted_ms"].is_number()));
}

#[test]
fn a_users_image_is_taken_in_whole_blocks() {
    let (input, output) = (cli::scratch("in.png"), cli::scratch("out.png"));
    let ramp = |x: u32, y: u32| image::Rgb([(3 * x) as u8, (5 * y) as u8, 90]);
    RgbImage::from_fn(70, 41, ramp).save(&input).unwrap();
    let files = ["--quick", "--input", &input, "--output", &output];
    let report = cli::passed(NAME, &[&files[..], &["--steps", "1"]].concat());
    assert_eq!(report["size"], json!([64, 41]));
    let pixels = cli::pixels(&output);
    assert_eq!(pixels.len(), 128 * 41);
    for y in 0..41 {
        for x in 0..64 {
            let [before, after] = [x, 64 + x].map(|x| pixels[128 * y + x]);
            assert_eq!(before, ramp(x as u32, y as u32).0, "linear light and back");
            // A channel that is the same everywhere stays so.
            assert_eq!(after[2], 90);
        }
    }
    RgbImage::from_fn(31, 8, ramp).save(&input).unwrap();
    cli::assert_refused(NAME, &files, "31 columns");
}

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    for (args, says) in [
        (&["--size", "100"][..], "--size 100"),
        (&["--size", "0"], "--size 0"),
        (&["--steps", "0"], "--steps 0"),
        (&["--across", "1.5"], "--across 1.5"),
        (&["--time", "0.5"], "--time 0.5"),
        (&["--angle", "NaN"], "--angle NaN"),
        (&["--input", "no such file.png"], "no such file.png"),
        (&["--input", "a.png", "--size", "64"], "--size"),
        (&["--output", "no such folder/a.png"], "folder does not exist"),
    ] {
        cli::assert_refused(NAME, &[&["--quick"], args].concat(), says);
    }
}
