//! A driver that fails to order: a loader that puts functions of its own in front of some of the driver's.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::OnceLock;

use super::egl;

/// Calls that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// `glTexImage2D`: memory for a texture.
    Texture,
    /// `glBufferData`: memory for a buffer.
    Buffer,
    /// `glDrawArrays`.
    Draw,
}

impl Call {
    pub const ALL: [Call; 3] = [Call::Texture, Call::Buffer, Call::Draw];
}

/// What is to go wrong on this thread, and what has been seen.
#[derive(Default)]
struct Faults {
    /// Error flags raised and not yet asked for.
    flags: VecDeque<u32>,
    /// Calls of each kind since the order was given.
    calls: [u32; 3],
    order: Option<(Call, Range<u32>, &'static [u32])>,
    lost: bool,
}

thread_local! {
    static FAULTS: RefCell<Faults> = RefCell::default();
}

/// Of the calls of this kind from now on, those with these numbers are left undone and raise all these flags. A lost
/// context stays so until [`heal`].
pub fn fail(call: Call, numbers: Range<u32>, flags: &'static [u32]) {
    FAULTS.set(Faults { order: Some((call, numbers, flags)), ..Faults::default() });
}

/// Raises these flags now, as if the application had.
pub fn raise(flags: &[u32]) {
    FAULTS.with_borrow_mut(|f| f.flags.extend(flags));
}

/// The context is lost from now on.
pub fn lose() {
    FAULTS.set(Faults { lost: true, ..Faults::default() });
}

/// Nothing fails any more, and nothing has.
pub fn heal() {
    FAULTS.take();
}

/// Calls of this kind since the last order.
pub fn calls(call: Call) -> u32 {
    FAULTS.with_borrow(|f| f.calls[call as usize])
}

/// Error flags that nobody has asked for.
pub fn pending() -> usize {
    FAULTS.with_borrow(|f| f.flags.len())
}

/// Whether this call goes through to the driver.
fn passes(call: Call) -> bool {
    FAULTS.with_borrow_mut(|f| {
        let number = f.calls[call as usize];
        f.calls[call as usize] += 1;
        let Some((_, _, flags)) = f.order.clone().filter(|(c, at, _)| *c == call && at.contains(&number))
        else {
            return !f.lost;
        };
        f.lost |= flags.contains(&glow::CONTEXT_LOST);
        f.flags.extend(flags);
        false
    })
}

type GetError = unsafe extern "system" fn() -> u32;
type GetString = unsafe extern "system" fn(u32) -> *const u8;
type TexImage = unsafe extern "system" fn(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
type BufferData = unsafe extern "system" fn(u32, isize, *const c_void, u32);
type DrawArrays = unsafe extern "system" fn(u32, i32, i32);

/// The driver's own functions.
struct Driver {
    get_error: GetError,
    get_string: GetString,
    tex_image: TexImage,
    buffer_data: BufferData,
    draw_arrays: DrawArrays,
}

fn driver() -> &'static Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let find = egl::loader();
        macro_rules! of {
            ($name:literal, $kind:ty) => {{
                let at = find($name);
                assert!(!at.is_null(), $name);
                // SAFETY: an address under this name is a function of this type.
                unsafe { std::mem::transmute::<*const c_void, $kind>(at) }
            }};
        }
        Driver {
            get_error: of!("glGetError", GetError),
            get_string: of!("glGetString", GetString),
            tex_image: of!("glTexImage2D", TexImage),
            buffer_data: of!("glBufferData", BufferData),
            draw_arrays: of!("glDrawArrays", DrawArrays),
        }
    })
}

unsafe extern "system" fn get_error() -> u32 {
    let own = FAULTS.with_borrow_mut(|f| if f.lost { Some(glow::CONTEXT_LOST) } else { f.flags.pop_front() });
    // SAFETY: the caller's.
    own.unwrap_or_else(|| unsafe { (driver().get_error)() })
}

unsafe extern "system" fn get_string(name: u32) -> *const u8 {
    if FAULTS.with_borrow(|f| f.lost) {
        return std::ptr::null();
    }
    // SAFETY: the caller's.
    unsafe { (driver().get_string)(name) }
}

#[allow(clippy::too_many_arguments)]
unsafe extern "system" fn tex_image(
    target: u32,
    level: i32,
    internal: i32,
    width: i32,
    height: i32,
    border: i32,
    format: u32,
    kind: u32,
    data: *const c_void,
) {
    if passes(Call::Texture) {
        // SAFETY: the caller's.
        unsafe { (driver().tex_image)(target, level, internal, width, height, border, format, kind, data) }
    }
}

unsafe extern "system" fn buffer_data(target: u32, size: isize, data: *const c_void, usage: u32) {
    if passes(Call::Buffer) {
        // SAFETY: the caller's.
        unsafe { (driver().buffer_data)(target, size, data, usage) }
    }
}

unsafe extern "system" fn draw_arrays(mode: u32, first: i32, count: i32) {
    if passes(Call::Draw) {
        // SAFETY: the caller's.
        unsafe { (driver().draw_arrays)(mode, first, count) }
    }
}

/// The loader of [`egl::loader`], with these functions in front.
pub fn loader() -> impl Fn(&str) -> *const c_void + Clone + 'static {
    let find = egl::loader();
    move |name: &str| match name {
        "glGetError" => get_error as GetError as *const c_void,
        "glGetString" => get_string as GetString as *const c_void,
        "glTexImage2D" => tex_image as TexImage as *const c_void,
        "glBufferData" => buffer_data as BufferData as *const c_void,
        "glDrawArrays" => draw_arrays as DrawArrays as *const c_void,
        _ => find(name),
    }
}
