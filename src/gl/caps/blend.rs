//! Whether floats can be blended.

use std::rc::Rc;

use super::{Lcg, Probe};
use crate::error::Result;
use crate::gl::draw::{Area, Blend};
use crate::gl::source::glsl;
use crate::gl::vertices::{Attribute, VertexBuffer};

impl Probe<'_> {
    /// 1,024 random sums equal fl(a + b), and 1,000 points into one texel equal the sum in order.
    pub(super) fn blend(&self) -> Result<bool> {
        let mut random = Lcg(1);
        let a: Vec<f32> = (0..1024).map(|_| random.next()).collect();
        let b: Vec<f32> = (0..1024).map(|_| random.next()).collect();
        let copy = self.program(glsl!("quad.vert"), glsl!("probe/copy.frag"), &["a"], 1)?;
        let target = self.texture(16, 16, Some(&a))?;
        let source = self.texture(16, 16, Some(&b))?;
        self.draw(&copy, &[&target], &[&source], Area::Rect([0, 0, 16, 16]), Blend::Add)?;
        let sums = self.gl.read(&target, "probe")?;
        if !sums.iter().zip(a.iter().zip(&b)).all(|(s, (a, b))| *s == a + b) {
            return Ok(false);
        }
        let points = self.program(glsl!("probe/points.vert"), glsl!("probe/points.frag"), &[], 1)?;
        let values: Vec<[f32; 4]> = (0..1000).map(|_| [0.0; 4].map(|_: f32| random.next())).collect();
        let words: &[u32] = bytemuck::cast_slice(&values);
        let vertices = Rc::new(VertexBuffer::new(self.gl, 1000, &[Attribute::Vec4], &[words], "probe")?);
        let pixel = self.texture(1, 1, Some(&[0.0; 4]))?;
        let area = Area::Points { vertices: &vertices, first: 0, count: 1000 };
        self.draw(&points, &[&pixel], &[], area, Blend::Add)?;
        let mut sum = [0.0f32; 4];
        for value in &values {
            sum.iter_mut().zip(value).for_each(|(s, v)| *s += v);
        }
        Ok(self.gl.read(&pixel, "probe")? == sum)
    }

    pub(super) fn min_max(&self) -> Result<bool> {
        let copy = self.program(glsl!("quad.vert"), glsl!("probe/copy.frag"), &["a"], 1)?;
        let (low, high) = ([-1.000_000_1, 2.0, -3e30, 5.0], [-1.0, 2.000_000_2, 1e-20, 5.0]);
        let extreme = |blend| -> Result<Vec<f32>> {
            let target = self.texture(1, 1, Some(&low))?;
            let source = self.texture(1, 1, Some(&high))?;
            self.draw(&copy, &[&target], &[&source], Area::Rect([0, 0, 1, 1]), blend)?;
            self.gl.read(&target, "probe")
        };
        Ok(extreme(Blend::Max)? == high && extreme(Blend::Min)? == low)
    }
}
