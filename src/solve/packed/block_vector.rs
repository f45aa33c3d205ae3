//! Vectors of repeated blocks: a texture for each quad or one for all, a texel for each block.

use std::fmt::Write;
use std::rc::Rc;

use super::BlockParams;
use super::layout::tiles;
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Format, glsl};
use crate::kernel::{Domain, Draw, Operand, PooledTexture, View};
use crate::ops::check_device;
use crate::pack::{Order, RepeatedExpression, Tiles};
use crate::profile::{Fetches, Workload};
use crate::shape::{Extent, fold_extent};

/// Which unknown of which block stands where.
#[derive(PartialEq, Eq)]
pub(super) struct Layout {
    order: Order,
    /// Unknowns in a texel.
    lanes: usize,
    /// Of a quad.
    extent: Extent,
    tiles: Option<Tiles>,
}

/// A vector in the layout of a [`BlockExpression`](super::BlockExpression), which makes it: a texture for each quad of a
/// block or one for all, in each quad a texel for every block.
///
/// A host draws from the textures without a copy: unknown i of block (x, y) is component `p % 4` of texel `origin + (x, y)` of
/// the [texture](Self::texture) of quad `p / 4`, p being `order().position(i)`; with [single](super::BlockLayout::Single) unknowns
/// the red component in the texture of quad p.
///
/// *Source*: \[Bajaj04\] section 4, Figures 11 and 12.
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{Grid, Vector, solve::{BlockExpression, BlockLayout, BlockParams}};
/// use texla::pack::{Order, RepeatedExpression, StencilBoundary::Dropped};
/// let lines = RepeatedExpression::stencil(Grid::new_2d(8, 5), 1, &[([1, 0, 0], 1.0)], [[Dropped; 2]; 3], true)?;
/// let order = Order::new(8, &[0, 3, 4, 7, 1, 2, 5, 6])?;
/// let params = BlockParams::default().with_layout(BlockLayout::Stacked);
/// let v = BlockExpression::with(dev, &lines, &order, params)?.pack(&Vector::filled(dev, 40, 1.0)?)?;
/// let p = v.order().position(2); // unknown 2 of every line: the second component of the second quad
/// let place = v.texture(p / 4).unwrap();
/// assert_eq!((p, place.origin, place.extent.width, place.extent.height), (5, [0, 1], 5, 1));
/// # Ok::<(), texla::Error>(())
/// ```
pub struct BlockVector {
    layout: Rc<Layout>,
    /// One for each quad, or one.
    pub(super) textures: Vec<PooledTexture>,
}

shown!(BlockVector, |v| "BlockVector({} quads of {})", v.layout.quads(), v.layout.extent);

/// Where a host finds a quad of every block: see [`BlockVector::texture`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockTexture {
    /// The texture: RGBA32F, or R32F for [single](super::BlockLayout::Single) unknowns.
    pub texture: glow::Texture,
    /// Width and height of all of it.
    pub whole: Extent,
    /// The texel of block (0, 0).
    pub origin: [u32; 2],
    /// Width and height in blocks, which are texels.
    pub extent: Extent,
}

impl BlockVector {
    /// The texture in which quad `quad` of every block stands, for the host to sample or draw; `None` past the last. It stays
    /// texla's: valid until the vector drops or is [iterated](super::BlockExpression::iterate), which exchanges textures
    /// among one another. Padding lanes are zero; what lies beside the rectangles of stacked quads means nothing. Sample it with a
    /// nearest filter, as [`Vector::texture`](crate::Vector::texture).
    pub fn texture(&self, quad: usize) -> Option<BlockTexture> {
        let texture = self.layout.held(&self.textures, quad)?.texture();
        let (whole, origin) = (texture.extent(), self.layout.origin(quad));
        Some(BlockTexture { texture: texture.hand_out(), whole, origin, extent: self.layout.extent })
    }

    /// The order of the unknowns of each block: four positions a quad, or one where unknowns are single; padding is at the end
    /// then.
    pub fn order(&self) -> &Order {
        &self.layout.order
    }
}

impl Layout {
    fn quads(&self) -> usize {
        if self.lanes == 1 { self.order.unknowns() } else { self.order.len() / 4 }
    }

    /// The unknowns in the four lanes of a quad; as many as there are, or more, for padding.
    fn unknowns(&self, quad: usize) -> [usize; 4] {
        let at = |lane: usize| (lane < self.lanes).then(|| self.order.at(self.lanes * quad + lane));
        std::array::from_fn(|lane| at(lane).unwrap_or(self.order.unknowns()))
    }

    /// The texel of block (0, 0) of a quad.
    fn origin(&self, quad: usize) -> [u32; 2] {
        self.tiles.map_or([0, 0], |tiles| tiles.origin(quad))
    }

    /// What is covered where a quad is drawn.
    fn domain(&self, quad: usize) -> Domain<'static> {
        match self.tiles {
            None => Domain::Full,
            Some(tiles) => {
                let ([x, y], [width, height]) = (tiles.origin(quad), tiles.size);
                Domain::Rect { x, y, width, height }
            }
        }
    }

    /// The texture of a quad.
    fn held<'a>(&self, textures: &'a [PooledTexture], quad: usize) -> Option<&'a PooledTexture> {
        match self.tiles {
            None => textures.get(quad),
            Some(_) => textures.first().filter(|_| quad < self.quads()),
        }
    }
}

/// Brings vectors into the layout and back.
pub(super) struct Packer {
    device: Device,
    layout: Rc<Layout>,
    /// The position of each unknown of a block.
    place: Vector,
}

const OP: &str = "BlockVector";

impl Packer {
    /// For an expression as it is [lowered](super::BlockLayout) and an order of the unknowns as they were.
    pub fn new(device: &Device, e: &RepeatedExpression, order: &Order, params: BlockParams) -> Result<Self> {
        let tiles = tiles(e, params.layout, device.max_texture_size())?;
        let lanes = params.layout.lanes();
        let order = if lanes == 1 { order.compact() } else { order.clone() };
        // Four lanes a quad, whether or not there is something in all of them.
        let positions =
            order.positions().iter().take(order.unknowns()).map(|&p| f64::from(p) * (4 / lanes) as f64);
        let place = Vector::from_f64(device, &positions.collect::<Vec<_>>())?;
        let layout = Rc::new(Layout { order, lanes, extent: Self::extent_of(e), tiles });
        Ok(Packer { device: device.clone(), layout, place })
    }

    /// The texels of a quad, whose sides are within the texture size.
    pub fn extent_of(e: &RepeatedExpression) -> Extent {
        let [width, height] = e.blocks().map(|side| side as u32);
        Extent::new(width, height)
    }

    pub fn extent(&self) -> Extent {
        self.layout.extent
    }

    pub fn order(&self) -> &Order {
        &self.layout.order
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn tiles(&self) -> Option<Tiles> {
        self.layout.tiles
    }

    pub fn quads(&self) -> usize {
        self.layout.quads()
    }

    /// Number of all unknowns, without padding.
    pub fn unknowns(&self) -> usize {
        self.layout.extent.area() as usize * self.layout.order.unknowns()
    }

    pub fn texture(&self) -> Result<PooledTexture> {
        let extent = match self.tiles() {
            None => self.layout.extent,
            Some(Tiles { size: [width, height], columns }) => {
                Extent::new(width * columns, height * (self.quads() as u32).div_ceil(columns))
            }
        };
        let format = if self.layout.lanes == 1 { Format::R32F } else { Format::Rgba32F };
        self.device.texture(extent, format, OP)
    }

    pub fn view<'a>(&'a self, texture: &'a PooledTexture) -> View<'a> {
        View::whole(&self.device, texture.texture())
    }

    /// The texture of a quad of `v`.
    pub fn held<'a>(&self, v: &'a BlockVector, quad: usize) -> Option<&'a PooledTexture> {
        self.layout.held(&v.textures, quad)
    }

    /// What a draw of these quads covers.
    pub fn domain(&self, quad: usize) -> Domain<'static> {
        self.layout.domain(quad)
    }

    /// A vector of textures whose texels are yet to be written.
    pub fn uninit(&self) -> Result<BlockVector> {
        let count = if self.tiles().is_some() { 1 } else { self.quads() };
        let textures: Result<_> = (0..count).map(|_| self.texture()).collect();
        Ok(BlockVector { layout: Rc::clone(&self.layout), textures: textures? })
    }

    pub fn zeros(&self) -> Result<BlockVector> {
        let made = self.uninit()?;
        let clear = |texture: &PooledTexture| self.device.gl().clear(texture.texture(), [0.0; 4], OP);
        made.textures.iter().try_for_each(clear)?;
        Ok(made)
    }

    /// The elements of `v`, those of unknown i of a block times `weight(i)`.
    pub fn pack(&self, v: &Vector, weight: impl Fn(usize) -> f32) -> Result<BlockVector> {
        let made = self.uninit()?;
        let n = self.layout.order.unknowns();
        let [most, _] = self.most();
        for first in (0..self.quads()).step_by(most) {
            let count = most.min(self.quads() - first);
            let lanes: Vec<usize> =
                (first..first + count).flat_map(|quad| self.layout.unknowns(quad)).collect();
            let targets = (first..first + count).filter_map(|quad| self.held(&made, quad));
            Draw::new(&self.device, glsl!("jacobi/blocks.frag"))
                .lines_made(quads_written, vec![count as i64])
                .input("v", v.view())
                .param("n", n as i32)
                .param("width", self.layout.extent.width as i32)
                .param("origin", self.layout.origin(first).map(|at| at as i32))
                // Never past the vector's last element.
                .ints("lanes", lanes.iter().map(|i| (*i).min(n.saturating_sub(1)) as i32).collect())
                .floats("weight", lanes.iter().map(|&i| if i < n { weight(i) } else { 0.0 }).collect())
                .targets(targets.map(|texture| self.view(texture)))
                .on(self.domain(first))
                .run()?;
        }
        Ok(made)
    }

    /// Quads that a draw of [`pack`](Self::pack) writes, and that one of [`unpack`](Self::unpack) reads.
    fn most(&self) -> [usize; 2] {
        let caps = self.device.gl().caps.borrow();
        match self.tiles() {
            Some(_) => [1, self.quads().max(1)],
            // Beside what is unpacked there are the places, and what the pass before has left.
            None => [caps.max_draw_buffers.max(1), caps.texture_units.saturating_sub(2).max(1)]
                .map(|n| n as usize),
        }
    }

    /// What packing a vector and unpacking another come to.
    pub fn workload(&self) -> Workload {
        let ([writes, reads], quads, extent) = (self.most(), self.quads(), self.extent());
        let counts = |most: usize| (0..quads).step_by(most).map(move |first| most.min(quads - first));
        let packing = counts(writes).enumerate().map(|(k, count)| {
            let fetches = Fetches::default().with_shifted((4 * count) as f64 * extent.area() as f64);
            let pass = Workload::pass(extent, count, fetches);
            // Rectangles of the same texture.
            if self.tiles().is_some() && k > 0 { pass.with_target_changes(0.0) } else { pass }
        });
        let whole = self.layout.order.unknowns().is_multiple_of(4);
        let natural = fold_extent(self.unknowns() as u64, self.device.max_texture_size()).unwrap_or(extent);
        let unpacking = counts(reads).enumerate().map(|(k, count)| {
            // Of unknowns that may be of four blocks, each is looked up by itself.
            let (lookups, picked) = if whole { (1, 4) } else { (4, 1) };
            let picked = if self.tiles().is_some() { picked } else { count };
            let texels = natural.area() as f64;
            let fetches = Fetches::default()
                .with_own(if k > 0 { texels } else { 0.0 })
                .with_shifted((lookups * (1 + picked)) as f64 * texels);
            Workload::pass(natural, 1, fetches).cut(true)
        });
        packing.chain(unpacking).sum()
    }

    /// The elements back in their natural order, times the factors: a pass for all quads whose textures can be read at once.
    pub fn unpack(&self, out: &Vector, v: &BlockVector, factors: [f32; 2]) -> Result<()> {
        let [_, most] = self.most();
        let Extent { width, height } = self.layout.extent;
        let columns = self.tiles().map_or(0, |tiles| tiles.columns);
        let mut before: Option<Vector> = None;
        let mut firsts = (0..self.quads()).step_by(most).peekable();
        while let Some(first) = firsts.next() {
            let next = firsts.peek().map(|_| Vector::uninit(&self.device, out.len())).transpose()?;
            let count = most.min(self.quads() - first);
            let textures = v.textures.iter().skip(first).take(count);
            let words = [count as u32, columns, width, height].map(i64::from).to_vec();
            Draw::new(&self.device, glsl!("jacobi/unblock.frag"))
                .masked(true)
                .define("COUNT", count as u32)
                .define("CONTINUED", before.is_some())
                .define("SCALED", next.is_none() && factors != [1.0; 2])
                .define("WHOLE", self.layout.order.unknowns().is_multiple_of(4))
                .lines_made(picked, words)
                .input("place", self.place.view())
                .input_if("before", before.as_ref().map(Operand::view))
                .inputs("x", textures.map(|texture| self.view(texture)))
                .param("factors", factors)
                .param("n", self.layout.order.unknowns() as i32)
                .param("first", 4 * first as i32)
                .param("last", self.unknowns() as i32 - 1)
                .param("width", width as i32)
                .target(next.as_ref().unwrap_or(out).view())
                .run()?;
            before = next;
        }
        Ok(())
    }

    /// Copies a quad from one texture to another.
    pub fn copy(&self, quad: usize, from: &PooledTexture, to: &PooledTexture) -> Result<()> {
        Draw::new(&self.device, glsl!("elementwise/table.frag"))
            .define("OP_COPY", 1u8)
            .define("A_ON_DEVICE", false)
            .define("B_ON_DEVICE", false)
            .input("x", self.view(from))
            .target(self.view(to))
            .on(self.domain(quad))
            .run()
    }

    /// Refuses a vector of another layout.
    pub fn check(&self, op: &'static str, operand: &'static str, v: &BlockVector) -> Result<()> {
        if v.layout != self.layout {
            let expected = "a vector of this expression's blocks, in this order and layout";
            return Err(Error::Parameter { op, name: operand, value: format!("{v:?}"), expected });
        }
        v.textures.iter().try_for_each(|texture| check_device(op, operand, texture.device(), &self.device))
    }
}

/// The kernel that writes so many quads.
fn quads_written(words: &[i64]) -> String {
    let count = words.first().copied().unwrap_or_default();
    let start = "vec4 quad(ivec2 p, int k);\n";
    if count == 1 {
        return format!("{start}vec4 kernel(ivec2 p) {{ return quad(p, 0); }}");
    }
    let outputs: Vec<String> = (0..count).map(|k| format!("out vec4 y{k}")).collect();
    let written: String = (0..count).map(|k| format!("    y{k} = quad(p, {k});\n")).collect();
    format!("{start}void kernel(ivec2 p, {}) {{\n{written}}}", outputs.join(", "))
}

/// `picked(at, q, before)`: what stands at four positions of block q, in so many textures; or in the rectangles of one, so many
/// beside one another. Of textures each is fetched once, and positions in none of them are `before`.
fn picked(words: &[i64]) -> String {
    let word = |k: usize| words.get(k).copied().unwrap_or_default();
    let mut text =
        "vec4 picked(ivec4 at, ivec2 q, vec4 before) {\n    ivec4 k = at >> 2, l = at & 3;\n".to_owned();
    match (word(0), word(1)) {
        (count, 0) => {
            text.push_str("    vec4 t;\n");
            for k in 0..count {
                let _ = writeln!(
                    text,
                    "    t = x{k}_at(q);\n    \
                     before = mix(before, vec4(t[l.x], t[l.y], t[l.z], t[l.w]), equal(k, ivec4({k})));"
                );
            }
            text + "    return before;\n}"
        }
        (_, columns) => {
            let [width, height] = [word(2), word(3)];
            let lane = |i: char| {
                format!(
                    "x0_at(q + ivec2({width}, {height}) * ivec2(k.{i} % {columns}, k.{i} / {columns}))[l.{i}]"
                )
            };
            text + &format!("    return vec4({});\n}}", ['x', 'y', 'z', 'w'].map(lane).join(", "))
        }
    }
}
