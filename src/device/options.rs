//! How a device is set up.

use std::path::PathBuf;

use crate::gl::{Capabilities, HostState, Limits};

/// How a [`Device`](crate::Device) is set up.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// Limits below the device's own.
    pub limits: Limits,
    /// Bytes of unused textures that the pool keeps for reuse.
    pub pool_budget: u64,
    /// A folder that keeps linked programs (`glGetProgramBinary`) from one run to the next, where the driver hands them out
    /// ([`Capabilities::program_binaries`](crate::gl::Capabilities::program_binaries)); made when the first one is kept. They are found again by the whole text of
    /// their stages and by the names of driver and device; what is damaged, or what the driver does not know any more, is
    /// compiled as if it were not there, and where nothing can be written nothing is kept. The folder is the application's
    /// own: a driver is handed what stands in it. [`Counters::programs_taken_back`](crate::gl::Counters::programs_taken_back) says how often it helped.
    /// An empty path is refused.
    pub program_folder: Option<PathBuf>,
    /// Whose the context's GL state is. With [`HostState::Keep`] the application may have any state at any call: it makes no
    /// difference, and comes back. [`HostState::Own`] is for a context that nobody but texla sets state in: it is set once, when
    /// the device first works, and each operation changes of it what it needs. That saves what entering and leaving costs, 30 us on
    /// llvmpipe and milliseconds in a browser; a [scope](crate::Device::scope) around operations then gains nothing.
    ///
    /// An application that draws in such a context all the same says so by [`Device::reset_state`](crate::Device::reset_state) before texla's next call,
    /// and sets what its own draws need: after texla's calls anything may be bound and switched. No feedback of its own is active
    /// during them.
    pub host_state: HostState,
    /// What an earlier run found ([`Device::capabilities`](crate::Device::capabilities), saved as text), which spares the programs
    /// that probing compiles. It is taken where the context has the same
    /// [fingerprint](crate::gl::Capabilities::fingerprint) and claims at least as much; where not, the device is probed as without.
    pub capabilities: Option<Capabilities>,
}

with!(const DeviceOptions:
    with_limits(limits: Limits),
    with_pool_budget(pool_budget: u64),
    with_host_state(host_state: HostState),
);

with!(DeviceOptions:
    with_program_folder(program_folder: Option<PathBuf>),
    with_capabilities(capabilities: Option<Capabilities>),
);

impl Default for DeviceOptions {
    fn default() -> Self {
        DeviceOptions {
            limits: Limits::default(),
            pool_budget: 256 << 20,
            program_folder: None,
            host_state: HostState::Keep,
            capabilities: None,
        }
    }
}
