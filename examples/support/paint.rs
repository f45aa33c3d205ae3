//! What figures are drawn with where plotters has no chart for them. Lengths are pixels from the area's upper left corner.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::figure::{Area, FAINT_INK, FONT, INK, UNITS};
use super::outcome::Result;

fn units(pixels: f64) -> i32 {
    (f64::from(UNITS) * pixels).round() as i32
}

/// In the units of an area.
pub fn place((x, y): (f64, f64)) -> (i32, i32) {
    (units(x), units(y))
}

pub fn fill(area: &Area, at: (f64, f64), (w, h): (f64, f64), color: RGBColor) -> Result {
    Ok(area.draw(&Rectangle::new([place(at), place((at.0 + w, at.1 + h))], color.filled()))?)
}

pub fn polyline(area: &Area, points: &[(f64, f64)], thickness: f64, color: RGBColor) -> Result {
    let points: Vec<_> = points.iter().copied().map(place).collect();
    Ok(area.draw(&PathElement::new(points, color.stroke_width(units(thickness).max(1) as u32)))?)
}

pub fn disc(area: &Area, center: (f64, f64), radius: f64, color: RGBColor) -> Result {
    Ok(area.draw(&Circle::new(place(center), units(radius).max(1), color.filled()))?)
}

/// How text of so many pixels looks, by its left end and the middle of its height.
pub fn style(size: f64, color: RGBColor) -> TextStyle<'static> {
    // plotters takes the height of a line for the size of a font.
    let font = (FONT, 1.24 * f64::from(UNITS) * size).into_font();
    font.color(&color).pos(Pos::new(HPos::Left, VPos::Center))
}

/// The width of a text, or somewhat more: nobody knows what font it will meet.
pub fn width(text: &str, size: f64) -> f64 {
    0.56 * size * text.chars().count() as f64
}

/// A line of text of 16 pixels from its left end on.
pub fn text(area: &Area, text: &str, at: (f64, f64)) -> Result {
    Ok(area.draw(&Text::new(text, place(at), style(16.0, INK)))?)
}

/// A title and a smaller line under it, as large as they fit in; the area that is left.
pub fn heading<'a>(area: &Area<'a>, title: &str, subtitle: &str) -> Result<Area<'a>> {
    let room = f64::from(area.dim_in_pixel().0 / UNITS) - 40.0;
    for (text, y, size, color) in [(title, 32.0, 24.0, INK), (subtitle, 64.0, 16.0, FAINT_INK)] {
        let size = size * (room / width(text, size)).min(1.0);
        area.draw(&Text::new(text, place((20.0, y)), style(size, color)))?;
    }
    Ok(area.split_vertically(units(86.0)).1)
}

/// Names in columns along the lower end, each beside what `swatch` draws around a place; the area that is left.
pub fn legend<'a>(
    area: &Area<'a>,
    names: &[impl AsRef<str>],
    swatch: impl Fn(usize, (f64, f64), &Area<'a>) -> Result,
) -> Result<Area<'a>> {
    let (wide, high) = area.dim_in_pixel();
    let widest = names.iter().map(|name| width(name.as_ref(), 16.0)).fold(1.0, f64::max) + 64.0;
    let columns = ((f64::from(wide / UNITS) - 40.0) / widest).clamp(1.0, names.len().max(1) as f64) as usize;
    let top = 28.0 * names.len().div_ceil(columns) as f64 + if names.is_empty() { 0.0 } else { 10.0 };
    let (rest, strip) = area.split_vertically(high as i32 - units(top));
    for (k, name) in names.iter().enumerate() {
        let at = (20.0 + widest * (k % columns) as f64, 14.0 + 28.0 * (k / columns) as f64);
        swatch(k, at, &strip)?;
        text(&strip, name.as_ref(), (at.0 + 44.0, at.1))?;
    }
    Ok(rest)
}
