//! In which passes a product runs, and which of them is taken.

use super::calibrate::{candidates, measured};
use super::count::counted;
use super::plan::MatmulForm;
use super::uniform::{COLUMNS, most_quads};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::shape::Shape;

/// In which passes a dense product runs. What is computed is the same: all schedules agree within
/// `γ_(q+2) (|A| |B|)_ij`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatmulSchedule {
    /// What fits the shapes and the device, by a fixed rule: [`MatrixVector`](Self::MatrixVector) and
    /// [`Outer`](Self::Outer) where the shapes are theirs; [`OnePass`](Self::OnePass) for products too small to pay for
    /// the panels; else [`Split`](Self::Split), or where derivatives are not exact [`Blocked`](Self::Blocked), over as many
    /// draw buffers as there are. Of the last three, and on GPUs [`Uniform`](Self::Uniform), it is what a
    /// [calibration](super::calibrate()) has found to be fastest, or what the device's
    /// [profile](crate::Device::set_profile) predicts to be.
    #[default]
    Auto,
    /// The paper's: this many multiply-adds of a 4x4 block by four elements ("MOPs") in a pass, passes accumulated by
    /// blending \[Moravanszky03\] 3.3. Without float blending each pass reads what the last one wrote.
    ///
    /// *Cost*: `ceil(ceil(q / 4) / multiply_adds)` draws, 5 fetches for 16 multiply-adds.
    Passes {
        /// The paper fits 6 into a pass of its hardware, and 4 with a transposed operand:
        /// [`PAPER`](Self::PAPER), [`PAPER_TRANSPOSED`](Self::PAPER_TRANSPOSED).
        multiply_adds: u32,
    },
    /// The whole inner dimension in one pass. *Cost*: 1 draw, 5 fetches for 16 multiply-adds.
    OnePass,
    /// A block of four columns for each fragment, of four rows with 4 draw buffers and of eight with 8; then the panels,
    /// one in each buffer, are put together. Columns and rows of further buffers lie a panel away, so that neighbouring
    /// fragments fetch neighbouring texels.
    ///
    /// *Cost*: 1 draw, `buffers + 4` fetches for `16 buffers` multiply-adds; `buffers` draws that copy; a copy of `C` in
    /// scratch textures, and a transposed copy of `B` for [`MatmulForm::TransposedB`].
    Blocked {
        /// 4 or 8.
        buffers: u32,
    },
    /// As [`Blocked`](Self::Blocked), but each fragment computes all that the four of its 2x2 quad write, over a quarter of
    /// the inner dimension, and the quarters are added up across the quad at the end by means of derivatives
    /// ([`Capabilities::exact_derivatives`](crate::gl::Capabilities::exact_derivatives)): half the fetches.
    ///
    /// *Cost*: 1 draw, `buffers + 4` fetches for `32 buffers` multiply-adds (with 4 buffers 16 for 256), for GPUs a pass
    /// that transposes `A` (the other way round for a software rasteriser and [`MatmulForm::TransposedA`]); else as
    /// [`Blocked`](Self::Blocked). *Source*: none of the papers'.
    Split {
        /// 4 or 8.
        buffers: u32,
    },
    /// `B` in a uniform buffer, in which neighbouring fragments all read the same: each draw computes all rows of eight
    /// columns, a column in each of 8 draw buffers. For GPUs; a software rasteriser is faster with any of the last two.
    ///
    /// *Cost*: for every range of the inner dimension with room in a block (2,048 where
    /// [`Capabilities::max_block_vec4s`](crate::gl::Capabilities::max_block_vec4s) is 4,096) a draw that copies `A`, one that
    /// copies `B`, a copy of that to a buffer, and one draw for eight columns, with 4 fetches for 128 multiply-adds; then
    /// 8 draws that copy. A copy of `C`, `A` and, up to twice as large, `B`, and the buffer as large as that; a transposed
    /// copy of `B` for [`MatmulForm::TransposedB`]. Not with textures of less than 64. *Source*: none of the papers'.
    Uniform,
    /// `C` has one column: partial sums over ranges of the inner dimension side by side, then their sum. *Cost*: 2
    /// draws, 5 fetches for 16 multiply-adds. Not for [`MatmulForm::TransposedB`].
    MatrixVector,
    /// The inner dimension is 1. *Cost*: 1 draw, 2 fetches for four multiplications.
    Outer,
}

impl MatmulSchedule {
    /// The paper's schedule for `A B` \[Moravanszky03\] 3.3.
    pub const PAPER: MatmulSchedule = MatmulSchedule::Passes { multiply_adds: 6 };
    /// The paper's schedule for `Aᵀ B` \[Moravanszky03\] 3.4.
    pub const PAPER_TRANSPOSED: MatmulSchedule = MatmulSchedule::Passes { multiply_adds: 4 };
}

/// Why a schedule was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The caller named it.
    Asked,
    /// The fixed rule of [`MatmulSchedule::Auto`].
    Rule,
    /// It was the fastest in a [calibration](super::calibrate()).
    Measured,
    /// The device's [profile](crate::Device::set_profile) predicts that it takes least.
    Predicted,
}

/// What a product has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MatmulReport {
    /// The schedule that ran: never [`MatmulSchedule::Auto`].
    pub schedule: MatmulSchedule,
    /// Why it was taken.
    pub reason: Reason,
    /// Draws.
    pub draws: u64,
    /// Changes of the render target.
    pub passes: u64,
}

/// The schedule to run, checked against shapes and device. `a` and `b` are the shapes of `op(A)` and `op(B)`.
pub(super) fn choose(
    device: &Device,
    form: MatmulForm,
    a: Shape,
    b: Shape,
    asked: MatmulSchedule,
) -> Result<(MatmulSchedule, Reason)> {
    let (buffers, derivatives) = {
        let caps = device.gl().caps.borrow();
        (caps.max_draw_buffers, caps.exact_derivatives)
    };
    let refuse = |why: String| Err(Error::Unsupported { what: format!("{asked:?}"), why });
    match asked {
        MatmulSchedule::Auto => {
            let rule = rule(device, form, a, b);
            let own = matches!(rule, MatmulSchedule::Outer | MatmulSchedule::MatrixVector);
            let work = a.len().saturating_mul(b.cols);
            if own {
                return Ok((rule, Reason::Rule));
            }
            // Operands as they lie in memory.
            let (stored_a, stored_b) = form.shapes(a, b);
            let predicted = || {
                let all = device.quickest(|| {
                    let count = |schedule| counted(device, form, stored_a, stored_b, schedule).ok();
                    candidates(device).filter_map(move |schedule| Some((schedule, count(schedule)?)))
                })?;
                Some((all, Reason::Predicted))
            };
            let measured = measured(device, work).map(|schedule| (schedule, Reason::Measured));
            Ok(measured.or_else(predicted).unwrap_or((rule, Reason::Rule)))
        }
        MatmulSchedule::Passes { multiply_adds: 0 } => Err(Error::Parameter {
            op: "matmul",
            name: "multiply_adds",
            value: "0".into(),
            expected: "1 or more in a pass",
        }),
        MatmulSchedule::Blocked { buffers: n } | MatmulSchedule::Split { buffers: n } if n != 4 && n != 8 => {
            let (name, value, expected) = ("buffers", n.to_string(), "4 or 8");
            Err(Error::Parameter { op: "matmul", name, value, expected })
        }
        MatmulSchedule::Blocked { buffers: n } | MatmulSchedule::Split { buffers: n } if n > buffers => {
            refuse(format!("the device has {buffers} draw buffers"))
        }
        MatmulSchedule::Split { .. } if !derivatives => {
            refuse("derivatives of this device are not those of a fragment's own quad".to_owned())
        }
        MatmulSchedule::Uniform if buffers < COLUMNS => {
            refuse(format!("the device has {buffers} draw buffers"))
        }
        MatmulSchedule::Uniform if most_quads(device).is_none() => {
            refuse(format!("textures of the device are at most {} a side", device.max_texture_size()))
        }
        MatmulSchedule::MatrixVector if b.cols != 1 || form.transposes_b() => {
            refuse(format!("op(B) is {b} in form {form:?}, expected one column that is not a transposed row"))
        }
        MatmulSchedule::Outer if a.cols != 1 => {
            refuse(format!("the inner dimension is {}, expected 1", a.cols))
        }
        asked => Ok((asked, Reason::Asked)),
    }
}

/// The fixed rule behind [`MatmulSchedule::Auto`].
pub(super) fn rule(device: &Device, form: MatmulForm, a: Shape, b: Shape) -> MatmulSchedule {
    let (buffers, derivatives) = {
        let caps = device.gl().caps.borrow();
        (caps.max_draw_buffers, caps.exact_derivatives)
    };
    if a.cols == 1 {
        return MatmulSchedule::Outer;
    }
    if b.cols == 1 && !form.transposes_b() {
        return MatmulSchedule::MatrixVector;
    }
    let work = a.len().saturating_mul(b.cols);
    let buffers = if buffers >= 8 { 8 } else { 4 * (buffers / 4) };
    if buffers == 0 || work < small(device.is_software()) || b.cols < 4 {
        MatmulSchedule::OnePass
    } else if derivatives {
        MatmulSchedule::Split { buffers }
    } else {
        MatmulSchedule::Blocked { buffers }
    }
}

/// Multiply-adds below which panels cost more than they save.
fn small(software: bool) -> usize {
    if software { 1 << 18 } else { 1 << 21 }
}
