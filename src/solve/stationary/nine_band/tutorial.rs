//! The rungs of the tutorial \[Goeddeke05\].

use super::schedule::{JacobiLayout, JacobiStep, LONGEST_WRAPPED};
use super::{JacobiProblem, OP, Weights};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Format, glsl};
use crate::host::NineBands;
use crate::kernel::{Domain, Draw, PingPong, PooledTexture, View};
use crate::shape::Extent;

/// Systems in textures of `side` by `side` texels.
pub(super) struct Tutorial {
    device: Device,
    layout: JacobiLayout,
    step: JacobiStep,
    side: u32,
    omega: f32,
    /// Red: (LL, LD, LU, b), (DL, DD, DU, ω / DD), (UL, UD, UU, 0). Rgba: the nine bands, b, ω / DD.
    bands: Vec<PooledTexture>,
    x: PingPong<PooledTexture>,
}

/// Where in its row an unknown lies, as the shaders count it.
#[derive(Clone, Copy)]
enum Side {
    Anywhere = 0,
    Interior = 1,
    Left = 2,
    Right = 3,
}

/// An input, what the shader calls its texel under the fragment, and the two ways to that: by interpolated coordinates or
/// by its number, as those of the neighbours.
struct Input {
    name: &'static str,
    own: &'static str,
    here: &'static str,
    fetched: &'static str,
}

macro_rules! inputs {
    ($($name:literal $own:literal),*) => {
        &[$(Input {
            name: $name,
            own: $own,
            here: concat!($name, "_here()"),
            fetched: concat!($name, "_fetched(p)"),
        }),*]
    };
}

const RED: &[Input] = inputs!("x" "X", "l" "L", "d" "D", "u" "U");
const RGBA: &[Input] = inputs!(
    "x" "X", "ll" "LL", "ld" "LD", "lu" "LU", "dl" "DL", "dd" "DD", "du" "DU", "ul" "UL", "ud" "UD", "uu" "UU", "b" "B",
    "weight" "WEIGHT"
);

impl Tutorial {
    pub fn new(
        device: &Device,
        problems: &[JacobiProblem<'_>],
        weights: &[Weights],
        layout: JacobiLayout,
        step: JacobiStep,
    ) -> Result<Self> {
        let side = problems.first().map_or(0, |p| p.a.side());
        let wraps = matches!(step, JacobiStep::OneShader | JacobiStep::Inverse);
        if wraps && side > LONGEST_WRAPPED {
            let (what, unit) = ("NineBandJacobi: one shader for all", "unknowns in a row");
            return Err(Error::TooLarge {
                what,
                requested: side as u64,
                limit: LONGEST_WRAPPED as u64,
                unit,
            });
        }
        // Sides of a grid that is held fit 32 bits.
        let extent = Extent::new(side as u32, side as u32);
        let format = if layout == JacobiLayout::Red { Format::R32F } else { Format::Rgba32F };
        let x = PingPong::new(device.texture(extent, format, OP)?, device.texture(extent, format, OP)?);
        let upload = |texture: &PooledTexture, values: &[f32]| {
            device.gl().upload(texture.texture(), bytemuck::cast_slice(values), OP)
        };
        let coefficients = |values: &[f32]| {
            let texture = device.texture(extent, Format::Rgba32F, OP)?;
            upload(&texture, values)?;
            Ok(texture)
        };
        let omega = weights.first().map_or(1.0, |w| w.omega) as f32;
        let bands: Result<Vec<_>> = match layout {
            JacobiLayout::Red => {
                let (Some(problem), Some(weights)) = (problems.first(), weights.first()) else {
                    return Err(Error::LengthMismatch { op: OP, operand: "problems", found: 0, expected: 1 });
                };
                upload(x.front(), problem.x)?;
                let a = problem.a;
                let band = |k: usize| a.band(k).iter().map(|v| *v as f32).collect::<Vec<_>>();
                let none = vec![0.0; a.len()];
                let last = [problem.b, &weights.inverse, &none];
                let texture = |(first, last): (usize, &[f32])| {
                    let [p, q, r] = [band(first), band(first + 1), band(first + 2)];
                    coefficients(&interleaved([&p, &q, &r, last]))
                };
                [NineBands::LL, NineBands::DL, NineBands::UL].into_iter().zip(last).map(texture).collect()
            }
            JacobiLayout::Rgba => {
                let four = |of: &dyn Fn(usize) -> Vec<f32>| {
                    let [p, q, r, s] = [of(0), of(1), of(2), of(3)];
                    interleaved([&p, &q, &r, &s])
                };
                let problem = |k: usize| problems.get(k).or(problems.first());
                let of =
                    |f: &dyn Fn(&JacobiProblem<'_>) -> Vec<f32>| four(&|k| problem(k).map_or(Vec::new(), f));
                upload(x.front(), &of(&|p| p.x.to_vec()))?;
                let mut all: Vec<Vec<f32>> =
                    (0..9).map(|k| of(&|p| p.a.band(k).iter().map(|v| *v as f32).collect())).collect();
                all.push(of(&|p| p.b.to_vec()));
                all.push(four(&|k| weights.get(k).map_or(Vec::new(), |w| w.inverse.clone())));
                all.iter().map(|values| coefficients(values)).collect()
            }
        };
        Ok(Tutorial { device: device.clone(), layout, step, side: side as u32, omega, bands: bands?, x })
    }

    pub fn sweep(&mut self) -> Result<()> {
        let last = self.side - 1;
        match self.step {
            JacobiStep::OneShader | JacobiStep::Inverse => self.pass(Side::Anywhere, Domain::Full)?,
            JacobiStep::ThreePass | JacobiStep::Interpolated => {
                // The ends of the rows first: what they bring into a cache the interior needs as well.
                self.pass(Side::Left, Domain::Column(0))?;
                if last > 0 {
                    self.pass(Side::Right, Domain::Column(last))?;
                }
                if last > 1 {
                    let interior = Domain::Rect { x: 1, y: 0, width: last - 1, height: self.side };
                    self.pass(Side::Interior, interior)?;
                }
            }
        }
        self.x.swap();
        Ok(())
    }

    fn pass(&self, side: Side, domain: Domain<'_>) -> Result<()> {
        let (rgba, step, relaxed) = (self.layout == JacobiLayout::Rgba, self.step, self.omega != 1.0);
        let interpolated = step == JacobiStep::Interpolated;
        let inverse = step != JacobiStep::OneShader;
        let rows = match (rgba, inverse) {
            (false, _) => RED,
            (true, false) => RGBA.get(..11).unwrap_or(RGBA),
            (true, true) => RGBA,
        };
        let view = |texture| View::whole(&self.device, PooledTexture::texture(texture));
        let mut draw = Draw::new(&self.device, glsl!("jacobi/tutorial.frag"))
            .define("RGBA", rgba)
            .define("INVERSE", inverse)
            .define("INTERPOLATED", interpolated)
            .define("SIDE", side as u8)
            .define("RELAXED(v)", if relaxed { "(omega * (v))" } else { "(v)" });
        for (texture, input) in std::iter::once(self.x.front()).chain(&self.bands).zip(rows) {
            let own = if interpolated { input.here } else { input.fetched };
            draw = draw.input(input.name, view(texture)).define(input.own, own);
        }
        let draw = draw
            .param("width", self.side as f32)
            .param("omega", self.omega)
            .param("last", self.side as i32 - 1)
            .target(view(self.x.back()))
            .on(domain);
        match interpolated {
            true => {
                let varyings = &["middles", "sides", "lows", "highs"];
                draw.interpolating(varyings, glsl!("jacobi/neighbours.vert")).run()
            }
            false => draw.run(),
        }
    }

    pub fn read(&self) -> Result<Vec<Vec<f32>>> {
        let texels = self.device.gl().read(self.x.front().texture(), OP)?;
        let systems = if self.layout == JacobiLayout::Rgba { 4 } else { 1 };
        let system = |k: usize| texels.iter().skip(k).step_by(systems).copied().collect();
        Ok((0..systems).map(system).collect())
    }
}

/// Four numbers a texel.
fn interleaved([p, q, r, s]: [&[f32]; 4]) -> Vec<f32> {
    let texels = p.iter().zip(q).zip(r.iter().zip(s));
    texels.flat_map(|((p, q), (r, s))| [*p, *q, *r, *s]).collect()
}
