//! What the device tells of a run, and what it compares against.

use super::report::Breakdown;

/// The report texel of glsl/include/solver.glsl and of glsl/lcp/control.frag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solve) struct Report {
    pub flag: Flag,
    pub iterations: usize,
    /// Squared norm of the recurrence's residual.
    pub rr: f32,
    /// The quantity that broke down.
    pub value: f32,
}

/// Why the iterates are frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::solve) enum Flag {
    Running,
    Met,
    Curvature,
    Indefinite,
    OutOfRange,
    Exhausted,
    /// They are not: the host has had enough.
    OutOfTime,
    Stalled,
    /// The shadow residual of BiCGStab is orthogonal to the residual, or to what the direction is mapped to.
    Shadow,
    ShadowDirection,
}

impl Report {
    pub fn from_texel(texel: &[f32]) -> Self {
        let at = |i: usize| texel.get(i).copied().unwrap_or(0.0);
        // Negative where the iteration that has found it still moved.
        let flag = match at(0).abs() {
            0.0 => Flag::Running,
            1.0 => Flag::Met,
            2.0 => Flag::Curvature,
            3.0 => Flag::Indefinite,
            5.0 => Flag::Exhausted,
            6.0 => Flag::Stalled,
            7.0 => Flag::Shadow,
            8.0 => Flag::ShadowDirection,
            _ => Flag::OutOfRange,
        };
        Report { flag, iterations: at(1) as usize, rr: at(2), value: at(3) }
    }

    /// The value that broke down, by its name.
    pub fn broken(&self, quantity: &'static str, expected: &'static str) -> Breakdown {
        Breakdown { iteration: self.iterations, quantity, value: f64::from(self.value), expected }
    }

    /// What has broken down in conjugate gradients.
    pub fn breakdown(&self) -> Option<Breakdown> {
        let (quantity, expected) = match self.flag {
            Flag::Curvature if self.value == 0.0 => (
                "p.Ap",
                "more than 0: the matrix is singular, or what it makes of p lies below the range of floats",
            ),
            Flag::Curvature => (
                "p.Ap",
                "more than 0: the matrix is not positive definite, or so ill-conditioned that rounding makes it so",
            ),
            Flag::Indefinite if self.value == 0.0 => (
                "r.Mr",
                "more than 0: the preconditioner is singular, or what it gives lies below the range of floats",
            ),
            Flag::Indefinite => ("r.Mr", "more than 0: the preconditioner is not positive definite"),
            _ => return None,
        };
        Some(self.broken(quantity, expected))
    }
}

/// What the device compares against: the bound on r.r, the value of r.r past which a run has failed, and the most
/// iterations.
#[derive(Clone, Copy, Debug)]
pub(in crate::solve) struct Bounds {
    pub threshold: f32,
    pub ceiling: f32,
    pub limit: usize,
}

impl Bounds {
    /// Past this r.r has left the range of floats, or is about to.
    pub const CEILING: f64 = 3e38;
}
