//! Dense matrices \[Moravanszky03\]: elements moved, products.

mod accurate;
mod double;
mod linop;
mod matmul;
mod norms;
mod outer;
mod relocate;
mod scatter;
mod vector;

pub use matmul::{
    CALIBRATED_SIDES, Calibration, MatmulForm, MatmulReport, MatmulSchedule, Reason, calibrate, matmul,
    matmul_at, matmul_bt, matmul_with, matmul_workload,
};
pub use norms::{norm_inf, norm1, trace};
pub use outer::outer;
pub use relocate::transpose;

#[cfg(feature = "script")]
pub(crate) use matmul::matmul_work;
pub(crate) use vector::{factors, shares};
