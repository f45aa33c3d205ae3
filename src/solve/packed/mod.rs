//! Linear expressions on the device, by the programs that the packing optimiser makes ([`pack`](crate::pack)).
//!
//! Vectors are in packed order, four positions a texel or a `vec4`: [`Order::packed`](crate::pack::Order::packed) brings
//! values there, [`Order::unpacked`](crate::pack::Order::unpacked) back.

mod block_jacobi;
mod block_vector;
mod blocks;
mod fragment;
mod gauss_seidel;
mod layout;
mod moving;
mod operator;
mod plan;
mod runge_kutta;
mod vertex;

use crate::error::{Error, Result};

pub use block_jacobi::EnhancedBlockJacobi;
pub use block_vector::{BlockTexture, BlockVector};
pub use blocks::BlockExpression;
pub use fragment::FragmentExpression;
pub use gauss_seidel::VertexGaussSeidel;
pub use layout::{BlockLayout, BlockParams};
pub use operator::BlockOperator;
pub use plan::{BlockPlan, BlockUse};
pub use runge_kutta::VertexRungeKutta;
pub use vertex::VertexExpression;

/// Refuses an operand of another length than the packing has positions.
fn check_length(op: &'static str, operand: &'static str, found: usize, expected: usize) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::LengthMismatch { op, operand, found, expected })
}
