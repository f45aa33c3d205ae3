//! The example `tables` from outside: what it runs, what it keeps, its page, and comparisons of two books.
#![cfg(all(feature = "headless", unix))]

#[allow(dead_code)] // names alone are of interest here
#[path = "../examples/tables/catalog/mod.rs"]
mod catalog;
mod common;
#[path = "../examples/support/count.rs"]
mod support; // of which `text` needs this function
#[path = "../examples/tables/text.rs"]
#[allow(dead_code)]
mod text;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::cli::{Ran, assert_refused, command, finish, run, scratch};
use serde_json::{Value, json};

/// An empty folder for a book or for programs.
fn folder(name: &str) -> PathBuf {
    let path = PathBuf::from(scratch(name));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn text_of(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// `tables` among other programs: scripts in place of those that it would run.
struct Stage(PathBuf);

impl Stage {
    fn new(name: &str) -> Self {
        let stage = Stage(folder(name));
        let program = stage.0.join("tables");
        if fs::hard_link(command("tables").get_program(), &program).is_err() {
            fs::copy(command("tables").get_program(), &program).unwrap();
        }
        stage
    }

    /// A program that ends with this code, and leaves this report if it is one.
    fn program(&self, name: &str, report: Option<&Value>, code: i32) -> &Self {
        let path = self.0.join(name);
        let json = report.map_or(String::new(), |report| format!("cat > \"$json\" <<'END'\n{report}\nEND\n"));
        let find = "while [ $# -gt 0 ]; do if [ \"$1\" = --json ]; then json=$2; fi; shift; done";
        fs::write(&path, format!("#!/bin/sh\n{find}\n{json}echo the last line\nexit {code}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// All programs, each of which passes at once.
    fn all(&self) -> &Self {
        for chapter in catalog::chapters() {
            self.program(chapter.program.name(), Some(&passing(1.0)), 0);
        }
        self
    }

    fn full(&self, out: &Path) -> Command {
        let mut command = Command::new(self.0.join("tables"));
        command.env_remove("TEXLA_API").env_remove("TEXLA_DEVICE");
        command.args(["--no-build", "--out", text_of(out)]);
        command
    }

    fn command(&self, out: &Path) -> Command {
        let mut command = self.full(out);
        command.arg("--quick");
        command
    }

    #[track_caller]
    fn run(&self, out: &Path, args: &[&str]) -> Ran {
        finish(self.command(out).args(args), b"")
    }
}

/// What a histogram would report.
fn passing(ms: f64) -> Value {
    json!({
        "schema": 1, "rows": [], "numbers": 100, "bins": 4, "largest_bin": 3, "cpu_ms": 2.0 * ms,
        "ms": ms, "ms_least": 0.9 * ms, "ms_most": 1.1 * ms,
        "checks": [
            { "name": "error over its bound", "bound": 1.0, "value": 0.25, "pass": true },
            { "name": "bins that differ", "bound": 0.0, "value": 0.0, "pass": true },
        ],
    })
}

fn book(out: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(out.join("book.json")).unwrap()).unwrap()
}

fn page(out: &Path) -> String {
    fs::read_to_string(out.join("index.html")).unwrap()
}

/// A copy of a book with something else in it.
fn changed(out: &Path, name: &str, change: impl FnOnce(&mut Value)) -> PathBuf {
    let (to, mut value) = (folder(name), book(out));
    change(&mut value);
    fs::write(to.join("book.json"), value.to_string()).unwrap();
    to
}

/// All pictures have a text, and nothing is fetched.
#[track_caller]
fn assert_self_contained(page: &str) {
    for tag in ["<img", "<script", "<link", "<iframe", "<object", "<source", "<use"] {
        for element in page.split(tag).skip(1).map(|rest| rest.split('>').next().unwrap()) {
            let links = ["src=\"", "href=\""].iter().flat_map(|name| element.split(name).skip(1));
            links.for_each(|link| assert!(link.starts_with("data:"), "{tag}{element:.80}"));
            let alt = element.split("alt=\"").nth(1).and_then(|rest| rest.split('"').next());
            assert!(tag != "<img" || alt.is_some_and(|alt| alt.len() > 20), "{tag}{element:.80}");
        }
    }
    assert!(!page.contains("@import") && !page.contains("url("));
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
}

#[test]
fn flags_that_make_no_sense_are_bad_input() {
    let empty = folder("empty");
    let empty = text_of(&empty);
    let a_file = common::cli::write("a-file", "text");
    let cases: [(&[&str], &str); 7] = [
        (&["--only", "figure33"], "expected one of device, table44-1"),
        (&["--only", "histogram,"], "expected one of"),
        (&["--page", "--out", empty], "no book.json there"),
        (&["--against", empty], "no book.json there"),
        (&["--page", "--only", "histogram"], "cannot be used with"),
        (&["--quick", "--no-build", "--only", "histogram", "--limit", "0"], "--limit 0"),
        (&["--quick", "--no-build", "--only", "histogram", "--out", &a_file], "--out"),
    ];
    for (args, text) in cases {
        assert_refused("tables", args, text);
    }
    let Ran { code, stdout, .. } = run("tables", &["--help"]);
    assert!(
        code == 0 && ["--only", "--against", "--page", "--limit"].iter().all(|flag| stdout.contains(flag))
    );
}

#[test]
fn damaged_and_foreign_books_are_one_line() {
    let stage = Stage::new("damaged-stage");
    stage.program("histogram", Some(&passing(1.0)), 0);
    let out = folder("damaged");
    assert_eq!(stage.run(&out, &["--only", "histogram"]).code, 0);
    type Damage = fn(&mut Value);
    let cases: [(Damage, &str); 10] = [
        (|b| b["schema"] = json!(7), "schema 7, expected 1"),
        (|b| *b = json!({ "example": "histogram", "rows": [] }), "names no schema"),
        (|b| *b = json!([1, 2]), "names no schema"),
        (|b| b["chapters"][0]["seconds"] = json!("long"), "invalid type"),
        (|b| b["chapters"][0]["seconds"] = json!(-1.0), "no number of seconds"),
        (|b| b["chapters"][0]["tables"][0]["figures"][0]["better"] = json!("blue"), "unknown variant"),
        (|b| b["chapters"][0]["tables"][0]["figures"][0]["labels"] = json!([]), "labels of its table"),
        (|b| b["chapters"][0]["tables"][0]["figures"][0]["value"] = json!(-3.0), "outside its spread"),
        (|b| b["chapters"][0]["pictures"] = json!([["../../etc/passwd", "a file"]]), "plain names"),
        (|b| b["chapters"] = json!([b["chapters"][0], b["chapters"][0]]), "is there twice"),
    ];
    for (damage, text) in cases {
        let damaged = changed(&out, "damaged-copy", damage);
        assert_refused("tables", &["--page", "--out", text_of(&damaged)], text);
        assert_refused("tables", &["--page", "--out", text_of(&out), "--against", text_of(&damaged)], text);
        // Nor is it written over by a run.
        let Ran { code, stderr, .. } = stage.run(&damaged, &["--only", "histogram"]);
        assert!(code == 2 && stderr.contains(text), "{stderr}");
    }
    fs::write(out.join("book.json"), "{ \"schema\": 1, ").unwrap();
    assert_refused("tables", &["--page", "--out", text_of(&out)], "no JSON");
}

#[test]
fn chapters_are_run_kept_and_shown() {
    let out = folder("real");
    let args = ["--quick", "--no-build", "--out", text_of(&out), "--only"];
    let Ran { code, stdout, stderr } = run("tables", &[&args[..], &["histogram,matrix-rk20"]].concat());
    assert_eq!(code, 0, "{stdout} {stderr}");
    let first = book(&out);
    assert_eq!(
        (&first["schema"], &first["quick"], &first["finished"]),
        (&json!(1), &json!(true), &json!(false))
    );
    let chapters = first["chapters"].as_array().unwrap();
    let names: Vec<&str> = chapters.iter().map(|c| c["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["matrix-rk20", "histogram"]);
    // Numbers are those of the program's own report.
    let report: Value =
        serde_json::from_str(&fs::read_to_string(out.join("histogram/report.json")).unwrap()).unwrap();
    let time = &chapters[1]["tables"][0]["figures"][0];
    assert_eq!((&time["value"], &time["cpu"]), (&report["ms"], &report["cpu_ms"]));
    assert_eq!(time["spread"], json!([report["ms_least"], report["ms_most"]]));
    assert_eq!(chapters[1]["checks"], report["checks"]);
    assert!(fs::read_to_string(out.join("histogram/log.txt")).unwrap().contains("million points a second"));
    let shown = page(&out);
    assert_self_contained(&shown);
    assert_eq!(shown.matches("<img").count(), 2);
    assert!(shown.contains(&text::three(report["ms"].as_f64().unwrap())));
    // Written again from the record alone.
    assert_eq!(run("tables", &["--page", "--out", text_of(&out)]).code, 0);
    assert_eq!(page(&out), shown);
    // Only what is named is run anew.
    assert_eq!(run("tables", &[&args[..], &["histogram"]].concat()).code, 0);
    assert_eq!(book(&out)["chapters"][0], first["chapters"][0]);
}

#[test]
fn every_chapter_is_on_the_page() {
    let stage = Stage::new("all-stage");
    let out = folder("all");
    let Ran { code, stdout, stderr } = stage.all().run(&out, &[]);
    assert_eq!(code, 0, "{stdout} {stderr}");
    let (page, book) = (page(&out), book(&out));
    assert_self_contained(&page);
    assert_eq!(book["finished"], true);
    let ids = |id: &str| page.matches(&format!(" id=\"{id}\"")).count();
    for chapter in catalog::chapters() {
        let there = usize::from(chapter.is_of(true));
        assert_eq!(ids(chapter.name), there, "{}", chapter.name);
        assert_eq!(page.matches(&format!("href=\"#{}\"", chapter.name)).count(), there, "{}", chapter.name);
    }
    let quick = catalog::chapters().filter(|chapter| chapter.is_of(true)).count();
    assert_eq!(page.matches("passed: 2 checks").count(), 2 * quick);
    // What is whole is begun anew.
    assert!(!stage.run(&out, &[]).stdout.contains("done before"));
    // Benchmarks are of the full book, or asked for.
    let added = stage.run(&out, &["--only", "operations,predication"]);
    assert_eq!(added.code, 0, "{}", added.stderr);
    let chapters = self::book(&out)["chapters"].as_array().unwrap().len();
    assert_eq!(chapters, quick + 2);
    let full = finish(&mut stage.full(&folder("full")), b"");
    assert!(full.stdout.contains(&format!("{} chapters", catalog::chapters().count())), "{}", full.stdout);
}

#[test]
fn failures_are_shown_and_the_rest_is_run() {
    let stage = Stage::new("failing-stage");
    let mut failing = passing(1.0);
    failing["checks"][0] =
        json!({ "name": "error over its bound", "bound": 1.0, "value": 2.5, "pass": false });
    stage.program("histogram", Some(&failing), 1).program("coverage", None, 3).program("reuse", None, 0);
    stage.program("cavity", Some(&passing(1.0)), 0);
    fs::write(stage.0.join("caustics"), "#!/bin/sh\nexec sleep 100\n").unwrap();
    fs::set_permissions(stage.0.join("caustics"), fs::Permissions::from_mode(0o755)).unwrap();
    let out = folder("failing");
    let only = "histogram,coverage,reuse,caustics,tone-map,cavity";
    let Ran { code, stdout, .. } = stage.run(&out, &["--limit", "1", "--only", only]);
    assert_eq!(code, 1, "{stdout}");
    let page = page(&out);
    for text in [
        "FAILED: 1 of 2 checks",
        "FAILED: exit 3: the last line",
        "FAILED: it has written no report",
        "FAILED: no end within 1 s",
        "tone_map cannot be run",
        "passed: 2 checks",
    ] {
        assert!(stdout.contains(text) && page.contains(text), "{text}: {stdout}");
    }
    // A failure is no result to be kept: it is run again, and what passed is not.
    stage.all();
    assert_eq!(stage.run(&out, &[]).code, 0);
}

#[test]
fn an_interrupted_run_goes_on() {
    let stage = Stage::new("interrupted-stage");
    stage.all();
    let slow = stage.0.join("solve");
    fs::write(&slow, "#!/bin/sh\nexec sleep 100\n").unwrap();
    let out = folder("interrupted");
    let mut child = stage.command(&out).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // The third chapter is the one that sleeps.
    assert!(lines.any(|line| line.unwrap().starts_with("table44-1")));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{stderr}");
    assert!(stderr.contains("interrupted; the same command goes on"), "{stderr}");
    let kept = book(&out);
    assert_eq!(run("tables", &["--page", "--out", text_of(&out)]).code, 0, "the page of what is done");
    assert_eq!((kept["chapters"].as_array().unwrap().len(), &kept["finished"]), (2, &json!(false)));

    // Only what is missing is run, and what depends on a program that has changed since.
    stage.program("solve", Some(&passing(1.0)), 0);
    let Ran { code, stdout, .. } = stage.run(&out, &[]);
    assert_eq!(code, 0, "{stdout}");
    assert!(stdout.contains("2 of 23 chapters done before"), "{stdout}");
    let now = book(&out);
    assert_eq!((&now["chapters"][0], &now["finished"]), (&kept["chapters"][0], &json!(true)));
}

#[test]
fn comparisons_mark_what_has_changed_and_fail_for_what_got_worse() {
    let stage = Stage::new("compared-stage");
    stage.program("histogram", Some(&passing(1.0)), 0);
    let out = folder("compared");
    assert_eq!(stage.run(&out, &["--only", "histogram"]).code, 0);
    let against = |here: &Path, there: &Path| -> (i32, String, String) {
        let ran = run("tables", &["--page", "--out", text_of(here), "--against", text_of(there)]);
        (ran.code, ran.stdout, page(here))
    };
    // Itself.
    let same = changed(&out, "compared-same", |_| ());
    let (code, stdout, shown) = against(&same, &out);
    assert!(code == 0 && shown.contains("No check got worse."));
    assert!(!stdout.contains("worse, ") && !shown.contains("WORSE"));

    // A seeded slowdown: marked, and no failure, since machines are shared.
    let slow = changed(&out, "compared-slow", |b| {
        let f = &mut b["chapters"][0]["tables"][0]["figures"][0];
        f["value"] = json!(2.0);
        f["spread"] = json!([1.8, 2.2]);
    });
    let (code, stdout, shown) = against(&slow, &out);
    assert!(
        code == 0 && stdout.contains("time: worse, 0.500x") && shown.contains("0.500x WORSE!"),
        "{stdout}"
    );
    let (code, stdout, shown) = against(&out, &slow);
    assert!(code == 0 && stdout.contains("time: better, 2x") && shown.contains("2x better!"), "{stdout}");
    // A count that is gone, a bound that gives way to a worse value, the second of two checks of one name: no good.
    let counted = |better: &str| {
        let better = json!(better);
        changed(&out, "compared-counted", |b| b["chapters"][0]["tables"][0]["figures"][0]["better"] = better)
    };
    let gone = changed(&out, "compared-gone", |b| {
        b["chapters"][0]["tables"][0]["figures"].as_array_mut().unwrap().remove(0);
    });
    let (code, stdout, _) = against(&gone, &counted("same"));
    assert!(code == 1 && stdout.contains("is missing here"), "{stdout}");
    // Times may go: some programs leave out what would take long.
    assert_eq!(against(&gone, &counted("less")).0, 0);
    let moved = changed(&out, "compared-moved", |b| {
        let check = &mut b["chapters"][0]["checks"][0];
        (check["bound"], check["value"]) = (json!(1e6), json!(1e5));
    });
    let (code, stdout, _) = against(&moved, &out);
    assert!(code == 1 && stdout.contains("past the bound of there"), "{stdout}");
    let twice = changed(&out, "compared-twice", |b| {
        let checks = b["chapters"][0]["checks"].as_array_mut().unwrap();
        checks.push(checks[0].clone());
    });
    assert_eq!(against(&out, &twice).0, 1);
    // Within the rounds it is none.
    let noise = changed(&out, "compared-noise", |b| {
        let f = &mut b["chapters"][0]["tables"][0]["figures"][0];
        f["value"] = json!(1.15);
        f["spread"] = json!([1.05, 1.3]);
    });
    let (code, stdout, _) = against(&noise, &out);
    assert!(code == 0 && !stdout.contains("worse, "), "{stdout}");

    // Seeded wrong numbers.
    type Wrong = fn(&mut Value);
    let cases: [(Wrong, &str); 6] = [
        (|b| b["chapters"][0]["checks"][0]["pass"] = json!(false), "passed there and fails here"),
        (|b| b["chapters"][0]["checks"][0]["value"] = json!(1.5), "is past its bound here"),
        (|b| b["chapters"][0]["checks"][1]["value"] = json!(1.0), "is past its bound here"),
        (|b| drop(b["chapters"][0]["checks"].as_array_mut().unwrap().remove(0)), "is missing here"),
        (|b| b["chapters"][0]["tables"][0]["figures"][1]["value"] = json!(2.0), "3 there, 2 here"),
        (|b| b["chapters"][0]["exit"] = json!(1), "passed there, FAILED here"),
    ];
    for (wrong, text) in cases {
        let wrong = changed(&out, "compared-wrong", wrong);
        let (code, stdout, shown) = against(&wrong, &out);
        assert!(code == 1 && stdout.contains(text) && shown.contains(text), "{text}: {stdout}");
    }

    // Another size: of that nothing is better or worse.
    let other = changed(&out, "compared-size", |b| {
        b["quick"] = json!(false);
        b["chapters"][0]["tables"][0]["figures"][1]["value"] = json!(2.0);
    });
    let (code, stdout, shown) = against(&other, &out);
    assert_eq!(code, 0, "{stdout}");
    assert!(shown.contains("Incomparable") && !shown.contains("CHANGED!"));

    // Another device: said, shown, and counts may differ.
    let other = changed(&out, "compared-other", |b| {
        b["machine"]["device"] = json!("another");
        b["chapters"][0]["tables"][0]["figures"][1]["value"] = json!(2.0);
        b["chapters"][0]["checks"].as_array_mut().unwrap().remove(0);
    });
    let (code, stdout, shown) = against(&other, &out);
    assert_eq!(code, 0, "{stdout}");
    assert!(shown.contains("Incomparable") && shown.contains("another") && shown.contains("CHANGED!"));
}

#[test]
fn numbers_have_three_digits() {
    let cases = [
        (0.0, "0"),
        (1.0 / 3.0, "0.333"),
        (9.999, "10.0"),
        (99.96, "100"),
        (1234.5, "1230"),
        (-0.04567, "-0.0457"),
        (1.5e-7, "1.50e-7"),
        (12_345_678.5, "1.23e7"),
        (65_536.0, "65536"),
        (f64::NAN, "-"),
    ];
    for (value, shown) in cases {
        assert_eq!(text::three(value), shown);
    }
    assert_eq!((text::times(2.0), text::duration(99.6)), ("2x".to_owned(), "1 min 40 s".to_owned()));
}

#[test]
fn results_of_several_devices_stand_side_by_side() {
    let stage = Stage::new("results-stage");
    let (slow, fast, page) = (folder("slow"), folder("fast"), folder("results").join("RESULTS.md"));
    for (out, ms) in [(&slow, 8.0), (&fast, 4.0)] {
        stage.program("histogram", Some(&passing(ms)), 0);
        assert_eq!(stage.run(out, &["--only", "histogram"]).code, 0);
    }
    let results = |folders: &[&str]| {
        let mut args = vec!["--results", text_of(&page)];
        args.extend(folders);
        run("tables", &args)
    };
    let [slow, fast] = [text_of(&slow), text_of(&fast)];
    let Ran { code, stderr, .. } = results(&[slow, fast]);
    assert_eq!(code, 0, "{stderr}");
    let text = fs::read_to_string(&page).unwrap();
    let name = |folder: &str| Path::new(folder).file_name().unwrap().to_str().unwrap().to_owned();
    let row = text.lines().find(|line| line.contains("| 8 ms |") && line.contains("| 4 ms |"));
    assert!(row.is_some(), "{text}");
    for folder in [slow, fast] {
        assert!(text.contains(&format!("**{}**", name(folder))), "{text}");
        assert!(text.contains(&format!("- {}: passed", name(folder))), "{text}");
    }
    assert!(!text.contains("## Table 44-1"), "what nobody has run: {text}");

    let full = folder("full");
    assert_eq!(finish(stage.full(&full).args(["--only", "histogram"]), b"").code, 0);
    let refused = |folders: &[&str], why: &str| {
        let Ran { code, stderr, .. } = results(folders);
        assert!(code == 2 && stderr.contains(why) && stderr.lines().count() == 1, "{folders:?}: {stderr}");
    };
    refused(&[slow, slow], "two folders are called");
    refused(&[slow, text_of(&full)], "of a quick run");
    refused(&[slow, "/nowhere"], "/nowhere: no book.json there");
    refused(&[], "DIR");
    assert_refused("tables", &[slow], "--results");
    assert_refused("tables", &["--results", text_of(&page), slow, "--page"], "--page");
}

/// No number in it is typed by hand.
#[test]
fn the_results_of_the_project_are_those_of_its_books() {
    let (root, page) = (Path::new(env!("CARGO_MANIFEST_DIR")), folder("project").join("RESULTS.md"));
    let books = ["h200", "llvmpipe"].map(|name| root.join("benches/results").join(name));
    let [h200, llvmpipe] = books.each_ref().map(|book| text_of(book));
    let Ran { code, stderr, .. } = run("tables", &["--results", text_of(&page), h200, llvmpipe]);
    assert_eq!(code, 0, "{stderr}");
    let [written, kept] =
        [&page, &root.join("benches/RESULTS.md")].map(|file| fs::read_to_string(file).unwrap());
    let differing = written.lines().zip(kept.lines()).find(|(a, b)| a != b);
    assert!(written == kept, "benches/RESULTS.md is not what `--results` writes: {differing:?}");
    for book in books {
        let book: Value = serde_json::from_str(&fs::read_to_string(book.join("book.json")).unwrap()).unwrap();
        let ran =
            |c: &catalog::Chapter| book["chapters"].as_array().unwrap().iter().any(|r| r["name"] == c.name);
        assert!(catalog::chapters().all(ran) && book["quick"] == false);
    }
}

#[test]
fn a_book_belongs_to_one_run_of_its_kind() {
    let stage = Stage::new("alone-stage");
    stage.program("histogram", Some(&passing(1.0)), 0);
    let out = folder("alone");
    assert_eq!(stage.run(&out, &["--only", "histogram"]).code, 0);
    let before = book(&out);
    let refused = |command: &mut Command, why: &str| {
        let Ran { code, stderr, .. } = finish(command.args(["--only", "histogram"]), b"");
        assert!(code == 2 && stderr.contains(why) && stderr.lines().count() == 1, "{stderr}");
        assert_eq!(book(&out), before);
    };
    // One of another size would leave nothing of it.
    refused(&mut stage.full(&out), "name another --out");
    let lock = fs::File::create(out.join("lock")).unwrap();
    lock.lock().unwrap();
    refused(&mut stage.command(&out), "another run is writing its book there");
    drop(lock);
    assert_eq!(stage.run(&out, &["--only", "histogram"]).code, 0);
    // What would be waited for is no book.
    fs::remove_file(out.join("book.json")).unwrap();
    let pipe = Command::new("mkfifo").arg(out.join("book.json")).status().unwrap();
    assert!(pipe.success());
    assert_refused("tables", &["--page", "--out", text_of(&out)], "expected a file");
}
