//! The implicit program that [Krueger05] prints in 44.4.1, behind Equation 44-7, written in texla line for line: each line of
//! the original stands as a comment above the call that it has become. `tests/wave_program.rs` runs it too, beside a twin.

use texla::host::{Csr, Triplets, problems};
use texla::kernel::{Kernel, NoParams};
use texla::solve::{CgParams, ConjugateGradient, FixedRun, Stop};
use texla::{BandedMatrix, Device, Plane, Result, Shape, Vector, ops};

texla::params! { struct HalfAlpha { half_alpha: f32 } }

/// `c(i, j, t) = 2 y - y⁻ - α/2 A y`, with `A` the five-point Laplacian and the surface held at the rim.
const RIGHT_HAND_SIDE: &str = "
    float y(ivec2 c) {
        bool inside = all(greaterThanEqual(c, ivec2(0))) && all(lessThan(c, current_extent()));
        return inside ? current_at(c).x : 0.0;
    }
    vec4 kernel(ivec2 c) {
        float here = y(c);
        float around = (y(c - ivec2(1, 0)) + y(c + ivec2(1, 0))) + (y(c - ivec2(0, 1)) + y(c + ivec2(0, 1)));
        return vec4((2.0 * here - last_at(c).x) - half_alpha * (4.0 * here - around), 0.0, 0.0, 0.0);
    }";

/// What the original's program works on; `clu` for what is not encoded, one element a texel.
#[allow(non_snake_case)]
pub struct Printed {
    matrix: BandedMatrix,
    cgSolver: CgParams,
    iMaxSteps: usize,
    half_alpha: HalfAlpha,
    compute_rhs: Kernel<HalfAlpha>,
    copy: Kernel<NoParams>,
    pub cluLast: Plane,
    pub cluCurrent: Plane,
    pub cluRHS: Plane,
    pub clRHS: Vector,
    pub clNext: Vector,
}

impl Printed {
    /// The matrix of Equation 44-7, which is Equation 44-1: `1 + α/2 A`.
    fn matrix([nx, ny]: [usize; 2], alpha: f64) -> Result<Csr> {
        let stiffness = problems::poisson_2d(nx, ny).to_csr();
        let entries =
            stiffness.entries().map(|(i, j, a)| (i, j, if i == j { 1.0 } else { 0.0 } + 0.5 * alpha * a));
        Ok(Triplets::from_entries(Shape::new(nx * ny, nx * ny), entries)?.to_csr())
    }

    /// A surface at rest: both levels are the same, and so is the solver's first guess.
    #[allow(non_snake_case)]
    pub fn new(
        device: &Device,
        grid: [usize; 2],
        alpha: f64,
        start: &[f32],
        tolerance: f64,
        iMaxSteps: usize,
    ) -> Result<Self> {
        let [nx, ny] = grid;
        let level = || Plane::from_rows(device, nx, ny, start);
        Ok(Printed {
            matrix: BandedMatrix::from_csr(device, Self::matrix(grid, alpha)?)?,
            cgSolver: CgParams::default().with_stop(Stop::relative(tolerance)),
            iMaxSteps,
            half_alpha: HalfAlpha { half_alpha: (0.5 * alpha) as f32 },
            compute_rhs: Kernel::new(device, "computeRHS", ["last", "current"], RIGHT_HAND_SIDE)?,
            copy: Kernel::new(device, "copyVector", ["from"], "vec4 kernel(ivec2 c) { return from_at(c); }")?,
            cluLast: level()?,
            cluCurrent: level()?,
            cluRHS: Plane::zeros(device, nx, ny)?,
            clRHS: Vector::zeros(device, nx * ny)?,
            clNext: Vector::from_slice(device, start)?,
        })
    }

    /// A time step. `iSteps` stays on the device until it is asked for.
    pub fn step(&mut self) -> Result<FixedRun> {
        // cluRHS->computeRHS(cluLast, cluCurrent);       // generate c(i, j, t)
        self.compute_rhs.run(&mut self.cluRHS, [&self.cluLast, &self.cluCurrent], &self.half_alpha)?;
        // clRHS->repack(cluRHS);                         // encode into RGBA
        ops::plane_to_vector(&mut self.clRHS, &self.cluRHS)?;
        // iSteps = pCGSolver->solve(iMaxSteps);          // solve using CG
        let cg = ConjugateGradient::new(&self.matrix, self.cgSolver)?;
        let steps = cg.iterate(&mut self.clNext, &self.clRHS, self.iMaxSteps)?;
        // cluLast->copyVector(cluCurrent);               // save for next iteration
        self.copy.run(&mut self.cluLast, [&self.cluCurrent], &NoParams)?;
        // clNext->unpack(cluCurrent);                    // unpack for rendering
        ops::vector_to_plane(&mut self.cluCurrent, &self.clNext)?;
        // renderHF(cluCurrent->m_pVectorTexture);
        // Rendering is the application's, with `cluCurrent.texture()`.
        Ok(steps)
    }
}
