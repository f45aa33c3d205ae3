//! Products of dense matrices \[Moravanszky03\] 3.3, 3.4.

mod calibrate;
mod count;
mod plan;
mod run;
mod schedule;
mod uniform;
#[cfg(feature = "script")]
mod work;

pub use calibrate::{CALIBRATED_SIDES, Calibration, calibrate};
pub use count::matmul_workload;
pub use plan::MatmulForm;
pub(super) use plan::{Stretch, stretches};
pub use schedule::{MatmulReport, MatmulSchedule, Reason};
#[cfg(feature = "script")]
pub(crate) use work::matmul_work;

use crate::data::Matrix;
use crate::error::{Error, Result};
use crate::ops::check_shape;

/// `C = A B`, by the [default schedule](MatmulSchedule::Auto).
///
/// *Shapes*: `A` n x q, `B` q x m, `C` n x m, any of them zero. *Cost*: 1 draw for most products of up to some hundred
/// rows and columns; see [`MatmulSchedule`]. No readback. *Errors*: [`Error::ShapeMismatch`], [`Error::WrongDevice`],
/// [`Error::OutOfMemory`] for the panels of a blocked schedule. Reading `C` while it is written does not compile.
/// *Bound*: `γ_(q+2) (|A| |B|)_ij`. *Source*: \[Moravanszky03\] 3.3.
///
/// ```
/// use texla::{Matrix, Shape, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = Matrix::from_rows(dev, Shape::new(2, 3), &[1., 2., 3., 4., 5., 6.])?;
/// let b = Matrix::from_rows(dev, Shape::new(3, 2), &[1., 0., 0., 1., 1., 1.])?;
/// let mut c = Matrix::zeros(dev, Shape::new(2, 2))?;
/// ops::matmul(&mut c, &a, &b)?;
/// assert_eq!(c.read()?, [4., 5., 10., 11.]);
/// # Ok::<(), texla::Error>(())
/// ```
///
/// In place is impossible by type:
///
/// ```compile_fail,E0502
/// # fn run(a: &mut texla::Matrix, b: &texla::Matrix) -> texla::Result<()> {
/// texla::ops::matmul(a, &*a, b)
/// # }
/// ```
pub fn matmul(c: &mut Matrix, a: &Matrix, b: &Matrix) -> Result<()> {
    matmul_with(c, MatmulForm::Plain, a, b, MatmulSchedule::Auto).map(drop)
}

/// `C = Aᵀ B` without transposing `A` in memory.
///
/// *Shapes*: `A` q x n, `B` q x m, `C` n x m. *Cost*, *errors* and *bound*: as [`matmul`]. *Source*:
/// \[Moravanszky03\] 3.4.
///
/// ```
/// use texla::{Matrix, Shape, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = Matrix::from_rows(dev, Shape::new(3, 2), &[1., 2., 3., 4., 5., 6.])?;
/// let mut c = Matrix::zeros(dev, Shape::new(2, 2))?;
/// ops::matmul_at(&mut c, &a, &a)?;
/// assert_eq!(c.read()?, [35., 44., 44., 56.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn matmul_at(c: &mut Matrix, a: &Matrix, b: &Matrix) -> Result<()> {
    matmul_with(c, MatmulForm::TransposedA, a, b, MatmulSchedule::Auto).map(drop)
}

/// `C = A Bᵀ`.
///
/// *Shapes*: `A` n x q, `B` m x q, `C` n x m. *Cost*: as [`matmul`]; a blocked schedule first transposes `B`, whose
/// elements do not lie along its columns. *Errors* and *bound*: as [`matmul`]. *Source*: \[Moravanszky03\] 3.4.
pub fn matmul_bt(c: &mut Matrix, a: &Matrix, b: &Matrix) -> Result<()> {
    matmul_with(c, MatmulForm::TransposedB, a, b, MatmulSchedule::Auto).map(drop)
}

/// A product of any [`MatmulForm`] by a schedule of one's choice, and what was done.
///
/// *Shapes*, *errors* and *bound*: as [`matmul`], [`matmul_at`] and [`matmul_bt`]; [`Error::Unsupported`] for a schedule
/// that the shapes or the device do not allow; [`Error::Parameter`] for one of no multiply-adds.
///
/// ```
/// use texla::ops::{self, MatmulForm, MatmulSchedule};
/// use texla::{Matrix, Shape};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = Matrix::filled(dev, Shape::new(14, 30), 1.0)?; // the example of the paper's Figure 1
/// let b = Matrix::filled(dev, Shape::new(30, 12), 1.0)?;
/// let mut c = Matrix::zeros(dev, Shape::new(14, 12))?;
/// let report = ops::matmul_with(&mut c, MatmulForm::Plain, &a, &b, MatmulSchedule::Passes { multiply_adds: 3 })?;
/// assert_eq!(report.draws, 3); // 8 multiply-adds, 3 in a pass
/// assert_eq!(c.element(13, 11)?, 30.0);
/// # Ok::<(), texla::Error>(())
/// ```
pub fn matmul_with(
    c: &mut Matrix,
    form: MatmulForm,
    a: &Matrix,
    b: &Matrix,
    schedule: MatmulSchedule,
) -> Result<MatmulReport> {
    let op = match form {
        MatmulForm::Plain => "matmul",
        MatmulForm::TransposedA => "matmul_at",
        MatmulForm::TransposedB => "matmul_bt",
    };
    let (op_a, op_b) = form.shapes(a.shape(), b.shape());
    let mut fits = b.shape();
    // What `B` would have to be for this `A`.
    if form.transposes_b() {
        fits.cols = op_a.cols;
    } else {
        fits.rows = op_a.cols;
    }
    check_shape(op, "b", b.shape(), fits)?;
    check_shape(op, "c", c.shape(), crate::Shape::new(op_a.rows, op_b.cols))?;
    for (operand, m) in [("a", a), ("b", b)] {
        if !m.device().same(c.device()) {
            return Err(Error::WrongDevice { op: op.to_owned(), operand: operand.to_owned() });
        }
    }
    let device = c.device().clone();
    let _scope = device.exclusive_scope()?;
    let before = device.counters();
    let (schedule, reason) = schedule::choose(&device, form, op_a, op_b, schedule)?;
    if op_a.cols == 0 || c.shape().is_empty() {
        c.set_zero()?;
    } else {
        run::run(c, form, a, b, schedule)?;
    }
    let done = device.counters().since(&before);
    Ok(MatmulReport { schedule, reason, draws: done.draws, passes: done.passes })
}
