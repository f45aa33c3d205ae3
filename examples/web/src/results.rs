//! Work that is always the same, and the bits that it comes to: 20 operations, a mask and a loop, three solvers, waves and a fluid. In a browser and
//! outside of one the same hashes on the same rasteriser; on another the same bounds.

use std::fmt;

use texla::host::{Triplets, problems};
use texla::kernel::{Condition, IterateWhile, NoParams, PingPong, WhileParams};
use texla::ops::{self, Combine};
use texla::sim::fluid::{Boundaries, Boundary, Fluid, FluidParams, Pressure};
use texla::sim::wave::{Drop, Wave, WaveParams};
use texla::solve::{BiCgStab, BiCgStabParams, CgParams, ConjugateGradient, Multigrid, MultigridParams, Stop};
use texla::{
    BandedMatrix, Device, Grid, Matrix, Plane, Result, Shape, Side, Sides, SparseFormat, SparseMatrix,
    Stencil, StencilParams, Vector,
};

/// Elements of a vector: no multiple of four, and more than one window of a reduction.
const N: usize = 82 * 61;
/// Rows of a dense matrix, and its columns.
const ROWS: usize = 61;
const COLS: usize = 45;

/// FNV-1a of the bits.
pub fn hash(values: &[f32]) -> u64 {
    values.iter().flat_map(|value| value.to_bits().to_le_bytes()).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// What something came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub name: &'static str,
    /// Of all its bits.
    pub hash: u64,
    /// How far it is from what 64 bits come to, or what is left of a residual; and what that may be.
    pub error: f64,
    pub bound: f64,
}

impl Outcome {
    pub fn holds(&self) -> bool {
        self.error <= self.bound
    }
}

/// A line: name, hash, error, bound.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { name, hash, error, bound } = self;
        write!(f, "{name}\t{hash:016x}\t{error:e}\t{bound:e}")
    }
}

/// Numbers from -1 to 1 that are always the same (xorshift64*, G. Marsaglia, S. Vigna).
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = 0x9e37_79b9_7f4a_7c15 ^ seed;
    let mut next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 40) as f32 / 8_388_608.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|v| f64::from(*v)).collect()
}

/// The larger one, or what is no number.
fn worst(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

/// The largest difference, of the largest element.
fn apart(found: &[f32], expected: &[f64]) -> f64 {
    if found.len() != expected.len() {
        return f64::NAN;
    }
    let largest = expected.iter().map(|e| e.abs()).fold(f64::MIN_POSITIVE, worst);
    found.iter().zip(expected).map(|(f, e)| (f64::from(*f) - e).abs() / largest).fold(0.0, worst)
}

/// Rounding of a few operations on floats.
const ROUNDING: f64 = 4e-7;

struct Work<'a> {
    device: &'a Device,
    done: Vec<Outcome>,
    /// What somebody else does after each of them.
    between: &'a mut dyn FnMut(),
}

impl Work<'_> {
    fn done(&mut self, name: &'static str, hash: u64, error: f64, bound: f64) {
        self.done.push(Outcome { name, hash, error, bound });
        (self.between)();
    }

    fn note(&mut self, name: &'static str, found: &[f32], expected: &[f64], bound: f64) {
        self.done(name, hash(found), apart(found, expected), bound);
    }

    /// An operation on vectors.
    fn vector(
        &mut self,
        name: &'static str,
        run: impl FnOnce(&mut Vector) -> Result<()>,
        expected: impl Fn(usize) -> f64,
    ) -> Result<()> {
        let mut out = Vector::zeros(self.device, N)?;
        run(&mut out)?;
        let expected: Vec<f64> = (0..N).map(expected).collect();
        self.note(name, &out.read()?, &expected, ROUNDING);
        Ok(())
    }

    fn elementwise(&mut self) -> Result<()> {
        let [hx, hy, hz] = [1, 2, 3].map(|seed| numbers(N, seed));
        let make = |values: &[f32]| Vector::from_slice(self.device, values);
        let (x, y, z) = (make(&hx)?, make(&hy)?, make(&hz)?);
        let [hx, hy, hz] = [hx, hy, hz].map(|values| wide(&values));
        self.vector("add", |out| ops::add(out, &x, &y), |i| hx[i] + hy[i])?;
        self.vector("subtract", |out| ops::sub(out, &x, &y), |i| hx[i] - hy[i])?;
        self.vector("multiply", |out| ops::mul(out, &x, &y), |i| hx[i] * hy[i])?;
        self.vector("axpy", |out| ops::axpy(out, 0.3, &x, &y), |i| f64::from(0.3f32) * hx[i] + hy[i])?;
        self.vector("multiply and add", |out| ops::mul_add(out, &x, &y, &z), |i| hx[i] * hy[i] + hz[i])?;
        self.vector("clamp", |out| ops::clamp(out, &x, -0.25, 0.5), |i| hx[i].clamp(-0.25, 0.5))?;
        let positive = |out: &mut Vector| {
            let mut square = Vector::zeros(self.device, N)?;
            ops::mul(&mut square, &x, &x)?;
            ops::sqrt(out, &square)
        };
        self.vector("square root", positive, |i| hx[i].abs())?;
        self.vector("maximum", |out| ops::max(out, &x, &y), |i| if hx[i] < hy[i] { hy[i] } else { hx[i] })?;
        // Sums of N terms: bounds of their order, as shares of the sums of magnitudes.
        let sums = [
            ("sum", ops::sum(&x)?, hx.iter().sum(), hx.iter().map(|v| v.abs()).sum::<f64>()),
            ("dot", ops::dot(&x, &y)?, hx.iter().zip(&hy).map(|(a, b)| a * b).sum(), {
                hx.iter().zip(&hy).map(|(a, b)| (a * b).abs()).sum::<f64>()
            }),
            ("norm", ops::norm2(&x)?, hx.iter().map(|v| v * v).sum::<f64>().sqrt(), 30.0),
            ("largest", ops::max_abs(&x)?, hx.iter().map(|v| v.abs()).fold(0.0, worst), 1.0),
        ];
        for (name, found, expected, scale) in sums {
            let found = found.read()?;
            let error = (f64::from(found) - expected).abs() / scale;
            self.done(name, hash(&[found]), error, ROUNDING);
        }
        let mut plane = Plane::zeros(self.device, 82, 61)?;
        let mut back = Vector::zeros(self.device, N)?;
        ops::vector_to_plane(&mut plane, &x)?;
        ops::plane_to_vector(&mut back, &plane)?;
        self.note("to a plane and back", &back.read()?, &hx, 0.0);
        self.histogram(&x)
    }

    fn histogram(&mut self, x: &Vector) -> Result<()> {
        let counts = ops::histogram(x, -1.0, 1.0, 17)?;
        let found: Vec<f32> = counts.iter().map(|count| *count as f32).collect();
        let mut expected = vec![0.0; 17];
        for v in wide(&x.read()?) {
            expected[((v + 1.0) / 2.0 * 17.0).floor().clamp(0.0, 16.0) as usize] += 1.0;
        }
        // A value at an edge may be counted on either side of it.
        self.note("histogram", &found, &expected, 2.0 / 294.0);
        Ok(())
    }

    fn products(&mut self) -> Result<()> {
        let device = self.device;
        let (ha, hb, hv) = (numbers(ROWS * COLS, 4), numbers(COLS * ROWS, 5), numbers(COLS, 6));
        let a = Matrix::from_rows(device, Shape::new(ROWS, COLS), &ha)?;
        let b = Matrix::from_rows(device, Shape::new(COLS, ROWS), &hb)?;
        let v = Vector::from_slice(device, &hv)?;
        let [ha, hb, hv] = [ha, hb, hv].map(|values| wide(&values));
        let mut c = Matrix::zeros(device, Shape::new(ROWS, ROWS))?;
        ops::matmul(&mut c, &a, &b)?;
        let expected: Vec<f64> = (0..ROWS * ROWS)
            .map(|at| (0..COLS).map(|k| ha[at / ROWS * COLS + k] * hb[k * ROWS + at % ROWS]).sum())
            .collect();
        self.note("dense product", &c.read()?, &expected, 1e-5);
        let mut y = Vector::zeros(device, ROWS)?;
        ops::product(&mut y, Combine::Replace, 1.0, &a, &v)?;
        let expected: Vec<f64> =
            (0..ROWS).map(|i| (0..COLS).map(|k| ha[i * COLS + k] * hv[k]).sum()).collect();
        self.note("matrix times vector", &y.read()?, &expected, 1e-5);
        let mut t = Matrix::zeros(device, Shape::new(COLS, ROWS))?;
        ops::transpose(&mut t, &a)?;
        let expected: Vec<f64> = (0..COLS * ROWS).map(|at| ha[at % ROWS * COLS + at / ROWS]).collect();
        self.note("transpose", &t.read()?, &expected, 0.0);

        let grid = problems::poisson_2d(37, 29);
        let csr = grid.to_csr();
        let hx = numbers(37 * 29, 7);
        let x = Vector::from_slice(device, &hx)?;
        let expected = csr.mul_vec(&wide(&hx))?;
        let mut y = Vector::zeros(device, x.len())?;
        let banded = BandedMatrix::from_triplets(device, &grid)?;
        ops::product(&mut y, Combine::Replace, 1.0, &banded, &x)?;
        self.note("banded product", &y.read()?, &expected, 1e-6);
        let sparse = SparseMatrix::from_triplets(device, &grid, SparseFormat::Gather)?;
        ops::product(&mut y, Combine::Replace, 1.0, &sparse, &x)?;
        self.note("sparse product", &y.read()?, &expected, 1e-6);
        let stencil = poisson(device, 37, 29)?;
        ops::product(&mut y, Combine::Replace, 1.0, &stencil, &x)?;
        self.note("stencil product", &y.read()?, &expected, 1e-6);
        Ok(())
    }

    /// What a mask counts, and a loop that each texel runs for as long as it takes: integers, which are exact everywhere.
    fn masks(&mut self) -> Result<()> {
        let (device, values) = (self.device, numbers(N, 8));
        let x = Vector::from_slice(device, &values)?;
        let body = "bool kernel(ivec2 p) { return x(p).x > 0.25; }";
        let above = Condition::<NoParams>::new(device, "above", ["x"], body)?.mask(&x, [&x], &NoParams)?;
        let nowhere = "bool kernel(ivec2 p) { return x(p).x > 1.0; }";
        let nowhere = Condition::<NoParams>::new(device, "nowhere", ["x"], nowhere)?;
        let none = nowhere.mask(&x, [&x], &NoParams)?;
        let expected = values.chunks(4).filter(|texel| texel[0] > 0.25).count() as f64;
        let flag = |any: bool| f32::from(u8::from(any));
        let found = [above.count()? as f32, flag(above.any()?), none.count()? as f32, flag(none.any()?)];
        self.note("masks", &found, &[expected, 1.0, 0.0, 0.0], 0.0);

        // The Collatz sequence from 1, 2, ... on: the number, its steps, their sum.
        let body = "bool unfinished(ivec2 p, vec4 s) { return s.x > 1.0; }
            vec4 advance(ivec2 p, vec4 s) {
                float half_of_it = 0.5 * s.x;
                float next = floor(half_of_it) == half_of_it ? half_of_it : 3.0 * s.x + 1.0;
                return vec4(next, s.y + 1.0, s.z + s.x, s.w);
            }";
        let start: Vec<f32> = (1..=300).flat_map(|k| [k as f32, 0.0, 0.0, k as f32]).collect();
        let mut state =
            PingPong::new(Vector::from_slice(device, &start)?, Vector::zeros(device, start.len())?);
        let mut longest = 0;
        let mut expected = Vec::new();
        for k in 1..=300u32 {
            let (mut number, mut steps, mut sum) = (k, 0u32, 0u32);
            while number > 1 {
                sum += number;
                number = if number % 2 == 0 { number / 2 } else { 3 * number + 1 };
                steps += 1;
            }
            longest = steps.max(longest);
            expected.extend([1.0, f64::from(steps), f64::from(sum), f64::from(k)]);
        }
        let collatz = IterateWhile::<NoParams>::new(device, "collatz", [], body)?;
        let limits = WhileParams::default().with_steps_per_pass(3);
        let report = collatz.run(&mut state, [], &NoParams, limits)?;
        let mut found = state.front().read()?;
        found.push(report.passes as f32);
        expected.push(f64::from(longest.div_ceil(3)));
        self.note("a loop for each texel", &found, &expected, 0.0);
        Ok(())
    }

    /// Relative residuals in 64 bits, and bounds on what is certified.
    fn solvers(&mut self) -> Result<()> {
        let (device, tolerance) = (self.device, 1e-4);
        let stop = Stop::relative(tolerance);
        let triplets = problems::poisson_2d(64, 64);
        let b = Vector::filled(device, 64 * 64, 1.0)?;
        let a = BandedMatrix::poisson_2d(device, 64, 64)?;
        let mut x = Vector::zeros(device, b.len())?;
        let report = ConjugateGradient::new(&a, CgParams::default().with_stop(stop))?.solve(&mut x, &b)?;
        self.solved("conjugate gradients", &triplets, &x, report.true_residual, tolerance)?;

        let stencil = poisson(device, 64, 64)?;
        let multigrid = Multigrid::new(&stencil, MultigridParams::default())?;
        let params = CgParams::default().with_stop(stop);
        x.set_zero()?;
        let report = ConjugateGradient::preconditioned(&stencil, &multigrid, params)?.solve(&mut x, &b)?;
        self.solved("the same with multigrid", &triplets, &x, report.true_residual, tolerance)?;

        // Flow across the grid: not symmetric.
        let mut flow = triplets.clone();
        for row in 0..64 * 64 - 1 {
            if row % 64 != 63 {
                flow.push(row, row + 1, 0.4)?;
                flow.push(row + 1, row, -0.4)?;
            }
        }
        let sparse = SparseMatrix::from_triplets(device, &flow, SparseFormat::Gather)?;
        x.set_zero()?;
        let params = BiCgStabParams::default().with_stop(stop);
        let report = BiCgStab::new(&sparse, params)?.solve(&mut x, &b)?;
        self.solved("BiCGStab", &flow, &x, report.true_residual, tolerance)
    }

    /// A certificate is no less than what 64 bits find, and no more than the bound.
    fn solved(
        &mut self,
        name: &'static str,
        a: &Triplets,
        x: &Vector,
        certified: f64,
        bound: f64,
    ) -> Result<()> {
        let found = x.read()?;
        let product = a.to_csr().mul_vec(&wide(&found))?;
        let own =
            product.iter().map(|p| (1.0 - p).powi(2)).sum::<f64>().sqrt() / (product.len() as f64).sqrt();
        let error = if own <= 1.001 * certified { certified } else { f64::NAN };
        self.done(name, hash(&found), error, bound);
        Ok(())
    }

    fn simulations(&mut self) -> Result<()> {
        let mut wave = Wave::new(self.device, WaveParams::new(96, 64).with_dt(0.5))?;
        wave.drop(Drop { centre: [30.0, 40.0], radius: 9.0, height: -0.4, balanced: true })?;
        let (mut left, bound) = (0.0, 2.0 * wave.params().tolerance);
        for step in 0..50 {
            wave.step()?;
            if step % 10 == 9 {
                left = worst(left, wave.report()?.map_or(f64::NAN, |report| report.residual));
            }
        }
        let heights = wave.displacement().read()?;
        self.done("50 steps of waves", hash(&heights), left, bound);

        let cells = Grid::new_2d(64, 32);
        let stop = Stop::relative(1e-5);
        let pressure = Pressure::Fixed {
            params: CgParams::default().with_stop(stop),
            multigrid: MultigridParams::default(),
            iterations: 7,
        };
        let stream = Boundary::Inflow { velocity: [1.0, 0.0, 0.0] };
        let boundaries = Boundaries { x: [stream, Boundary::Open], ..Boundaries::all(Boundary::FreeSlip) };
        let h = 1.0 / 32.0;
        let params =
            FluidParams::new(h).with_boundaries(boundaries).with_pressure(pressure).with_confinement(1.5);
        let disc = |i: usize| {
            let (x, y, _) = cells.place(i);
            ((x as f64 + 0.5) * h - 0.5).hypot((y as f64 + 0.5) * h - 0.47) < 0.12
        };
        let solid: Vec<bool> = (0..cells.len()).map(disc).collect();
        let mut fluid = Fluid::new(self.device, cells, params, &solid)?;
        let mut left = 0.0;
        for step in 0..20 {
            let dt = 1.5 * h;
            if step % 5 == 4 {
                fluid.confine(dt)?;
                fluid.advect(dt)?;
                let projection = fluid.project_reported()?;
                left = worst(left, projection.after / projection.before);
            } else {
                fluid.step(dt)?;
            }
        }
        let mut all = fluid.velocity(0)?.read()?;
        all.extend(fluid.velocity(1)?.read()?);
        self.done("20 steps of a fluid", hash(&all), left, 1e-3);
        Ok(())
    }
}

/// The five-point matrix, of which nothing is stored.
pub fn poisson(device: &Device, nx: usize, ny: usize) -> Result<Stencil> {
    let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::DIRICHLET));
    Stencil::new(device, Grid::new_2d(nx, ny), params)
}

/// All of it, in the order in which it stands here; `between` is called after each.
pub fn all(device: &Device, between: &mut dyn FnMut()) -> Result<Vec<Outcome>> {
    let mut work = Work { device, done: Vec::new(), between };
    work.elementwise()?;
    work.products()?;
    work.masks()?;
    work.solvers()?;
    work.simulations()?;
    Ok(work.done)
}

/// One number for all of it.
pub fn digest(outcomes: &[Outcome]) -> u64 {
    let halves = |hash: u64| [hash as u32, (hash >> 32) as u32].map(f32::from_bits);
    hash(&outcomes.iter().flat_map(|outcome| halves(outcome.hash)).collect::<Vec<_>>())
}
