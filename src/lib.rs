//! TEXture Linear Algebra: matrices, products and solvers entirely in float textures, inside an OpenGL context that may
//! be the application's own. OpenGL 3.3 core or OpenGL ES 3.0 is enough: no compute shaders, no other GPU interface.
//!
//! ```
//! use texla::solve::{CgParams, ConjugateGradient, Stop, StopReason};
//! use texla::{BandedMatrix, Headless, HeadlessOptions, Vector};
//!
//! let ctx = Headless::new(HeadlessOptions::default())?; // in an application: `Device::from_glow`
//! let dev = ctx.device();
//! let a = BandedMatrix::poisson_2d(dev, 64, 64)?; // the five-point Laplacian on a grid
//! let b = Vector::filled(dev, 64 * 64, 1.0)?;
//! let mut x = Vector::zeros(dev, 64 * 64)?; // initial guess in, solution out
//!
//! let params = CgParams::default().with_stop(Stop::relative(1e-4));
//! let report = ConjugateGradient::new(&a, params)?.solve(&mut x, &b)?;
//!
//! assert_eq!(report.reason, StopReason::Converged); // on the true residual, in double-float
//! assert!(report.true_residual <= 1e-4);
//! assert_eq!(report.readbacks_in_loop, 0);
//! let x = x.read()?; // copies the result to the host, and waits
//! let middle = 0.07367 * 65.0 * 65.0; // of the continuous problem
//! assert!((x[32 * 64 + 32] / middle - 1.0).abs() < 0.01);
//! # Ok::<(), texla::Error>(())
//! ```
//!
//! # Which format for what
//!
//! | what you have | type | in textures |
//! |---|---|---|
//! | a number that stays on the device: the result of a reduction, a factor | [`Scalar`] | one texel |
//! | unknowns, right-hand sides, grids | [`Vector`] | four consecutive elements a texel, folded nearly square |
//! | the same with 48 bits an element, for solutions that 32 do not hold | [`DoubleVector`] | two of those: rounded, and the rest |
//! | a few unknowns that a vertex advances, drawn from as they are | [`BufferVector`] | none: a buffer object |
//! | a dense matrix | [`Matrix`] | four elements of a column a texel, in tiles past the texture size |
//! | a grid for a shader of yours to sample or draw | [`Plane`] | one element a texel, R32F |
//! | an image for a toolkit to show, or a texture of yours to be drawn into | [`Picture`] | four bytes a texel, or yours |
//! | an array for a shader of yours, in a layout of the sources | [`Packed`] | any [`Layout`] |
//! | a dense matrix whose columns come and go as vectors | [`ColumnStack`] | every column folded as a vector, side by side |
//! | the same stencil everywhere on a grid, with sides and obstacles | [`Stencil`] | nothing; a number a cell where there are obstacles |
//! | a matrix with few diagonals: stencils that vary | [`BandedMatrix`] | a vector for each diagonal, or one number where it is constant |
//! | many diagonals in opposing pairs: circulants, full matrices | [`FoldedBands`] | a vector for each pair |
//! | any other sparse matrix | [`SparseMatrix`] with [`SparseFormat::Gather`] | rows padded within slices of 64; no blending |
//! | the same with a few very long rows | [`SparseMatrix`] with [`SparseFormat::Points`] | one point for four nonzeros of a row, blended |
//! | a file, or no wish to choose | [`StoredMatrix`] | [`MatrixFormat::Auto`] picks one of the three |
//!
//! On the host, matrices are [`Triplets`](host::Triplets) or compressed rows ([`Csr`](host::Csr)) in 64 bits.
//!
//! # Where to read on
//!
//! [`solve`] and [`ops`] are what most programs need. [`guide`] has [recipes](guide::recipes), and explains [the host's
//! side](guide::host) of the bargain (what of the GL state stays as it was, and what cannot), [how far results can be
//! trusted](guide::numerics), [kernels of one's own](guide::kernels), [packing](guide::packing), and [how texla is
//! built](guide::architecture). [`sim`] has waves and fluids.
//!
//! # Features
//!
//! All but `direct` are on by default, and an application with a context of its own can do without any.
//!
//! | feature | what |
//! |---|---|
//! | `direct` | sparse Cholesky and LU factors on the host: [`host::Direct`] |
//! | `gzip` | Matrix Market files that gzip has compressed; turns on `io` |
//! | `headless` | EGL contexts without a window: [`Headless`] |
//! | `io` | Matrix Market files: [`host::market`] |
//! | `pack` | the packing optimiser: [`pack`], and what runs its programs in [`solve`] |
//! | `script` | the matrix language: [`script`] |
//! | `sim` | waves and fluids: [`sim`] |
//! | `window` | a context in a window of winit's or anyone's, by its raw handles: [`Windowed`] |
//!
//! # What may grow
//!
//! Parameters and options get new fields, reports too, and most enums new cases: these are `#[non_exhaustive]`. One makes
//! parameters of the default (or of `new`) by a method for each field, `CgParams::default().with_stop(stop)`, and matches
//! with `..` or `_`. What is complete as it is stays open to literals and full matches: positions and extents, terms of a
//! product, instructions of a packed program, the two dialects.
#![deny(missing_docs, missing_debug_implementations)]
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)
)]

/// `Debug` in one line of its own: kind, shape and form, never contents, for those may be on the device.
macro_rules! shown {
    ([$($generics:tt)*] $shown:ty, |$this:ident| $($text:tt)+) => {
        impl<$($generics)*> std::fmt::Debug for $shown {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $this = self;
                write!(f, $($text)+)
            }
        }
    };
    ($shown:ty, $($rest:tt)+) => { shown!([] $shown, $($rest)+); };
}

/// The methods that set one field of parameters or options, which so can get more fields: `with_stop(stop: Stop)`.
macro_rules! with {
    (@ [$($generics:tt)*] $const:tt $of:ty: $($with:ident($field:ident: $type:ty)),+ $(,)?) => {
        impl<$($generics)*> $of {
            $(with!(@ $const $with $field $type);)+
        }
    };
    (@ [$($const:tt)?] $with:ident $field:ident $type:ty) => {
        #[doc = concat!("The same with this [`", stringify!($field), "`](Self::", stringify!($field), ").")]
        #[must_use]
        pub $($const)? fn $with(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    };
    ([$($generics:tt)*] const $of:ty: $($rest:tt)+) => { with!(@ [$($generics)*] [const] $of: $($rest)+); };
    ([$($generics:tt)*] $of:ty: $($rest:tt)+) => { with!(@ [$($generics)*] [] $of: $($rest)+); };
    ($($of:tt)+) => { with!([] $($of)+); };
}

pub mod data;
pub mod device;
#[cfg(any(feature = "headless", feature = "window"))]
mod egl;
pub mod error;
pub mod gl;
pub mod guide;
#[cfg(feature = "headless")]
pub mod headless;
pub mod host;
pub mod kernel;
pub mod ops;
#[cfg(feature = "pack")]
pub mod pack;
mod platform;
pub mod profile;
mod record;
#[cfg(feature = "script")]
pub mod script;
pub mod shape;
#[cfg(feature = "sim")]
pub mod sim;
pub mod solve;
#[cfg(all(test, feature = "headless"))]
mod tests;
#[cfg(feature = "window")]
pub mod window;

pub use data::{
    BandedMatrix, BufferVector, ColumnStack, DoubleMatrix, DoubleVector, FoldedBands, Kept, Matrix,
    MatrixFormat, Packed, PendingRead, Picture, Plane, Scalar, Side, Sides, SparseFormat, SparseMatrix,
    Stencil, StencilParams, StoredMatrix, Unknowns, Vector,
};
pub use device::{Device, DeviceOptions, Scope};
pub use error::{Error, Result};
pub use gl::HostState;
#[cfg(feature = "headless")]
pub use headless::{Headless, HeadlessOptions};
pub use shape::{Extent, Grid, Layout, Shape};
#[cfg(feature = "window")]
pub use window::{Windowed, WindowedOptions};

/// The version of glow whose [`Context`](glow::Context) and texture names are meant throughout.
pub use glow;

/// The README's code is compiled as part of the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[derive(Debug)]
pub struct Readme;
