//! Figure 8: how the cost falls during annealing, by three schedules for each expression of Table 2.

use std::path::{Path, PathBuf};

use texla::pack::{
    AnnealParams, Annealed, Annealer, CoolingSchedule, Instructions, SearchLimits, SimdMachine,
};

use crate::search::{PAPER, Paper};
use crate::support::{Failure, LinePlot, Progress, Result, Table, json, say};

/// Schedules of one expression: (T0, rate, temperatures, proposals at each).
type Schedules = [(f64, f64, u32, u64); 3];

/// The paper prints its curves but not its schedules. These end after about as many accepted moves.
const SCHEDULES: [Schedules; 3] = [
    [(0.60, 0.969, 20, 75_000), (0.52, 0.98, 20, 75_000), (1.00, 0.942, 20, 40_000)],
    [(1.5, 0.90, 15, 1000), (1.0, 0.85, 10, 1000), (2.0, 0.80, 10, 1500)],
    [(0.60, 0.97, 15, 30_000), (0.65, 0.97, 20, 40_000), (0.90, 0.94, 16, 30_000)],
];

/// A schedule, and how its runs ended.
struct Curve {
    schedule: CoolingSchedule,
    best: Annealed<Instructions>,
    /// The costs of all runs.
    ends: Vec<u32>,
}

/// The curves of one expression.
pub struct Figure {
    paper: &'static Paper,
    curves: Vec<Curve>,
}

/// The files in a folder.
pub fn paths(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Err(Failure::bad_input(format_args!("--plots {}: expected a folder", folder.display())));
    }
    let path = |paper: &Paper| folder.join(format!("packing-{}.svg", paper.instance));
    Ok(PAPER.iter().take(SCHEDULES.len()).map(path).collect())
}

/// All curves; each is the best of some runs, the lowest seed among equals.
pub fn anneal(runs: u64, seed: u64) -> Result<Vec<Figure>> {
    let total = runs * SCHEDULES.as_flattened().len() as u64;
    let progress = Progress::new("annealing", total);
    let mut done = 0;
    let mut figures = Vec::new();
    for (paper, schedules) in PAPER.iter().zip(&SCHEDULES) {
        let e = crate::instance(paper.instance)?;
        let mut curves = Vec::new();
        for &(temperature, rate, steps, proposals) in schedules {
            let schedule = CoolingSchedule::default()
                .with_temperature(temperature)
                .with_rate(rate)
                .with_steps(steps)
                .with_proposals(proposals);
            let (mut best, mut ends) = (None::<Annealed<Instructions>>, Vec::new());
            for run in 0..runs {
                let params =
                    AnnealParams::default().with_schedule(schedule).with_seed(seed.wrapping_add(run));
                let limits = SearchLimits::default().with_proposals(None).with_restarts(Some(1));
                let found = Annealer::new(&SimdMachine, &e, params)?.anneal(&limits)?;
                ends.push(found.cost.0);
                if best.as_ref().is_none_or(|best| found.cost < best.cost) {
                    best = Some(found);
                }
                done += 1;
                progress.set(done);
            }
            curves.extend(best.map(|best| Curve { schedule, best, ends }));
        }
        figures.push(Figure { paper, curves });
    }
    progress.finish();
    Ok(figures)
}

impl Figure {
    /// The paper's cost after, of one evaluation.
    fn optimum(&self) -> u32 {
        self.paper.costs[1] / self.paper.times
    }

    /// How many runs of a schedule have reached it.
    fn reached(&self, curve: &Curve) -> usize {
        curve.ends.iter().filter(|&&end| end <= self.optimum()).count()
    }

    pub fn print(&self) {
        let optimum = self.optimum();
        let mut table = Table::new([
            format!("Figure 8: {}", self.paper.instance),
            "accepted".to_owned(),
            "best".to_owned(),
            "worst".to_owned(),
            format!("runs at {optimum}"),
            "runs".to_owned(),
            "ms a run".to_owned(),
        ]);
        for curve in &self.curves {
            table.row([
                name(&curve.schedule),
                curve.best.accepted.to_string(),
                curve.best.cost.0.to_string(),
                curve.ends.iter().max().copied().unwrap_or_default().to_string(),
                self.reached(curve).to_string(),
                curve.ends.len().to_string(),
                format!("{:.0}", 1e3 * curve.best.seconds),
            ]);
        }
        table.print();
        if self.curves.iter().any(|curve| self.reached(curve) < curve.ends.len()) {
            say(format_args!(
                "Not every run ends at {optimum}: it is restarts, or seeds, that find it reliably."
            ));
        }
        say("");
    }

    pub fn json(&self) -> serde_json::Value {
        let curve = |curve: &Curve| {
            let points = curve.best.trace.points.iter();
            let points: Vec<_> =
                points.map(|p| json!([p.accepted, p.proposals, p.cost.0, p.best.0])).collect();
            json!({
                "temperature": curve.schedule.temperature, "rate": curve.schedule.rate,
                "steps": curve.schedule.steps, "proposals": curve.schedule.proposals,
                "accepted": curve.best.accepted, "ends": curve.ends, "reached": self.reached(curve),
                "points": points,
            })
        };
        let curves: Vec<_> = self.curves.iter().map(curve).collect();
        json!({ "instance": self.paper.instance, "optimum": self.optimum(), "curves": curves })
    }

    /// The cost against accepted moves. The paper says "# of moves": as proposals, its axes would end before anything is
    /// cold enough to freeze.
    pub fn plot(&self, path: &Path) -> Result {
        let optimum = self.optimum();
        let runs: usize = self.curves.iter().map(|curve| curve.ends.len()).sum();
        let reached: usize = self.curves.iter().map(|curve| self.reached(curve)).sum();
        let mut plot = LinePlot {
            title: &format!("Packing by annealing: {} ({})", self.paper.title, self.paper.instance),
            subtitle: format!(
                "the best run of each schedule; {reached} of all {runs} runs reached {optimum}"
            ),
            axes: ["accepted moves", "instructions of one evaluation"],
            level: Some((f64::from(optimum), format!("{optimum}, the paper's cost"))),
            ..LinePlot::default()
        };
        for curve in &self.curves {
            let points = curve.best.trace.points.iter().map(|p| (p.accepted as f64, f64::from(p.cost.0)));
            let end = match (curve.best.cost.0, self.reached(curve)) {
                (cost, 0) => format!("{cost}, {optimum} not reached"),
                (cost, reached) => format!("{cost} in {reached} of {}", curve.ends.len()),
            };
            plot.curves.push((format!("{}: {end}", name(&curve.schedule)), points.collect()));
        }
        plot.write(path)
    }
}

fn name(schedule: &CoolingSchedule) -> String {
    let CoolingSchedule { temperature, rate, steps, proposals, .. } = schedule;
    format!("T {temperature}, x {rate}, {steps} of {proposals}")
}
