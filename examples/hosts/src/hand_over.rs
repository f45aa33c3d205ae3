//! What goes from a thread to another whose contexts share their objects: names, as numbers.

use std::num::NonZeroU32;

use glow::HasContext;

/// A fence in glow is a pointer, which the compiler keeps on its thread. Its address may go to another. One owner at a time: whoever
/// waits deletes it.
pub struct Fence(usize);

/// A texture with the fence that is signalled once its contents are finished.
pub struct Finished {
    pub texture: NonZeroU32,
    pub fence: Fence,
}

impl From<glow::NativeFence> for Fence {
    fn from(fence: glow::NativeFence) -> Self {
        Fence(fence.0 as usize)
    }
}

impl Fence {
    /// Behind all commands of the current context so far. Flushed: or another might wait for what is never begun.
    ///
    /// # Safety
    /// The context is current.
    pub unsafe fn after_commands_of(gl: &glow::Context) -> Result<Self, String> {
        // SAFETY: the caller's.
        unsafe {
            let fence = gl.fence_sync(glow::SYNC_GPU_COMMANDS_COMPLETE, 0)?;
            gl.flush();
            Ok(fence.into())
        }
    }

    /// Lets the GPU wait: this context's later commands run after the fence, and this thread goes on.
    ///
    /// # Safety
    /// A context is current that shares objects with the one that made the fence.
    pub unsafe fn hold_commands_of(self, gl: &glow::Context) {
        let fence = glow::NativeFence(self.0 as *mut _);
        // SAFETY: the caller's; the fence is alive, since this is its only owner.
        unsafe {
            gl.wait_sync(fence, 0, glow::TIMEOUT_IGNORED);
            gl.delete_sync(fence);
        }
    }

    /// Lets this thread wait, for toolkits that draw in a context which is not current here.
    ///
    /// # Safety
    /// As for [`hold_commands_of`](Self::hold_commands_of).
    pub unsafe fn hold_this_thread(self, gl: &glow::Context) -> Result<(), String> {
        let fence = glow::NativeFence(self.0 as *mut _);
        // SAFETY: the caller's; the fence is alive, since this is its only owner.
        unsafe {
            let status = loop {
                match gl.client_wait_sync(fence, 0, 100_000_000) {
                    glow::TIMEOUT_EXPIRED => {}
                    status => break status,
                }
            };
            gl.delete_sync(fence);
            // Why, glGetError knows.
            if status == glow::WAIT_FAILED { Err("the fence cannot be waited for".into()) } else { Ok(()) }
        }
    }
}
