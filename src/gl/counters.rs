//! What texla holds and what it has done, as numbers a test can assert.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// GL objects alive, per class. Zero in every class once the device and all its data are dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LiveObjects {
    /// Textures, those waiting in the pool included.
    pub textures: u64,
    /// Vertex and pixel buffers.
    pub buffers: u64,
    /// Framebuffers.
    pub framebuffers: u64,
    /// Linked programs.
    pub programs: u64,
    /// Shader objects; none outlives the compilation of its program.
    pub shaders: u64,
    /// Vertex arrays.
    pub vertex_arrays: u64,
    /// Sampler objects.
    pub samplers: u64,
    /// Fences.
    pub fences: u64,
    /// Queries.
    pub queries: u64,
    /// Transform feedback objects.
    pub transform_feedbacks: u64,
}

with!(const LiveObjects:
    with_textures(textures: u64),
    with_buffers(buffers: u64),
    with_framebuffers(framebuffers: u64),
    with_programs(programs: u64),
    with_shaders(shaders: u64),
    with_vertex_arrays(vertex_arrays: u64),
    with_samplers(samplers: u64),
    with_fences(fences: u64),
    with_queries(queries: u64),
    with_transform_feedbacks(transform_feedbacks: u64),
);

impl LiveObjects {
    /// The sum over all classes.
    pub fn total(&self) -> u64 {
        self.textures
            + self.buffers
            + self.framebuffers
            + self.programs
            + self.shaders
            + self.vertex_arrays
            + self.samplers
            + self.fences
            + self.queries
            + self.transform_feedbacks
    }
}

/// Work done since the device was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Draws. A long one is cut into bands, so that no call takes long; they count as one.
    pub draws: u64,
    /// Changes of the render target, the dear thing on a software rasteriser.
    pub passes: u64,
    /// Clears.
    pub clears: u64,
    /// Uploads of texture or buffer data.
    pub uploads: u64,
    /// Bytes uploaded.
    pub upload_bytes: u64,
    /// Readbacks that waited for the device.
    pub readbacks: u64,
    /// Readbacks issued into a pixel buffer and polled.
    pub async_checks: u64,
    /// Bytes read back, either way.
    pub readback_bytes: u64,
    /// Copies on the device, from or to a buffer.
    pub copies: u64,
    /// Programs compiled and linked.
    pub compiles: u64,
    /// Programs taken from [`DeviceOptions::program_folder`](crate::DeviceOptions::program_folder) instead.
    pub programs_taken_back: u64,
    /// Time spent compiling and linking, or taking back.
    pub compile_time: Duration,
    /// Times the host's GL state was saved; of a device that [owns](super::HostState::Own) it, times it was set.
    pub state_saves: u64,
}

impl Counters {
    /// The work done since `earlier` was taken.
    pub fn since(&self, earlier: &Counters) -> Counters {
        Counters {
            draws: self.draws - earlier.draws,
            passes: self.passes - earlier.passes,
            clears: self.clears - earlier.clears,
            uploads: self.uploads - earlier.uploads,
            upload_bytes: self.upload_bytes - earlier.upload_bytes,
            readbacks: self.readbacks - earlier.readbacks,
            async_checks: self.async_checks - earlier.async_checks,
            readback_bytes: self.readback_bytes - earlier.readback_bytes,
            copies: self.copies - earlier.copies,
            compiles: self.compiles - earlier.compiles,
            programs_taken_back: self.programs_taken_back - earlier.programs_taken_back,
            compile_time: self.compile_time.saturating_sub(earlier.compile_time),
            state_saves: self.state_saves - earlier.state_saves,
        }
    }
}

/// The cells behind both, shared so that a test can look after the device is gone.
#[derive(Clone, Default)]
pub(crate) struct Ledger(Rc<(Cell<LiveObjects>, RefCell<Counters>)>);

impl Ledger {
    pub fn live(&self) -> LiveObjects {
        self.0.0.get()
    }

    pub fn counters(&self) -> Counters {
        *self.0.1.borrow()
    }

    pub fn change_live(&self, f: impl FnOnce(&mut LiveObjects)) {
        let mut live = self.0.0.get();
        f(&mut live);
        self.0.0.set(live);
    }

    pub fn count(&self, f: impl FnOnce(&mut Counters)) {
        f(&mut self.0.1.borrow_mut());
    }
}
