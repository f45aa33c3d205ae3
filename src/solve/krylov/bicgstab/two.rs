//! The rest of an iteration of BiCGStab(2).

use super::Run;
use crate::data::Vector;
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand};
use crate::ops::reduce::Partial;
use crate::ops::{self, Combine};
use crate::solve::drive::dots::Dots;
use crate::solve::drive::iterate::Iterate;

impl Run<'_> {
    /// Goes on from `s = r - alpha v` and `t = A M s`, with another step and the least residual that both make possible.
    pub(super) fn second(&mut self, at: &mut Iterate<'_>) -> Result<()> {
        let (device, n) = (self.reducer.device.clone(), at.b.len());
        let fresh = || Vector::uninit(&device, n);
        let (a, scale) = (at.a, at.matrix_scale);
        // beta = h.t / h.v, u = s - beta p, u1 = t - beta v
        let sums = self.reducer.sum(Dots::Omega, &[&self.t, &self.s, &self.h])?;
        self.quotient(&sums, true)?;
        let [u, u1] = [fresh()?, fresh()?];
        self.pair([&u, &u1], [&self.s, &self.t], [self.p.front(), &self.v])?;
        // u2 = A M u1, alpha2 = h.t / h.u2
        let mu = self.m.preconditioned(&mut self.mu, &u1)?;
        let mut u2 = fresh()?;
        ops::product(&mut u2, Combine::Replace, scale, a, mu)?;
        let sums = self.reducer.sum(Dots::Residual, &[&u2, &self.h])?;
        self.quotient(&sums, false)?;
        // r0 = s - alpha2 u1, r1 = t - alpha2 u2, r2 = A M r1
        let [r0, r1] = [fresh()?, fresh()?];
        self.pair([&r0, &r1], [&self.s, &self.t], [&u1, &u2])?;
        let mt = self.m.preconditioned(&mut self.mt, &r1)?;
        let mut r2 = fresh()?;
        ops::product(&mut r2, Combine::Replace, scale, a, mt)?;
        // gamma1, gamma2 of the least |r0 - gamma1 r1 - gamma2 r2|, and the next beta = h.r2 / h.u2
        let onto = self.reducer.totals(Dots::Omega, &[&r0, &r1, &r2])?;
        let sums = self.reducer.sum(Dots::Omega, &[&r2, &r1, &self.h])?;
        self.told(glsl!("solve/bicg_minimum.frag"), &sums)
            .input("onto", onto.view())
            .input("coefficients", self.coefficients.front().view())
            .targets(self.stepped())
            .run()?;
        self.step();
        // y, r and p
        let (y, r, p) = (at.y.front(), at.r.front(), self.p.front());
        Draw::new(&device, glsl!("solve/bicg_update_of_two.frag"))
            .input("y", y.view())
            .input("r", r.view())
            .input("p", p.view())
            .input("mp", self.mp.as_ref().unwrap_or(p).view())
            .input("ms", self.ms.as_ref().unwrap_or(&self.s).view())
            .input("mu", self.mu.as_ref().unwrap_or(&u1).view())
            .input("mt", self.mt.as_ref().unwrap_or(&r1).view())
            .input("u0", u.view())
            .input("u1", u1.view())
            .input("u2", u2.view())
            .input("r0", r0.view())
            .input("r1", r1.view())
            .input("r2", r2.view())
            .input("second", self.coefficients.back().view())
            .input("minimum", self.coefficients.front().view())
            .param("factor", at.x_scale())
            .targets([at.y.back().view(), at.r.back().view(), self.p.back().view()])
            .run()?;
        at.y.swap();
        at.r.swap();
        self.p.swap();
        Ok(())
    }

    fn quotient(&mut self, sums: &Partial, is_beta: bool) -> Result<()> {
        self.told(glsl!("solve/bicg_quotient.frag"), sums)
            .define("BETA", is_beta)
            .input("coefficients", self.coefficients.front().view())
            .targets(self.stepped())
            .run()?;
        self.step();
        Ok(())
    }

    /// Both of these, less the quotient times the others.
    fn pair(&self, out: [&Vector; 2], of: [&Vector; 2], less: [&Vector; 2]) -> Result<()> {
        let ([a, b], [x, y]) = (of, less);
        Draw::new(&self.reducer.device, glsl!("solve/bicg_pair.frag"))
            .input("a", a.view())
            .input("b", b.view())
            .input("x", x.view())
            .input("y", y.view())
            .input("coefficients", self.coefficients.front().view())
            .targets(out.map(Operand::view))
            .run()
    }
}
