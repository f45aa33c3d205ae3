//! Draws the cars: each in a lane of its own, its body where the vertex stage has captured height and pitch.
#![allow(unsafe_code)] // an application that calls GL

use std::sync::Arc;

use glow::HasContext;
use texla::BufferVector;
use texla::pack::Order;

use super::canvas::{Geometry, Picture};
use super::suspension::{CARS, Car, STATE, road};
use crate::support::{Result, program};

const SKY: [f32; 3] = [0.93, 0.95, 0.97];
/// Half the metres that a lane shows along the road.
const HALF: f32 = 7.0;
/// How many times larger than it is motion is drawn, and the road's height.
const ENLARGED: f32 = 3.0;
/// Metres from the middle of a lane down to the reference height of the road, and a wheel's radius.
const GROUND: f32 = -0.75;
const WHEEL: f32 = 0.33;

/// The outline of a body, metres from the centre of mass, as a fan.
const BODY: [[f32; 2]; 10] = [
    [-2.1, -0.30],
    [2.2, -0.30],
    [2.25, 0.12],
    [1.35, 0.28],
    [0.65, 0.80],
    [-0.95, 0.84],
    [-1.65, 0.36],
    [-2.15, 0.30],
    [-2.2, 0.0],
    [-2.1, -0.30],
];

/// Five lanes, one above the other.
pub struct Lanes {
    gl: Arc<glow::Context>,
    picture: Picture,
    bodies: glow::NativeProgram,
    ground: glow::NativeProgram,
    outline: Geometry,
    strips: Geometry,
    strip: glow::NativeBuffer,
    /// Positions of height and pitch.
    at: [i32; 2 * CARS],
}

impl Lanes {
    /// For unknowns that come in this order.
    ///
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(gl: &Arc<glow::Context>, order: &Order, size: (u32, u32)) -> Result<Self> {
        let mut at = [0; 2 * CARS];
        for (k, at) in at.iter_mut().enumerate() {
            *at = order.position(STATE * (k / 2) + 2 * (k % 2)) as i32;
        }
        // SAFETY: the caller's.
        unsafe {
            let picture = Picture::new(gl, size)?;
            let bodies = program(gl, [include_str!("cars.vert"), include_str!("cars.frag")], &["corner"])?;
            let ground = program(gl, [include_str!("road.vert"), include_str!("road.frag")], &["vertex"])?;
            let block = gl.get_uniform_block_index(bodies, "state");
            block.map(|block| gl.uniform_block_binding(bodies, block, 0)).unwrap_or_default();
            let (mut outline, mut strips) = (Geometry::new(gl)?, Geometry::new(gl)?);
            outline.buffer(glow::ARRAY_BUFFER, bytemuck::cast_slice(&BODY))?;
            gl.enable_vertex_attrib_array(0);
            gl.vertex_attrib_pointer_f32(0, 2, glow::FLOAT, false, 0, 0);
            let strip = strips.buffer(glow::ARRAY_BUFFER, &[])?;
            gl.enable_vertex_attrib_array(0);
            gl.vertex_attrib_pointer_f32(0, 4, glow::FLOAT, false, 0, 0);
            gl.bind_vertex_array(None);
            Ok(Lanes { gl: Arc::clone(gl), picture, bodies, ground, outline, strips, strip, at })
        }
    }

    /// The cars in this state, some seconds after the start.
    pub fn draw(&self, state: &BufferVector, cars: &[Car; CARS], seconds: f64) -> Vec<u8> {
        let vertices: Vec<[f32; 4]> =
            cars.iter().enumerate().flat_map(|(k, car)| lane(k, car, seconds)).collect();
        let half_height = HALF / self.picture.aspect() / CARS as f32;
        let window = [HALF, half_height, ENLARGED, GROUND + WHEEL + 0.42];
        // SAFETY: the context is current, see `new`; the buffer lives as long as it is borrowed.
        unsafe {
            self.picture.draw(SKY, |gl| {
                for program in [self.ground, self.bodies] {
                    let at = |name: &str| gl.get_uniform_location(program, name);
                    gl.use_program(Some(program));
                    gl.uniform_1_i32(at("cars").as_ref(), CARS as i32);
                    gl.uniform_4_f32_slice(at("half_window").as_ref(), &window);
                }
                gl.uniform_2_i32_slice(gl.get_uniform_location(self.bodies, "at[0]").as_ref(), &self.at);
                // No copy, no readback: height and pitch are in the uniform block.
                gl.bind_buffer_base(glow::UNIFORM_BUFFER, 0, Some(state.buffer()));
                gl.bind_vertex_array(Some(self.outline.array()));
                gl.draw_arrays_instanced(glow::TRIANGLE_FAN, 0, BODY.len() as i32, CARS as i32);
                gl.bind_buffer_base(glow::UNIFORM_BUFFER, 0, None);
                gl.use_program(Some(self.ground));
                gl.bind_vertex_array(Some(self.strips.array()));
                gl.bind_buffer(glow::ARRAY_BUFFER, Some(self.strip));
                gl.buffer_data_u8_slice(
                    glow::ARRAY_BUFFER,
                    bytemuck::cast_slice(&vertices),
                    glow::DYNAMIC_DRAW,
                );
                gl.bind_buffer(glow::ARRAY_BUFFER, None);
                gl.draw_arrays(glow::TRIANGLES, 0, vertices.len() as i32);
            })
        }
    }
}

/// Triangles of a lane's road and wheels: x and y in the lane, its number, a shade.
fn lane(k: usize, car: &Car, seconds: f64) -> Vec<[f32; 4]> {
    let here = car.start + car.speed * seconds;
    let height = |x: f32| GROUND + ENLARGED * road(here + f64::from(x)).0 as f32;
    let mut out = Vec::new();
    let mut push = |x: f32, y: f32, shade: f32| out.push([x, y, k as f32, shade]);
    let steps = 140;
    let x = |s: usize| HALF * (2.0 * s as f32 / steps as f32 - 1.0);
    for s in 0..steps {
        let (a, b) = (x(s), x(s + 1));
        for (x, y) in [(a, -1.2), (b, -1.2), (a, height(a)), (b, -1.2), (b, height(b)), (a, height(a))] {
            push(x, y, 0.62);
        }
    }
    for arm in car.arms() {
        let (cx, cy) = (arm as f32, height(arm as f32) + WHEEL);
        for (radius, shade) in [(WHEEL, 0.15), (0.5 * WHEEL, 0.75)] {
            let at = |s: i32| {
                let angle = std::f32::consts::TAU * s as f32 / 24.0;
                (cx + radius * angle.cos(), cy + radius * angle.sin())
            };
            for s in 0..24 {
                for (x, y) in [(cx, cy), at(s), at(s + 1)] {
                    push(x, y, shade);
                }
            }
        }
    }
    out
}

impl Drop for Lanes {
    fn drop(&mut self) {
        // SAFETY: the context is current, see `new`.
        unsafe {
            self.gl.delete_program(self.bodies);
            self.gl.delete_program(self.ground);
        }
    }
}
