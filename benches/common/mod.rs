//! What the benchmarks share: options, rows measured in turns, medians.
//!
//! Not criterion: what counts here are ratios between rows, on machines whose speed drifts. So all rows are measured in
//! turn, round after round, and the medians of the rounds are compared.

// Each benchmark uses part of it.
#![allow(dead_code)]

use std::time::Instant;

use serde_json::{Value, json};
use support::{CommonArgs, Report};
use texla::profile::Workload;
use texla::{Device, Headless, Vector};

#[path = "../../examples/support/mod.rs"]
pub mod support;

/// The flags of every benchmark beside those that all examples have.
#[derive(clap::Args)]
pub struct BenchArgs {
    #[command(flatten)]
    pub common: CommonArgs,
    /// Rounds, whose median counts
    #[arg(long, value_name = "R", value_parser = positive)]
    pub rounds: Option<usize>,
    /// Only rows whose name contains TEXT
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// What `cargo bench` says to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

impl BenchArgs {
    /// What was asked for, or else one default for quick runs and one for all others.
    pub fn or<T>(&self, asked: Option<T>, [quick, full]: [T; 2]) -> T {
        asked.unwrap_or(if self.common.quick { quick } else { full })
    }

    /// Whether `--only` keeps a row of this name.
    pub fn keeps(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|part| name.contains(part.as_str()))
    }
}

/// A count of things without which there is nothing to measure.
pub fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "expected a whole number from 1 on".to_owned())
}

/// A context, its device named on the first line.
pub fn context(args: &BenchArgs, report: &mut Report) -> support::Result<Headless> {
    let context = args.common.headless(report)?;
    let device = context.device();
    println!("device {} ({}), {}", context.name(), device.api(), device.capabilities().version);
    Ok(context)
}

/// The median; of an even count the larger of the two in the middle.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A number in a table; `-` where there is none.
pub fn or_dash(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| v.to_string())
}

/// One measured thing: what it does, elements (or operations) it is counted by, the row it is compared with.
pub struct Row<'a> {
    pub name: String,
    pub elements: f64,
    pub reference: Option<&'static str>,
    /// What a call (or an iteration of its own) comes to, where that is counted.
    pub work: Option<Workload>,
    /// Iterations of its own inside one call.
    inner: usize,
    run: Box<dyn FnMut() -> usize + 'a>,
    seconds: Vec<f64>,
}

impl Row<'_> {
    /// Median of the rounds, in seconds.
    pub fn median(&self) -> f64 {
        self.seconds[self.seconds.len() / 2]
    }

    pub fn least(&self) -> f64 {
        self.seconds[0]
    }

    /// For the report: the name, and milliseconds with their spread over the rounds.
    pub fn json(&self) -> Value {
        let [least, most] = [self.seconds.first(), self.seconds.last()].map(|s| s.map(|s| 1e3 * s));
        json!({ "row": self.name, "ms": 1e3 * self.median(), "ms_least": least, "ms_most": most })
    }
}

/// Targets in turns. A draw that covers all of what the draw before it has left may spare the device that one: Mesa's
/// software rasteriser drops what is not rasterised yet.
pub struct Turns([Vector; 2]);

impl Turns {
    pub fn new(device: &Device, n: usize) -> Self {
        Turns([0, 1].map(|_| Vector::zeros(device, n).expect("target")))
    }

    pub fn next(&mut self) -> &mut Vector {
        self.0.swap(0, 1);
        &mut self.0[0]
    }
}

pub struct Bench<'a> {
    device: &'a Device,
    pub rows: Vec<Row<'a>>,
    only: Option<String>,
}

impl<'a> Bench<'a> {
    /// No row yet; `only` keeps rows whose name holds it.
    pub fn new(device: &'a Device, only: Option<&str>) -> Self {
        Bench { device, rows: Vec::new(), only: only.map(str::to_owned) }
    }

    pub fn row(
        &mut self,
        name: &str,
        elements: usize,
        reference: Option<&'static str>,
        mut run: impl FnMut() -> texla::Result<()> + 'a,
    ) {
        let run = Box::new(move || {
            run().expect("benchmark");
            1
        });
        self.push(name, elements, reference, run);
    }

    /// A row whose call says how many iterations it has done.
    pub fn push(
        &mut self,
        name: &str,
        elements: usize,
        reference: Option<&'static str>,
        run: Box<dyn FnMut() -> usize + 'a>,
    ) {
        if self.only.as_ref().is_some_and(|o| !name.contains(o.as_str())) {
            return;
        }
        let (name, elements) = (name.to_owned(), elements as f64);
        self.rows.push(Row { name, elements, reference, work: None, inner: 1, run, seconds: Vec::new() });
    }

    /// What each call of a row comes to.
    pub fn counted(&mut self, name: &str, work: Option<Workload>) {
        self.rows.iter_mut().filter(|row| row.name == name).for_each(|row| row.work = work);
    }

    /// Calibrates each row to about 30 ms a round, then measures all of them in turn.
    pub fn measure(&mut self, rounds: usize) {
        let device = self.device;
        let _scope = device.scope().expect("scope");
        for row in &mut self.rows {
            (row.run)();
            device.finish().expect("finish");
            let started = Instant::now();
            (row.run)();
            device.finish().expect("finish");
            row.inner = (0.03 / started.elapsed().as_secs_f64().max(1e-6)).clamp(1.0, 10_000.0) as usize;
        }
        for _ in 0..rounds.max(1) {
            for row in &mut self.rows {
                let started = Instant::now();
                let mut done = 0;
                for _ in 0..row.inner {
                    done += (row.run)();
                }
                device.finish().expect("finish");
                row.seconds.push(started.elapsed().as_secs_f64() / done as f64);
            }
        }
        for row in &mut self.rows {
            row.seconds.sort_by(f64::total_cmp);
        }
    }
}
