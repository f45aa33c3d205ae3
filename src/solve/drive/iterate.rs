//! The iterate of a Krylov method, and its residual.

use super::components::components;
use super::facts::{Facts, norm_of};
use super::null_space::{project_out, project_parts, start_in_range};
use super::report::Components;
use super::rounding::{norm_of_bound, norm_of_error, of_norms, told_bound};
use super::scales::{FAR, Scales, closer_scale, power, room_of, scale_of};
use super::slices::number;
use super::unknown::{Iterand, Right, exact_sum};
use crate::data::Vector;
use crate::error::{Error, Result};
use crate::kernel::PingPong;
use crate::ops::{self, Accuracy, Accurate, ExactSum, LinOp};
use crate::shape::Shape;
use crate::solve::judge::{LEAST_BOUND, LEAST_BOUND_OF_PAIRS};

/// `x + y`, which is to solve `A x = b`, and the recurrence's residual.
pub(in crate::solve) struct Iterate<'a> {
    pub a: &'a dyn LinOp,
    pub b: &'a Vector,
    /// What 32 bits do not hold of that.
    pub b_low: Option<&'a Vector>,
    /// The iterate as of the last true residual.
    pub x: Iterand,
    /// What has been added since, which is small and so loses little to rounding.
    pub y: PingPong<Vector>,
    pub r: PingPong<Vector>,
    /// What 32 bits do not hold of these two, where the recurrence is one of pairs.
    pub low: Option<Low>,
    /// The residual is `b` itself, of which there is no copy.
    pub is_b: bool,
    pub norm_b: f64,
    /// The iterate goes back to a start at zero.
    pub from_zero: bool,
    /// `2^-k` by which residuals are scaled: the larger of `‖b‖` and `‖b - A x0‖` becomes about 1.
    pub scale: f32,
    /// The iterate has just gone back there, where residuals are known to be no larger than `b`: the scale is to be theirs.
    pub near: bool,
    /// The scale has changed since the direction was found.
    rescaled: bool,
    /// `2^-e` by which the matrix is scaled.
    pub matrix_scale: f32,
    /// Of pairs by [how much](room_of) products are larger before that.
    pub room: f32,
    /// `x` is the start still, without its part in the null space.
    begins: bool,
    /// Which share of the norm of `b` lies below the range of floats, and may be lost.
    pub lost: f64,
    /// The norm of the residual, where `r` holds that of the start already.
    first: Option<(f64, Accuracy)>,
    /// Residuals that the host has read to correct the start.
    pub corrections: u64,
    /// The norm of a bound on the error of the residual, where it was found with that; until a residual is computed again.
    error: Option<f64>,
}

/// The exponent that elements of `x` may have when they are scaled as residuals of pairs are.
const MOST_SCALED: i32 = 110;

/// Low parts of what an [`Iterate`] has in pairs.
pub(in crate::solve) struct Low {
    pub y: PingPong<Vector>,
    pub r: PingPong<Vector>,
}

impl<'a> Iterate<'a> {
    /// From the start in `x`, of which and of `b` this is known; but for what lies in the null space. The scales are found,
    /// and waited for.
    pub async fn new(
        a: &'a dyn LinOp,
        (x, x_low): (&Vector, Option<&Vector>),
        Right { high: b, low: b_low }: Right<'a>,
        given: &Facts,
    ) -> Result<Self> {
        let Iterand { high: mut start, low } = start_in_range(a, (x, x_low)).await?;
        let mut r = Vector::uninit(a.device(), a.shape().rows)?;
        let projected = Facts::of_projected(a, &start, b)?;
        let scales = Scales::find(a, &mut start, b, projected.as_ref().unwrap_or(given), &mut r).await?;
        let mut at = Self::beginning(a, b, start, r, scales)?;
        if let Some(mut low) = low {
            // Where the start is zero for being far off, so is all of it.
            if at.from_zero {
                low.set_zero()?;
            }
            (at.x.low, at.b_low, at.first) = (Some(low), b_low, None);
            at.room = room_of(a)?;
        }
        if at.norm_b == 0.0 {
            // The solution of A x = 0 is known, and its residual is zero, whatever that is relative to.
            at.x.set_zero()?;
            (at.norm_b, at.from_zero) = (1.0, true);
        }
        Ok(at)
    }

    /// From the start in `x`, by these scales.
    pub fn scaled(a: &'a dyn LinOp, x: &Vector, b: &'a Vector, scales: Scales) -> Result<Self> {
        let Shape { rows, cols } = a.shape();
        let mut start = Vector::uninit(a.device(), cols)?;
        ops::scaled(&mut start, 1.0, x)?;
        project_out(&mut start, a.null_space())?;
        Self::beginning(a, b, start, Vector::uninit(a.device(), rows)?, scales)
    }

    /// From zero, with its residual, which is `b`: all of the solution is `y`. What `x` holds is left open, for runs that
    /// never gather up.
    pub fn at_zero(a: &'a dyn LinOp, b: &'a Vector, scales: Scales) -> Result<Self> {
        let of = |n| Vector::uninit(a.device(), n);
        let Shape { rows, cols } = a.shape();
        let mut at = Self::beginning(a, b, of(cols)?, of(rows)?, scales)?;
        at.is_b = true;
        // Passes read the residual and what they write at the same texel.
        if b.extent() != at.r.front().extent() {
            at.copy_b()?;
        }
        Ok(at)
    }

    /// Makes the residual a vector that can be written.
    pub fn copy_b(&mut self) -> Result<()> {
        if std::mem::take(&mut self.is_b) { ops::copy(self.r.front_mut(), self.b) } else { Ok(()) }
    }

    /// The recurrence's residual.
    pub fn residual_at_hand(&self) -> &Vector {
        if self.is_b { self.b } else { self.r.front() }
    }

    fn beginning(a: &'a dyn LinOp, b: &'a Vector, x: Vector, r: Vector, scales: Scales) -> Result<Self> {
        let Scales { norm_b, from_zero, residual: scale, matrix: matrix_scale, first } = scales;
        let device = a.device();
        let Shape { rows, cols } = a.shape();
        Ok(Iterate {
            a,
            b,
            b_low: None,
            x: Iterand { high: x, low: None },
            y: PingPong::new(Vector::zeros(device, cols)?, Vector::uninit(device, cols)?),
            r: PingPong::new(r, Vector::uninit(device, rows)?),
            low: None,
            is_b: false,
            norm_b,
            from_zero,
            scale,
            near: false,
            rescaled: false,
            matrix_scale,
            room: 1.0,
            begins: true,
            lost: 0.0,
            first,
            corrections: 0,
            error: None,
        })
    }

    /// From now on the recurrence is one of pairs; a true residual is to come first.
    pub fn widen(&mut self) -> Result<()> {
        let room = |like: &PingPong<Vector>| {
            let fresh = || Vector::uninit(self.a.device(), like.front().len());
            Ok::<_, Error>(PingPong::new(fresh()?, fresh()?))
        };
        let mut low = Low { y: room(&self.y)?, r: room(&self.r)? };
        low.y.front_mut().set_zero()?;
        (self.low, self.first) = (Some(low), None);
        Ok(())
    }

    /// Makes the residual of `x`, in double-float and scaled, the recurrence's.
    pub fn residual(&mut self) -> Result<Accuracy> {
        self.error = None;
        if self.is_double() {
            let [high, rest] = self.exact_residual(false)?.into_parts();
            *self.r.front_mut() = self.without_room(high)?;
            let rest = self.low.as_ref().map(|_| self.without_room(rest)).transpose()?;
            if let (Some(low), Some(rest)) = (&mut self.low, rest) {
                *low.r.front_mut() = rest;
            }
            return Ok(Accuracy::DoubleFloat);
        }
        let terms = Accurate::residual(self.scale, self.b, &self.x.high);
        ops::product_accurate(self.r.front_mut(), self.a, terms)
    }

    /// All of the right-hand side.
    pub fn right(&self) -> Right<'a> {
        Right { high: self.b, low: self.b_low }
    }

    /// The residual of pairs, or a bound on its error; so many times larger as there is [room](Self::residual_room) for.
    pub fn exact_residual(&self, bounds: bool) -> Result<ExactSum> {
        let (Iterand { high, low }, scale) = (&self.x, self.scale * self.residual_room());
        exact_sum(self.a, (scale, self.right()), -scale, [high].into_iter().chain(low), bounds)
    }

    /// By how much that is larger, so that low parts of `x` keep what large coefficients make of them: neither `b` nor what it is
    /// the difference of may leave the range, though `A x` be many times `b`.
    pub fn residual_room(&self) -> f32 {
        let scale = f64::from(self.scale);
        let most = (120f64.exp2() / scale).min(60f64.exp2() * f64::from(scale_of(self.norm_b)) / scale);
        most.clamp(1.0, f64::from(self.room)) as f32
    }

    /// A part of such a residual as residuals are scaled.
    pub fn without_room(&self, part: Vector) -> Result<Vector> {
        let room = self.residual_room();
        if room == 1.0 {
            return Ok(part);
        }
        let mut own = Vector::uninit(part.device(), part.len())?;
        ops::scaled(&mut own, 1.0 / room, &part)?;
        Ok(own)
    }

    /// Whether the iterate is one of pairs.
    pub fn is_double(&self) -> bool {
        self.x.low.is_some()
    }

    /// Bounds below this cannot be certified.
    pub fn least_bound(&self) -> f64 {
        if self.is_double() { LEAST_BOUND_OF_PAIRS } else { LEAST_BOUND }
    }

    /// Of the iterate and its residual: a column of zeros lets no residual see that an element is not finite.
    pub fn facts(&self) -> Result<Facts> {
        Facts::ask(&self.x.high, self.r.front())
    }

    /// The sum that the residual is.
    pub fn terms(&self) -> Accurate<'_> {
        Accurate::residual(self.scale, self.b, &self.x.high)
    }

    /// By how much rounding may have changed the norm of that, which is this relative to `b`. *Cost*: waits.
    pub async fn rounding(&self, residual: f64) -> Result<f64> {
        let norm = match (self.error, self.is_double()) {
            (Some(norm), _) => norm,
            (None, true) => {
                norm_of_bound(self.exact_residual(true)?.error()).await? / f64::from(self.residual_room())
            }
            (None, false) => norm_of_error(self.a, self.terms()).await?,
        };
        Ok(norm / self.unit() + residual * of_norms(self.r.front()) + self.lost)
    }

    /// How well single equations are satisfied, by the residual just recomputed. *Cost*: waits.
    pub async fn components(&self, most: f64) -> Result<Option<Components>> {
        if self.is_b { Ok(None) } else { components(self.a, self.terms(), self.r.front(), most).await }
    }

    /// Makes `x` of `x + y`, without what lies in the null space.
    pub fn gather_up(&mut self) -> Result<()> {
        if std::mem::take(&mut self.begins) {
            return Ok(());
        }
        // x = x + y, y = 0
        self.x.add(self.y.front(), self.low.as_ref().map(|low| low.y.front()))?;
        self.discard()?;
        project_out(&mut self.x, self.a.null_space())
    }

    /// [Gathers up](Self::gather_up) and makes the residual the recurrence's; returns the norm of that, scaled. Infinite
    /// where an element of `x` is not finite.
    pub async fn true_residual(&mut self) -> Result<(f64, Accuracy)> {
        if self.first.is_none() {
            self.gather_up()?;
        }
        self.recomputed().await
    }

    /// The same of `x` alone.
    pub async fn recomputed(&mut self) -> Result<(f64, Accuracy)> {
        if let Some((norm, accuracy)) = self.first.take() {
            self.begins = false;
            self.project_residual()?;
            return Ok((norm, accuracy));
        }
        let mut accuracy = self.residual()?;
        // With a bound on its error, so that a certificate costs no wait of its own.
        let bound = if self.is_double() { None } else { told_bound(self.a, self.terms())? };
        // Of the iterate, too: a column of zeros lets no residual see that an element is not finite.
        let facts = Facts::ask_bounded(&self.x.high, self.r.front(), bound.as_ref())?;
        let mut norm = facts.norm(self.r.front()).await?;
        self.error = if bound.is_some() { facts.norm_of_bound().await? } else { None };
        if !facts.is_finite().await? {
            return Ok((f64::INFINITY, accuracy));
        }
        if !norm.is_finite() && self.residual_room() > 1.0 {
            // An `x` so large has no such room.
            self.room = 1.0;
            accuracy = self.residual()?;
            norm = norm_of(self.r.front()).await?;
        }
        if self.rescale(norm).await? {
            accuracy = self.residual()?;
            norm = norm_of(self.r.front()).await?;
        }
        // What rounding has left in the null space is part of the residual, and nothing that iterations could remove.
        self.project_residual()?;
        Ok((norm, accuracy))
    }

    fn project_residual(&mut self) -> Result<()> {
        let low = self.low.as_mut().map(|low| low.r.front_mut());
        project_parts(self.r.front_mut(), low, self.a.null_space())
    }

    /// Scales closer where residuals of this norm ask for it: they are then to be computed anew.
    /// *Cost*: waits once more where they do, and unknowns are pairs.
    pub async fn rescale(&mut self, norm: f64) -> Result<bool> {
        // Of pairs low parts of squares are to be in range too, also where the preconditioner makes little of a residual.
        let (least, times) = match self.low {
            Some(_) => (self.norm_b / FAR, 16.0),
            None => (self.norm_b, 65_536.0),
        };
        let times = if std::mem::take(&mut self.near) { 1.0 } else { times };
        let Some(wanted) = closer_scale(least, norm, self.scale, times) else { return Ok(false) };
        let scale = match self.low {
            // Residuals multiply `x` by that, which is far larger than they are where the matrix is small or nearly singular.
            Some(_) => {
                let most = scale_of(number(ops::max_abs(&self.x.high)?).await?) * power(MOST_SCALED);
                wanted.min(most)
            }
            None => wanted,
        };
        if scale <= self.scale {
            return Ok(false);
        }
        (self.scale, self.rescaled) = (scale, true);
        Ok(true)
    }

    /// Whether the scale has changed since this was asked last: a direction of before is then of no use.
    pub fn take_rescaled(&mut self) -> bool {
        std::mem::take(&mut self.rescaled)
    }

    /// Forgets what has been added to `x` since the last true residual.
    pub fn discard(&mut self) -> Result<()> {
        self.y.front_mut().set_zero()?;
        self.low.as_mut().map_or(Ok(()), |low| low.y.front_mut().set_zero())
    }

    /// The norm of `b`, scaled as residuals are.
    pub fn unit(&self) -> f64 {
        self.norm_b * f64::from(self.scale)
    }

    /// By what an update of the scaled unknown is multiplied to be one of `x`.
    pub fn x_scale(&self) -> f32 {
        (f64::from(self.matrix_scale) / f64::from(self.scale)) as f32
    }

    /// Replaces the iterate. It has been projected before: sums over it may be out of range by now, and with them what a
    /// projection makes of it.
    pub fn put(&mut self, x: Iterand) {
        (self.x, self.begins, self.error) = (x, true, None);
    }

    /// The start has been corrected: nothing that was known of it holds, nor is it zero.
    pub fn start_has_changed(&mut self) {
        (self.first, self.error, self.from_zero) = (None, None, false);
    }

    /// Starts again from zero.
    pub fn back_to_zero(&mut self) -> Result<()> {
        (self.from_zero, self.near) = (true, true);
        self.x.set_zero()?;
        self.discard()
    }
}
