//! What solves a system, on the device and on the CPU.

use std::fmt;

/// What the unknowns are on the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bits {
    /// Pairs of floats, as programs have them by default.
    Pairs,
    /// Floats of 32 bits, which may stagnate above the bound.
    Single,
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Bits::Single { ", 32 bits" } else { "" })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Conjugate gradients with the stored matrix: diagonals on grids, dense, or as the file's matrix is best kept.
    CgMatrix(Bits),
    CgStencil(Bits),
    MultigridCg(Bits),
    JacobiCg(Bits),
    /// Nine-band Jacobi by itself.
    Ladder,
    /// On the CPU in 32 bits, by so many threads.
    HostCg(usize),
    HostCg64,
    HostJacobiCg,
    HostMultigridCg,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::CgMatrix(bits) => write!(f, "CG, matrix{bits}"),
            Method::CgStencil(bits) => write!(f, "CG, stencil{bits}"),
            Method::MultigridCg(bits) => write!(f, "multigrid-CG{bits}"),
            Method::JacobiCg(bits) => write!(f, "Jacobi-CG{bits}"),
            Method::Ladder => write!(f, "Jacobi ladder, 32 bits"),
            Method::HostCg(1) => write!(f, "CPU: CG, f32, 1 thread"),
            Method::HostCg(n) => write!(f, "CPU: CG, f32, {n} threads"),
            Method::HostCg64 => write!(f, "CPU: CG, f64"),
            Method::HostJacobiCg => write!(f, "CPU: Jacobi-CG, f32"),
            Method::HostMultigridCg => write!(f, "CPU: multigrid-CG, f32"),
        }
    }
}

/// What a call has come to.
pub struct Answer {
    /// From the call to the certified answer.
    pub seconds: f64,
    pub iterations: usize,
    /// On the device: useful ones, and those in vain.
    pub draws: Option<[u64; 2]>,
    /// The seconds over what the useful work alone takes, where that is measured.
    pub over_useful: Option<f64>,
    /// Says why, where the method itself does not call it solved.
    pub gave_up: Option<String>,
    pub x: Vec<f64>,
    /// Something was set up that later calls do without.
    pub first: bool,
}
