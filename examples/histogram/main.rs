//! The histogram of a file of numbers, of an image or of random numbers [BeyondVector] 28.4.3: every number becomes a
//! point, which the vertex stage puts on its bin and blending counts; where the device cannot blend floats, every bin goes
//! through the numbers. Bins are equal in width or those of a GLSL function.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chart::Chart;
use input::Channel;
use support::clock::{self, Rounds};
use support::{CommonArgs, Failure, Report, Result, count, json, say};
use texla::kernel::{Kernel, NoParams};
use texla::ops::{self, Histogram, OutOfRange};
use texla::{Device, Vector};

mod chart;
mod input;
#[allow(dead_code)] // an image is a row of numbers here
#[path = "../support/photo.rs"]
mod photo;
#[path = "../support/mod.rs"]
mod support;
mod twin;

/// Counts numbers by bin.
#[derive(clap::Parser)]
#[command(name = "histogram")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// A text with numbers; without a file, random numbers are counted
    #[arg(long, value_name = "FILE", conflicts_with = "image", value_hint = clap::ValueHint::FilePath)]
    numbers: Option<PathBuf>,
    /// An image, Radiance HDR, OpenEXR or PNG: a number for each pixel
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    image: Option<PathBuf>,
    /// Which number of a pixel, in linear light
    #[arg(long, value_enum, default_value_t = Channel::Luminance, requires = "image")]
    channel: Channel,
    /// How many random numbers [default: 10000000, 200000 with --quick]
    #[arg(long, value_name = "N", conflicts_with_all = ["numbers", "image"])]
    count: Option<usize>,
    /// A text with a weight for each number: sums of weights in place of counts
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    weights: Option<PathBuf>,
    /// Number of bins
    #[arg(long, value_name = "N", default_value_t = 256)]
    bins: usize,
    /// Lower end of the first bin [default: the smallest number]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    min: Option<f32>,
    /// Upper end of the last bin [default: the largest number]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    max: Option<f32>,
    /// The position of x in bins, in place of equal widths: an expression of x, or the whole of `float bin(float x) { .. }`
    #[arg(long, value_name = "GLSL", conflicts_with_all = ["min", "max"], allow_hyphen_values = true)]
    function: Option<String>,
    /// What becomes of numbers outside of all bins
    #[arg(long, value_enum, default_value_t = Outside::Clamp)]
    outside: Outside,
    /// Write a picture
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    plot: Option<PathBuf>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Outside {
    /// Into the first and the last bin.
    Clamp,
    /// Left out.
    Drop,
    /// Counted apart.
    Apart,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

/// One for each value of a 16-bit image. The library takes 2^24, but every bin is a row of the report here.
const MOST_BINS: usize = 1 << 16;

fn main() -> ExitCode {
    support::main_with("histogram", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let count = args.count.unwrap_or(if args.common.quick { 200_000 } else { 10_000_000 });
    support::in_range("--count", count, 1..=100_000_000)?;
    support::in_range("--bins", args.bins, 1..=MOST_BINS)?;
    let numbers = match (&args.numbers, &args.image) {
        (Some(path), _) => input::of_text(path)?,
        (_, Some(path)) => input::of_image(path, args.channel)?,
        _ => input::random(count),
    };
    let weights = args.weights.as_deref().map(input::of_text).transpose()?;
    if let Some((weights, path)) =
        weights.as_ref().zip(args.weights.as_deref()).filter(|(w, _)| w.len() != numbers.len())
    {
        let (found, wanted) = (weights.len(), numbers.len());
        return Err(Failure::bad_input(format_args!(
            "{}: {found} weights for {wanted} numbers",
            path.display()
        )));
    }

    let context = args.common.headless(report)?;
    let device = context.device();
    let x = Vector::from_slice(device, &numbers)?;
    let w = weights.as_deref().map(|w| Vector::from_slice(device, w)).transpose()?;
    let bins = Bins::new(args, device, &x)?;
    say(format_args!("device      {} ({})", context.name(), device.api()));
    say(format_args!("numbers     {} in {} bins {}", numbers.len(), args.bins, bins.say()));

    let work = Work { args, report, bins, numbers: &numbers, x: &x };
    match (&weights, &w) {
        (Some(weights), Some(w)) => work.weights(weights, w),
        _ => work.counts(),
    }
}

/// Which bins, ready to be filled.
struct Bins {
    histogram: Histogram,
    /// Ends of the range, where the bins are of equal width.
    range: Option<[f32; 2]>,
    /// The function's text.
    body: Option<String>,
    rule: OutOfRange,
}

impl Bins {
    fn new(args: &Args, device: &Device, x: &Vector) -> Result<Self> {
        let rule = match args.outside {
            Outside::Clamp => OutOfRange::Clamp,
            Outside::Drop => OutOfRange::Drop,
            Outside::Apart => OutOfRange::Apart,
        };
        if let Some(text) = &args.function {
            let whole = text.contains('{'); // which no expression has
            // A line of its own ends a comment.
            let body =
                if whole { text.clone() } else { format!("float bin(float x) {{ return ({text}\n); }}") };
            let histogram = Histogram::new(device, args.bins, &body).map_err(in_function)?.out_of_range(rule);
            return Ok(Bins { histogram, range: None, body: Some(body), rule });
        }
        let (mut min, mut max) = match (args.min, args.max) {
            (Some(min), Some(max)) => (min, max),
            (min, max) => {
                let (low, high) = (ops::min_element(x)?.read()?, ops::max_element(x)?.read()?);
                (min.unwrap_or(low), max.unwrap_or(high))
            }
        };
        if args.min.is_none() && args.max.is_none() && min == max {
            // All numbers are the same: some room around them.
            let room = 0.5 * min.abs().max(1.0);
            (min, max) = ((min - room).max(f32::MIN), (max + room).min(f32::MAX));
        }
        let histogram = Histogram::equal_width(device, min, max, args.bins)?.out_of_range(rule);
        Ok(Bins { histogram, range: Some([min, max]), body: None, rule })
    }

    fn say(&self) -> String {
        match (&self.range, &self.body) {
            (Some([min, max]), _) => format!("from {min} to {max}"),
            (_, Some(_)) => "by a function".into(),
            _ => String::new(),
        }
    }

    /// Where the numbers lie among the bins, as the CPU finds it, or as the device does for a function in its language.
    fn positions(&self, numbers: &[f32], x: &Vector) -> Result<Vec<f32>> {
        let bins = self.histogram.bins();
        let Some(body) = &self.body else {
            let range = self.range.unwrap_or([0.0, 1.0]);
            return Ok(numbers.iter().map(|v| twin::position(*v, range, bins)).collect());
        };
        let text = format!("{body}\n{}", include_str!("positions.frag"));
        let kernel = Kernel::<NoParams>::new(x.device(), "positions", ["x"], &text).map_err(in_function)?;
        let mut out = Vector::zeros(x.device(), x.len())?;
        kernel.run(&mut out, [x], &NoParams)?;
        Ok(out.read()?)
    }
}

/// A function that does not compile is the user's: the line of the driver's log that says why.
fn in_function(error: texla::Error) -> Failure {
    match error {
        texla::Error::Shader { log, .. } => {
            let why = log.lines().find(|line| line.contains("error")).or(log.lines().next());
            Failure::bad_input(format_args!("--function: {}", why.unwrap_or("it does not compile")))
        }
        texla::Error::Interface { .. } | texla::Error::Include { .. } => {
            Failure::bad_input(format_args!("--function: {error}"))
        }
        other => other.into(),
    }
}

/// Filling, checking and showing a histogram.
struct Work<'a> {
    args: &'a Args,
    report: &'a mut Report,
    bins: Bins,
    numbers: &'a [f32],
    x: &'a Vector,
}

/// Rounds that count, of the device and of the CPU.
const ROUNDS: usize = 3;

impl Work<'_> {
    fn counts(self) -> Result {
        let (histogram, rule) = (&self.bins.histogram, self.bins.rule);
        let device = self.x.device();
        let (counts, times) = clock::rounds(device, ROUNDS, || histogram.counts(self.x))?;
        let positions = self.bins.positions(self.numbers, self.x)?;
        let (bins, len) = (histogram.bins(), histogram.len());
        let (expected, of_cpu) = match self.bins.range {
            Some(range) => clock::rounds(device, ROUNDS, || {
                let positions = self.numbers.iter().map(|v| twin::position(*v, range, bins));
                Ok(twin::counts(positions, bins, rule, len))
            })?,
            None => clock::rounds(device, ROUNDS, || {
                Ok(twin::counts(positions.iter().copied(), bins, rule, len))
            })?,
        };
        timing(self.report, self.numbers.len(), &times, &of_cpu);
        let differ = support::differing(&counts, &expected);
        self.report.at_most("bins whose count differs from the CPU's", 0.0, differ as f64);
        if rule != OutOfRange::Drop {
            let lost = self.numbers.len() as f64 - counts.iter().sum::<u64>() as f64;
            self.report.at_most("numbers that are lost", 0.0, lost.abs());
        }
        let values: Vec<f64> = counts.iter().map(|c| *c as f64).collect();
        self.show(&values, "count")
    }

    fn weights(self, weights: &[f32], w: &Vector) -> Result {
        let (histogram, rule) = (&self.bins.histogram, self.bins.rule);
        let device = self.x.device();
        let mut out = Vector::zeros(device, histogram.len())?;
        let (sums, times) = clock::rounds(device, ROUNDS, || {
            histogram.sum(&mut out, self.x, w)?;
            out.read()
        })?;
        let positions = self.bins.positions(self.numbers, self.x)?;
        let (bins, len) = (histogram.bins(), histogram.len());
        let expected = || Ok(twin::sums(positions.iter().copied(), weights, bins, rule, len));
        let (expected, of_cpu) = clock::rounds(device, ROUNDS, expected)?;
        timing(self.report, self.numbers.len(), &times, &of_cpu);
        // A sum of n terms: gamma_n times the sum of the magnitudes, and what is flushed.
        let worst = sums.iter().enumerate().fold(0.0, |worst, (k, sum)| {
            let n = expected.terms[k] as f64;
            let nu = n / 16_777_216.0;
            let bound = nu / (1.0 - nu).max(1e-3) * expected.size[k] + n * f64::from(f32::MIN_POSITIVE);
            let off = (f64::from(*sum) - expected.sum[k]).abs();
            support::worst(worst, support::share(off, bound))
        });
        self.report.at_most("sums of weights: error over its bound", 1.0, worst);
        let values: Vec<f64> = sums.iter().map(|s| f64::from(*s)).collect();
        self.show(&values, "weight")
    }

    /// Rows, picture, and the fullest bin on the terminal.
    fn show(self, values: &[f64], name: &str) -> Result {
        let bins = self.bins.histogram.bins();
        let ends = self.bins.range.map(|range| range.map(f64::from)).unwrap_or([0.0, bins as f64]);
        let edge = |k: usize| ends[0] + (ends[1] - ends[0]) * k as f64 / bins as f64;
        for (k, value) in values.iter().enumerate().take(bins) {
            self.report.row(json!({ "bin": k, "from": edge(k), "to": edge(k + 1), name: value }));
        }
        if let [below, above] = values[bins..] {
            say(format_args!("outside     {below} below, {above} above"));
            self.report.set("below", below).set("above", above);
        }
        let fullest = (0..bins).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(0);
        say(format_args!("largest     {} in bin {fullest}", values[fullest]));
        self.report.set("numbers", self.numbers.len()).set("bins", bins).set("largest_bin", fullest);
        self.report.set("function", self.bins.body.clone());
        let Some(path) = &self.args.plot else { return Ok(()) };
        let of = match (&self.args.numbers, &self.args.image) {
            (Some(file), _) | (_, Some(file)) => name_of(file),
            _ => "random numbers".into(),
        };
        let by = if self.bins.body.is_some() { "bin" } else { "value" };
        Chart {
            title: format!("Histogram of {of}"),
            subtitle: format!(
                "{} in {}",
                count(self.numbers.len(), "number", "numbers"),
                count(bins, "bin", "bins")
            ),
            labels: [by, name],
            range: ends,
            values: &values[..bins],
        }
        .write(path)?;
        say(format_args!("picture     {}", path.display()));
        Ok(())
    }
}

fn timing(report: &mut Report, count: usize, device: &Rounds, cpu: &Rounds) {
    for (who, times, what, key) in [("device", device, "points", "ms"), ("CPU", cpu, "numbers", "cpu_ms")] {
        let (ms, rate) = (1e3 * times.median(), 1e-6 * count as f64 / times.median());
        say(format_args!("{who:11} {ms:.1} ms, {rate:.1} million {what} a second"));
        report.rounds(key, &times.times(1e3));
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
