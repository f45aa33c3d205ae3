//! The passes of a cycle.

use super::hierarchy::{Level, Transfer};
use crate::data::{Stencil, Vector};
use crate::error::Result;
use crate::gl::{UniformKind, UniformValue, glsl};
use crate::kernel::{Field, FieldType, KernelSpec, Operand, ParamType, Pass};
use crate::ops::grid::{GRID_FIELDS, defines, grid_params, links, operator_fields, operator_params};

/// A uniform that `transfer.glsl` and the kernels around it read.
const CELLS: fn(&'static str) -> Field = |name| Field { name, kind: <[i32; 4]>::KIND };

impl Transfer {
    /// Which axes are coarsened, and whether rows of both grids are whole texels.
    fn defines(&self, fine: &Stencil) -> String {
        let mut text: String = ["X", "Y", "Z"]
            .iter()
            .zip(self.coarse)
            .map(|(axis, coarse)| format!("#define COARSE_{axis} {}\n", u8::from(coarse)))
            .collect();
        let fast = matches!(self.coarse, [true, ..]) && fine.grid().nx.is_multiple_of(8);
        text.push_str(&format!("#define FAST_X {}\n", u8::from(fast)));
        text
    }

    fn ends(&self) -> UniformValue {
        UniformValue::Floats(self.ends.as_flattened().iter().map(|v| *v as f32).collect())
    }
}

/// Weight `k` of `count` whose sweeps damp the eigenvalues of `D⁻¹ A` from `low` to 2 best: the roots of a Chebyshev
/// polynomial.
fn omega(low: f64, k: usize, count: usize) -> f32 {
    let (centre, half) = ((2.0 + low) / 2.0, (2.0 - low) / 2.0);
    let angle = std::f64::consts::PI * (2 * k + 1) as f64 / (2 * count) as f64;
    (1.0 / (centre + half * angle.cos())) as f32
}

impl Level {
    /// The smallest eigenvalue of `D⁻¹ A` that the next grid does not see: half the highest frequency along one axis.
    fn low(&self) -> f64 {
        let shift = self.a.shift();
        let all = shift + 2.0 * self.a.weights().iter().sum::<f64>();
        let coarse = self.transfer.as_ref().map_or([true; 3], |t| t.coarse);
        let weights = self.a.weights().into_iter().zip(coarse).filter(|(w, c)| *c && *w > 0.0);
        let weakest = weights.fold(f64::INFINITY, |m, (w, _)| m.min(w));
        if weakest.is_finite() { (shift + 2.0 * weakest) / all } else { 1.0 }
    }

    /// Improves `x` by sweeps; the first needs no `x` where that is zero.
    pub fn sweep(&self, x: &mut Vector, b: &Vector, count: usize, from_zero: bool) -> Result<()> {
        let a = &self.a;
        let device = a.device();
        let low = self.low();
        let mut next = Vector::uninit(device, x.len())?;
        for k in 0..count {
            let start = from_zero && k == 0;
            let defines = format!("{}#define FROM_ZERO {}\n", defines(a), u8::from(start));
            // From zero `x` is not looked at, but named in functions that the include holds.
            let kernel = device.kernel(&format!("multigrid sweep {defines}"), || {
                let mut inputs = vec!["x", "b"];
                inputs.extend(links(a).map(|_| "links"));
                let mut fields = operator_fields();
                fields.push(Field { name: "omega", kind: f32::KIND });
                KernelSpec::fragment(glsl!("multigrid/sweep.frag"), &inputs, &fields, &["out"])
                    .with(&defines)
                    .masked()
            })?;
            let mut inputs = vec![if start { b.view() } else { x.view() }, b.view()];
            inputs.extend(links(a));
            let mut params = operator_params(a);
            params.push(UniformValue::Float(omega(low, k, count)));
            device.execute(&Pass::new(&kernel, vec![next.view()], inputs).params(params))?;
            std::mem::swap(x, &mut next);
        }
        Ok(())
    }

    /// `r = S (b - A x)`.
    pub fn residual(&self, r: &mut Vector, transfer: &Transfer, x: &Vector, b: &Vector) -> Result<()> {
        let a = &self.a;
        let device = a.device();
        let defines = format!("{}{}", defines(a), transfer.defines(a));
        let kernel = device.kernel(&format!("multigrid residual {defines}"), || {
            let mut inputs = vec!["x", "b"];
            inputs.extend(links(a).iter().flat_map(|_| ["links", "scales"]));
            let mut fields = operator_fields();
            fields.push(Field { name: "ends", kind: FieldType(UniformKind::Floats(9)) });
            KernelSpec::fragment(glsl!("multigrid/residual.frag"), &inputs, &fields, &["out"])
                .with(&defines)
                .masked()
        })?;
        let mut inputs = vec![x.view(), b.view()];
        inputs.extend(links(a));
        inputs.extend(transfer.scales.as_ref().map(Operand::view));
        let mut params = operator_params(a);
        params.push(transfer.ends());
        device.execute(&Pass::new(&kernel, vec![r.view()], inputs).params(params))
    }

    /// The coarser grid's right-hand side, from a residual that has been scaled.
    pub fn restrict(&self, b: &mut Vector, transfer: &Transfer, coarser: &Level, r: &Vector) -> Result<()> {
        let device = self.a.device();
        let defines = format!("{}{}", defines(&coarser.a), transfer.defines(&self.a));
        let kernel = device.kernel(&format!("multigrid restrict {defines}"), || {
            let mut inputs = vec!["x"];
            inputs.extend(links(&coarser.a).map(|_| "links"));
            let mut fields = GRID_FIELDS.to_vec();
            fields.push(CELLS("fine"));
            KernelSpec::fragment(glsl!("multigrid/restrict.frag"), &inputs, &fields, &["out"])
                .with(&defines)
                .masked()
        })?;
        let mut inputs = vec![r.view()];
        inputs.extend(links(&coarser.a));
        let mut params = grid_params(&coarser.a).to_vec();
        params.extend(grid_params(&self.a).into_iter().take(1));
        device.execute(&Pass::new(&kernel, vec![b.view()], inputs).params(params))
    }

    /// `x = x + S B e`.
    pub fn correct(&self, x: &mut Vector, transfer: &Transfer, coarser: &Level, e: &Vector) -> Result<()> {
        let a = &self.a;
        let device = a.device();
        let defines = format!("{}{}#define INTERPOLATES\n", defines(a), transfer.defines(a));
        let kernel = device.kernel(&format!("multigrid correct {defines}"), || {
            let mut inputs = vec!["x", "e"];
            inputs.extend(links(a).iter().flat_map(|_| ["links", "scales"]));
            let mut fields = GRID_FIELDS.to_vec();
            fields.push(CELLS("coarse"));
            fields.push(Field { name: "ends", kind: FieldType(UniformKind::Floats(9)) });
            KernelSpec::fragment(glsl!("multigrid/correct.frag"), &inputs, &fields, &["out"])
                .with(&defines)
                .masked()
        })?;
        let mut inputs = vec![x.view(), e.view()];
        inputs.extend(links(a));
        inputs.extend(transfer.scales.as_ref().map(Operand::view));
        let mut params = grid_params(a).to_vec();
        params.extend(grid_params(&coarser.a).into_iter().take(1));
        params.push(transfer.ends());
        let mut next = Vector::uninit(device, x.len())?;
        device.execute(&Pass::new(&kernel, vec![next.view()], inputs).params(params))?;
        std::mem::swap(x, &mut next);
        Ok(())
    }
}
