//! Fences that llvmpipe's scenes leave behind, kept until no thread of the driver can be inside one.
//!
//! With rasteriser threads, Mesa 22.3.6 frees a scene's fence as soon as the fence counts as signalled, while the thread that has
//! signalled it may still hold its mutex. A fence object of GL's keeps the driver's: so texla makes one for each scene, and deletes
//! it when so many have followed that a later scene has ended. Every thread signals every scene, one after the other: none is left
//! in this one's. See "On llvmpipe" in the guide.
//!
//! And its vertex stage, which does not wait for these threads.

use std::collections::VecDeque;

use glow::HasContext;

use super::context::{Gl, GlInner};
use super::program::Program;
use super::raw::HostFence;
use crate::error::Result;
use crate::platform::BROWSER;

/// How many are kept: the driver has 64 scenes under way at most, and a scene may have several.
const KEPT: usize = 256;

/// The fences of the last scenes, oldest first; `None` where none need to be kept.
pub(super) type Fences = Option<VecDeque<glow::Fence>>;

/// Whether the driver has rasteriser threads: it has unless the variable that it reads says otherwise, or there is one core.
fn has_threads(renderer: &str) -> bool {
    renderer.contains("llvmpipe") && std::env::var("LP_NUM_THREADS").ok().as_deref() != Some("0")
}

impl Gl {
    /// What is known of the driver by its name. A browser's driver is in another process, which keeps its own fences.
    pub(super) fn know_threads(&self, renderer: &str) {
        let threads = has_threads(renderer);
        self.vertices_overtake.set(threads);
        *self.fences.borrow_mut() = (threads && !BROWSER).then(Default::default);
    }

    /// Before a draw whose vertex stage may read textures: llvmpipe runs that stage at once, in the thread that draws, while its other
    /// threads may still draw into what it reads. Needs an open scope.
    pub(super) fn wait_for_inputs(&self, program: &Program) {
        if program.reads_early() && self.vertices_overtake.get() {
            self.keep_fence();
            // SAFETY: the context is current inside a scope.
            unsafe { self.raw.finish() };
        }
    }
}

impl Gl {
    /// A flushed fence for the host, behind all work so far. The host's, so that it is counted nowhere. Needs an open scope.
    pub fn host_fence(&self) -> Result<HostFence> {
        self.keep_fence();
        // SAFETY: the context is current inside a scope.
        let fence = self.made("fence", unsafe { self.raw.host_fence() })?;
        // SAFETY: as above.
        unsafe { self.raw.flush() };
        Ok(fence)
    }

    /// Before what makes the driver end its scene: another target, pixels read or written, waiting. Needs an open scope.
    pub(super) fn keep_fence(&self) {
        let Some(kept) = &mut *self.fences.borrow_mut() else { return };
        // SAFETY: the context is current inside a scope; the fences are ours.
        unsafe {
            if let Ok(fence) = self.raw.fence_sync(glow::SYNC_GPU_COMMANDS_COMPLETE, 0) {
                self.ledger.change_live(|l| l.fences += 1);
                kept.push_back(fence);
            }
            if kept.len() > KEPT
                && let Some(oldest) = kept.pop_front()
            {
                self.raw.delete_sync(oldest);
                self.ledger.change_live(|l| l.fences -= 1);
            }
        }
    }
}

impl GlInner {
    /// Deletes all of them, once the device has done its work.
    pub fn trim_fences(&self) {
        let Some(kept) = &mut *self.fences.borrow_mut() else { return };
        if kept.is_empty() {
            return;
        }
        let count = kept.len() as u64;
        // SAFETY: the context is current; the fences are ours.
        unsafe {
            self.raw.finish();
            kept.drain(..).for_each(|fence| self.raw.delete_sync(fence));
        }
        self.ledger.change_live(|l| l.fences -= count);
    }
}
