//! A profile as text.

use std::fmt;
use std::str::FromStr;

use super::DeviceProfile;
use crate::error::{Error, Result};
use crate::record::{Field, Named, Record};

impl Record for DeviceProfile {
    const HEADING: &'static str = "texla device profile 1";
    const WHAT: &'static str = "device profile";

    fn fields(&mut self) -> Vec<Named<'_>> {
        let [one, two, three, four] = &mut self.written_texel;
        let (rgba, r) = (&mut self.fetch, &mut self.fetch_r32f);
        vec![
            ("device", Field::Word(&mut self.device)),
            ("driver", Field::Word(&mut self.driver)),
            ("draw", Field::Seconds(&mut self.draw)),
            ("target_change", Field::Seconds(&mut self.target_change)),
            ("written_texel.1", Field::Seconds(one)),
            ("written_texel.2", Field::Seconds(two)),
            ("written_texel.3", Field::Seconds(three)),
            ("written_texel.4", Field::Seconds(four)),
            ("fetch.own", Field::Seconds(&mut rgba.own)),
            ("fetch.adjacent", Field::Seconds(&mut rgba.adjacent)),
            ("fetch.shifted", Field::Seconds(&mut rgba.shifted)),
            ("fetch.looped", Field::Seconds(&mut rgba.looped)),
            ("fetch.indexed", Field::Seconds(&mut rgba.indexed)),
            ("fetch.strided", Field::Seconds(&mut rgba.strided)),
            ("fetch.scattered", Field::Seconds(&mut rgba.scattered)),
            ("fetch_r32f.own", Field::Seconds(&mut r.own)),
            ("fetch_r32f.adjacent", Field::Seconds(&mut r.adjacent)),
            ("fetch_r32f.shifted", Field::Seconds(&mut r.shifted)),
            ("fetch_r32f.looped", Field::Seconds(&mut r.looped)),
            ("fetch_r32f.indexed", Field::Seconds(&mut r.indexed)),
            ("fetch_r32f.strided", Field::Seconds(&mut r.strided)),
            ("fetch_r32f.scattered", Field::Seconds(&mut r.scattered)),
            ("narrow_fetch", Field::Seconds(&mut self.narrow_fetch)),
            ("chained_fetch", Field::Seconds(&mut self.chained_fetch)),
            ("cut_texel", Field::Seconds(&mut self.cut_texel)),
            ("multiply_add", Field::Seconds(&mut self.multiply_add)),
            ("blended_texel", Field::Seconds(&mut self.blended_texel)),
            ("point", Field::Seconds(&mut self.point)),
            ("readback", Field::Seconds(&mut self.readback)),
            ("overlap", Field::Share(&mut self.overlap)),
        ]
    }
}

/// The heading `texla device profile 1`, then a line `name = value` for the device, the driver and each number in
/// seconds, with as many digits as it takes to read it back exactly.
impl fmt::Display for DeviceProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.clone().text())
    }
}

/// Reads what `Display` writes; lines after the heading may stand in any order.
///
/// # Errors
/// [`Error::File`] with the line, what was found and what was expected: another heading, a name that is unknown, doubled or
/// missing, a number that is negative or not finite, an overlap past 1.
impl FromStr for DeviceProfile {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::read(text)
    }
}
