//! A driver that remembers the text of the shaders it is handed.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use super::egl;

thread_local! {
    static SEEN: RefCell<Vec<String>> = RefCell::default();
}

/// What this thread has handed over since it was asked last.
pub fn taken() -> Vec<String> {
    SEEN.take()
}

type ShaderSource = unsafe extern "system" fn(u32, i32, *const *const c_char, *const i32);

unsafe extern "system" fn shader_source(
    shader: u32,
    count: i32,
    texts: *const *const c_char,
    lengths: *const i32,
) {
    static DRIVER: OnceLock<ShaderSource> = OnceLock::new();
    let driver = DRIVER.get_or_init(|| {
        let at = egl::loader()("glShaderSource");
        assert!(!at.is_null());
        // SAFETY: an address under this name is a function of this type.
        unsafe { std::mem::transmute::<*const c_void, ShaderSource>(at) }
    });
    for i in 0..count as usize {
        // SAFETY: as many texts and lengths as `count` says; without a length a text ends in a zero.
        let text = unsafe {
            let (text, length) = (*texts.add(i), if lengths.is_null() { -1 } else { *lengths.add(i) });
            match usize::try_from(length) {
                Ok(length) => std::slice::from_raw_parts(text.cast::<u8>(), length),
                Err(_) => CStr::from_ptr(text).to_bytes(),
            }
        };
        SEEN.with_borrow_mut(|seen| seen.push(String::from_utf8_lossy(text).into_owned()));
    }
    // SAFETY: the caller's.
    unsafe { driver(shader, count, texts, lengths) }
}

/// The loader of [`egl::loader`], with this function in front.
pub fn loader() -> impl Fn(&str) -> *const c_void + Clone + 'static {
    let find = egl::loader();
    move |name: &str| match name {
        "glShaderSource" => shader_source as ShaderSource as *const c_void,
        _ => find(name),
    }
}
