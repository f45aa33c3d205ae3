//! The one draw: state from plain values, bind, draw, count. And the clear.

use std::rc::Rc;

use glow::HasContext;
use smallvec::SmallVec;

use super::buffer::{DataBuffer, VEC4_BYTES};
use super::context::Gl;
use super::objects::Texture;
use super::program::{Program, UniformValue};
use super::state::Filter;
use super::vertices::VertexBuffer;
use crate::error::{Error, Result};
use crate::shape::Extent;

/// How a fragment meets what the target holds. Factors are ONE, ONE; blending runs in primitive order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Blend {
    #[default]
    Replace,
    Add,
    Max,
    Min,
}

/// The depth test of a pass; the primitives of texla lie at depth 0.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// No test, no depth write.
    Off,
    /// Every fragment writes its depth.
    Write,
    /// Fragments nearer than the mask pass.
    Less,
    /// Fragments farther than the mask pass.
    Greater,
    /// Fragments nearer than the mask pass and leave their own depth, from where no later one passes: the primitive
    /// lies at 0.25, and the shader discards what is to stay.
    Narrow,
}

/// What is rasterised.
#[derive(Clone, Copy)]
pub(crate) enum Area<'a> {
    /// All texels of `[x, y, width, height]`.
    Rect([i32; 4]),
    /// The texels of one row, by a line through their centres.
    Row(i32),
    /// The texels of one column, by a line through their centres.
    Column(i32),
    /// One point for each of `count` vertices from `first` on, placed in the whole target.
    Points { vertices: &'a Rc<VertexBuffer>, first: usize, count: usize },
    /// Four vertices for each of them: the corners of a rectangle, placed in the whole target.
    Splats { vertices: &'a Rc<VertexBuffer>, first: usize, count: usize },
}

impl<'a> Area<'a> {
    /// The same in draws of at most this many vertices or splats. Everything else is one draw.
    pub fn parts(self, most: usize) -> impl Iterator<Item = Area<'a>> {
        let (whole, most) = match self {
            Area::Points { count, .. } | Area::Splats { count, .. } => (count, most),
            _ => (1, 1),
        };
        (0..whole).step_by(most).map(move |at| match self {
            Area::Points { vertices, first, count } => {
                Area::Points { vertices, first: first + at, count: most.min(count - at) }
            }
            Area::Splats { vertices, first, count } => {
                Area::Splats { vertices, first: first + at, count: most.min(count - at) }
            }
            one => one,
        })
    }

    /// The viewport in which the area is drawn.
    pub fn viewport(&self, extent: Extent) -> [i32; 4] {
        let (width, height) = (extent.width as i32, extent.height as i32);
        match self {
            Area::Rect(rect) => *rect,
            // Two texels longer than the target at either end, so that no end point decides about a texel: a line
            // leaves out its last one (the diamond-exit rule), and all past the target are clipped.
            Area::Row(y) => [-2, *y, width + 4, 1],
            Area::Column(x) => [*x, -2, 1, height + 4],
            Area::Points { .. } | Area::Splats { .. } => [0, 0, width, height],
        }
    }
}

/// Textures with the samplers through which they are read, unit by unit.
pub(crate) type Inputs<'a> = SmallVec<[(&'a Texture, Filter); 8]>;

/// Values of uniforms, by their places in the interface.
pub(crate) type Uniforms = SmallVec<[(usize, UniformValue); 12]>;

/// What a uniform block reads: `vec4s` of a buffer from `first` on, at an offset that is a multiple of 256 bytes.
#[derive(Clone, Copy)]
pub(crate) struct Block<'a> {
    pub buffer: &'a DataBuffer,
    pub first: usize,
    pub vec4s: u32,
}

/// Everything a draw depends on; nothing is inherited from an earlier one.
pub(crate) struct DrawCall<'a> {
    pub name: &'a str,
    pub program: &'a Rc<Program>,
    pub targets: SmallVec<[&'a Texture; 8]>,
    pub depth_target: Option<&'a Texture>,
    pub inputs: Inputs<'a>,
    /// The uniform block at binding point 0.
    pub block: Option<Block<'a>>,
    /// Those that the program has; samplers are set for good.
    pub uniforms: &'a [(usize, UniformValue)],
    /// The last ones of the interface.
    pub params: &'a [UniformValue],
    /// The place of the first of them.
    pub first_param: usize,
    pub area: Area<'a>,
    /// How often a fragment goes round its loop, about: for how long a draw may be. `None` where the rectangle has to be one
    /// primitive.
    pub rounds: Option<u64>,
    pub blend: Blend,
    pub depth: Depth,
}

/// What a fragment without a loop counts for: the dearest of them take as long as so many rounds of the quickest loops.
const LEAST_ROUNDS: u64 = 4;

/// Rows of a rectangle that are drawn at a time, of so many rounds in all.
fn band(budget: u64, width: i32, rounds: u64) -> i32 {
    let row = u64::from(width.unsigned_abs()).saturating_mul(rounds.max(LEAST_ROUNDS)).max(1);
    let rows = i32::try_from(budget / row).unwrap_or(i32::MAX);
    // In whole tiles of the rasteriser, where there is a choice, and always in whole quads.
    if rows > 64 { rows - rows % 64 } else { (rows & !1).max(2) }
}

/// A rectangle in bands of at most so many rows, which end where quads of fragments do.
fn bands([x, y, width, height]: [i32; 4], most: i32) -> impl Iterator<Item = [i32; 4]> {
    let end = y.saturating_add(height);
    let mut at = y;
    std::iter::from_fn(move || {
        let next = if at.saturating_add(most) >= end { end } else { (at + most) & !1 };
        let band = [x, at, width, next - at];
        at = next;
        (band[3] > 0).then_some(band)
    })
}

impl Gl {
    /// Makes a framebuffer the target of draws and the source of readbacks.
    pub fn use_framebuffer(&self, framebuffer: glow::Framebuffer) {
        let mut shadow = self.shadow.borrow_mut();
        if shadow.framebuffer != Some(framebuffer) {
            self.keep_fence();
            // SAFETY: the context is current inside a scope; the framebuffer comes from the cache.
            unsafe { self.raw.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer)) };
            shadow.framebuffer = Some(framebuffer);
            self.ledger.count(|c| c.passes += 1);
        }
    }

    fn use_viewport(&self, viewport: [i32; 4]) {
        let mut shadow = self.shadow.borrow_mut();
        if shadow.viewport != Some(viewport) {
            // SAFETY: the context is current inside a scope.
            unsafe { super::state::set_viewport(self, viewport.map(|v| v as f32)) };
            shadow.viewport = Some(viewport);
        }
    }

    pub(super) fn use_vertex_array(&self, array: glow::VertexArray) {
        let mut shadow = self.shadow.borrow_mut();
        if shadow.vertex_array != Some(array) {
            // SAFETY: the context is current inside a scope; the array is alive.
            unsafe { self.raw.bind_vertex_array(Some(array)) };
            shadow.vertex_array = Some(array);
        }
    }

    pub(super) fn use_program(&self, program: &Program) {
        let mut shadow = self.shadow.borrow_mut();
        if shadow.program != Some(program.raw()) {
            // SAFETY: the context is current inside a scope; the program is linked.
            unsafe { self.raw.use_program(Some(program.raw())) };
            shadow.program = Some(program.raw());
        }
    }

    fn use_blend(&self, blend: Blend) {
        let mut shadow = self.shadow.borrow_mut();
        if shadow.blend == blend {
            return;
        }
        let equation = match blend {
            Blend::Replace => None,
            Blend::Add => Some(glow::FUNC_ADD),
            Blend::Max => Some(glow::MAX),
            Blend::Min => Some(glow::MIN),
        };
        // SAFETY: the context is current inside a scope, whose entry has set the factors and put the rest aside.
        unsafe {
            match equation {
                None => self.raw.disable(glow::BLEND),
                Some(equation) => {
                    self.raw.enable(glow::BLEND);
                    self.raw.blend_equation(equation);
                }
            }
        }
        shadow.blend = blend;
    }

    fn use_depth(&self, depth: Depth) {
        let mut shadow = self.shadow.borrow_mut();
        if shadow.depth == Some(depth) {
            return;
        }
        // SAFETY: the context is current inside a scope; all of this is in the state table.
        unsafe {
            if depth == Depth::Off {
                self.raw.disable(glow::DEPTH_TEST);
            } else {
                self.raw.enable(glow::DEPTH_TEST);
                self.raw.depth_func(match depth {
                    Depth::Less | Depth::Narrow => glow::LESS,
                    Depth::Greater => glow::GREATER,
                    _ => glow::ALWAYS,
                });
            }
            self.raw.depth_mask(matches!(depth, Depth::Write | Depth::Narrow));
        }
        shadow.depth = Some(depth);
    }

    /// # Safety
    /// The context is current inside a scope, and whatever the vertex array reads holds the vertices asked for.
    unsafe fn draw_vertices(&self, array: glow::VertexArray, mode: u32, first: i32, count: i32) {
        self.use_vertex_array(array);
        // SAFETY: the caller's.
        unsafe { self.raw.draw_arrays(mode, first, count) };
    }

    /// Sets how fragments meet the targets.
    pub(super) fn use_modes(&self, colours: usize, blend: Blend, depth: Depth) {
        self.set_colour_writes(colours, colours > 0);
        self.use_blend(blend);
        self.use_depth(depth);
    }

    /// The bands of a rectangle whose fragments go round their loops so often.
    pub(super) fn bands_of(
        &self,
        rect: [i32; 4],
        rounds: Option<u64>,
    ) -> impl Iterator<Item = [i32; 4]> + use<> {
        let budget = u64::from(self.caps.borrow().rounds_a_draw);
        bands(rect, rounds.map_or(i32::MAX, |rounds| band(budget, rect[2], rounds)))
    }

    /// Draws the bands of a rectangle with the state as it is. Needs an open scope.
    pub(super) fn rasterise_bands(&self, bands: impl Iterator<Item = [i32; 4]>, depth: Depth) {
        // One triangle that covers the viewport: no diagonal along which a quad's two would be rasterised twice.
        let first = if depth == Depth::Narrow { 7 } else { 0 };
        for band in bands {
            self.use_viewport(band);
            // SAFETY: the context is current inside a scope; program, framebuffer and vertex array are complete, and the
            // array reads nothing.
            unsafe { self.draw_vertices(self.vertex_array, glow::TRIANGLES, first, 3) };
        }
    }

    /// Draws anything but a rectangle, for targets of this extent, with the state as it is. Needs an open scope.
    pub(super) fn rasterise(&self, area: &Area<'_>, extent: Extent) -> Result<()> {
        self.use_viewport(area.viewport(extent));
        let own = self.vertex_array;
        // SAFETY: the context is current inside a scope; program, framebuffer and vertex array are complete, and the
        // attribute buffers hold the vertices asked for.
        unsafe {
            match area {
                Area::Rect(_) => {}
                Area::Row(_) => self.draw_vertices(own, glow::LINES, 3, 2),
                Area::Column(_) => self.draw_vertices(own, glow::LINES, 5, 2),
                Area::Points { vertices, first, count } => {
                    vertices.advance(0, 0)?;
                    self.draw_vertices(vertices.array(), glow::POINTS, *first as i32, *count as i32);
                }
                Area::Splats { vertices, first, count } => {
                    vertices.advance(1, *first)?;
                    self.use_vertex_array(vertices.array());
                    self.raw.draw_arrays_instanced(glow::TRIANGLE_STRIP, 0, 4, *count as i32);
                }
            }
        }
        Ok(())
    }

    /// Draws, and writes it down where a trace is open. Needs an open scope.
    pub fn draw(&self, call: &DrawCall<'_>) -> Result<()> {
        let drawn = self.draw_once(call);
        if self.tracing.get() {
            match &drawn {
                Ok(extent) => self.record_draw(call, *extent),
                Err(_) => self.refuse_recording("a draw that failed"),
            }
        }
        drawn.map(drop)
    }

    /// Draws for targets of the extent that it returns.
    fn draw_once(&self, call: &DrawCall<'_>) -> Result<Extent> {
        for (i, (input, _)) in call.inputs.iter().enumerate() {
            let is_target = |t: &&Texture| t.raw() == input.raw();
            if call.targets.iter().any(is_target) || call.depth_target.as_ref().is_some_and(is_target) {
                return Err(Error::Feedback { kernel: call.name.to_owned(), input: format!("input {i}") });
            }
        }
        let Some(extent) = call.targets.first().copied().or(call.depth_target).map(|t| t.extent()) else {
            return Ok(Extent::new(0, 0));
        };
        let framebuffer = match (call.targets.as_slice(), call.depth_target) {
            ([target], None) => self.framebuffer_of(target, call.name)?,
            (targets, depth) => {
                let colours = targets.iter().map(|t| t.raw());
                self.framebuffer(colours, depth.map(|t| t.raw()), call.name)?
            }
        };
        self.use_framebuffer(framebuffer);
        self.use_modes(call.targets.len(), call.blend, call.depth);
        self.use_program(call.program);
        for (i, (input, filter)) in call.inputs.iter().enumerate() {
            self.bind_unit(i as u32, input.raw(), *filter);
        }
        if let Some(Block { buffer, first, vec4s }) = call.block {
            let range = [first * VEC4_BYTES, vec4s as usize * VEC4_BYTES];
            self.bind_range(glow::UNIFORM_BUFFER, 0, buffer.raw(), range)?;
        }
        call.uniforms.iter().for_each(|(slot, value)| call.program.set(*slot, value));
        for (slot, value) in (call.first_param..).zip(call.params) {
            call.program.set(slot, value);
        }
        self.wait_for_inputs(call.program);
        match call.area {
            Area::Rect(rect) => self.rasterise_bands(self.bands_of(rect, call.rounds), call.depth),
            _ => self.rasterise(&call.area, extent)?,
        }
        self.ledger.count(|c| c.draws += 1);
        self.check_work(call.name)?;
        Ok(extent)
    }

    /// Fills a float texture with one value in all channels, and writes it down where a trace is open. Needs an open scope.
    pub fn clear(&self, target: &Texture, value: [f32; 4], what: &'static str) -> Result<()> {
        let done = self.clear_raw(target.raw(), value, what);
        if self.tracing.get() {
            match done {
                Ok(()) => self.record_clear(target, value, what),
                Err(_) => self.refuse_recording("a clear that failed"),
            }
        }
        done
    }

    pub(super) fn clear_raw(&self, target: glow::Texture, value: [f32; 4], what: &'static str) -> Result<()> {
        let framebuffer = self.framebuffer([target], None, what)?;
        self.use_framebuffer(framebuffer);
        self.set_colour_writes(1, true);
        // SAFETY: the context is current inside a scope, with scissor off and colour writes on.
        unsafe { self.raw.clear_buffer_f32_slice(glow::COLOR, 0, &value) };
        self.ledger.count(|c| c.clears += 1);
        self.check_work(what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_keep_the_budget_and_whole_quads() {
        // 2^19 rounds: 2^17 texels, or fewer where each has more to do.
        assert_eq!(band(1 << 19, 1000, 1), 128);
        assert_eq!(band(1 << 19, 100, 1000), 4);
        assert_eq!(band(1 << 19, 1 << 20, 1), 2);
        assert_eq!(band(1 << 19, 1, u64::MAX), 2);
        assert_eq!(band(1 << 25, 1000, 1), 8384);
        assert_eq!(band(1 << 25, 0, 0), 1 << 25);
        let cut = |rect, most| bands(rect, most).collect::<Vec<_>>();
        assert_eq!(cut([1, 0, 5, 7], 4), [[1, 0, 5, 4], [1, 4, 5, 3]]);
        // From an odd row on the first one is shorter.
        assert_eq!(cut([0, 3, 5, 8], 4), [[0, 3, 5, 3], [0, 6, 5, 4], [0, 10, 5, 1]]);
        assert_eq!(cut([0, 3, 5, 1], 2), [[0, 3, 5, 1]]);
        assert_eq!(cut([0, 0, 5, 0], 2), [[0; 4]; 0]);
        assert_eq!(cut([0, 1, 5, i32::MAX - 1], i32::MAX).len(), 1);
    }
}
