//! What plays in a window until it closes: the examples with `--window` have this in common. Each says
//! `#[path = "../support/player.rs"] mod player;` beside `mod support;` and `mod surface;`.
#![allow(dead_code)] // not every example keeps step with the clock

use std::time::{Duration, Instant};

use texla::Device;
use winit::application::ApplicationHandler;
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::window::WindowId;

use crate::support::{Failure, Report, Result, say};
use crate::surface::{Surface, no_window};

/// What plays, with everything that lives in the window's context. The surface is its last field, to be dropped last.
pub trait Play: Sized {
    /// What is left when the window has closed.
    type Seen;

    fn surface(&self) -> &Surface;

    /// Computes what is due, nothing in a pause, and shows it; returns how many frames have been computed since the
    /// window opened.
    fn picture(&mut self, paused: bool) -> Result<usize>;

    /// Begins anew.
    fn restart(&mut self) -> Result;

    /// The window has this size in pixels now.
    fn resize(&mut self, size: (u32, u32));

    /// What is neither the window's own affair nor a key: the mouse.
    fn event(&mut self, _event: WindowEvent, _paused: bool) -> Result {
        Ok(())
    }

    /// The window closes. Its context is current for the last time.
    fn close(self) -> Result<Self::Seen>;
}

/// Plays until the window is closed, or so many frames are done. Space pauses, R begins anew, Esc ends.
pub fn play<P: Play>(
    frames: Option<usize>,
    open: impl FnMut(&ActiveEventLoop) -> Result<P>,
) -> Result<P::Seen> {
    let events = EventLoop::new().map_err(no_window)?;
    let mut player = Player { open, frames, playing: None, paused: false, ended: None };
    events.run_app(&mut player).map_err(no_window)?;
    player.ended.unwrap_or_else(|| Err(Failure::unsolved("the window never opened")))
}

/// Says what the window's context runs on.
pub fn announce(device: &Device, report: &mut Report) {
    let found = device.capabilities();
    say(format_args!("{} ({}), {}", found.renderer, device.api(), found.version));
    report.device(found.renderer, found.version, device.api());
}

/// The application between the events that reach it.
struct Player<P: Play, F> {
    open: F,
    frames: Option<usize>,
    playing: Option<P>,
    paused: bool,
    /// The first failure, or else what was seen.
    ended: Option<Result<P::Seen>>,
}

impl<P: Play, F: FnMut(&ActiveEventLoop) -> Result<P>> Player<P, F> {
    fn event(&mut self, event: WindowEvent, events: &ActiveEventLoop) -> Result {
        let Some(playing) = &mut self.playing else { return Ok(()) };
        match event {
            WindowEvent::CloseRequested => events.exit(),
            WindowEvent::Resized(size) => {
                playing.surface().resize();
                playing.resize(size.into());
            }
            WindowEvent::KeyboardInput { event, .. }
                if event.state == ElementState::Pressed && !event.repeat =>
            {
                match &event.logical_key {
                    Key::Named(NamedKey::Escape) => events.exit(),
                    Key::Named(NamedKey::Space) => self.paused = !self.paused,
                    Key::Character(c) if c.eq_ignore_ascii_case("r") => playing.restart()?,
                    _ => {}
                }
            }
            WindowEvent::RedrawRequested => {
                let done = playing.picture(self.paused)?;
                playing.surface().present()?;
                if self.frames.is_some_and(|frames| done >= frames) {
                    events.exit();
                } else {
                    playing.surface().window().request_redraw();
                }
            }
            other => playing.event(other, self.paused)?,
        }
        Ok(())
    }

    fn fail(&mut self, failure: Failure, events: &ActiveEventLoop) {
        self.ended.get_or_insert(Err(failure));
        events.exit();
    }
}

impl<P: Play, F: FnMut(&ActiveEventLoop) -> Result<P>> ApplicationHandler for Player<P, F> {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        events.set_control_flow(ControlFlow::Poll);
        if self.playing.is_none() {
            match (self.open)(events) {
                Ok(playing) => self.playing = Some(playing),
                Err(failure) => self.fail(failure, events),
            }
        }
    }

    fn window_event(&mut self, events: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        if let Err(failure) = self.event(event, events) {
            self.fail(failure, events);
        }
    }

    /// The context is current only as long as the event loop has not taken its display down.
    fn exiting(&mut self, _: &ActiveEventLoop) {
        if let Some(playing) = self.playing.take() {
            let seen = playing.close();
            self.ended.get_or_insert(seen);
        }
    }
}

/// Keeps what is computed in step with the clock.
pub struct Pace {
    frame: Duration,
    most: u32,
    behind: Duration,
    last: Instant,
}

impl Pace {
    /// For frames that last so many seconds, of which at most `most` are computed between two pictures: a slow device
    /// plays in slow motion.
    pub fn new(seconds: f64, most: u32) -> Self {
        let frame = Duration::from_secs_f64(seconds);
        Pace { frame, most, behind: Duration::ZERO, last: Instant::now() }
    }

    /// How many frames the clock is ahead by now. A pause is not made up for.
    pub fn due(&mut self, paused: bool) -> u32 {
        let passed = self.last.elapsed();
        self.last += passed;
        if paused {
            self.behind = Duration::ZERO;
            return 0;
        }
        self.behind = (self.behind + passed).min(self.most * self.frame);
        let due = (self.behind.as_nanos() / self.frame.as_nanos()) as u32;
        self.behind -= due * self.frame;
        due
    }
}

/// Twice a second: often enough for a window's title.
pub struct Title(Instant);

impl Title {
    pub fn new() -> Self {
        Title(Instant::now())
    }

    /// Sets the title, if it is time.
    pub fn set(&mut self, surface: &Surface, text: impl FnOnce() -> String) {
        if self.0.elapsed() >= Duration::from_millis(500) {
            self.0 = Instant::now();
            surface.window().set_title(&text());
        }
    }
}
