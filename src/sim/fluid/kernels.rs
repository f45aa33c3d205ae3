//! How the fluid's kernels are named, compiled and run.

use crate::data::Vector;
use crate::device::Device;
use crate::error::{Result, check_finite};
use crate::gl::{Source, UniformKind, UniformValue};
use crate::kernel::{Field, FieldType, KernelSpec, Operand, Pass, View};
use crate::shape::Grid;

/// Where a scalar lives, as an axis that is none.
pub(super) const CELLS: usize = 3;

/// A parameter of a kernel.
pub(super) type Parameter = (&'static str, UniformKind, UniformValue);

pub(super) fn number(name: &'static str, value: f64) -> Parameter {
    (name, UniformKind::Float, UniformValue::Float(value as f32))
}

pub(super) fn triple(name: &'static str, value: [f64; 3]) -> Parameter {
    (name, UniformKind::Vec3, UniformValue::Vec3(value.map(|v| v as f32)))
}

/// The grid and its sides, as every kernel of the fluid's sees them.
pub(super) struct Space {
    pub cells: Grid,
    pub ghosts: Vec<f32>,
}

/// One draw: what a kernel reads beside `cells` and `ghosts`.
pub(super) struct Draw<'a> {
    pub source: Source<'static>,
    /// Where `f`, `g` and the target live: across an axis, or in [`CELLS`].
    pub axis: usize,
    pub inputs: Vec<(&'static str, &'a Vector)>,
    pub params: Vec<Parameter>,
    /// More `#define`s.
    pub defines: String,
}

impl Space {
    /// Axes along which there is more than one layer of cells, at least two.
    pub fn dimensions(&self) -> usize {
        if self.cells.nz > 1 { 3 } else { 2 }
    }

    /// Runs a kernel on all of its targets. Refuses parameters that are no finite floats.
    pub fn draw(&self, device: &Device, targets: Vec<View<'_>>, draw: &Draw<'_>) -> Result<()> {
        let Draw { source, axis, inputs, params, defines } = draw;
        for (name, _, value) in params {
            let what = || format!("{}: parameter `{name}`", source.name);
            match value {
                UniformValue::Float(v) => check_finite(&what(), [f64::from(*v)])?,
                UniformValue::Vec3(v) => check_finite(&what(), v.map(f64::from))?,
                _ => {}
            }
        }
        let has = |name: &str| u8::from(inputs.iter().any(|(n, _)| *n == name));
        let defines = format!(
            "#define DIMENSIONS {}\n#define F_AXIS {axis}\n#define HAS_VELOCITY {}\n#define HAS_F {}\n\
             #define HAS_G {}\n{defines}",
            self.dimensions(),
            has("u"),
            has("f"),
            has("g"),
        );
        let cells = self.cells.sides().map(|n| i32::try_from(n).unwrap_or(i32::MAX));
        let ghosts = UniformKind::Floats(self.ghosts.len() as u32);
        let mut all = vec![
            ("cells", UniformKind::IVec3, UniformValue::IVec3(cells)),
            ("ghosts", ghosts, UniformValue::Floats(self.ghosts.clone())),
        ];
        all.extend(params.iter().cloned());
        let names: Vec<_> = inputs.iter().map(|(name, _)| *name).collect();
        let key = format!("{} {names:?} {} {defines}", source.name, targets.len());
        let kernel = device.kernel(&key, || {
            let fields: Vec<_> =
                all.iter().map(|(name, kind, _)| Field { name, kind: FieldType(*kind) }).collect();
            let outputs: Vec<_> = ["out0", "out1", "out2", "out3"].into_iter().take(targets.len()).collect();
            KernelSpec::fragment(*source, &names, &fields, &outputs).with(&defines).masked()
        })?;
        let views = inputs.iter().map(|(_, vector)| vector.view()).collect();
        let values = all.into_iter().map(|(_, _, value)| value).collect();
        device.execute(&Pass::new(&kernel, targets, views).params(values))
    }
}
