//! Four unknowns of a row in a texel, several rows a fragment.

use std::rc::Rc;

use super::schedule::{BANDS, PACKED_ROWS, packed_width};
use super::{OP, Weights};
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Format, UniformValue, glsl};
use crate::host::NineBands;
use crate::kernel::{Compiled, Field, KernelSpec, Operand, ParamType, Pass, PingPong, PooledTexture, View};
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

const X: [&str; 8] = ["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"];
const OUT: [&str; 8] = ["o0", "o1", "o2", "o3", "o4", "o5", "o6", "o7"];

/// The names for the rows of a fragment.
fn first<'a>(names: &'a [&'a str; 8], rows: u32) -> &'a [&'a str] {
    names.get(..rows as usize).unwrap_or(names)
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

    fn kernel(&self, what: &str, describe: impl FnOnce() -> KernelSpec) -> Result<Rc<Compiled>> {
        let aligned = u8::from(self.side.is_multiple_of(4));
        let rows = self.rows;
        self.device.kernel(&format!("jacobi {what} {rows} {aligned}"), || {
            describe().with(&format!("#define ROWS {rows}\n#define ALIGNED {aligned}"))
        })
    }

    fn extent(&self) -> Extent {
        let side = self.side as u32;
        Extent::new(apart(&self.device, side.div_ceil(4)), side.div_ceil(self.rows))
    }

    fn side(&self) -> Vec<UniformValue> {
        vec![UniformValue::Int(self.side as i32)]
    }

    /// An iterate for `A x = b`, from `x` or from zero.
    pub fn start(&self, x: Option<&Vector>, b: &Vector) -> Result<PackedState> {
        let texture = |extent| self.device.texture(extent, Format::Rgba32F, OP);
        let rows = || (0..self.rows).map(|_| texture(self.extent())).collect::<Result<Vec<_>>>();
        let state =
            PackedState { x: PingPong::new(rows()?, rows()?), c: texture(self.weights.texture().extent())? };
        let side = [Field { name: "side", kind: i32::KIND }];
        let weighted = self.kernel("weighted", || {
            KernelSpec::fragment(glsl!("jacobi/pack.frag"), &["v", "weight"], &side, &["out"])
                .with("#define WEIGHTED 1")
        })?;
        let inputs = vec![b.view(), self.view(&self.weights)];
        let pass = Pass::new(&weighted, vec![self.view(&state.c)], inputs);
        self.device.execute(&pass.params(self.side()))?;
        let Some(x) = x else {
            let clear = |t: &PooledTexture| self.device.gl().clear(t.texture(), [0.0; 4], OP);
            state.x.front().iter().try_for_each(clear)?;
            return Ok(state);
        };
        let pack = self.kernel("pack", || {
            KernelSpec::fragment(glsl!("jacobi/pack.frag"), &["v"], &side, first(&OUT, self.rows))
                .with("#define WEIGHTED 0")
        })?;
        let targets = state.x.front().iter().map(|t| self.view(t)).collect();
        self.device.execute(&Pass::new(&pack, targets, vec![x.view()]).params(self.side()))?;
        Ok(state)
    }

    pub fn sweep(&self, state: &mut PackedState) -> Result<()> {
        let kernel = self.kernel("packed", || {
            let names = [first(&X, self.rows), &["c", "w"]].concat();
            let fields = [Field { name: "keep", kind: f32::KIND }];
            KernelSpec::fragment(glsl!("jacobi/packed.frag"), &names, &fields, first(&OUT, self.rows))
                .addressed(&names)
        })?;
        let view = |t| self.view(t);
        let inputs = state.x.front().iter().chain([&state.c, &self.bands]).map(view).collect();
        let targets = state.x.back().iter().map(view).collect();
        self.device
            .execute(&Pass::new(&kernel, targets, inputs).params(vec![UniformValue::Float(self.keep)]))?;
        state.x.swap();
        Ok(())
    }

    /// The iterate as a folded vector.
    pub fn finish(&self, x: &mut Vector, state: &PackedState) -> Result<()> {
        let kernel = self.kernel("unpack", || {
            let fields = [Field { name: "side", kind: i32::KIND }];
            let names = first(&X, self.rows);
            KernelSpec::fragment(glsl!("jacobi/unpack.frag"), names, &fields, &["out"]).addressed(names)
        })?;
        let inputs = state.x.front().iter().map(|t| self.view(t)).collect();
        self.device.execute(&Pass::new(&kernel, vec![x.view()], inputs).params(self.side()))
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
