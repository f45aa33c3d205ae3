//! Cores that are busy with something else.

use std::sync::atomic::{AtomicBool, Ordering};

/// Does this while two more threads keep the processor busy.
pub fn beside_busy_cores<T>(work: impl FnOnce() -> T) -> T {
    struct Done<'a>(&'a AtomicBool);

    // Of work that panics, too: or the threads would never end.
    impl Drop for Done<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _done = Done(&done);
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        work()
    })
}
