//! A whole eframe program to copy. The application draws heat sources into a texture of its own, which texla takes as a vector; texla
//! solves for the temperature in eframe's context, and draws it into a texture that egui shows. Nothing is copied to the host.
use std::error::Error;
use std::ffi::CString;
use std::sync::Arc;

use eframe::egui::{self, load::SizedTexture};
use eframe::glow::{self, HasContext};
use texla::ops::{self, Shades};
use texla::solve::{CgParams, ConjugateGradient, Stop};
use texla::{BandedMatrix, Device, DeviceOptions, Picture, Vector};

const SIDE: usize = 64;

/// Everything of texla's.
struct Heat {
    solver: ConjugateGradient<BandedMatrix>,
    sources: Vector, // the texture `App::sources`
    field: Vector,
    picture: Picture, // the texture that egui shows
}

struct App {
    gl: Arc<glow::Context>,
    sources: glow::Texture,
    picture: glow::Texture,
    shown: Option<egui::TextureId>,
    heat: Option<Heat>,
    frames: usize,
}

/// # Safety
/// The context is current.
unsafe fn texture(gl: &glow::Context, format: u32, kind: u32, width: usize) -> Result<glow::Texture, String> {
    let (target, none) = (glow::TEXTURE_2D, glow::PixelUnpackData::Slice(None));
    let (format, width, height) = (format as i32, width as i32, SIDE as i32);
    // SAFETY: the caller's.
    unsafe {
        let texture = gl.create_texture()?;
        gl.bind_texture(target, Some(texture));
        gl.tex_image_2d(target, 0, format, width, height, 0, glow::RGBA, kind, none);
        gl.tex_parameter_i32(target, glow::TEXTURE_MIN_FILTER, glow::LINEAR as i32);
        Ok(texture)
    }
}

impl App {
    fn new(cc: &eframe::CreationContext<'_>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let gl = cc.gl.clone().ok_or("eframe does not draw with OpenGL: see `renderer` in main")?;
        let by_name = cc.get_proc_address.clone().ok_or("eframe has no loader")?;
        let loader = move |name: &str| CString::new(name).map_or(std::ptr::null(), |n| by_name(&n));
        // SAFETY: eframe's context is current whenever it calls its application, and all of this drops in `on_exit`.
        unsafe {
            let device = Device::from_loader(loader, DeviceOptions::default())?;
            let sources = texture(&gl, glow::RGBA32F, glow::FLOAT, SIDE / 4)?; // four elements a texel
            let picture = texture(&gl, glow::RGBA8, glow::UNSIGNED_BYTE, SIDE)?;
            let a = BandedMatrix::poisson_2d(&device, SIDE, SIDE)?;
            let params = CgParams::default().with_stop(Stop::relative(1e-3));
            let heat = Heat {
                solver: ConjugateGradient::new(a, params)?,
                sources: Vector::from_texture(&device, sources, SIDE / 4, SIDE)?,
                field: Vector::zeros(&device, SIDE * SIDE)?,
                picture: Picture::from_texture(&device, picture, SIDE, SIDE)?,
            };
            Ok(App { gl, sources, picture, shown: None, heat: Some(heat), frames: 0 })
        }
    }

    /// The application's own draw into its texture: a hot spot that moves.
    fn draw_sources(&self) {
        let column = SIDE / 4 + self.frames % (SIDE / 2);
        let hot = |i: usize| i.abs_diff(SIDE / 2 * SIDE + column) < 3;
        let texels: Vec<u8> = (0..SIDE * SIDE).flat_map(|i| f32::from(hot(i)).to_ne_bytes()).collect();
        let data = glow::PixelUnpackData::Slice(Some(&texels));
        let (gl, target, width, height) = (&self.gl, glow::TEXTURE_2D, SIDE as i32 / 4, SIDE as i32);
        // SAFETY: the context is current; there are four floats for each texel.
        unsafe {
            gl.bind_texture(target, Some(self.sources));
            gl.tex_sub_image_2d(target, 0, 0, 0, width, height, glow::RGBA, glow::FLOAT, data);
        }
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        // From now on the texture is egui's, which deletes it.
        let id = *self.shown.get_or_insert_with(|| frame.register_native_glow_texture(self.picture));
        self.draw_sources();
        if let Some(heat) = &mut self.heat
            && let Err(e) = heat.step()
        {
            ui.label(e.to_string());
        }
        ui.image(SizedTexture::new(id, [256.0, 256.0]));
        self.frames += 1;
        if self.frames == 100 {
            ui.ctx().send_viewport_cmd(egui::ViewportCommand::Close); // a host that ends by itself
        }
        ui.ctx().request_repaint();
    }

    fn on_exit(&mut self, _: Option<&glow::Context>) {
        if let Some(heat) = self.heat.take() {
            let warmest = ops::max_abs(&heat.field).and_then(|most| most.read()).unwrap_or_default();
            println!("eframe: {} frames, and {warmest} in the middle of the spot", self.frames);
            assert!((1.0..3.0).contains(&warmest));
        }
        // SAFETY: the context is current for the last time, and nothing borrows the texture any more.
        unsafe { self.gl.delete_texture(self.sources) };
    }
}

impl Heat {
    fn step(&mut self) -> texla::Result<()> {
        let _state = self.field.device().clone().scope()?; // eframe's GL state: saved once, restored at the end
        self.solver.solve(&mut self.field, &self.sources)?;
        ops::vector_to_picture(&mut self.picture, &self.field, &Shades::viridis(0.0, 3.0))
    }
}

fn main() -> eframe::Result {
    let options = eframe::NativeOptions { renderer: eframe::Renderer::Glow, ..Default::default() };
    eframe::run_native("heat", options, Box::new(|cc| Ok(Box::new(App::new(cc)?))))
}
