//! Textures kept for reuse [Krueger05] 44.3.4 (`clMemMan`): one free list per size class and format, with a byte
//! budget past which the longest unused go.
//!
//! Data that a host can be handed has a class of its own for every extent, so that a vector's texture is never larger
//! than the vector's extent. Scratch textures, which no one sees, are rounded up to powers of two.

use rustc_hash::FxHashMap;

use crate::gl::{Format, Texture};
use crate::shape::Extent;

use crate::device::Device;

/// What the memory manager holds and has done \[Krueger05\] 44.3.4: see [`Device::pool_stats`].
///
/// Every texture of texla's comes from the pool and goes back to it when its last handle drops. A request is served by a
/// waiting texture of the same format and extent, and only else by the driver; so work that is repeated creates nothing
/// after its first round. Textures that wait are kept up to the budget of
/// [`DeviceOptions`](crate::device::DeviceOptions), the longest unused go first; [`Device::trim`] lets go of all of them,
/// and so does the pool by itself when the driver has no memory left.
///
/// ```
/// use texla::{Vector, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let mut x = Vector::filled(dev, 1000, 1.0)?; // 16 x 16 texels of 16 bytes
/// ops::scale(&mut x, 2.0)?; // into another texture; the first one waits
/// let before = dev.pool_stats();
/// assert_eq!((before.live, before.live_bytes, before.free), (1, 4096, 1));
/// ops::scale(&mut x, 2.0)?; // and is used again
/// let after = dev.pool_stats();
/// assert_eq!((after.allocated - before.allocated, after.reused - before.reused), (0, 1));
/// dev.trim()?;
/// assert_eq!((dev.pool_stats().live, dev.pool_stats().free), (1, 0));
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolStats {
    /// Textures in use by data and operations.
    pub live: u64,
    /// Their bytes.
    pub live_bytes: u64,
    /// Most textures ever in use at once.
    pub peak: u64,
    /// Most bytes ever in use at once.
    pub peak_bytes: u64,
    /// Textures waiting for reuse.
    pub free: u64,
    /// Their bytes, at most the budget.
    pub free_bytes: u64,
    /// Requests served from the free lists.
    pub reused: u64,
    /// Their bytes.
    pub reused_bytes: u64,
    /// Requests that went to the driver: textures created.
    pub allocated: u64,
    /// Their bytes.
    pub allocated_bytes: u64,
}

/// A texture that waits for reuse, and when it was given back.
type Waiting = (Texture, u64);

pub(crate) struct Pool {
    free: FxHashMap<(Extent, Format), Vec<Waiting>>,
    clock: u64,
    budget: u64,
    stats: PoolStats,
}

impl Pool {
    pub fn new(budget: u64) -> Self {
        Pool { free: FxHashMap::default(), clock: 0, budget, stats: PoolStats::default() }
    }

    pub fn stats(&self) -> PoolStats {
        self.stats
    }

    /// The extent of the size class in which scratch of this extent lives.
    pub fn scratch_class(extent: Extent, limit: u32) -> Extent {
        let round = |side: u32| side.checked_next_power_of_two().filter(|s| *s <= limit).unwrap_or(side);
        Extent::new(round(extent.width), round(extent.height))
    }

    /// The one given back last that `suits`.
    pub fn take(
        &mut self,
        extent: Extent,
        format: Format,
        suits: impl Fn(&Texture) -> bool,
    ) -> Option<Texture> {
        let waiting = self.free.get_mut(&(extent, format))?;
        let at = waiting.iter().rposition(|(texture, _)| suits(texture))?;
        let (texture, _) = waiting.remove(at);
        self.stats.free -= 1;
        self.stats.free_bytes -= texture.bytes();
        self.stats.reused += 1;
        self.stats.reused_bytes += texture.bytes();
        self.count_live(&texture);
        Some(texture)
    }

    /// Counts a texture that the driver has just made.
    pub fn allocated(&mut self, texture: &Texture) {
        self.stats.allocated += 1;
        self.stats.allocated_bytes += texture.bytes();
        self.count_live(texture);
    }

    fn count_live(&mut self, texture: &Texture) {
        self.stats.live += 1;
        self.stats.live_bytes += texture.bytes();
        self.stats.peak = self.stats.peak.max(self.stats.live);
        self.stats.peak_bytes = self.stats.peak_bytes.max(self.stats.live_bytes);
    }

    /// A texture that does not come back.
    pub fn discard(&mut self, texture: &Texture) {
        self.stats.live -= 1;
        self.stats.live_bytes -= texture.bytes();
    }

    pub fn give(&mut self, texture: Texture) {
        self.discard(&texture);
        if texture.bytes() > self.budget {
            return;
        }
        self.clock += 1;
        self.stats.free += 1;
        self.stats.free_bytes += texture.bytes();
        let class = (texture.extent(), texture.format());
        self.free.entry(class).or_default().push((texture, self.clock));
        self.shrink(self.budget);
    }

    /// Drops the longest unused until at most `budget` bytes wait.
    pub fn shrink(&mut self, budget: u64) {
        while self.stats.free_bytes > budget {
            let oldest = self
                .free
                .iter()
                .filter_map(|(class, list)| list.first().map(|(_, stamp)| (*stamp, *class)))
                .min_by_key(|(stamp, _)| *stamp);
            let Some((_, class)) = oldest else { return };
            let Some(list) = self.free.get_mut(&class) else { return };
            let (texture, _) = list.remove(0);
            if list.is_empty() {
                self.free.remove(&class);
            }
            self.stats.free -= 1;
            self.stats.free_bytes -= texture.bytes();
        }
    }
}

/// A texture that goes back to its pool when dropped.
pub(crate) struct PooledTexture {
    texture: Texture,
    device: Device,
}

impl PooledTexture {
    pub fn new(device: &Device, texture: Texture) -> Self {
        PooledTexture { texture, device: device.clone() }
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn texture(&self) -> &Texture {
        &self.texture
    }
}

impl Drop for PooledTexture {
    fn drop(&mut self) {
        self.device.give_back(&self.texture);
    }
}
