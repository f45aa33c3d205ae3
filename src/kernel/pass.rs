//! A pass as plain data, the kernel that it runs, and the checks in between.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use super::accessors::Fold;
use super::describe::Few;
use super::domain::{Accum, Domain, Predicate};
use super::params::mismatch;
use super::spec::{InputSpec, KernelSpec, StageSpec};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{
    Area, Blend, Block, Depth, DrawCall, Filter, Gl, Inputs, Program, ProgramSource, Texture, UniformValue,
    Uniforms,
};
use crate::shape::Extent;

/// Texels that the splats of one draw cover at most.
const fn splat_texels_a_draw(software: bool) -> u64 {
    if software { 1 << 25 } else { 1 << 26 }
}

/// A texture as a kernel sees it: the used extent and where the last element lies.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub(crate) texture: &'a Texture,
    pub(crate) device: &'a Device,
    pub(crate) extent: Extent,
    pub(crate) tail: Tail,
    /// Textures that the data is spread over, of which this is one. A kernel of a user's takes data in one alone.
    pub(crate) tiles: usize,
}

shown!(View<'_>, |view| "View({})", view.extent);

/// Where the padding lanes of a texture begin: texel `p` is at position `p . steps`, texels before `first` have four
/// lanes in use, the one there has `lanes`, later ones have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tail {
    first: usize,
    lanes: usize,
    steps: [i32; 2],
}

impl Tail {
    /// No padding.
    pub const NONE: Tail = Tail { first: i32::MAX as usize, lanes: 0, steps: [0, 0] };

    /// Of `len` elements, folded into rows of `width` texels.
    pub fn folded(len: usize, width: u32) -> Self {
        Tail { first: len / 4, lanes: len % 4, steps: [1, width as i32] }
    }

    /// Of columns with `rows` elements each.
    pub fn columns(rows: usize) -> Self {
        Tail { first: rows / 4, lanes: rows % 4, steps: [0, 1] }
    }

    /// Lanes up to the last one in use, counted texel by texel and row by row.
    fn end(self, extent: Extent) -> u64 {
        let (all, used) = (4 * extent.area(), 4 * self.first as u64 + self.lanes as u64);
        match self.steps {
            [0, 0] => all,
            // What the last texel of a column has in use, the last one of all has.
            [0, _] => all.saturating_sub((4 * u64::from(extent.height)).saturating_sub(used)),
            _ => all.min(used),
        }
    }

    /// As shaders are told: first, lanes, steps.
    pub fn uniform(self) -> UniformValue {
        // Positions are those of texels, which fit.
        let int = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
        UniformValue::IVec4([int(self.first), int(self.lanes), self.steps[0], self.steps[1]])
    }
}

impl<'a> View<'a> {
    /// All of a texture, without padding.
    pub(crate) fn whole(device: &'a Device, texture: &'a Texture) -> Self {
        View { texture, device, extent: texture.extent(), tail: Tail::NONE, tiles: 1 }
    }

    /// The lower left part of a texture.
    pub(crate) fn part(device: &'a Device, texture: &'a Texture, extent: Extent) -> Self {
        View { texture, device, extent, tail: Tail::NONE, tiles: 1 }
    }

    /// The extent in texels.
    pub fn extent(&self) -> Extent {
        self.extent
    }
}

/// Data that a kernel can read.
pub trait Operand {
    /// The data as a kernel sees it.
    fn view(&self) -> View<'_>;
}

/// Data that a kernel can write. The exclusive borrow makes reading and writing one texture a compile error.
pub trait TargetOperand: Operand {
    /// The data as a target.
    fn target(&mut self) -> View<'_> {
        self.view()
    }
}

/// A kernel with the programs compiled from it so far: one for each way in which inputs lie against targets.
pub(crate) struct Compiled {
    spec: KernelSpec,
    // Not the device: that keeps the kernels of texla's own, and the two would keep each other alive.
    gl: Gl,
    programs: RefCell<Vec<(Vec<Fold>, Rc<Program>)>>,
    /// For each input whether it has to be as long as the target.
    pub(super) read_by_target: Vec<bool>,
    /// The same kernel where it adds, or keeps the larger or the smaller, without blending.
    pub(super) combining: [OnceCell<Box<Compiled>>; 3],
}

impl Compiled {
    /// Checks the interface. Nothing is compiled yet.
    pub fn new(device: &Device, spec: KernelSpec) -> Result<Self> {
        spec.check(&device.gl().caps.borrow())?;
        let read_by_target = spec.read_by_target();
        Ok(Self::unchecked(spec, device.gl().clone(), read_by_target))
    }

    pub(super) fn unchecked(spec: KernelSpec, gl: Gl, read_by_target: Vec<bool>) -> Self {
        Compiled { spec, gl, programs: RefCell::default(), read_by_target, combining: Default::default() }
    }

    pub fn spec(&self) -> &KernelSpec {
        &self.spec
    }

    pub fn gl(&self) -> &Gl {
        &self.gl
    }

    /// The program for these folds, compiled on first use.
    pub fn program(&self, folds: impl Iterator<Item = Fold> + Clone) -> Result<Rc<Program>> {
        let known = |(held, _): &&(Vec<Fold>, _)| held.iter().copied().eq(folds.clone());
        if let Some((_, program)) = self.programs.borrow().iter().find(known) {
            return Ok(Rc::clone(program));
        }
        let folds: Vec<Fold> = folds.collect();
        let spec = &self.spec;
        let attributes: Vec<_> =
            spec.stage.attributes().iter().map(|(name, attribute)| (name.as_str(), *attribute)).collect();
        let program = Rc::new(Program::new(
            &self.gl,
            &ProgramSource {
                name: &spec.name,
                vertex: spec.vertex_stage(&folds),
                fragment: spec.fragment_stage(&folds),
                uniforms: spec.uniforms(),
                attributes: &attributes,
                captured: &[],
            },
        )?);
        self.programs.borrow_mut().push((folds, Rc::clone(&program)));
        Ok(program)
    }
}

/// What a kernel is run on: its targets, inputs and parameters, the domain, and how fragments meet the targets.
pub(super) struct Said<'a> {
    pub targets: Vec<View<'a>>,
    pub inputs: Vec<View<'a>>,
    pub block: Option<Block<'a>>,
    pub params: Few<UniformValue>,
    pub domain: Domain<'a>,
    pub accum: Accum,
    pub predicate: Predicate<'a>,
    /// How often a fragment goes round its loop, about.
    pub rounds: u64,
}

impl Default for Said<'_> {
    fn default() -> Self {
        Said {
            targets: Vec::with_capacity(2),
            inputs: Vec::with_capacity(8),
            block: None,
            params: Few::new(),
            domain: Domain::Full,
            accum: Accum::Replace,
            predicate: Predicate::Always,
            rounds: 1,
        }
    }
}

/// What to draw: a kernel, and on what.
pub(super) struct Pass<'a> {
    pub kernel: &'a Compiled,
    pub said: Box<Said<'a>>,
}

impl<'a> std::ops::Deref for Pass<'a> {
    type Target = Said<'a>;

    fn deref(&self) -> &Said<'a> {
        &self.said
    }
}

impl<'a> Pass<'a> {
    fn fail(&self, detail: String) -> Error {
        Error::Interface { kernel: self.kernel.spec.name.clone(), detail }
    }

    /// What can be wrong with the inputs, found before GL is touched.
    pub(super) fn check_inputs(&self) -> Result<()> {
        let spec = &self.kernel.spec;
        if let Some(detail) = mismatch(&spec.params, self.params.iter()) {
            return Err(self.fail(detail));
        }
        if self.inputs.len() != spec.inputs.len() {
            let names: Vec<_> = spec.inputs.iter().map(|i| i.name.as_str()).collect();
            let (found, wanted) = (self.inputs.len(), names.join(", "));
            return Err(self.fail(format!("{found} inputs given, expected {}: {wanted}", names.len())));
        }
        for (view, input) in self.inputs.iter().zip(&spec.inputs) {
            if !view.device.gl().same(&self.kernel.gl) {
                return Err(Error::WrongDevice { op: spec.name.clone(), operand: input.name.clone() });
            }
            self.check_tiles(view, &input.name)?;
        }
        Ok(())
    }

    /// A kernel sees one texture of each operand.
    pub(super) fn check_tiles(&self, view: &View<'_>, operand: &str) -> Result<()> {
        if view.tiles == 1 {
            return Ok(());
        }
        Err(Error::Unsupported {
            what: format!("kernel `{}`", self.kernel.spec.name),
            why: format!(
                "`{operand}` lies in {} textures, past the texture size of the device; expected one",
                view.tiles
            ),
        })
    }

    /// Refuses inputs that end before the part of the target that is drawn, if the body reads them by its texels.
    fn check_lengths(&self, extent: Extent, tail: Tail, viewport: [i32; 4]) -> Result<()> {
        // Lines are longer than the target.
        let [x, y, width, height] = viewport;
        let [right, top] = [(x + width, extent.width), (y + height, extent.height)]
            .map(|(end, side)| u64::try_from(end).unwrap_or(0).min(u64::from(side)));
        let drawn = 4 * (top.saturating_sub(1) * u64::from(extent.width) + right);
        if width == 0 || height == 0 {
            return Ok(());
        }
        let needed = tail.end(extent).min(drawn);
        let inputs = self.inputs.iter().zip(&self.kernel.spec.inputs).zip(&self.kernel.read_by_target);
        for ((input, spec), by_target) in inputs {
            // A single number stands for as many as there are: a scalar.
            let found = input.tail.end(input.extent);
            if *by_target && found < needed && found != 1 {
                let name = &spec.name;
                return Err(self.fail(format!(
                    "input `{name}` has {found} elements, expected at least the target's {needed} where it is read by \
                     `{name}(p)` or `{name}_here()`; `{name}_at`, `{name}_texel` and `{name}_element` read any"
                )));
            }
        }
        Ok(())
    }

    /// What can be wrong with the targets, and with both together.
    fn check_targets(&self) -> Result<Extent> {
        let spec = &self.kernel.spec;
        let name = || spec.name.clone();
        let outputs = match &spec.stage {
            StageSpec::Fragment { outputs, .. } => outputs.len(),
            StageSpec::Points { .. } | StageSpec::Splats { .. } => 1,
            StageSpec::Condition(_) => 0,
        };
        if self.targets.len() != outputs {
            return Err(self.fail(format!("{} targets given, expected {outputs}", self.targets.len())));
        }
        if self.targets.iter().any(|t| !t.device.gl().same(&self.kernel.gl)) {
            return Err(Error::WrongDevice { op: name(), operand: "target".into() });
        }
        for target in &self.targets {
            self.check_tiles(target, "target")?;
        }
        for (input, spec_input) in self.inputs.iter().zip(&spec.inputs) {
            if self.targets.iter().any(|t| t.texture.raw() == input.texture.raw()) {
                return Err(Error::Feedback { kernel: name(), input: spec_input.name.clone() });
            }
        }
        let twice = |(i, t): (usize, &View<'_>)| {
            self.targets.iter().take(i).any(|o| o.texture.raw() == t.texture.raw())
        };
        if self.targets.iter().enumerate().any(twice) {
            return Err(self.fail("two of the targets are one texture, expected different ones".into()));
        }
        if self.targets.iter().any(|t| !t.texture.is_writable()) {
            let what = format!("kernel `{}`", spec.name);
            return Err(Error::Unsupported {
                what,
                why: "a texture borrowed from the host is read-only".into(),
            });
        }
        if !self.blends() && !matches!(spec.stage, StageSpec::Fragment { .. }) {
            return Err(self.unblended());
        }
        let Some(first) = self.targets.first() else { return Err(self.fail("a pass needs a target".into())) };
        if self.targets.iter().any(|t| t.extent != first.extent) {
            return Err(self.fail("the targets differ in extent".into()));
        }
        Ok(first.extent)
    }

    fn area(&self, extent: Extent) -> Result<Area<'a>> {
        let outside = |what, at: u32, bound: u32| {
            (at >= bound).then_some(Error::IndexOutOfRange {
                what,
                index: at as usize,
                bound: bound as usize,
            })
        };
        let (stage, domain) = (&self.kernel.spec.stage, &self.domain);
        if matches!(stage, StageSpec::Points { .. }) != matches!(domain, Domain::Points(_)) {
            return Err(self.fail("points and only points go with a points kernel".into()));
        }
        if matches!(stage, StageSpec::Splats { .. }) != matches!(domain, Domain::Splats(_)) {
            return Err(self.fail("splats and only splats go with a splat kernel".into()));
        }
        let lines = self.kernel.gl.caps.borrow().exact_lines;
        let (w, h) = (extent.width as i32, extent.height as i32);
        Ok(match self.domain {
            Domain::Full => Area::Rect([0, 0, w, h]),
            Domain::Rect { x, y, width, height } => {
                if x.checked_add(width).is_none_or(|r| r > extent.width)
                    || y.checked_add(height).is_none_or(|t| t > extent.height)
                {
                    let what =
                        format!("rectangle {width}x{height} at ({x}, {y}) leaves the target of {extent}");
                    return Err(self.fail(what));
                }
                Area::Rect([x, y, width, height].map(|v| v as i32))
            }
            Domain::Row(y) => match outside("row", y, extent.height) {
                Some(e) => return Err(e),
                None if lines => Area::Row(y as i32),
                None => Area::Rect([0, y as i32, w, 1]),
            },
            Domain::Column(x) => match outside("column", x, extent.width) {
                Some(e) => return Err(e),
                None if lines => Area::Column(x as i32),
                None => Area::Rect([x as i32, 0, 1, h]),
            },
            Domain::Points(points) => {
                points.check(self.kernel)?;
                Area::Points { vertices: points.buffer(), first: 0, count: points.len() }
            }
            Domain::Splats(points) => {
                points.check(self.kernel)?;
                Area::Splats { vertices: points.buffer(), first: 0, count: points.len() }
            }
        })
    }

    /// Vertices of one draw: a long one would keep the device from everything else.
    fn most(&self, extent: Extent) -> usize {
        let caps = self.kernel.gl.caps.borrow();
        let points = caps.points_a_draw.max(1);
        match self.domain {
            Domain::Splats(_) => {
                let splats = splat_texels_a_draw(caps.software) / extent.area().max(1);
                splats.clamp(1, u64::from(points)) as usize
            }
            _ => points as usize,
        }
    }

    /// The inputs' textures with the samplers through which they are read.
    pub(super) fn sampled(&self) -> Inputs<'a> {
        let filter = |filtered| if filtered { Filter::Linear } else { Filter::Nearest };
        let specs = self.kernel.spec.inputs.iter();
        self.inputs.iter().zip(specs).map(|(view, spec)| (view.texture, filter(spec.filtered))).collect()
    }

    /// How an input lies against the target.
    fn fold(target: Extent, input: &View<'_>) -> Fold {
        let one = Extent::new(1, 1);
        match input.extent {
            e if e == target && e.width.is_power_of_two() => Fold::Same,
            e if e == one => Fold::Single,
            e if e == target => Fold::SameOfAnyWidth,
            e if e.width.is_power_of_two() => Fold::PowerOfTwo,
            _ => Fold::General,
        }
    }

    /// One draw for a target of this extent, whose texture is `whole`.
    pub(super) fn draw(
        &self,
        (extent, whole): (Extent, Extent),
        tail: Tail,
        area: Area<'_>,
        (depth_target, depth): (Option<&Texture>, Depth),
    ) -> Result<()> {
        let viewport = area.viewport(whole);
        self.check_lengths(extent, tail, viewport)?;
        let specs = self.kernel.spec.inputs.iter();
        let fold = |(input, spec): (&View<'_>, &InputSpec)| {
            if spec.addressed || spec.filtered { Fold::Addressed } else { Self::fold(extent, input) }
        };
        let folds = self.inputs.iter().zip(specs).map(fold);
        let program = self.kernel.program(folds.clone())?;
        let inverse = |e: Extent| UniformValue::Vec2([1.0 / e.width as f32, 1.0 / e.height as f32]);
        let mut uniforms = Uniforms::new();
        // In the order of `KernelSpec::uniforms`; most programs have few of them.
        let mut slot = self.inputs.len();
        let mut tell = |value: &dyn Fn() -> UniformValue| {
            if program.has(slot) {
                uniforms.push((slot, value()));
            }
            slot += 1;
        };
        for (input, fold) in self.inputs.iter().zip(folds) {
            tell(&|| inverse(input.texture.extent()));
            let width = input.extent.width;
            tell(&|| {
                UniformValue::IVec2(match fold {
                    Fold::General | Fold::SameOfAnyWidth | Fold::Addressed => [width as i32, 0],
                    _ => [width as i32 - 1, width.trailing_zeros() as i32],
                })
            });
        }
        // Points are placed in the whole texture: the viewport of a points draw is that of the framebuffer.
        tell(&|| inverse(whole));
        tell(&|| UniformValue::Int(extent.width as i32));
        tell(&|| tail.uniform());
        tell(&|| UniformValue::Int(0));
        // For splats the first of them, whose viewport is the whole texture.
        tell(&|| {
            UniformValue::IVec4(match area {
                Area::Splats { first, .. } => [first as i32, 0, 0, 0],
                _ => viewport,
            })
        });
        self.kernel.gl.draw(&DrawCall {
            name: &self.kernel.spec.name,
            program: &program,
            targets: self.targets.iter().map(|t| t.texture).collect(),
            depth_target,
            inputs: self.sampled(),
            block: self.block,
            uniforms: &uniforms,
            params: &self.params,
            first_param: slot,
            area,
            rounds: self.kernel.spec.vertex.is_none().then_some(self.rounds),
            blend: match self.accum {
                Accum::Replace => Blend::Replace,
                Accum::Add => Blend::Add,
                Accum::Max => Blend::Max,
                Accum::Min => Blend::Min,
            },
            depth,
        })
    }

    /// Runs the pass: checks, program, uniforms, one draw (of points and splats: as many as it takes).
    pub fn execute(&self) -> Result<()> {
        self.check_inputs()?;
        let extent = self.check_targets()?;
        if !self.blends() {
            return self.combine();
        }
        let first = self.targets.first();
        let (whole, tail) = first.map_or((extent, Tail::NONE), |t| (t.texture.extent(), t.tail));
        let (mask, depth) = match self.predicate {
            Predicate::Always => (None, Depth::Off),
            // The primitives lie at 0.5: less than the 0.8 of a true cell, more than the 0.2 of a false one.
            Predicate::If(mask) => (Some(mask), Depth::Less),
            Predicate::Unless(mask) => (Some(mask), Depth::Greater),
        };
        let depth_target = match mask {
            Some(mask) => Some(mask.texture_for(&self.kernel.spec.name, extent, whole, &self.kernel.gl)?),
            None => None,
        };
        let mut areas = self.area(extent)?.parts(self.most(extent));
        areas.try_for_each(|area| self.draw((extent, whole), tail, area, (depth_target, depth)))
    }
}
