//! What the benchmarks share: options, rows measured in turns, medians.
//!
//! Not criterion: what counts here are ratios between rows, on machines whose speed drifts. So all rows are measured in
//! turn, round after round, and the medians of the rounds are compared.

// Each benchmark uses part of it.
#![allow(dead_code)]

use serde_json::{Value, json};
use support::clock::{self, Job, Rounds};
use support::{CommonArgs, Report};
use texla::profile::Workload;
use texla::{Device, Headless};

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

/// A number in a table; `-` where there is none.
pub fn or_dash(value: Option<impl std::fmt::Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| v.to_string())
}

/// One measured thing: what it does, elements (or operations) it is counted by, the row it is compared with.
pub struct Row {
    pub name: String,
    pub elements: f64,
    pub reference: Option<&'static str>,
    /// What a call (or an iteration of its own) comes to, where that is counted.
    pub work: Option<Workload>,
    /// Of a call, or of an iteration of its own.
    pub seconds: Rounds,
    /// Its own inside one call.
    iterations: usize,
}

impl Row {
    /// For the report: the name, and milliseconds with their spread over the rounds.
    pub fn json(&self) -> Value {
        self.seconds.times(1e3).in_row(json!({ "row": self.name }), "ms")
    }
}

pub struct Bench<'a> {
    device: &'a Device,
    pub rows: Vec<Row>,
    jobs: Vec<Job<'a>>,
    only: Option<String>,
}

impl<'a> Bench<'a> {
    /// No row yet; `only` keeps rows whose name holds it.
    pub fn new(device: &'a Device, only: Option<&str>) -> Self {
        Bench { device, rows: Vec::new(), jobs: Vec::new(), only: only.map(str::to_owned) }
    }

    pub fn row(
        &mut self,
        name: &str,
        elements: usize,
        reference: Option<&'static str>,
        run: impl FnMut() -> texla::Result<()> + 'a,
    ) {
        self.push(name, elements, reference, 1, run);
    }

    /// A row whose call does so many iterations.
    pub fn push(
        &mut self,
        name: &str,
        elements: usize,
        reference: Option<&'static str>,
        iterations: usize,
        mut run: impl FnMut() -> texla::Result<()> + 'a,
    ) {
        if self.only.as_ref().is_some_and(|o| !name.contains(o.as_str())) {
            return;
        }
        let (name, elements, seconds) = (name.to_owned(), elements as f64, Rounds::default());
        self.rows.push(Row { name, elements, reference, work: None, seconds, iterations });
        self.jobs.push(Box::new(move |times| Ok((0..times).try_for_each(|_| run())?)));
    }

    /// What each call of a row comes to.
    pub fn counted(&mut self, name: &str, work: Option<Workload>) {
        self.rows.iter_mut().filter(|row| row.name == name).for_each(|row| row.work = work);
    }

    /// Calibrates each row to about 30 ms a round, then measures all of them in turn.
    pub fn measure(&mut self, rounds: usize) {
        let _scope = self.device.scope().expect("scope");
        let times = clock::in_turns(self.device, &mut self.jobs, rounds, 0.03).expect("benchmark");
        for (row, times) in self.rows.iter_mut().zip(times) {
            row.seconds = times.times(1.0 / row.iterations as f64);
        }
    }
}
