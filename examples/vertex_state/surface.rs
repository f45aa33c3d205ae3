//! Draws the waves: a mesh whose heights are read where the vertex stage has captured them.
#![allow(unsafe_code)] // an application that calls GL

use std::sync::Arc;

use glow::HasContext;
use texla::BufferVector;
use texla::pack::Order;

use super::canvas::{Geometry, Picture};
use crate::support::{Result, program};

const SKY: [f32; 3] = [0.93, 0.95, 0.97];

/// A mesh of nodes in packed order.
pub struct Surface {
    gl: Arc<glow::Context>,
    picture: Picture,
    program: glow::NativeProgram,
    mesh: Geometry,
    nodes: usize,
    indices: i32,
}

impl Surface {
    /// A square of `nodes` x `nodes`, whose heights will come in this order.
    ///
    /// # Safety
    /// The context is current now, at every use, and when this drops.
    pub unsafe fn new(
        gl: &Arc<glow::Context>,
        nodes: usize,
        order: &Order,
        size: (u32, u32),
    ) -> Result<Self> {
        let places: Vec<f32> = order
            .indices()
            .iter()
            .flat_map(|&i| [i as usize % nodes, i as usize / nodes].map(|v| v as f32))
            .collect();
        let at = |i: usize, j: usize| order.position(nodes * j + i) as u16;
        let cells = (0..nodes - 1).flat_map(|j| (0..nodes - 1).map(move |i| (i, j)));
        let indices: Vec<u16> = cells
            .flat_map(|(i, j)| {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
                [a, b, c, b, d, c]
            })
            .collect();
        // SAFETY: the caller's.
        unsafe {
            let picture = Picture::new(gl, size)?;
            let sources = [include_str!("waves.vert"), include_str!("waves.frag")];
            let program = program(gl, sources, &["height", "node"])?;
            let mut mesh = Geometry::new(gl)?;
            mesh.buffer(glow::ELEMENT_ARRAY_BUFFER, bytemuck::cast_slice(&indices))?;
            mesh.buffer(glow::ARRAY_BUFFER, bytemuck::cast_slice(&places))?;
            gl.enable_vertex_attrib_array(1);
            gl.vertex_attrib_pointer_f32(1, 2, glow::FLOAT, false, 0, 0);
            gl.enable_vertex_attrib_array(0);
            gl.bind_vertex_array(None);
            let (gl, indices) = (Arc::clone(gl), indices.len() as i32);
            Ok(Surface { gl, picture, program, mesh, nodes, indices })
        }
    }

    /// The surface with these heights, seen from a direction that turns by `turn` radians.
    pub fn draw(&self, heights: &BufferVector, turn: f32) -> Vec<u8> {
        let aspect = self.picture.aspect();
        // SAFETY: the context is current, see `new`; the buffer lives as long as it is borrowed.
        unsafe {
            self.picture.draw(SKY, |gl| {
                gl.use_program(Some(self.program));
                let at = |name: &str| gl.get_uniform_location(self.program, name);
                gl.uniform_1_f32(at("nodes").as_ref(), self.nodes as f32);
                gl.uniform_1_f32(at("aspect").as_ref(), aspect);
                gl.uniform_1_f32(at("turn").as_ref(), turn);
                gl.bind_vertex_array(Some(self.mesh.array()));
                // No copy, no readback: the heights are the attribute.
                gl.bind_buffer(glow::ARRAY_BUFFER, Some(heights.buffer()));
                gl.vertex_attrib_pointer_f32(0, 1, glow::FLOAT, false, 0, 0);
                gl.bind_buffer(glow::ARRAY_BUFFER, None);
                gl.draw_elements(glow::TRIANGLES, self.indices, glow::UNSIGNED_SHORT, 0);
            })
        }
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        // SAFETY: the context is current, see `new`.
        unsafe { self.gl.delete_program(self.program) };
    }
}
