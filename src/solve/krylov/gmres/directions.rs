//! GMRES in pairs: by directions and what the matrix makes of them.

use super::recipe::STALLED;
use crate::error::Result;
use crate::solve::krylov::cg::predicted;
use crate::solve::space::{Besides, Dot, Number, Register, Space, Store};

/// The least residual in the same spaces as a cycle by a [basis](super::basis::Basis) finds, by directions `p` whose images
/// `q = A p` are orthonormal: each step takes off the residual what lies along `q`. Simpler GMRES (H. Walker, L. Zhou, 1994) in its
/// adaptive form (P. Jiranek, M. Rozloznik, 2010): the next direction is made of the residual where the last step has taken off
/// enough of it, else of the last image, so that no stagnation ends the space. It keeps twice as many vectors, and needs neither a
/// triangle nor its rotations in pairs. Any preconditioner will do, since each direction is what has become of it.
pub(super) struct Directions {
    p: Vec<Register>,
    q: Vec<Register>,
    /// What the next direction is made of, that by the preconditioner, and its image.
    d: Register,
    z: Register,
    w: Register,
    alpha: Number,
    unit: Number,
    of_r: Number,
    of_q: Number,
    along: [Number; 4],
    done: usize,
}

impl Directions {
    pub fn new(places: &mut Store, restart: usize) -> Result<Self> {
        let [d, z, w] = places.registers();
        let mut all = || (0..restart).flat_map(|_| places.registers::<1>()).collect();
        let (p, q) = (all(), all());
        let [alpha, unit, of_r, of_q] = places.coefficients(["alpha", "unit", "of_r", "of_q"])?;
        let along = places.coefficients(["along0", "along1", "along2", "along3"])?;
        let _ = places.numbers(["cycle"])?;
        Ok(Directions { p, q, d, z, w, alpha, unit, of_r, of_q, along, done: 0 })
    }

    /// A cycle begins with the residual.
    pub fn cycle(&mut self, s: &mut Space<'_, '_>, is_fresh: bool) -> Result<()> {
        self.done = 0;
        let text = ["meets(rr);", if is_fresh { "" } else { STALLED }, "cycle = rr;"].concat();
        s.numbers([("rr", Space::R.dot(Space::R))], &text)
    }

    /// q = A M d of the residual or the last image d, orthogonal to those before; x = x + α p, r = r - α q.
    pub fn iterate(&mut self, s: &mut Space<'_, '_>) -> Result<()> {
        let (j, r) = (self.done, Space::R);
        let Directions { d, z, w, alpha, unit, of_r, of_q, .. } = *self;
        let (Some(p), Some(q)) = (self.p.get(j).copied(), self.q.get(j).copied()) else { return Ok(()) };
        match self.q.get(j.wrapping_sub(1)) {
            Some(last) => s.update([d.sums().plus(of_r, r).plus(of_q, *last)])?,
            None => s.copy(d, r)?,
        }
        s.precondition(z, d)?;
        s.product(w, z)?;
        s.copy(p, z)?;
        s.copy(q, w)?;
        self.take_out(s, p, q)?;
        let step = "
            breaks(!(qq > 3.2311742677852644e-27 * ww), CURVATURE, qq);
            alpha = rq / qq;
            unit = 1.0 / sqrt(qq);
            counts();
            float left = max(rr - alpha * rq, 0.0);
            bool falls = left > 0.0 && left <= 0.81 * rr;
            of_r = falls ? 1.0 / sqrt(left) : 0.0;
            of_q = falls ? 0.0 : 1.0;";
        let sums = [("qq", q.dot(q)), ("rq", r.dot(q)), ("rr", r.dot(r)), ("ww", w.dot(w))];
        s.numbers(sums, &[step, &predicted("rr")].concat())?;
        s.update([
            Space::X.plus(alpha, p),
            r.minus(alpha, q),
            p.sums().plus(unit, p),
            q.sums().plus(unit, q),
        ])?;
        s.rest(p)?;
        s.rest(q)?;
        self.done += 1;
        if self.done < self.p.len() { Ok(()) } else { self.cycle(s, false) }
    }

    /// Takes out of q what lies along the images so far, of four at a time, and of p the directions with them.
    fn take_out(&self, s: &mut Space<'_, '_>, p: Register, q: Register) -> Result<()> {
        const TOLD: [(&str, &str); 4] =
            [("a0", "along0 = a0;"), ("a1", "along1 = a1;"), ("a2", "along2 = a2;"), ("a3", "along3 = a3;")];
        let before: Vec<(Register, Register)> =
            self.p.iter().copied().zip(self.q.iter().copied()).take(self.done).collect();
        for chunk in before.chunks(TOLD.len()) {
            let told = || TOLD.iter().zip(chunk);
            let sums: Vec<(&str, Dot)> =
                told().map(|((name, _), (_, image))| (*name, q.dot(*image))).collect();
            let text: String = told().map(|((_, text), _)| *text).collect();
            s.numbers_besides(&sums, &text, Besides::default())?;
            let less = |of: Register, from: fn(&(Register, Register)) -> Register| {
                let terms = self.along.iter().zip(chunk);
                terms.fold(of.is(of), |update, (along, pair)| update.minus(*along, from(pair)))
            };
            s.update([less(q, |pair| pair.1), less(p, |pair| pair.0)])?;
        }
        Ok(())
    }
}
