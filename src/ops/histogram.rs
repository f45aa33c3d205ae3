//! Histograms: numbers scattered as points into their bins, or gathered by the bins.

mod gather;

use std::ops::Range;

use super::check_shape;
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{
    Accum, Compiled, Domain, Draw, Field, KernelSpec, Operand, ParamType, Points, StageSpec, View,
    compile_now,
};
use crate::shape::{Shape, fold_extent};
use gather::Gathering;

/// Floats count to here by ones.
const EXACT: usize = 1 << 24;

/// What becomes of numbers that lie in no bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutOfRange {
    /// Numbers below go to the first bin, numbers above to the last, as in \[BeyondVector\] 28.4.3.
    #[default]
    Clamp,
    /// They are left out.
    Drop,
    /// They are counted apart, in two more elements behind the bins: first those below, then those above.
    Apart,
}

/// A histogram: which bin a number belongs to, and how many bins there are.
///
/// `y_k = Σ w_i` over all `i` with `⌊bin(x_i)⌋ = k`, `w_i = 1` for counts. `bin` gives a position in bins, so that bin `k`
/// holds the positions from `k` up to, and without, `k + 1`. A first pass computes the bin of every element. Then every
/// element becomes a point on the texel of its bin, which blending adds to it. Points meet their texel in the order of the
/// elements, so results repeat bit for bit, and are those of the loop over `x` in 32-bit floats.
///
/// A device that cannot blend floats ([`Capabilities::float_blend`](crate::gl::Capabilities::float_blend)) gets the same
/// results, bit for bit, by gathering: each texel of four bins goes through all elements in their order and adds those that
/// belong to it.
///
/// # Cost
///
/// For `n` elements and `m` bins: one pass that evaluates `bin` once for each element and keeps the result in a pooled texture
/// of `4 n` bytes, at most 64 MiB. Then,
///
/// - with float blending: `n` points in draws of [`points_a_draw`](crate::gl::Capabilities::points_a_draw);
/// - without: `n m / 16` fetches (twice that with weights), each followed by 16 comparisons and additions, in draws of
///   [`rounds_a_draw`](crate::gl::Capabilities::rounds_a_draw) fetches, and one small pass that adds partial counts or copies
///   sums. Counts are made in up to 4096 fragments at once. Sums of weights keep the order of the elements and are made in
///   `m / 4` fragments, so that few bins leave a GPU idle. With thousands of bins this is slow: two levels of fewer bins cost
///   less.
///
/// ```
/// use texla::ops::{Histogram, OutOfRange};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let x = texla::Vector::from_slice(dev, &[0.5, 2.5, 2.75, 9.0, -1.0])?;
/// let clamped = Histogram::equal_width(dev, 0.0, 4.0, 4)?;
/// assert_eq!(clamped.counts(&x)?, [2, 0, 2, 1]);
/// let decades = Histogram::new(dev, 3, "float bin(float x) { return log2(x) / log2(10.0) + 1.5; }")?;
/// assert_eq!(decades.out_of_range(OutOfRange::Apart).counts(&x)?, [0, 3, 1, 1, 0]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct Histogram {
    device: Device,
    bin: Bin,
    bins: usize,
    outside: OutOfRange,
}

/// The function that gives a number its position among the bins.
enum Bin {
    /// The lower end, and bins in a unit.
    EqualWidth([f32; 2]),
    /// A body of the user's.
    Custom(Box<Compiled>),
}

shown!(Histogram, |h| "Histogram({} bins, {:?})", h.bins, h.outside);

impl Histogram {
    /// A histogram by a custom function: a GLSL body that defines `float bin(float x)`, evaluated in the fragment stage.
    ///
    /// An element for which it returns NaN counts as below the first bin. The names `first_texel`, `element_count`,
    /// `bin_ends`, `place_of`, `kernel` and those beginning with `x_` are reserved.
    ///
    /// *Cost*: a compilation. *Errors*: [`Error::Shader`] with the line of the body, [`Error::Interface`] as
    /// [`Kernel::new`](crate::kernel::Kernel::new); [`Error::Parameter`] unless there are
    /// 1 to 2²⁴ bins, which is as far as a 32-bit position goes by ones.
    pub fn new(device: &Device, bins: usize, body: &str) -> Result<Self> {
        let int = |name| Field { name, kind: i32::KIND };
        let ends = Field { name: "bin_ends", kind: <[f32; 2]>::KIND };
        let fields = [int("first_texel"), int("element_count"), ends];
        let stage = StageSpec::Fragment { outputs: vec!["places".to_owned()], mask: false };
        // The user's text is the file, whose lines errors are to name; what calls it stands in front.
        let spec = KernelSpec::users("histogram", stage, &["x"], &fields, body);
        let spec =
            KernelSpec { file: "bin".to_owned(), wanted: vec!["float bin(float x)".to_owned()], ..spec };
        let spec = spec.with("#define EQUAL_WIDTH 0").with(glsl!("scatter/places.frag").text);
        Self::check_bins(bins)?;
        let compiled = Compiled::new(device, spec)?;
        compile_now(device, &compiled)?;
        Ok(Self::with(device, bins, Bin::Custom(Box::new(compiled))))
    }

    /// `bins` bins of equal width between `min` and `max` (\[BeyondVector\] 28.4.3):
    /// `bin(x) = (x - min) s`, `s = fl(bins / (max - min))`.
    ///
    /// Two operations that are correctly rounded everywhere: counts are the same on every device. A number within a
    /// rounding of a bin's edge may fall to either side of it.
    ///
    /// *Cost*: none; the device keeps the kernels, which are compiled on first use. *Errors*: [`Error::Parameter`] unless
    /// `min < max` are finite, where `s` leaves the normal range of floats, or unless there are 1 to 2²⁴ bins.
    pub fn equal_width(device: &Device, min: f32, max: f32, bins: usize) -> Result<Self> {
        let refuse = |name, value, expected| {
            Err(Error::Parameter { op: "Histogram::equal_width", name, value, expected })
        };
        if !min.is_finite() || !max.is_finite() || min >= max {
            return refuse("min, max", format!("{min:e}, {max:e}"), "finite numbers, the first one less");
        }
        let bins_per_unit = (bins as f64 / (f64::from(max) - f64::from(min))) as f32;
        if bins > 0 && !bins_per_unit.is_normal() {
            let expected = "a width whose reciprocal is in the normal range of 32-bit floats";
            let width = (f64::from(max) - f64::from(min)) / bins as f64;
            return refuse("(max - min) / bins", format!("{width:e}"), expected);
        }
        Self::check_bins(bins)?;
        Ok(Self::with(device, bins, Bin::EqualWidth([min, bins_per_unit])))
    }

    fn check_bins(bins: usize) -> Result<()> {
        if (1..=EXACT).contains(&bins) {
            return Ok(());
        }
        let (op, value, expected) = ("histogram", bins.to_string(), "a number from 1 to 16777216");
        Err(Error::Parameter { op, name: "bins", value, expected })
    }

    fn with(device: &Device, bins: usize, bin: Bin) -> Self {
        Histogram { device: device.clone(), bin, bins, outside: OutOfRange::default() }
    }

    /// The same histogram with another rule for numbers that lie in no bin.
    pub fn out_of_range(mut self, rule: OutOfRange) -> Self {
        self.outside = rule;
        self
    }

    /// Number of bins.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// Number of elements of a result: the bins, and two more where [`OutOfRange::Apart`] asks for them. Never 0.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.bins + if self.outside == OutOfRange::Apart { 2 } else { 0 }
    }

    /// Counts on the device: `out_k` is the number of elements of `x` in bin `k`.
    ///
    /// *Shapes*: `out` [`len`](Self::len). *Cost*: 1 clear and what [`Histogram`] says, no readback. Exact.
    /// *Errors*: [`Error::Parameter`] for more than 2²⁴ elements, past which a 32-bit float does not count by ones:
    /// [`counts`](Self::counts) does; [`Error::ShapeMismatch`], [`Error::WrongDevice`]. *Source*: \[BeyondVector\] 28.4.3.
    pub fn count(&self, out: &mut Vector, x: &Vector) -> Result<()> {
        let op = "Histogram::count";
        self.check(op, out, x)?;
        if x.len() > EXACT {
            let expected = "at most 16777216 elements, which a float counts exactly; `counts` takes more";
            return Err(Error::Parameter { op, name: "x.len()", value: x.len().to_string(), expected });
        }
        let _scope = self.device.exclusive_scope()?;
        out.set_zero()?;
        self.add(out, x, None, 0..x.len())
    }

    /// Counts on the host, exact for every number of elements: parts of 2²⁴ are counted on the device and added here.
    ///
    /// *Cost*: for each part that of [`count`](Self::count), and 1 readback of [`len`](Self::len) numbers. *Errors*:
    /// [`Error::TooLarge`] for more bins than a vector can have; [`Error::WrongDevice`].
    pub fn counts(&self, x: &Vector) -> Result<Vec<u64>> {
        super::check_device("Histogram::counts", "x", x.device(), &self.device)?;
        let _scope = self.device.exclusive_scope()?;
        let mut part = Vector::zeros(&self.device, self.len())?;
        let mut total = vec![0; self.len()];
        for range in parts(x.len()) {
            part.set_zero()?;
            self.add(&mut part, x, None, range)?;
            total.iter_mut().zip(part.read()?).for_each(|(t, count)| *t += count as u64);
        }
        Ok(total)
    }

    /// Weights by bin: `out_k` is the sum of the weights of the elements of `x` in bin `k`, in their order.
    ///
    /// *Shapes*: `out` [`len`](Self::len), `weights` as `x`. *Cost*: as [`count`](Self::count). *Bound*:
    /// `γ_n Σ |w_i|` for `n` elements in a bin. *Errors*: [`Error::ShapeMismatch`], [`Error::WrongDevice`].
    pub fn sum(&self, out: &mut Vector, x: &Vector, weights: &Vector) -> Result<()> {
        let op = "Histogram::sum";
        self.check(op, out, x)?;
        check_shape(op, "weights", weights.shape(), x.shape())?;
        super::check_device(op, "weights", weights.device(), &self.device)?;
        let _scope = self.device.exclusive_scope()?;
        out.set_zero()?;
        parts(x.len()).try_for_each(|range| self.add(out, x, Some(weights), range))
    }

    fn check(&self, op: &'static str, out: &Vector, x: &Vector) -> Result<()> {
        super::check_device(op, "out", out.device(), &self.device)?;
        super::check_device(op, "x", x.device(), &self.device)?;
        check_shape(op, "out", out.shape(), Shape::column(self.len()))
    }

    /// Adds the elements of a range to `out`, which holds zeros where they are counted.
    fn add(&self, out: &mut Vector, x: &Vector, weights: Option<&Vector>, range: Range<usize>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let device = &self.device;
        let extent = fold_extent(range.len() as u64, device.max_texture_size())?;
        let places = device.scratch(extent, "Histogram")?;
        let places = View::part(device, places.texture(), extent);
        // Ranges begin at whole texels.
        let first_texel = range.start / 4;
        self.place(places, x, first_texel, range.len())?;
        let (bins, apart) = (self.bins, self.outside == OutOfRange::Apart);
        let weights = weights.map(Operand::view);
        if !device.gl().caps.borrow().float_blend {
            let texels = range.len().div_ceil(4);
            return Gathering { device, places, texels, weights, first_texel, bins, apart }.run(out);
        }
        let points = Points::numbered(device, range.len())?;
        // Elements of a texture and bins, whose numbers fit.
        Draw::new(device, glsl!("scatter/histogram.vert"))
            .define("APART", apart)
            .define("WEIGHTED", weights.is_some())
            .placing(&[])
            .input("places", places)
            .input_if("weights", weights)
            .param("first_number", range.start as i32)
            .param("bin_count", bins as i32)
            .target(out.view())
            .on(Domain::Points(&points))
            .accumulate(Accum::Add)
            .run()
    }

    /// Computes the places of `count` elements among the bins, from a texel of `x` on.
    fn place(&self, places: View<'_>, x: &Vector, first_texel: usize, count: usize) -> Result<()> {
        let ends = match self.outside {
            OutOfRange::Clamp => [0.0, (self.bins - 1) as f32],
            OutOfRange::Drop | OutOfRange::Apart => [-1.0, self.bins as f32],
        };
        let draw = match &self.bin {
            Bin::EqualWidth(_) => {
                Draw::new(&self.device, glsl!("scatter/places.frag")).define("EQUAL_WIDTH", true)
            }
            Bin::Custom(kernel) => Draw::of(&self.device, kernel),
        };
        let draw = draw
            .input("x", x.view())
            .param("first_texel", first_texel as i32)
            .param("element_count", count as i32)
            .param("bin_ends", ends);
        let draw = match self.bin {
            Bin::EqualWidth([low, bins_per_unit]) => {
                draw.param("low", low).param("bins_per_unit", bins_per_unit)
            }
            Bin::Custom(_) => draw,
        };
        draw.target(places).run()
    }
}

/// `0..len` in parts that floats can count.
fn parts(len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len.div_ceil(EXACT)).map(move |k| k * EXACT..len.min((k + 1) * EXACT))
}

/// How many elements of `x` lie in each of `bins` bins of equal width from `min` to `max`; those outside are counted in
/// the first and the last.
///
/// *Cost*, *errors* and *source*: as [`Histogram::equal_width`] and [`Histogram::counts`], which to keep where there is
/// more than one vector.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// let x = texla::Vector::from_slice(ctx.device(), &[0.5, 2.5, 2.75, 9.0, -1.0])?;
/// assert_eq!(texla::ops::histogram(&x, 0.0, 4.0, 4)?, [2, 0, 2, 1]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn histogram(x: &Vector, min: f32, max: f32, bins: usize) -> Result<Vec<u64>> {
    Histogram::equal_width(x.device(), min, max, bins)?.counts(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_everything_once() {
        for len in [0, 1, EXACT - 1, EXACT, EXACT + 1, 3 * EXACT, 3 * EXACT + 7] {
            let parts: Vec<_> = parts(len).collect();
            assert!(parts.iter().all(|p| !p.is_empty() && p.len() <= EXACT), "{len}: {parts:?}");
            assert!(parts.windows(2).all(|w| w[0].end == w[1].start), "{len}: {parts:?}");
            let ends = (parts.first().map_or(0, |p| p.start), parts.last().map_or(0, |p| p.end));
            assert_eq!(ends, (0, len));
        }
    }
}
