//! A picture of where a matrix has entries.

use std::path::Path;

use texla::host::Csr;

use super::support;

/// Most pixels along a side.
const MOST: usize = 512;

/// Writes the pattern: darker where more entries fall on a pixel.
pub fn write(a: &Csr, path: &Path) -> support::Result {
    let shape = a.shape();
    let longest = shape.rows.max(shape.cols).max(1);
    // Whole pixels for an entry of a small matrix, whole entries for a pixel of a large one.
    let (grow, shrink) = ((MOST / longest).max(1), longest.div_ceil(MOST));
    let side = |n: usize| (n.div_ceil(shrink) * grow).max(1);
    let (width, height) = (side(shape.cols), side(shape.rows));
    let mut hits = vec![0u32; width * height];
    for (i, j, v) in a.entries() {
        if v == 0.0 {
            continue;
        }
        let (x, y) = (j / shrink * grow, i / shrink * grow);
        for dy in 0..grow {
            for dx in 0..grow {
                hits[(y + dy) * width + x + dx] += 1;
            }
        }
    }
    let most = f64::from(hits.iter().copied().max().unwrap_or(1).max(1));
    // One entry shows, however many others there are.
    let shade = |count: u32| match count {
        0 => [255u8, 255, 255],
        count => {
            let dark = 0.35 + 0.65 * f64::from(count).ln_1p() / most.ln_1p();
            [(255.0 - 215.0 * dark) as u8, (255.0 - 175.0 * dark) as u8, (255.0 - 75.0 * dark) as u8]
        }
    };
    let pixels: Vec<u8> = hits.into_iter().flat_map(shade).collect();
    support::write_rgb(path, width as u32, height as u32, &pixels)
}
