//! A screen without a monitor, and windows on it that no window library has made.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{CString, c_ulong};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

use raw_window_handle::{
    DisplayHandle, HandleError, HasDisplayHandle, HasWindowHandle, RawDisplayHandle, RawWindowHandle,
    WindowHandle, XlibDisplayHandle, XlibWindowHandle,
};
use x11_dl::xlib::{self, Xlib};

const PACKAGES: &str = "install the Debian packages xvfb and libx11-6, as `make setup-tests` does";

/// An X server of the test's own, which ends with it.
pub struct Screen {
    server: Child,
    name: String,
    /// How many windows have been opened: each beside the one before, for what is covered cannot be read.
    windows: Cell<i32>,
}

impl Screen {
    /// Fails the test where there is no Xvfb.
    pub fn start() -> Self {
        let mut command = Command::new("Xvfb");
        command.args(["-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset"]);
        let server = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut server = server.unwrap_or_else(|e| panic!("no Xvfb to open windows on ({e}): {PACKAGES}"));
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        let number: u32 =
            number.trim().parse().unwrap_or_else(|_| panic!("Xvfb has not started: {number:?}"));
        Screen { server, name: format!(":{number}"), windows: Cell::new(0) }
    }

    /// What `DISPLAY` has to be.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A window by Xlib alone. Its connection stays open, as the driver knows it.
pub struct Window {
    xlib: Xlib,
    display: *mut xlib::Display,
    window: c_ulong,
    /// Whether the handle says which visual the window has: window libraries need not.
    with_visual: bool,
    open: Rc<Cell<bool>>,
}

impl Window {
    pub fn open(screen: &Screen, (width, height): (u32, u32), with_visual: bool) -> Self {
        let xlib = Xlib::open().unwrap_or_else(|e| panic!("no Xlib ({e}): {PACKAGES}"));
        let name = CString::new(screen.name()).unwrap();
        let count = screen.windows.replace(screen.windows.get() + 1);
        let (x, y) = (160 * (count % 4), 120 * (count / 4 % 4));
        // SAFETY: the display is open from the second call on.
        unsafe {
            let display = (xlib.XOpenDisplay)(name.as_ptr());
            assert!(!display.is_null(), "{} cannot be opened", screen.name());
            let root = (xlib.XDefaultRootWindow)(display);
            let window = (xlib.XCreateSimpleWindow)(display, root, x, y, width, height, 0, 0, 0);
            (xlib.XMapWindow)(display, window);
            (xlib.XSync)(display, 0);
            Window { xlib, display, window, with_visual, open: Rc::new(Cell::new(true)) }
        }
    }

    /// True as long as the window is there.
    pub fn is_open(&self) -> Rc<Cell<bool>> {
        Rc::clone(&self.open)
    }

    pub fn resize(&self, (width, height): (u32, u32)) {
        // SAFETY: the window is there.
        unsafe {
            (self.xlib.XResizeWindow)(self.display, self.window, width, height);
            (self.xlib.XSync)(self.display, 0);
        }
    }

    /// What is to be seen at this place, from the upper left corner: red, green, blue.
    pub fn pixel(&self, x: i32, y: i32) -> [u8; 3] {
        // SAFETY: the window is there, and has this pixel.
        unsafe {
            (self.xlib.XSync)(self.display, 0);
            let image =
                (self.xlib.XGetImage)(self.display, self.window, x, y, 1, 1, c_ulong::MAX, xlib::ZPixmap);
            assert!(!image.is_null(), "no pixel at {x}, {y}");
            let [_, r, g, b] = ((self.xlib.XGetPixel)(image, 0, 0) as u32).to_be_bytes();
            (self.xlib.XDestroyImage)(image);
            [r, g, b]
        }
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.open.set(false);
        // SAFETY: the window is there for the last time.
        unsafe {
            (self.xlib.XDestroyWindow)(self.display, self.window);
            (self.xlib.XSync)(self.display, 0);
        }
    }
}

impl HasWindowHandle for Window {
    fn window_handle(&self) -> Result<WindowHandle<'_>, HandleError> {
        let mut handle = XlibWindowHandle::new(self.window);
        if self.with_visual {
            // SAFETY: the display is open.
            unsafe {
                let visual =
                    (self.xlib.XDefaultVisual)(self.display, (self.xlib.XDefaultScreen)(self.display));
                handle.visual_id = (self.xlib.XVisualIDFromVisual)(visual);
            }
        }
        // SAFETY: the window is there as long as this is borrowed.
        Ok(unsafe { WindowHandle::borrow_raw(RawWindowHandle::Xlib(handle)) })
    }
}

impl HasDisplayHandle for Window {
    fn display_handle(&self) -> Result<DisplayHandle<'_>, HandleError> {
        // SAFETY: the display stays open.
        unsafe {
            let screen = (self.xlib.XDefaultScreen)(self.display);
            let handle = XlibDisplayHandle::new(std::ptr::NonNull::new(self.display.cast()), screen);
            Ok(DisplayHandle::borrow_raw(RawDisplayHandle::Xlib(handle)))
        }
    }
}
