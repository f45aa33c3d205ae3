//! What a browser has in another way than an operating system: the clock, threads, and functions of angles.

use std::sync::OnceLock;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use std::time::Instant;
#[cfg(target_arch = "wasm32")]
pub(crate) use web::{Instant, cosine};

/// Whether the program runs in a browser.
pub(crate) const BROWSER: bool = cfg!(target_arch = "wasm32");

/// The cosine. A browser has its own, which a module need not bring: tables for angles of any size are 5 KB.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn cosine(angle: f64) -> f64 {
    angle.cos()
}

/// Asking takes as long as many a short list.
static CORES: OnceLock<usize> = OnceLock::new();

/// How many threads to work on, of so many asked for: 0 asks for one on each core. A browser's program is one thread.
pub(crate) fn threads(asked: usize) -> usize {
    match asked {
        _ if BROWSER => 1,
        0 => *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, |count| count.get())),
        asked => asked,
    }
}

/// The clock of a page and of a worker, where that of the standard library panics.
#[cfg(target_arch = "wasm32")]
mod web {
    use std::ops::Add;
    use std::time::Duration;

    use wasm_bindgen::prelude::wasm_bindgen;

    #[wasm_bindgen]
    extern "C" {
        /// Milliseconds since the page or the worker began.
        #[wasm_bindgen(js_namespace = performance, js_name = now)]
        fn milliseconds() -> f64;

        /// The cosine.
        #[wasm_bindgen(js_namespace = Math, js_name = cos)]
        pub(crate) fn cosine(angle: f64) -> f64;
    }

    /// A moment, by the time since the page or the worker began.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) struct Instant(Duration);

    impl Instant {
        pub fn now() -> Self {
            Instant(Duration::try_from_secs_f64(milliseconds() / 1e3).unwrap_or_default())
        }

        pub fn elapsed(&self) -> Duration {
            Self::now().0.saturating_sub(self.0)
        }

        pub fn checked_add(&self, duration: Duration) -> Option<Self> {
            self.0.checked_add(duration).map(Instant)
        }
    }

    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, duration: Duration) -> Self {
            Instant(self.0.saturating_add(duration))
        }
    }
}
