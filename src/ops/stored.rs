//! Products with a matrix in the format that suits it.

use super::product::{Accurate, Checked, ExactSum, Inlined, LinOp, Part, Product, Summand};
use crate::data::{Kept, StoredMatrix, Vector};
use crate::device::Device;
use crate::error::Result;
use crate::host::{Csr, NearNullSpace};
use crate::profile::Workload;
use crate::shape::Shape;

fn inner(a: &StoredMatrix) -> &dyn LinOp {
    match a.kept() {
        Kept::Banded(m) => m.as_ref(),
        Kept::Sparse(m) => m.as_ref(),
    }
}

impl LinOp for StoredMatrix {
    fn device(&self) -> &Device {
        self.device()
    }

    fn shape(&self) -> Shape {
        self.shape()
    }

    fn is_replayable(&self) -> bool {
        true
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        inner(self).apply(y, terms)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        inner(self).apply_transposed(y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        inner(self).accurate(out, terms, part)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        inner(self).accumulate(sum, terms)
    }

    fn inlined<'a>(&'a self, pass: Inlined<'a>) -> Result<Option<Inlined<'a>>> {
        inner(self).inlined(pass)
    }

    fn accumulates(&self) -> bool {
        inner(self).accumulates()
    }

    fn workload(&self) -> Option<Workload> {
        inner(self).workload()
    }

    fn pattern(&self) -> Option<&Csr> {
        Some(self.pattern())
    }

    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        inner(self).asymmetry()
    }

    fn null_space(&self) -> &[Vector] {
        self.null_space()
    }

    fn near_null_space(&self) -> Option<&NearNullSpace> {
        self.near_null_space()
    }

    fn exponent(&self) -> Result<i32> {
        inner(self).exponent()
    }
}
