//! The map by loops on the CPU, tower by tower and cell by cell, in any numbers.

use crate::grid::Grid;
use crate::support::bounded::Number;

/// The strongest signal in every cell of every `step`-th row. A rectangle is a cell larger than it has to be, which is
/// more than rounding can do.
pub fn strongest<T: Number>(grid: &Grid, step: usize) -> Vec<Vec<T>> {
    let zero = T::of(0.0);
    let mut rows = vec![vec![zero; grid.width]; grid.height.div_ceil(step)];
    for tower in &grid.towers {
        let [x, y, reach, strength] = tower.map(T::of);
        let range = |at: f32, cells: usize| {
            let [from, to] = [at - tower[2] - 1.0, at + tower[2] + 2.0];
            (from.max(0.0) as usize).min(cells)..(to.max(0.0) as usize).min(cells)
        };
        let (columns, lines) = (range(tower[0], grid.width), range(tower[1], grid.height));
        for (k, row) in rows.iter_mut().enumerate() {
            if !lines.contains(&(k * step)) {
                continue;
            }
            let dy = T::of((k * step) as f32 + 0.5) - y;
            for (column, cell) in columns.clone().zip(&mut row[columns.clone()]) {
                let dx = T::of(column as f32 + 0.5) - x;
                let signal = strength * (T::of(1.0) - (dx * dx + dy * dy).root() / reach).larger(zero);
                *cell = cell.larger(signal);
            }
        }
    }
    rows
}
