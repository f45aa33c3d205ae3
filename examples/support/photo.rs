//! A user's image as linear light: PNG, Radiance HDR or OpenEXR.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::support::{Failure, Result};
use ::image::{DynamicImage, ImageReader, Limits};

/// Three floats a pixel, row by row from the top.
pub struct Photo {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<[f32; 3]>,
}

/// Bytes that an image may take while it is decoded: a header can promise anything.
const LARGEST: u64 = 1 << 30;

impl Photo {
    /// Reads a file by what it holds, whatever it is called. Integer samples are taken for sRGB and made linear, floats
    /// for linear already. What is wrong with the file is bad input.
    pub fn read(path: &Path) -> Result<Self> {
        let fault = |e: &dyn std::fmt::Display| {
            Failure::bad_input(format_args!("cannot read {}: {e}", path.display()))
        };
        // Not by the file's name: `ImageReader::open` would believe that where the content says nothing.
        let reader = File::open(path).and_then(|f| ImageReader::new(BufReader::new(f)).with_guessed_format());
        let mut reader = reader.map_err(|e| fault(&e))?;
        if reader.format().is_none() {
            return Err(fault(&"it is no PNG, Radiance HDR or OpenEXR image"));
        }
        let mut limits = Limits::default();
        limits.max_alloc = Some(LARGEST);
        reader.limits(limits);
        let image = reader.decode().map_err(|e| fault(&e))?;
        let linear = matches!(image, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
        let image = image.into_rgb32f();
        let (width, height) = (image.width() as usize, image.height() as usize);
        let mut pixels: Vec<[f32; 3]> = image.pixels().map(|p| p.0).collect();
        if pixels.is_empty() {
            return Err(fault(&"it has no pixels"));
        }
        if let Some(i) = pixels.iter().position(|p| p.iter().any(|v| !v.is_finite())) {
            let [r, g, b] = pixels[i];
            let place = (i % width, i / width);
            return Err(fault(&format_args!("pixel {place:?} is ({r}, {g}, {b}), expected finite numbers")));
        }
        if !linear {
            pixels.iter_mut().flatten().for_each(|v| *v = to_linear(*v));
        }
        Ok(Photo { width, height, pixels })
    }
}

/// An sRGB sample as light.
fn to_linear(v: f32) -> f32 {
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}
