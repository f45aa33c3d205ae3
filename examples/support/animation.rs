//! An animated PNG: after the first frame only the rectangle that has changed, and there only the pixels that have.

use std::path::Path;

use png::{BitDepth, BlendOp, ColorType, Compression, DisposeOp, Encoder};

use super::files::write_file;
use super::outcome::Result;

/// Shades that nobody tells apart, of 255: soft shadows change a little nearly everywhere.
const SAME: u8 = 2;

/// Pictures of one size, three bytes a pixel, that are shown one after another.
pub struct Animation {
    size: (usize, usize),
    per_second: u16,
    pictures: Vec<Vec<u8>>,
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
        // Nothing yet: every opaque pixel differs from these.
        let mut shown = vec![[0; 4]; width * height];
        for picture in &self.pictures {
            let ((left, top), (wide, high), pixels) = self.show(&mut shown, picture);
            writer.set_frame_position(0, 0)?; // the next size has to fit there
            writer.set_frame_dimension(wide as u32, high as u32)?;
            writer.set_frame_position(left as u32, top as u32)?;
            writer.write_image_data(&pixels)?;
        }
        writer.finish()?;
        write_file(path, &bytes)
    }

    /// Changes what is shown, as a viewer does, where `picture` differs from it: place, size and pixels of a rectangle,
    /// four bytes a pixel, transparent where nothing has changed.
    fn show(&self, shown: &mut [[u8; 4]], picture: &[u8]) -> ((usize, usize), (usize, usize), Vec<u8>) {
        let (width, height) = self.size;
        let (mut low, mut high) = ((width - 1, height - 1), (0, 0));
        let mut changes = vec![[0; 4]; shown.len()];
        for (i, (rgb, shown)) in picture.chunks_exact(3).zip(shown).enumerate() {
            let pixel = [rgb[0], rgb[1], rgb[2], 255];
            if pixel.iter().zip(&*shown).any(|(a, b)| a.abs_diff(*b) > SAME) {
                let (x, y) = (i % width, i / width);
                low = (low.0.min(x), low.1.min(y));
                high = (high.0.max(x), high.1.max(y));
                (*shown, changes[i]) = (pixel, pixel);
            }
        }
        // Where nothing has changed at all, one pixel stays as it was.
        let (wide, high) = (high.0.max(low.0) - low.0 + 1, high.1.max(low.1) - low.1 + 1);
        let rows = changes.chunks_exact(width).skip(low.1).take(high);
        let pixels = rows.flat_map(|row| &row[low.0..low.0 + wide]).flatten().copied().collect();
        (low, (wide, high), pixels)
    }
}
