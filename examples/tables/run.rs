//! Runs a chapter's program as a child, and keeps what it writes.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::catalog::{Chapter, Program};
use crate::extract;
use crate::record::Record;
use crate::support::{Failure, Result, read_file};

/// Of a report.
const MOST_BYTES: u64 = 64 << 20;

/// What all children of a run share.
pub struct Plan {
    pub out: PathBuf,
    pub quick: bool,
    pub api: Option<String>,
    /// A program that takes longer is taken to hang.
    pub limit: Duration,
    pub commit: Option<String>,
    /// The folder of the programs.
    pub programs: PathBuf,
}

/// Set by Ctrl-C.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

impl Plan {
    /// Beside this program.
    pub fn new(out: &Path, quick: bool, api: Option<String>, limit: Duration) -> Result<Self> {
        let this = std::env::current_exe().map_err(Failure::unsolved)?;
        let programs = this.parent().map(Path::to_owned).unwrap_or_default();
        Ok(Plan { out: out.to_owned(), quick, api, limit, commit: commit(), programs })
    }

    /// `target/PROFILE/examples` is where they are: cargo's name of the profile.
    pub fn profile(&self) -> String {
        match self.programs.parent().and_then(Path::file_name).and_then(|name| name.to_str()) {
            None | Some("debug") => "dev".to_owned(),
            Some(name) => name.to_owned(),
        }
    }

    /// Builds what the chapters need, as this program was built, all in one go.
    pub fn build(&self, chapters: &[&Chapter]) -> Result {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.args(["build", "--all-features", "--profile", &self.profile()]);
        for chapter in chapters {
            command.args(match chapter.program {
                Program::Example(name) => ["--example", name],
                Program::Bench(name) => ["--bench", name],
            });
        }
        // The manifest of this package is in the folder of all examples.
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(".")));
        // On standard output a line for each thing built; what is for people goes to standard error.
        command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
        let built =
            command.output().map_err(|e| Failure::unsolved(format_args!("cargo cannot be run: {e}")))?;
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Err(Failure::unsolved("interrupted while the programs were built"));
        }
        if !built.status.success() {
            return Err(Failure::unsolved("the programs cannot be built: see above"));
        }
        let artifacts = built.stdout.split(|byte| *byte == b'\n');
        let artifacts: Vec<Value> = artifacts.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        chapters
            .iter()
            .filter(|c| matches!(c.program, Program::Bench(_)))
            .try_for_each(|c| self.beside(c, &artifacts))
    }

    /// Cargo gives benchmarks names of its own, elsewhere: this one shall lie beside the examples, as old as it is.
    fn beside(&self, chapter: &Chapter, artifacts: &[Value]) -> Result {
        let (name, program) = (chapter.program.name(), self.program(chapter));
        let of = |a: &&Value| a["target"]["name"] == name && a["target"]["kind"][0] == "bench";
        let built = artifacts.iter().find(of).and_then(|artifact| artifact["executable"].as_str());
        let built = built
            .ok_or_else(|| Failure::unsolved(format_args!("cargo does not say where it has built {name}")))?;
        let _ = fs::remove_file(&program); // an older one, if any
        fs::hard_link(built, &program)
            .map_err(|e| Failure::unsolved(format_args!("{}: {e}", program.display())))
    }

    fn program(&self, chapter: &Chapter) -> PathBuf {
        self.programs.join(format!("{}{}", chapter.program.name(), std::env::consts::EXE_SUFFIX))
    }

    /// What the child is told, but for where it writes.
    fn flags(&self, chapter: &Chapter) -> Vec<String> {
        let mut flags: Vec<String> = chapter.flags.iter().map(|flag| (*flag).to_owned()).collect();
        flags.extend(self.quick.then(|| "--quick".to_owned()));
        flags.extend(self.api.iter().map(|api| format!("--api={api}")));
        flags
    }

    /// Whether a record is what running the chapter again would give: it passed, with these flags, and neither project
    /// nor program have changed since.
    pub fn holds(&self, chapter: &Chapter, record: &Record) -> bool {
        let changed = fs::metadata(self.program(chapter)).and_then(|found| found.modified());
        let older = changed.is_ok_and(|at| since_1970(at) <= record.begun);
        let there = record.pictures.iter().all(|(file, _)| self.out.join(chapter.name).join(file).is_file());
        record.passed()
            && older
            && there
            && record.flags == self.flags(chapter)
            && record.commit == self.commit
    }

    /// Runs a chapter to its end. `waiting` is called now and then; nothing is returned if Ctrl-C came.
    pub fn run(&self, chapter: &Chapter, waiting: impl FnMut(Duration)) -> Result<Option<Record>> {
        let folder = self.out.join(chapter.name);
        let fault = |error: io::Error| Failure::bad_input(format_args!("{}: {error}", folder.display()));
        fs::create_dir_all(&folder).map_err(fault)?;
        let json = folder.join("report.json");
        // What an earlier run has left there would pass for this one's.
        let stale = chapter.outputs.iter().map(|output| folder.join(output.file)).chain([json.clone()]);
        stale.for_each(|file| drop(fs::remove_file(file)));

        let flags = self.flags(chapter);
        let mut command = Command::new(self.program(chapter));
        command.args(&flags).arg("--json").arg(&json).stdin(Stdio::null());
        for output in chapter.outputs.iter().filter(|output| !output.flag.is_empty()) {
            command.arg(output.flag).arg(if output.folder {
                folder.clone()
            } else {
                folder.join(output.file)
            });
        }
        let log = File::create(folder.join("log.txt")).map_err(fault)?;
        command.stdout(log.try_clone().map_err(fault)?).stderr(log);
        let (begun, started) = (SystemTime::now(), Instant::now());
        let ended = match command.spawn() {
            Ok(child) => wait(child, self.limit, waiting).map_err(fault)?,
            Err(error) => Ended::Not(format!("{} cannot be run: {error}", command.get_program().display())),
        };
        if matches!(ended, Ended::Interrupted) {
            return Ok(None);
        }
        let report =
            read_file(&json, MOST_BYTES).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        let (exit, error) = match &ended {
            Ended::By(status) => (status.code(), why(*status, report.as_ref(), &folder)),
            Ended::Not(why) => (None, Some(why.clone())),
            Ended::Interrupted => (None, None),
        };
        let report = report.unwrap_or_default();
        let pictures = chapter.outputs.iter().filter(|o| !o.alt.is_empty() && folder.join(o.file).is_file());
        Ok(Some(Record {
            name: chapter.name.to_owned(),
            example: chapter.program.name().to_owned(),
            flags,
            commit: self.commit.clone(),
            begun: since_1970(begun),
            seconds: started.elapsed().as_secs_f64(),
            exit,
            error,
            tables: extract::tables(chapter, &report),
            facts: extract::facts(chapter, &report),
            checks: extract::checks(&report).unwrap_or_default(),
            pictures: pictures.map(|o| (o.file.to_owned(), o.alt.to_owned())).collect(),
        }))
    }
}

fn since_1970(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

enum Ended {
    By(ExitStatus),
    Interrupted,
    Not(String),
}

/// Waits for a child, and ends it where it has to end.
fn wait(mut child: Child, limit: Duration, mut waiting: impl FnMut(Duration)) -> io::Result<Ended> {
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            // On a terminal Ctrl-C has reached the child too.
            return Ok(if INTERRUPTED.load(Ordering::Relaxed) {
                Ended::Interrupted
            } else {
                Ended::By(status)
            });
        }
        let (interrupted, late) = (INTERRUPTED.load(Ordering::Relaxed), started.elapsed() > limit);
        if interrupted || late {
            let _ = child.kill(); // it may just have ended
            child.wait()?;
            return Ok(match interrupted {
                true => Ended::Interrupted,
                false => Ended::Not(format!("no end within {} s", limit.as_secs())),
            });
        }
        waiting(started.elapsed());
        sleep(Duration::from_millis(20));
    }
}

/// Why a child has not ended well: what it has said itself, if it has.
fn why(status: ExitStatus, report: Option<&Value>, folder: &Path) -> Option<String> {
    let said = || {
        let log = fs::read_to_string(folder.join("log.txt")).unwrap_or_default();
        log.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing said").to_owned()
    };
    match (status.code(), report) {
        (Some(0), None) => Some("it has written no report".to_owned()),
        (Some(0), Some(report)) => {
            extract::checks(report).is_none().then(|| "its report has no checks".to_owned())
        }
        (Some(code), Some(report)) => report["error"].as_str().map(|error| format!("exit {code}: {error}")),
        (Some(code), None) => Some(format!("exit {code}: {}", said())),
        (None, _) => Some(format!("{status}: {}", said())),
    }
}

/// The commit of the project, with `+` if files that git knows have changed.
fn commit() -> Option<String> {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(["-C", env!("CARGO_MANIFEST_DIR")]).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"])?;
    let changed =
        git(&["status", "--porcelain", "--untracked-files=no"]).is_none_or(|files| !files.is_empty());
    Some(commit + if changed { "+" } else { "" })
}
