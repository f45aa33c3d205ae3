//! The largest eigenvalue of `D⁻¹ A`, estimated on the device.

use super::partition::{INT, Partition, Sums};
use super::table::Table;
use crate::data::Vector;
use crate::error::Result;
use crate::gl::{UniformValue, glsl};
use crate::kernel::{KernelSpec, Operand, Pass, PingPong};
use crate::ops::Combine;
use crate::solve::linop::LinOp;

/// Products of the power iteration. Twice as many bring the estimate a few percent nearer.
pub(super) const POWER_STEPS: i32 = 16;

/// For each problem (estimate of the largest eigenvalue, _, asymmetry, _), see `glsl/lcp/power.frag`.
///
/// *Cost*: [`POWER_STEPS`] products, each with a reduction and two more draws; no readback.
pub(super) fn estimate(
    a: &dyn LinOp,
    matrix_scale: f32,
    inverses: &Vector,
    partition: &Partition,
) -> Result<Table> {
    let device = partition.device();
    let _scope = device.scope()?;
    let fresh = || Vector::uninit(device, inverses.len());
    let mut x = PingPong::new(fresh()?, fresh()?);
    let mut w = PingPong::new(Vector::zeros(device, inverses.len())?, fresh()?);
    let mut state = Table::filled(device, partition.problems(), [0.0; 4])?;
    let start = partition.kernel("lcp start", || {
        KernelSpec::fragment(glsl!("lcp/start.frag"), &["inverses"], &[], &["out"])
    })?;
    partition.run(&start, x.front_mut(), vec![inverses.view()], Vec::new())?;
    // There is nothing before the start; any vector will do, and what is summed with it is not used.
    crate::ops::copy(x.split().1, inverses)?;
    let step = device.kernel("lcp power", || {
        let source = glsl!("lcp/power.frag");
        KernelSpec::fragment(source, &["part_a", "last"], &[INT("step_number")], &["next"])
            .with_unsigned("ranges")
    })?;
    let vector = partition.kernel("lcp power vector", || {
        let source = glsl!("lcp/power_vector.frag");
        KernelSpec::fragment(source, &["w", "inverses", "spectrum"], &[], &["out"])
    })?;
    for k in 0..POWER_STEPS {
        a.product(w.split().1, Combine::Replace, matrix_scale, x.front())?;
        w.swap();
        let (before, w_before) = (x.back().view(), w.back().view());
        let inputs = vec![x.front().view(), w.front().view(), inverses.view(), before, w_before];
        let parts = partition.sums(Sums::Power, inputs)?;
        let next = Table::uninit(device, partition.problems())?;
        let inputs = vec![parts.a.view(), state.view(), partition.ranges()];
        let params = vec![UniformValue::Int(k)];
        device.execute(&Pass::new(&step, vec![next.view()], inputs).params(params))?;
        state = next;
        let inputs = vec![w.front().view(), inverses.view(), state.view()];
        partition.run(&vector, x.split().1, inputs, Vec::new())?;
        x.swap();
    }
    Ok(state)
}
