//! What JavaScript calls. Everything that can fail throws an `Error` whose `name` is a word of `Failure::kind`.

#[cfg(feature = "work")]
mod bench;
mod gpu;
#[cfg(feature = "scenes")]
mod scenes;
#[cfg(feature = "work")]
mod work;

use js_sys::{Object, Reflect};
use wasm_bindgen::JsValue;

use crate::support::Failure;

/// What JavaScript sees of a result.
type Page<T = ()> = Result<T, JsValue>;

/// An error for JavaScript.
fn thrown(failure: impl Into<Failure>) -> JsValue {
    let failure = failure.into();
    let error = js_sys::Error::new(&failure.to_string());
    error.set_name(failure.kind());
    error.into()
}

/// An object with these members.
fn object<const N: usize>(members: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new();
    for (name, value) in members {
        // A new object takes any member.
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object.into()
}
