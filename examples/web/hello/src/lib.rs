use texla::{Device, DeviceOptions, HostState, Vector, ops};
use wasm_bindgen::{JsCast, JsError, prelude::wasm_bindgen};
use web_sys::{OffscreenCanvas, WebGl2RenderingContext};

/// The length of a vector, by a device of its own: what a page or a Worker calls.
#[wasm_bindgen]
pub fn length(values: &[f32]) -> Result<f32, JsError> {
    let context = context().ok_or_else(|| JsError::new("this browser has no WebGL 2"))?;
    let options = DeviceOptions::default().with_host_state(HostState::Own); // nobody else draws here
    let dev = Device::from_webgl2(context, options)?;
    let x = Vector::from_slice(&dev, values)?;
    Ok(ops::norm2(&x)?.read()?)
}

fn context() -> Option<WebGl2RenderingContext> {
    let canvas = OffscreenCanvas::new(1, 1).ok()?; // or one of the page's, to draw to as well
    Some(canvas.get_context("webgl2").ok()??.unchecked_into())
}
