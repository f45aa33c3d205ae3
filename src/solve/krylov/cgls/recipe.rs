//! The formulas of conjugate gradients for least squares.

use crate::data::Vector;
use crate::error::Result;
use crate::solve::space::{Ends, Number, Recipe, Register, Space, Store};

/// Björck, Elfving and Strakoš (1998), CGLS: conjugate gradients on `AᵀA`, whose residual is `s = Aᵀ r`.
pub(super) struct LeastSquares {
    d: Register,
    s: Register,
    z: Register,
    q: Register,
    sz: Number,
    least: Number,
    alpha: Number,
    alpha_r: Number,
    beta: Number,
    since: Option<Since>,
    /// `s` as it was recomputed, and the squared norm of `r` at which iterations end, too.
    pub given: Given,
}

/// Of pairs: `s` of the last true residual, and what has changed of `r` since.
struct Since {
    then: Register,
    change: Register,
}

/// What a run begins with.
#[derive(Default)]
pub(super) struct Given {
    pub s: Option<Vector>,
    pub then: Option<Vector>,
    /// By what the direction is to be multiplied where it is kept.
    pub apart: f32,
    pub least: f32,
    pub lift: f32,
}

impl LeastSquares {
    pub fn new(places: &mut Store, lifted: bool) -> Result<Self> {
        let ([d, s, z], [q]) = (places.registers_of_columns(), places.registers());
        let since = if lifted {
            let ([then], [change]) = (places.registers_of_columns(), places.registers());
            Some(Since { then, change })
        } else {
            None
        };
        let [sz] = places.numbers(["sz"])?;
        let [least, _] = places.numbers(["least", "unlift"])?;
        let [alpha, alpha_r, beta] = places.coefficients(["alpha", "alpha_r", "beta"])?;
        Ok(LeastSquares { d, s, z, q, sz, least, alpha, alpha_r, beta, since, given: Given::default() })
    }

    /// d = M s + β d
    fn turn(&self, space: &mut Space<'_, '_>) -> Result<()> {
        let LeastSquares { d, s, z, beta, .. } = *self;
        space.precondition(z, s)?;
        let text = "
            meets(ss);
            breaks(next <= 0.0, INDEFINITE, next);
            beta = sz > 0.0 ? next / sz : 0.0;
            sz = next;";
        space.numbers([("next", s.dot(z)), ("ss", s.dot(s))], text)?;
        space.update([d.is(z).plus(beta, d)])
    }
}

impl Recipe for LeastSquares {
    const NAME: &'static str = "conjugate gradients for least squares";

    fn begin(&mut self, space: &mut Space<'_, '_>, keeps: bool) -> Result<()> {
        let Given { s, then, apart, least, lift } = std::mem::take(&mut self.given);
        s.map_or(Ok(()), |s| space.load(self.s, s))?;
        if let (Some(Since { then: place, change }), Some(then)) = (&self.since, then) {
            space.load(*place, then)?;
            space.clear(*change)?;
        }
        space.set_two(self.least, [least, 1.0 / lift])?;
        match keeps {
            true if apart != 1.0 => space.scale(self.d, apart)?,
            true => {}
            false => {
                space.set(self.sz, 0.0)?;
                space.clear(self.d)?;
            }
        }
        self.turn(space)
    }

    fn iterate(&mut self, space: &mut Space<'_, '_>) -> Result<()> {
        let LeastSquares { d, s, q, alpha, alpha_r, .. } = *self;
        let (x, r) = (Space::X, Space::R);
        space.product(q, d)?;
        let text = "
            if (least > 0.0 && rr <= least) { ends(MET, 0.0); }
            breaks(qq <= 0.0, CURVATURE, qq);
            alpha = sz / qq;
            alpha_r = alpha * unlift;
            counts();";
        space.numbers([("qq", q.dot(q)), ("rr", r.dot(r))], text)?;
        space.update([x.plus(alpha, d)])?;
        match self.since {
            None => {
                space.update([r.minus(alpha, q)])?;
                space.transposed_product(s, r)?;
            }
            Some(Since { then, change }) => {
                space.update([r.minus(alpha_r, q), change.minus(alpha, q)])?;
                space.transposed_onto(s, then, change)?;
            }
        }
        self.turn(space)
    }
}

impl Ends for LeastSquares {}
