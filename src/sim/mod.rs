//! Layer 6: simulations, made of the operations and solvers of the layers above.

pub mod fluid;
pub mod wave;
