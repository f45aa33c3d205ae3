//! What the benchmarks share: options, rows measured in turns, medians.
//!
//! Not criterion: what counts here are ratios between rows, on machines whose speed drifts. So all rows are measured in
//! turn, round after round, and the medians of the rounds are compared.

// Each benchmark uses part of it.
#![allow(dead_code)]

use std::time::Instant;

use texla::profile::Workload;
use texla::{Device, Result, Vector};

/// Command-line options: sizes, texts and switches by their flags, `--rounds R`, `--only TEXT`.
pub struct Options {
    sizes: Vec<(&'static str, usize)>,
    texts: Vec<(&'static str, Option<String>)>,
    switches: Vec<(&'static str, bool)>,
    pub rounds: usize,
    pub only: Option<String>,
}

impl Options {
    /// From the command line; `sizes` are flags with their defaults.
    pub fn read(sizes: &[(&'static str, usize)]) -> Self {
        Self::read_all(sizes, &[], &[])
    }

    /// With flags that take a text, and flags that take nothing. A size called `--rounds` is there for other defaults.
    pub fn read_all(
        sizes: &[(&'static str, usize)],
        texts: &[&'static str],
        switches: &[&'static str],
    ) -> Self {
        let mut o = Options {
            sizes: sizes.to_vec(),
            texts: texts.iter().map(|flag| (*flag, None)).collect(),
            switches: switches.iter().map(|flag| (*flag, false)).collect(),
            rounds: 9,
            only: None,
        };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut number =
                || args.next().and_then(|v| v.parse().ok()).unwrap_or_else(|| panic!("{arg} takes a number"));
            if let Some((_, value)) = o.sizes.iter_mut().find(|(flag, _)| *flag == arg) {
                *value = number();
                continue;
            }
            if let Some((_, text)) = o.texts.iter_mut().find(|(flag, _)| *flag == arg) {
                *text = Some(args.next().unwrap_or_else(|| panic!("{arg} takes a value")));
                continue;
            }
            if let Some((_, on)) = o.switches.iter_mut().find(|(flag, _)| *flag == arg) {
                *on = true;
                continue;
            }
            match arg.as_str() {
                "--rounds" => o.rounds = number(),
                "--only" => o.only = args.next(),
                "--bench" => {}
                _ => panic!("unknown option {arg}"),
            }
        }
        o
    }

    /// The size that a flag has set.
    pub fn size(&self, flag: &str) -> usize {
        self.sizes.iter().find(|(name, _)| *name == flag).expect("a declared flag").1
    }

    /// What stands behind a flag that takes a text.
    pub fn text(&self, flag: &str) -> Option<&str> {
        self.texts.iter().find(|(name, _)| *name == flag).expect("a declared flag").1.as_deref()
    }

    /// Whether a flag is there.
    pub fn is_on(&self, flag: &str) -> bool {
        self.switches.iter().find(|(name, _)| *name == flag).expect("a declared flag").1
    }

    /// Whether `--only` keeps a row of this name.
    pub fn keeps(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|part| name.contains(part.as_str()))
    }
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
        mut run: impl FnMut() -> Result<()> + 'a,
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
