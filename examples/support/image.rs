//! PNG files.

use std::path::Path;

use super::outcome::{Failure, Result, write_file};

/// Writes 8-bit RGB pixels, three bytes each, row by row from the top.
pub fn write_rgb(path: &Path, width: u32, height: u32, pixels: &[u8]) -> Result {
    write_file(path, &encode(png::ColorType::Rgb, width, height, pixels)?)
}

/// Writes 8-bit RGBA pixels, four bytes each, row by row from the top.
pub fn write_rgba(path: &Path, width: u32, height: u32, pixels: &[u8]) -> Result {
    write_file(path, &encode(png::ColorType::Rgba, width, height, pixels)?)
}

fn encode(color: png::ColorType, width: u32, height: u32, pixels: &[u8]) -> Result<Vec<u8>> {
    let fault = |error: png::EncodingError| Failure::unsolved(format_args!("PNG: {error}"));
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(fault)?;
    writer.write_image_data(pixels).map_err(fault)?;
    writer.finish().map_err(fault)?;
    Ok(bytes)
}
