//! Dense matrices \[Moravanszky03\]: elements moved, products.

mod relocate;

pub use relocate::transpose;

pub(crate) use relocate::{
    block, column, diagonal, fill_identity, matrix_from_vector, matrix_to_vector, row, set_block,
};
