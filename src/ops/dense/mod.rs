//! Dense matrices \[Moravanszky03\]: elements moved, products.

mod accurate;
mod matmul;
mod norms;
mod outer;
mod relocate;
mod scatter;
mod vector;

pub use accurate::dense_accurate;
pub(crate) use matmul::matmul_work;
pub use matmul::{
    CALIBRATED_SIDES, Calibration, Form, MatmulReport, MatmulSchedule, Reason, calibrate, matmul, matmul_at,
    matmul_bt, matmul_with,
};
pub use norms::{norm_inf, norm1, trace};
pub use outer::outer;
pub use relocate::transpose;
pub use vector::{dense_product, dense_product_transposed};

pub(crate) use accurate::{dense_part, like};
pub(crate) use vector::{factors, shares};
