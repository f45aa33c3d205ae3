//! Running a script and looking at what it left.

use texla::script::{Interpreter, ScriptError, parse};
use texla::{Device, Shape};

/// Runs a script that must succeed; returns what it printed.
#[track_caller]
pub fn run(interpreter: &mut Interpreter, text: &str) -> String {
    let program = parse(text, "test").unwrap_or_else(|e| panic!("{e}"));
    let mut out = Vec::new();
    interpreter.run(&program, &mut out).unwrap_or_else(|e| panic!("{e}"));
    String::from_utf8(out).unwrap()
}

/// What a script of its own prints.
#[track_caller]
pub fn printed(device: &Device, text: &str) -> String {
    run(&mut Interpreter::new(device), text)
}

/// The error of a script that must fail, when it is read or when it runs.
#[track_caller]
pub fn refused(interpreter: &mut Interpreter, text: &str) -> ScriptError {
    let program = match parse(text, "test") {
        Ok(program) => program,
        Err(e) => return e,
    };
    match interpreter.run(&program, &mut std::io::sink()) {
        Ok(()) => panic!("{text:?} runs"),
        Err(e) => e,
    }
}

/// Shape and elements of a variable.
#[track_caller]
pub fn value(interpreter: &Interpreter, name: &str) -> (Shape, Vec<f32>) {
    let value = interpreter.get(name).unwrap_or_else(|| panic!("there is no {name}"));
    (value.shape(), value.read().unwrap())
}
