//! Solves by texla, and what their parts take.

use std::time::Instant;

use texla::host::{Csr, NineBands};
use texla::solve::{
    CgParams, ConjugateGradient, Identity, Jacobi, LinOp, Multigrid, MultigridParams, NineBandSmoother,
    Preconditioner, SolveReport, Stationary, StationaryParams, Stop, StopReason,
};
use texla::{BandedMatrix, Device, DoubleVector, Matrix, MatrixFormat, Result, Shape, StoredMatrix, Vector};

use crate::common::support::clock::Rounds;
use crate::method::{Answer, Bits, Method};
use crate::problem::System;

/// A system on the device, with what the methods asked for need.
pub struct OnDevice<'a> {
    device: &'a Device,
    system: &'a System,
    b: Vector,
    matrix: Option<Box<dyn LinOp + 'a>>,
    multigrid: Option<Multigrid>,
    jacobi: Option<Jacobi>,
    ladder: Option<NineBandSmoother>,
    tol: f64,
}

impl<'a> OnDevice<'a> {
    pub fn new(device: &'a Device, system: &'a System, methods: &[Method], tol: f64) -> Result<Self> {
        let mut made = OnDevice {
            device,
            system,
            b: Vector::from_slice(device, &system.b)?,
            matrix: None,
            multigrid: None,
            jacobi: None,
            ladder: None,
            tol,
        };
        if methods.iter().any(|m| matches!(m, Method::CgMatrix(_) | Method::JacobiCg(_) | Method::Ladder)) {
            let csr = || system.csr().clone();
            made.matrix = Some(match (system.dense, &system.stencil) {
                (Some(n), _) => {
                    let values: Vec<f32> = system.csr().values().iter().map(|v| *v as f32).collect();
                    Box::new(Matrix::from_rows(device, Shape::new(n, n), &values)?)
                }
                (_, Some(_)) => Box::new(BandedMatrix::from_csr(device, csr())?),
                _ => Box::new(StoredMatrix::new(device, csr(), MatrixFormat::Auto)?),
            });
        }
        if methods.iter().any(|m| matches!(m, Method::MultigridCg(_)))
            && let Some(stencil) = &system.stencil
        {
            made.multigrid = Some(Multigrid::new(stencil, MultigridParams::default())?);
        }
        if methods.iter().any(|m| matches!(m, Method::JacobiCg(_)))
            && let Some(matrix) = &made.matrix
        {
            made.jacobi = Some(Jacobi::new(matrix.as_ref())?);
        }
        if methods.contains(&Method::Ladder) {
            made.ladder = Some(NineBandSmoother::new(device, &nine_bands(system.csr())?, 1.0)?);
        }
        Ok(made)
    }

    fn matrix(&self) -> &dyn LinOp {
        self.matrix.as_deref().expect("made for the methods asked for")
    }

    fn stencil(&self) -> &dyn LinOp {
        self.system.stencil.as_ref().expect("a problem on a grid")
    }

    /// A solver with the library's own settings, but for the bound.
    fn conjugate_gradient(
        &self,
        method: Method,
        params: CgParams,
    ) -> Result<ConjugateGradient<&dyn LinOp, &dyn Preconditioner>> {
        let (a, m): (_, &dyn Preconditioner) = match method {
            Method::CgStencil(_) => (self.stencil(), &Identity),
            Method::MultigridCg(_) => (self.stencil(), self.multigrid.as_ref().expect("made for it")),
            Method::JacobiCg(_) => (self.matrix(), self.jacobi.as_ref().expect("made for it")),
            _ => (self.matrix(), &Identity),
        };
        ConjugateGradient::preconditioned(a, m, params)
    }

    /// One solve from zero, to the library's certificate.
    pub fn solve(&self, method: Method) -> Result<Answer> {
        let stop = Stop::relative(self.tol);
        match method {
            Method::Ladder => {
                let smoother = self.ladder.as_ref().expect("made for it");
                let params = StationaryParams::default().with_stop(stop);
                let solver = Stationary::new(self.matrix(), smoother, params)?;
                self.timed_single(|x| solver.solve(x, &self.b))
            }
            Method::CgMatrix(bits)
            | Method::CgStencil(bits)
            | Method::MultigridCg(bits)
            | Method::JacobiCg(bits) => {
                let solver = self.conjugate_gradient(method, CgParams::default().with_stop(stop))?;
                if bits == Bits::Single {
                    return self.timed_single(|x| solver.solve(x, &self.b));
                }
                let x = DoubleVector::zeros(self.device, self.b.len())?;
                self.timed(x, |x| solver.solve(x, &self.b), DoubleVector::read)
            }
            _ => unreachable!("the CPU's"),
        }
    }

    fn timed_single(&self, solve: impl FnOnce(&mut Vector) -> Result<SolveReport>) -> Result<Answer> {
        let x = Vector::zeros(self.device, self.b.len())?;
        self.timed(x, solve, |x| Ok(x.read()?.into_iter().map(f64::from).collect()))
    }

    fn timed<X>(
        &self,
        mut x: X,
        solve: impl FnOnce(&mut X) -> Result<SolveReport>,
        read: impl FnOnce(&X) -> Result<Vec<f64>>,
    ) -> Result<Answer> {
        self.device.finish()?;
        let before = self.device.counters();
        let started = Instant::now();
        // What a solve returns it has certified, and so waited for: there is nothing more to wait for.
        let report = solve(&mut x)?;
        let seconds = started.elapsed().as_secs_f64();
        let work = self.device.counters().since(&before);
        assert_eq!(report.draws_useful + report.draws_in_vain, work.draws, "every draw is one or the other");
        let gave_up = (report.reason != StopReason::Converged)
            .then(|| format!("{} at {:.1e}", report.reason, report.true_residual));
        Ok(Answer {
            seconds,
            iterations: report.iterations,
            draws: Some([report.draws_useful, report.draws_in_vain]),
            over_useful: None,
            gave_up,
            x: read(&x)?,
            first: work.compiles > 0,
        })
    }

    /// Seconds and draws of a V-cycle from zero.
    pub fn cycle(&self) -> Result<(f64, u64)> {
        let m = self.multigrid.as_ref().expect("made for it");
        let mut z = Vector::zeros(self.device, self.b.len())?;
        self.median(|count| (0..count).try_for_each(|_| m.apply(&mut z, &self.b)))
    }

    /// Seconds and draws of an iteration of multigrid-CG, in a fixed number of them.
    fn iteration(&self, method: Method) -> Result<(f64, u64)> {
        // So few that squares of the last residual are still far from the end of the range.
        const FEW: usize = 4;
        // So that nothing is met and frozen.
        let params = CgParams::default().with_stop(Stop::relative(1e-18));
        let solver = self.conjugate_gradient(method, params)?;
        let of = |iterations: usize| {
            self.median(|count| {
                (0..count).try_for_each(|_| {
                    let mut x = Vector::zeros(self.device, self.b.len())?;
                    solver.iterate(&mut x, &self.b, iterations).map(drop)
                })
            })
        };
        let (few, twice) = (of(FEW)?, of(2 * FEW)?);
        Ok(((twice.0 - few.0) / FEW as f64, (twice.1 - few.1) / FEW as u64))
    }

    /// The seconds of a solve by multigrid-CG over what its useful work takes by itself: a V-cycle for each iteration and
    /// one before the first, and what else is in an iteration.
    pub fn over_useful(&self, answer: &Answer) -> Result<f64> {
        let ((cycle, _), (iteration, _)) =
            (self.cycle()?, self.iteration(Method::MultigridCg(Bits::Single))?);
        let iterations = answer.iterations as f64;
        Ok(answer.seconds / ((iterations + 1.0) * cycle + iterations * (iteration - cycle)))
    }

    /// The median of rounds of calls, fewer if they take longer than a second, with the device idle before and after each. In the first ones a GPU that has waited
    /// for a CPU is still slow.
    fn median(&self, mut calls: impl FnMut(usize) -> Result<()>) -> Result<(f64, u64)> {
        const ROUNDS: usize = 7;
        let _scope = self.device.scope()?;
        let mut measured = |count: usize| {
            self.device.finish()?;
            let before = self.device.counters();
            let started = Instant::now();
            calls(count)?;
            self.device.finish()?;
            let seconds = started.elapsed().as_secs_f64() / count as f64;
            Ok::<_, texla::Error>((seconds, self.device.counters().since(&before).draws / count as u64))
        };
        measured(1)?;
        let (one, draws) = measured(1)?;
        let often = (0.05 / one.max(1e-6)).clamp(1.0, 1000.0) as usize;
        let (mut rounds, begun) = (Rounds::default(), Instant::now());
        while rounds.iter().len() < ROUNDS && (rounds.is_empty() || begun.elapsed().as_secs_f64() < 1.0) {
            rounds.push(measured(often)?.0);
        }
        Ok((rounds.median(), draws))
    }

    /// Seconds of solves that these limits end, in turn, the least of so many; each with its report.
    pub fn limited(
        &self,
        method: Method,
        limits: [usize; 2],
        rounds: usize,
    ) -> Result<[(f64, SolveReport); 2]> {
        let once = |max_iters| {
            let params = CgParams::default().with_stop(Stop::relative(NEVER)).with_max_iters(max_iters);
            let solver = self.conjugate_gradient(method, params)?;
            let mut x = Vector::zeros(self.device, self.b.len())?;
            self.device.finish()?;
            let started = Instant::now();
            let report = solver.solve(&mut x, &self.b)?;
            Ok::<_, texla::Error>((started.elapsed().as_secs_f64(), report))
        };
        // What is compiled is left behind by the first.
        limits.map(once).into_iter().try_for_each(|run| run.map(drop))?;
        let mut best = [once(limits[0])?, once(limits[1])?];
        let (mut done, begun) = (1, Instant::now());
        // Short ones oftener: they are lost in noise.
        while done < rounds || (done < 20 && begun.elapsed().as_secs_f64() < 0.5) {
            for (best, limit) in best.iter_mut().zip(limits) {
                best.0 = best.0.min(once(limit)?.0);
            }
            done += 1;
        }
        Ok(best)
    }
}

/// A bound that no run of the slopes reaches.
const NEVER: f64 = 1e-7;

/// The bands of a matrix on a square grid whose rows couple neighbours alone.
fn nine_bands(a: &Csr) -> Result<NineBands> {
    let side = a.shape().rows.isqrt();
    let mut bands: [Vec<f64>; 9] = std::array::from_fn(|_| vec![0.0; side * side]);
    for (i, j, value) in a.entries() {
        let (dx, dy) = (1 + j % side - i % side, 1 + j / side - i / side);
        bands[3 * dy + dx][i] = value;
    }
    NineBands::from_bands(side, bands)
}
