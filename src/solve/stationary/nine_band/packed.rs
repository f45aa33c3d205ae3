//! Four unknowns of a row in a texel, several rows a fragment.

use super::schedule::{BANDS, PACKED_ROWS, packed_width};
use super::{OP, Weights};
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Format, Source, glsl};
use crate::host::NineBands;
use crate::kernel::{Draw, Operand, PingPong, PooledTexture, View};
use crate::shape::Extent;

/// The matrix, made ready.
pub(super) struct PackedSweeps {
    device: Device,
    side: usize,
    rows: u32,
    keep: f32,
    /// `ω D⁻¹ (A - D)`: for each fragment eight texels for each of its rows.
    bands: PooledTexture,
    /// `ω D⁻¹`: for each fragment a texel for each of its rows.
    weights: PooledTexture,
}

/// An iterate: row `rows y + k` of the grid is row y of texture k; and `ω D⁻¹ b`.
pub(super) struct PackedState {
    x: PingPong<Vec<PooledTexture>>,
    c: PooledTexture,
}

impl PackedSweeps {
    pub fn new(
        op: &'static str,
        device: &Device,
        a: &NineBands,
        weights: &Weights,
        rows: u32,
    ) -> Result<Self> {
        if !PACKED_ROWS.contains(&rows) {
            let (name, value) = ("rows", rows.to_string());
            return Err(Error::Parameter { op: OP, name, value, expected: "1, 2, 4 or 8" });
        }
        let buffers = device.gl().caps.borrow().max_draw_buffers;
        if rows > buffers {
            let why = format!("it needs {rows} draw buffers, the device has {buffers}");
            return Err(Error::Unsupported { what: format!("{OP} with {rows} rows a fragment"), why });
        }
        a.check_row_ends(op)?;
        let side = a.side();
        // Sides are at most 2^15.
        let wide = |parts: usize| {
            let width = apart(device, packed_width(side, rows, parts) as u32);
            device.texture(Extent::new(width, (side as u32).div_ceil(rows)), Format::Rgba32F, OP)
        };
        let (bands, inverse) = (wide(BANDS)?, wide(1)?);
        let mut records = vec![0.0f32; bands.texture().extent().area() as usize * 4];
        let mut diagonal = vec![0.0f32; inverse.texture().extent().area() as usize * 4];
        let others = (0..9).filter(|k| *k != NineBands::DD);
        for (slot, k) in others.enumerate() {
            for (i, (value, d)) in a.band(k).iter().zip(a.band(NineBands::DD)).enumerate() {
                let at = place(i, side, rows as usize, &bands, (BANDS, slot));
                if let Some(entry) = records.get_mut(at) {
                    *entry = (weights.omega * value / d) as f32;
                }
            }
        }
        for (i, value) in weights.inverse.iter().enumerate() {
            if let Some(entry) = diagonal.get_mut(place(i, side, rows as usize, &inverse, (1, 0))) {
                *entry = *value;
            }
        }
        device.gl().upload(bands.texture(), bytemuck::cast_slice(&records), OP)?;
        device.gl().upload(inverse.texture(), bytemuck::cast_slice(&diagonal), OP)?;
        let keep = (1.0 - weights.omega) as f32;
        Ok(PackedSweeps { device: device.clone(), side, rows, keep, bands, weights: inverse })
    }

    /// The draw of one of the kernels here.
    fn draw<'a>(&'a self, source: Source<'static>) -> Draw<'a> {
        Draw::new(&self.device, source)
    }

    /// What all of them know, behind what they know of their own.
    fn run(&self, draw: Draw<'_>) -> Result<()> {
        draw.define("ROWS", self.rows).define("ALIGNED", self.side.is_multiple_of(4)).run()
    }

    fn extent(&self) -> Extent {
        let side = self.side as u32;
        Extent::new(apart(&self.device, side.div_ceil(4)), side.div_ceil(self.rows))
    }

    fn side(&self) -> i32 {
        self.side as i32
    }

    /// An iterate for `A x = b`, from `x` or from zero.
    pub fn start(&self, x: Option<&Vector>, b: &Vector) -> Result<PackedState> {
        let texture = |extent| self.device.texture(extent, Format::Rgba32F, OP);
        let rows = || (0..self.rows).map(|_| texture(self.extent())).collect::<Result<Vec<_>>>();
        let state =
            PackedState { x: PingPong::new(rows()?, rows()?), c: texture(self.weights.texture().extent())? };
        let weighted = self
            .draw(glsl!("jacobi/pack.frag"))
            .define("WEIGHTED", true)
            .input("v", b.view())
            .input("weight", self.view(&self.weights));
        self.run(weighted.param("side", self.side()).target(self.view(&state.c)))?;
        let Some(x) = x else {
            let clear = |t: &PooledTexture| self.device.gl().clear(t.texture(), [0.0; 4], OP);
            state.x.front().iter().try_for_each(clear)?;
            return Ok(state);
        };
        let pack = self.draw(glsl!("jacobi/pack.frag")).define("WEIGHTED", false).input("v", x.view());
        let targets = state.x.front().iter().map(|t| self.view(t));
        self.run(pack.param("side", self.side()).targets(targets))?;
        Ok(state)
    }

    pub fn sweep(&self, state: &mut PackedState) -> Result<()> {
        let mut draw = self.draw(glsl!("jacobi/packed.frag"));
        for (k, row) in state.x.front().iter().enumerate() {
            draw = draw.addressed(("x", k), self.view(row));
        }
        let targets = state.x.back().iter().map(|t| self.view(t));
        let draw = draw.addressed("c", self.view(&state.c)).addressed("w", self.view(&self.bands));
        self.run(draw.param("keep", self.keep).targets(targets))?;
        state.x.swap();
        Ok(())
    }

    /// The iterate as a folded vector.
    pub fn finish(&self, x: &mut Vector, state: &PackedState) -> Result<()> {
        let mut draw = self.draw(glsl!("jacobi/unpack.frag"));
        for (k, row) in state.x.front().iter().enumerate() {
            draw = draw.addressed(("x", k), self.view(row));
        }
        self.run(draw.param("side", self.side()).target(x.view()))
    }

    fn view<'a>(&'a self, texture: &'a PooledTexture) -> View<'a> {
        View::whole(&self.device, texture.texture())
    }
}

/// A width for rows of so many texels, such that rows above one another do not lie a power of two apart: a processor's
/// cache would keep them in the same few places. What is added holds zeros.
fn apart(device: &Device, width: u32) -> u32 {
    const LINE: u32 = 4; // texels
    let odd = LINE * (width.div_ceil(LINE) | 1);
    if odd <= device.max_texture_size() { odd } else { width }
}

/// The lane of unknown `i`, in the texel that is number `part` of the `parts` that each row of a fragment has. Texels of
/// four fragments beside one another are interleaved.
fn place(
    i: usize,
    side: usize,
    rows: usize,
    texture: &PooledTexture,
    (parts, part): (usize, usize),
) -> usize {
    let (x, y) = (i % side, i / side);
    let fragment = x / 4;
    let record = (fragment / 4 * rows + y % rows) * parts + part;
    let start = y / rows * texture.texture().extent().width as usize;
    (start + 4 * record + fragment % 4) * 4 + x % 4
}
