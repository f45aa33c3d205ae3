//! Passes onto targets that the device cannot blend: quads read a copy of the target, points and splats are refused.

use super::describe::Few;
use super::domain::Accum;
use super::draw::Draw;
use super::pass::{Compiled, Pass, Said, View};
use crate::error::{Error, Result};
use crate::gl::{Format, glsl};

impl Compiled {
    /// The kernel that does in its shader what blending would do. *Errors*: [`Error::Unsupported`] for more inputs, the
    /// targets among them, than the device has textures.
    fn combining(&self, accum: Accum) -> Result<&Compiled> {
        let [add, max, min] = &self.combining;
        let kept = match accum {
            Accum::Replace => return Ok(self),
            Accum::Add => add,
            Accum::Max => max,
            Accum::Min => min,
        };
        if let Some(known) = kept.get() {
            return Ok(known);
        }
        let spec = self.spec().combining(accum);
        spec.check_limits(&self.gl().caps.borrow())?;
        let mut read_by_target = self.read_by_target.clone();
        read_by_target.resize(spec.inputs.len(), false);
        Ok(kept.get_or_init(|| Box::new(Self::unchecked(spec, self.gl().clone(), read_by_target))))
    }
}

impl Pass<'_> {
    /// Whether blending does what the pass asks for. Fixed-point texels are blended by every device.
    pub(super) fn blends(&self) -> bool {
        let caps = self.kernel.gl().caps.borrow();
        let floats = match self.accum {
            Accum::Replace => true,
            Accum::Add => caps.float_blend,
            Accum::Max | Accum::Min => caps.float_min_max,
        };
        floats || self.targets.iter().all(|t| t.texture.format() == Format::Rgba8)
    }

    /// The refusal of points and splats that cannot be blended: several of them may meet on one texel.
    pub(super) fn unblended(&self) -> Error {
        let (name, accum) = (&self.kernel.spec().name, self.accum);
        let sums = match accum {
            Accum::Add => {
                "`ops::Histogram`, which counts and sums by bin; `SparseFormat::Gather` for sparse products; "
            }
            _ => "",
        };
        Error::Unsupported {
            what: format!("kernel `{name}` with Accum::{accum:?}"),
            why: format!(
                "this device cannot blend 32-bit floats. Without blending work: {sums}a `Picture` of bytes as the target; a \
                 `Kernel` with `Accum::{accum:?}`, whose body loops over the points of each texel, kept in a `Vector`; and \
                 `Accum::Replace`, where no two points meet"
            ),
        }
    }

    /// Draws a quad that reads what its targets held before. The copies cover the domain.
    pub(super) fn combine(&self) -> Result<()> {
        let kernel = self.kernel.combining(self.accum)?;
        let mut copies = Few::new();
        for target in &self.targets {
            let copy = target.device.scratch(target.extent, "copy of a target")?;
            Draw::new(target.device, glsl!("copy.frag"))
                .addressed("x", *target)
                .target(View::part(target.device, copy.texture(), target.extent))
                .on(self.domain)
                .run()?;
            copies.push((target.device, copy, target.extent));
        }
        let mut inputs = self.inputs.clone();
        inputs
            .extend(copies.iter().map(|(device, copy, extent)| View::part(device, copy.texture(), *extent)));
        let said = Said {
            targets: self.targets.clone(),
            inputs,
            block: self.block,
            params: self.params.clone(),
            domain: self.domain,
            accum: Accum::Replace,
            predicate: self.predicate,
            rounds: self.rounds,
        };
        Pass { kernel, said: Box::new(said) }.execute()
    }
}
