//! The rungs of the ladder, checked against the twin and timed in turns.

use texla::Device;
use texla::host::NineBands;
use texla::solve::{JacobiLayout, JacobiProblem, JacobiSchedule, JacobiStep, NineBandJacobi};

use crate::fetching::Fetching;
use crate::support::clock::{Job, Rounds, median, often, round};
use crate::support::{Report, Result, share, worst_of};
use crate::twin::{full, twin};

/// A round of anything takes at least this long, so that the clock does not matter.
const ROUND: f64 = 0.05;
/// Sweeps between start and check.
const CHECKED: usize = 4;
/// Where all rungs together take more than this on the device, each is made and measured by itself.
const TOGETHER: usize = 1 << 30;

/// A rung, measured at one size.
pub struct Measured {
    pub schedule: JacobiSchedule,
    /// Of a sweep.
    pub rounds: Rounds,
    /// What the rung before takes over what this one does: the median of the rounds' ratios.
    pub gain: Option<f64>,
    /// Fetches over what the device fetches in the same time from cache.
    pub share: Option<f64>,
}

impl Measured {
    pub fn seconds(&self) -> f64 {
        self.rounds.median()
    }

    /// As the tutorial counts: 20 operations an unknown.
    pub fn mflops(&self, n: usize) -> f64 {
        20e-6 * n as f64 / self.seconds()
    }

    /// The same in each round.
    pub fn rates(&self, n: usize) -> Rounds {
        self.rounds.iter().map(|seconds| 20e-6 * n as f64 / seconds).collect()
    }
}

/// What the rung before is, within its own layout; the tutorial's two layouts begin anew.
fn before(schedule: JacobiSchedule) -> Option<JacobiSchedule> {
    use JacobiStep::{Interpolated, Inverse, OneShader, ThreePass};
    match schedule {
        JacobiSchedule::HostBands => Some(JacobiSchedule::HostLoop),
        JacobiSchedule::Tutorial(layout, step) => {
            let step = match step {
                OneShader => return None,
                Inverse => OneShader,
                ThreePass => Inverse,
                Interpolated => ThreePass,
            };
            Some(JacobiSchedule::Tutorial(layout, step))
        }
        JacobiSchedule::Packed { rows: 1 } => {
            Some(JacobiSchedule::Tutorial(JacobiLayout::Rgba, JacobiStep::Interpolated))
        }
        JacobiSchedule::Packed { rows } => Some(JacobiSchedule::Packed { rows: rows / 2 }),
        _ => None,
    }
}

/// Fetches of a sweep, for each unknown.
fn fetches(schedule: JacobiSchedule) -> Option<f64> {
    match schedule {
        JacobiSchedule::HostLoop | JacobiSchedule::HostBands => None,
        // Fetches of one channel, whose ceiling is another.
        JacobiSchedule::Tutorial(JacobiLayout::Red, _) => None,
        JacobiSchedule::Tutorial(JacobiLayout::Rgba, JacobiStep::OneShader) => Some(19.0 / 4.0),
        JacobiSchedule::Tutorial(JacobiLayout::Rgba, _) => Some(20.0 / 4.0),
        JacobiSchedule::Packed { rows } => {
            let rows = f64::from(rows);
            Some((3.0 * (rows + 2.0) + 9.0 * rows) / (4.0 * rows))
        }
        _ => None,
    }
}

/// The systems of one size: one of N unknowns, and four of N / 4.
struct Systems {
    whole: NineBands,
    quarter: NineBands,
}

impl Systems {
    /// Elements on a grid with bent lines, whose coefficient varies by a factor of five.
    fn new(side: usize) -> Result<Self> {
        let system = |side: usize| {
            let turn = std::f64::consts::TAU / (side + 1) as f64;
            let node = |x: usize, y: usize| {
                let (x, y) = (x as f64, y as f64);
                let bend = 0.05 / turn * ((turn * x).sin() * (turn * y).sin());
                [x + bend, y - bend]
            };
            let coefficient =
                |x: usize, y: usize| 3.0 + 2.0 * (3.0 * turn * x as f64).cos() * (turn * y as f64).sin();
            NineBands::bilinear(side, node, coefficient)
        };
        Ok(Systems { whole: system(side)?, quarter: system(side / 2)? })
    }

    /// Makes a rung ready.
    fn ladder(&self, device: &Device, schedule: JacobiSchedule) -> Result<Ladder<'_>> {
        Ladder::new(device, if schedule.systems() == 4 { &self.quarter } else { &self.whole }, schedule)
    }
}

struct Ladder<'a> {
    jacobi: NineBandJacobi,
    a: &'a NineBands,
    b: Vec<Vec<f32>>,
    x: Vec<Vec<f32>>,
}

/// The systems' iterates and bounds, once for all rungs that sweep them.
type Twins = Vec<Vec<(f64, f64)>>;

impl<'a> Ladder<'a> {
    /// With values that differ between systems.
    fn new(device: &Device, a: &'a NineBands, schedule: JacobiSchedule) -> Result<Self> {
        let value = |k: usize, i: usize| ((i * 7919 + 31 * k) % 1000) as f32 / 500.0 - 1.0;
        let vectors = |seed: usize| -> Vec<Vec<f32>> {
            (0..schedule.systems()).map(|k| (0..a.len()).map(|i| value(seed + k, i)).collect()).collect()
        };
        let (b, x) = (vectors(0), vectors(4));
        let problems: Vec<_> = b.iter().zip(&x).map(|(b, x)| JacobiProblem { a, b, x }).collect();
        let jacobi = NineBandJacobi::new(device, &problems, schedule, 1.0)?;
        Ok(Ladder { jacobi, a, b, x })
    }

    /// Error over bound after some sweeps from the start, at worst; `twins` are found if they are not known.
    fn check(&mut self, twins: &mut Option<Twins>) -> Result<f64> {
        let twins = twins.get_or_insert_with(|| {
            let of = |(b, x): (&Vec<f32>, &Vec<f32>)| {
                let (want, bound) = twin(self.a, b, x, 1.0, CHECKED);
                want.into_iter().zip(bound).collect()
            };
            self.b.iter().zip(&self.x).map(of).collect()
        });
        self.jacobi.sweep(CHECKED)?;
        let read = self.jacobi.read()?;
        let off = |got: &f32, (want, bound): &(f64, f64)| share((f64::from(*got) - want).abs(), *bound);
        Ok(worst_of(&read, twins, |got, twin| worst_of(got, twin, off)))
    }
}

/// The wrap-around: finite elements have zeros at the ends of rows, whatever is read there. Full diagonals have none, and
/// the rungs that go on in the next row, which is all but the packed, are held to the tutorial's loop on them too.
pub fn check_row_ends(device: &Device, report: &mut Report) -> Result {
    const SIDE: usize = 33;
    let (a, mut twins) = (full(SIDE, 0)?, [None, None]);
    let going_on = |s: &JacobiSchedule| !matches!(s, JacobiSchedule::Packed { .. }) && s.fits(device, SIDE);
    for schedule in JacobiSchedule::LADDER.into_iter().filter(going_on) {
        let mut ladder = Ladder::new(device, &a, schedule)?;
        let ratio = ladder.check(&mut twins[usize::from(schedule.systems() == 4)])?;
        report.at_most(format!("full diagonals, {}: error over bound", crate::name(schedule)), 1.0, ratio);
    }
    Ok(())
}

/// Measures all rungs at one size, `side * side` unknowns. Whether they took turns is the second value.
pub fn measure(
    device: &Device,
    side: usize,
    rungs: &[JacobiSchedule],
    rounds: usize,
    report: &mut Report,
) -> Result<(Vec<Measured>, bool)> {
    let n = side * side;
    let systems = Systems::new(side)?;
    let mut twins = [None, None];
    let mut checked = |ladder: &mut Ladder<'_>, schedule: JacobiSchedule| -> Result {
        let ratio = ladder.check(&mut twins[usize::from(schedule.systems() == 4)])?;
        report.at_most(format!("N = {n}, {}: error over bound", crate::name(schedule)), 1.0, ratio);
        Ok(())
    };
    // The tutorial's layouts take 56 and 52 bytes an unknown, the packed one 48.
    let together = n * rungs.len() * 52 <= TOGETHER;
    let (mut fetching, mut fetched) = (Fetching::new(device, n)?, Rounds::default());
    let mut seconds = vec![Rounds::default(); rungs.len()];
    if together {
        let mut jobs = Vec::new();
        for schedule in rungs {
            let mut ladder = systems.ladder(device, *schedule)?;
            checked(&mut ladder, *schedule)?;
            let mut jacobi = ladder.jacobi;
            let mut job: Job<'_> = Box::new(move |sweeps| Ok(jacobi.sweep(sweeps)?));
            let often = often(device, &mut job, ROUND)?;
            jobs.push((job, often));
        }
        for _ in 0..rounds {
            fetched.push(fetching.rate(device, ROUND)?);
            for ((job, often), seconds) in jobs.iter_mut().zip(&mut seconds) {
                seconds.push(round(device, job, *often)?);
            }
        }
    } else {
        for (schedule, seconds) in rungs.iter().zip(&mut seconds) {
            let mut ladder = systems.ladder(device, *schedule)?;
            checked(&mut ladder, *schedule)?;
            let mut jacobi = ladder.jacobi;
            let mut job: Job<'_> = Box::new(move |sweeps| Ok(jacobi.sweep(sweeps)?));
            let often = often(device, &mut job, ROUND)?;
            for _ in 0..rounds {
                seconds.push(round(device, &mut job, often)?);
            }
            fetched.push(fetching.rate(device, ROUND)?);
            drop(job);
            device.trim()?;
        }
    }
    let rate = fetched.most();
    let measured = rungs.iter().enumerate().map(|(k, schedule)| {
        let earlier = before(*schedule).and_then(|b| rungs.iter().position(|s| *s == b));
        let of = |e: usize| median(seconds[e].iter().zip(seconds[k].iter()).map(|(e, s)| e / s));
        let share = fetches(*schedule).map(|f| f * n as f64 / seconds[k].median() / rate);
        Measured { schedule: *schedule, rounds: seconds[k].clone(), gain: earlier.map(of), share }
    });
    Ok((measured.collect(), together))
}
