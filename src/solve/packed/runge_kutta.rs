//! The classical Runge-Kutta method in the vertex stage.

use std::fmt::Write;

use super::check_length;
use crate::data::BufferVector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{NoParams, VertexKernel};
use crate::pack::{LinearExpression, LowerOptions, Packing, Program};

/// Steps of the classical fourth-order Runge-Kutta method for y' = G y + beta(t), one vertex a step.
///
/// With k(w, c) = (h G) w + h beta(c), which is the packed expression, and e, m, l the beginning, the middle and the end of
/// the step,
///
/// > a = k(y, e), b = k(y + a / 2, m), c = k(y + b / 2, m), d = k(y + c, l), y := y + (a + 2 b + 2 c + d) / 6.
///
/// *Shapes*: y is a [`BufferVector`] of 4 ceil(n / 4) elements in packed order; h beta one three times as long: its values at
/// e, at m and at l, each in packed order, zero where beta is trivial.
///
/// *Cost*: 1 draw that rasterises nothing; 4 C(E) instructions for the stages and 7 ceil(n / 4) for the sums.
///
/// *Source*: \[Bajaj04\] section 3.2, equations (4) to (11); the paper holds beta fixed over a step, which is the same with
/// three equal values.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{BufferVector, Shape, host::Triplets, solve::VertexRungeKutta};
/// use texla::pack::{LinearExpression, Packing};
/// // A swing: y0' = y1, y1' = -y0; 63 steps of 0.1 are once round and a little more.
/// let g = Triplets::from_entries(Shape::new(2, 2), [(0, 1, 1.0), (1, 0, -1.0)])?;
/// let stage = LinearExpression::ode_stage(&g, &[false, false], 0.1)?;
/// let swing = VertexRungeKutta::new(dev, &stage, &Packing::identity(2))?;
/// let mut y = BufferVector::from_slice(dev, &[1.0, 0.0, 0.0, 0.0])?;
/// let (mut next, forcing) = (BufferVector::zeros(dev, 4)?, BufferVector::zeros(dev, 12)?);
/// for _ in 0..63 {
///     swing.step(&mut next, &y, &forcing)?;
///     std::mem::swap(&mut y, &mut next);
/// }
/// assert!((y.read()?[0] - 6.3f32.cos()).abs() < 1e-5);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct VertexRungeKutta {
    kernel: VertexKernel<NoParams>,
    stage: Program,
}

shown!(VertexRungeKutta, |e| "VertexRungeKutta({:?})", e.kernel);

impl VertexRungeKutta {
    /// Compiles a step whose stages are this expression, see [`LinearExpression::ode_stage`].
    ///
    /// *Errors*: as [`VertexExpression::new`](super::VertexExpression::new); [`Error::Parameter`] for a packing of two orders;
    /// [`Error::Unsupported`] for more quads than one vertex can write.
    pub fn new(device: &Device, e: &LinearExpression, packing: &Packing) -> Result<Self> {
        if !packing.is_symmetric() {
            let (op, name, value) = ("VertexRungeKutta::new", "packing", "two different orders".to_owned());
            let expected = "one order for rows and columns: a stage's result is part of the next one's x";
            return Err(Error::Parameter { op, name, value, expected });
        }
        let stage = Program::lower(e, packing, LowerOptions::VERTEX)?;
        let quads = stage.quads();
        let inputs = [("x", quads), ("b", 3 * quads)];
        let kernel = VertexKernel::new(device, "runge_kutta", inputs, quads, &body(&stage)?)?;
        Ok(Self { kernel, stage })
    }

    /// Advances `y` by a step into `next`, with `forcing` = h beta at its beginning, middle and end.
    ///
    /// *Errors*: [`Error::LengthMismatch`], [`Error::WrongDevice`].
    pub fn step(&self, next: &mut BufferVector, y: &BufferVector, forcing: &BufferVector) -> Result<()> {
        let (op, n) = ("VertexRungeKutta::step", 4 * self.stage.quads());
        check_length(op, "next", next.len(), n)?;
        check_length(op, "y", y.len(), n)?;
        check_length(op, "forcing", forcing.len(), 3 * n)?;
        self.kernel.run(next, 0, [y, forcing], &NoParams)
    }

    /// The program of a stage.
    pub fn stage(&self) -> &Program {
        &self.stage
    }
}

/// The kernel around the stages. Divisions by six and by three are products: rounded once more, but no slower anywhere.
fn body(stage: &Program) -> Result<String> {
    let quads = stage.quads();
    let mut text = stage.vertex_function("stage")?;
    let _ = writeln!(text, "void kernel(int vertex) {{\n    vec4 w[{quads}], beta[{quads}], k[{quads}];");
    for i in 0..quads {
        let _ = writeln!(text, "    w[{i}] = x[{i}]; beta[{i}] = b[{i}]; y[{i}] = x[{i}];");
    }
    // Weight in the sum, and what the next stage begins with: its share of k, and which of the three betas.
    let stages = [
        ("0.16666667", Some(("0.5 * ", 1))),
        ("0.33333334", Some(("0.5 * ", 1))),
        ("0.33333334", Some(("", 2))),
        ("0.16666667", None),
    ];
    for (weight, next) in stages {
        text.push_str("    stage(w, beta, k);\n");
        for i in 0..quads {
            let _ = writeln!(text, "    y[{i}] += {weight} * k[{i}];");
            if let Some((share, time)) = next {
                let at = time * quads + i;
                let _ = writeln!(text, "    w[{i}] = x[{i}] + {share}k[{i}]; beta[{i}] = b[{at}];");
            }
        }
    }
    text.push_str("}\n");
    Ok(text)
}
