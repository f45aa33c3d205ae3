//! A host that draws, and whether its pictures are the same with texla at work between its calls.
#![allow(unsafe_code)]

use glow::HasContext;
use texla::gl::Api;
use texla::host::problems;
use texla::solve::{CgParams, ConjugateGradient};
use texla::{BandedMatrix, Device, Result, Vector, ops};

use crate::common::harness::headless;
use crate::common::hostile::hosts_program;

const SIDE: i32 = 96;
const FRAMES: usize = 6;
const VERTEX: &str = "uniform float turn; flat out float shade;
    void main() {
        float corner = float(gl_VertexID % 3) * 2.1 + turn + float(gl_VertexID / 3);
        shade = float(gl_VertexID / 3) * 0.09 + 0.1;
        gl_Position = vec4(cos(corner), sin(corner), shade - 0.5, 1.0);
    }";
const FRAGMENT: &str = "flat in float shade; out vec4 colour;
    void main() { colour = vec4(shade, gl_FragCoord.x / 96.0, gl_FragCoord.z, 0.6); }";

/// Pixels of the host's pictures; how many of them differ once it says `glFinish` between its calls; and how many of those that do
/// differ where texla works there instead. Softpipe blends in floats and rounds to bytes when something makes it write them out.
pub fn pixels(api: Api) -> Result<[usize; 3]> {
    let context = headless(api);
    let gl = context.glow();
    // SAFETY: the context is current, and what is made in it is deleted in it.
    let [without, finishing, with] = unsafe {
        let scene = Scene::new(&gl);
        let without = scene.frames(&mut || Ok(()))?;
        let finishing = scene.frames(&mut || {
            gl.finish();
            Ok(())
        })?;
        let guest = Guest::new(context.device())?;
        let with = scene.frames(&mut || guest.works())?;
        drop(guest);
        scene.delete();
        [without, finishing, with]
    };
    let differ =
        |others: &[u8]| finishing.chunks(4).zip(others.chunks(4)).filter(|(one, other)| one != other).count();
    // A picture of nothing would be alike as well.
    let shades: std::collections::BTreeSet<_> = without.chunks(4).collect();
    let all = without.len() / 4;
    Ok([all, differ(&without), if shades.len() > 100 { differ(&with) } else { all }])
}

/// Something to do between a host's calls: a draw, a reduction that is read, a solve.
struct Guest {
    a: BandedMatrix,
    b: Vector,
}

impl Guest {
    fn new(dev: &Device) -> Result<Self> {
        let a = BandedMatrix::from_csr(dev, problems::poisson_2d(9, 7).to_csr())?;
        Ok(Guest { a, b: Vector::filled(dev, 63, 0.5)? })
    }

    fn works(&self) -> Result<()> {
        let mut x = Vector::zeros(self.b.device(), 63)?;
        ops::axpy(&mut x, 0.5, &self.b, &self.b)?;
        ops::norm2(&x)?.read()?;
        ConjugateGradient::new(&self.a, CgParams::default())?.solve(&mut x, &self.b).map(drop)
    }
}

/// Turning triangles, blended, with a depth buffer and a scissor box.
struct Scene<'a> {
    gl: &'a glow::Context,
    program: glow::Program,
    array: glow::VertexArray,
    target: glow::Framebuffer,
    buffers: [glow::Renderbuffer; 2],
}

impl<'a> Scene<'a> {
    /// # Safety
    /// The context is current.
    unsafe fn new(gl: &'a glow::Context) -> Self {
        // SAFETY: the caller's.
        unsafe {
            let program = hosts_program(gl, VERTEX, FRAGMENT, &[]);
            let array = gl.create_vertex_array().expect("a vertex array");
            let target = gl.create_framebuffer().expect("a framebuffer");
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(target));
            let buffers =
                [(glow::RGBA8, glow::COLOR_ATTACHMENT0), (glow::DEPTH_COMPONENT24, glow::DEPTH_ATTACHMENT)]
                    .map(|(format, place)| {
                        let buffer = gl.create_renderbuffer().expect("a renderbuffer");
                        gl.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
                        gl.renderbuffer_storage(glow::RENDERBUFFER, format, SIDE, SIDE);
                        gl.framebuffer_renderbuffer(
                            glow::FRAMEBUFFER,
                            place,
                            glow::RENDERBUFFER,
                            Some(buffer),
                        );
                        buffer
                    });
            gl.use_program(Some(program));
            gl.bind_vertex_array(Some(array));
            gl.viewport(0, 0, SIDE, SIDE);
            gl.enable(glow::DEPTH_TEST);
            gl.enable(glow::BLEND);
            gl.blend_func(glow::SRC_ALPHA, glow::ONE_MINUS_SRC_ALPHA);
            gl.clear_color(0.2, 0.1, 0.3, 1.0);
            gl.clear(glow::COLOR_BUFFER_BIT); // what the box will leave out
            gl.color_mask(true, true, false, true);
            gl.enable(glow::SCISSOR_TEST);
            gl.scissor(3, 5, SIDE - 7, SIDE - 11);
            Scene { gl, program, array, target, buffers }
        }
    }

    /// Draws without setting its state again, which is what a guest must not change.
    ///
    /// # Safety
    /// The context is current.
    unsafe fn frames(&self, between: &mut dyn FnMut() -> Result<()>) -> Result<Vec<u8>> {
        let gl = self.gl;
        let mut all = Vec::new();
        for frame in 0..FRAMES {
            // SAFETY: the caller's; the pixels have room.
            unsafe {
                gl.clear(glow::COLOR_BUFFER_BIT | glow::DEPTH_BUFFER_BIT);
                between()?;
                let turn = gl.get_uniform_location(self.program, "turn");
                gl.uniform_1_f32(turn.as_ref(), frame as f32 * 0.3);
                for triangle in 0..8 {
                    gl.draw_arrays(glow::TRIANGLES, 3 * triangle, 3);
                    if triangle % 3 == 1 {
                        between()?;
                    }
                }
                let mut pixels = vec![0; (4 * SIDE * SIDE) as usize];
                let into = glow::PixelPackData::Slice(Some(&mut pixels));
                gl.read_pixels(0, 0, SIDE, SIDE, glow::RGBA, glow::UNSIGNED_BYTE, into);
                all.extend(pixels);
            }
        }
        Ok(all)
    }

    /// # Safety
    /// The context is current.
    unsafe fn delete(self) {
        let gl = self.gl;
        // SAFETY: the caller's; nothing uses them any more.
        unsafe {
            gl.use_program(None);
            gl.bind_vertex_array(None);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            gl.delete_program(self.program);
            gl.delete_vertex_array(self.array);
            gl.delete_framebuffer(self.target);
            self.buffers.iter().for_each(|buffer| gl.delete_renderbuffer(*buffer));
        }
    }
}
