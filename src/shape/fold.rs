//! Folding a long row of texels into a texture that is nearly square.
//!
//! A vector kept as a strip one texel wide would end at the texture size limit and be slow to draw, so it is
//! folded into rows (\[Krueger05\] 44.2.2, Figure 44-1). The width is a power of two: a shader then finds texel `t`
//! at `(t & (width - 1), t >> log2(width))`, without the integer division that software rasterisers are slow at.

use super::{Extent, Shape};
use crate::error::{Error, Result};

/// Elements per texel.
pub(super) const LANES: u64 = 4;

/// The extent of a folded vector of `len_elements` elements, four to a texel.
///
/// The width is the smallest power of two not below `sqrt(texels)`, but at most the largest power of two within
/// `limit`, the device's largest texture side; the height is what is then needed. No elements give `0x0`.
///
/// ```
/// use texla::Extent;
/// use texla::shape::fold_extent;
/// assert_eq!(fold_extent(10, 64)?, Extent::new(2, 2)); // 3 texels
/// assert_eq!(fold_extent(17, 64)?, Extent::new(4, 2)); // 5 texels
/// assert_eq!(fold_extent(16_384, 64)?, Extent::new(64, 64));
/// assert_eq!(fold_extent(1 << 20, 1000)?, Extent::new(512, 512));
/// assert_eq!(fold_extent(0, 64)?, Extent::new(0, 0));
/// assert!(fold_extent(16_385, 64).is_err());
/// # Ok::<(), texla::Error>(())
/// ```
///
/// # Errors
/// [`Error::TooLarge`] beyond [`max_folded_len`].
pub fn fold_extent(len_elements: u64, limit: u32) -> Result<Extent> {
    fold("a folded vector", len_elements, limit)
}

/// Number of elements in the largest folded vector of a device whose textures have sides up to `limit`.
///
/// ```
/// use texla::shape::max_folded_len;
/// assert_eq!(max_folded_len(64), 64 * 64 * 4);
/// assert_eq!(max_folded_len(1000), 512 * 1000 * 4); // the width stays a power of two
/// assert_eq!(max_folded_len(16_384), 1 << 30);
/// assert_eq!(max_folded_len(0), 0);
/// ```
pub const fn max_folded_len(limit: u32) -> u64 {
    (widest(limit) * limit as u64).saturating_mul(LANES)
}

/// The largest power of two that is at most `limit`; 0 for 0.
const fn widest(limit: u32) -> u64 {
    match limit.checked_ilog2() {
        Some(exponent) => 1 << exponent,
        None => 0,
    }
}

/// [`fold_extent`], with the name that the error shall give.
pub(super) fn fold(what: &'static str, len: u64, limit: u32) -> Result<Extent> {
    let too_large =
        || Error::TooLarge { what, requested: len, limit: max_folded_len(limit), unit: "elements" };
    if len == 0 {
        return Ok(Extent::default());
    }
    if len > max_folded_len(limit) {
        return Err(too_large());
    }
    let texels = len.div_ceil(LANES);
    let root = texels.isqrt();
    let side = if root * root == texels { root } else { root + 1 };
    let width = side.next_power_of_two().min(widest(limit));
    let height = texels.div_ceil(width);
    match (u32::try_from(width), u32::try_from(height)) {
        (Ok(width), Ok(height)) => Ok(Extent { width, height }),
        _ => Err(too_large()), // not reached: both are at most `limit`
    }
}

/// Rows times columns, or nothing where that overflows.
pub(super) fn count(shape: Shape) -> Option<u64> {
    (shape.rows as u64).checked_mul(shape.cols as u64)
}
