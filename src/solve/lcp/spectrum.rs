//! The largest eigenvalue of `D⁻¹ A`, estimated on the device.

use super::partition::{Partition, Sums};
use super::table::Table;
use crate::data::Vector;
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, PingPong};
use crate::ops::{self, Combine, LinOp};

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
    let start = Draw::new(device, glsl!("lcp/start.frag")).input("inverses", inverses.view());
    partition.run(start, x.front_mut())?;
    // There is nothing before the start; any vector will do, and what is summed with it is not used.
    crate::ops::copy(x.split().1, inverses)?;
    for k in 0..POWER_STEPS {
        // w = A x
        ops::product(w.split().1, Combine::Replace, matrix_scale, a, x.front())?;
        w.swap();
        let (before, w_before) = (x.back().view(), w.back().view());
        let inputs = [x.front().view(), w.front().view(), inverses.view(), before, w_before];
        let parts = partition.sums(Sums::Power, &inputs)?;
        // λ = ‖D⁻¹ w‖ / ‖x‖ in the norm x.Dx
        let next = Table::uninit(device, partition.problems())?;
        Draw::new(device, glsl!("lcp/power.frag"))
            .input("part_a", parts.a.view())
            .input("last", state.view())
            .unsigned("ranges", partition.ranges())
            .param("step_number", k)
            .target(next.view())
            .run()?;
        state = next;
        // x = D⁻¹ w / ‖D⁻¹ w‖
        let vector = Draw::new(device, glsl!("lcp/power_vector.frag"))
            .input("w", w.front().view())
            .input("inverses", inverses.view())
            .input("spectrum", state.view());
        partition.run(vector, x.split().1)?;
        x.swap();
    }
    Ok(state)
}
