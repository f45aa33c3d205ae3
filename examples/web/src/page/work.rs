//! What a page asks for and waits for: a solve, a script, a packing. Scripts and packings are best called in a Worker.

use std::io::{self, Write};
use std::time::Duration;

use js_sys::{Function, Uint32Array};
use texla::Device;
use texla::gl::Counters;
use texla::script::{Interpreter, ScriptError, ScriptErrorKind, ScriptRun, parse};
use texla::solve::{Slice, Tried};
use wasm_bindgen::prelude::*;

use super::gpu::Gpu;
use super::{Page, object, thrown};
use crate::support::Failure;
use crate::{packing, solve};

/// A solve under way.
#[wasm_bindgen]
pub struct Solve {
    solve: solve::Solve,
    device: Device,
    before: Counters,
}

#[wasm_bindgen]
impl Solve {
    /// Of a built-in problem of a side, or of the text of a file.
    #[wasm_bindgen(constructor)]
    pub fn new(gpu: &Gpu, name: &str, side: usize, text: Option<Vec<u8>>, tolerance: f64) -> Page<Solve> {
        let a = match text {
            None => solve::built_in(name, side),
            Some(text) => solve::from_text(name, &text),
        };
        let (device, before) = (gpu.device.clone(), gpu.device.counters());
        let solve = a.and_then(|a| solve::Solve::new(&device, a, tolerance)).map_err(thrown)?;
        Ok(Solve { solve, device, before })
    }

    /// Goes on for so many milliseconds, or less where nothing can be done before the device has. It does not wait.
    pub fn advance(&mut self, milliseconds: f64) -> Page<JsValue> {
        let time = Duration::try_from_secs_f64(1e-3 * milliseconds).unwrap_or_default();
        let progress = self.solve.advance(Slice::time(time)).map_err(thrown)?;
        Ok(object([
            ("iterations", (progress.iterations as f64).into()),
            ("residual", progress.residual.into()),
            ("done", progress.done.into()),
        ]))
    }

    /// What it came to; waits where it is not done.
    pub fn finish(self) -> Page<JsValue> {
        let Solve { solve, device, before } = self;
        let solved = solve.finish().map_err(thrown)?;
        let (work, report) = (device.counters().since(&before), &solved.report);
        let told = |tried: &Tried| format!("{}: {}", tried.choice, tried.why);
        let tried: Vec<String> = report.tried.iter().map(told).collect();
        Ok(object([
            ("matrix", solved.matrix.into()),
            ("by", report.choice.to_string().into()),
            ("reason", report.solved.reason.to_string().into()),
            ("converged", report.converged().into()),
            ("iterations", (report.iterations() as f64).into()),
            ("certified", report.solved.true_residual.into()),
            ("residual", solved.residual.into()),
            ("setUp", (1e3 * report.set_up.as_secs_f64()).into()),
            ("solving", (1e3 * report.solving.as_secs_f64()).into()),
            ("compiling", (1e3 * report.compiling.as_secs_f64()).into()),
            ("tried", tried.join("\n").into()),
            ("draws", (work.draws as f64).into()),
            ("readbacks", (report.solved.readbacks_in_loop as f64).into()),
            ("hash", format!("{:016x}", crate::results::hash(&solved.solution)).into()),
        ]))
    }
}

/// Lines for JavaScript, as they come.
struct Lines<'a>(&'a Function);

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        // A page that cannot show it has lost it; the script goes on.
        let _ = self.0.call1(&JsValue::NULL, &text.as_ref().into());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A script under way.
#[wasm_bindgen]
pub struct Script {
    interpreter: Interpreter,
    run: Result<ScriptRun, ScriptError>,
    before: Counters,
}

#[wasm_bindgen]
impl Script {
    /// Reads it; what is wrong is told when it is to go on.
    #[wasm_bindgen(constructor)]
    pub fn new(gpu: &Gpu, text: &str) -> Script {
        let interpreter = Interpreter::new(&gpu.device);
        Script { interpreter, run: parse(text, "").map(ScriptRun::new), before: gpu.device.counters() }
    }

    /// Goes on for so many milliseconds, or a statement; `print(text)` is told what it prints. At its end comes what it took, or what
    /// is wrong, in words with line and column; nothing before.
    pub fn advance(&mut self, milliseconds: f64, print: &Function) -> Page<JsValue> {
        let time = Duration::try_from_secs_f64(1e-3 * milliseconds).unwrap_or_default();
        // A write each time that something is printed.
        let mut out = io::BufWriter::new(Lines(print));
        let done = match &mut self.run {
            Ok(run) => self.interpreter.advance(run, time, &mut out),
            Err(error) => Err(error.clone()),
        };
        let _ = out.flush();
        match done {
            Ok(false) => Ok(JsValue::UNDEFINED),
            Ok(true) => {
                let work = self.interpreter.device().counters().since(&self.before);
                Ok(object([
                    ("draws", (work.draws as f64).into()),
                    ("readbacks", (work.readbacks as f64).into()),
                ]))
            }
            Err(error) => match &error.kind {
                ScriptErrorKind::Library(library) if **library == texla::Error::ContextLost => {
                    Err(thrown(Failure::from(texla::Error::ContextLost)))
                }
                _ => Ok(object([
                    ("error", error.to_string().into()),
                    ("line", (error.line as f64).into()),
                    ("column", (error.column as f64).into()),
                ])),
            },
        }
    }
}

/// Packs one of the paper's expressions, or the rows of a matrix.
#[wasm_bindgen]
pub fn pack(name: &str, rows: Option<String>, proposals: u32) -> Page<JsValue> {
    let e = rows.map_or_else(|| packing::instance(name), |rows| packing::written(&rows));
    let packed = e.and_then(|e| packing::pack(&e, u64::from(proposals))).map_err(thrown)?;
    let [before, after] = packed.drawn.each_ref().map(|drawn| JsValue::from(Uint32Array::from(&drawn[..])));
    Ok(object([
        ("unknowns", (packed.unknowns as f64).into()),
        ("entries", (packed.entries as f64).into()),
        ("before", packed.before.into()),
        ("after", packed.after.into()),
        ("bound", packed.bound.into()),
        ("by", packed.by.into()),
        ("drawnBefore", before),
        ("drawnAfter", after),
        ("order", Uint32Array::from(&packed.order[..]).into()),
        ("shader", packed.shader.into()),
    ]))
}
