//! The map's cells, and the towers as seen from them.

use crate::support::{Failure, Result};
use crate::towers::Tower;

/// Square cells over everything that is reached.
#[derive(Clone, Debug)]
pub struct Grid {
    pub width: usize,
    pub height: usize,
    /// Side of a cell in the map's units.
    pub cell: f64,
    /// x, y, reach and strength in cells, as the device is given them.
    pub towers: Vec<[f32; 4]>,
}

/// Cells that all discs together may cover, several times over; about a minute on a software rasteriser.
const MOST: f64 = 8e9;

impl Grid {
    /// `size` cells along the longer side.
    pub fn new(towers: &[Tower], size: usize) -> Result<Self> {
        let mut low = [f64::INFINITY; 2];
        let mut high = [f64::NEG_INFINITY; 2];
        for tower in towers {
            for (k, at) in [tower.x, tower.y].into_iter().enumerate() {
                low[k] = low[k].min(at - tower.range);
                high[k] = high[k].max(at + tower.range);
            }
        }
        let sides = [high[0] - low[0], high[1] - low[1]];
        let cell = sides[0].max(sides[1]) / size as f64;
        let [width, height] = sides.map(|side| ((side / cell).ceil() as usize).clamp(1, size));
        let cells = |v: f64| (v / cell) as f32;
        let towers: Vec<_> = towers
            .iter()
            .map(|t| [cells(t.x - low[0]), cells(t.y - low[1]), cells(t.range), t.strength as f32])
            .collect();
        let grid = Grid { width, height, cell, towers };
        let covered = grid.covered();
        if covered > MOST {
            return Err(Failure::bad_input(format_args!(
                "the towers' discs have {covered:.1e} cells, expected up to {MOST:.0e}: choose a smaller --size"
            )));
        }
        Ok(grid)
    }

    pub fn cells(&self) -> usize {
        self.width * self.height
    }

    /// Cells of all rectangles around discs, one after the other.
    pub fn covered(&self) -> f64 {
        let side = |at: f32, reach: f32, cells: usize| {
            let [from, to] = [at - reach, at + reach].map(|v| f64::from(v).clamp(0.0, cells as f64));
            to.ceil() - from.floor()
        };
        self.towers.iter().map(|[x, y, r, _]| side(*x, *r, self.width) * side(*y, *r, self.height)).sum()
    }
}
