//! Everything on drivers that are simulated.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::collections::BTreeMap;

use glow::HasContext;

use crate::common::driver::outcomes::{Outcomes, differences, options, some};
use crate::common::driver::{Driver, Installed, drivers};
use crate::common::harness::{alone, limits};
use crate::common::{egl, loader};
use crate::support::{Api, Result};
use texla::DeviceOptions;

/// What an application sets before the device is made.
type Set = fn(&Installed);

/// The values of an application: of the simulated extensions, and the hint.
type Values = (BTreeMap<(u32, u32), Vec<f64>>, i32);

fn values(driver: &Installed, gl: &glow::Context) -> Values {
    // SAFETY: the context is current.
    let hint = unsafe { gl.get_parameter_i32(glow::FRAGMENT_SHADER_DERIVATIVE_HINT) };
    (driver.state(), hint)
}

/// The hint that an i965 computes other derivatives with.
fn coarse(driver: &Installed) {
    // SAFETY: the context is current.
    unsafe { driver.glow().hint(glow::FRAGMENT_SHADER_DERIVATIVE_HINT, glow::FASTEST) };
}

/// For each driver of a dialect, by one operation in `stride` and those of simulations: the driver's name, operations with other outcomes than on the driver that is here under the same limits,
/// that had no effect, or after which a value of the application's was another; operations refused, and all.
pub fn simulated(api: Api, stride: usize) -> Result<Vec<(&'static str, usize, usize, usize)>> {
    let _alone = alone();
    let mut found = Vec::new();
    let run = |driver: Driver, set: Set, options: DeviceOptions| -> Result<(Outcomes, usize)> {
        loader::begin();
        let _current = egl::core(api, None);
        let driver = driver.install();
        set(&driver);
        let gl = driver.glow();
        let before = values(&driver, &gl);
        let dev = driver.try_device(options)?;
        let changed = Cell::new(0);
        let look = |_: &str| changed.set(changed.get() + usize::from(values(&driver, &gl) != before));
        let outcomes = some(&dev, stride, &look);
        Ok((outcomes, changed.get() + driver.spoiled()))
    };
    let (plain, _) = run(Driver::new("as it is"), |_| {}, options())?;
    let mut compare = |name, driver: Driver, set: Set, expected: &Outcomes| -> Result {
        let (got, changed) = run(driver, set, options())?;
        let refused = got.iter().filter(|(_, outcome)| outcome.is_err()).count();
        found.push((name, differences(&got, expected).len() + changed, refused, got.len()));
        Ok(())
    };
    compare("where derivatives follow a hint (i965)", drivers::i965(), coarse, &plain)?;
    compare("where no extension is that texla uses", drivers::oldest(api), |_| {}, &plain)?;
    if api == Api::Es30 {
        compare("on a phone's", drivers::phone(), drivers::set_phone, &plain)?;
        let limits = limits();
        let least = |a: Option<u32>, b| Some(a.unwrap_or(b).min(b));
        let (side, buffers) = (least(limits.max_texture_size, 4096), least(limits.max_draw_buffers, 4));
        let limits =
            limits.with_max_texture_size(side).with_max_draw_buffers(buffers).without_float_blend(true);
        let like = Driver::new("able").renderer("V3D 4.2");
        let (like, _) = run(like, |_| {}, DeviceOptions::default().with_limits(limits))?;
        compare("on V3D", drivers::v3d(), |_| {}, &like)?;
    }
    Ok(found)
}
