//! When to stop, and what a solve has come to.

use std::fmt;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::host::parallel::Threads;
use crate::host::{Csr, number};

/// When a solver stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// Bound on the relative residual.
    pub(crate) relative: f64,
    /// Iterations between two looks at the residual, where that is not left to the solver.
    pub(crate) every: Option<usize>,
    /// The longest that iterations may take, if that is limited.
    pub(crate) within: Option<Duration>,
}

impl Stop {
    /// Most iterations between two looks. All that follow the one that met the test, up to the next look, are in vain.
    pub const MOST_UNSEEN: usize = 1000;

    /// Stop at `‖b - A x‖ <= t ‖b‖` (least squares: that, or `‖Aᵀ(b - A x)‖ <= t ‖Aᵀb‖`). Below 2⁻²⁴ nothing is certified, below 2⁻⁴⁸ for
    /// unknowns that are pairs: see [`StopReason::Uncertified`].
    ///
    /// Solvers look often enough that no more than a tenth of the iterations is superfluous, or one: at every iteration in the
    /// beginning, later at fewer, and at fewer where residuals fall steadily and the bound is far; with a preconditioner
    /// that is no diagonal, before every iteration but those that residuals as seen so far ask for anyway.
    pub const fn relative(t: f64) -> Self {
        Stop { relative: t, every: None, within: None }
    }

    /// Looks at the residual every `k` iterations, 1 to [`MOST_UNSEEN`](Self::MOST_UNSEEN) (solvers refuse other
    /// numbers), with up to as many more under way. The iterates freeze at the iteration that met the test, whatever `k`
    /// is; it decides how many iterations run in vain and how fine the residual history is.
    pub const fn check_every(mut self, k: usize) -> Self {
        self.every = Some(k);
        self
    }

    /// Stops after this time as well: no iteration is begun after it, the iterate so far is judged, and unless that meets the bound the
    /// reason is [`StopReason::OutOfTime`]. The time is that of iterations, without that between [slices](crate::solve::Slice);
    /// at least one is made. What comes of a solve that ends so depends on how fast the machine is.
    pub const fn within(mut self, time: Duration) -> Self {
        self.within = Some(time);
        self
    }

    pub(crate) fn check(&self, op: &'static str) -> Result<()> {
        if !(self.relative >= 1e-18 && self.relative < 1.0) {
            let (name, value) = ("relative", number(self.relative));
            return Err(Error::Parameter { op, name, value, expected: "at least 1e-18 and less than 1" });
        }
        if let Some(every) = self.every
            && !(1..=Self::MOST_UNSEEN).contains(&every)
        {
            let (name, value) = ("check_every", every.to_string());
            return Err(Error::Parameter {
                op,
                name,
                value,
                expected: "1 to 1000 iterations between two looks",
            });
        }
        Ok(())
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop::relative(1e-5)
    }
}

/// Why a solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The residual recomputed from `b - A x` in double-float meets the bound, whatever rounding may have done to it and to the
    /// sums that norms are. Of unknowns
    /// in pairs that is said of `A` as it was given, in 64 bits, and of `b` as pairs hold it.
    Converged,
    /// The norm of the residual meets the bound as for [`Converged`](Self::Converged), but single equations are far from satisfied:
    /// [`SolveReport::components`]. Rows of very different size hide each other in a norm.
    NormOnly,
    /// The bound was not met in the iterations allowed.
    MaxIterations,
    /// It was not met in the [time](Stop::within) allowed.
    OutOfTime,
    /// The recurrence met the bound, the true residual does not, and starting again from it no longer helps:
    /// this is what 32-bit iterates can reach, where a [`DoubleVector`](crate::DoubleVector) reaches what 64-bit arithmetic
    /// does; or what those can.
    Stagnated,
    /// The residual, or an element of `x`, left the range of 32-bit floats.
    Diverged,
    /// A Krylov method met what its theory excludes, and nothing led on: [`SolveReport::breakdown`] says what.
    Breakdown,
    /// The recurrence met the bound and the residual recomputed in 32 bits does too, but nothing could certify it: the
    /// operator or the device has no double-float product. Or the bound is below 2⁻²⁴, closer than 32 bits hold `b`; of
    /// [pairs](crate::DoubleVector) below 2⁻⁴⁸.
    Uncertified,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            StopReason::Converged => "converged",
            StopReason::NormOnly => "converged_in_norm_only",
            StopReason::MaxIterations => "max_iterations",
            StopReason::OutOfTime => "out_of_time",
            StopReason::Stagnated => "stagnated",
            StopReason::Diverged => "diverged",
            StopReason::Breakdown => "breakdown",
            StopReason::Uncertified => "uncertified",
        })
    }
}

/// What a Krylov method met that its theory excludes.
///
/// ```
/// use texla::{BandedMatrix, Vector, host::Triplets, solve::{CgParams, ConjugateGradient, StopReason}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::from_triplets(dev, &Triplets::from_diagonal(&[1.0, -3.0]))?;
/// let b = Vector::filled(dev, 2, 1.0)?;
/// let mut x = Vector::zeros(dev, 2)?;
/// let report = ConjugateGradient::new(&a, CgParams::default())?.solve(&mut x, &b)?;
/// assert_eq!(report.reason, StopReason::Breakdown);
/// let text = report.breakdown.map_or(String::new(), |b| b.to_string());
/// assert!(text.starts_with("breakdown in iteration 0: p.Ap = -1e0, expected more than 0: the matrix is not positive definite"));
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Breakdown {
    /// Iteration, counted from 0.
    pub iteration: usize,
    /// Name of the quantity, such as `p.Ap`.
    pub quantity: &'static str,
    /// Its value, in the units of the scaled system.
    pub value: f64,
    /// What it should be and what it means that it is not, in words.
    pub expected: &'static str,
}

impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Breakdown { iteration, quantity, value, expected } = self;
        write!(f, "breakdown in iteration {iteration}: {quantity} = {value:e}, expected {expected}")
    }
}

/// How well the worst of the equations is satisfied, beside what it is made of: the componentwise backward error
/// `ω = max_i |b - A x|_i / (|A| (|x| + 0.01 ‖x‖_∞) + |b|)_i`.
///
/// A solution with a small `ω` solves a system whose entries differ from the given ones by that share each. A norm says less: where
/// some rows are far larger than others (penalties, mixed units), it is small however wrong the small ones are. An equation counts as
/// satisfied at [`LIMIT`](Self::LIMIT) times the bound `t` of the solve, or at [`LEAST`](Self::LEAST), and so in any case where its residual is at most `t`
/// times the sum of its coefficients and the largest unknown: elements of `x` far below that need not have digits of their own.
///
/// *Source*: M. Arioli, J. Demmel, I. Duff, 1989, with a margin that is the same for all bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Components {
    /// The largest share, computed in 32 bits on the device, in 64 where it is [measured](Self::measured) on the host; NaN where the terms of
    /// an equation overflow there.
    pub omega: f64,
    /// Rows with a larger share than [`LIMIT`](Self::LIMIT) times the bound, and than [`LEAST`](Self::LEAST).
    pub rows: usize,
    /// Rows of the system.
    pub of: usize,
}

impl Components {
    /// By how many times an equation may exceed the bound that the norm of all of them meets.
    pub const LIMIT: f64 = 100.0;

    /// A row may exceed this share in no case: without it, a norm to 1e-10 would ask for digits of rows twenty times smaller than
    /// others that no picture shows.
    pub const LEAST: f64 = 1e-6;

    /// The largest share with which an equation counts as satisfied in a solve to this bound.
    pub fn limit(bound: f64) -> f64 {
        Self::LEAST.max(Self::LIMIT * bound)
    }

    /// The share of the largest unknown that is added to all of them.
    pub(in crate::solve) const MARGIN: f64 = 1.0 / Self::LIMIT;

    /// Measures a solution of a square system on the host, in 64 bits: an equation counts in `rows` where its share is more than `limit`.
    /// Without a margin where that is zero: then `omega` is the backward error by components.
    ///
    /// The margin is that of fields. A field is a connected component of the entries that are not a thousand times smaller than the
    /// largest of their row, and has a 64th of the unknowns or more; each has the largest of its own unknowns in the place of
    /// `‖x‖_∞`, or 10⁻⁸ of that of all where entries connect it with others or its right-hand side is zero, and smaller components that of all. Both are found for the unknowns as they are and for
    /// `√|a_jj| x_j`, and the smaller margin counts. So temperatures of 300 do not hide displacements of 10⁻⁵ that they cause.
    ///
    /// *Cost*: O(nnz), four more times where an equation exceeds its share without a margin.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`].
    ///
    /// # Examples
    /// ```
    /// use texla::{Shape, host::Triplets, solve::Components};
    /// let a = Triplets::from_entries(Shape::new(2, 2), [(0, 0, 1.0), (1, 0, 1e-8), (1, 1, 1.0)])?.to_csr();
    /// // x = (1e6, 0.01), and 1 % wrong in its second element.
    /// let found = Components::measured(&a, &[1e6, 0.0101], &[1e6, 0.02], 1e-3)?;
    /// assert_eq!((found.rows, found.of), (1, 2));
    /// assert!((found.omega - 1e-4 / 0.0403).abs() < 1e-4, "{}", found.omega);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn measured(a: &Csr, x: &[f64], b: &[f64], limit: f64) -> Result<Self> {
        /// Rows that are worth a thread.
        const ROWS: usize = 4096;
        let op = "Components::measured";
        let all = [("x", x.len(), a.shape().cols), ("b", b.len(), a.shape().rows)];
        if let Some((operand, found, expected)) = all.into_iter().find(|(_, found, want)| found != want) {
            return Err(Error::LengthMismatch { op, operand, found, expected });
        }
        let of_row = |i: usize| {
            let b = b.get(i).copied().unwrap_or_default();
            a.row(i).fold((b, b.abs()), |(rest, size), (j, v)| {
                let term = v * x.get(j).copied().unwrap_or_default();
                (rest - term, size + term.abs())
            })
        };
        let with = |margin: &[f64]| {
            let share = |i: usize| match of_row(i) {
                (0.0, _) => 0.0,
                (rest, size) => {
                    rest.abs() / (size + Self::MARGIN * margin.get(i).copied().unwrap_or_default())
                }
            };
            // What is no number stays the worst.
            let worst = |most: f64, share: f64| if share <= most || most.is_nan() { most } else { share };
            let parts = Threads::all().parts(b.len(), ROWS, |part| {
                part.map(share).fold((0.0, 0), |(most, rows), share| {
                    // What is no number is within nothing.
                    (worst(most, share), rows + usize::from(share.is_nan() || share > limit))
                })
            });
            let join = |(a, k): (f64, usize), (b, l): (f64, usize)| (worst(a, b), k + l);
            let (omega, rows) = parts.into_iter().fold((0.0, 0), join);
            Components { omega, rows, of: b.len() }
        };
        let found = with(&[]);
        if found.rows == 0 || limit == 0.0 {
            return Ok(found);
        }
        Ok(with(&a.sizes_by_fields(x, b)))
    }
}

/// How the residual of a [`HistoryPoint`] was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResidualKind {
    /// By the method's own recurrence, which drifts away from the true residual; of sweeps, as a test in 32 bits sums it.
    Recurrence,
    /// An upper bound on the recurrence's residual: the listing of conjugate gradients tests what it predicts, together with all
    /// that rounding may have taken from the prediction. One iteration shows no more than a fall to 2⁻⁸.
    Bound,
    /// Recomputed from `b - A x`, in double-float where the operator and the device can. Verdicts are based on these alone.
    Certified,
}

impl fmt::Display for ResidualKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ResidualKind::Recurrence => "recurrence",
            ResidualKind::Bound => "bound",
            ResidualKind::Certified => "certified",
        })
    }
}

/// A relative residual of a solve under way.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HistoryPoint {
    /// Iterations, or sweeps, after which the iterate had this residual.
    pub iteration: usize,
    /// The relative residual.
    pub residual: f64,
    /// How it was found.
    pub kind: ResidualKind,
}

impl HistoryPoint {
    pub(crate) const fn new(iteration: usize, residual: f64, kind: ResidualKind) -> Self {
        HistoryPoint { iteration, residual, kind }
    }

    /// The same, counted from the beginning of a solve of which this one continues.
    pub(crate) const fn after(self, iterations: usize) -> Self {
        HistoryPoint { iteration: self.iteration + iterations, ..self }
    }
}

/// What a solve has come to, whatever that is: `x` is the best of the iterates whose true residual was computed, and so
/// never worse than the start.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SolveReport {
    /// Why it stopped.
    pub reason: StopReason,
    /// What broke down, for [`StopReason::Breakdown`].
    pub breakdown: Option<Breakdown>,
    /// Updates of the iterate, up to the one that met the test.
    pub iterations: usize,
    /// The unknowns were [pairs of floats](crate::DoubleVector).
    pub pairs: bool,
    /// How many iterations were done by a recurrence in pairs of floats
    /// ([`Recurrence`](crate::solve::Recurrence)).
    pub double_iterations: usize,
    /// The relative residual of the returned iterate, recomputed from `b - A x` in double-float; with what rounding may have done
    /// to it where the bound is met, or nothing more is gained.
    pub true_residual: f64,
    /// A bound on what rounding may have done to that residual: the true one is no more than both together, whatever the solve
    /// has come to. None where nothing could be certified, and where the residual is not finite.
    pub rounding: Option<f64>,
    /// Of least squares `‖b - A x‖ / ‖b‖`, where [`true_residual`](Self::true_residual) is `‖Aᵀ(b - A x)‖ / ‖Aᵀb‖`; a bound
    /// that either meets is met.
    pub least_squares_residual: Option<f64>,
    /// How well single equations are satisfied, where the bound is met and the operator tells magnitudes
    /// ([`Part::Magnitude`](crate::ops::Part::Magnitude)); none for least squares. Of a [`HostSystem`](crate::solve::HostSystem) also where pairs
    /// of floats reach no less, if each equation holds but for rounding.
    pub components: Option<Components>,
    /// What rounding `x` to its format may leave of the residual, relative, so that nothing gains more: known of systems of the host's
    /// ([`HostSystem`](crate::solve::HostSystem)) that stagnate there.
    pub least_residual: Option<f64>,
    /// Relative residuals, each of a later iteration than the one before: [certified](ResidualKind::Certified) at the start, at
    /// each [replacement](Self::replacements) and at the end, by the recurrence where that was polled in between. The last
    /// point is [`true_residual`](Self::true_residual).
    ///
    /// ```
    /// use texla::solve::{CgParams, ConjugateGradient, ResidualKind};
    /// use texla::{BandedMatrix, Vector, host::Triplets};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// let a = BandedMatrix::from_triplets(dev, &Triplets::from_diagonal(&[2.0, 3.0]))?;
    /// let b = Vector::from_slice(dev, &[2.0, 3.0])?;
    /// let report = ConjugateGradient::new(&a, CgParams::default())?.solve(&mut Vector::zeros(dev, 2)?, &b)?;
    /// let [first, .., last] = report.history[..] else { panic!("{report:?}") };
    /// assert_eq!((first.iteration, first.residual, first.kind), (0, 1.0, ResidualKind::Certified));
    /// assert_eq!((last.iteration, last.kind), (report.iterations, ResidualKind::Certified));
    /// assert_eq!(last.residual, report.true_residual);
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub history: Vec<HistoryPoint>,
    /// Times the recurrence's residual was replaced by the recomputed one. Each time, as at the start and at the end,
    /// the host waits for one number, outside the loop: the norm on which it decides how to go on.
    pub replacements: usize,
    /// Looks at the residual through a polled fence.
    pub async_checks: u64,
    /// Readbacks that waited, inside the loop: none, but those of a preconditioner on the host and of [its
    /// corrections](crate::solve::Preconditioner::on_host).
    pub readbacks_in_loop: u64,
    /// Draws of the whole solve, from its first check to the certificate, but for those in vain.
    pub draws_useful: u64,
    /// Draws after the iterates had frozen, until that was noticed; the iteration that finds it out counts as useful.
    pub draws_in_vain: u64,
    /// Draws of one iteration, of the last kind that ran.
    pub draws_per_iteration: u64,
    /// Changes of the render target in one iteration.
    pub passes_per_iteration: u64,
}

/// In words: how it ended, after what, at which residual; and of what has stagnated, which unknowns reach less.
///
/// ```
/// use texla::{BandedMatrix, DoubleVector, Vector, solve::{CgParams, ConjugateGradient, Stop}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let a = BandedMatrix::poisson_2d(dev, 64, 64)?;
/// let b = Vector::filled(dev, 64 * 64, 1.0)?;
/// let cg = ConjugateGradient::new(&a, CgParams::default().with_stop(Stop::relative(1e-6)))?;
/// let report = cg.solve(&mut Vector::zeros(dev, 64 * 64)?, &b)?.to_string();
/// assert!(report.starts_with("stagnated after "), "{report}");
/// assert!(report.ends_with(": unknowns of 32 bits reach no less here, pairs may (DoubleVector)"), "{report}");
/// let report = cg.solve(&mut DoubleVector::zeros(dev, 64 * 64)?, &b)?.to_string();
/// assert!(report.starts_with("converged after "), "{report}");
/// # Ok::<(), texla::Error>(())
/// ```
impl fmt::Display for SolveReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SolveReport { reason, iterations, true_residual, .. } = self;
        match &self.breakdown {
            Some(breakdown) => write!(f, "{breakdown}; after {iterations} iterations")?,
            None => write!(f, "{reason} after {iterations} iterations")?,
        }
        if self.double_iterations > 0 {
            write!(f, ", {} of them in pairs of floats", self.double_iterations)?;
        }
        write!(f, ", at a relative residual of {true_residual:.1e}")?;
        if let Some(rounding) = self.rounding.filter(|r| !self.converged() && *r > 0.1 * true_residual) {
            write!(f, " give or take {rounding:.1e} of rounding")?;
        }
        if let (StopReason::NormOnly, Some(Components { omega, rows, of })) = (reason, self.components) {
            return write!(f, ": {rows} of {of} rows are off by up to {omega:.1e} of their terms");
        }
        if let (StopReason::Stagnated, Some(Components { omega, .. })) = (reason, self.components) {
            return write!(
                f,
                ": pairs of floats reach no less here, where each equation holds to {omega:.1e} of its terms"
            );
        }
        let hidden = self.rounding.is_some_and(|r| r > 0.5 * true_residual);
        f.write_str(match (reason, self.pairs) {
            // Most of that is what the certificate adds.
            (StopReason::Stagnated, false) if hidden => {
                ": that may be less, but no less can be certified for unknowns of 32 bits here, of pairs it may \
                 (DoubleVector)"
            }
            (StopReason::Stagnated, true) if hidden => {
                ": that may be less, but no less can be certified for pairs of floats here"
            }
            (StopReason::Stagnated, false) => {
                ": unknowns of 32 bits reach no less here, pairs may (DoubleVector)"
            }
            (StopReason::Stagnated, true)
                if self.double_iterations == 0 && *iterations > 0 && self.least_residual.is_none() =>
            {
                match self.least_squares_residual {
                    None => {
                        ": iterations in 32 bits reach no less here; of symmetric systems conjugate gradients in pairs \
                         may (Recurrence::Double)"
                    }
                    Some(_) => ": iterations in 32 bits reach no less here",
                }
            }
            (StopReason::Stagnated, true) => ": pairs of floats reach no less here",
            (StopReason::Uncertified, false) => {
                ": 32 bits hold b no more closely than 6e-8, pairs do (DoubleVector); of larger bounds, nothing here \
                 computes a residual more closely"
            }
            (StopReason::Uncertified, true) => ": pairs hold b no more closely than 3.6e-15",
            (StopReason::MaxIterations, false) if *true_residual < 1e-6 => {
                ": unknowns of 32 bits may reach no less here, pairs may (DoubleVector)"
            }
            _ => "",
        })
    }
}

impl SolveReport {
    /// True for [`StopReason::Converged`] alone.
    pub fn converged(&self) -> bool {
        self.reason == StopReason::Converged
    }
}
