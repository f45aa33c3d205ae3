//! The evaluator of models that have no better one.

use super::{Axis, CostModel, Evaluator};
use crate::error::Result;
use crate::pack::{Form, LinearExpression, Packing};

/// An evaluator for any cost model: prices every swap from scratch.
///
/// *Cost*: of a swap, that of [`CostModel::price`]. The models of this crate have incremental ones.
#[derive(Clone, Debug)]
pub struct Recount<M: CostModel> {
    model: M,
    expression: LinearExpression,
    packing: Packing,
    cost: M::Cost,
    last: Option<(Axis, usize, usize, M::Cost)>,
}

impl<M: CostModel> Recount<M> {
    /// Starts at `packing`.
    ///
    /// *Errors*: as [`CostModel::cost`].
    pub fn new(model: M, e: &LinearExpression, packing: &Packing) -> Result<Self> {
        let cost = model.cost(e, packing)?;
        Ok(Self { model, expression: e.clone(), packing: packing.clone(), cost, last: None })
    }
}

impl<M: CostModel> Evaluator for Recount<M> {
    type Cost = M::Cost;

    fn cost(&self) -> M::Cost {
        self.cost
    }

    fn swap(&mut self, axis: Axis, p: usize, q: usize) -> M::Cost {
        // What works in place has one order.
        let axis = if self.expression.form() == Form::GaussSeidel { Axis::Both } else { axis };
        self.last = Some((axis, p, q, self.cost));
        self.packing.swap(axis, p, q);
        self.cost = self.model.price(&self.expression, &self.packing);
        self.cost
    }

    fn undo(&mut self) {
        if let Some((axis, p, q, cost)) = self.last.take() {
            self.packing.swap(axis, p, q);
            self.cost = cost;
        }
    }

    fn packing(&self) -> Packing {
        self.packing.clone()
    }
}
