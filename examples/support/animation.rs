//! An animated PNG: after the first frame only the rectangle that has changed, and there only the pixels that have.

use std::path::Path;

use png::{BitDepth, BlendOp, ColorType, Compression, DisposeOp, Encoder, EncodingError};

use super::files::write_file;
use super::outcome::{Failure, Result};

/// Shades that nobody tells apart, of 255: soft shadows change a little nearly everywhere.
const SAME: u8 = 2;

/// Pictures of one size, three bytes a pixel, that are shown one after another.
pub struct Animation {
    size: (usize, usize),
    per_second: u16,
    pictures: Vec<Vec<u8>>,
}

/// Where a picture differs from what is shown.
struct Patch {
    at: (usize, usize),
    size: (usize, usize),
    /// Four bytes a pixel; transparent where nothing has changed.
    pixels: Vec<u8>,
}

impl Animation {
    pub fn new(size: (u32, u32), per_second: u16) -> Self {
        Animation { size: (size.0 as usize, size.1 as usize), per_second, pictures: Vec::new() }
    }

    pub fn push(&mut self, picture: Vec<u8>) {
        self.pictures.push(picture);
    }

    /// Writes the file; it is shown over and over.
    pub fn write(&self, path: &Path) -> Result {
        let bytes = self.encode().map_err(|error| Failure::unsolved(format_args!("PNG: {error}")))?;
        write_file(path, &bytes)
    }

    fn encode(&self) -> std::result::Result<Vec<u8>, EncodingError> {
        let mut bytes = Vec::new();
        let (width, height) = self.size;
        let mut encoder = Encoder::new(&mut bytes, width as u32, height as u32);
        encoder.set_color(ColorType::Rgba);
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(Compression::Balanced);
        encoder.set_animated(self.pictures.len() as u32, 0)?;
        encoder.set_frame_delay(1, self.per_second)?;
        encoder.set_dispose_op(DisposeOp::None)?;
        encoder.set_blend_op(BlendOp::Over)?;
        let mut writer = encoder.write_header()?;
        let mut shown: Option<Vec<u8>> = None;
        for picture in &self.pictures {
            let patch = self.patch(shown.as_deref(), picture);
            writer.set_frame_position(0, 0)?; // the next size has to fit there
            writer.set_frame_dimension(patch.size.0 as u32, patch.size.1 as u32)?;
            writer.set_frame_position(patch.at.0 as u32, patch.at.1 as u32)?;
            writer.write_image_data(&patch.pixels)?;
            let shown = shown.get_or_insert_with(|| picture.clone());
            self.lay(&patch, shown);
        }
        writer.finish()?;
        Ok(bytes)
    }

    /// What `picture` changes of what is shown.
    fn patch(&self, shown: Option<&[u8]>, picture: &[u8]) -> Patch {
        let (width, height) = self.size;
        let pixel = |picture: &[u8], x: usize, y: usize| {
            let at = 3 * (y * width + x);
            [picture[at], picture[at + 1], picture[at + 2]]
        };
        let changed = |x: usize, y: usize| {
            let far = |(a, b): (u8, u8)| a.abs_diff(b) > SAME;
            shown.is_none_or(|shown| pixel(shown, x, y).into_iter().zip(pixel(picture, x, y)).any(far))
        };
        let all = (0..height).flat_map(|y| (0..width).map(move |x| (x, y))).filter(|&(x, y)| changed(x, y));
        let (mut low, mut high) = ((width - 1, height - 1), (0, 0));
        for (x, y) in all {
            low = (low.0.min(x), low.1.min(y));
            high = (high.0.max(x), high.1.max(y));
        }
        // Where nothing has changed at all, one pixel stays as it was.
        let high = (high.0.max(low.0), high.1.max(low.1));
        let mut pixels = Vec::new();
        for y in low.1..=high.1 {
            for x in low.0..=high.0 {
                let [r, g, b] = pixel(picture, x, y);
                pixels.extend(if changed(x, y) { [r, g, b, 255] } else { [0; 4] });
            }
        }
        Patch { at: low, size: (high.0 - low.0 + 1, high.1 - low.1 + 1), pixels }
    }

    /// Shows a patch, as a viewer does.
    fn lay(&self, patch: &Patch, shown: &mut [u8]) {
        for (i, pixel) in patch.pixels.chunks(4).enumerate().filter(|(_, pixel)| pixel[3] == 255) {
            let (x, y) = (patch.at.0 + i % patch.size.0, patch.at.1 + i / patch.size.0);
            let at = 3 * (y * self.size.0 + x);
            shown[at..at + 3].copy_from_slice(&pixel[..3]);
        }
    }
}
