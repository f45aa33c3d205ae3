//! What the short programs compute: numbers that grow by one from frame to frame, shown as shades of grey.

use texla::ops::{self, Shades};
use texla::{Device, Picture, Result, Vector};

use crate::guest::SIDE;

/// A computation whose every frame is known beforehand.
pub struct Count {
    x: Vector,
    one: Vector,
}

impl Count {
    pub fn new(device: &Device) -> Result<Self> {
        let start: Vec<f32> = (0..SIDE * SIDE).map(|i| (i % 200) as f32).collect();
        Ok(Count { x: Vector::from_slice(device, &start)?, one: Vector::filled(device, SIDE * SIDE, 1.0)? })
    }

    /// The next frame.
    pub fn step(&mut self) -> Result<()> {
        ops::accumulate(&mut self.x, &self.one)
    }

    pub fn values(&self) -> &Vector {
        &self.x
    }

    pub fn draw_into(&self, picture: &mut Picture) -> Result<()> {
        ops::vector_to_picture(picture, &self.x, &Shades::grey(0.0, 255.0))
    }
}

/// The value of element `i` after the step of frame `frame`, which counts from 0.
pub fn value(frame: usize, i: usize) -> u8 {
    (i % 200 + frame + 1) as u8
}

/// The lower left corner of the host's picture, whose rows begin below, shows the frame.
pub fn assert_frame(frame: usize, pixels: &[u8], width: u32) {
    for i in 0..SIDE * SIDE {
        let at = 4 * (i / SIDE * width as usize + i % SIDE);
        assert_eq!(pixels[at..at + 3], [value(frame, i); 3], "element {i} of frame {frame}");
    }
}
