//! The image on the device: rendered or uploaded, reduced, and mapped.

use texla::kernel::{Domain, Kernel, NoParams};
use texla::ops::{self, Reduction, Windows};
use texla::{Device, Result, Scalar, Vector};

use crate::{DARK, Settings};

texla::params! { struct Size { size: [i32; 2] } }
texla::params! { struct Dark { dark: f32 } }
texla::params! { struct Operator { reinhard: i32, key: f32, white: f32 } }

/// Rows of texels that are rendered in one draw.
const ROWS: u32 = 16;

/// The synthetic scene: four elements a pixel, the last one 0.
pub fn scene(device: &Device, width: usize, height: usize) -> Result<Vector> {
    let mut pixels = Vector::zeros(device, 4 * width * height)?;
    let kernel = Kernel::<Size>::new(device, "scene", [], include_str!("scene.frag"))?;
    let size = Size { size: [width as i32, height as i32] };
    let extent = pixels.extent();
    let _scope = device.scope()?;
    // Some rows at a time: drivers that show something meanwhile end draws that take seconds.
    for y in (0..extent.height).step_by(ROWS as usize) {
        let strip = Domain::Rect { x: 0, y, width: extent.width, height: ROWS.min(extent.height - y) };
        kernel.with([], &size).on(strip).run(&mut pixels)?;
    }
    Ok(pixels)
}

/// A user's image in the same form.
pub fn upload(device: &Device, pixels: &[[f32; 3]]) -> Result<Vector> {
    let texels: Vec<f32> = pixels.iter().flat_map(|[r, g, b]| [*r, *g, *b, 0.0]).collect();
    Vector::from_slice(device, &texels)
}

/// What an image needs on its way to the screen.
pub struct ToneMap {
    luminances: Kernel<NoParams>,
    logarithms: Kernel<Dark>,
    map: Kernel<Operator>,
    /// L, and log(delta + L).
    pub luminance: Vector,
    pub logarithm: Vector,
    /// The results of the reductions stay here.
    pub largest: Scalar,
    pub brightest: Scalar,
    pub mean_log: Scalar,
    pub screen: Vector,
}

impl ToneMap {
    pub fn new(device: &Device, pixels: usize) -> Result<Self> {
        let (largest, brightest) = (Scalar::zero(device)?, Scalar::zero(device)?);
        Ok(ToneMap {
            luminances: Kernel::new(device, "luminance", ["pixels"], include_str!("luminance.frag"))?,
            logarithms: Kernel::new(
                device,
                "logarithm",
                ["luminance", "brightest"],
                include_str!("logarithm.frag"),
            )?,
            map: Kernel::new(
                device,
                "map",
                ["pixels", "largest", "brightest", "mean_log"],
                include_str!("map.frag"),
            )?,
            luminance: Vector::zeros(device, pixels)?,
            logarithm: Vector::zeros(device, pixels)?,
            largest,
            brightest,
            mean_log: Scalar::zero(device)?,
            screen: Vector::zeros(device, 4 * pixels)?,
        })
    }

    /// The kernels in front of the reductions.
    pub fn luminance(&mut self, pixels: &Vector) -> Result<()> {
        self.luminances.run(&mut self.luminance, [pixels], &NoParams)
    }

    pub fn logarithm(&mut self) -> Result<()> {
        let dark = Dark { dark: DARK as f32 };
        self.logarithms.run(&mut self.logarithm, [&self.luminance, &self.brightest], &dark)
    }

    /// The largest channel and the largest luminance. The fourth element of a pixel is 0, and so no larger than they are.
    pub fn maxima(&mut self, pixels: &Vector, windows: Windows) -> Result<()> {
        ops::reduce_into(&mut self.largest, Reduction::Max, pixels, None, windows)?;
        ops::reduce_into(&mut self.brightest, Reduction::Max, &self.luminance, None, windows)
    }

    /// The mean of the logarithms.
    pub fn average(&mut self, windows: Windows) -> Result<()> {
        ops::reduce_into(&mut self.mean_log, Reduction::Mean, &self.logarithm, None, windows)
    }

    /// All of it, without a readback: the picture is left in `screen`.
    pub fn run(&mut self, pixels: &Vector, settings: &Settings, reinhard: bool) -> Result<()> {
        self.luminance(pixels)?;
        self.maxima(pixels, Windows::Balanced)?;
        self.logarithm()?;
        self.average(Windows::Balanced)?;
        self.map(pixels, settings, reinhard)
    }

    /// The last pass alone.
    pub fn map(&mut self, pixels: &Vector, settings: &Settings, reinhard: bool) -> Result<()> {
        let operator = Operator {
            reinhard: i32::from(reinhard),
            key: settings.key as f32,
            white: settings.white.map_or(0.0, |white| white as f32),
        };
        let inputs: [&dyn texla::kernel::Operand; 4] =
            [pixels, &self.largest, &self.brightest, &self.mean_log];
        self.map.run(&mut self.screen, inputs, &operator)
    }
}
