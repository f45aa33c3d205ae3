//! The formulas of BiCGStab and BiCGStab(2).

use crate::error::Result;
use crate::solve::drive::After;
use crate::solve::drive::state::{Flag, Report};
use crate::solve::space::{Ends, Number, Recipe, Register, Space, Store};

/// The vectors of both, named as in the papers but for the shadow residual `h` and what the preconditioner makes of others: `mp` of
/// `p`, `ms` of `s`. Below 2⁻²⁰ times `|h| |v|` a sum `h·v` of 32 bits is mostly rounding.
struct Half {
    p: Register,
    v: Register,
    s: Register,
    t: Register,
    h: Register,
    mp: Register,
    ms: Register,
    alpha: Number,
    /// Shadow residuals that have failed since the last one that did not.
    shadows: usize,
}

impl Half {
    fn new(places: &mut Store) -> Result<Self> {
        let [p, v, s, t, h, mp, ms] = places.registers();
        let [alpha] = places.coefficients(["alpha"])?;
        let _ = places.numbers(["hh", "hv"])?;
        Ok(Half { p, v, s, t, h, mp, ms, alpha, shadows: 0 })
    }

    fn begin(&self, space: &mut Space<'_, '_>, keeps: bool) -> Result<()> {
        if keeps {
            return space.project(self.p);
        }
        match self.shadows {
            0 => space.copy(self.h, Space::R)?,
            seed => space.scatter(self.h, seed)?,
        }
        space.numbers([("square", self.h.dot(self.h))], "hh = square;")?;
        space.copy(self.p, Space::R)
    }

    /// v = A M p, s = r - α v, t = A M s
    fn iterate(&self, space: &mut Space<'_, '_>) -> Result<()> {
        let (Half { p, v, s, t, h, mp, ms, alpha, .. }, r) = (self, Space::R);
        space.precondition(*mp, *p)?;
        space.product(*v, *mp)?;
        let text = "
            meets(rr);
            bounded(along); bounded(hr); bounded(vv);
            float along_r = cosine(hr, hh, rr);
            breaks(abs(along_r) <= 9.5367431640625e-7, SHADOW, along_r);
            float along_v = cosine(along, hh, vv);
            breaks(abs(along_v) <= 9.5367431640625e-7, SHADOW_DIRECTION, along_v);
            alpha = hr / along;
            hv = along;";
        let sums = [("along", h.dot(*v)), ("hr", h.dot(r)), ("rr", r.dot(r)), ("vv", v.dot(*v))];
        space.numbers(sums, text)?;
        space.update([s.is(r).minus(*alpha, *v)])?;
        space.precondition(*ms, *s)?;
        space.product(*t, *ms)
    }
}

/// ω that minimises |s - ω t|, but where both are nearly orthogonal a larger one, kept from sinking: Sleijpen and van der Vorst (1995).
const KEPT: &str = "
    float size = sqrt(ss / tt);
    float turned = cosine(ts, ss, tt);
    float kept = abs(turned) < 0.7 ? (turned < 0.0 ? -0.7 * size : 0.7 * size) : ts / tt;";

/// γ₁ and γ₂ of the least |r0 - γ₁ r1 - γ₂ r2|: what r1 leaves of r0 and of r2, of which no less than rounding makes of it.
const LEAST: &str = "
    breaks(settled == 0.0 && !(q11 > 0.0) && q00 > threshold, CURVATURE, q11);
    float along0 = q11 > 0.0 ? q01 / q11 : 0.0;
    float along2 = q11 > 0.0 ? q12 / q11 : 0.0;
    float ss = max(q00 - along0 * q01, 0.0);
    float tt = max(q22 - along2 * q12, 9.5367431640625e-7 * q22);
    float ts = q02 - along2 * q01;";

const MOVED: &str = "
    bool moves = settled == 0.0;
    gamma2 = moves && tt > 0.0 ? kept : 0.0;
    gamma1 = moves ? along0 - along2 * gamma2 : 0.0;
    beta = moves ? hr / hu : 0.0;
    beta1 = beta * gamma1; beta2 = beta * gamma2;
    along_s = alpha2 + gamma1; along_u = gamma1 * alpha2;
    counts();";

/// Van der Vorst (1992).
struct One {
    half: Half,
    omega: Number,
    beta: Number,
    beta_omega: Number,
}

impl One {
    fn iterate(&self, space: &mut Space<'_, '_>) -> Result<()> {
        let One { half: Half { p, v, s, t, h, mp, ms, alpha, .. }, omega, beta, beta_omega } = self;
        self.half.iterate(space)?;
        let text = "
            breaks(!(tt > 0.0) && ss > threshold, CURVATURE, tt);
            omega = tt > 0.0 ? kept : 0.0;
            beta = -ht / hv;
            beta_omega = beta * omega;
            counts();";
        let sums = [("ts", t.dot(*s)), ("tt", t.dot(*t)), ("ss", s.dot(*s)), ("ht", h.dot(*t))];
        space.numbers(sums, &[KEPT, text].concat())?;
        space.update([
            Space::X.plus(*alpha, *mp).plus(*omega, *ms),
            Space::R.is(*s).minus(*omega, *t),
            p.is(Space::R).plus(*beta, *p).minus(*beta_omega, *v),
        ])
    }
}

/// Sleijpen and Fokkema (1993), with a polynomial of degree 2. `settled` tells that s is nothing but rounding: the rest of the
/// iteration is then nothing.
struct Two {
    half: Half,
    u: [Register; 3],
    r: [Register; 3],
    mu: Register,
    mt: Register,
    quotient: Number,
    alpha2: Number,
    along_p: Number,
    along_s: Number,
    along_u: Number,
    gamma1: Number,
    gamma2: Number,
    beta: Number,
    beta1: Number,
    beta2: Number,
}

impl Two {
    fn new(half: Half, places: &mut Store) -> Result<Self> {
        let ([mu, mt], u, r) = (places.registers(), places.registers(), places.registers());
        let _ = places.numbers(["settled", "hu"])?;
        let [quotient, alpha2] = places.coefficients(["quotient", "alpha2"])?;
        let [along_p, along_s, along_u] = places.coefficients(["along_p", "along_s", "along_u"])?;
        let [gamma1, gamma2, beta] = places.coefficients(["gamma1", "gamma2", "beta"])?;
        let [beta1, beta2] = places.coefficients(["beta1", "beta2"])?;
        Ok(Two {
            half,
            u,
            r,
            mu,
            mt,
            quotient,
            alpha2,
            along_p,
            along_s,
            along_u,
            gamma1,
            gamma2,
            beta,
            beta1,
            beta2,
        })
    }

    fn iterate(&self, space: &mut Space<'_, '_>) -> Result<()> {
        let Two {
            half: Half { p, v, s, t, h, mp, ms, .. }, u: [u0, u1, u2], r: [r0, r1, r2], mu, mt, ..
        } = self;
        self.half.iterate(space)?;
        // u0 = s - β p, u1 = t - β v
        let turned = "
            settled = ss <= 9.094947017729282e-13 * square_of_r ? 1.0 : 0.0;
            bounded(ht); bounded(tt);
            float along_t = cosine(ht, hh, tt);
            if (settled == 0.0) { breaks(abs(along_t) <= 9.5367431640625e-7, SHADOW, along_t); }
            quotient = settled == 0.0 ? ht / hv : 0.0;
            hv = ht;";
        space.numbers([("tt", t.dot(*t)), ("ss", s.dot(*s)), ("ht", h.dot(*t))], turned)?;
        space.update([u0.is(*s).minus(self.quotient, *p), u1.is(*t).minus(self.quotient, *v)])?;
        // r0 = s - α₂ u1, r1 = t - α₂ u2
        space.precondition(*mu, *u1)?;
        space.product(*u2, *mu)?;
        let second = "
            bounded(hu2); bounded(uu);
            float along_u2 = cosine(hu2, hh, uu);
            if (settled == 0.0) { breaks(abs(along_u2) <= 9.5367431640625e-7, SHADOW_DIRECTION, along_u2); }
            alpha2 = settled == 0.0 ? hv / hu2 : 0.0;
            along_p = alpha - alpha2 * quotient;
            hu = hu2;";
        space.numbers([("hu2", h.dot(*u2)), ("uu", u2.dot(*u2))], second)?;
        space.update([r0.is(*s).minus(self.alpha2, *u1), r1.is(*t).minus(self.alpha2, *u2)])?;
        space.precondition(*mt, *r1)?;
        space.product(*r2, *mt)?;
        let sums = [
            ("q01", r0.dot(*r1)),
            ("q00", r0.dot(*r0)),
            ("q11", r1.dot(*r1)),
            ("q02", r0.dot(*r2)),
            ("q12", r1.dot(*r2)),
            ("q22", r2.dot(*r2)),
            ("hr", h.dot(*r2)),
        ];
        space.numbers(sums, &[LEAST, KEPT, MOVED].concat())?;
        let x = Space::X.plus(self.along_p, *mp).plus(self.along_s, *ms);
        space.update([
            x.minus(self.along_u, *mu).plus(self.gamma2, *mt),
            Space::R.is(*r0).minus(self.gamma1, *r1).minus(self.gamma2, *r2),
            p.is(Space::R).minus(self.beta, *u0).plus(self.beta1, *u1).plus(self.beta2, *u2),
        ])
    }
}

/// Either of them.
pub(in crate::solve) struct Stabilised(Degree);

enum Degree {
    One(One),
    Two(Two),
}

impl Stabilised {
    pub fn new(ell: usize, places: &mut Store) -> Result<Self> {
        let half = Half::new(places)?;
        if ell == 2 {
            return Ok(Stabilised(Degree::Two(Two::new(half, places)?)));
        }
        let [omega, beta, beta_omega] = places.coefficients(["omega", "beta", "beta_omega"])?;
        Ok(Stabilised(Degree::One(One { half, omega, beta, beta_omega })))
    }

    fn half(&mut self) -> &mut Half {
        match &mut self.0 {
            Degree::One(one) => &mut one.half,
            Degree::Two(two) => &mut two.half,
        }
    }
}

impl Recipe for Stabilised {
    const NAME: &'static str = "BiCGStab";
    const GROWTH: f64 = 1e4;

    fn begin(&mut self, s: &mut Space<'_, '_>, keeps: bool) -> Result<()> {
        self.half().begin(s, keeps)
    }

    fn rescale(&mut self, s: &mut Space<'_, '_>, factor: f32) -> Result<()> {
        s.scale(self.half().p, factor)
    }

    fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        match &self.0 {
            Degree::One(one) => one.iterate(s),
            Degree::Two(two) => two.iterate(s),
        }
    }

    fn tests_before(&self) -> bool {
        true
    }
}

impl Ends for Stabilised {
    fn attempt(&mut self, failed: usize) {
        self.half().shadows = failed;
    }

    fn after(&self, last: &Report) -> After {
        let quantity = match last.flag {
            Flag::Shadow => "cos(h, r)",
            Flag::ShadowDirection => "cos(h, AMp)",
            Flag::OutOfRange => "r.r",
            Flag::Curvature => {
                let expected = "more than 0: the matrix or the preconditioner is singular";
                return After::End(last.broken("|AMs|²", expected));
            }
            _ => return After::Judge,
        };
        let expected = "more than 1e-6 either way, or it is rounding: no shadow residual h helps";
        After::Retry(last.broken(quantity, expected))
    }
}
