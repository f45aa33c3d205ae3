//! What is counted: numbers of a file, of an image, or random ones.

use std::path::Path;

use crate::photo::Photo;
use crate::support::{self, Failure, Result, shortened};

/// Which number of a pixel.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Rec. 709.
    Luminance,
    Red,
    Green,
    Blue,
}

/// One number for each pixel of an image, in linear light.
pub fn of_image(path: &Path, channel: Channel) -> Result<Vec<f32>> {
    let pixels = Photo::read(path)?.pixels.into_iter();
    Ok(pixels
        .map(|[r, g, b]| match channel {
            Channel::Luminance => 0.2126 * r + 0.7152 * g + 0.0722 * b,
            Channel::Red => r,
            Channel::Green => g,
            Channel::Blue => b,
        })
        .collect())
}

/// A larger text is refused: 10^8 numbers of ten letters, as many as are made up at most.
const MOST_BYTES: u64 = 1 << 30;

/// The numbers of a text, between blanks, commas, semicolons and ends of lines.
pub fn of_text(path: &Path) -> Result<Vec<f32>> {
    let fault = |what: &dyn std::fmt::Display| Failure::bad_input(format_args!("{}: {what}", path.display()));
    let bytes = support::read_file(path, MOST_BYTES)?;
    let text = String::from_utf8(bytes).map_err(|_| fault(&"it is no text"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut numbers = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let words = line.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|w| !w.is_empty());
        for word in words {
            let at = |what: &str| fault(&format_args!("line {}: `{}` {what}", i + 1, shortened(word)));
            let number: f32 = word.parse().map_err(|_| at("is no number"))?;
            if !number.is_finite() {
                return Err(at("is not a finite 32-bit float"));
            }
            numbers.push(number);
        }
    }
    if numbers.is_empty() {
        return Err(fault(&"it holds no number"));
    }
    Ok(numbers)
}

/// "SplitMix64" of G. Steele and S. Vigna.
struct Random(u64);

impl Random {
    /// Uniform in (0, 1).
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
}

/// Two normal distributions: three numbers in four around 0, the others narrower around 3.
pub fn random(count: usize) -> Vec<f32> {
    let mut random = Random(28);
    let mut numbers = Vec::with_capacity(count + 1);
    while numbers.len() < count {
        let (radius, angle) = ((-2.0 * random.unit().ln()).sqrt(), std::f64::consts::TAU * random.unit());
        for normal in [radius * angle.cos(), radius * angle.sin()] {
            let narrow = random.unit() < 0.25;
            numbers.push(if narrow { 3.0 + 0.35 * normal } else { normal } as f32);
        }
    }
    numbers.truncate(count);
    numbers
}
