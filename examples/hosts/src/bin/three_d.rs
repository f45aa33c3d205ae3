//! three-d in a context of glutin's, in winit's window: a sphere and a cube, lit, with texla at work between the two.
use std::ffi::CString;
use std::sync::Arc;

use glutin::prelude::*;
use texla::{Device, DeviceOptions, Picture};
use texla_hosts::guest::{Guest, SIDE};
use texla_hosts::scene::own_texture;
use texla_hosts::{FRAMES, SIZE, assert_identical, assert_shown, bare, in_window};
use three_d::{
    Camera, ClearState, Context, CpuMaterial, CpuMesh, DirectionalLight, Gm, Mat4, Mesh, PhysicalMaterial,
    Program, RenderStates, RenderTarget, Srgba, Viewport, degrees, radians, vec3,
};

const VERTEX: &str = "
    void main() { gl_Position = vec4(2.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1) - 1.0, 0.0, 1.0); }";
const FRAGMENT: &str = "
    uniform sampler2D field;
    out vec4 colour;
    void main() { colour = texelFetch(field, ivec2(gl_FragCoord.xy), 0); }";

fn main() -> texla_hosts::Result {
    in_window("three_d", |window| {
        // SAFETY: the window is alive until the end.
        let (display, surface, current) = unsafe { bare(&window) }?;
        let loader =
            move |name: &str| CString::new(name).map_or(std::ptr::null(), |n| display.get_proc_address(&n));
        // SAFETY: the context is current, and EGL gives its functions.
        let context =
            Context::from_gl_context(Arc::new(unsafe { glow::Context::from_loader_function(&loader) }))?;
        let viewport = Viewport::new_at_origo(SIZE.0, SIZE.1);
        let (eye, up) = (vec3(1.5, 1.0, 3.0), vec3(0.0, 1.0, 0.0));
        let camera =
            Camera::new_perspective(viewport, eye, vec3(0.0, 0.0, 0.0), up, degrees(45.0), 0.1, 10.0);
        let light = DirectionalLight::new(&context, 3.0, Srgba::WHITE, vec3(-0.5, -1.0, -0.8));
        let made = |mesh: CpuMesh, albedo: Srgba| {
            let material = CpuMaterial { albedo, ..Default::default() };
            Gm::new(Mesh::new(&context, &mesh), PhysicalMaterial::new_opaque(&context, &material))
        };
        let mut sphere = made(CpuMesh::sphere(24), Srgba::new(220, 90, 60, 255));
        let mut cube = made(CpuMesh::cube(), Srgba::new(60, 140, 230, 255));
        let screen = RenderTarget::screen(&context, SIZE.0, SIZE.1);
        let mut frames = |guest: &mut dyn FnMut() -> texla::Result<()>| -> texla_hosts::Result<_> {
            let mut frames = Vec::new();
            for i in 0..FRAMES {
                let turn = Mat4::from_angle_y(radians(0.4 * i as f32));
                sphere.set_transformation(
                    turn * Mat4::from_translation(vec3(0.9, 0.2, 0.0)) * Mat4::from_scale(0.6),
                );
                cube.set_transformation(turn * Mat4::from_scale(0.5));
                screen.clear(ClearState::color_and_depth(0.1, 0.12, 0.2, 1.0, 1.0));
                screen.render(&camera, &sphere, &[&light]);
                guest()?;
                screen.render(&camera, &cube, &[&light]);
                frames.push(screen.read_color::<[u8; 4]>().concat());
                surface.swap_buffers(&current)?;
            }
            Ok(frames)
        };
        let mut ways = vec![frames(&mut || Ok(()))?];
        // texla moves in when frames without it have been seen.
        // SAFETY: the context is current until the end, and EGL gives its functions.
        let device = unsafe { Device::from_loader(loader, DeviceOptions::default()) }?;
        let mut guest = Guest::new(&device)?;
        for in_a_scope in [false, true] {
            ways.push(frames(&mut || guest.work(in_a_scope))?);
        }
        assert_identical("three_d", &ways);

        let program = Program::from_source(&context, VERTEX, FRAGMENT)?;
        let show = |texture| {
            // A texture that three-d has not made. Its own have no name to lend.
            #[allow(deprecated)]
            program.use_raw_texture("field", three_d::context::TEXTURE_2D, texture);
            let corner = Viewport::new_at_origo(SIDE as u32, SIDE as u32);
            program.draw_with(RenderStates::default(), corner, || {
                // SAFETY: the context is current; the array is there for one draw.
                unsafe {
                    use three_d::HasContext;
                    let array = context.create_vertex_array().unwrap();
                    context.bind_vertex_array(Some(array));
                    context.draw_arrays(three_d::context::TRIANGLE_STRIP, 0, 4);
                    context.bind_vertex_array(None);
                    context.delete_vertex_array(array);
                }
            });
            flipped(screen.read_color::<[u8; 4]>())
        };
        assert_shown(
            "three_d",
            "texla's picture",
            &show(guest.picture().texture()),
            SIZE.0,
            guest.picture(),
        )?;
        // SAFETY: the context is current, and the texture lives longer than the picture that borrows it.
        unsafe {
            let own = own_texture(&context, SIDE as u32);
            let mut lent = Picture::from_texture(&device, own, SIDE, SIDE)?;
            guest.draw_into(&mut lent)?;
            assert_shown("three_d", "the host's own texture", &show(own), SIZE.0, guest.picture())?;
            drop(lent);
            three_d::HasContext::delete_texture(&**context, own);
        }
        surface.swap_buffers(&current)?;
        Ok(())
    })
}

/// three-d gives the upper row first.
fn flipped(pixels: Vec<[u8; 4]>) -> Vec<u8> {
    pixels.chunks(SIZE.0 as usize).rev().flatten().flatten().copied().collect()
}
