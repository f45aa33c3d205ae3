//! A small RGB canvas: smooth lines and discs, boxes, and text in the built-in font.

use std::ops::Range;

use super::font;

/// Red, green, blue.
pub type Color = [u8; 3];

/// Which point of a text stands at the given place; vertically it is always the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Left,
    Middle,
    Right,
}

/// How much of each pixel a line covers, in the rectangle that it lies in.
struct Mask {
    columns: Range<usize>,
    rows: Range<usize>,
    coverage: Vec<f64>,
}

impl Mask {
    fn around(points: &[(f64, f64)], radius: f64, (width, height): (usize, usize)) -> Self {
        let range = |of: fn(&(f64, f64)) -> f64, end: usize| {
            let low = points.iter().map(of).fold(f64::INFINITY, f64::min);
            let high = points.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
            pixels((low, high), radius, end)
        };
        let (columns, rows) = (range(|p| p.0, width), range(|p| p.1, height));
        let coverage = vec![0.0; columns.len() * rows.len()];
        Mask { columns, rows, coverage }
    }

    /// Marks the pixels within `radius` of the segment from `a` to `b`.
    fn cover(&mut self, a: (f64, f64), b: (f64, f64), radius: f64) {
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let length2 = dx * dx + dy * dy;
        for y in pixels((a.1.min(b.1), a.1.max(b.1)), radius, self.rows.end) {
            for x in pixels((a.0.min(b.0), a.0.max(b.0)), radius, self.columns.end) {
                let (px, py) = (x as f64 + 0.5 - a.0, y as f64 + 0.5 - a.1);
                let along = if length2 > 0.0 { ((px * dx + py * dy) / length2).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (px - along * dx).hypot(py - along * dy);
                let coverage = (radius + 0.5 - distance).clamp(0.0, 1.0);
                let old =
                    &mut self.coverage[(y - self.rows.start) * self.columns.len() + x - self.columns.start];
                *old = old.max(coverage);
            }
        }
    }
}

/// The pixels, up to `end`, within a little more than `radius` of an interval; none for none.
fn pixels((low, high): (f64, f64), radius: f64, end: usize) -> Range<usize> {
    let first = (low - radius - 1.0).max(0.0) as usize;
    let last = ((high + radius + 2.0).max(0.0) as usize).min(end);
    first.min(last)..last
}

/// Pixels with the origin at the top left; the centre of the first pixel is (0.5, 0.5).
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    pub fn new(width: usize, height: usize, background: Color) -> Self {
        Self { width, height, pixels: background.repeat(width * height) }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn height(&self) -> usize {
        self.height
    }

    /// Three bytes a pixel, row by row from the top.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Mixes `color` into a pixel; places off the canvas are ignored.
    fn blend(&mut self, x: usize, y: usize, color: Color, coverage: f64) {
        if x >= self.width || y >= self.height {
            return;
        }
        let at = 3 * (y * self.width + x);
        for (old, new) in self.pixels[at..at + 3].iter_mut().zip(color) {
            let mixed = f64::from(*old) + (f64::from(new) - f64::from(*old)) * coverage.clamp(0.0, 1.0);
            *old = mixed.round() as u8;
        }
    }

    /// Fills the pixels from `(x, y)` on.
    pub fn fill(&mut self, (x, y): (usize, usize), (width, height): (usize, usize), color: Color) {
        for row in y..y + height {
            for column in x..x + width {
                self.blend(column, row, color, 1.0);
            }
        }
    }

    /// A smooth line through all points, mixed in once, so that joints do not show.
    pub fn polyline(&mut self, points: &[(f64, f64)], thickness: f64, color: Color) {
        let radius = thickness / 2.0;
        let mut mask = Mask::around(points, radius, (self.width, self.height));
        for pair in points.windows(2) {
            mask.cover(pair[0], pair[1], radius);
        }
        self.blend_mask(&mask, color);
    }

    /// A disc, smooth at its rim.
    pub fn disc(&mut self, center: (f64, f64), radius: f64, color: Color) {
        let mut mask = Mask::around(&[center], radius, (self.width, self.height));
        mask.cover(center, center, radius);
        self.blend_mask(&mask, color);
    }

    fn blend_mask(&mut self, mask: &Mask, color: Color) {
        for (y, row) in mask.rows.clone().zip(mask.coverage.chunks(mask.columns.len().max(1))) {
            for (x, &coverage) in mask.columns.clone().zip(row).filter(|&(_, &coverage)| coverage > 0.0) {
                self.blend(x, y, color, coverage);
            }
        }
    }

    /// A line of text; `scale` is the size of one dot of the font in pixels.
    pub fn text(&mut self, text: &str, at: (f64, f64), anchor: Anchor, scale: usize, color: Color) {
        let (left, top) = origin(text, anchor, scale);
        let (x0, y0) = (at.0 + left, at.1 + top);
        self.dots(text, scale, color, |x, y| (x0 + x, y0 + y));
    }

    /// A line of text that runs upwards, with its middle at the given place.
    pub fn text_upwards(&mut self, text: &str, at: (f64, f64), scale: usize, color: Color) {
        let (left, top) = origin(text, Anchor::Middle, scale);
        // The dot's own size, since it grows to the lower right from its corner.
        let size = scale as f64;
        let (x0, y0) = (at.0 + top, at.1 - left - size);
        self.dots(text, scale, color, |x, y| (x0 + y, y0 - x));
    }

    /// Draws each dot of a text where `place` maps its upper left corner to.
    fn dots(&mut self, text: &str, scale: usize, color: Color, place: impl Fn(f64, f64) -> (f64, f64)) {
        for (index, c) in text.chars().enumerate() {
            for (row, bits) in font::glyph(c).into_iter().enumerate() {
                for column in (0..font::WIDTH).filter(|column| bits >> (font::WIDTH - 1 - column) & 1 == 1) {
                    let x = (scale * (index * font::ADVANCE + column)) as f64;
                    let (x, y) = place(x, (scale * row) as f64);
                    if x >= 0.0 && y >= 0.0 {
                        self.fill((x.round() as usize, y.round() as usize), (scale, scale), color);
                    }
                }
            }
        }
    }
}

/// Upper left corner of a text relative to its anchor.
fn origin(text: &str, anchor: Anchor, scale: usize) -> (f64, f64) {
    let width = (scale * font::text_width(text)) as f64;
    let left = match anchor {
        Anchor::Left => 0.0,
        Anchor::Middle => -width / 2.0,
        Anchor::Right => -width,
    };
    (left.round(), -((scale * font::HEIGHT) as f64 / 2.0).round())
}
