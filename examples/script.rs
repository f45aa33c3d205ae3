//! The matrix script: a file, standard input, or a prompt.

use std::io::{BufRead, IsTerminal, Read, Write, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use support::{CommonArgs, Failure, Report, Result, golden, json, say, standard_streams};
use texla::Device;
use texla::host::FileId;
use texla::script::{FileAccess, Interpreter, Precision, ScriptErrorKind, parse};

mod support;

/// Runs a matrix script on the GPU. The language is described in the guide of the documentation, chapter "script".
#[derive(clap::Parser)]
#[command(name = "script")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// The script, or - for standard input. Without it: a prompt on a terminal, otherwise standard input; with
    /// --quick the scripts that come with texla
    #[arg(value_hint = clap::ValueHint::FilePath)]
    file: Option<PathBuf>,
    /// In what `solve` and `\` solve where the script does not say: unknowns of 32 bits, pairs of floats iterated in 32 bits,
    /// or in pairs; auto takes pairs where 32 bits do not come to the bound
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(Precision::WORDS.iter().map(|(word, _)| *word)),
          ignore_case = true, default_value = "auto")]
    precision: String,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// The scripts that come with texla, and what they print.
const BUNDLED: [(&str, &str, &str); 3] = [
    ("cg.texla", include_str!("scripts/cg.texla"), include_str!("../tests/golden/cg.txt")),
    ("lcp.texla", include_str!("scripts/lcp.texla"), include_str!("../tests/golden/lcp.txt")),
    ("tour.texla", include_str!("scripts/tour.texla"), include_str!("../tests/golden/tour.txt")),
];

fn main() -> ExitCode {
    support::main_with("script", run)
}

fn precision(args: &Args) -> Precision {
    let known = Precision::WORDS.iter().find(|(word, _)| args.precision.eq_ignore_ascii_case(word));
    known.map_or(Precision::default(), |(_, precision)| *precision)
}

fn run(args: &Args, report: &mut Report) -> Result {
    // The script is read, and its mistakes are told, before a device is looked for.
    let script = args.file.as_ref().filter(|path| path.as_os_str() != "-");
    let source = match script {
        Some(path) => {
            let name = path.display().to_string();
            let text = std::fs::read(path).map_err(|e| Failure::bad_input(format!("{name}: {e}")))?;
            Some((text, name))
        }
        None if args.file.is_none() && (args.common.quick || stdin().is_terminal()) => None,
        None => Some((standard_input()?, "standard input".to_owned())),
    };
    let program = source.map(|(text, name)| parse(text, &name).map(|program| (program, name)));
    let program = program.transpose().map_err(Failure::at_place)?;

    let context = args.common.headless(report)?;
    let device = context.device();
    let mut interpreter = Interpreter::new(device)
        .with_files(FileAccess::From(PathBuf::new()))
        .with_precision(precision(args))
        .without(args.common.json.iter().filter_map(FileId::of))
        .without_saving_to(script.and_then(FileId::of))
        .without_saving_to(standard_streams().into_iter().map(|(file, _)| file));
    match program {
        Some((program, name)) => {
            let (started, before) = (Instant::now(), device.counters());
            let ran = interpreter.run(&program, &mut stdout());
            device.finish()?;
            note(report, &name, device, started, &before);
            match ran {
                // `| head` has seen enough; any other output that is lost is an error.
                Err(e) if matches!(e.kind, ScriptErrorKind::Output { closed: true, .. }) => Ok(()),
                ran => ran.map_err(Failure::at_place),
            }
        }
        None if args.common.quick => bundled(device, report),
        None => prompt(&mut interpreter, report),
    }
}

fn standard_input() -> Result<Vec<u8>> {
    let mut text = Vec::new();
    // A byte more than is accepted is enough to refuse it.
    let most = texla::script::MAX_SOURCE as u64 + 1;
    stdin().lock().take(most).read_to_end(&mut text).map_err(Failure::bad_input)?;
    Ok(text)
}

/// A row of the report: what a script took.
fn note(report: &mut Report, name: &str, device: &Device, started: Instant, before: &texla::gl::Counters) {
    let work = device.counters().since(before);
    report.row(json!({
        "script": name, "ms": started.elapsed().as_secs_f64() * 1e3,
        "draws": work.draws, "uploads": work.uploads, "readbacks": work.readbacks,
    }));
}

/// Runs the bundled scripts and compares what they print with what they should.
fn bundled(device: &Device, report: &mut Report) -> Result {
    for (name, text, expected) in BUNDLED {
        let program = parse(text, name).map_err(Failure::at_place)?;
        let (started, before) = (Instant::now(), device.counters());
        let mut out = Vec::new();
        Interpreter::new(device).run(&program, &mut out).map_err(Failure::at_place)?;
        device.finish()?;
        note(report, name, device, started, &before);
        let out = String::from_utf8_lossy(&out);
        say(format_args!("== {name}\n{}", out.trim_end()));
        let difference = golden::difference(&out, expected, 1e-4);
        if let Some(difference) = &difference {
            say(format_args!("{name}: {difference}"));
        }
        let wrong = f64::from(u8::from(difference.is_some()));
        report.at_most(format!("{name} prints what it should"), 0.0, wrong);
    }
    Ok(())
}

/// Reads statements from a terminal until its end. An error ends the statement, not the session; but where a statement takes
/// the report's file for one of the user's, the session ends there and the file stays as it is.
fn prompt(interpreter: &mut Interpreter, report: &mut Report) -> Result {
    say("texla matrix script; one statement a line, Ctrl-D ends");
    let mut text = String::new();
    let mut lines = stdin().lock();
    let mut entered = 0;
    loop {
        // A prompt that cannot be shown is no reason to stop.
        let _ = write!(stdout(), "{}", if text.is_empty() { "> " } else { "... " });
        let _ = stdout().flush();
        let before = text.len();
        match lines.read_line(&mut text) {
            Ok(0) => break,
            Ok(_) => {}
            // Not UTF-8: the line is lost, the session is not.
            Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
                say(format_args!("{e}"));
                text.truncate(before);
                continue;
            }
            Err(e) => return Err(Failure::bad_input(e)),
        }
        let done = match parse(&text, "") {
            Err(e) if e.is_unfinished() => continue,
            Err(e) => Err(e),
            Ok(program) => interpreter.run(&program, &mut stdout()),
        };
        match done {
            Ok(()) => {}
            Err(e) if matches!(e.kind, ScriptErrorKind::FileReserved { .. }) => {
                return Err(Failure::at_place(e));
            }
            Err(e) => say(e),
        }
        text.clear();
        entered += 1;
    }
    say("");
    report.set("entered", entered);
    Ok(())
}
