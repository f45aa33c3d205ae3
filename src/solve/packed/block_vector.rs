//! Vectors of repeated blocks: a texture for each quad, a texel for each block.

use std::fmt::Write;
use std::rc::Rc;

use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Format, glsl};
use crate::kernel::{Draw, Operand, PooledTexture, View};
use crate::ops::check_device;
use crate::pack::{Order, RepeatedExpression};
use crate::shape::Extent;

/// Which unknown of which block stands where.
#[derive(PartialEq, Eq)]
pub(super) struct Layout {
    order: Order,
    extent: Extent,
}

/// A vector in the layout of a [`BlockExpression`](super::BlockExpression), which makes it: a texture for each quad of a
/// block, in each a texel for every block.
///
/// *Source*: \[Bajaj04\] section 4, Figures 11 and 12.
pub struct BlockVector {
    layout: Rc<Layout>,
    pub(super) quads: Vec<PooledTexture>,
}

shown!(BlockVector, |v| "BlockVector({} quads of {})", v.quads.len(), v.layout.extent);

/// Brings vectors into the layout and back.
pub(super) struct Packer {
    device: Device,
    layout: Rc<Layout>,
    /// The position of each unknown of a block.
    place: Vector,
}

const OP: &str = "BlockVector";

impl Packer {
    pub fn new(device: &Device, e: &RepeatedExpression, order: &Order) -> Result<Self> {
        let limit = device.max_texture_size();
        if let Some(&side) = e.blocks().iter().find(|&&side| side > limit as usize) {
            let (what, unit) = ("BlockVector", "blocks in one direction");
            return Err(Error::TooLarge { what, requested: side as u64, limit: u64::from(limit), unit });
        }
        // Sides within the texture size.
        let [width, height] = e.blocks().map(|side| side as u32);
        let layout = Rc::new(Layout { order: order.clone(), extent: Extent::new(width, height) });
        let positions = order.positions().iter().take(order.unknowns());
        let place = Vector::from_f64(device, &positions.map(|&p| f64::from(p)).collect::<Vec<_>>())?;
        Ok(Packer { device: device.clone(), layout, place })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Number of all unknowns, without padding.
    pub fn unknowns(&self) -> usize {
        self.layout.extent.area() as usize * self.layout.order.unknowns()
    }

    pub fn texture(&self) -> Result<PooledTexture> {
        self.device.texture(self.layout.extent, Format::Rgba32F, OP)
    }

    pub fn view<'a>(&'a self, texture: &'a PooledTexture) -> View<'a> {
        View::whole(&self.device, texture.texture())
    }

    fn vector(&self, fill: impl Fn(usize, &PooledTexture) -> Result<()>) -> Result<BlockVector> {
        let filled = |quad| {
            let texture = self.texture()?;
            fill(quad, &texture)?;
            Ok(texture)
        };
        let quads: Result<_> = (0..self.layout.order.len() / 4).map(filled).collect();
        Ok(BlockVector { layout: Rc::clone(&self.layout), quads: quads? })
    }

    pub fn zeros(&self) -> Result<BlockVector> {
        self.vector(|_, texture| self.device.gl().clear(texture.texture(), [0.0; 4], OP))
    }

    /// The elements of `v`, those of unknown i of a block times `weight(i)`.
    pub fn pack(&self, v: &Vector, weight: impl Fn(usize) -> f32) -> Result<BlockVector> {
        self.vector(|quad, texture| {
            let lanes: [usize; 4] = std::array::from_fn(|lane| self.layout.order.at(4 * quad + lane));
            Draw::new(&self.device, glsl!("jacobi/blocks.frag"))
                .input("v", v.view())
                .param("n", self.layout.order.unknowns() as i32)
                .param("lanes", lanes.map(|i| i as i32))
                .param("weight", lanes.map(&weight))
                .target(self.view(texture))
                .run()
        })
    }

    /// The elements back in their natural order: a pass for all quads whose textures can be read at once.
    pub fn unpack(&self, out: &Vector, v: &BlockVector) -> Result<()> {
        // Beside them there are the places, and what the pass before has left.
        let most = self.device.gl().caps.borrow().texture_units.saturating_sub(2).max(1) as usize;
        let mut before: Option<Vector> = None;
        let mut groups = v.quads.chunks(most).zip((0..).step_by(4 * most)).peekable();
        while let Some((quads, first)) = groups.next() {
            let next = groups.peek().map(|_| Vector::uninit(&self.device, out.len())).transpose()?;
            Draw::new(&self.device, glsl!("jacobi/unblock.frag"))
                .masked(true)
                .define("COUNT", quads.len() as u32)
                .define("CONTINUED", before.is_some())
                .lines_made(pick, vec![quads.len() as i64])
                .input("place", self.place.view())
                .input_if("before", before.as_ref().map(Operand::view))
                .inputs("x", quads.iter().map(|texture| self.view(texture)))
                .param("n", self.layout.order.unknowns() as i32)
                .param("first", first)
                .param("last", self.unknowns() as i32 - 1)
                .param("width", self.layout.extent.width as i32)
                .target(next.as_ref().unwrap_or(out).view())
                .run()?;
            before = next;
        }
        Ok(())
    }

    /// Refuses a vector of another layout.
    pub fn check(&self, op: &'static str, operand: &'static str, v: &BlockVector) -> Result<()> {
        if v.layout != self.layout {
            let expected = "a vector of this expression's blocks in this order";
            return Err(Error::Parameter { op, name: operand, value: format!("{v:?}"), expected });
        }
        v.quads.iter().try_for_each(|texture| check_device(op, operand, texture.device(), &self.device))
    }
}

/// `pick(k, q)`: texel q of one of so many textures.
fn pick(words: &[i64]) -> String {
    let count = words.first().copied().unwrap_or_default();
    let mut text = "vec4 pick(int k, ivec2 q) {\n".to_owned();
    for k in 1..count {
        let _ = writeln!(text, "    if (k == {k}) return x{k}_at(q);");
    }
    text + "    return x0_at(q);\n}"
}
