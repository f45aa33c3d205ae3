//! The formulas of conjugate gradients.

use crate::error::Result;
use crate::solve::space::{Ends, M, Number, Recipe, Register, Space, Store};

/// Listing 44-1 of \[Krueger05\]. Where the preconditioner is dear an iteration begins with it and ends with a prediction of the
/// residual, so that nothing is left to do, or done for nothing, once that meets the bound; else it ends with the residual itself.
pub(in crate::solve) struct Listing {
    p: Register,
    q: Register,
    z: Register,
    rz: Number,
    alpha: Number,
    beta: Number,
}

/// Tests the residual of after an update by `alpha` along a direction, from the square of that of before:
/// r'·r' = r·r - 2 α r·q + α² q·q, and what rounding of the sums may have taken from that.
pub(in crate::solve::krylov) fn predicted(square: &str) -> String {
    format!(
        "float along = 2.0 * (alpha * rq);
        float across = alpha * (alpha * qq);
        will_meet(max(({square} - along) + across, 0.0) + 3.8146973e-6 * ({square} + abs(along) + across));"
    )
}

impl Listing {
    pub fn new(s: &mut Store) -> Result<Self> {
        let ([p, q, z], [rz], [alpha, beta]) =
            (s.registers(), s.numbers(["rz"])?, s.coefficients(["alpha", "beta"])?);
        Ok(Listing { p, q, z, rz, alpha, beta })
    }

    /// p = M r + β p
    fn turn(&self, s: &mut Space<'_, '_>) -> Result<()> {
        let Listing { p, z, beta, .. } = *self;
        s.precondition(z, Space::R)?;
        // A direction that is kept after this run has been turned, unless an iteration begins with that.
        let test = if s.is_dear() { "meets(rr);" } else { "will_meet(rr);" };
        let text = "
            breaks(next <= 0.0, INDEFINITE, next);
            beta = rz > 0.0 ? next / rz : 0.0;
            rz = next;";
        s.numbers([("next", Space::R.dot(z)), ("rr", Space::R.dot(Space::R))], &[test, text].concat())?;
        s.update([p.is(z).plus(beta, p)])
    }
}

impl Recipe for Listing {
    const NAME: &'static str = "conjugate gradients";

    fn begin(&mut self, s: &mut Space<'_, '_>, keeps: bool) -> Result<()> {
        if keeps && !s.is_dear() {
            s.project(self.p)?;
            s.precondition(self.z, Space::R)?;
            return s.numbers([("next", Space::R.dot(self.z))], "rz = next;");
        }
        s.set(self.rz, 0.0)?;
        s.clear(self.p)?;
        if s.is_dear() { Ok(()) } else { self.turn(s) }
    }

    fn rescale(&mut self, s: &mut Space<'_, '_>, factor: f32) -> Result<()> {
        s.scale(self.p, factor)
    }

    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        let Listing { p, q, alpha, .. } = *self;
        let (x, r) = (Space::X, Space::R);
        let curvature = "breaks(pq <= 0.0, CURVATURE, pq); alpha = rz / pq; counts();";
        if s.is_dear() {
            self.turn(s)?;
            s.product(q, p)?;
            let sums = [("pq", p.dot(q)), ("rq", r.dot(q)), ("qq", q.dot(q)), ("rr", r.dot(r))];
            s.numbers(sums, &[curvature, &predicted("rr")].concat())?;
            return s.update([x.plus(alpha, p), r.minus(alpha, q)]);
        }
        s.product(q, p)?;
        s.numbers([("pq", p.dot(q))], curvature)?;
        s.update([x.plus(alpha, p), r.minus(alpha, q)])?;
        self.turn(s)
    }
}

/// With one reduction an iteration: β = (α² q·Mq - r·Mr) / r·Mr is what the next r·Mr will be, by the orthogonality of residuals,
/// while r·Mr itself is summed anew every time.
pub(in crate::solve) struct Merged {
    p: Register,
    q: Register,
    alpha: Number,
    beta: Number,
}

impl Merged {
    pub fn new(s: &mut Store) -> Result<Self> {
        let ([p, q], [alpha, beta]) = (s.registers(), s.coefficients(["alpha", "beta"])?);
        Ok(Merged { p, q, alpha, beta })
    }
}

impl Recipe for Merged {
    const NAME: &'static str = "conjugate gradients";

    fn begin(&mut self, s: &mut Space<'_, '_>, keeps: bool) -> Result<()> {
        if keeps { s.project(self.p) } else { s.update([self.p.is(M * Space::R)]) }
    }

    fn rescale(&mut self, s: &mut Space<'_, '_>, factor: f32) -> Result<()> {
        s.scale(self.p, factor)
    }

    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        let Merged { p, q, alpha, beta } = *self;
        let (x, r) = (Space::X, Space::R);
        s.product(q, p)?;
        let sums = [("pq", p.dot(q)), ("qmq", q.dot(M * q)), ("rz", r.dot(M * r)), ("rr", r.dot(r))];
        let text = "
            meets(rr);
            breaks(pq <= 0.0, CURVATURE, pq);
            breaks(rz <= 0.0, INDEFINITE, rz);
            alpha = rz / pq;
            beta = max((alpha * (alpha * qmq) - rz) / rz, 0.0);
            counts();";
        s.numbers(sums, text)?;
        s.update([x.plus(alpha, p), r.minus(alpha, q), p.is(M * r).plus(beta, p)])
    }
}

/// Either of them.
pub(in crate::solve) enum Cg {
    Listing(Listing),
    Merged(Merged),
}

impl Recipe for Cg {
    const NAME: &'static str = "conjugate gradients";

    fn begin(&mut self, s: &mut Space<'_, '_>, keeps: bool) -> Result<()> {
        match self {
            Cg::Listing(recipe) => recipe.begin(s, keeps),
            Cg::Merged(recipe) => recipe.begin(s, keeps),
        }
    }

    fn rescale(&mut self, s: &mut Space<'_, '_>, factor: f32) -> Result<()> {
        match self {
            Cg::Listing(recipe) => recipe.rescale(s, factor),
            Cg::Merged(recipe) => recipe.rescale(s, factor),
        }
    }

    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        match self {
            Cg::Listing(recipe) => recipe.iterate(s),
            Cg::Merged(recipe) => recipe.iterate(s),
        }
    }

    fn tests_before(&self) -> bool {
        matches!(self, Cg::Merged(_))
    }
}

impl Ends for Cg {
    /// Of a listing that predicts.
    fn reports_bound(&self, dear: bool) -> bool {
        dear && matches!(self, Cg::Listing(_))
    }
}
