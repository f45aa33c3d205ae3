//! Whole matrices to texel arrays and back, as uploads and readbacks need them.

use super::{Extent, Layout, Shape};
use crate::error::{Error, Result};

impl Layout {
    /// The RGBA texels, row by row, that hold the row-major `values` of a matrix; padding lanes are zero.
    ///
    /// ```
    /// use texla::{Extent, Layout, Shape};
    /// let texels = Layout::Block2x2.texels(Shape::new(2, 3), Extent::new(2, 1), &[1., 2., 3., 4., 5., 6.])?;
    /// assert_eq!(texels, [1., 2., 4., 5., 3., 0., 6., 0.]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if `values` does not fit the shape; [`Error::Parameter`] if `extent` is too small;
    /// [`Error::TooLarge`] if it is larger than the address space.
    #[doc(alias = "pack")]
    pub fn texels(self, shape: Shape, extent: Extent, values: &[f32]) -> Result<Vec<f32>> {
        const OP: &str = "Layout::texels";
        self.check(OP, shape, extent)?;
        check_len(OP, "values", values.len(), Some(shape.len()))?;
        let lanes = match lanes(extent) {
            Some(lanes) if lanes <= isize::MAX as usize / size_of::<f32>() => lanes,
            _ => {
                let requested = extent.area().saturating_mul(16);
                let limit = isize::MAX as u64;
                return Err(Error::TooLarge {
                    what: "a host copy of texels",
                    requested,
                    limit,
                    unit: "bytes",
                });
            }
        };
        let mut texels = vec![0.0; lanes];
        if self == Self::Folded {
            // Row-major texels of four are the elements' own order.
            texels.iter_mut().zip(values).for_each(|(lane, &value)| *lane = value);
            return Ok(texels);
        }
        if self == Self::Column4 {
            // The layout of dense matrices, without a search for each lane.
            let width = extent.width as usize;
            for (rows, texels) in
                values.chunks((4 * shape.cols).max(1)).zip(texels.chunks_mut((4 * width).max(1)))
            {
                for (channel, row) in rows.chunks(shape.cols.max(1)).enumerate() {
                    let lanes = texels.iter_mut().skip(channel).step_by(4);
                    lanes.zip(row).for_each(|(lane, &value)| *lane = value);
                }
            }
            return Ok(texels);
        }
        for (row, line) in values.chunks(shape.cols.max(1)).enumerate() {
            for (col, &value) in line.iter().enumerate() {
                let lane = self.lane(shape, extent, row, col).and_then(|lane| texels.get_mut(lane));
                if let Some(lane) = lane {
                    *lane = value;
                }
            }
        }
        Ok(texels)
    }

    /// The row-major elements of a matrix from its RGBA texels; the inverse of [`Layout::texels`]. Padding lanes are
    /// not looked at.
    ///
    /// ```
    /// use texla::{Extent, Layout, Shape};
    /// let texels = [1., 2., 4., 5., 3., 0., 6., 0.];
    /// let values = Layout::Block2x2.elements(Shape::new(2, 3), Extent::new(2, 1), &texels)?;
    /// assert_eq!(values, [1., 2., 3., 4., 5., 6.]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if `texels` does not fit the extent; [`Error::Parameter`] if `extent` is too small.
    #[doc(alias = "unpack")]
    pub fn elements(self, shape: Shape, extent: Extent, texels: &[f32]) -> Result<Vec<f32>> {
        const OP: &str = "Layout::elements";
        self.check(OP, shape, extent)?;
        check_len(OP, "texels", texels.len(), lanes(extent))?;
        if self == Self::Folded {
            return Ok(texels.iter().copied().take(shape.len()).collect());
        }
        if shape.is_empty() {
            return Ok(Vec::new()); // before counting the rows of a matrix without columns
        }
        let mut values = Vec::with_capacity(shape.len()); // at most the texels' own number
        if self == Self::Column4 {
            for (row, texels) in (0..shape.rows).map(|row| {
                let line = 4 * extent.width as usize;
                (row, texels.get(line * (row / 4)..).unwrap_or_default())
            }) {
                values.extend(texels.iter().skip(row % 4).step_by(4).take(shape.cols));
            }
            return Ok(values);
        }
        for row in 0..shape.rows {
            for col in 0..shape.cols {
                let lane = self.lane(shape, extent, row, col).and_then(|lane| texels.get(lane));
                values.push(lane.copied().unwrap_or(0.0));
            }
        }
        Ok(values)
    }

    /// Position of an element in the texel array.
    fn lane(self, shape: Shape, extent: Extent, row: usize, col: usize) -> Option<usize> {
        let place = self.place(shape, extent, row, col)?;
        let texel = u64::from(place.y) * u64::from(extent.width) + u64::from(place.x);
        usize::try_from(texel).ok()?.checked_mul(4)?.checked_add(usize::from(place.channel))
    }

    /// Refuses an extent that cannot hold the shape.
    fn check(self, op: &'static str, shape: Shape, extent: Extent) -> Result<()> {
        if self.holds(shape, extent) {
            return Ok(());
        }
        let expected = "texels for every element of the shape";
        Err(Error::Parameter { op, name: "extent", value: format!("{extent} for {shape}"), expected })
    }
}

/// Floats in an RGBA array of `extent`, or nothing if they exceed the address space.
fn lanes(extent: Extent) -> Option<usize> {
    usize::try_from(extent.area()).ok()?.checked_mul(4)
}

/// Refuses a slice of the wrong length; `None` stands for more than the address space.
fn check_len(op: &'static str, operand: &'static str, found: usize, expected: Option<usize>) -> Result<()> {
    match expected {
        Some(expected) if expected == found => Ok(()),
        _ => Err(Error::LengthMismatch { op, operand, found, expected: expected.unwrap_or(usize::MAX) }),
    }
}
