//! The tests that are built, one process each, with Mesa's variables by which it writes down or replaces shader texts.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::BUILD;

/// One test of one binary.
#[derive(Clone, Debug)]
pub struct Test {
    pub binary: PathBuf,
    /// `TARGET::TEST`.
    pub name: String,
}

impl Test {
    pub fn named(target: &str, test: &str) -> Self {
        Test { binary: binary(target), name: format!("{target}::{test}") }
    }
}

/// How many seconds may go by for one of the processor's.
const WAITING: u32 = 8;

/// What has become of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Passed,
    Failed,
    /// It ran past its limit.
    Hung,
}

/// The binary of a test target, which cargo builds beside this one: the newest of its name.
pub fn binary(target: &str) -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        let hash = name.strip_prefix(target).and_then(|rest| rest.strip_prefix('-')).unwrap_or_default();
        hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let all = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).filter(is_it);
    let newest = all.max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    newest.unwrap_or_else(|| panic!("the tests `{target}` are not built: {BUILD}"))
}

/// The test targets that draw in this process: the programs' tests ask for a device of their own, `pack` needs none.
fn targets() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let mut found = vec!["texla".to_owned()];
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_target = path.extension().is_some_and(|e| e == "rs") || path.join("main.rs").is_file();
        if is_target && !name.ends_with("_cli") && !["pack", "mutants"].contains(&name.as_str()) {
            found.push(name);
        }
    }
    found.sort();
    found
}

/// Every test of the targets wanted that is not ignored.
pub fn tests(wanted: impl Fn(&str) -> bool) -> Vec<Test> {
    let mut found = Vec::new();
    for target in targets().into_iter().filter(|target| wanted(target)) {
        let binary = binary(&target);
        let output = Command::new(&binary).args(["--list", "--format", "terse"]).output().unwrap();
        let ignored =
            Command::new(&binary).args(["--list", "--format", "terse", "--ignored"]).output().unwrap();
        let [all, ignored] = [output, ignored].map(|o| String::from_utf8(o.stdout).unwrap());
        let ignored: Vec<&str> = ignored.lines().collect();
        for line in all.lines().filter(|line| !ignored.contains(line)) {
            let Some(test) = line.strip_suffix(": test") else { continue };
            found.push(Test { binary: binary.clone(), name: format!("{target}::{test}") });
        }
    }
    found
}

/// The processor's time that a process and the children it has waited for have taken: a busy machine changes nothing.
fn used(process: u32) -> Option<Duration> {
    let line = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // After the name, which may hold anything: utime, stime, cutime and cstime, in hundredths of a second.
    let ticks: u64 =
        line.rsplit(')').next()?.split_whitespace().skip(11).take(4).flat_map(str::parse::<u64>).sum();
    Some(Duration::from_millis(10 * ticks))
}

/// Runs one test; `read` replaces texts, `dump` is where texts are written. With the outcome, the processor's time.
pub fn run(test: &Test, read: Option<&Path>, dump: &Path, limit: Duration) -> (Outcome, Duration) {
    let name = test.name.split_once("::").unwrap().1;
    let mut command = Command::new(&test.binary);
    command
        .args(["--exact", name, "--include-ignored"])
        .env("MESA_SHADER_DUMP_PATH", dump)
        .env_remove("MESA_SHADER_READ_PATH")
        .env("RUST_TEST_THREADS", "1")
        .env("RUST_BACKTRACE", "0")
        // Tests start programs of their own.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if let Some(read) = read {
        command.env("MESA_SHADER_READ_PATH", read);
    }
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    let mut time = Duration::ZERO;
    loop {
        time = used(child.id()).map_or(time, |t| t.max(time));
        match child.try_wait().unwrap() {
            Some(status) if status.success() => return (Outcome::Passed, time),
            Some(_) => return (Outcome::Failed, time),
            // One that waits takes no time.
            None if time > limit || started.elapsed() > WAITING * limit => {
                let group = format!("-{}", child.id());
                Command::new("kill").args(["-KILL", "--", &group]).status().unwrap();
                child.wait().unwrap();
                return (Outcome::Hung, time);
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
