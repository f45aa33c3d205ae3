//! Vectors as images to look at.

use super::plane::value;
use crate::data::{Picture, Vector, exponent};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::shape::Shape;

/// Which colour stands for which number: five of them, spread evenly over a range, and what lies between two is mixed of both.
/// Beyond the range it is the first or the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shades {
    low: f32,
    high: f32,
    colours: [[f32; 4]; 5],
}

impl Shades {
    /// These colours, of red, green, blue and alpha from 0 to 1, from the number `low` to `high`.
    pub fn new(low: f32, high: f32, colours: [[f32; 4]; 5]) -> Self {
        Shades { low, high, colours }
    }

    /// From black to white.
    pub fn grey(low: f32, high: f32) -> Self {
        Self::new(low, high, [0.0, 0.25, 0.5, 0.75, 1.0].map(|v| [v, v, v, 1.0]))
    }

    /// From dark violet over green to yellow, in steps that look alike (viridis: S. van der Walt, N. Smith).
    pub fn viridis(low: f32, high: f32) -> Self {
        Self::of_bytes(low, high, [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]])
    }

    /// From blue over white in the middle to red, for what has two signs (RdBu: C. Brewer).
    pub fn diverging(low: f32, high: f32) -> Self {
        let colours = [[33, 102, 172], [146, 197, 222], [247, 247, 247], [244, 165, 130], [178, 24, 43]];
        Self::of_bytes(low, high, colours)
    }

    fn of_bytes(low: f32, high: f32, colours: [[u8; 3]; 5]) -> Self {
        let of = |[r, g, b]: [u8; 3]| [r, g, b, 255].map(|byte| f32::from(byte) / 255.0);
        Self::new(low, high, colours.map(of))
    }
}

/// `out(x, y) = colour of v[y width + x]`: a vector in natural order as an image.
///
/// *Shapes*: `v` has `width · height` elements. *Cost*: 1 draw, 1 fetch a texel; no allocation and no readback. *Errors*:
/// [`Error::ShapeMismatch`], [`Error::WrongDevice`]; [`Error::Parameter`] for a range that is empty, not finite, longer than floats
/// reach or with a subnormal end, which devices take for 0, and for colours that are not from 0 to 1. *Example*: at [`Picture`].
pub fn vector_to_picture(out: &mut Picture, v: &Vector, shades: &Shades) -> Result<()> {
    let op = "vector_to_picture";
    let extent = out.extent();
    super::check_shape(op, "v", v.shape(), Shape::column(extent.area() as usize))?;
    super::check_device(op, "v", v.device(), out.device())?;
    let Shades { low, high, colours } = *shades;
    let refuse = |value, expected| Err(Error::Parameter { op, name: "shades", value, expected });
    let span = high - low;
    let flushed = [low, high].iter().any(|end| end.is_subnormal());
    if !(span > 0.0 && span.is_finite()) || flushed {
        let expected = "a range of finite numbers of the normal range, or 0, the lower one first";
        return refuse(format!("from {low:e} to {high:e}"), expected);
    }
    if let Some(wrong) = colours.as_flattened().iter().find(|c| !(0.0..=1.0).contains(*c)) {
        return refuse(format!("a colour with {wrong:e}"), "colours from 0 to 1");
    }
    let [first, second, middle, fourth, last] = colours;
    let unit = (-f64::from(exponent(f64::from(span)).clamp(-126, 126))).exp2() as f32;
    Draw::new(out.device(), glsl!("repack/picture.frag"))
        .input("x", v.view())
        .param("width", value(extent.width as usize))
        .param("low", low)
        .param("unit", unit)
        .param("span", span * unit)
        .param("first", first)
        .param("second", second)
        .param("middle", middle)
        .param("fourth", fourth)
        .param("last", last)
        .target(out.view())
        .run()
}
