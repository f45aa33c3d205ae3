//! Every photon against the twin, and the whole map against the twin's.

use std::time::Instant;

use crate::device::{Map, TALLIES, Tracer};
use crate::photons::Source;
use crate::scene::Scene;
use crate::support::bounded::{Bounded, Number};
use crate::support::{Progress, Report, Result, worst};
use crate::twin::{End, PATHS, texel, trace};

/// Photons by way: on the square, past it, absorbed.
pub type Table = [[u64; 3]; PATHS.len()];

/// What the twin has found.
pub struct Checked {
    /// Of the device.
    pub table: Table,
    /// Photons on the square, in 64 bits.
    pub landed: u64,
    pub unsure: u64,
}

/// Counts as the device does, with a CPU's own numbers; gives the seconds too, without making the photons.
pub fn count<T: Number>(scene: &Scene, source: &Source, size: usize) -> (Vec<f32>, f64) {
    let mut map = vec![0.0; 4 * (size * size + TALLIES)];
    let mut seconds = 0.0;
    for batch in 0..source.batches() {
        let photons = source.batch(batch);
        let started = Instant::now();
        for (i, (way, chances)) in photons.ways.iter().zip(&photons.chances).enumerate() {
            let fate = trace::<T>(scene, i % 3, *way, *chances);
            let end = match texel(&fate, size, &mut true) {
                Some(t) => t,
                None => size * size + 3 * fate.path + 1 + usize::from(fate.end == End::Absorbed),
            };
            map[4 * end + i % 3] += 1.0;
        }
        seconds += started.elapsed().as_secs_f64();
    }
    (map, seconds)
}

/// Compares photon by photon; `map` is what the device has counted of the same photons, `exact` what 64 bits have.
pub fn check(
    scene: &Scene,
    source: &Source,
    tracer: &Tracer,
    (map, exact): (&Map, &[f32]),
    (photons, size): (usize, usize),
    report: &mut Report,
) -> Result<Checked> {
    let mut found = Checked { table: Table::default(), landed: 0, unsure: 0 };
    let (mut wrong, mut furthest) = (0u64, 0.0);
    let progress = Progress::new("checking", source.batches() as u64);
    for batch in 0..source.batches() {
        let (made, fates) = (source.batch(batch), tracer.fates(source, batch)?);
        for (i, (way, chances)) in made.ways.iter().zip(&made.chances).enumerate() {
            let fate = trace::<Bounded>(scene, i % 3, *way, *chances);
            let device = &fates[4 * i..4 * i + 4];
            let mut sure = fate.sure;
            let expected = texel(&fate, size, &mut sure);
            let same_way = device[2] == fate.path as f32 && device[3] == f32::from(fate.end as u8);
            let landed = device_texel(device, size);
            if fate.sure {
                for (at, place) in fate.at.iter().zip(device) {
                    furthest = worst(furthest, at.share(f64::from(*place)));
                }
            }
            found.landed += u64::from(expected.is_some());
            found.unsure += u64::from(!sure);
            wrong += u64::from(fate.sure && !same_way || sure && landed != expected);
            let column = if device[3] == 2.0 { 2 } else { usize::from(landed.is_none()) };
            if let Some(row) = found.table.get_mut(device[2] as usize) {
                row[column] += 1;
            }
        }
        progress.set(batch as u64 + 1);
    }
    progress.finish();

    let [all, landed] = map.totals()?;
    let sent = photons as f64;
    report.at_most("photons sent and neither on the square nor in a tally", 0.0, (sent - all).abs());
    let left = sent - found.landed as f64;
    report.at_most(
        "energy on the square, against what was sent less what left in 64 bits",
        1e-5_f64.max(1.0 / sent), // a photon, where there are few
        (landed - (sent - left)).abs() / sent,
    );
    report.at_most("photons that fared otherwise than in 64 bits", 0.0, wrong as f64);
    report.at_most("distance of a photon from its place in 64 bits, over the bound", 1.0, furthest);
    // The checks would say little if they left out many photons: those near a texel's edge.
    let open = 0.02 * (size as f64 / 256.0).max(1.0);
    report.at_most("share of the photons that the bound leaves open", open, found.unsure as f64 / sent);
    // One that goes elsewhere is missing in one place and too many in another.
    let map = map.read()?;
    let missing = map.len().abs_diff(exact.len()) as f64;
    let apart: f64 = missing + map.iter().zip(exact).map(|(a, b)| f64::from((a - b).abs())).sum::<f64>();
    report.at_most("photons elsewhere on the map than in 64 bits", 2.0 * found.unsure as f64, apart);
    Ok(found)
}

/// Where a photon lies by the device's own account.
fn device_texel(fate: &[f32], size: usize) -> Option<usize> {
    let side = size as f32;
    let q = [fate[0], fate[1]].map(|v| (0.5 * v + 0.5) * side);
    let inside = fate[3] == 0.0 && q.iter().all(|v| (0.0..side).contains(v));
    inside.then(|| q[1] as usize * size + q[0] as usize)
}
