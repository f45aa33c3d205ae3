//! Timing kernels whose costs differ by one thing at a time.

use std::cell::Cell;
use std::time::Duration;

use crate::data::Scalar;
use crate::device::Device;
use crate::error::Result;
use crate::gl::{Format, glsl};
use crate::kernel::{Accum, Domain, Draw, Operand, Points, PooledTexture, View};
use crate::platform::Instant;
use crate::profile::{DeviceProfile, Fetches};
use crate::shape::Extent;

/// Largest side of the textures read and written: 4 MiB each.
const LARGEST: u32 = 512;

/// A draw that fills them takes no more seconds than this, or they are smaller.
const FILLING: f64 = 1e-3;

/// Textures under the fragment where those are read.
const OWN: u8 = 2;

/// Rounds of the loops in the two kernels whose difference counts.
const ROUNDS: [i32; 2] = [1, 8];

/// The same where a draw has one fragment.
const CHAINED: [i32; 2] = [4, 64];

/// Sides of the two windows.
const WINDOWS: [i32; 2] = [4, 8];

/// Fetches and multiply-adds in a round.
const FETCHES: f64 = 4.0;
const MULTIPLY_ADDS: f64 = 64.0;

/// Side of a target that is one tile of a rasteriser.
const TILE: u32 = 64;

/// Rounds over everything at most.
const MOST: u32 = 50;

/// Between two looks at the clock: shorter than what a busy machine gives one process before it turns to another.
const SHORTEST: Duration = Duration::from_micros(200);
const LONGEST: Duration = Duration::from_millis(1);

/// Something that is timed. What it takes is the least of all rounds: what else keeps the machine busy only ever adds.
struct Timed<'a> {
    run: Box<dyn Fn() -> Result<()> + 'a>,
    /// How often it runs between two looks at the clock.
    times: u32,
    /// Of one run.
    least: f64,
}

struct Clock<'a> {
    device: &'a Device,
    all: Vec<Timed<'a>>,
}

impl<'a> Clock<'a> {
    /// The number by which to ask for it later.
    fn add(&mut self, run: impl Fn() -> Result<()> + 'a) -> usize {
        self.all.push(Timed { run: Box::new(run), times: 1, least: f64::MAX });
        self.all.len() - 1
    }

    /// Compiles everything, then finds out how often each has to run for a time to be told; then times all in turn, so that
    /// a slow moment does not hit one of them alone, until `deadline`.
    fn run(&mut self, each: Duration, deadline: Instant) -> Result<()> {
        for timed in &mut self.all {
            seconds(self.device, timed)?;
        }
        for timed in &mut self.all {
            let wanted = each.as_secs_f64();
            while timed.times < 1 << 12 {
                let took = seconds(self.device, timed)?;
                if took * f64::from(timed.times) >= 0.5 * wanted {
                    break;
                }
                // What is too short to tell grows step by step.
                let more = (wanted / took / f64::from(timed.times)).clamp(2.0, 16.0);
                timed.times = (f64::from(timed.times) * more) as u32;
            }
        }
        for round in 0..MOST {
            if round > 0 && Instant::now() >= deadline {
                break;
            }
            for timed in &mut self.all {
                timed.least = seconds(self.device, timed)?.min(timed.least);
            }
        }
        Ok(())
    }

    fn seconds(&self, which: usize) -> f64 {
        self.all.get(which).map_or(0.0, |timed| timed.least)
    }

    /// What each of `count` things takes, by which one run is longer than another. What is lost in noise is taken for a
    /// hundredth of the whole: it can hardly be more, and is not nothing.
    fn rate(&self, more: usize, less: usize, count: f64) -> f64 {
        let whole = self.seconds(more);
        (whole - self.seconds(less)).max(0.01 * whole) / count
    }
}

/// Seconds of one run, after another one that brings what it reads into the caches.
fn seconds(device: &Device, timed: &Timed<'_>) -> Result<f64> {
    (timed.run)()?;
    device.finish()?;
    let started = Instant::now();
    (0..timed.times).try_for_each(|_| (timed.run)())?;
    device.finish()?;
    // A clock may have ticks.
    Ok(started.elapsed().as_secs_f64().max(1e-9) / f64::from(timed.times))
}

/// A cleared texture.
fn texture(device: &Device, side: u32, format: Format) -> Result<PooledTexture> {
    let texture = device.texture(Extent::new(side, side), format, "device profile")?;
    device.gl().clear(texture.texture(), [0.5; 4], "device profile")?;
    Ok(texture)
}

fn view(texture: &PooledTexture) -> View<'_> {
    View::whole(texture.device(), texture.texture())
}

/// A draw that writes and does nothing else.
fn write<'a>(device: &'a Device, targets: impl IntoIterator<Item = View<'a>>) -> Draw<'a> {
    let targets: Vec<_> = targets.into_iter().collect();
    let draw = Draw::new(device, glsl!("profile/write.frag")).define("TARGETS", targets.len() as u32);
    draw.targets(targets)
}

/// A draw that reads so many of these.
fn read<'a>(device: &'a Device, from: &'a [PooledTexture], inputs: u8) -> Draw<'a> {
    let inputs = from.iter().take(inputs.into()).map(view);
    Draw::new(device, glsl!("profile/read.frag")).inputs("x", inputs)
}

/// The side of the textures, a power of two: as large as is read and written within reason.
fn side(device: &Device) -> Result<u32> {
    let most = LARGEST.min(1 << device.max_texture_size().max(2).ilog2());
    let mut side = most.min(64);
    while side < most {
        let target = texture(device, side, Format::Rgba32F)?;
        let run = Box::new(|| write(device, [view(&target)]).run());
        let timed = Timed { run, times: 1, least: f64::MAX };
        seconds(device, &timed)?;
        if seconds(device, &timed)?.min(seconds(device, &timed)?) > 0.25 * FILLING {
            break;
        }
        side *= 2;
    }
    Ok(side)
}

impl DeviceProfile {
    /// Measures the device, in less than two seconds on those looked at: times kernels in pairs that differ by one thing,
    /// many times over and all in turns, and takes the least of each. What else keeps the machine busy hardly shows.
    ///
    /// *Cost*: some ten thousand draws, during which the device is waited for; the compilation of about 30 programs, which
    /// stay until [`Device::trim`](crate::Device::trim); 45 MiB of textures at most, which go back to the pool.
    /// *Errors*: [`Error::OutOfMemory`](crate::Error::OutOfMemory), [`Error::HostGl`](crate::Error::HostGl),
    /// [`Error::ContextLost`](crate::Error::ContextLost).
    pub fn measure(device: &Device) -> Result<Self> {
        Self::measure_within(device, Duration::from_millis(1400))
    }

    /// As [`measure`](Self::measure), with no new round begun after `limit`. One round is always made; with that alone the
    /// numbers are of the right order, and no more.
    pub fn measure_within(device: &Device, limit: Duration) -> Result<Self> {
        let started = Instant::now();
        // A limit past the end of time is the time that all rounds take.
        let deadline = started.checked_add(limit).unwrap_or(started + Duration::from_secs(60));
        let _scope = device.scope()?;
        let caps = device.capabilities();
        let side = side(device)?;
        let set = |side, format, count: u32| {
            (0..count).map(|_| texture(device, side, format)).collect::<Result<Vec<_>>>()
        };
        let most = caps.max_draw_buffers.clamp(1, 4);
        // A fragment that loops takes long where the CPU computes it.
        let inner = if caps.software { side / 4 } else { side / 2 }.max(1);
        let (sources, sources_r) = (set(side, Format::Rgba32F, 2)?, set(side, Format::R32F, 2)?);
        // Two sets that differ in their first.
        let (large, small) = (set(side, Format::Rgba32F, most + 1)?, set(inner, Format::Rgba32F, 2)?);
        let tiles = set(inner.min(TILE), Format::Rgba32F, 2)?;
        // Places that are looked up: zero, to which kernels add.
        let slots = inner * inner;
        let table = device.texture(Extent::new(inner, inner), Format::Rgba32Ui, "device profile")?;
        device.gl().upload(table.texture(), &vec![0; 4 * slots as usize], "device profile")?;
        let across = side.min(64);
        let (dotted, points) = (texture(device, across, Format::Rgba32F)?, across * across);
        let numbered = Points::numbered(device, points as usize)?;
        let specks = [Scalar::zero(device)?, Scalar::zero(device)?];
        let accum = if caps.float_blend { Accum::Add } else { Accum::Replace };
        // A draw that covers what the last one has left may spare the device that one: targets take turns.
        let turn = &Cell::new(0usize);
        let next = || turn.replace(turn.get() ^ 1);
        let speck = |k: usize| specks.iter().skip(k).take(1).map(Operand::view);
        let large = |k: usize, count: usize| large.iter().skip(k).take(count).map(view);
        let small = |k: usize| small.iter().skip(k).take(1).map(view);
        let tile = |k: usize| tiles.iter().skip(k).take(1).map(view);
        let (speck, large, small, tile, table) = (&speck, &large, &small, &tile, &table);
        let (sources, sources_r) = (sources.as_slice(), sources_r.as_slice());
        let last = side as i32 - 1;
        // Of these, in a pattern.
        let fetching = &move |from, pattern, rounds: i32, window: i32| {
            let indexed = matches!(pattern, "INDEXED" | "SCATTERED");
            let draw = read(device, from, 1 + u8::from(indexed)).define(pattern, 1u8);
            let draw = draw.param("last", last).param("rounds", rounds).param("window", [window; 2]);
            let draw = draw.param("slots", slots as i32).param("elements", 4 * (last + 1) * (last + 1) - 1);
            let draw = draw.ints("shifts", vec![-32, -1, 1, 32]);
            if indexed { draw.unsigned("columns", view(table)) } else { draw }
        };

        let mut clock = Clock { device, all: Vec::new() };
        let drawing = clock.add(|| write(device, speck(0)).run());
        let changing = clock.add(|| write(device, speck(next())).run());
        let writing: Vec<_> =
            (1..=most as usize).map(|n| clock.add(move || write(device, large(next(), n)).run())).collect();
        let writing_less = clock.add(|| write(device, small(next())).run());
        let cutting = clock.add(|| write(device, large(next(), 1)).masked(true).run());
        let reading = [(sources, true), (sources_r, false)].map(|(from, all)| {
            let own =
                clock.add(move || read(device, from, OWN).define("OWN", OWN).targets(large(next(), 1)).run());
            let mut looping = |pattern, of: [[i32; 2]; 2]| {
                of.map(|[rounds, window]| {
                    clock.add(move || fetching(from, pattern, rounds, window).targets(small(next())).run())
                })
            };
            let rounds = ROUNDS.map(|n| [n, 1]);
            let plain = ["ADJACENT", "STRIDED"].map(|pattern| looping(pattern, rounds));
            let indices = all.then(|| {
                let rest = ["SHIFTED", "INDEXED", "SCATTERED"].map(|pattern| looping(pattern, rounds));
                (rest, looping("LOOPED", WINDOWS.map(|n| [1, n])))
            });
            (own, plain, indices)
        });
        let narrow = ROUNDS
            .map(|n| clock.add(move || fetching(sources, "ADJACENT", n, 1).targets(tile(next())).run()));
        let chained = CHAINED
            .map(|n| clock.add(move || fetching(sources, "ADJACENT", n, 1).targets(speck(next())).run()));
        let computing = ROUNDS.map(|n| {
            clock.add(move || {
                let draw = Draw::new(device, glsl!("profile/compute.frag")).param("rounds", n);
                draw.param("factor", 0.5f32).targets(small(next())).run()
            })
        });
        let blending = clock.add(|| write(device, large(next(), 1)).accumulate(accum).run());
        let scattering = clock.add(|| {
            let draw = Draw::new(device, glsl!("profile/point.vert")).placing(&[]).target(view(&dotted));
            draw.on(Domain::Points(&numbered)).accumulate(accum).run()
        });
        let waiting = clock.add(|| {
            write(device, speck(0)).run()?;
            specks.first().map_or(Ok(()), |speck| speck.read_async()?.wait().map(drop))
        });
        clock.run((limit / 240).clamp(SHORTEST, LONGEST), deadline)?;

        // Of the large textures and of the small ones.
        let area = |side: u32| f64::from(side) * f64::from(side);
        let (texels, fewer) = (area(side), area(inner));
        let pair = |[less, more]: [usize; 2], count| clock.rate(more, less, count);
        let more_rounds = f64::from(ROUNDS[1] - ROUNDS[0]);
        let [fetch, fetch_r32f] = reading.map(|(own, [adjacent, strided], indices)| {
            let [adjacent, strided] = [adjacent, strided].map(|p| pair(p, FETCHES * more_rounds * fewer));
            let first = writing.first().copied().unwrap_or(changing);
            let own = clock.rate(own, first, f64::from(OWN) * texels);
            let (mut shifted, mut looped, mut indexed, mut scattered) = (0.0, 0.0, 0.0, 0.0);
            if let Some(([shifts, near, far], windows)) = indices {
                shifted = pair(shifts, FETCHES * more_rounds * fewer);
                // All of the fragment: such a loop is entered once.
                let whole = |[_, more]: [usize; 2]| {
                    clock.rate(more, writing_less, FETCHES * f64::from(ROUNDS[1]) * fewer)
                };
                (indexed, scattered) = (whole(near), whole(far));
                let [less, more] = WINDOWS.map(|n| f64::from(n * n));
                looped = pair(windows, (more - less) * fewer);
            }
            Fetches { own, adjacent, shifted, looped, indexed, strided, scattered }
        });
        // Indices are computed alike.
        let alike = |of: f64| (fetch_r32f.adjacent + of - fetch.adjacent).max(fetch_r32f.adjacent);
        let fetch_r32f = fetch_r32f
            .with_shifted(alike(fetch.shifted))
            .with_looped(alike(fetch.looped))
            .with_indexed(alike(fetch.indexed))
            .with_scattered(alike(fetch.scattered));
        let mut written_texel = [0.0; 4];
        let mut last = 0.0;
        for (n, written) in (1..).zip(&mut written_texel) {
            last = writing.get(n - 1).map_or(last, |w| clock.rate(*w, changing, n as f64 * texels));
            *written = last;
        }
        // What fetches of one tile take longer, of which some is that they wait for one another.
        let chained_fetch = pair(chained, FETCHES * f64::from(CHAINED[1] - CHAINED[0]));
        let in_tile = area(inner.min(TILE));
        let narrow_fetch =
            pair(narrow, FETCHES * more_rounds * in_tile) - fetch.adjacent - chained_fetch / in_tile;
        // A draw that fetches and writes, beside what either takes.
        let [(_, [[once, _], _], _), _] = reading;
        let [fetched, written] = [FETCHES * fetch.adjacent, written_texel[0]].map(|part| part * fewer);
        let saved = fetched + written - clock.rate(once, changing, 1.0);
        Ok(DeviceProfile {
            device: caps.renderer,
            driver: caps.version,
            draw: clock.seconds(drawing),
            target_change: clock.rate(changing, drawing, 1.0),
            written_texel,
            fetch,
            fetch_r32f,
            // Never nothing, as all that is measured.
            narrow_fetch: narrow_fetch.max(0.01 * fetch.adjacent),
            chained_fetch,
            cut_texel: writing.first().map_or(0.0, |first| clock.rate(cutting, *first, texels)),
            multiply_add: pair(computing, MULTIPLY_ADDS * more_rounds * fewer),
            blended_texel: if caps.float_blend {
                clock.rate(blending, changing, texels)
            } else {
                written_texel[0] + fetch.own
            },
            point: clock.rate(scattering, drawing, f64::from(points)),
            readback: clock.rate(waiting, drawing, 1.0),
            overlap: (saved / fetched.min(written)).clamp(0.0, 1.0),
        })
    }
}
