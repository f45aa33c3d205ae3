//! Conjugate gradients for symmetric positive definite systems.

mod fixed;
mod pairs;

pub use fixed::{FixedReport, FixedRun};

use pairs::InPairs;

use super::steps::{AtHand, Entry, Mapped, Steps};
use crate::data::{Scalar, Vector};
use crate::error::{Error, Result};
use crate::kernel::PingPong;
use crate::ops::{self, Combine, ReducePlan, Windows};
use crate::profile::{Fetches, Workload};
use crate::shape::Extent;
use crate::solve::drive::check::{check_square, check_symmetric};
use crate::solve::drive::dots::InlinedProduct;
use crate::solve::drive::front;
use crate::solve::drive::iterate::Iterate;
use crate::solve::drive::null_space::project_out;
use crate::solve::drive::report::{SolveReport, Stop};
use crate::solve::drive::state::Bounds;
use crate::solve::drive::{Limits, Method};
use crate::solve::held::{HeldLinOp, HeldPreconditioner};
use crate::solve::precondition::{Identity, Preconditioner, check_definite};

/// In which passes an iteration runs. The schedules agree within rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CgSchedule {
    /// Where the preconditioner is a diagonal or none, and the device has three draw buffers,
    /// [`Fused`](CgSchedule::Fused) on a GPU (the product written nowhere for operators of so few terms that it pays), else
    /// [`Merged`](CgSchedule::Merged); else [`Listing`](CgSchedule::Listing). On a device with a
    /// [profile](crate::Device::set_profile) the one of the three that is predicted to take least, where the first two can
    /// be had.
    #[default]
    Auto,
    /// One operation after another as in Listing 44-1 of \[Krueger05\]: two reductions an iteration. It begins with
    /// the preconditioner and ends with the updates, whose residual is predicted from the sums that give alpha: what is told
    /// of it at a look is a bound, which an iteration lowers 256-fold at most.
    Listing,
    /// One reduction for all inner products and one pass for all vector updates (the "macro" shaders that
    /// \[Moravanszky03\] leaves as an exercise): beta comes from `α² q·Mq - r·Mr`, while `r·Mr` itself is summed anew
    /// in every iteration. With three draw buffers alone, as [`Fused`](CgSchedule::Fused).
    Merged,
    /// As merged, with the fewest writes: `x` is updated every second iteration from two directions; and for bands, stencils
    /// and gathered rows the product is written nowhere, where the pass has as many texture units as they have diagonals, and
    /// seven more: the pass of the inner products computes it, and so does that of the updates. For devices on which writing
    /// is dear; it takes a vector more, or none.
    Fused,
}

/// In what the recurrence of conjugate gradients runs, of unknowns that are [pairs](crate::DoubleVector): its directions,
/// inner products and residual. What is certified is the residual recomputed from the pairs in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Recurrence {
    /// In 32 bits, and from where that gains nothing on in pairs, where those can be had: where residuals are not halved in 400
    /// iterations, or 2 (n + 100) are not enough; where a run breaks down, leaves the range of floats or stagnates.
    #[default]
    Auto,
    /// In 32 bits: what it adds is gathered in pairs, and its residual replaced every hundred iterations.
    Single,
    /// In pairs: about as many iterations as in 64 bits, each of which costs two to three of the others. For a
    /// preconditioner that is a diagonal, or none.
    Double,
}

/// Parameters of [`ConjugateGradient`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CgParams {
    /// Most iterations, less than 2²⁴.
    pub max_iters: usize,
    /// When to stop.
    pub stop: Stop,
    /// In which passes an iteration in 32 bits runs.
    pub schedule: CgSchedule,
    /// In what the recurrence runs, of unknowns that are pairs.
    pub recurrence: Recurrence,
    /// Windows of the reductions.
    pub windows: Windows,
}

with!(const CgParams:
    with_max_iters(max_iters: usize),
    with_stop(stop: Stop),
    with_schedule(schedule: CgSchedule),
    with_recurrence(recurrence: Recurrence),
    with_windows(windows: Windows),
);

impl Default for CgParams {
    fn default() -> Self {
        CgParams {
            max_iters: 20_000,
            stop: Stop::default(),
            schedule: CgSchedule::default(),
            recurrence: Recurrence::default(),
            windows: Windows::Balanced,
        }
    }
}

/// Conjugate gradients for symmetric positive definite systems, entirely in textures \[Krueger05\] 44.3.5.
///
/// *Cost* of an iteration with a banded matrix and the merged schedule: one pass for the product, one for each stage
/// of the reduction, one for the updates; no readback. See [`SolveReport::draws_per_iteration`].
///
/// ```
/// use texla::{BandedMatrix, Vector, solve::{CgParams, ConjugateGradient, Stop, StopReason}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 16, 16)?;
/// let b = Vector::filled(dev, 256, 1.0)?;
/// let mut x = Vector::zeros(dev, 256)?; // initial guess in, solution out
/// let params = CgParams::default().with_stop(Stop::relative(1e-5).check_every(8));
/// let report = ConjugateGradient::new(&a, params)?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Converged);
/// assert!(report.true_residual <= 1e-5 && report.iterations < 50);
/// assert_eq!(report.readbacks_in_loop, 0);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone)]
pub struct ConjugateGradient<'a> {
    a: HeldLinOp<'a>,
    m: HeldPreconditioner<'a>,
    params: CgParams,
}

shown!(ConjugateGradient<'_>, |s| "ConjugateGradient({}, {:?})", s.a.shape(), s.params);

impl<'a> ConjugateGradient<'a> {
    /// A solver without preconditioner, for an operator that is borrowed or shared: see [`HeldLinOp`].
    ///
    /// *Errors*: [`Error::Matrix`] when `a` is not square, or is known not to be symmetric;
    /// [`Error::Parameter`].
    pub fn new(a: impl Into<HeldLinOp<'a>>, params: CgParams) -> Result<Self> {
        Self::preconditioned(a, &Identity, params)
    }

    /// A solver with a preconditioner. *Errors*: as [`new`](Self::new).
    pub fn preconditioned(
        a: impl Into<HeldLinOp<'a>>,
        m: impl Into<HeldPreconditioner<'a>>,
        params: CgParams,
    ) -> Result<Self> {
        let (a, m) = (a.into(), m.into());
        let op = "ConjugateGradient";
        params.stop.check(op)?;
        check_square(op, &*a)?;
        check_symmetric(op, &*a)?;
        check_definite(op, &*m)?;
        if matches!(params.schedule, CgSchedule::Merged | CgSchedule::Fused) && m.is_dear() {
            let why = "it folds the preconditioner into its passes, and this one is no diagonal".into();
            return Err(Error::Unsupported { what: format!("CgSchedule::{:?}", params.schedule), why });
        }
        if params.recurrence == Recurrence::Double && m.is_dear() {
            let why = "the preconditioner is no diagonal, and gives 32 bits".into();
            return Err(Error::Unsupported { what: "Recurrence::Double".into(), why });
        }
        Ok(ConjugateGradient { a, m, params })
    }

    solves! {
        /// Solves `A x = b`, from the initial guess in `x`.
        ///
        /// For an operator with a [null space](crate::solve::LinOp::null_space), the solution is the one orthogonal to
        /// it, of least norm.
        ///
        /// *Errors*: [`Error::ShapeMismatch`]; [`Error::NonFinite`]; [`Error::Inconsistent`] when `b` has a part in the null
        /// space; [`Error::Unsupported`] for pairs where operator or device have no exact product, for a `b` of pairs with an `x`
        /// of 32 bits, and for [`Recurrence::Double`] with one. `x` is then as it was. Not converging is no error, nor is a
        /// breakdown, when `p·Ap` is not positive, that is, `A` is not positive definite: see [`SolveReport::reason`].
        "iterations" => SolveReport, |solver, x, b, observe| {
            let limits = Limits { stop: solver.params.stop, max_iters: solver.params.max_iters };
            front::solve("ConjugateGradient::solve", (&*solver.a, x, b), limits, observe, async |at| {
                let mut run = Run::new(solver, at)?;
                if solver.params.recurrence == Recurrence::Double {
                    if !at.is_double() {
                        let why = "x has 32 bits: take a DoubleVector".into();
                        return Err(Error::Unsupported { what: "Recurrence::Double".into(), why });
                    }
                    run.widen(at)?;
                }
                Ok(run)
            })
            .await
        }
    }

    /// What an iteration comes to; `None` where the operator does not say ([`LinOp::workload`](crate::solve::LinOp::workload)) or
    /// the preconditioner is more than a diagonal. What a solve does before, between and after its iterations is not in it.
    ///
    /// *Cost*: a vector of the pool's, for a moment. *Errors*: [`Error::OutOfMemory`].
    ///
    /// ```
    /// use texla::{BandedMatrix, solve::{CgParams, CgSchedule, ConjugateGradient}};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let a = BandedMatrix::poisson_2d(dev, 16, 16)?; // vectors of 8 x 8 texels
    /// let params = CgParams::default().with_schedule(CgSchedule::Listing);
    /// let iteration = ConjugateGradient::new(&a, params)?.workload()?.unwrap();
    /// // The product, which reads two diagonals that are not constant, and three updates.
    /// assert_eq!(iteration.fetches.own, 64.0 * (3.0 + 3.0 * 2.0));
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn workload(&self) -> Result<Option<Workload>> {
        let device = self.a.device();
        let Some(product) = self.a.workload().filter(|_| !self.m.is_dear()) else { return Ok(None) };
        let d = Vector::uninit(device, self.a.shape().rows)?;
        let (way, extent) = (self.way(&d)?, d.extent());
        Ok(Some(self.count(way, product, extent)))
    }

    /// The same of a way, for a product that comes to this and vectors of this extent.
    fn count(&self, Way { schedule, inlines }: Way, product: Workload, extent: Extent) -> Workload {
        let device = self.a.device();
        let diagonal = usize::from(self.m.diagonal().is_some());
        let (texels, one) = (extent.area() as f64, Extent::new(1, 1));
        let windows = self.params.windows.fetched();
        // A reduction, whose last window is left to the step after it.
        let step = |plan: ReducePlan, inputs: usize| {
            let left = plan.stages().get(1..).and_then(|s| s.last()).map_or(1, |last| last.source.area());
            let fetches = Fetches::default().with_adjacent(left as f64);
            plan.workload_to_a_window(inputs) + Workload::pass(one, 2, fetches)
        };
        let plain = |inputs| step(ReducePlan::on(device, extent, windows, inputs), inputs);
        // Vectors updated by the coefficients, which are one texel.
        let update = |inputs: usize, targets: usize| {
            let fetches = Fetches::default().with_own(inputs as f64 * texels).with_adjacent(texels);
            let multiply_adds = 4.0 * targets as f64 * texels;
            Workload::pass(extent, targets, fetches).with_multiply_adds(multiply_adds)
        };
        // On average: every second time that of x too, with its direction and that of before.
        let updates = |inputs: usize| (update(inputs, 2) + update(inputs + 2, 3)) * 0.5;
        match schedule {
            CgSchedule::Merged => product + plain(3 + diagonal) + update(4 + diagonal, 3),
            CgSchedule::Fused if !inlines => product + plain(3 + diagonal) + updates(3 + diagonal),
            CgSchedule::Fused => {
                let within = |extent, fetches| {
                    Workload::default().fetching(extent, fetches).with_multiply_adds(product.multiply_adds)
                };
                // In a window nothing lies under the fragment.
                let Fetches { own, adjacent, .. } = product.fetches;
                let summed = product.fetches.with_own(0.0).with_adjacent(own + adjacent);
                let plan = ReducePlan::of_products(extent, windows);
                let first = plan.stages().first().map_or(one, |stage| stage.target);
                // The direction is one of those, but where rows are gathered.
                let read = if own > 0.0 { 1 } else { 2 } + diagonal;
                let updated = updates(read).cut(true) + within(extent, product.fetches);
                step(plan, read) + within(first, summed) + updated
            }
            _ => {
                let two_targets = device.gl().caps.borrow().max_draw_buffers >= 2;
                let both = if two_targets { update(4, 2) } else { update(2, 1) * 2.0 };
                let under = Fetches::default().with_own(2.0 * texels);
                let preconditioned = Workload::pass(extent, 1, under).with_multiply_adds(4.0 * texels);
                product + plain(2) + plain(3) + update(2, 1) + both + preconditioned * diagonal as f64
            }
        }
    }

    /// How directions like this are iterated.
    fn way(&self, d: &Vector) -> Result<Way> {
        let schedule = self.params.schedule;
        let device = self.a.device();
        let three_targets = device.gl().caps.borrow().max_draw_buffers >= 3;
        // Merged passes read M at the same texel as r.
        let merges = !self.m.is_dear() && self.m.diagonal().is_none_or(|m| m.extent() == d.extent());
        if schedule == CgSchedule::Listing || !merges || schedule == CgSchedule::Auto && !three_targets {
            return Ok(Way { schedule: CgSchedule::Listing, inlines: false });
        }
        let way = |schedule, inlines| Way { schedule, inlines };
        let auto = schedule == CgSchedule::Auto;
        let by_rule = device.profile().is_none();
        if schedule == CgSchedule::Merged || auto && by_rule && device.is_software() {
            return Ok(way(CgSchedule::Merged, false));
        }
        let fetches = InlinedProduct { a: &*self.a, alpha: 1.0, d }.fetches(Steps::UPDATED)?;
        let known = [
            way(CgSchedule::Merged, false),
            way(CgSchedule::Listing, false),
            way(CgSchedule::Fused, false),
            way(CgSchedule::Fused, true),
        ];
        let predicted = || {
            let able = known.into_iter().filter(|way| !way.inlines || fetches.is_some());
            let product = self.a.workload();
            able.filter_map(move |way| Some((way, self.count(way, product?, d.extent()))))
        };
        if auto && let Some(quickest) = device.quickest(predicted) {
            return Ok(quickest);
        }
        // Computing `A d` twice is cheaper than to write it, as measured on a GPU (`benches/JOURNAL.md`).
        const FEW: usize = 9;
        let inlines = fetches.is_some_and(|fetches| schedule == CgSchedule::Fused || fetches <= FEW);
        Ok(way(CgSchedule::Fused, inlines))
    }
}

/// A schedule other than the automatic one, and whether it writes no product.
#[derive(Clone, Copy)]
struct Way {
    schedule: CgSchedule,
    inlines: bool,
}

/// The vectors of a solve.
struct Run<'a> {
    m: &'a dyn Preconditioner,
    d: PingPong<Vector>,
    /// Of the fused schedule: `y` is updated every second time, from two directions, and this is room for the next while
    /// both are needed.
    room: Option<Vector>,
    /// The iteration before has left the update of `y` to the next one.
    owes: bool,
    /// The direction, and the one before, are `b` itself, of which there is no copy.
    along_b: [bool; 2],
    /// The next iteration is the last one: nobody will ask for a residual or a direction.
    last: bool,
    /// `A d`, where that is written.
    q: Option<Vector>,
    z: Option<Vector>,
    steps: Steps,
    schedule: CgSchedule,
    windows: Windows,
    /// The recurrence in pairs may take over.
    widens: bool,
    /// That, once it has.
    in_pairs: Option<InPairs>,
    /// Where the next iteration of the other schedule begins.
    entry: Entry,
}

impl<'a> Run<'a> {
    fn new(solver: &'a ConjugateGradient<'_>, at: &Iterate<'_>) -> Result<Self> {
        let m = &*solver.m;
        let device = at.a.device();
        let fresh = || Vector::uninit(device, at.b.len());
        let d = fresh()?;
        let Way { schedule, inlines } = solver.way(&d)?;
        let listing = schedule == CgSchedule::Listing;
        Ok(Run {
            d: PingPong::new(d, fresh()?),
            room: if schedule == CgSchedule::Fused { Some(fresh()?) } else { None },
            owes: false,
            along_b: [false; 2],
            last: false,
            q: if inlines { None } else { Some(fresh()?) },
            z: if listing { m.room(&at.x.high)? } else { None },
            steps: Steps::new(device, solver.params.windows)?,
            windows: solver.params.windows,
            widens: solver.params.recurrence == Recurrence::Auto && at.is_double() && !m.is_dear(),
            in_pairs: None,
            m,
            schedule,
            entry: Entry::Start,
        })
    }
}

impl Method for Run<'_> {
    const NAME: &'static str = "conjugate gradients";

    fn restart(&mut self, at: &mut Iterate<'_>, bounds: Bounds, iterations: usize, keep: bool) -> Result<()> {
        let rescaled = at.take_rescaled();
        if let Some(pairs) = &mut self.in_pairs {
            return pairs.restart(at, bounds, iterations, keep);
        }
        self.steps.reset(bounds, iterations)?;
        let keep = keep && !rescaled;
        if keep {
            // Along the null space a direction grows by rounding alone, and leads nowhere.
            project_out(self.d.front_mut(), at.a.null_space())?;
        }
        self.entry = if keep { Entry::Resume } else { Entry::Start };
        // Found frozen, the run before owes nothing: an update that counts is followed by the step that freezes.
        self.owes = false;
        if self.schedule == CgSchedule::Listing {
            return at.copy_b();
        }
        if keep {
            return Ok(());
        }
        self.along_b = [at.is_b && self.m.is_identity(), false];
        if self.along_b != [false; 2] {
            return Ok(());
        }
        self.m.precondition(self.d.front_mut(), at.residual_at_hand())
    }

    fn iterate(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        if let Some(pairs) = &mut self.in_pairs {
            return pairs.iterate(at);
        }
        let Run { m, d, room, owes, along_b, last, q, z, steps, schedule, entry, .. } = self;
        let x_scale = at.x_scale();
        if *schedule != CgSchedule::Listing {
            let m = m.diagonal();
            let [now, then] = *along_b;
            let direction = if now { at.b } else { d.front() };
            let before = owes.then_some(if then { at.b } else { d.back() });
            let hand = AtHand { r: at.residual_at_hand(), d: direction, before };
            // q = A d
            let q = match q {
                Some(q) => {
                    ops::product(q, Combine::Replace, at.matrix_scale, at.a, direction)?;
                    Mapped::Written(q)
                }
                None => Mapped::Inlined(at.a, at.matrix_scale),
            };
            // alpha = r.Mr / d.q, beta = (alpha² q.Mq - r.Mr) / r.Mr
            steps.merged_step(hand, q, m)?;
            if *last {
                // y = y + alpha d
                return steps.advance(&mut at.y, x_scale, direction, before);
            }
            // r = r - alpha q, d = M r + beta d, y = y + alpha d
            let adds = room.is_none() || *owes;
            let next_d = room.as_ref().filter(|_| adds).unwrap_or(d.back());
            steps.merged_update(at, hand, next_d, (q, m), (adds, x_scale))?;
            if let Some(room) = room
                && adds
            {
                std::mem::swap(room, d.back_mut());
            }
            *owes = !adds;
            (at.is_b, *along_b) = (false, [false, now]);
            at.r.swap();
            d.swap();
            if adds {
                at.y.swap();
            }
            return Ok(());
        }
        let Iterate { a, y, r, matrix_scale, .. } = at;
        let Some(q) = q else {
            return Err(Error::Internal { place: "ConjugateGradient", detail: "a listing without A d" });
        };
        // Begun by the direction, so that nothing is left to do, or done for nothing, once a residual meets the bound.
        // z = M r
        let z = m.preconditioned(z, r.front())?;
        // beta = r.z / (r.z of before)
        steps.beta_step(r.front(), z, std::mem::replace(entry, Entry::Resume))?;
        // d = z + beta d
        steps.turn(d, z)?;
        // q = A d
        ops::product(q, Combine::Replace, *matrix_scale, *a, d.front())?;
        // alpha = r.z / d.q, and what r.r will be
        steps.predicting_step(d.front(), q, r.front())?;
        // y = y + alpha d, r = r - alpha q
        steps.advance_both((y, x_scale, d.front()), (r, q))
    }

    fn finish(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        self.in_pairs.as_mut().map_or(Ok(()), |pairs| pairs.settle(at))
    }

    fn dear(&self) -> bool {
        self.m.is_dear()
    }

    fn report(&self) -> &Scalar {
        self.in_pairs.as_ref().map_or(self.steps.report(), InPairs::report)
    }

    fn tests_before_updating(&self) -> bool {
        self.schedule != CgSchedule::Listing && !self.is_wide()
    }

    fn reports_bound(&self) -> bool {
        self.schedule == CgSchedule::Listing && !self.is_wide()
    }

    fn is_wide(&self) -> bool {
        self.in_pairs.is_some()
    }

    fn widens(&self) -> bool {
        self.widens && !self.is_wide()
    }

    fn widen(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        at.widen()?;
        self.in_pairs = Some(InPairs::new(self.m, self.windows, at)?);
        Ok(())
    }
}
