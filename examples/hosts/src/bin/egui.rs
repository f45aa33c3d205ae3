//! eframe: the application's context is eframe's own. texla computes in it and draws into a texture that egui shows.
use std::ffi::CString;
use std::sync::{Arc, Mutex};

use eframe::egui;
use texla::{Device, DeviceOptions, Picture};
use texla_hosts::guest::{Guest, SIDE};
use texla_hosts::scene::own_texture;
use texla_hosts::{FRAMES, SIZE, assert_identical};

/// How texla takes part in a frame: not at all, with its calls one by one, in one scope.
const WAYS: [Option<bool>; 3] = [None, Some(false), Some(true)];

/// Where screenshots arrive.
type Shot = Arc<Mutex<Option<Arc<egui::ColorImage>>>>;

struct App {
    /// Which frame of which way is on the screen.
    step: usize,
    asked: bool,
    /// How often egui has asked for the interface: it settles in the first few.
    passes: usize,
    shot: Shot,
    ways: Vec<Vec<Vec<u8>>>,
    loader: Arc<dyn Fn(&std::ffi::CStr) -> *const std::ffi::c_void + Send + Sync>,
    gl: Arc<glow::Context>,
    guest: Option<(Guest, Picture)>,
    shown: Option<egui::TextureId>,
}

impl App {
    fn new(creation: &eframe::CreationContext<'_>) -> texla_hosts::Result<Self> {
        Ok(App {
            step: 0,
            asked: false,
            passes: 0,
            shot: Shot::default(),
            ways: Vec::new(),
            loader: creation.get_proc_address.clone().ok_or("eframe does not draw by OpenGL")?,
            gl: creation.gl.clone().ok_or("eframe does not draw by OpenGL")?,
            guest: None,
            shown: None,
        })
    }

    /// texla moves in when frames without it have been seen.
    fn guest(&mut self, frame: &mut eframe::Frame) -> texla_hosts::Result<&mut (Guest, Picture)> {
        if self.guest.is_none() {
            let loader = Arc::clone(&self.loader);
            let by_name = move |name: &str| CString::new(name).map_or(std::ptr::null(), |name| loader(&name));
            // SAFETY: eframe's context is current whenever it calls its application.
            let device = unsafe { Device::from_loader(by_name, DeviceOptions::default()) }?;
            let guest = Guest::new(&device)?;
            // egui takes a registered texture for its own and deletes it: it gets one of the application's, which texla borrows.
            // SAFETY: as above; the picture is dropped in `on_exit`, before egui deletes the texture.
            let lent = unsafe {
                let own = own_texture(&self.gl, SIDE as u32);
                self.shown = Some(frame.register_native_glow_texture(own));
                Picture::from_texture(&device, own, SIDE, SIDE)?
            };
            self.guest = Some((guest, lent));
        }
        self.guest.as_mut().ok_or_else(|| "no guest".into())
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        let (way, i) = (self.step / FRAMES, self.step % FRAMES);
        let end = way >= WAYS.len();
        if let Some(in_a_scope) = WAYS.get(way).copied().flatten() {
            self.guest(frame).unwrap().0.work(in_a_scope).unwrap();
        }
        if end {
            let (guest, lent) = self.guest(frame).unwrap();
            guest.draw_into(lent).unwrap();
        }
        let painter = ui.painter().clone();
        painter.rect_filled(ui.max_rect(), 0.0, egui::Color32::from_rgb(30, 40, 60));
        match self.shown.filter(|_| end) {
            // A texel a pixel, in the upper left corner, row 0 on top.
            Some(id) => {
                let side = SIDE as f32 / ui.ctx().pixels_per_point();
                let whole = egui::Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
                let place = egui::Rect::from_min_size(egui::pos2(0.0, 0.0), egui::vec2(side, side));
                painter.image(id, place, whole, egui::Color32::WHITE);
            }
            None => {
                ui.heading(format!("frame {i}"));
                ui.label("widgets, text and shapes, drawn by egui");
                ui.add(egui::ProgressBar::new(i as f32 / FRAMES as f32).text("done"));
                let centre = egui::pos2(60.0 + 30.0 * i as f32, 140.0);
                painter.circle_filled(centre, 25.0, egui::Color32::from_rgba_unmultiplied(250, 180, 20, 160));
                painter.line_segment([egui::pos2(0.0, 100.0), centre], (3.0, egui::Color32::LIGHT_GREEN));
            }
        }
        // A picture is asked for once; the frame stays as it is until it has come.
        let arrived = self.shot.lock().unwrap().take();
        if let Some(image) = arrived {
            let bytes: Vec<u8> = image.pixels.iter().flat_map(|p| p.to_array()).collect();
            if end {
                let (guest, _) = self.guest(frame).unwrap();
                let texels = guest.picture().read().unwrap();
                for (t, texel) in texels.iter().enumerate() {
                    let at = 4 * (t / SIDE * image.size[0] + t % SIDE);
                    assert_eq!(bytes[at..at + 3], texel[..3], "egui: texel {t}");
                }
                println!("egui: the host's own texture is shown without a copy");
                ui.ctx().send_viewport_cmd(egui::ViewportCommand::Close);
            } else {
                self.ways.resize(way + 1, Vec::new());
                self.ways[way].push(bytes);
                self.step += 1;
            }
            self.asked = false;
        } else if !self.asked && self.passes > 5 {
            self.asked = true;
            let shot = Arc::clone(&self.shot);
            ui.ctx().request_screenshot(move |image| *shot.lock().unwrap() = Some(image));
        }
        self.passes += 1;
        ui.ctx().request_repaint();
    }

    fn on_exit(&mut self, _: Option<&glow::Context>) {
        // The context is current for the last time.
        self.guest = None;
        assert_identical("egui", &self.ways);
    }
}

fn main() -> texla_hosts::Result {
    let viewport = egui::ViewportBuilder::default().with_inner_size([SIZE.0 as f32, SIZE.1 as f32]);
    let options = eframe::NativeOptions { viewport, renderer: eframe::Renderer::Glow, ..Default::default() };
    eframe::run_native(
        "egui",
        options,
        Box::new(|creation| Ok(Box::new(App::new(creation).map_err(|e| e.to_string())?))),
    )?;
    Ok(())
}
