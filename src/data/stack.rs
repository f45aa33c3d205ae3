//! A dense matrix kept as a stack of column vectors.

use crate::device::Device;
use crate::error::{Error, Result, check_values};
use crate::gl::Format;
use crate::host::Csr;
use crate::kernel::{PooledTexture, View};
use crate::shape::{Extent, Shape, StackGrid, StackPart};

/// A dense matrix of 32-bit floats as a stack of its columns, each folded like a [`Vector`](crate::Vector)
/// \[Krueger05\] 44.2.3, Figure 44-2. A product adds up columns times elements of `x`, texel by texel, so that a
/// fragment reads the same place of every column.
///
/// Columns lie side by side in one texture, or in a few past 2²² texels (4096² elements) or the texture size. Lanes past
/// the last row are zero after every operation. Besides a [`Matrix`](crate::Matrix), which is for products with matrices, this
/// is the form to choose when columns come and go as vectors: [`column`](Self::column) and [`set_column`](Self::set_column)
/// move whole texels.
///
/// ```
/// use texla::{ColumnStack, Shape, Vector, ops::{self, Combine}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// let mut a = ColumnStack::from_rows(dev, Shape::new(2, 3), &[1., 2., 3., 4., 5., 6.])?;
/// let x = Vector::from_slice(dev, &[1., 10., 100.])?;
/// let mut y = Vector::zeros(dev, 2)?;
/// ops::product(&mut y, Combine::Replace, 1.0, &a, &x)?;
/// assert_eq!(y.read()?, [321., 654.]);
/// a.set_column(1, &y)?;
/// assert_eq!(a.read()?, [1., 321., 3., 4., 654., 6.]);
/// # Ok::<(), texla::Error>(())
/// ```
pub struct ColumnStack {
    device: Device,
    grid: StackGrid,
    textures: Vec<PooledTexture>,
}

/// A part of a stack and the texture that holds it.
#[derive(Clone)]
pub(crate) struct Panel<'a> {
    pub view: View<'a>,
    pub part: StackPart,
}

impl ColumnStack {
    /// Refuses a shape past what a device can address, with no more work than that takes.
    fn grid_of(device: &Device, shape: Shape) -> Result<StackGrid> {
        StackGrid::new(shape, device.max_texture_size())
    }

    /// A stack of zeros.
    ///
    /// *Cost*: 1 clear a texture. *Errors*: [`Error::TooLarge`] for columns past the texture area or from 2³¹ elements
    /// on, before anything is allocated; [`Error::OutOfMemory`].
    pub fn zeros(device: &Device, shape: Shape) -> Result<Self> {
        let grid = Self::grid_of(device, shape)?;
        let _scope = device.scope()?;
        let texture = |part: StackPart| device.texture(grid.extent(&part), Format::Rgba32F, "ColumnStack");
        let textures = grid.parts().map(texture).collect::<Result<_>>()?;
        let mut made = ColumnStack { device: device.clone(), grid, textures };
        // Also where no column lies: what is past the last one is multiplied by zero.
        made.set_zero()?;
        Ok(made)
    }

    /// A stack from its elements, row by row.
    ///
    /// *Cost*: 1 upload a texture. *Errors*: [`Error::LengthMismatch`]; [`Error::NonFinite`] with the position of the
    /// first NaN or infinity; those of [`zeros`](Self::zeros).
    pub fn from_rows(device: &Device, shape: Shape, values: &[f32]) -> Result<Self> {
        Self::grid_of(device, shape)?;
        check_length("ColumnStack::from_rows", "values", values.len(), shape)?;
        check_values("ColumnStack::from_rows", values)?;
        let _scope = device.scope()?;
        let mut made = Self::zeros(device, shape)?;
        made.upload(values)?;
        Ok(made)
    }

    /// Replaces all elements, row by row. *Cost*: 1 upload a texture. *Errors*: [`Error::LengthMismatch`],
    /// [`Error::NonFinite`]; the stack then stays as it was.
    ///
    /// ```
    /// use texla::{ColumnStack, Shape};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let mut a = ColumnStack::zeros(ctx.device(), Shape::new(2, 2))?;
    /// a.write(&[1., 2., 3., 4.])?;
    /// let mut out = [0.0; 4];
    /// a.read_into(&mut out)?;
    /// assert_eq!(out, [1., 2., 3., 4.]);
    /// assert!(a.write(&[1., 2., 3.]).is_err());
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn write(&mut self, values: &[f32]) -> Result<()> {
        check_length("ColumnStack::write", "values", values.len(), self.shape())?;
        check_values("ColumnStack::write", values)?;
        self.upload(values)
    }

    fn upload(&mut self, values: &[f32]) -> Result<()> {
        let (_scope, shape) = (self.device.scope()?, self.shape());
        for panel in self.panels() {
            let extent = panel.view.extent();
            let mut texels = vec![0.0f32; extent.area() as usize * 4];
            for (j, i) in panel.part.columns.clone().flat_map(|j| (0..shape.rows).map(move |i| (j, i))) {
                let lane = self.lane(i, j, extent.width);
                if let (Some(to), Some(from)) = (texels.get_mut(lane), values.get(i * shape.cols + j)) {
                    *to = *from;
                }
            }
            self.device.gl().upload(panel.view.texture, bytemuck::cast_slice(&texels), "ColumnStack")?;
        }
        Ok(())
    }

    /// A stack from its elements, row by row, each rounded to 32 bits. *Cost* and *errors*: as
    /// [`from_rows`](Self::from_rows); a value that overflows 32 bits is [`Error::NonFinite`].
    pub fn from_f64(device: &Device, shape: Shape, values: &[f64]) -> Result<Self> {
        Self::grid_of(device, shape)?;
        check_length("ColumnStack::from_f64", "values", values.len(), shape)?;
        check_values("ColumnStack::from_f64", values)?;
        let rounded: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        Self::from_rows(device, shape, &rounded)
    }

    /// The nonzero elements on the host. *Cost*: as [`read`](Self::read). *Errors*: [`Error::ContextLost`].
    pub fn to_csr(&self) -> Result<Csr> {
        super::matrix::csr_of(self.shape(), &self.read()?)
    }

    /// Sets every element to zero. *Cost*: 1 clear a texture.
    pub fn set_zero(&mut self) -> Result<()> {
        let _scope = self.device.scope()?;
        self.textures.iter().try_for_each(|t| self.device.gl().clear(t.texture(), [0.0; 4], "ColumnStack"))
    }

    /// Copies the elements to the host, row by row. *Cost*: 1 readback a texture, which waits for the device.
    pub fn read(&self) -> Result<Vec<f32>> {
        let (shape, mut values) = (self.shape(), vec![0.0; self.shape().len()]);
        for (panel, texels) in self.panels().zip(self.read_texels()?) {
            let width = panel.view.extent().width;
            for (j, i) in panel.part.columns.clone().flat_map(|j| (0..shape.rows).map(move |i| (j, i))) {
                let from = texels.get(self.lane(i, j, width));
                if let (Some(to), Some(from)) = (values.get_mut(i * shape.cols + j), from) {
                    *to = *from;
                }
            }
        }
        Ok(values)
    }

    /// Copies the elements into a slice, row by row. *Cost*: as [`read`](Self::read). *Errors*:
    /// [`Error::LengthMismatch`].
    pub fn read_into(&self, out: &mut [f32]) -> Result<()> {
        check_length("ColumnStack::read_into", "out", out.len(), self.shape())?;
        out.copy_from_slice(&self.read()?);
        Ok(())
    }

    /// One element on the host. *Cost*: 1 readback of a texel, which waits for the device. *Errors*:
    /// [`Error::IndexOutOfRange`].
    ///
    /// ```
    /// use texla::{ColumnStack, Shape};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let a = ColumnStack::from_rows(ctx.device(), Shape::new(2, 3), &[1., 2., 3., 4., 5., 6.])?;
    /// assert_eq!((a.element(0, 2)?, a.element(1, 0)?), (3.0, 4.0));
    /// assert!(a.element(2, 0).is_err());
    /// # Ok::<(), texla::Error>(())
    /// ```
    pub fn element(&self, row: usize, col: usize) -> Result<f32> {
        let Shape { rows, cols } = self.shape();
        for (what, index, bound) in
            [("ColumnStack::element: row", row, rows), ("ColumnStack::element: column", col, cols)]
        {
            if index >= bound {
                return Err(Error::IndexOutOfRange { what, index, bound });
            }
        }
        let _scope = self.device.scope()?;
        let Some(panel) = self.panels().find(|panel| panel.part.columns.contains(&col)) else {
            let (place, detail) = ("ColumnStack::element", "a column of the stack lies in no texture");
            return Err(Error::Internal { place, detail });
        };
        let width = panel.view.extent().width;
        let (lane, width) = (self.lane(row, col, width), width.max(1) as usize);
        // The texel lies within a texture, whose sides fit 32 bits.
        let at = [(lane / 4 % width) as u32, (lane / 4 / width) as u32];
        let texel = self.device.gl().read_region(panel.view.texture, at, Extent::new(1, 1), "ColumnStack")?;
        Ok(texel.get(lane % 4).copied().unwrap_or_default())
    }

    /// All texels of all textures, padding lanes included: for tests of the rule that those are zero. *Cost*: 1
    /// readback a texture.
    pub fn read_texels(&self) -> Result<Vec<Vec<f32>>> {
        let _scope = self.device.scope()?;
        self.textures.iter().map(|t| self.device.gl().read(t.texture(), "ColumnStack")).collect()
    }

    /// Rows and columns.
    pub fn shape(&self) -> Shape {
        self.grid.shape()
    }

    /// Number of textures that hold the columns.
    pub fn texture_count(&self) -> usize {
        self.textures.len()
    }

    /// The device the stack lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn grid(&self) -> &StackGrid {
        &self.grid
    }

    /// The textures with what they hold, in the order of the columns.
    pub(crate) fn panels(&self) -> impl Iterator<Item = Panel<'_>> {
        self.textures
            .iter()
            .zip(self.grid.parts())
            .map(|(texture, part)| Panel { view: View::whole(&self.device, texture.texture()), part })
    }

    /// Where element (i, j) is in the texels of its texture, which is `width` texels wide.
    fn lane(&self, i: usize, j: usize, width: u32) -> usize {
        let (_, [x, y]) = self.grid.place(j);
        let (t, tile) = (i / 4, self.grid.tile.width as usize);
        let texel = (y as usize + t / tile) * width as usize + x as usize + t % tile;
        4 * texel + i % 4
    }
}

fn check_length(op: &'static str, operand: &'static str, found: usize, shape: Shape) -> Result<()> {
    let expected = shape.len();
    if found == expected { Ok(()) } else { Err(Error::LengthMismatch { op, operand, found, expected }) }
}

impl std::fmt::Debug for ColumnStack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ColumnStack({} in {} textures)", self.shape(), self.textures.len())
    }
}
