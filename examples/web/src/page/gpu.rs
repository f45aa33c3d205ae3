//! The device of a page.

use texla::gl::HostState;
use texla::{Device, DeviceOptions};
use wasm_bindgen::prelude::*;
use web_sys::WebGl2RenderingContext;

use super::{Page, object, thrown};

/// A device on a page's context.
#[wasm_bindgen]
pub struct Gpu {
    pub(super) device: Device,
}

#[wasm_bindgen]
impl Gpu {
    /// A device on a context that nobody else draws in (`own`), or whose state is somebody else's.
    #[wasm_bindgen(constructor)]
    pub fn new(context: WebGl2RenderingContext, own: bool) -> Page<Gpu> {
        let state = if own { HostState::Own } else { HostState::Keep };
        let options = DeviceOptions::default().with_host_state(state);
        let device = Device::from_webgl2(context, options).map_err(thrown)?;
        Ok(Gpu { device })
    }

    /// The names of the driver and what matters most of what was found.
    pub fn about(&self) -> JsValue {
        let caps = self.device.capabilities();
        object([
            ("renderer", caps.renderer.as_str().into()),
            ("vendor", caps.vendor.as_str().into()),
            ("version", caps.version.as_str().into()),
            ("api", self.device.api().to_string().into()),
            ("software", caps.software.into()),
            ("textures", caps.max_texture_size.into()),
            ("targets", caps.max_draw_buffers.into()),
            ("blends", caps.float_blend.into()),
            ("certifies", caps.exact_form.is_some().into()),
        ])
    }

    /// Work so far and what is alive.
    pub fn counters(&self) -> JsValue {
        let (done, live) = (self.device.counters(), self.device.live_objects());
        object([
            ("draws", (done.draws as f64).into()),
            ("uploads", (done.uploads as f64).into()),
            ("readbacks", (done.readbacks as f64).into()),
            ("checks", (done.async_checks as f64).into()),
            ("textures", (live.textures as f64).into()),
            ("buffers", (live.buffers as f64).into()),
            ("framebuffers", (live.framebuffers as f64).into()),
            ("programs", (live.programs as f64).into()),
        ])
    }
}

/// What pages are told in words.
#[cfg(feature = "work")]
mod told {
    use js_sys::Function;
    use wasm_bindgen::prelude::*;

    use super::super::{Page, thrown};
    use super::Gpu;
    use crate::{capabilities, results};

    #[wasm_bindgen]
    impl Gpu {
        /// A line `name<TAB>value` for everything found by probing.
        pub fn capabilities(&self) -> String {
            let line = |(name, found)| {
                let value = match found {
                    capabilities::Found::Flag(flag) => if flag { "yes" } else { "no" }.to_owned(),
                    capabilities::Found::Number(number) => number.to_string(),
                    capabilities::Found::Word(word) => word,
                };
                format!("{name}\t{value}\n")
            };
            capabilities::list(&self.device.capabilities()).into_iter().map(line).collect()
        }

        /// A line for everything that the device falls short of.
        pub fn quirks(&self) -> String {
            capabilities::quirks(&self.device.capabilities()).join("\n")
        }

        /// Work that is always the same: a line `name<TAB>hash<TAB>error<TAB>bound` for each, as the program `reference` prints it.
        /// `between` is called after each; what it throws comes at the end.
        pub fn results(&self, between: Option<Function>) -> Page<String> {
            let mut own = Ok(JsValue::UNDEFINED);
            let outcomes = results::all(&self.device, &mut || {
                if let (Some(between), Ok(_)) = (&between, &own) {
                    own = between.call0(&JsValue::NULL);
                }
            });
            own?;
            let outcomes = outcomes.map_err(thrown)?;
            Ok(outcomes.iter().map(|outcome| format!("{outcome}\n")).collect())
        }

        /// One number for the hashes of these lines.
        pub fn digest(&self) -> Page<String> {
            let outcomes = results::all(&self.device, &mut || {}).map_err(thrown)?;
            Ok(format!("{:016x}", results::digest(&outcomes)))
        }
    }
}
