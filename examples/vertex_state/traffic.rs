//! Five cars over a road, [Bajaj04] section 3.2: a Runge-Kutta step a vertex, drawn from where it leaves its result.

use std::path::Path;

use texla::pack::LinearExpression;
use texla::solve::VertexRungeKutta;
use texla::{BufferVector, Headless};

use super::bound::{self, Carried};
use super::lanes::Lanes;
use super::support::plot::LinePlot;
use super::support::{Animation, Report, Result, worst};
use super::suspension::{Fleet, STATE, Twin, cars};
use super::{PICTURES_A_SECOND, SHOWN_EVERY, STEP, packings};

const SIZE: (u32, u32) = (560, 500);
/// Cars whose motion is plotted.
const PLOTTED: usize = 3;

pub fn run(
    context: &Headless,
    steps: usize,
    animation: Option<&Path>,
    plot: Option<&Path>,
    report: &mut Report,
) -> Result {
    let device = context.device();
    let fleet = Fleet { cars: cars(), h: STEP };
    let e = LinearExpression::ode_stage(&fleet.matrix()?, &Fleet::nontrivial(), STEP)?;
    let forcing: Vec<[Vec<f32>; 3]> =
        (0..steps).map(|k| [0.0, 0.5, 1.0].map(|part| fleet.forcing((k as f64 + part) * STEP))).collect();
    let rows = (0..e.unknowns()).map(|i| e.row(i).map(|(j, g)| (j, f64::from(g as f32))).collect());
    let motion = Motion::run(Twin { rows: rows.collect() }, &forcing);
    for (name, packing) in packings("cars", &e, report)? {
        let stepper = VertexRungeKutta::new(device, &e, &packing)?;
        let order = packing.rows();
        let n = order.len();
        let (mut y, mut next) = (BufferVector::zeros(device, n)?, BufferVector::zeros(device, n)?);
        let mut beta = BufferVector::zeros(device, 3 * n)?;
        let shown = animation.filter(|_| name == "packed");
        // SAFETY: the context is current, and outlives the lanes.
        #[allow(unsafe_code)]
        let lanes = shown.map(|_| unsafe { Lanes::new(&context.glow(), order, SIZE) }).transpose()?;
        let mut pictures = Animation::new(SIZE, PICTURES_A_SECOND);
        let readbacks = device.counters().readbacks;
        for (k, parts) in forcing.iter().enumerate() {
            beta.write(&parts.iter().flat_map(|part| order.packed(part)).collect::<Vec<_>>())?;
            stepper.step(&mut next, &y, &beta)?;
            std::mem::swap(&mut y, &mut next);
            if let (Some(lanes), true) = (&lanes, k % SHOWN_EVERY == 0) {
                pictures.push(lanes.draw(&y, &fleet.cars, (k + 1) as f64 * STEP));
            }
        }
        let readbacks = device.counters().readbacks - readbacks;
        report.at_most(
            format!("cars {name}: readbacks while they are computed and drawn"),
            0.0,
            readbacks as f64,
        );
        let found = order.unpacked(&y.read()?);
        let share = bound::share(&found, motion.states.last().map_or(&[], Vec::as_slice), &motion.bounds);
        report.at_most(
            format!("cars {name}: distance from 64 bits after {steps} steps, over the bound"),
            1.0,
            share,
        );
        shown.map_or(Ok(()), |path| pictures.write(path))?;
    }
    let most = motion.states.iter().flat_map(|y| y.iter().step_by(STATE)).fold(0.0, |m, y| worst(m, y.abs()));
    report.at_least("cars: greatest bounce in metres", 1e-3, most);
    report.at_most("cars: greatest bounce in metres, below half a wheel", 0.3, most);
    plot.map_or(Ok(()), |path| draw(path, &motion.states))
}

/// The motion in 64 bits, and how far that of a device may be off at its end.
struct Motion {
    states: Vec<Vec<f64>>,
    bounds: Vec<f64>,
}

impl Motion {
    fn run(twin: Twin, forcing: &[[Vec<f32>; 3]]) -> Self {
        let n = Fleet::unknowns();
        let step = |y: &[f64], [a, b, c]: [&[f32]; 3]| twin.step(y, [a, b, c]);
        let none = vec![0.0f32; n];
        let free = |y: &[f64]| step(y, [&none, &none, &none]).into_iter().map(|(value, _)| value).collect();
        let mut carried = Carried::new(n, free);
        let mut states = vec![vec![0.0; n]];
        for [begin, middle, end] in forcing {
            let y = states.last().map_or(&[][..], Vec::as_slice);
            let times = [&begin[..], &middle[..], &end[..]];
            // The device's step begins a little off: its rounding is that of the larger of both.
            let (signs, off): (Vec<f64>, Vec<f64>) = (y.to_vec(), carried.bound());
            let wide: Vec<f64> = signs.iter().zip(off).map(|(y, off)| y + off.copysign(*y)).collect();
            let local: Vec<f64> = step(y, times)
                .into_iter()
                .zip(step(&wide, times))
                .map(|((_, a), (_, b))| 1.01 * a.max(b))
                .collect();
            let next = step(y, times).into_iter().map(|(value, _)| value).collect();
            carried.advance(&local);
            states.push(next);
        }
        Motion { states, bounds: carried.bound() }
    }
}

/// Bounce and pitch against time.
fn draw(path: &Path, states: &[Vec<f64>]) -> Result {
    let mut plot = LinePlot {
        title: "Five cars over a road: bounce and pitch",
        subtitle: "fourth-order Runge-Kutta in the vertex stage, 60 steps a second; three of the cars"
            .to_owned(),
        axes: ["seconds", "bounce in cm, pitch in degrees"],
        ..LinePlot::default()
    };
    let names = ["bounce", "pitch"];
    for k in 0..PLOTTED {
        for (what, (name, scale)) in names.into_iter().zip([100.0, 1f64.to_degrees()]).enumerate() {
            let at = STATE * k + 2 * what;
            let curve = states.iter().enumerate().map(|(s, y)| (s as f64 * STEP, scale * y[at]));
            plot.curves.push((format!("car {}: {name}", k + 1), curve.collect()));
        }
    }
    plot.write(path)
}
