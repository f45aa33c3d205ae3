//! One matrix in every form, behind the interface of operators.

use texla::host::{Csr, Triplets};
use texla::shape::max_folded_len;
use texla::solve::LinOp;
use texla::{
    BandedMatrix, ColumnStack, Device, FoldedBands, Grid, Matrix, Shape, Side, Sides, SparseFormat,
    SparseMatrix, Stencil, StencilParams,
};

use super::systems;

/// Forms by their names.
pub type Forms = Vec<(&'static str, Box<dyn LinOp>)>;

/// All elements row by row, in 64 bits.
pub fn elements(a: &Csr) -> Vec<f64> {
    let mut values = vec![0.0; a.shape().len()];
    a.entries().for_each(|(i, j, v)| values[i * a.shape().cols + j] = v);
    values
}

pub fn stack(device: &Device, a: &Csr) -> ColumnStack {
    ColumnStack::from_f64(device, a.shape(), &elements(a)).unwrap()
}

/// Entries of a dense matrix.
pub fn full(rows: usize, cols: usize, values: &[f32]) -> Csr {
    let values: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    Triplets::from_dense(Shape::new(rows, cols), &values).unwrap().to_csr()
}

/// A matrix as a column stack and as folded bands, where they fit.
pub fn new_forms(device: &Device, a: &Csr) -> Forms {
    let longest = a.shape().rows.max(a.shape().cols) as u64;
    let room = max_folded_len(device.capabilities().max_texture_size);
    let mut all = Forms::new();
    if longest <= room {
        all.push(("stack", Box::new(stack(device, a))));
    }
    if a.shape().is_square() && 2 * longest <= room {
        all.push(("folded", Box::new(FoldedBands::from_csr(device, a.clone()).unwrap())));
    }
    all
}

/// The five-point Laplacian of a grid, without storing it.
pub fn laplacian(device: &Device, nx: usize, ny: usize) -> Stencil {
    let sides = Sides::all(Side::DIRICHLET);
    Stencil::new(device, Grid::new_2d(nx, ny), StencilParams::new([1.0, 1.0, 0.0], sides)).unwrap()
}

/// A matrix in every sparse form that takes it and fits; banded with at most so many diagonals.
pub fn sparse_forms(device: &Device, a: &Csr, most_bands: usize) -> Forms {
    let mut all = Forms::new();
    let sparse = |format| Box::new(SparseMatrix::from_csr(device, a.clone(), format).unwrap());
    if systems::gather_fits(device, a) {
        all.push(("gather", sparse(SparseFormat::Gather)));
    }
    if device.capabilities().float_blend {
        all.push(("points", sparse(SparseFormat::Points)));
    }
    if a.distinct_diagonals() <= most_bands {
        all.push(("banded", Box::new(BandedMatrix::from_csr(device, a.clone()).unwrap())));
    }
    all
}

/// Every form there is.
pub fn all_forms(device: &Device, a: &Csr) -> Forms {
    let mut all = new_forms(device, a);
    all.push(("dense", Box::new(Matrix::from_f64(device, a.shape(), &elements(a)).unwrap())));
    all.extend(sparse_forms(device, a, usize::MAX));
    all
}
