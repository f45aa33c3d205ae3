//! PNG files.

use std::path::Path;

use super::files::write_file;
use super::outcome::{Failure, Result};

/// Writes 8-bit RGB pixels, three bytes each, row by row from the top.
pub fn write_rgb(path: &Path, width: u32, height: u32, pixels: &[u8]) -> Result {
    write_file(path, &encode(png::ColorType::Rgb, width, height, pixels)?)
}

/// The first three of every four numbers from 0 to 1, as bytes.
pub fn bytes_of(texels: &[f32]) -> Vec<u8> {
    let byte = |v: f32| (255.0 * v).round() as u8;
    texels.chunks_exact(4).flat_map(|t| [t[0], t[1], t[2]].map(byte)).collect()
}

impl From<png::EncodingError> for Failure {
    fn from(error: png::EncodingError) -> Self {
        Self::unsolved(format_args!("PNG: {error}"))
    }
}

/// The bytes of a PNG file with 8 bits a sample, row by row from the top.
pub fn encode(color: png::ColorType, width: u32, height: u32, pixels: &[u8]) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}
