//! What a page asks for and waits for: a solve, a script, a packing. Scripts and packings are best called in a Worker.

use std::io::{self, Write};
use std::time::Duration;

use js_sys::{Date, Function, Uint32Array};
use texla::gl::Counters;
use texla::script::{Interpreter, ScriptError, ScriptErrorKind, ScriptRun, parse};
use texla::solve::{DirectUse, Slice, Tried};
use texla::{Device, PendingRead, Scalar};
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
        // A problem by name is there to see iterations; a file by what is predicted to take least.
        let (a, direct) = match text {
            None => (solve::built_in(name, side), DirectUse::Last),
            Some(text) => (solve::from_text(name, &text), DirectUse::ByCost),
        };
        let (device, before) = (gpu.device.clone(), gpu.device.counters());
        let solve = a.and_then(|a| solve::Solve::new(&device, a, tolerance, direct)).map_err(thrown)?;
        Ok(Solve { solve, device, before })
    }

    /// Goes on for so many milliseconds, or less where nothing can be done before the device has. It does not wait.
    pub fn advance(&mut self, milliseconds: f64) -> Page<JsValue> {
        let time = Duration::try_from_secs_f64(1e-3 * milliseconds).unwrap_or_default();
        let progress = self.solve.advance(Slice::time(time)).map_err(thrown)?;
        Ok(object([
            ("iterations", (progress.iterations as f64).into()),
            ("residual", progress.residual.into()),
            ("kind", progress.kind.map(|kind| kind.to_string()).into()),
            ("done", progress.done.into()),
        ]))
    }

    /// What it came to; waits where it is not done.
    pub fn finish(self) -> Page<JsValue> {
        let Solve { solve, device, before } = self;
        let solved = solve.finish().map_err(thrown)?;
        let (work, report) = (device.counters().since(&before), &solved.report);
        let run = report.as_run();
        let told = |tried: &Tried| {
            let ms = 1e3 * (tried.set_up + tried.solving).as_secs_f64();
            format!("{}: {}, {ms:.0} ms", tried.choice, tried.why)
        };
        let tried = report.runs.iter().flat_map(|run| &run.tried).map(told);
        let given_up = report.given_up.iter().map(|attempt| format!("{}: {}", attempt.what, attempt.why));
        let tried: Vec<String> = tried.chain(given_up).collect();
        Ok(object([
            ("matrix", solved.matrix.into()),
            ("normal", report.normal.as_str().into()),
            ("by", report.by.to_string().into()),
            ("reason", report.solved.reason.to_string().into()),
            ("converged", report.converged().into()),
            ("iterations", (report.solved.iterations as f64).into()),
            ("certified", report.solved.true_residual.into()),
            ("residual", solved.residual.into()),
            ("setUp", (1e3 * run.set_up.as_secs_f64()).into()),
            ("solving", (1e3 * run.solving.as_secs_f64()).into()),
            ("compiling", (1e3 * run.compiling.as_secs_f64()).into()),
            ("tried", tried.join("\n").into()),
            ("draws", (work.draws as f64).into()),
            ("readbacks", (report.solved.readbacks_in_loop as f64).into()),
            ("hash", format!("{:016x}", crate::results::hash(&solved.solution)).into()),
        ]))
    }
}

/// Bytes of a script's output that a page shows.
const SHOWN: usize = 200_000;

/// Milliseconds of a script's first slice, and of all where the device takes long: a statement or a few.
const LEAST: f64 = 0.1;

/// What a script has printed in a slice: no more than is shown.
struct Printed {
    bytes: Vec<u8>,
    room: usize,
    lost: bool,
    told: bool,
}

impl Printed {
    /// Hands over what there is, and once says that the rest is not shown.
    fn tell(&mut self, print: &Function) {
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        self.bytes.clear();
        if self.lost && !self.told {
            self.told = true;
            text.push_str("\n… the rest is not shown\n");
        }
        if !text.is_empty() {
            // A page that cannot show it has lost it; the script goes on.
            let _ = print.call1(&JsValue::NULL, &text.into());
        }
    }
}

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fit = &bytes[..bytes.len().min(self.room)];
        self.bytes.extend(fit);
        self.room -= fit.len();
        self.lost |= fit.len() < bytes.len();
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
    printed: Printed,
    /// Read behind the last slice: until it has come, the device is not done with that slice's work.
    behind: Option<PendingRead>,
    /// When that slice began, and how long the next may be, in milliseconds: shorter where the device takes long.
    begun: f64,
    allowed: f64,
}

#[wasm_bindgen]
impl Script {
    /// Reads it; what is wrong is told when it is to go on.
    #[wasm_bindgen(constructor)]
    pub fn new(gpu: &Gpu, text: &str) -> Script {
        let interpreter = Interpreter::new(&gpu.device);
        let printed = Printed { bytes: Vec::new(), room: SHOWN, lost: false, told: false };
        Script {
            interpreter,
            run: parse(text, "").map(ScriptRun::new),
            before: gpu.device.counters(),
            printed,
            behind: None,
            begun: 0.0,
            allowed: LEAST,
        }
    }

    /// Goes on for so many milliseconds (`Infinity`: to the end), or a statement, or not at all where the device has not done what came
    /// before; `print(text)` is told what is printed. At its end comes what it took, or what is wrong, in words with line and column;
    /// nothing before.
    pub fn advance(&mut self, milliseconds: f64, print: &Function) -> Page<JsValue> {
        if let Some(behind) = &self.behind {
            if behind.poll().map_err(thrown)?.is_none() {
                return Ok(JsValue::UNDEFINED);
            }
            self.behind = None;
            let late = Date::now() - self.begun > 4.0 * milliseconds;
            self.allowed = if late { 0.5 * self.allowed } else { 2.0 * self.allowed };
        }
        self.allowed = self.allowed.clamp(LEAST, milliseconds.max(LEAST));
        self.begun = Date::now();
        let time = match milliseconds.is_finite() {
            true => Duration::try_from_secs_f64(1e-3 * self.allowed).unwrap_or_default(),
            false => Duration::MAX,
        };
        let done = match &mut self.run {
            Ok(run) => self.interpreter.advance(run, time, &mut self.printed),
            Err(error) => Err(error.clone()),
        };
        self.printed.tell(print);
        match done {
            Ok(false) => {
                self.wait_for_device().map_err(thrown)?;
                Ok(JsValue::UNDEFINED)
            }
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

impl Script {
    /// The next slice does nothing before the device is done with this one: what piles up there, no one can stop.
    fn wait_for_device(&mut self) -> texla::Result<()> {
        self.behind = Some(Scalar::new(self.interpreter.device(), 0.0)?.read_async()?);
        Ok(())
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
