//! State of extensions, set as an application would on drivers that have them: what comes of texla's work there.

use std::collections::BTreeMap;

use glow::HasContext;
use texla::gl::Api;
use texla::{Device, DeviceOptions, Error, Vector, ops};

use super::super::everything::draws;
use super::super::harness::{alone, headless, limits};
use super::extensions::EVERY;
use super::registry::{Outcome, ROWS, Row, drivers};
use super::{Driver, Installed};

/// Whether the context can have the values of a row: those of a later version it cannot, and a switch of one viewport needs the
/// functions that come with OpenGL ES 3.2 or with an extension.
fn is_possible(gl: &glow::Context, row: &Row) -> bool {
    let version = gl.version();
    let number = (version.major, version.minor);
    let of_one_viewport =
        |query| row.host.iter().any(|(of, index, _)| *of == query && ![0, EVERY].contains(index));
    let indexed = !version.is_embedded
        || number >= (3, 2)
        || ["GL_OES_viewport_array", "GL_NV_viewport_array"]
            .iter()
            .any(|e| gl.supported_extensions().contains(*e));
    let is_new = row.version.is_some_and(|needed| needed > number);
    let needs_index = row.extension.switches.iter().any(|(cap, _)| of_one_viewport(*cap));
    let possible = !is_new && (indexed || !needs_index);
    if !possible {
        eprintln!("not tried: {} on OpenGL ES {number:?}", row.extension.name);
    }
    possible
}

/// Runs this in a context for each driver with some of these extensions; what it is given puts the driver in front, by a name.
pub fn in_each_context(mut test: impl FnMut(Api, &[&'static Row], &dyn Fn(&str) -> Installed)) {
    for api in Api::ALL {
        for mut rows in drivers(api) {
            let _alone = alone();
            let context = headless(api);
            drop(context.device().scope().unwrap());
            rows.retain(|row| is_possible(&context.glow(), row));
            let Some(version) = rows.first().map(|row| row.version) else { continue };
            test(api, &rows, &|name| {
                // No other of them, if the real driver has it.
                let others = ROWS.iter().map(|row| row.extension.name);
                let others = others.filter(|name| rows.iter().all(|row| row.extension.name != *name));
                let mut driver = Driver::new(name).without_extensions(others);
                if let Some((major, minor)) = version {
                    driver = driver.version(major, minor);
                }
                rows.iter().fold(driver, |driver, row| driver.with(&row.extension)).install()
            });
        }
    }
}

/// Runs this on each driver.
pub fn on_each_driver(mut test: impl FnMut(Api, &[&Row], &Installed)) {
    in_each_context(|api, rows, install| test(api, rows, &install("extensions")));
}

pub fn set(driver: &Installed, row: &Row) {
    row.host.iter().for_each(|(query, index, value)| driver.value_at(*query, *index, value));
}

pub fn unset(driver: &Installed, row: &Row) {
    for query in row.extension.queries() {
        driver.value(query, &row.extension.default(query).unwrap());
    }
}

/// Draws of every kind, an upload and a readback.
pub fn work(dev: &Device) -> Vec<f32> {
    let values: Vec<f32> = (0..500).map(|i| 0.25 * i as f32 - 40.0).collect();
    let mut x = Vector::from_slice(dev, &values).unwrap();
    ops::scale(&mut x, 1.5).unwrap();
    let mut found = x.read().unwrap();
    found.push(ops::dot(&x, &x).unwrap().read().unwrap());
    found.extend(draws(dev, &mut |_, step| step()));
    found
}

pub fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// What the row says has to happen; else a word on what did.
pub fn faults(
    name: &str,
    dev: &Device,
    driver: &Installed,
    expected: &[f32],
    outcome: Outcome,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut fault = |text: String| faults.push(format!("{name}: {text}"));
    let (before, spoiled) = (driver.state(), driver.spoiled());
    assert!(!before.is_empty(), "{name}: the application has set nothing");
    let refused = |found: Result<(), Error>, word: &str| match found {
        Err(Error::Unsupported { what, .. }) if what.contains(word) => None,
        found => Some(format!("not refused as {word}: {found:?}")),
    };
    match outcome {
        Outcome::Refused(word) => {
            let mut tried = Vector::zeros(dev, 3).map(drop);
            tried = tried.and_then(|()| dev.scope().map(drop));
            refused(tried, word).map(&mut fault);
        }
        Outcome::Kept | Outcome::KeptByLoader(_) => {
            let found = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(dev)));
            match found {
                Ok(found) if bits(&found) == bits(expected) => {}
                Ok(_) => fault("other results".into()),
                Err(_) => fault("the work failed".into()),
            }
        }
    }
    if driver.spoiled() > spoiled {
        fault(format!("{} calls came to nothing", driver.spoiled() - spoiled));
    }
    if driver.state() != before {
        fault(format!("the application has {:x?}, expected {before:x?}", driver.state()));
    }
    faults
}

/// Each value by itself, and then all of those that can be restored together: the same bits as without, and the application's
/// values afterwards. What cannot be restored is refused by its name, and nothing has been drawn. How many values were tried in
/// this dialect, and what went otherwise.
pub fn swept(of: Api) -> (usize, Vec<String>) {
    let mut tried = 0;
    let mut found = Vec::new();
    on_each_driver(|api, rows, driver| {
        if api != of {
            return;
        }
        tried += rows.len();
        let dev = driver.device(DeviceOptions::default().with_limits(limits()));
        let expected = work(&dev);
        assert_eq!(driver.spoiled(), 0);
        for row in rows {
            set(driver, row);
            let name = format!("{} on {api}", row.extension.name);
            found.extend(faults(&name, &dev, driver, &expected, row.outcome));
            unset(driver, row);
            assert_eq!(driver.state(), BTreeMap::new(), "{name}");
        }
        let kept = rows.iter().filter(|row| !matches!(row.outcome, Outcome::Refused(_)));
        if kept.clone().count() < 2 {
            return;
        }
        kept.for_each(|row| set(driver, row));
        found.extend(faults(&format!("all on {api}"), &dev, driver, &expected, Outcome::Kept));
    });
    (tried, found)
}
