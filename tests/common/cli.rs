//! Examples from outside: what the tests of their command lines share.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// What a run has come to.
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// An example, which cargo builds beside this test: `target/PROFILE/examples/NAME`. No variable of this process says
/// on what it runs.
pub fn command(example: &str) -> Command {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().and_then(Path::parent).unwrap();
    let program = profile.join("examples").join(format!("{example}{}", std::env::consts::EXE_SUFFIX));
    assert!(
        program.is_file(),
        "{} is not built: run `cargo build --example {example}` with the test's profile first (a plain `cargo test` does)",
        program.display()
    );
    let mut command = Command::new(program);
    command.env_remove("TEXLA_API").env_remove("TEXLA_DEVICE");
    command
}

/// Runs a command to its end, with `input` on its standard input. A panic or a signal fails the test.
#[track_caller]
pub fn finish(command: &mut Command, input: &[u8]) -> Ran {
    feed(command.stdout(Stdio::piped()).stderr(Stdio::piped()), input)
}

/// The same, its outputs where the command says.
#[track_caller]
pub fn feed(command: &mut Command, input: &[u8]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A program that refuses its flags does not read.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    ran(command, output)
}

/// Runs a command to its end, whose inputs and outputs may be files; of those that are not there is the text.
#[track_caller]
pub fn ended(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    ran(command, output)
}

#[track_caller]
fn ran(command: &Command, output: Output) -> Ran {
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(!stderr.contains("panicked"), "{command:?}: {stderr}");
    let code = output.status.code().unwrap_or_else(|| panic!("{command:?}: {}: {stderr}", output.status));
    Ran { code, stdout, stderr }
}

/// Runs an example.
#[track_caller]
pub fn run(example: &str, args: &[impl AsRef<OsStr>]) -> Ran {
    finish(command(example).args(args), b"")
}

/// Exit 2 with one line on standard error that begins with the example's name and holds `text`.
#[track_caller]
pub fn assert_refused(example: &str, args: &[&str], text: &str) {
    let Ran { code, stdout, stderr } = run(example, args);
    assert_eq!(code, 2, "{example} {args:?}: {stdout} {stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    assert_eq!(lines.len(), 1, "{example} {args:?}: {stderr}");
    let named = lines[0].starts_with(&format!("{example}: "));
    assert!(named && lines[0].contains(text), "{example} {args:?}: {stderr}");
}

/// Runs an example with `--json`: exit code and report.
#[track_caller]
pub fn json(example: &str, args: &[&str]) -> (i32, Value) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let path = scratch(&format!("{example}{}.json", COUNT.fetch_add(1, Ordering::Relaxed)));
    let Ran { code, stderr, .. } = finish(command(example).args(args).arg("--json").arg(&path), b"");
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{example} {args:?}: {e}; {stderr}"));
    (code, serde_json::from_str(&text).unwrap())
}

/// The report of a run that has to succeed: exit 0, and all checks pass, of which there are some.
#[track_caller]
pub fn passed(example: &str, args: &[&str]) -> Value {
    let (code, report) = json(example, args);
    assert_eq!(code, 0, "{example} {args:?}: {report}");
    assert_eq!(report["example"], example);
    let checks = report["checks"].as_array().unwrap();
    assert!(!checks.is_empty() && checks.iter().all(|check| check["pass"] == true), "{checks:?}");
    report
}

/// The path of a file of this test binary's own, with nothing there yet. It goes into command lines, and so is text.
pub fn scratch(name: &str) -> String {
    let path = super::scratch::folder().join(format!("{}-{name}", env!("CARGO_CRATE_NAME")));
    let _ = fs::remove_file(&path);
    path.into_os_string().into_string().unwrap()
}

/// The same with a text in it.
pub fn write(name: &str, text: &str) -> String {
    let path = scratch(name);
    fs::write(&path, text).unwrap();
    path
}

/// The pixels of a PNG file of 8-bit RGB, row by row from the top.
pub fn pixels(path: impl AsRef<Path>) -> Vec<[u8; 3]> {
    let file = BufReader::new(fs::File::open(path).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    assert_eq!(reader.output_color_type(), (png::ColorType::Rgb, png::BitDepth::Eight));
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut bytes).unwrap();
    bytes.as_chunks().0.to_vec()
}

/// An SVG figure, which has to say all these texts, each on its own.
#[track_caller]
pub fn figure(path: impl AsRef<Path>, texts: &[&str]) -> String {
    let svg = fs::read_to_string(path).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains("role=\"img\""), "{}", &svg[..200]);
    for text in texts {
        let said = text.replace('\'', "&apos;");
        assert!(svg.contains(&format!(">\n{said}\n</text>")), "{text} is not said: {svg}");
    }
    svg
}
