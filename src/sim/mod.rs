//! Layer 6: simulations, built on the layers below as an application would be: operators, solvers, and kernels through
//! the door that is open to all.

pub mod wave;
