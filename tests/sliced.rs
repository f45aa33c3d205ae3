//! Solves that are advanced a slice at a time: the same as whole ones, whatever goes on in between; and nothing waits, where fences
//! do not change within a slice, as in a browser.
#![allow(unsafe_code)]

mod common;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt::Debug;
use std::rc::Rc;
use std::time::Duration;

use common::harness::{limits, on_both};
use common::loader::{self, Entry};
use common::random::uniform;
use common::state::{assert_same, snapshot};
use texla::data::Unknowns;
use texla::host::{Triplets, problems};
use texla::solve::{
    AggregationMultigrid, AggregationParams, Auto, AutoParams, AutoReport, BiCgStab, BiCgStabParams,
    CgParams, CgSchedule, Cgls, CglsParams, Choice, ChoiceParams, ConjugateGradient, Direction,
    FlexibleCgParams, FlexibleConjugateGradient, GaussSeidel, GivenUp, Gmres, GmresParams, Jacobi, LcpBatch,
    LcpParams, LcpProblem, LcpReport, LcpSolver, LinOp, MethodKind, Minres, MinresParams, Multigrid,
    MultigridParams, Preconditioner, PreconditionerKind, Recurrence, Relaxation, Slice, Smoother,
    SolveProgress, SolveReport, Solving, Stationary, StationaryParams, Stop, WeightedJacobi,
};
use texla::{
    BandedMatrix, Device, DeviceOptions, DoubleVector, Error, Grid, MatrixFormat, Result, Shape, Side, Sides,
    Stencil, StencilParams, StoredMatrix, Vector, ops,
};

thread_local! {
    /// How many turns of an event loop there have been, in which of them a fence was made, and how often one was waited for.
    static TURN: Cell<u32> = Cell::default();
    static MADE: RefCell<HashMap<usize, u32>> = RefCell::default();
    static WAITED: Cell<u32> = Cell::default();
}

type FenceSync = unsafe extern "system" fn(u32, u32) -> *const c_void;
type ClientWaitSync = unsafe extern "system" fn(*const c_void, u32, u64) -> u32;

unsafe extern "system" fn fence_sync(condition: u32, flags: u32) -> *const c_void {
    let driver = loader::loader()("glFenceSync");
    // SAFETY: the loader gives a function of this name; the rest is the caller's.
    let fence = unsafe { std::mem::transmute::<*const c_void, FenceSync>(driver)(condition, flags) };
    MADE.with_borrow_mut(|made| made.insert(fence as usize, TURN.get()));
    fence
}

/// As in a browser no fence changes within the turn in which it is made.
unsafe extern "system" fn client_wait_sync(fence: *const c_void, flags: u32, timeout: u64) -> u32 {
    if timeout > 0 {
        WAITED.set(WAITED.get() + 1);
    } else if MADE.with_borrow(|made| made.get(&(fence as usize)) == Some(&TURN.get())) {
        return glow::TIMEOUT_EXPIRED;
    }
    let driver = loader::loader()("glClientWaitSync");
    // SAFETY: as above.
    unsafe { std::mem::transmute::<*const c_void, ClientWaitSync>(driver)(fence, flags, timeout) }
}

/// A guest of the current context, under such a driver.
fn guest() -> Device {
    loader::heal();
    let load = |name: &str| match name {
        "glFenceSync" => fence_sync as FenceSync as *const c_void,
        "glClientWaitSync" => client_wait_sync as ClientWaitSync as *const c_void,
        _ => loader::loader()(name),
    };
    // SAFETY: the context is current while the tests hold the guest; the loader knows the functions.
    unsafe { Device::from_loader(load, DeviceOptions::default().with_limits(limits())) }.unwrap()
}

/// What of a report is the same however a solve is cut.
trait Told {
    fn told(&self) -> String;

    /// Draws, but for those in vain, and by how many fewer or more they may be: in which iteration what has frozen could be
    /// noticed is told within one.
    fn draws(&self) -> (u64, u64);
}

impl Told for SolveReport {
    fn told(&self) -> String {
        let SolveReport { reason, breakdown, iterations, pairs, double_iterations, .. } = self;
        let certified = (self.true_residual, self.rounding, self.least_squares_residual);
        let draws = (self.draws_per_iteration, self.passes_per_iteration);
        let done = (iterations, double_iterations, self.replacements, self.readbacks_in_loop);
        format!("{reason:?} {breakdown:?} {done:?} {pairs} {certified:?} {draws:?}")
    }

    fn draws(&self) -> (u64, u64) {
        (self.draws_useful, self.draws_per_iteration * (self.replacements as u64 + 2))
    }
}

impl Told for AutoReport {
    fn told(&self) -> String {
        let tried = self.tried.iter().map(|tried| match &tried.why {
            GivenUp::Refused(error) => format!("{} {error}", tried.choice),
            GivenUp::Ended(report) => format!("{} {}", tried.choice, report.told()),
            _ => unreachable!("another reason"),
        });
        let tried: Vec<String> = tried.collect();
        format!("{} {} {tried:?}", self.choice, self.solved.told())
    }

    fn draws(&self) -> (u64, u64) {
        self.solved.draws()
    }
}

impl<O: Debug> Told for LcpReport<O> {
    fn told(&self) -> String {
        assert_eq!(self.readbacks_in_loop, 0);
        format!("{:?} {} {}", self.outcome, self.certifications, self.draws_per_sweep)
    }

    fn draws(&self) -> (u64, u64) {
        (0, 0)
    }
}

fn told<R: Told>(done: &Result<R>) -> String {
    done.as_ref().map_or_else(|error| format!("{error:?}"), R::told)
}

/// Takes slices until one says that it is done, or fails; how many. None waits, what is told of never goes back, and something
/// else is done in between.
fn sliced(dev: &Device, name: &str, mut advance: impl FnMut() -> Result<SolveProgress>) -> usize {
    let mut other = Vector::from_slice(dev, &[1.0, 2.0, 3.0]).unwrap();
    let mut before = (0, None);
    for slices in 1.. {
        assert!(slices < 20_000, "{name}: no end");
        TURN.set(TURN.get() + 1);
        let (waited, readbacks) = (WAITED.get(), dev.counters().readbacks);
        let advanced = advance();
        assert_eq!(
            (WAITED.get(), dev.counters().readbacks),
            (waited, readbacks),
            "{name}: slice {slices} waits"
        );
        let Ok(SolveProgress { iterations, residual, done, .. }) = advanced else { return slices };
        assert!(iterations >= before.0 && residual.is_some() >= before.1.is_some(), "{name}: {before:?}");
        assert!(residual.is_some() || iterations == 0, "{name}: {iterations} without a residual");
        before = (iterations, residual);
        if done {
            return slices;
        }
        let sum = ops::sum(&other).unwrap();
        ops::accumulate_scaled(&mut other, &sum, &Vector::filled(dev, 3, 1e-3).unwrap()).unwrap();
    }
    unreachable!("no end")
}

fn bits(x: &impl Values) -> Vec<u32> {
    x.values().into_iter().map(f32::to_bits).collect()
}

trait Values: Unknowns {
    fn values(&self) -> Vec<f32>;
}

impl Values for Vector {
    fn values(&self) -> Vec<f32> {
        self.read().unwrap()
    }
}

impl Values for DoubleVector {
    fn values(&self) -> Vec<f32> {
        [self.high(), self.low()].into_iter().flat_map(|part| part.read().unwrap()).collect()
    }
}

/// A whole solve, and the same in the smallest slices, by iterations and by time.
macro_rules! same {
    ($dev:expr, $name:expr, $solver:expr, $zero:expr, $b:expr) => {{
        let (solver, name) = ($solver, $name);
        let mut whole = $zero;
        let of_whole = solver.solve(&mut whole, $b);
        let wanted = told(&of_whole);
        for slice in [Slice::iterations(1), Slice::time(Duration::ZERO)] {
            let mut x = $zero;
            let mut solving = solver.begin(&mut x, $b);
            let slices = sliced($dev, name, || solving.advance(slice));
            assert!(slices > 2 || wanted.contains("op:"), "{name} in {slices} slices of {slice:?}");
            let (_, report) = solving.finish();
            assert_eq!(told(&report), wanted, "{name} in slices of {slice:?}");
            if let (Ok(whole), Ok(cut)) = (&of_whole, &report) {
                let ((draws, apart), found) = (whole.draws(), cut.draws().0);
                assert!(found.abs_diff(draws) <= apart, "{name}: {found} draws, {draws} of a whole one");
            }
            assert_eq!(bits(&x), bits(&whole), "{name} in slices of {slice:?}");
        }
        // Cut a few times, and then run to the end.
        let (mut x, mut slices) = ($zero, 0);
        let mut solving = solver.begin(&mut x, $b);
        let few = || {
            slices += 1;
            let mut progress = solving.advance(Slice::iterations(2))?;
            progress.done |= slices == 6;
            Ok(progress)
        };
        let _ = sliced($dev, name, few);
        assert_eq!(told(&solving.finish().1), wanted, "{name}, finished");
        assert_eq!(bits(&x), bits(&whole), "{name}, finished");
        wanted
    }};
}

/// A choice made anew each time: it remembers what has failed.
struct Anew<F>(F);

impl<A: LinOp + Clone, F: Fn() -> Auto<A>> Anew<F> {
    fn solve(&self, x: &mut Vector, b: &Vector) -> Result<AutoReport> {
        self.0().solve(x, b)
    }

    fn begin<'s>(&self, x: &'s mut Vector, b: &'s Vector) -> Solving<'s, &'s mut Vector, AutoReport>
    where
        A: 's,
    {
        self.0().begin(x, b)
    }
}

#[test]
fn every_solver_in_slices_is_the_same() {
    on_both(|_| {
        let dev = &guest();
        let n = 16 * 12;
        let plane = problems::poisson_2d(16, 12).to_csr();
        let a = BandedMatrix::poisson_2d(dev, 16, 12).unwrap();
        let b = Vector::from_slice(dev, &uniform(1, n)).unwrap();
        let zero = || Vector::zeros(dev, n).unwrap();
        let pairs = || DoubleVector::zeros(dev, n).unwrap();
        let fine = Stop::relative(1e-9);
        let diagonal = Jacobi::new(&a).unwrap();
        for schedule in [CgSchedule::Listing, CgSchedule::Merged, CgSchedule::Fused] {
            let params = CgParams::default().with_schedule(schedule);
            let solver = ConjugateGradient::preconditioned(&a, &diagonal, params).unwrap();
            let report = same!(dev, "cg", solver, zero(), &b);
            assert!(report.starts_with("Converged"), "{report}");
        }
        for recurrence in [Recurrence::Single, Recurrence::Double] {
            let params = CgParams::default().with_stop(fine).with_recurrence(recurrence);
            same!(dev, "cg of pairs", ConjugateGradient::new(&a, params).unwrap(), pairs(), &b);
        }
        // From a start, and looked at when the caller says so.
        let seldom = CgParams::default().with_stop(Stop::default().check_every(7));
        let start = || Vector::from_slice(dev, &uniform(2, n)).unwrap();
        same!(dev, "cg, seldom looked at", ConjugateGradient::new(&a, seldom).unwrap(), start(), &b);
        let stored = StoredMatrix::new(dev, plane.clone(), MatrixFormat::Auto).unwrap();
        let amg = AggregationMultigrid::new(&stored, AggregationParams::default()).unwrap();
        let solver = ConjugateGradient::preconditioned(&stored, &amg, CgParams::default()).unwrap();
        same!(dev, "cg by aggregation", solver, zero(), &b);
        for ell in [1, 2] {
            let params = BiCgStabParams::default().with_ell(ell);
            same!(dev, "bicgstab", BiCgStab::new(&a, params).unwrap(), zero(), &b);
        }
        let cycles = GmresParams::default().with_restart(10);
        same!(dev, "gmres", Gmres::new(&a, cycles).unwrap(), zero(), &b);
        let params = FlexibleCgParams::default();
        let flexible = FlexibleConjugateGradient::preconditioned(&stored, &amg, params).unwrap();
        same!(dev, "flexible cg by aggregation", flexible, zero(), &b);
        same!(dev, "minres", Minres::new(&a, MinresParams::default()).unwrap(), zero(), &b);
        same!(dev, "cgls", Cgls::new(&a, CglsParams::default()).unwrap(), zero(), &b);
        let params = CglsParams::default().with_stop(Stop::relative(1e-6));
        same!(dev, "cgls of pairs", Cgls::new(&a, params).unwrap(), pairs(), &b);
        // An inner solve of a slice's own preconditioner waits by itself, and runs to its end.
        let inner = Inner(ConjugateGradient::new(&a, CgParams::default().with_max_iters(3)).unwrap());
        let flexible = GmresParams::default().with_flexible(true).with_restart(5);
        let outer = Gmres::preconditioned(&a, &inner, flexible).unwrap();
        let (mut whole, mut x) = (zero(), zero());
        let wanted = told(&outer.solve(&mut whole, &b));
        let (_, report) = outer.begin(&mut x, &b).finish();
        assert_eq!((told(&report), bits(&x)), (wanted, bits(&whole)), "finished without a slice");
        let mut x = zero();
        let (mut solving, mut slices) = (outer.begin(&mut x, &b), 0);
        while !solving.advance(Slice::iterations(1)).unwrap().done {
            TURN.set(TURN.get() + 1);
            slices += 1;
        }
        let iterations = solving.finish().1.unwrap().iterations;
        assert!(slices > iterations, "the outer one goes on in slices: {slices} of {iterations} iterations");
        assert_eq!(bits(&x), bits(&whole), "solves within solves");
    });
}

/// A preconditioner that solves.
struct Inner<'a>(ConjugateGradient<&'a BandedMatrix>);

impl Preconditioner for Inner<'_> {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        z.set_zero()?;
        self.0.solve(z, r).map(drop)
    }
}

#[test]
fn sweeps_complementarity_and_choices_in_slices_are_the_same() {
    on_both(|_| {
        let dev = &guest();
        let (grid, n) = (Grid::new_2d(16, 12), 192);
        let of = |side| StencilParams::new([1.0, 1.0, 0.0], Sides::all(side));
        let (walls, closed) = (
            Stencil::new(dev, grid, of(Side::WALL)).unwrap(),
            Stencil::new(dev, grid, of(Side::Neumann)).unwrap(),
        );
        let b = Vector::from_slice(dev, &uniform(1, n)).unwrap();
        let zero = || Vector::zeros(dev, n).unwrap();
        let pairs = || DoubleVector::zeros(dev, n).unwrap();
        let fine = StationaryParams::default().with_stop(Stop::relative(1e-8));
        let jacobi = WeightedJacobi::new(&walls, 0.8).unwrap();
        let few = StationaryParams::default().with_max_sweeps(100);
        let report = same!(dev, "jacobi", Stationary::new(&walls, &jacobi, few).unwrap(), zero(), &b);
        assert!(report.starts_with("MaxIterations"), "{report}");
        let a = BandedMatrix::poisson_2d(dev, 16, 12).unwrap();
        let gs = GaussSeidel::new(&a, 1.0, Direction::Symmetric).unwrap();
        same!(dev, "gauss-seidel of pairs", Stationary::new(&a, &gs, fine).unwrap(), pairs(), &b);
        let m = Multigrid::new(&walls, MultigridParams::default()).unwrap();
        let cycles = fine.with_test_every(1).with_stop(Stop::relative(1e-5));
        let report = same!(dev, "multigrid", Stationary::new(&walls, &m, cycles).unwrap(), zero(), &b);
        assert!(report.starts_with("Converged"), "{report}");
        // With a null space: a right-hand side that is consistent, and one that is not.
        let mut free = Vector::from_slice(dev, &uniform(3, n)).unwrap();
        texla::solve::project_out(&mut free, texla::ops::LinOp::null_space(&closed)).unwrap();
        let cg = ConjugateGradient::new(&closed, CgParams::default()).unwrap();
        let report = same!(dev, "a closed box", cg.clone(), zero(), &free);
        assert!(report.starts_with("Converged"), "{report}");
        let ones = Vector::filled(dev, n, 1.0).unwrap();
        let report = same!(dev, "an inconsistent one", cg, zero(), &ones);
        assert!(report.starts_with("Inconsistent"), "{report}");

        let lcp = LcpSolver::new(&a, LcpParams::default()).unwrap();
        same!(dev, "lcp", lcp, zero(), &b);
        let params = LcpParams::default().with_stop(Stop::relative(1e-8));
        same!(dev, "lcp of pairs", LcpSolver::new(&a, params).unwrap(), pairs(), &b);

        // One problem to solve, one with nothing to do, and one that starts far off; from a start that is not finite, which is refused.
        let plane = problems::poisson_2d(16, 12).to_csr();
        let sides = [4, 5, 6].map(|seed| uniform(seed, n).into_iter().map(f64::from).collect::<Vec<_>>());
        let positive: Vec<f64> = sides[1].iter().map(|v| v.abs()).collect();
        let of = |b| LcpProblem { a: &plane, b };
        let batch = LcpBatch::new(dev, &[of(&sides[0]), of(&positive), of(&sides[2])]).unwrap();
        let far: Vec<f32> = (0..3 * n).map(|i| if i < 2 * n { 0.0 } else { 1e8 }).collect();
        let start = || batch.start(&far).unwrap();
        let report = same!(dev, "lcp batch", batch.clone(), start(), LcpParams::default());
        assert!(report.matches("Converged").count() == 3, "{report}");
        let fixed = LcpParams::default().with_relaxation(Relaxation::Fixed(0.5)).with_max_sweeps(40);
        let report = same!(dev, "lcp batch, fixed", batch.clone(), start(), fixed);
        assert!(report.contains("MaxIterations"), "{report}");
        let overflown = || {
            let mut x = start();
            ops::scale(&mut x, 1e38).unwrap();
            x
        };
        let report = same!(dev, "lcp batch, from what is not finite", batch.clone(), overflown(), fixed);
        assert!(report.contains("NonFinite"), "{report}");
        // The batch itself may go first.
        let mut x = start();
        let mut solving = batch.begin(&mut x, LcpParams::default());
        drop(batch);
        sliced(dev, "lcp batch that has gone", || solving.advance(Slice::iterations(3)));
        let SolveProgress { iterations, residual, .. } = solving.progress();
        assert!(iterations > 0 && residual.is_some(), "{solving:?}");
        assert!(solving.finish().1.unwrap().converged());

        let jacobi = Choice::new(MethodKind::Cg, PreconditionerKind::Jacobi);
        let params = ChoiceParams::default();
        same!(dev, "a choice", jacobi.prepare(&a, params).unwrap(), zero(), &b);
        // Indefinite: conjugate gradients break down, and give way.
        let shifted = problems::poisson_2d(16, 12).to_csr();
        let shifted: Vec<_> =
            shifted.entries().map(|(i, j, v)| (i, j, if i == j { v - 1.0 } else { v })).collect();
        let shifted =
            BandedMatrix::from_triplets(dev, &Triplets::from_entries(Shape::new(n, n), shifted).unwrap())
                .unwrap();
        let [cg, minres] =
            [MethodKind::Cg, MethodKind::Minres].map(|m| Choice::new(m, PreconditionerKind::None));
        let params = AutoParams::default().with_choices(vec![cg, minres]);
        let anew = Anew(|| Auto::new(&shifted, params.clone()).unwrap());
        let report = same!(dev, "auto", anew, zero(), &b);
        assert!(report.starts_with("minres") && report.contains("Breakdown"), "{report}");
    });
}

/// Counts what a slice begins.
struct Counting<T>(T, Cell<usize>);

impl<T: Preconditioner> Preconditioner for Counting<T> {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        self.1.set(self.1.get() + 1);
        self.0.apply(z, r)
    }
}

impl<T: Smoother> Smoother for Counting<T> {
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        self.1.set(self.1.get() + sweeps);
        self.0.smooth(x, b, sweeps)
    }
}

#[test]
fn a_slice_begins_no_more_iterations_than_it_may() {
    on_both(|dev| {
        let a = BandedMatrix::poisson_2d(dev, 16, 12).unwrap();
        let b = Vector::filled(dev, 192, 1.0).unwrap();
        let counting = Counting(Jacobi::new(&a).unwrap(), Cell::new(0));
        let cg = ConjugateGradient::preconditioned(&a, &counting, CgParams::default()).unwrap();
        let sweeping = Counting(WeightedJacobi::new(&a, 1.0).unwrap(), Cell::new(0));
        let sweeps = Stationary::new(&a, &sweeping, StationaryParams::default()).unwrap();
        for (few, most) in [(1, 8), (3, 8), (8, 8), (23, 16)] {
            let (mut x, mut y) = (Vector::zeros(dev, 192).unwrap(), Vector::zeros(dev, 192).unwrap());
            let (mut iterating, mut relaxing) = (cg.begin(&mut x, &b), sweeps.begin(&mut y, &b));
            // None are begun where none may be, however often.
            counting.1.set(0);
            for _ in 0..20 {
                assert!(!iterating.advance(Slice::iterations(0)).unwrap().done);
            }
            assert_eq!(counting.1.get(), 0);
            let mut largest = [0, 0];
            while !iterating.progress().done {
                counting.1.set(0);
                iterating.advance(Slice::iterations(few)).unwrap();
                largest[0] = largest[0].max(counting.1.get());
            }
            while !relaxing.progress().done {
                sweeping.1.set(0);
                relaxing.advance(Slice::iterations(few)).unwrap();
                largest[1] = largest[1].max(sweeping.1.get());
            }
            // Both at the same time, and the largest is reached, where no look comes first.
            assert!(largest[0] <= few && largest[0] >= few.min(2), "{largest:?} of {few}");
            assert!(largest[1] <= most && largest[1] >= 8, "{largest:?} of {most}");
        }
        // Time ends a slice with the iteration in which it is up.
        let mut x = Vector::zeros(dev, 192).unwrap();
        let mut solving = cg.begin(&mut x, &b);
        while !solving.progress().done {
            counting.1.set(0);
            solving.advance(Slice::time(Duration::ZERO)).unwrap();
            assert!(counting.1.get() <= 1);
        }
        let mut x = Vector::zeros(dev, 192).unwrap();
        let unlimited = Slice::default().with_time(Some(Duration::MAX)).with_iterations(Some(usize::MAX));
        let mut solving = cg.begin(&mut x, &b);
        while !solving.advance(unlimited).unwrap().done {}
        assert!(solving.finish().1.unwrap().converged());
    });
}

#[test]
fn between_slices_nothing_is_texlas() {
    on_both(|dev| {
        let a = BandedMatrix::poisson_2d(dev, 16, 12).unwrap();
        let b = Vector::filled(dev, 192, 1.0).unwrap();
        let solver = ConjugateGradient::new(&a, CgParams::default()).unwrap();
        let mut x = Vector::zeros(dev, 192).unwrap();
        let host = snapshot();
        let mut solving = solver.begin(&mut x, &b);
        for slice in 0.. {
            let saves = dev.counters().state_saves;
            let done = solving.advance(Slice::iterations(3)).unwrap().done;
            assert_same(&host, &snapshot(), "a slice");
            assert_eq!(dev.counters().state_saves, saves + 1, "slice {slice}");
            if done {
                break;
            }
        }
    });
}

/// Dropped half-way, a solve leaves nothing: not what it had on its way, nor what it owned.
#[test]
fn a_solve_that_is_given_up_leaves_nothing() {
    on_both(|dev| {
        let a = Rc::new(BandedMatrix::poisson_2d(dev, 16, 12).unwrap());
        dev.trim().unwrap();
        let before = dev.live_objects();
        let solver = Gmres::new(a.clone(), GmresParams::default()).unwrap();
        let (x, b) = (Vector::zeros(dev, 192).unwrap(), Vector::filled(dev, 192, 1.0).unwrap());
        let mut solving = solver.begin(Box::new(x), Rc::new(b));
        drop(solver);
        for _ in 0..10 {
            assert!(!solving.advance(Slice::iterations(2)).unwrap().done);
        }
        assert!(Rc::strong_count(&a) > 1 && dev.live_objects().total() > before.total());
        drop(solving);
        dev.trim().unwrap();
        assert_eq!((Rc::strong_count(&a), dev.live_objects()), (1, before));
        // And what is borrowed is as it was.
        let (mut x, b) = (Vector::filled(dev, 192, 0.5).unwrap(), Vector::filled(dev, 192, 1.0).unwrap());
        let mut solving = Gmres::new(&*a, GmresParams::default()).unwrap().begin(&mut x, &b);
        for _ in 0..10 {
            solving.advance(Slice::iterations(2)).unwrap();
        }
        drop(solving);
        assert_eq!(x.read().unwrap(), [0.5; 192]);
    });
}

#[test]
fn errors_end_a_solve() {
    on_both(|_| {
        let dev = &guest();
        let a = BandedMatrix::poisson_2d(dev, 16, 12).unwrap();
        let (mut x, b) = (Vector::zeros(dev, 192).unwrap(), Vector::filled(dev, 192, 1.0).unwrap());
        let solver = ConjugateGradient::new(&a, CgParams::default()).unwrap();
        let short = Vector::zeros(dev, 3).unwrap();
        let mut solving = solver.begin(&mut x, &short);
        let refused = solving.advance(Slice::default());
        assert!(matches!(refused, Err(Error::ShapeMismatch { .. })), "{refused:?}");
        assert_eq!(solving.advance(Slice::default()), refused);
        assert!(solving.progress().done);
        drop(solving);
        // A context that is lost between two slices, with what is on its way. A device that knows of it is of no use any more.
        for slices in [0, 1, 4, 9] {
            let dev = &guest();
            let a = BandedMatrix::poisson_2d(dev, 16, 12).unwrap();
            let (mut x, b) = (Vector::zeros(dev, 192).unwrap(), Vector::filled(dev, 192, 1.0).unwrap());
            let solver = ConjugateGradient::new(&a, CgParams::default()).unwrap();
            let mut solving = solver.begin(&mut x, &b);
            for _ in 0..slices {
                TURN.set(TURN.get() + 1);
                assert!(!solving.advance(Slice::iterations(1)).unwrap().done);
            }
            loader::lose();
            TURN.set(TURN.get() + 1);
            assert_eq!(solving.advance(Slice::iterations(1)), Err(Error::ContextLost), "after {slices}");
            assert_eq!(loader::calls(Entry::glDrawArrays), 0);
            loader::heal();
            assert_eq!(solving.advance(Slice::iterations(1)), Err(Error::ContextLost), "for good");
            assert_eq!(solving.finish().1, Err(Error::ContextLost));
        }
        // The application's own error is told of once, and costs no slice that came before.
        let mut solving = solver.begin(&mut x, &b);
        for slice in 0.. {
            TURN.set(TURN.get() + 1);
            if slice % 10 == 5 {
                loader::raise(&[glow::INVALID_VALUE]);
                let told = solving.advance(Slice::iterations(1));
                assert!(matches!(told, Err(Error::HostGl { .. })), "{told:?}");
            }
            if solving.advance(Slice::iterations(1)).unwrap().done {
                break;
            }
        }
        assert!(solving.finish().1.unwrap().converged());
    });
}
