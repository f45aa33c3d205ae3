//! What the solver tests share.

pub use crate::common::bounds::bits;
pub use crate::common::systems::*;

use crate::common::{random, reference};
use texla::host::Csr;
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, Identity, Jacobi,
    LinOp, Preconditioner, SolveReport, Stationary, StationaryParams, Stop, WeightedJacobi,
};
use texla::{Device, MatrixFormat, Result, StoredMatrix, Vector};

/// A system with the right-hand side as the device gets it.
pub struct System {
    pub name: String,
    pub a: Csr,
    pub b: Vec<f64>,
}

impl System {
    /// `b = A 1`.
    pub fn of_ones(name: &str, a: Csr) -> Self {
        System { name: name.to_owned(), b: rhs_of_ones(&a), a }
    }

    pub fn n(&self) -> usize {
        self.b.len()
    }
}

/// Small systems that converge, of different kinds.
pub fn generated() -> Vec<System> {
    vec![
        System::of_ones("poisson 1d", texla::host::problems::poisson_1d(70).to_csr()),
        System::of_ones("poisson 2d", texla::host::problems::poisson_2d(24, 24).to_csr()),
        System::of_ones("dominant", csr(&random::spd(1, 151, 0.05))),
        System::of_ones("arrow", csr(&random::arrow(2, 90))),
    ]
}

pub fn params(tol: f64) -> CgParams {
    CgParams::default().with_stop(Stop::relative(tol))
}

/// Solves from zero: the solution and the report.
pub fn solve(
    device: &Device,
    system: &System,
    format: MatrixFormat,
    jacobi: bool,
    params: CgParams,
) -> Result<(Vec<f32>, SolveReport)> {
    let a = StoredMatrix::new(device, system.a.clone(), format)?;
    let b = Vector::from_f64(device, &system.b)?;
    let mut x = Vector::zeros(device, system.n())?;
    let m: Box<dyn Preconditioner> = if jacobi { Box::new(Jacobi::new(&a)?) } else { Box::new(Identity) };
    let report = ConjugateGradient::preconditioned(&a, m.as_ref(), params)?.solve(&mut x, &b)?;
    let texels = x.read_texels()?;
    assert!(texels[x.len()..].iter().all(|l| *l == 0.0), "{}: padding lanes are not zero", system.name);
    Ok((x.read()?, report))
}

/// All that solve `A x = b` for a symmetric positive definite matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    Cg(CgSchedule),
    BiCgStab,
    /// The same with polynomials of the second degree.
    BiCgStab2,
    Cgls,
    /// [`Stationary`] with Jacobi sweeps of this weight.
    Jacobi(f64),
}

impl Method {
    pub const KRYLOV: [Method; 5] = [
        Method::Cg(CgSchedule::Auto),
        Method::Cg(CgSchedule::Listing),
        Method::BiCgStab,
        Method::BiCgStab2,
        Method::Cgls,
    ];

    /// The function of the library, as its errors name it.
    pub fn entry(self) -> &'static str {
        match self {
            Method::Cg(_) => "ConjugateGradient::solve",
            Method::BiCgStab | Method::BiCgStab2 => "BiCgStab::solve",
            Method::Cgls => "Cgls::solve",
            Method::Jacobi(_) => "Stationary::solve",
        }
    }

    /// From the guess in `x`, in `most` iterations or sweeps.
    pub fn solve(
        self,
        a: &dyn LinOp,
        x: &mut Vector,
        b: &Vector,
        most: usize,
        stop: Stop,
    ) -> Result<SolveReport> {
        match self {
            Method::Cg(schedule) => {
                let params = CgParams::default().with_max_iters(most).with_stop(stop).with_schedule(schedule);
                ConjugateGradient::new(a, params)?.solve(x, b)
            }
            Method::BiCgStab | Method::BiCgStab2 => {
                let ell = if self == Method::BiCgStab2 { 2 } else { 1 };
                let params = BiCgStabParams::default().with_max_iters(most).with_stop(stop).with_ell(ell);
                BiCgStab::new(a, params)?.solve(x, b)
            }
            Method::Cgls => {
                let params = CglsParams::default().with_max_iters(most).with_stop(stop);
                Cgls::new(a, params)?.solve(x, b)
            }
            Method::Jacobi(omega) => {
                let params = StationaryParams::default().with_max_sweeps(most).with_stop(stop);
                Stationary::new(a, &WeightedJacobi::new(a, omega)?, params)?.solve(x, b)
            }
        }
    }
}

/// `‖x - want‖ / ‖want‖`.
pub fn relative_error(x: &[f32], want: &[f64]) -> f64 {
    norm(&reference::sub(&reference::widen(x), want)) / norm(want)
}

/// Every schedule.
pub const SCHEDULES: [CgSchedule; 3] = [CgSchedule::Listing, CgSchedule::Merged, CgSchedule::Fused];

/// What the device has of draw buffers decides whether the merged schedule runs at all.
pub fn schedules(device: &Device) -> Vec<CgSchedule> {
    let three = device.capabilities().max_draw_buffers >= 3;
    SCHEDULES.into_iter().filter(|s| three || *s == CgSchedule::Listing).collect()
}

/// A system times powers of two takes the same iterations to the same end, and to the same bits.
pub fn assert_scales(
    base: &System,
    powers: &[(i32, i32)],
    run: impl Fn(&System) -> Result<(Vec<f32>, SolveReport)>,
) {
    let (x, report) = run(base).unwrap();
    for &(e, f) in powers {
        let system = System {
            name: format!("{}, A 2^{e}, b 2^{f}", base.name),
            a: mapped(&base.a, |v| v * 2f64.powi(e)),
            b: base.b.iter().map(|v| v * 2f64.powi(f)).collect(),
        };
        let (y, other) = run(&system).unwrap();
        let name = &system.name;
        assert_eq!((other.iterations, other.reason), (report.iterations, report.reason), "{name}");
        let back: Vec<f32> = y.iter().map(|v| (f64::from(*v) * 2f64.powi(e - f)) as f32).collect();
        assert_eq!(bits(&back), bits(&x), "{name}");
    }
}

/// Powers of two for a matrix and a right-hand side.
pub const POWERS: [(i32, i32); 7] = [(60, 60), (60, 0), (0, 60), (-60, -60), (-60, 0), (0, -60), (7, -3)];

/// Whether a solve has met its bound: in the norm at least, where rows differ in size as much as those of these two matrices do.
pub fn is_met(name: &str, report: &texla::solve::SolveReport) -> bool {
    let uneven = ["bcsstk20", "arc130"].iter().any(|part| name.contains(part));
    report.converged() || uneven && report.reason == texla::solve::StopReason::NormOnly
}
