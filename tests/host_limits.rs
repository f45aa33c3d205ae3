//! Where being a guest ends: what a host deletes, and what GL does not give back.
#![allow(unsafe_code)]

mod common;

use std::num::NonZeroU32;

use common::egl::loader;
use common::harness::{headless, limits, on_both};
use common::hostile::hosts_program;
use glow::HasContext;
use texla::gl::Api;
use texla::host::problems;
use texla::kernel::{NoParams, VertexKernel};
use texla::ops::{self, Histogram};
use texla::solve::{CgParams, ConjugateGradient};
use texla::{BandedMatrix, BufferVector, Device, DeviceOptions, Error, Result, Vector};

const VERTEX: &str = "void main() { gl_Position = vec4(0.0); }";

/// A program lives on as long as it is in use, and no longer: after texla's draws it could not be used again.
#[test]
fn a_program_in_its_last_use_is_refused() {
    // SAFETY: in all of these the context is current.
    let delete = |gl: &glow::Context, program| unsafe { gl.delete_program(program) };
    let link_in_vain = |gl: &glow::Context, program| unsafe {
        // There is no such output to capture.
        gl.transform_feedback_varyings(program, &["absent"], glow::INTERLEAVED_ATTRIBS);
        gl.link_program(program);
        assert!(!gl.get_program_link_status(program));
    };
    type Spoil<'a> = &'a dyn Fn(&glow::Context, glow::NativeProgram);
    let ways: [(&str, Spoil<'_>); 2] = [("has deleted", &delete), ("in vain", &link_in_vain)];
    on_both(|dev| {
        let gl = dev.glow();
        let mut x = Vector::from_slice(dev, &[1.0, 2.0]).unwrap();
        for (word, spoil) in ways {
            ops::fill(&mut x, 1.0).unwrap();
            // SAFETY: the context is current.
            unsafe {
                let program = hosts_program(&gl, VERTEX, "out vec4 c; void main() { c = vec4(1.0); }", &[]);
                gl.use_program(Some(program));
                ops::scale(&mut x, 2.0).unwrap();
                spoil(&gl, program);
                for _ in 0..2 {
                    let refused = ops::scale(&mut x, 2.0);
                    let named =
                        matches!(&refused, Err(Error::Unsupported { what, .. }) if what.contains(word));
                    assert!(named, "{word}: {refused:?}");
                    assert!(gl.is_program(program), "it is still there");
                    assert_eq!(gl.get_parameter_i32(glow::CURRENT_PROGRAM) as u32, program.0.get());
                }
                gl.use_program(None);
                if gl.is_program(program) {
                    gl.delete_program(program);
                }
                assert_eq!(gl.get_error(), glow::NO_ERROR, "{word}");
            }
            ops::scale(&mut x, 2.0).unwrap();
            assert_eq!(x.read().unwrap(), [4.0, 4.0]);
        }
    });
}

/// Which subroutines are selected is forgotten whenever a program is used, by GL itself. So a host that has any selects after
/// each `glUseProgram`; texla's calls are one.
#[test]
fn subroutines_are_to_be_selected_again() {
    let host = headless(Api::Gl33);
    let (dev, gl, loader) = (host.device(), host.glow(), loader());
    drop(dev.scope().unwrap());
    let version = gl.version();
    if (version.major, version.minor) < (4, 0) {
        eprintln!("not looked at: OpenGL {}.{} has no subroutines", version.major, version.minor);
        return;
    }
    type Select = unsafe extern "system" fn(u32, i32, *const u32);
    type Index = unsafe extern "system" fn(u32, u32, *const std::ffi::c_char) -> u32;
    let fragment = "#extension GL_ARB_shader_subroutine : require
        subroutine vec4 Paint();
        subroutine uniform Paint paint;
        subroutine(Paint) vec4 red() { return vec4(1.0, 0.0, 0.0, 1.0); }
        subroutine(Paint) vec4 green() { return vec4(0.0, 1.0, 0.0, 1.0); }
        out vec4 colour;
        void main() { colour = paint(); }";
    let corners =
        "void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }";
    let mut x = Vector::filled(dev, 10, 1.0).unwrap();
    // SAFETY: the context is current, and an address under each name is a function of its type.
    unsafe {
        let select: Option<Select> = std::mem::transmute(loader("glUniformSubroutinesuiv"));
        let index: Option<Index> = std::mem::transmute(loader("glGetSubroutineIndex"));
        let (select, index) = (select.unwrap(), index.unwrap());
        let texture = gl.create_texture().unwrap();
        gl.bind_texture(glow::TEXTURE_2D, Some(texture));
        let (rgba, byte, none) = (glow::RGBA, glow::UNSIGNED_BYTE, glow::PixelUnpackData::Slice(None));
        gl.tex_image_2d(glow::TEXTURE_2D, 0, glow::RGBA8 as i32, 1, 1, 0, rgba, byte, none);
        let framebuffer = gl.create_framebuffer().unwrap();
        gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
        let at = glow::COLOR_ATTACHMENT0;
        gl.framebuffer_texture_2d(glow::FRAMEBUFFER, at, glow::TEXTURE_2D, Some(texture), 0);
        gl.bind_vertex_array(Some(gl.create_vertex_array().unwrap()));
        gl.viewport(0, 0, 1, 1);
        let program = hosts_program(&gl, corners, fragment, &[]);
        gl.use_program(Some(program));
        let [red, green] =
            [c"red", c"green"].map(|f| index(program.0.get(), glow::FRAGMENT_SHADER, f.as_ptr()));
        let drawn = || {
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            let mut pixel = [0; 4];
            let into = glow::PixelPackData::Slice(Some(&mut pixel));
            gl.read_pixels(0, 0, 1, 1, glow::RGBA, glow::UNSIGNED_BYTE, into);
            pixel
        };
        for (chosen, colour) in [(red, [255, 0, 0, 255]), (green, [0, 255, 0, 255])] {
            select(glow::FRAGMENT_SHADER, 1, &chosen);
            assert_eq!(drawn(), colour);
            ops::scale(&mut x, 2.0).unwrap();
            select(glow::FRAGMENT_SHADER, 1, &chosen);
            assert_eq!(drawn(), colour, "selected again");
        }
        gl.bind_framebuffer(glow::FRAMEBUFFER, None);
        gl.use_program(None);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
    assert_eq!(x.read().unwrap(), [4.0; 10]);
}

/// A guest with something of every kind.
struct Guest {
    device: Device,
    load: Vector,
    matrix: BandedMatrix,
    histogram: Histogram,
    kernel: VertexKernel<NoParams>,
    vertices: [BufferVector; 2],
}

impl Guest {
    /// In the context that is current.
    fn new() -> Self {
        let options = DeviceOptions::default().with_limits(limits());
        // SAFETY: the context stays current until the guest has gone.
        let device = unsafe { Device::from_loader(loader(), options) }.unwrap();
        let body = "void kernel(int vertex) { y[0] = x[0] + x[0]; }";
        Guest {
            load: Vector::filled(&device, 48, 1.0).unwrap(),
            matrix: BandedMatrix::from_csr(&device, problems::poisson_2d(8, 6).to_csr()).unwrap(),
            histogram: Histogram::equal_width(&device, 0.0, 6.0, 5).unwrap(),
            kernel: VertexKernel::new(&device, "doubled", [("x", 1)], 1, body).unwrap(),
            vertices: [
                BufferVector::from_slice(&device, &[1.5; 4]).unwrap(),
                BufferVector::zeros(&device, 4).unwrap(),
            ],
            device,
        }
    }

    fn work(&mut self) -> Result<Vec<f32>> {
        let mut x = Vector::zeros(&self.device, 48)?;
        ConjugateGradient::new(&self.matrix, CgParams::default())?.solve(&mut x, &self.load)?;
        let mut counts = Vector::zeros(&self.device, 5)?;
        self.histogram.count(&mut counts, &x)?;
        let [a, b] = &mut self.vertices;
        self.kernel.run(b, 0, [&*a], &NoParams)?;
        Ok([x.read()?, counts.read()?, b.read()?].concat())
    }
}

/// All objects of a kind, those of texla among them.
type Delete = fn(&glow::Context, NonZeroU32);

// SAFETY: in all of these a context is current. A name that nobody has is passed over.
const KINDS: [(&str, Delete); 7] = [
    ("programs", |gl, n| unsafe {
        // A program's name that nobody has is an error.
        if gl.is_program(glow::NativeProgram(n)) {
            gl.delete_program(glow::NativeProgram(n));
        }
    }),
    ("vertex arrays", |gl, n| unsafe { gl.delete_vertex_array(glow::NativeVertexArray(n)) }),
    ("samplers", |gl, n| unsafe { gl.delete_sampler(glow::NativeSampler(n)) }),
    ("framebuffers", |gl, n| unsafe { gl.delete_framebuffer(glow::NativeFramebuffer(n)) }),
    ("buffers", |gl, n| unsafe { gl.delete_buffer(glow::NativeBuffer(n)) }),
    ("textures", |gl, n| unsafe { gl.delete_texture(glow::NativeTexture(n)) }),
    ("transform feedbacks", |gl, n| unsafe {
        if gl.supported_extensions().contains("GL_ARB_transform_feedback2") || gl.version().is_embedded {
            gl.delete_transform_feedback(glow::NativeTransformFeedback(n));
        }
    }),
];

/// A host that deletes what is not its own gets errors. Nothing panics, and a new device works.
#[test]
fn what_a_host_deletes_of_texlas_is_an_error() {
    for api in Api::ALL {
        for (kind, delete) in KINDS {
            let host = headless(api);
            let gl = host.glow();
            drop(host.device().scope().unwrap());
            let mut guest = Guest::new();
            let expected = guest.work().unwrap();
            assert_eq!(guest.work(), Ok(expected.clone()));
            for name in (1..4096).filter_map(NonZeroU32::new) {
                delete(&gl, name);
            }
            // SAFETY: the context is current.
            assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR, "{kind}");
            for _ in 0..2 {
                let refused = guest.work();
                let expected = match kind {
                    // A context is known by a vertex array in it: without that it is taken for another one.
                    "vertex arrays" => matches!(refused, Err(Error::NoContext(_))),
                    _ => matches!(refused, Err(Error::Gl { .. })),
                };
                assert!(expected, "{api}, {kind}: {refused:?}");
            }
            drop(guest);
            // SAFETY: as above.
            assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR, "{kind}");
            let mut next = Guest::new();
            assert_eq!(next.work(), Ok(expected), "{kind}");
        }
    }
}
