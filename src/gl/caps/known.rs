//! Capabilities that were found before in this process, and how a context is recognised.

use std::sync::Mutex;

use glow::HasContext;

use super::{Capabilities, Limits, STATED};
use crate::gl::api::Api;
use crate::gl::context::Gl;

/// What was found, with the functions by which it was found: see [`Raw::functions`](crate::gl::Raw::functions).
type Known = Vec<(u64, Capabilities)>;

/// Only what a whole probing has found stands here: whatever fails in passing fails the device that is being made, and no other
/// one.
static KNOWN: Mutex<Known> = Mutex::new(Vec::new());

/// How many are kept; the oldest goes first.
const KEPT: usize = 32;

/// What was found in a context that says the same of itself, through the same functions.
pub(super) fn find(gl: &Gl, named: &Capabilities) -> Option<Capabilities> {
    let functions = gl.raw.functions()?;
    let known = KNOWN.lock().ok()?;
    let found = known.iter().find(|(by, caps)| *by == functions && caps.fit(named));
    found.map(|(_, caps)| caps.clone())
}

/// Keeps what was found.
pub(super) fn keep(gl: &Gl, found: &Capabilities) {
    let (Some(functions), Ok(mut known)) = (gl.raw.functions(), KNOWN.lock()) else { return };
    if known.len() >= KEPT {
        known.remove(0);
    }
    known.push((functions, found.clone()));
}

/// Everything that a context says of itself and that could change what is found in it.
pub(super) fn fingerprint(gl: &Gl, limits: &Limits) -> u64 {
    const CONTEXT_FLAGS: u32 = 0x821E;
    let mut words =
        vec![env!("CARGO_PKG_VERSION").to_owned(), format!("{} {:?} {limits:?}", gl.api, gl.version)];
    let mut extensions: Vec<&str> = Vec::new();
    for name in gl.raw.supported_extensions() {
        extensions.insert(extensions.partition_point(|other| *other < name.as_str()), name);
    }
    // SAFETY: the context is current; these queries exist in every version, the last two in those that are asked.
    unsafe {
        let names = [glow::VENDOR, glow::RENDERER, glow::VERSION, glow::SHADING_LANGUAGE_VERSION];
        words.extend(names.map(|name| gl.raw.get_parameter_string(name)));
        words.push(gl.raw.renderer());
        let blocks = [glow::MAX_UNIFORM_BLOCK_SIZE, glow::MAX_VERTEX_UNIFORM_BLOCKS];
        words.extend(
            STATED.into_iter().chain(blocks).map(|limit| gl.raw.get_parameter_i32(limit).to_string()),
        );
        if gl.api == Api::Gl33 {
            let about = [CONTEXT_FLAGS, glow::CONTEXT_PROFILE_MASK];
            words.extend(about.map(|about| gl.raw.get_parameter_i32(about).to_string()));
        }
    }
    hash(words.iter().map(String::as_str).chain(extensions))
}

/// FNV-1a of 64 bits, the same in every run and on every machine; the words do not run into one another.
pub(super) fn hash<'a>(words: impl IntoIterator<Item = &'a str>) -> u64 {
    let bytes = words.into_iter().flat_map(|word| word.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
