//! Steps of the one list of everything that may end in an error: what they have come to, as a value.

use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};

thread_local! {
    /// Where the last panic was, and its text.
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Runs this without a word about panics that [`attempt`] takes for results; any other one is the caller's.
pub fn quietly<T>(run: impl FnOnce() -> T) -> T {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|info| {
        let at = info.location().map(ToString::to_string).unwrap_or_default();
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        PANIC.set(Some((at, text)));
    }));
    let ran = catch_unwind(AssertUnwindSafe(run));
    panic::set_hook(hook);
    ran.unwrap_or_else(|_| {
        let (at, text) = PANIC.take().unwrap_or_default();
        panic!("{at}: {text}");
    })
}

/// The results of a step as bits, or the error that it unwrapped. Any other panic goes on.
pub fn attempt(step: &dyn Fn() -> Vec<f32>) -> Result<Vec<u32>, String> {
    error_of(step).map(|values| values.into_iter().map(f32::to_bits).collect())
}

/// What this returns, or the error that a step of everything, or what comes before its steps, unwrapped.
pub fn error_of<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let (at, text) = PANIC.take().unwrap_or_default();
        let error = text.strip_prefix("called `Result::unwrap()` on an `Err` value: ");
        if let Some(error) = error.filter(|_| at.contains("tests/common/everything")) {
            return error.to_owned();
        }
        PANIC.set(Some((at, text)));
        panic::resume_unwind(payload)
    })
}
