//! Everything on drivers that are simulated.

use crate::common::driver::outcomes::{Outcomes, all, differences, options};
use crate::common::driver::{Driver, drivers};
use crate::common::harness::{alone, limits};
use crate::common::{egl, loader};
use crate::support::{Api, Result};
use texla::DeviceOptions;

/// For each driver of a dialect: its name, operations with other outcomes than on the driver that is here under the same limits,
/// operations refused, and all.
pub fn simulated(api: Api) -> Result<Vec<(&'static str, usize, usize, usize)>> {
    let _alone = alone();
    let mut found = Vec::new();
    let mut compare = |name, driver: Driver, like: Option<(Driver, DeviceOptions)>| -> Result {
        let run = |driver: Driver, options: DeviceOptions| -> Result<Outcomes> {
            loader::begin();
            let _current = egl::core(api, None);
            let driver = driver.install();
            let dev = driver.try_device(options)?;
            Ok(all(&dev, &|_| {}))
        };
        let got = run(driver, options())?;
        let (like, under) = like.unwrap_or_else(|| (Driver::new("as it is"), options()));
        let expected = run(like, under)?;
        let refused = got.iter().filter(|(_, outcome)| outcome.is_err()).count();
        found.push((name, differences(&got, &expected).len(), refused, got.len()));
        Ok(())
    };
    compare("where derivatives follow a hint (i965)", drivers::i965(), None)?;
    compare("where no extension is that texla uses", drivers::oldest(api), None)?;
    if api == Api::Es30 {
        compare("on a phone's", drivers::phone(), None)?;
        let limits = limits();
        let least = |a: Option<u32>, b| Some(a.unwrap_or(b).min(b));
        let (side, buffers) = (least(limits.max_texture_size, 4096), least(limits.max_draw_buffers, 4));
        let limits =
            limits.with_max_texture_size(side).with_max_draw_buffers(buffers).without_float_blend(true);
        let like = Driver::new("able").renderer("V3D 4.2");
        compare("on V3D", drivers::v3d(), Some((like, DeviceOptions::default().with_limits(limits))))?;
    }
    Ok(found)
}
