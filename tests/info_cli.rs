//! The example `info` from outside: everything that was found is in its report, and the profile in a file.
#![cfg(feature = "headless")]

mod common;

use std::fs;

use common::cli::{assert_refused, json, passed, run, scratch};
use common::harness::headless_with;
use texla::gl::{Api, Limits};
use texla::profile::DeviceProfile;

#[test]
fn the_report_has_everything() {
    for api in Api::ALL {
        let path = scratch(&format!("profile.{api}"));
        let (code, report) = json("info", &["--quick", "--api", &api.to_string(), "--profile", &path]);
        assert_eq!(code, 0, "{report}");
        assert_eq!(report["api"], api.to_string().as_str());
        let context = headless_with(api, Limits::default());
        // Every field that there is, by the names that `Debug` gives.
        let caps = context.device().capabilities();
        let shown = format!("{caps:#?}");
        let fields = shown.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     "));
        let names: Vec<&str> = fields.filter_map(|line| Some(line.trim().split_once(": ")?.0)).collect();
        assert!(names.len() > 20, "{shown}");
        for name in names {
            // Named by the report itself, or no ability.
            let named = ["fingerprint", "renderer", "vendor", "version"].contains(&name);
            assert!(named || !report["capabilities"][name].is_null(), "{name}: {report}");
        }
        assert_eq!(report["capabilities"]["max_texture_size"], caps.max_texture_size);
        assert_eq!(report["quirks"].as_array().unwrap().is_empty(), caps.loop_rounds == u32::MAX, "{report}");
        let profile: DeviceProfile = fs::read_to_string(&path).unwrap().parse().unwrap();
        assert_eq!(profile.device, caps.renderer);
        let rows = report["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 28);
        // JSON is read a last digit off.
        let draw = rows[0]["value"].as_f64().unwrap();
        assert!((draw / profile.draw - 1.0).abs() < 1e-12, "{draw} {profile:?}");
    }
}

#[test]
fn what_is_printed_can_be_attached() {
    passed("info", &["--quick"]);
    let printed = run("info", &["--quick"]).stdout;
    for part in ["renderer", "float_blend", "quirk", "texla device profile 1", "fetch.scattered = "] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    assert_refused("info", &["--profile", "no such folder/a.txt"], "folder does not exist");
    assert_refused("info", &["--api", "vulkan"], "--api");
    assert_refused("info", &["--json", "out/a", "--profile", "./out/a"], "two outputs");
}
