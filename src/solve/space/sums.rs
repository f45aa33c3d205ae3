//! Inner products in one reduction.

use super::reads::Reads;
use super::{Dot, Space};
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::Draw;
use crate::ops::ReducePlan;
use crate::ops::reduce::{Partial, Stage, Windowed};
use crate::profile::{Fetches, Workload};
use crate::solve::drive::dots::InlinedProduct;

impl Space<'_, '_> {
    /// How many sums a reduction has room for.
    pub(super) fn sums_at_once(&self) -> usize {
        if self.own.wide { 2 } else { 4 }
    }

    /// Sums of products, no more than one reduction has room for, but for the last window. `None` where nothing is drawn.
    pub(in crate::solve) fn sums(&mut self, dots: &[Dot]) -> Result<Option<Partial>> {
        let mut reads = Reads::default();
        let mut terms = Vec::new();
        for Dot(a, b) in dots {
            let (a, b) = (reads.of(self, *a)?, reads.of(self, *b)?);
            terms.push(format!("dotted({a}, {b})"));
        }
        let room = self.sums_at_once();
        let zero = if self.own.wide { "vec2(0.0)" } else { "0.0" };
        terms.resize(room, zero.to_owned());
        let Some(Dot(first, _)) = dots.first() else { return Ok(None) };
        let (extent, reducer) = (self.extent_of(first.register)?, &self.own.reducer);
        let (factor, count) = (reads.factor(self)?, reads.count(self)?);
        let plan = match factor {
            None => ReducePlan::on(&reducer.device, extent, reducer.windows(), count),
            Some(_) => ReducePlan::of_products(extent, reducer.windows()),
        };
        if self.own.counted.is_some() {
            let product = if factor.is_some() { self.at.a.workload() } else { None };
            let first = plan.stages().first().map_or(extent, |stage| stage.target);
            let mut work = plan.workload_to_a_window(count + usize::from(factor.is_some()));
            if let Some(product) = product {
                // In a window nothing lies under the fragment.
                let Fetches { own, adjacent, .. } = product.fetches;
                let summed = product.fetches.with_own(0.0).with_adjacent(own + adjacent);
                work = work
                    + Workload::default().fetching(first, summed).with_multiply_adds(product.multiply_adds);
            }
            self.own.counted = self.own.counted.map(|counted| counted + work);
            return Ok(None);
        }
        let mut loads = reads.loads(self, "at(c)", ["IN_RANGE(", ")"])?;
        if reads.product.is_some() {
            loads.push_str("Texel t_q = IN_RANGE(product(c)); ");
        }
        let inputs = reads.inputs(self)?;
        let inlined = factor.map(|register| self.source(register)).transpose()?.map(|source| source.high);
        let terms = terms.join(", ");
        let wide = self.own.wide;
        let (a, alpha) = (self.at.a, self.matrix_scale());
        let first = |_: &Stage| {
            let mut draw = Draw::new(&reducer.device, glsl!("solve/sums.frag")).define("WIDE", wide);
            if let Some(d) = inlined {
                draw = InlinedProduct { a, alpha, d }.in_draw(draw, inputs.len() + 1)?;
            }
            let draw = draw.written(&[("LOADS", &loads), ("TERMS", &terms)]);
            let draw = inputs.iter().fold(draw, |draw, (name, view)| draw.input(*name, *view));
            Ok(reducer.in_units(draw))
        };
        let combine = if wide { "OP_PAIRS" } else { "OP_SUM" };
        let stages =
            Windowed { device: &reducer.device, op: "inner products", plan: &plan, combine, first: &first };
        stages.to_a_window().map(Some)
    }
}
