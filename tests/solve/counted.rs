//! What an iteration costs, counted: no readback, and the draws that follow from the plans.

use std::cell::RefCell;

use crate::common::harness::on_both;
use crate::common::products::fused_reduction;
use crate::common::random;
use crate::systems::{self, csr, params};
use texla::gl::Counters;
use texla::ops::{Accurate, Checked, Inlined, LinOp, Part, Product, ReducePlan, Windows};
use texla::solve::{
    CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, Identity, Jacobi, Preconditioner, Stop,
};
use texla::{Device, Extent, Kept, MatrixFormat, Result, Shape, SparseFormat, StoredMatrix, Vector};

/// An operator that notes the counters whenever it is called.
struct Noted<'a> {
    inner: &'a StoredMatrix,
    /// The counters at each product, and `None` where something else than an iteration called.
    calls: RefCell<Vec<Option<Counters>>>,
}

impl LinOp for Noted<'_> {
    fn device(&self) -> &Device {
        self.inner.device()
    }

    fn shape(&self) -> Shape {
        self.inner.shape()
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.calls.borrow_mut().push(Some(self.device().counters()));
        self.inner.apply(y, terms)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.inner.apply_transposed(y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        self.calls.borrow_mut().push(None);
        self.inner.accurate(out, terms, part)
    }

    fn inlined<'a>(&'a self, pass: Inlined<'a>) -> Result<Option<Inlined<'a>>> {
        // Twice an iteration, which the report counts.
        self.inner.inlined(pass)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        self.inner.diagonal()
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        self.inner.column_squares()
    }

    fn exponent(&self) -> texla::Result<i32> {
        self.inner.exponent()
    }
}

impl Noted<'_> {
    /// The work between each product and the next one of the same run.
    fn iterations(&self) -> Vec<Counters> {
        let calls = self.calls.borrow();
        calls.windows(2).filter_map(|w| Some(w[1]?.since(&w[0]?))).collect()
    }
}

/// Draws of a reduction whose last stage belongs to the scalar step: the stages before it, and the step.
fn reduction(extent: Extent) -> u64 {
    let stages = ReducePlan::new(extent, Windows::Balanced).stages().len() as u64;
    (stages - 1).max(1) + 1
}

/// Whether a pass that reads four other textures has room for the matrix.
fn can_be_inlined(device: &Device, a: &StoredMatrix) -> bool {
    let room = device.capabilities().texture_units as usize - 5;
    match a.kept() {
        Kept::Banded(m) => m.offsets().len() <= room,
        Kept::Sparse(m) => m.format() == SparseFormat::Gather,
        _ => panic!("{a:?}"),
    }
}

/// Draws of a product: one for every twelve diagonals, or as many as the texture units leave.
fn product(device: &Device, a: &StoredMatrix) -> u64 {
    match a.kept() {
        Kept::Banded(m) => {
            let per_pass = u64::from(device.capabilities().texture_units - 3).clamp(1, 12);
            (m.offsets().len() as u64).div_ceil(per_pass)
        }
        Kept::Sparse(_) => 1,
        _ => panic!("{a:?}"),
    }
}

#[track_caller]
fn assert_each(label: &str, noted: &Noted<'_>, expected: u64, stated: u64, every: usize) {
    let work = noted.iterations();
    assert!(work.len() >= 20, "{label}: only {} iterations were counted", work.len());
    assert_eq!(stated, expected, "{label}: the report's draws_per_iteration");
    for (k, one) in work.iter().enumerate() {
        assert_eq!(one.draws, expected, "{label}: draws of iteration {k}");
        assert_eq!(one.readbacks, 0, "{label}: readbacks in iteration {k}");
        assert_eq!(one.uploads, 0, "{label}: uploads in iteration {k}");
        assert!(one.async_checks <= 1);
    }
    // One look after every so many iterations; past the limit, where a look follows each, at most as many as may be
    // under way at a time, and one more. A driver that answers late takes them all.
    let looks: u64 = work.iter().map(|one| one.async_checks).sum();
    assert!(looks <= work.len().div_ceil(every) as u64 + 4, "{label}: {looks} looks");
}

#[test]
fn an_iteration_of_conjugate_gradients_costs_what_its_plan_says() {
    on_both(|device| {
        let problems = [
            ("poisson", texla::host::problems::poisson_2d(40, 31).to_csr(), MatrixFormat::Banded),
            (
                "poisson",
                texla::host::problems::poisson_2d(40, 31).to_csr(),
                MatrixFormat::Sparse(SparseFormat::Gather),
            ),
            ("large", texla::host::problems::poisson_2d(120, 110).to_csr(), MatrixFormat::Banded),
            ("many diagonals", csr(&random::spd(1, 40, 0.3)), MatrixFormat::Banded),
        ];
        for (name, a, format) in problems {
            if !systems::fits(device, &a, format) {
                continue;
            }
            let stored = StoredMatrix::new(device, a.clone(), format).unwrap();
            // A right-hand side with all frequencies, and a bound that is not met.
            let b = Vector::from_slice(device, &random::uniform(2, a.shape().rows)).unwrap();
            for schedule in systems::schedules(device) {
                for jacobi in [false, true] {
                    let noted = Noted { inner: &stored, calls: RefCell::default() };
                    let jacobi_m = Jacobi::new(&noted).unwrap();
                    let m: &dyn Preconditioner = if jacobi { &jacobi_m } else { &Identity };
                    let stop = Stop::relative(1e-12).check_every(8);
                    let params =
                        CgParams::default().with_max_iters(64).with_stop(stop).with_schedule(schedule);
                    let mut x = Vector::zeros(device, b.len()).unwrap();
                    let report = ConjugateGradient::preconditioned(&noted, m, params)
                        .unwrap()
                        .solve(&mut x, &b)
                        .unwrap();
                    let expected = match schedule {
                        // All inner products at once; all updates at once.
                        CgSchedule::Fused if can_be_inlined(device, &stored) => {
                            fused_reduction(b.extent()) + 1
                        }
                        // The same with the product before them.
                        CgSchedule::Merged | CgSchedule::Fused => {
                            product(device, &stored) + reduction(b.extent()) + 1
                        }
                        // Product; d.q; x and r; r.z; d.
                        _ => product(device, &stored) + 2 * reduction(b.extent()) + 2,
                    };
                    let label = format!("{name} {format:?} {schedule:?} jacobi {jacobi}");
                    if schedule == CgSchedule::Fused && can_be_inlined(device, &stored) {
                        assert_eq!(report.draws_per_iteration, expected, "{label}");
                    } else {
                        assert_each(&label, &noted, expected, report.draws_per_iteration, 8);
                    }
                    assert_eq!(report.readbacks_in_loop, 0, "{label}");
                    assert!(report.async_checks >= 1, "{label}");
                }
            }
        }
    });
}

#[test]
fn an_iteration_of_least_squares_costs_what_its_plan_says() {
    on_both(|device| {
        let a = csr(&random::sparse_rows(3, 700, 300, 5));
        if !systems::gather_fits(device, &a) {
            return;
        }
        let stored = StoredMatrix::new(device, a, MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
        let b = Vector::from_slice(device, &random::uniform(4, 700)).unwrap();
        let noted = Noted { inner: &stored, calls: RefCell::default() };
        let stop = Stop::relative(1e-12).check_every(8);
        let params = CglsParams::default().with_max_iters(40).with_stop(stop);
        let mut x = Vector::zeros(device, 300).unwrap();
        let report = Cgls::new(&noted, params).unwrap().solve(&mut x, &b).unwrap();
        // Two products; q.q over the rows and s.s over the columns; x, r and d.
        let expected = 2 + reduction(b.extent()) + reduction(x.extent()) + 3;
        assert_each("least squares", &noted, expected, report.draws_per_iteration, 8);
        assert_eq!(report.readbacks_in_loop, 0);
    });
}

/// A whole solve waits for the device a fixed number of times, however many iterations it takes.
#[test]
fn readbacks_do_not_grow_with_iterations() {
    on_both(|device| {
        let a =
            StoredMatrix::new(device, texla::host::problems::poisson_1d(900).to_csr(), MatrixFormat::Auto)
                .unwrap();
        let b = Vector::from_slice(device, &random::uniform(5, 900)).unwrap();
        let count = |max_iters| {
            let mut x = Vector::zeros(device, 900).unwrap();
            let before = device.counters();
            let params = params(1e-12).with_max_iters(max_iters);
            ConjugateGradient::new(&a, params).unwrap().solve(&mut x, &b).unwrap();
            device.counters().since(&before).readbacks
        };
        // What is found out about the matrix once.
        count(10);
        // The norms of b and of the first residual, and what rounding may have done to the last one; each is waited for where it
        // has not arrived.
        for iterations in [10, 300] {
            let readbacks = count(iterations);
            assert!(readbacks <= 3, "{readbacks} readbacks in {iterations} iterations");
        }
    });
}
