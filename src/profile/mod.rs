//! A profile of the device: what its work takes, in seconds a piece, and what a counted amount of it will take.
//!
//! It is measured when an application asks for it: to size its own work, to be attached to a report, or to be
//! [given to the device](crate::Device::set_profile), whose choices then go by predictions. Without one, whatever chooses
//! follows fixed rules of shape and [capabilities](crate::gl::Capabilities), so that results repeat bit for bit.

mod text;
mod workload;

pub use workload::{Fetches, Workload};

/// What the work of a device takes, in seconds: measured by [`measure`](Self::measure), written and read as text by
/// `Display` and `FromStr`.
///
/// ```
/// use std::time::Duration;
/// use texla::ops::{ReducePlan, Windows};
/// use texla::profile::{DeviceProfile, Workload};
/// use texla::{Vector, ops};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // `measure(dev)?` takes longer and is what numbers to go by come from.
/// let profile = DeviceProfile::measure_within(dev, Duration::ZERO)?;
/// let x = Vector::filled(dev, 1 << 16, 1.0)?;
/// let add = Workload::elementwise(&x, 2, 1);
/// assert_eq!((add.draws, add.written_texels[0], add.fetches.own), (1.0, 16_384.0, 32_768.0));
/// let sum = ReducePlan::new(x.extent(), Windows::Balanced).workload(1);
/// let both = profile.predict(&(add + sum)); // seconds, about
/// assert!(both > profile.predict(&sum) && both < 60.0);
/// let kept: DeviceProfile = profile.to_string().parse()?;
/// assert_eq!(kept, profile);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct DeviceProfile {
    /// `GL_RENDERER`.
    pub device: String,
    /// `GL_VERSION`.
    pub driver: String,
    /// Seconds for a draw that covers next to nothing, into the target of the draw before it.
    pub draw: f64,
    /// Seconds that a draw takes longer when it goes to another target than the one before it.
    pub target_change: f64,
    /// Seconds for a texel written (RGBA32F), where a draw has one target, two, three or four. A fragment of a draw with
    /// three targets writes three texels. Where the device has fewer draw buffers, the last number is repeated.
    pub written_texel: [f64; 4],
    /// Seconds for a fetch from an RGBA32F texture.
    pub fetch: Fetches,
    /// Seconds for a fetch from an R32F texture. What indices take there is taken to be what they take for RGBA32F.
    pub fetch_r32f: Fetches,
    /// Seconds that a fetch takes longer in a pass of one tile of 64x64 texels than in a large one.
    pub narrow_fetch: f64,
    /// Seconds for a fetch of a fragment that is the only one of its pass.
    pub chained_fetch: f64,
    /// Seconds that a written texel takes longer where lanes past the end are forced to zero.
    pub cut_texel: f64,
    /// Seconds for a product of two floats and the addition of a third.
    pub multiply_add: f64,
    /// Seconds for a texel (RGBA32F) to which a fragment is added by blending; without float blending, for one that is
    /// read from another texture and written.
    pub blended_texel: f64,
    /// Seconds for a point of a texel's size, of which eight meet in a texel, added by blending where the device can.
    pub point: f64,
    /// Seconds from the start of an asynchronous readback of one texel to the end of the wait for it, with nothing else to
    /// be done.
    pub readback: f64,
    /// How much of what could run side by side does: 0 where writing, fetching and arithmetic add up, as on a software
    /// rasteriser, 1 where only the longest of them counts. Not in seconds.
    pub overlap: f64,
}

impl DeviceProfile {
    /// Seconds that a counted amount of work will take: `Σ` rate x count over draws, changes of the target, blended and cut
    /// texels, points, readbacks and what narrow passes take longer; and of the three sums for written texels, fetches and
    /// multiply-adds the longest in full and the others but for the share that [`overlap`](Self::overlap) hides.
    ///
    /// What is not counted takes nothing: textures that leave the caches of one operation for those of the next, what a solve
    /// does beside its iterations, the host. On llvmpipe it came within a quarter of what was measured for the operations of
    /// `benches/operations.rs` but for iterations of conjugate gradients (`benches/JOURNAL.md`).
    ///
    /// *Cost*: nothing on the device.
    ///
    /// ```
    /// use texla::profile::{DeviceProfile, Workload};
    /// let mut profile = DeviceProfile::default();
    /// (profile.draw, profile.written_texel[0], profile.multiply_add) = (0.5, 0.25, 0.125);
    /// let work = Workload::default().with_draws(2.0).with_written_texels([8.0, 0.0, 0.0, 0.0]).with_multiply_adds(8.0);
    /// assert_eq!(profile.predict(&work), 1.0 + 2.0 + 1.0);
    /// profile.overlap = 1.0;
    /// assert_eq!(profile.predict(&work), 1.0 + 2.0);
    /// ```
    pub fn predict(&self, work: &Workload) -> f64 {
        let written: f64 = self.written_texel.iter().zip(work.written_texels).map(|(s, n)| s * n).sum();
        let fetched = self.fetch.times(work.fetches) + self.fetch_r32f.times(work.fetches_r32f);
        let parts = [written, fetched, self.multiply_add * work.multiply_adds];
        let (all, longest) = (parts.iter().sum::<f64>(), parts.iter().copied().fold(0.0, f64::max));
        let one_by_one = self.draw * work.draws
            + self.target_change * work.target_changes
            + self.narrow_fetch * work.narrow_fetches
            + self.chained_fetch * work.chained_fetches
            + self.cut_texel * work.cut_texels
            + self.blended_texel * work.blended_texels
            + self.point * work.points
            + self.readback * work.readbacks;
        one_by_one + longest + (1.0 - self.overlap) * (all - longest)
    }
}
