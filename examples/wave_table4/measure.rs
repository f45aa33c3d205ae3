//! Everybody makes the same steps, in rounds that take turns, and is held to the twin at the end.
#![allow(unsafe_code)] // the painter's promise

use std::rc::Rc;
use std::time::Instant;

use texla::pack::Order;
use texla::profile::DeviceProfile;
use texla::solve::{BlockLayout, BlockParams};
use texla::{Headless, Vector};

use crate::paint::{Painter, Painting};
use crate::problem::{Twin, energy, start};
use crate::support::ceiling::Ceiling;
use crate::support::clock::Rounds;
use crate::support::{Progress, Report, Result, differing, differing_bits, json, share};
use crate::waves::{After, Blocks, Kernels, Simulation, Waves};
use crate::{PIECE, best, counts, cpu};

pub const SIMULATION: &str = "sim::wave, explicit";

/// Nodes along a side of the paper's square: its times stand beside no others.
const PAPERS_SIZE: usize = 512;

pub struct Plan {
    pub steps: usize,
    pub size: usize,
    pub rounds: usize,
    /// Steps after which the bound still says much.
    pub checked: usize,
}

/// Makes somebody's waves from the start on.
type Maker<'a> = Box<dyn Fn() -> Result<Box<dyn Waves + 'a>> + 'a>;

/// A row of the table before it is measured.
struct Row<'a> {
    name: String,
    make: Maker<'a>,
    after: &'static [After],
    kernels: Option<Rc<Kernels>>,
    paper: [Option<f64>; 2],
}

/// One of a row's runs.
struct Run<'a> {
    row: usize,
    after: After,
    waves: Box<dyn Waves + 'a>,
    /// A step, in each round.
    seconds: Rounds,
    draws: u64,
    readbacks: u64,
}

/// A row, measured.
pub struct Timed {
    pub name: String,
    /// A step, in each round.
    runs: Vec<(After, Rounds)>,
    /// Writing a level alone, in seconds; of what is on the device.
    write: Option<f64>,
    pub paper: [Option<f64>; 2],
    /// Of a step without transfer.
    pub draws: Option<f64>,
    /// For 32 nodes.
    pub instructions: Option<usize>,
    pub fetches: Option<f64>,
    /// A step without transfer, by the device's charges.
    pub predicted: Option<f64>,
}

impl Timed {
    /// A step, in each round.
    pub fn rounds(&self, after: After) -> Rounds {
        self.runs.iter().find(|run| run.0 == after).map_or(Rounds::default(), |run| run.1.clone())
    }

    /// The median of the rounds.
    pub fn seconds(&self, after: After) -> Option<f64> {
        Some(self.rounds(after)).filter(|rounds| !rounds.is_empty()).map(|rounds| rounds.median())
    }

    pub fn json(&self) -> Vec<serde_json::Value> {
        let papers = |after| match after {
            After::Readback => self.paper[0],
            After::Nothing => self.paper[1],
            After::Picture => None,
        };
        let row = |(after, rounds): &(After, Rounds)| {
            let after = *after;
            let share = self.write.filter(|_| after == After::Nothing).map(|write| write / rounds.median());
            let row = json!({
                "row": self.name, "column": after.name(), "mean_ms": 1e3 * rounds.mean(), "share_of_ceiling": share,
                "paper_ms": papers(after), "draws_per_step": self.draws, "instructions": self.instructions,
                "fetches": self.fetches,
                "predicted_ms": self.predicted.filter(|_| after == After::Nothing).map(|s| 1e3 * s),
            });
            rounds.times(1e3).in_row(row, "ms")
        };
        self.runs.iter().map(row).collect()
    }
}

/// All rows, and a picture of the waves after the steps that are checked first: three bytes a node, rows from the top.
pub fn measure(
    context: &Headless,
    plan: &Plan,
    profile: &DeviceProfile,
    report: &mut Report,
) -> Result<(Vec<Timed>, Vec<u8>)> {
    let (device, size) = (context.device(), plan.size);
    let host = start(size);
    let first = Vector::from_slice(device, &host)?;
    // SAFETY: the context is current, and outlives the painter.
    let painter = unsafe { Painter::new(context.glow(), size) }?;
    let of_vectors = painter.of_vectors()?;
    let rows = rows((&painter, of_vectors), size, &host, &first)?;

    let progress = Progress::new("round", (plan.rounds + 1) as u64);
    progress.note("first steps");
    let mut twin = Twin::new(size, &host);
    (0..plan.checked).for_each(|_| twin.step());
    // The bound is only worth something while it is small beside the waves.
    report.at_most(
        format!("bound of 32 bits after {} steps, over the waves' norm", plan.checked),
        0.1,
        twin.bound() / twin.norm(),
    );
    let mut snapshot = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        let picture = check_first_steps(row, plan, &twin, (&painter, of_vectors), report)?;
        if k == OPTIMISED {
            snapshot = picture;
        }
    }

    let mut runs = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        for &after in row.after {
            let waves = (row.make)()?;
            runs.push(Run { row: k, after, waves, seconds: Rounds::default(), draws: 0, readbacks: 0 });
        }
    }
    for round in 0..plan.rounds {
        progress.set(round as u64 + 1);
        let steps = plan.steps * (round + 1) / plan.rounds - plan.steps * round / plan.rounds;
        for run in &mut runs {
            device.finish()?;
            let (before, started) = (device.counters(), Instant::now());
            run.waves.run(steps, run.after, &painter)?;
            device.finish()?;
            run.seconds.push(started.elapsed().as_secs_f64() / steps as f64);
            let done = device.counters().since(&before);
            run.draws += done.draws;
            run.readbacks += done.readbacks;
        }
    }
    progress.finish();
    let write = Ceiling::measure(device, size * size, plan.rounds)?.write;
    (plan.checked..plan.steps).for_each(|_| twin.step());
    let timed = rows
        .iter()
        .enumerate()
        .map(|(k, row)| timed(row, runs.iter().filter(|run| run.row == k), (plan, write), profile));
    let timed = timed.collect::<Result<Vec<_>>>()?;
    for (k, row) in rows.iter().enumerate() {
        check_last_step(row, runs.iter_mut().filter(|run| run.row == k), plan, &twin, report)?;
    }
    report.set("energy_bound", twin.drift / twin.energy);
    Ok((timed, snapshot))
}

/// Its place among the rows.
const OPTIMISED: usize = 3;

fn rows<'a>(
    (painter, of_vectors): (&Painter, Painting),
    size: usize,
    host: &'a [f32],
    first: &'a Vector,
) -> Result<Vec<Row<'a>>> {
    let on_cpu = |threads: usize, paper: Option<f64>| Row {
        name: format!("CPU, {}", if threads == 1 { "one thread" } else { "two threads" }),
        make: Box::new(move || Ok(Box::new(cpu::Waves::new(size, threads, host)))),
        after: &[After::Readback],
        kernels: None,
        paper: [paper, None],
    };
    let blocks =
        |name: &str, order: Order, params: BlockParams, paper: [Option<f64>; 2]| -> Result<Row<'a>> {
            let kernels = Kernels::new(painter, first.device(), size, order, params)?;
            let shared = Rc::clone(&kernels);
            Ok(Row {
                name: name.to_owned(),
                make: Box::new(move || Ok(Box::new(Blocks::new(&shared, first)?))),
                after: &After::ALL,
                kernels: Some(kernels),
                paper,
            })
        };
    let (plain, optimised) = (Order::identity(PIECE), best(size, PIECE)?);
    let apart = BlockParams::default();
    // As many targets as the device has, up to all of them.
    let together = apart.with_targets(PIECE / 4);
    let stacked = apart.with_layout(BlockLayout::Stacked);
    let mut all = vec![
        on_cpu(1, Some(17.73)),
        on_cpu(2, None),
        blocks("GPU", plain.clone(), apart, [Some(8.34), Some(1.28)])?,
        blocks("GPU, optimised", optimised.clone(), apart, [Some(8.08), Some(1.02)])?,
        blocks("GPU, 8 targets", plain.clone(), together, [None; 2])?,
        blocks("GPU, optimised, 8 targets", optimised.clone(), together, [None; 2])?,
        blocks("GPU, stacked", plain, stacked, [None; 2])?,
        blocks("GPU, optimised, stacked", optimised, stacked, [None; 2])?,
    ];
    for piece in [16, 8, 4] {
        let targets = if piece > 4 { format!(", {} targets", piece / 4) } else { String::new() };
        all.push(blocks(&format!("blocks of {piece}{targets}"), best(size, piece)?, together, [None; 2])?);
    }
    all.push(Row {
        name: SIMULATION.to_owned(),
        make: Box::new(move || Ok(Box::new(Simulation::new(of_vectors, size, first)?))),
        after: &After::ALL,
        kernels: None,
        paper: [None; 2],
    });
    Ok(all)
}

/// Whether the twin is a row's: it has the same zeros.
fn has_twin(row: &Row<'_>) -> bool {
    row.name != SIMULATION
}

/// The picture of them that is drawn from blocks.
fn check_first_steps(
    row: &Row<'_>,
    plan: &Plan,
    twin: &Twin,
    (painter, of_vectors): (&Painter, Painting),
    report: &mut Report,
) -> Result<Vec<u8>> {
    let mut drawn = Vec::new();
    let mut waves = (row.make)()?;
    // Compiles whatever there is to be compiled.
    let mut left = plan.checked;
    for &after in row.after {
        let steps = left.min(1);
        waves.run(steps, after, painter)?;
        left -= steps;
    }
    waves.run(left, After::Nothing, painter)?;
    if has_twin(row) {
        let [now, _] = waves.levels()?;
        let name =
            format!("{}: distance from 64 bits after {} steps, over its bound", row.name, plan.checked);
        report.at_most(name, 1.0, share(twin.distance(&now), twin.bound()));
        if let Some(kernels) = &row.kernels {
            waves.paint(painter)?;
            drawn = painter.read();
            painter.paint(of_vectors, &Vector::from_slice(kernels.device(), &now)?);
            let name = format!("{}: pixels that differ from those of the values in their order", row.name);
            report.at_most(name, 0.0, differing(&drawn, &painter.read()) as f64);
        }
    }
    Ok(drawn)
}

fn timed<'r>(
    row: &Row<'_>,
    runs: impl Iterator<Item = &'r Run<'r>>,
    (plan, write): (&Plan, f64),
    profile: &DeviceProfile,
) -> Result<Timed> {
    let mut draws = None;
    let mut times = Vec::new();
    for run in runs {
        times.push((run.after, run.seconds.clone()));
        if run.after == After::Nothing {
            draws = Some(run.draws as f64 / plan.steps as f64);
        }
    }
    let instructions = row.kernels.as_ref().map(|kernels| -> Result<usize> {
        let counts = counts::Counts::new(&kernels.block, &kernels.order)?;
        Ok(counts.all * PIECE / kernels.block.block().unknowns())
    });
    let workload = row.kernels.as_ref().map(|kernels| kernels.workload());
    let blocks = (plan.size * plan.size / PIECE) as f64;
    Ok(Timed {
        name: row.name.clone(),
        runs: times,
        write: (row.after.len() > 1).then_some(write),
        paper: if plan.size == PAPERS_SIZE { row.paper } else { [None; 2] },
        draws,
        instructions: instructions.transpose()?,
        fetches: workload.map(|work| (work.fetches.own + work.fetches.adjacent) / blocks),
        predicted: workload.map(|work| profile.predict(&work)),
    })
}

fn check_last_step<'r, 'w: 'r>(
    row: &Row<'_>,
    runs: impl Iterator<Item = &'r mut Run<'w>>,
    plan: &Plan,
    twin: &Twin,
    report: &mut Report,
) -> Result {
    let name = |what: &str| format!("{}: {what}", row.name);
    let mut others: Option<Vec<f32>> = None;
    let (mut apart, mut readbacks) = (0, 0);
    for run in runs {
        let [now, before] = run.waves.levels()?;
        match &others {
            Some(other) => apart += differing_bits(&now, other),
            None if has_twin(row) => {
                let distance = share(twin.distance(&now), twin.bound());
                report.at_most(
                    name(&format!("distance after {} steps, over its bound", plan.steps)),
                    1.0,
                    distance,
                );
                report.set(&format!("relative_distance, {}", row.name), twin.distance(&now) / twin.norm());
                let [next, now] =
                    [&now, &before].map(|level| level.iter().map(|w| f64::from(*w)).collect::<Vec<_>>());
                let kept = (energy(plan.size, &next, &now) - twin.energy).abs();
                report.at_most(name("change of the energy, over its bound"), 1.0, share(kept, twin.drift));
                report.set(&format!("relative_change_of_energy, {}", row.name), kept / twin.energy);
            }
            None => (),
        }
        others = others.or(Some(now));
        readbacks += if run.after == After::Readback { 0 } else { run.readbacks };
        if run.after == After::Readback && row.after.len() > 1 {
            let (wanted, value) = (plan.steps as f64, run.readbacks as f64);
            report.check(name("readbacks with transfer"), wanted, value, wanted == value);
        }
    }
    if row.after.len() > 1 {
        report.at_most(name("values that differ between the columns"), 0.0, apart as f64);
        report.at_most(name("readbacks without transfer"), 0.0, readbacks as f64);
    }
    Ok(())
}
