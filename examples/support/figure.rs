//! Figures: plotters draws them as SVG, and a PNG is what resvg makes of that.

use std::io;
use std::path::{Path, PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};
use clap::builder::{PathBufValueParser, TypedValueParser};
use plotters::coord::Shift;
use plotters::prelude::*;
use resvg::{tiny_skia, usvg};

use super::files::write_file;
use super::image::encode;
use super::outcome::{Failure, Result};

/// Where a figure, or a part of it, is drawn.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Units of an area in a pixel: plotters knows whole ones alone.
pub const UNITS: u32 = 2;
/// Readable where it is known and where it is not; a PNG has the first.
pub const FONT: &str = "Ubuntu, Helvetica, Arial, sans-serif";

pub const PAPER: RGBColor = RGBColor(255, 255, 255);
pub const INK: RGBColor = RGBColor(40, 44, 52);
pub const FAINT_INK: RGBColor = RGBColor(90, 96, 106);
pub const GRID: RGBColor = RGBColor(222, 226, 232);
pub const FINE_GRID: RGBColor = RGBColor(242, 244, 247);
pub const LEVEL: RGBColor = RGBColor(200, 60, 50);
/// Told apart also by those who do not see red and green.
pub const SERIES: [RGBColor; 6] = [
    RGBColor(0, 98, 178),
    RGBColor(230, 140, 0),
    RGBColor(0, 148, 110),
    RGBColor(190, 90, 160),
    RGBColor(90, 176, 226),
    RGBColor(110, 90, 60),
];

/// Pixels within a figure.
pub struct Raster {
    pub at: (u32, u32),
    /// Pixels of the figure along a side of one of these.
    pub scale: u32,
    pub width: u32,
    /// Three bytes each, row by row from the top.
    pub pixels: Vec<u8>,
}

impl Raster {
    pub fn height(&self) -> u32 {
        self.pixels.len() as u32 / 3 / self.width.max(1)
    }

    fn svg(&self) -> Result<String> {
        let (x, y) = (UNITS * self.at.0, UNITS * self.at.1);
        let [w, h] = [self.width, self.height()].map(|pixels| UNITS * self.scale * pixels);
        let png =
            BASE64_STANDARD.encode(encode(png::ColorType::Rgb, self.width, self.height(), &self.pixels)?);
        Ok(format!(
            "<image x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" style=\"image-rendering: pixelated\" \
             href=\"data:image/png;base64,{png}\"/>\n"
        ))
    }

    /// resvg itself would need three crates for formats that are not used here.
    fn draw(&self, pixels: &mut tiny_skia::Pixmap) {
        let rgba: Vec<u8> = self.pixels.chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect();
        let [x, y, scale] = [self.at.0, self.at.1, self.scale].map(|n| n as f32);
        let place = tiny_skia::Transform::from_row(scale, 0.0, 0.0, scale, x, y);
        if let Some(raster) = tiny_skia::PixmapRef::from_bytes(&rgba, self.width, self.height()) {
            pixels.draw_pixmap(0, 0, raster, &tiny_skia::PixmapPaint::default(), place, None);
        }
    }
}

impl From<DrawingAreaErrorKind<io::Error>> for Failure {
    fn from(error: DrawingAreaErrorKind<io::Error>) -> Self {
        Self::unsolved(format_args!("figure: {error}"))
    }
}

fn is_svg(path: &Path) -> Result<bool, String> {
    match path.extension().map(|e| e.to_string_lossy().to_lowercase()).as_deref() {
        Some("svg") => Ok(true),
        Some("png") => Ok(false),
        _ => Err("expected a name that ends in .svg or .png".to_owned()),
    }
}

/// The `value_parser` of a flag that names a figure.
pub fn figure_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| is_svg(&path).map(|_| path))
}

/// Draws a figure of so many pixels and writes it as its name says; a path that cannot be written is bad input. What is
/// added to the list lies above all that is drawn.
pub fn write(
    path: &Path,
    title: &str,
    size: (u32, u32),
    draw: impl FnOnce(&Area, &mut Vec<Raster>) -> Result,
) -> Result {
    let is_svg =
        is_svg(path).map_err(|e| Failure::bad_input(format_args!("cannot write {}: {e}", path.display())))?;
    let (w, h) = size;
    let (mut drawn, mut rasters) = (String::new(), Vec::new());
    let area = SVGBackend::with_string(&mut drawn, (UNITS * w, UNITS * h)).into_drawing_area();
    area.fill(&PAPER)?;
    draw(&area, &mut rasters)?;
    area.present()?;
    drop(area);
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    let (_, elements) = drawn.split_once('>').unwrap_or_default();
    let images = rasters.iter().map(Raster::svg).collect::<Result<String>>()?;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {} {}\" role=\"img\">\n\
         <title>{title}</title>{}",
        UNITS * w,
        UNITS * h,
        elements.replace("</svg>", &format!("{images}</svg>"))
    );
    if is_svg { write_file(path, svg.as_bytes()) } else { write_file(path, &png(&svg, size, &rasters)?) }
}

fn png(svg: &str, (w, h): (u32, u32), rasters: &[Raster]) -> Result<Vec<u8>> {
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    let family = fonts.faces().next().map(|face| face.families[0].0.clone()).unwrap_or_default();
    fonts.set_sans_serif_family(family);
    let tree = usvg::Tree::from_str(svg, &options).map_err(Failure::unsolved)?;
    let none = || Failure::unsolved(format_args!("figure: {w}x{h} pixels"));
    let mut pixels = tiny_skia::Pixmap::new(w, h).ok_or_else(none)?;
    resvg::render(&tree, tiny_skia::Transform::default(), &mut pixels.as_mut());
    rasters.iter().for_each(|raster| raster.draw(&mut pixels));
    // The paper is opaque, and so is every pixel.
    let rgb: Vec<u8> = pixels.pixels().iter().flat_map(|p| [p.red(), p.green(), p.blue()]).collect();
    encode(png::ColorType::Rgb, w, h, &rgb)
}
