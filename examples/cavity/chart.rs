//! Both profiles as curves, the published velocities as dots.

use std::path::Path;

use plotters::prelude::{Circle, Color, LineSeries};

use crate::flow::Profiles;
use crate::support::Result;
use crate::support::figure::{self, Area, SERIES};
use crate::support::paint::{disc, heading, legend, polyline};
use crate::support::plot::{frame, linear, value};
use crate::table;

/// A panel: its names, the ends of its axes, a curve and dots.
type Panel<'a> = ([&'a str; 2], [[f64; 2]; 2], &'a [(f64, f64)], &'a [(f64, f64)]);

/// Draws the chart and writes it.
pub fn write(path: &Path, profiles: &Profiles, subtitle: &str) -> Result {
    // Published and computed as (y, u), shown as (u, y).
    let [u, published] =
        [&profiles.u[..], &table::U].map(|of| of.iter().map(|(y, u)| (*u, *y)).collect::<Vec<_>>());
    let names = ["u at x = 0.5, of the lid's speed", "y, of the cavity's side"];
    let left: Panel = (names, [[-0.4, 1.0], [0.0, 1.0]], &u, &published);
    let names = ["x, of the cavity's side", "v at y = 0.5, of the lid's speed"];
    let right: Panel = (names, [[0.0, 1.0], [-0.32, 0.32]], &profiles.v, &table::V);
    let title = "Lid-driven cavity, Re = 100";
    figure::write(path, title, (1200, 680), |area, _| {
        let rest = heading(area, title, subtitle)?;
        let rest = legend(&rest, &["texla", "Ghia, Ghia, Shin 1982"], |k, (x, y), strip| match k {
            0 => polyline(strip, &[(x, y), (x + 34.0, y)], 3.0, SERIES[0]),
            _ => disc(strip, (x + 17.0, y), 5.0, SERIES[1]),
        })?;
        rest.split_evenly((1, 2)).iter().zip([left, right]).try_for_each(|(area, panel)| draw(area, panel))
    })
}

fn draw(area: &Area, (names, [x, y], curve, dots): Panel) -> Result {
    let mut chart = frame(area, [linear(x, 8), linear(y, 8)], names, [&value, &value])?;
    chart.draw_series(LineSeries::new(curve.iter().copied(), SERIES[0].stroke_width(5)))?;
    chart.draw_series(dots.iter().map(|at| Circle::new(*at, 10, SERIES[1].filled())))?;
    Ok(())
}
