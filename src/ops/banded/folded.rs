//! Products with diagonals of which two opposing ones share a vector.

use super::{accumulate, accurate, product};
use crate::data::{FoldedBands, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::gl::glsl;
use crate::host::Csr;
use crate::kernel::{Draw, Operand, Predicate, View};
use crate::ops::product::{Accurate, Checked, ExactSum, LinOp, Part, Product, Summand, Sums, is_exact};
use crate::profile::{Fetches, Workload};
use crate::shape::{Shape, fold_extent};

/// The name that shaders have for the elements of a folded vector.
const LENGTH: &str = "length_";

fn length(n: usize) -> i32 {
    // Shaders count them with signed integers.
    i32::try_from(n).unwrap_or(i32::MAX)
}

/// `(x, x)`.
fn extended(x: &Vector) -> Result<Vector> {
    let device = x.device();
    let out = Vector::uninit(device, 2 * x.len())?;
    Draw::new(device, glsl!("banded/extend.frag"))
        .input("x", x.view())
        .param(LENGTH, length(x.len()))
        .target(out.view())
        .run()?;
    Ok(out)
}

/// *Cost*, *bound*: see [`ops::product`](crate::ops::product). *Source*: \[Krueger05\] 44.2.3, 44.3.3.
impl LinOp for FoldedBands {
    fn device(&self) -> &Device {
        self.device()
    }

    fn shape(&self) -> Shape {
        self.shape()
    }

    fn is_replayable(&self) -> bool {
        true
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        let _scope = self.device().exclusive_scope()?;
        let x = &extended(terms.x)?;
        product(y, &self.wide, Product { x, ..*terms }, false, Predicate::Always)
    }

    /// Both halves of the transposed product of twice as many elements, added.
    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        let device = self.device();
        let _scope = device.exclusive_scope()?;
        let mut both = Vector::uninit(device, 2 * y.len())?;
        product(&mut both, &self.wide, terms.partial(), true, Predicate::Always)?;
        let ending = terms.ending();
        ending
            .describe(Draw::new(device, glsl!("banded/fold.frag")).input("x", both.view()))
            .param(LENGTH, length(y.len()))
            .masked(ending.fills_padding(y))
            .target(y.view())
            .run()
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        let device = self.device();
        if !is_exact(device) {
            return Ok(false);
        }
        let _scope = device.exclusive_scope()?;
        if !terms.transposed {
            let terms = Accurate { x: &extended(terms.x)?, ..*terms };
            return accurate(&self.wide, terms.alone(), Sums::Part(out, terms, part)).map(|_| true);
        }
        let mut high = Vector::uninit(device, 2 * out.len())?;
        let first = if part.is_bound() { Part::Magnitude } else { Part::Sum };
        let alone = Accurate { plus: None, ..*terms };
        let low = accurate(&self.wide, alone.alone(), Sums::Part(&mut high, alone, first))?;
        part.describe(Draw::new(device, glsl!("banded/fold_accurate.frag")))
            .define("PART", part.name())
            .input("high", high.view())
            .input_if("low", low.as_ref().map(|low| View::whole(device, low.texture())))
            .carried("ADDED", ("z", "beta * z_here()"), terms.z())
            .param(LENGTH, length(out.len()))
            .param("beta", terms.beta())
            .masked(true)
            .target(out.view())
            .run()?;
        Ok(true)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        let device = self.device();
        if !is_exact(device) {
            return Ok(false);
        }
        let _scope = device.exclusive_scope()?;
        if !terms.transposed {
            let low = terms.x_low.map(extended).transpose()?;
            let terms = Summand { x: &extended(terms.x)?, x_low: low.as_ref(), ..*terms };
            return accumulate(&self.wide, terms, sum).map(|()| true);
        }
        let n = self.shape().rows;
        let mut both = sum.nothing_like(2 * n)?;
        accumulate(&self.wide, *terms, &mut both)?;
        let rest = both.rest();
        let folded = |_: &()| {
            Draw::new(device, glsl!("banded/fold_accurate.frag"))
                .input("high", both.rounded().view())
                .input("low", both.error().view())
                .input_if("rest", rest.map(Operand::view))
                .param(LENGTH, length(n))
                .masked(true)
        };
        Sums::Exact(sum).run(&[()], folded).map(|_| true)
    }

    /// `x` twice in a row, element by element, then the bands.
    fn workload(&self) -> Option<Workload> {
        let n = self.shape().rows as u64;
        let extended = fold_extent(2 * n, self.device().max_texture_size()).ok()?;
        let fetches = Fetches::default().with_shifted(4.0 * extended.area() as f64);
        Some(Workload::pass(extended, 1, fetches) + self.wide.workload()?)
    }

    fn pattern(&self) -> Option<&Csr> {
        Some(self.pattern())
    }

    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        Ok(self.asymmetry())
    }

    fn exponent(&self) -> Result<i32> {
        Ok(self.exponent())
    }
}
