//! Expressions in the fragment stage: a texel a quad.

use super::check_length;
use crate::data::Vector;
use crate::device::Device;
use crate::error::Result;
use crate::kernel::{Domain, Kernel, NoParams};
use crate::pack::{LinearExpression, LowerOptions, Packing, Program, ProgramPart};

/// Quads whose instructions go into one shader: compilers take longer than in proportion for more.
const QUADS: usize = 16;

/// y = A x + b in the fragment stage, by generated programs in which each texel of y has instructions of its
/// own.
///
/// *Shapes*: x, y and b are vectors of 4 ceil(n / 4) elements: x in the order of the packing's columns, y and b in that of
/// its rows. Where b is trivial its elements must be zero.
///
/// *Cost*: 1 to 3 draws for every 16 quads, together of ceil(n / 4) texels, each with a fetch for every quad that its block
/// row reads. The programs are compiled once, and that takes time: 0.7 s for 16 quads on llvmpipe. Texels that lie together
/// take different branches, so that this is for small systems and for comparing orders; large regular ones are better
/// off with a [`BandedMatrix`](crate::BandedMatrix).
///
/// *Source*: \[Bajaj04\] section 4.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{Vector, pack::{Order, Packing, instances}, solve::FragmentExpression};
/// let block = instances::poisson_2d_s8()?; // y_i = b_i - (x_(i-1) + x_(i+1)) / 4, ends / 3
/// let order = Order::new(8, &[0, 3, 4, 7, 1, 2, 5, 6])?;
/// let expression = FragmentExpression::new(dev, &block, &Packing::symmetric(order.clone()))?;
/// let x = Vector::from_slice(dev, &order.packed(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]))?;
/// let (b, mut y) = (Vector::filled(dev, 8, 10.0)?, Vector::zeros(dev, 8)?);
/// expression.apply(&mut y, &x, &b)?;
/// assert_eq!(order.unpacked(&y.read()?)[2..6], [9.0, 8.5, 8.0, 7.5]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct FragmentExpression {
    /// The first quad that each kernel computes, and how many.
    parts: Vec<(usize, usize, Kernel<NoParams>)>,
    program: Program,
}

shown!(FragmentExpression, |e| "FragmentExpression({:?}, {} draws)", e.program.form, e.parts.len());

impl FragmentExpression {
    /// Lowers and compiles the expression in this packing.
    ///
    /// *Errors*: as [`Program::lower`]: Gauss-Seidel is for the vertex stage only; as [`Program::fragment_parts`] for one that
    /// is too long; [`Error::Shader`](crate::Error::Shader) if the driver's compiler refuses it.
    pub fn new(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<Self> {
        Self::of(device, e, packing, LowerOptions::FRAGMENT)
    }

    /// The same for y = A x - b, at the same cost.
    ///
    /// *Errors*: as [`new`](Self::new).
    pub fn subtracting(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<Self> {
        Self::of(device, e, packing, LowerOptions { subtract_b: true, ..LowerOptions::FRAGMENT })
    }

    fn of(device: &Device, e: &LinearExpression, packing: &Packing, options: LowerOptions) -> Result<Self> {
        let program = Program::lower(e, packing, options)?;
        let compiled = |part: ProgramPart| {
            let kernel = Kernel::new(device, "packed", ["x", "b"], &part.body)?;
            Ok((part.first, part.quads, kernel))
        };
        let parts = program.fragment_parts(QUADS)?.into_iter().map(compiled).collect::<Result<_>>()?;
        Ok(Self { parts, program })
    }

    /// Computes y.
    ///
    /// *Errors*: [`Error::LengthMismatch`](crate::Error::LengthMismatch), [`Error::WrongDevice`](crate::Error::WrongDevice).
    pub fn apply(&self, y: &mut Vector, x: &Vector, b: &Vector) -> Result<()> {
        let op = "FragmentExpression::apply";
        for (operand, found) in [("y", y.len()), ("x", x.len()), ("b", b.len())] {
            check_length(op, operand, found, 4 * self.program.quads())?;
        }
        let (device, width) = (y.device().clone(), y.extent().width as usize);
        let _scope = device.scope()?;
        for (first, quads, kernel) in &self.parts {
            for domain in rectangles(*first, first + quads, width) {
                kernel.with([x, b], &NoParams).on(domain).run(y)?;
            }
        }
        Ok(())
    }

    /// The program that runs.
    pub fn program(&self) -> &Program {
        &self.program
    }
}

/// The texels `from..to`, counted row by row, as rectangles: what they fill of a first row, whole rows, and what is left.
fn rectangles(from: usize, to: usize, width: usize) -> impl Iterator<Item = Domain<'static>> {
    let width = width.max(1);
    let head = to.min(from.next_multiple_of(width));
    let body = head.max(to - to % width);
    [(from, head), (head, body), (body, to)].into_iter().filter(|(a, b)| a < b).map(move |(a, b)| {
        let (rows, columns) = ((b - a) / width, (b - a) % width);
        Domain::Rect {
            x: (a % width) as u32,
            y: (a / width) as u32,
            width: if rows > 0 { width } else { columns } as u32,
            height: rows.max(1) as u32,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_cover_each_texel_once() {
        for width in 1..=9 {
            for from in 0..30 {
                for to in from..40 {
                    let mut seen = vec![0; 40];
                    for domain in rectangles(from, to, width) {
                        let Domain::Rect { x, y, width: w, height: h } = domain else { unreachable!() };
                        for texel in (y..y + h).flat_map(|y| (x..x + w).map(move |x| (x, y))) {
                            assert!((texel.0 as usize) < width);
                            seen[texel.1 as usize * width + texel.0 as usize] += 1;
                        }
                    }
                    let expected: Vec<i32> = (0..40).map(|t| i32::from((from..to).contains(&t))).collect();
                    assert_eq!(seen, expected, "{from}..{to} in rows of {width}");
                }
            }
        }
    }
}
