//! Measuring which schedule is fastest, for those who would rather have that than a rule.

use std::fmt;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;
use std::sync::Mutex;
use std::time::Duration;

use super::matmul_with;
use super::plan::MatmulForm;
use super::schedule::MatmulSchedule;
use super::uniform;
use crate::data::Matrix;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::Api;
use crate::host::PendingFile;
use crate::platform::Instant;
use crate::shape::Shape;

/// Sides of the square products that [`calibrate`] times.
pub const CALIBRATED_SIDES: [usize; 4] = [64, 192, 512, 1024];

/// Times each schedule in as many rounds; the shortest counts.
const ROUNDS: usize = 3;

/// The driver and device that a calibration is valid for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    api: Api,
    renderer: String,
    version: String,
}

impl Key {
    fn of(device: &Device) -> Self {
        let caps = device.gl().caps.borrow();
        // Each is a line of the cache file.
        let line = |text: &str| text.replace(['\n', '\r'], " ");
        Key { api: device.api(), renderer: line(&caps.renderer), version: line(&caps.version) }
    }
}

/// Which schedule was fastest for square products of some sizes, on one driver and device.
///
/// As text it is a small file: see [`save`](Self::save) and [`load`](Self::load).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calibration {
    key: Key,
    /// Side of the product, the fastest schedule.
    fastest: Vec<(usize, MatmulSchedule)>,
}

/// What the process goes by.
static IN_USE: Mutex<Vec<Calibration>> = Mutex::new(Vec::new());

/// Times the schedules on this device, at [`CALIBRATED_SIDES`], and from now on lets [`MatmulSchedule::Auto`] take the
/// fastest for products of about that size, on every device of the process with the same driver. Reports then give
/// [`Reason::Measured`](super::Reason::Measured).
///
/// Schedules differ in the order of their sums, so results repeat bit for bit only as long as the choice does: keep it
/// in a file ([`Calibration::save`]), or do not calibrate. [`Calibration::forget`] goes back to the rule.
///
/// *Cost*: some seconds on a software rasteriser, during which the device is waited for. *Errors*: as [`matmul`](super::matmul).
///
/// ```
/// use texla::ops::{self, Calibration, MatmulForm, MatmulSchedule, Reason};
/// use texla::{Matrix, Shape};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let text = format!("{}", Calibration::by_rule(dev)); // or of ops::calibrate(dev)?
/// let kept: Calibration = text.parse()?;
/// assert!(kept.apply(dev)?);
/// let a = Matrix::filled(dev, Shape::new(64, 64), 1.0)?;
/// let mut c = Matrix::zeros(dev, Shape::new(64, 64))?;
/// let report = ops::matmul_with(&mut c, MatmulForm::Plain, &a, &a, MatmulSchedule::Auto)?;
/// assert_eq!(report.reason, Reason::Measured);
/// Calibration::forget(dev);
/// let report = ops::matmul_with(&mut c, MatmulForm::Plain, &a, &a, MatmulSchedule::Auto)?;
/// assert_eq!(report.reason, Reason::Rule);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn calibrate(device: &Device) -> Result<Calibration> {
    let _scope = device.exclusive_scope()?;
    let mut fastest = Vec::new();
    for side in CALIBRATED_SIDES {
        fastest.push((side, fastest_at(device, side)?));
    }
    let made = Calibration { key: Key::of(device), fastest };
    made.apply(device)?;
    Ok(made)
}

fn fastest_at(device: &Device, side: usize) -> Result<MatmulSchedule> {
    let shape = Shape::new(side, side);
    let (a, b) = (Matrix::filled(device, shape, 0.5)?, Matrix::filled(device, shape, 0.25)?);
    let mut c = Matrix::zeros(device, shape)?;
    let mut times = candidates(device).map(|schedule| (schedule, Duration::MAX)).collect::<Vec<_>>();
    // The first round compiles. Schedules take turns, so that a slow moment does not hit one of them alone.
    for round in 0..=ROUNDS {
        for (schedule, best) in &mut times {
            let started = Instant::now();
            matmul_with(&mut c, MatmulForm::Plain, &a, &b, *schedule)?;
            device.finish()?;
            if round > 0 {
                *best = started.elapsed().min(*best);
            }
        }
    }
    let fastest = times.iter().min_by_key(|(_, time)| *time);
    Ok(fastest.map_or(MatmulSchedule::OnePass, |(schedule, _)| *schedule))
}

/// The schedules for products of any shape that the device has.
pub(super) fn candidates(device: &Device) -> impl Iterator<Item = MatmulSchedule> + use<> {
    let (most, derivatives) = {
        let caps = device.gl().caps.borrow();
        (caps.max_draw_buffers, caps.exact_derivatives)
    };
    let blocked = [4, 8].into_iter().filter(move |n| *n <= most).flat_map(move |buffers| {
        let split = derivatives.then_some(MatmulSchedule::Split { buffers });
        std::iter::once(MatmulSchedule::Blocked { buffers }).chain(split)
    });
    // No software rasteriser gains by it.
    let uniform = most >= uniform::COLUMNS && uniform::most_quads(device).is_some() && !device.is_software();
    let uniform = uniform.then_some(MatmulSchedule::Uniform);
    std::iter::once(MatmulSchedule::OnePass).chain(blocked).chain(uniform)
}

impl Calibration {
    /// What the fixed rule would choose, as a calibration: a start for one of one's own, without measuring.
    pub fn by_rule(device: &Device) -> Self {
        let choose = |side| {
            let shape = Shape::new(side, side);
            (side, super::schedule::rule(device, MatmulForm::Plain, shape, shape))
        };
        Calibration { key: Key::of(device), fastest: CALIBRATED_SIDES.map(choose).to_vec() }
    }

    /// The choices: side of a square product, and the schedule.
    pub fn choices(&self) -> &[(usize, MatmulSchedule)] {
        &self.fastest
    }

    /// Lets [`MatmulSchedule::Auto`] go by this calibration, if it is one of this driver and device: says whether.
    ///
    /// *Errors*: [`Error::ContextLost`](crate::Error::ContextLost).
    pub fn apply(&self, device: &Device) -> Result<bool> {
        let _scope = device.exclusive_scope()?;
        let fits = self.key == Key::of(device);
        if fits && let Ok(mut in_use) = IN_USE.lock() {
            in_use.retain(|c| c.key != self.key);
            in_use.push(self.clone());
        }
        Ok(fits)
    }

    /// Goes back to the rule on this driver and device.
    pub fn forget(device: &Device) {
        let key = Key::of(device);
        if let Ok(mut in_use) = IN_USE.lock() {
            in_use.retain(|c| c.key != key);
        }
    }

    /// Writes the calibration to a file, whole or not at all. *Errors*: [`Error::File`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let fail =
            |e: std::io::Error| Error::File { path: path.display().to_string(), detail: e.to_string() };
        // Devices and pipes would take it, and it could not be read again.
        if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let detail = "expected a regular file".to_owned();
            return Err(Error::File { path: path.display().to_string(), detail });
        }
        let mut file = PendingFile::create(path).map_err(fail)?;
        write!(file, "{self}").and_then(|()| file.finish()).map_err(fail)
    }

    /// Reads a calibration from a file; [`apply`](Self::apply) it then. *Errors*: [`Error::File`], also for text that is
    /// no calibration.
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let fail = |detail: String| Error::File { path: path.display().to_string(), detail };
        let text = std::fs::read_to_string(path).map_err(|e| fail(e.to_string()))?;
        text.parse().map_err(|e: Error| match e {
            Error::File { detail, .. } => fail(detail),
            other => other,
        })
    }

    /// The choice for a product of this many multiply-adds: that of the side nearest in ratio.
    fn choice(&self, work: usize) -> Option<MatmulSchedule> {
        let side = (work.max(1) as f64).cbrt().ln();
        let distance = |s: usize| ((s.max(1) as f64).ln() - side).abs();
        let nearest = self.fastest.iter().min_by(|(s, _), (t, _)| distance(*s).total_cmp(&distance(*t)));
        nearest.map(|(_, schedule)| *schedule)
    }
}

/// What was measured for products of this size on this device, if anything was, and if the device can run it: the same
/// driver may be in use with limits.
pub(super) fn measured(device: &Device, work: usize) -> Option<MatmulSchedule> {
    let in_use = IN_USE.lock().ok()?;
    if in_use.is_empty() {
        return None;
    }
    let key = Key::of(device);
    let choice = in_use.iter().find(|c| c.key == key)?.choice(work)?;
    candidates(device).any(|c| c == choice).then_some(choice)
}

const HEADING: &str = "texla matmul calibration 1";

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Key { api, renderer, version } = &self.key;
        writeln!(f, "{HEADING}\n{api}\n{renderer}\n{version}")?;
        for (side, schedule) in &self.fastest {
            match schedule {
                MatmulSchedule::Blocked { buffers } => writeln!(f, "{side} blocked {buffers}")?,
                MatmulSchedule::Split { buffers } => writeln!(f, "{side} split {buffers}")?,
                MatmulSchedule::Uniform => writeln!(f, "{side} uniform")?,
                _ => writeln!(f, "{side} one-pass")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Calibration {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fail = |line: usize, expected: &str| {
            let found = text.lines().nth(line).unwrap_or("the end").chars().take(40).collect::<String>();
            let detail = format!("line {}: found `{found}`, expected {expected}", line + 1);
            Error::File { path: "calibration".into(), detail }
        };
        let mut lines = text.lines();
        if lines.next() != Some(HEADING) {
            return Err(fail(0, HEADING));
        }
        let api = lines.next().and_then(|word| Api::ALL.into_iter().find(|api| api.to_string() == word));
        let api = api.ok_or_else(|| fail(1, "the name of an API"))?;
        let renderer = lines.next().ok_or_else(|| fail(2, "a renderer"))?.to_owned();
        let version = lines.next().ok_or_else(|| fail(3, "a version"))?.to_owned();
        let mut fastest = Vec::new();
        for (line, words) in lines.enumerate().map(|(i, l)| (i + 4, l.split(' ').collect::<Vec<_>>())) {
            let wrong = || {
                fail(
                    line,
                    "a side and `one-pass`, `blocked 4`, `blocked 8`, `split 4`, `split 8` or `uniform`",
                )
            };
            let (side, schedule) = match words.as_slice() {
                [side, "one-pass"] => (side, MatmulSchedule::OnePass),
                [side, "uniform"] => (side, MatmulSchedule::Uniform),
                [side, "blocked", "4"] => (side, MatmulSchedule::Blocked { buffers: 4 }),
                [side, "blocked", "8"] => (side, MatmulSchedule::Blocked { buffers: 8 }),
                [side, "split", "4"] => (side, MatmulSchedule::Split { buffers: 4 }),
                [side, "split", "8"] => (side, MatmulSchedule::Split { buffers: 8 }),
                _ => return Err(wrong()),
            };
            let side = side.parse().ok().filter(|s| (1..=1 << 20).contains(s)).ok_or_else(wrong)?;
            fastest.push((side, schedule));
        }
        if fastest.is_empty() {
            return Err(fail(4, "at least one choice"));
        }
        Ok(Calibration { key: Key { api, renderer, version }, fastest })
    }
}
