//! A column vector in a buffer.

use std::ops::Range;

use super::vector::Vector;
use crate::device::Device;
use crate::error::{Error, Result, check_values};
use crate::gl::DataBuffer;
use crate::kernel::{BufferOperand, BufferTarget, BufferView};
use crate::shape::Shape;

/// A column vector of 32-bit floats in a buffer object, padded with zeros to whole `vec4`s: what a
/// [`VertexKernel`](crate::kernel::VertexKernel) reads and writes, and an application draws from.
///
/// A [`Vector`] lies in a texture, which fragments write; this is the form for small systems that one vertex advances
/// (\[Bajaj04\], section 3). Copies between the two stay on the device. Where two take turns, they go into a
/// [`PingPong`](crate::kernel::PingPong).
///
/// ```
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// use texla::{BufferVector, Vector};
/// let x = BufferVector::from_slice(dev, &[1.0, 2.0, 3.0, 4.0, 5.0])?;
/// assert_eq!((x.len(), x.vec4s()), (5, 2));
/// assert_eq!(x.read_vec4s()?, [1.0, 2.0, 3.0, 4.0, 5.0, 0.0, 0.0, 0.0]);
/// assert_eq!(x.to_vector()?.read()?, x.read()?); // a copy on the device
/// # Ok::<(), texla::Error>(())
/// ```
pub struct BufferVector {
    device: Device,
    buffer: DataBuffer,
    length: usize,
}

impl BufferVector {
    /// A vector whose elements are yet to be written. Every `vec4` must be, padding included.
    fn uninit(device: &Device, length: usize) -> Result<Self> {
        let _scope = device.scope()?;
        let make = || DataBuffer::new(device.gl(), length.div_ceil(4), "BufferVector");
        let buffer = device.allocate(make)?;
        Ok(BufferVector { device: device.clone(), buffer, length })
    }

    /// A vector of zeros.
    ///
    /// *Cost*: 1 upload. *Errors*: [`Error::TooLarge`] from 2³¹ bytes on, before anything is allocated;
    /// [`Error::OutOfMemory`].
    pub fn zeros(device: &Device, length: usize) -> Result<Self> {
        DataBuffer::check_size(length.div_ceil(4), "BufferVector")?;
        let _scope = device.scope()?;
        let mut made = Self::uninit(device, length)?;
        made.set_zero()?;
        Ok(made)
    }

    /// A vector with these elements.
    ///
    /// *Cost*: 1 upload. *Errors*: as [`zeros`](Self::zeros); [`Error::NonFinite`] with the index of the first NaN or
    /// infinity.
    pub fn from_slice(device: &Device, values: &[f32]) -> Result<Self> {
        DataBuffer::check_size(values.len().div_ceil(4), "BufferVector")?;
        check_values("BufferVector::from_slice", values)?;
        let _scope = device.scope()?;
        let mut made = Self::uninit(device, values.len())?;
        made.upload(values)?;
        Ok(made)
    }

    /// A vector with the elements of one in a texture. *Cost*: 1 copy on the device. *Errors*: as
    /// [`zeros`](Self::zeros).
    pub fn from_vector(vector: &Vector) -> Result<Self> {
        let _scope = vector.device().scope()?;
        let mut made = Self::uninit(vector.device(), vector.len())?;
        made.copy_from(vector)?;
        Ok(made)
    }

    /// Replaces all elements by those of a vector in a texture. *Cost*: 1 copy on the device. *Errors*:
    /// [`Error::LengthMismatch`], [`Error::WrongDevice`].
    pub fn copy_from(&mut self, vector: &Vector) -> Result<()> {
        let op = "BufferVector::copy_from";
        self.check_pair(op, "vector", vector.len(), vector.device())?;
        let _scope = self.device.scope()?;
        self.buffer.copy_texels(vector.gl_texture(), self.stored())
    }

    /// Copies all elements to a vector in a texture. *Cost*: 1 copy on the device. *Errors*:
    /// [`Error::LengthMismatch`], [`Error::WrongDevice`]; [`Error::Unsupported`] for a texture of the host's.
    pub fn copy_to(&self, vector: &mut Vector) -> Result<()> {
        let op = "BufferVector::copy_to";
        self.check_pair(op, "vector", vector.len(), vector.device())?;
        vector.writable(op)?;
        let _scope = self.device.scope()?;
        self.buffer.fill_texels(vector.gl_texture(), self.stored())
    }

    /// The same elements in a texture. *Cost*: 1 clear, 1 copy on the device. *Errors*: [`Error::TooLarge`] past the
    /// texture area, [`Error::OutOfMemory`].
    pub fn to_vector(&self) -> Result<Vector> {
        let _scope = self.device.scope()?;
        let mut made = Vector::zeros(&self.device, self.length)?;
        self.copy_to(&mut made)?;
        Ok(made)
    }

    /// Replaces the elements from `at` on by those of `source` in `range`, both counted in elements: what a part of a
    /// split program has written is moved to where a later part reads it.
    ///
    /// ```
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// # let dev = ctx.device();
    /// use texla::BufferVector;
    /// let x = BufferVector::from_slice(dev, &[1.0, 2.0, 3.0, 4.0, 5.0])?;
    /// let mut y = BufferVector::zeros(dev, 6)?;
    /// y.copy_range(3, &x, 1..4)?;
    /// assert_eq!(y.read()?, [0.0, 0.0, 0.0, 2.0, 3.0, 4.0]);
    /// # Ok::<(), texla::Error>(())
    /// ```
    ///
    /// *Cost*: 1 copy on the device. *Errors*: [`Error::IndexOutOfRange`] when a range leaves its vector,
    /// [`Error::Parameter`] when it ends before it starts, [`Error::WrongDevice`].
    pub fn copy_range(&mut self, at: usize, source: &BufferVector, range: Range<usize>) -> Result<()> {
        let op = "BufferVector::copy_range";
        if !source.device.same(&self.device) {
            return Err(Error::WrongDevice { op: op.into(), operand: "source".into() });
        }
        let Some(count) = range.end.checked_sub(range.start) else {
            let (name, value, expected) = ("range", format!("{range:?}"), "a start that is not past the end");
            return Err(Error::Parameter { op, name, value, expected });
        };
        let ends = [
            ("BufferVector::copy_range: the range read", range.start, source.length),
            ("BufferVector::copy_range: the range written", at, self.length),
        ];
        for (what, first, bound) in ends {
            let end = first.saturating_add(count);
            if end > bound {
                return Err(Error::IndexOutOfRange { what, index: end - 1, bound });
            }
        }
        if count == 0 {
            return Ok(());
        }
        let _scope = self.device.scope()?;
        self.buffer.copy(4 * at, &source.buffer, 4 * range.start, 4 * count)
    }

    /// Sets every element to zero. *Cost*: 1 upload.
    pub fn set_zero(&mut self) -> Result<()> {
        self.upload(&[])
    }

    /// Replaces all elements. *Cost*: 1 upload. *Errors*: [`Error::LengthMismatch`], [`Error::NonFinite`].
    pub fn write(&mut self, values: &[f32]) -> Result<()> {
        let op = "BufferVector::write";
        self.check_pair(op, "values", values.len(), &self.device)?;
        check_values(op, values)?;
        self.upload(values)
    }

    /// Uploads these elements and zeros behind them.
    fn upload(&mut self, values: &[f32]) -> Result<()> {
        let mut words: Vec<u32> = values.iter().map(|v| v.to_bits()).collect();
        words.resize(4 * self.stored(), 0);
        let _scope = self.device.scope()?;
        self.device.allocate(|| self.buffer.write(&words, "BufferVector"))
    }

    /// Copies the elements to the host. *Cost*: 1 readback, which waits for the device.
    pub fn read(&self) -> Result<Vec<f32>> {
        let mut values = self.read_vec4s()?;
        values.truncate(self.length);
        Ok(values)
    }

    /// Copies the elements into a slice. *Cost*: as [`read`](Self::read). *Errors*: [`Error::LengthMismatch`].
    pub fn read_into(&self, out: &mut [f32]) -> Result<()> {
        self.check_pair("BufferVector::read_into", "out", out.len(), &self.device)?;
        out.copy_from_slice(&self.read()?);
        Ok(())
    }

    /// All `vec4`s, padding lanes included: for tests of the rule that those are zero. *Cost*: 1 readback.
    pub fn read_vec4s(&self) -> Result<Vec<f32>> {
        let _scope = self.device.scope()?;
        self.buffer.read()
    }

    fn check_pair(&self, op: &'static str, operand: &'static str, found: usize, on: &Device) -> Result<()> {
        if !on.same(&self.device) {
            return Err(Error::WrongDevice { op: op.into(), operand: operand.into() });
        }
        let expected = self.length;
        if found != expected {
            return Err(Error::LengthMismatch { op, operand, found, expected });
        }
        Ok(())
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.length
    }

    /// True if there is no element.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// `len` x 1.
    pub fn shape(&self) -> Shape {
        Shape::column(self.length)
    }

    /// Number of `vec4`s, the last of which may be padded: `len / 4`, rounded up.
    pub fn vec4s(&self) -> usize {
        self.length.div_ceil(4)
    }

    /// `vec4`s in the buffer: an empty vector has one that is all padding.
    fn stored(&self) -> usize {
        self.vec4s().max(1)
    }

    /// The device the vector lives on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The buffer object, for the host to draw from: element `i` is the float at byte `4 i`, in a vertex attribute or in a
    /// `std140` block of `vec4`s. It is texla's, and the same until the vector drops; writing past the last element breaks
    /// the rule of the padding lanes.
    pub fn buffer(&self) -> glow::Buffer {
        self.buffer.raw()
    }
}

impl BufferOperand for BufferVector {
    fn buffer_view(&self) -> BufferView<'_> {
        BufferView { buffer: &self.buffer, device: &self.device, length: self.length }
    }
}

impl BufferTarget for BufferVector {}

impl std::fmt::Debug for BufferVector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "BufferVector({} in {} vec4s)", self.length, self.vec4s())
    }
}
