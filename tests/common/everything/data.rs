//! What data on the device is asked: made, written, read, and turned into one another.
#![allow(unsafe_code)] // what borrows a texture

use texla::host::problems;
use texla::ops::Shades;
use texla::{
    BandedMatrix, BufferVector, ColumnStack, Device, DoubleMatrix, DoubleVector, FoldedBands, Grid, Layout,
    Matrix, Packed, PendingRead, Picture, Plane, Result, Scalar, Shape, Side, Sides, SparseFormat,
    SparseMatrix, Stencil, StencilParams, StoredMatrix, Vector, ops,
};

use super::super::harness::fitting;
use super::super::random::uniform;
use super::{Step, changed, if_able, if_exact, product};

/// Texels as numbers.
fn bytes(picture: &Picture) -> Vec<f32> {
    picture.read().unwrap().into_iter().flatten().map(f32::from).collect()
}

pub fn pictures(dev: &Device, step: Step<'_>) {
    step("Picture::new", &|| bytes(&Picture::new(dev, 7, 5).unwrap()));
    let picture = Picture::new(dev, 5, 7).unwrap();
    step("Picture::read", &|| picture.read().unwrap().into_iter().flatten().map(f32::from).collect());
    let v = Vector::from_slice(dev, &uniform(5, 16)).unwrap();
    let lent = Vector::filled(dev, 64, 0.5).unwrap();
    step("Picture::from_texture", &|| {
        // SAFETY: the texture outlives the picture that borrows it.
        let mut picture = unsafe { Picture::from_texture(dev, lent.texture(), 4, 4).unwrap() };
        ops::vector_to_picture(&mut picture, &v, &Shades::grey(-1.0, 1.0)).unwrap();
        bytes(&picture)
    });
}

pub fn vectors(dev: &Device, step: Step<'_>) {
    let n = fitting(dev, 1237);
    let values = uniform(31, n);
    let x = Vector::from_slice(dev, &values).unwrap();
    let wide: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    step("Vector::zeros", &|| Vector::zeros(dev, n).unwrap().read().unwrap());
    step("Vector::filled", &|| Vector::filled(dev, n, 0.75).unwrap().read().unwrap());
    step("Vector::from_slice", &|| Vector::from_slice(dev, &values).unwrap().read().unwrap());
    step("Vector::from_f64", &|| Vector::from_f64(dev, &wide).unwrap().read().unwrap());
    step("Vector::from_texture", &|| {
        // SAFETY: the texture outlives the vector that borrows it.
        let borrowed = unsafe {
            Vector::from_texture(dev, x.texture(), x.extent(), 4 * x.extent().area() as usize).unwrap()
        };
        borrowed.read().unwrap()
    });
    step("Vector::set_zero", &|| changed(dev, &values, |x| x.set_zero()));
    step("Vector::write", &|| changed(dev, &vec![0.0; n], |x| x.write(&values)));
    step("Vector::read", &|| x.read().unwrap());
    step("Vector::read_into", &|| {
        let mut out = vec![0.0; n];
        x.read_into(&mut out).unwrap();
        out
    });
    step("Vector::read_texels", &|| x.read_texels().unwrap());
    step("Vector::element", &|| vec![x.element(n / 2).unwrap()]);
    let pairs = || DoubleVector::from_f64(dev, &wide).unwrap();
    let low = |x: &DoubleVector| x.read().unwrap().into_iter().map(|v| v as f32).collect::<Vec<f32>>();
    step("DoubleVector::zeros", &|| low(&DoubleVector::zeros(dev, n).unwrap()));
    step("DoubleVector::from_f64", &|| low(&pairs()));
    step("DoubleVector::from_vector", &|| low(&DoubleVector::from_vector(&x).unwrap()));
    step("DoubleVector::read", &|| low(&pairs()));
    step("DoubleVector::set_zero", &|| {
        let mut x = pairs();
        x.set_zero().unwrap();
        low(&x)
    });
    step("DoubleVector::write", &|| {
        let mut x = DoubleVector::zeros(dev, n).unwrap();
        x.write(&wide).unwrap();
        low(&x)
    });
    // A device without exact sums of two floats refuses these.
    let sum = |add: &dyn Fn(&mut DoubleVector, &DoubleVector) -> Result<()>| {
        let mut out = DoubleVector::zeros(dev, n).unwrap();
        if_exact(dev, add(&mut out, &pairs()));
        low(&out)
    };
    let number = |out: Result<DoubleVector>| if_exact(dev, out).map_or(vec![0.0], |out| low(&out));
    step("dot_double", &|| number(ops::dot_double(&pairs(), &x)));
    step("norm2_double", &|| number(ops::norm2_double(&pairs())));
    step("axpy_double", &|| sum(&|out, y| ops::axpy_double(out, 0.3, &x, y)));
    step("add_double", &|| sum(&|out, y| ops::add_double(out, y, y)));
    step("mul_double", &|| sum(&|out, y| ops::mul_double(out, y, &x)));
    step("scaled_double", &|| sum(&|out, y| ops::scaled_double(out, 0.3, y)));
    step("sub_double", &|| sum(&|out, y| ops::sub_double(out, y, &x)));
    step("Vector::to_packed", &|| {
        let x = Vector::from_slice(dev, &values[..35]).unwrap();
        x.to_packed(Shape::new(7, 5), Layout::Batch4).unwrap().read().unwrap()
    });
    step("Vector::read_async", &|| x.read_async().unwrap().wait().unwrap());
    step("PendingRead::poll", &|| {
        let pending = x.read_async().unwrap();
        loop {
            if let Some(values) = pending.poll().unwrap() {
                return values;
            }
        }
    });
    step("PendingRead::wait", &|| {
        let pending: PendingRead = x.read_async().unwrap();
        [pending.wait().unwrap(), pending.wait().unwrap()].concat()
    });
    let s = Scalar::new(dev, 1.5).unwrap();
    step("Scalar::new", &|| vec![Scalar::new(dev, 2.5).unwrap().read().unwrap()]);
    step("Scalar::zero", &|| vec![Scalar::zero(dev).unwrap().read().unwrap()]);
    step("Scalar::read", &|| vec![s.read().unwrap()]);
    step("Scalar::read_async", &|| s.read_async().unwrap().wait().unwrap());
    step("add of scalars", &|| {
        let mut t = Scalar::zero(dev).unwrap();
        ops::add(&mut t, &s, &s).unwrap();
        vec![t.read().unwrap()]
    });
}

/// Planes, and vectors by other layouts.
pub fn layouts(dev: &Device, step: Step<'_>) {
    let values = uniform(32, 35);
    let shape = Shape::new(7, 5);
    let columns = Packed::from_rows(dev, shape, Layout::Column4, &values).unwrap();
    let plane = Plane::from_rows(dev, 7, 5, &values).unwrap();
    for layout in [Layout::Folded, Layout::Column4, Layout::Block2x2, Layout::Single, Layout::Batch4] {
        step("Packed::from_rows", &|| {
            Packed::from_rows(dev, shape, layout, &values).unwrap().read().unwrap()
        });
        step("Packed::zeros", &|| Packed::zeros(dev, shape, layout).unwrap().read_texels().unwrap());
        step("Packed::repack", &|| columns.repack(layout).unwrap().read().unwrap());
    }
    step("Packed::read", &|| columns.read().unwrap());
    step("Packed::read_texels", &|| columns.read_texels().unwrap());
    step("Packed::to_vector", &|| columns.to_vector().unwrap().read().unwrap());
    step("Plane::zeros", &|| Plane::zeros(dev, 7, 5).unwrap().read().unwrap());
    step("Plane::from_rows", &|| Plane::from_rows(dev, 7, 5, &values).unwrap().read().unwrap());
    step("Plane::read", &|| plane.read().unwrap());
    let into = |read: &dyn Fn(&mut [f32]) -> texla::Result<()>| {
        let mut out = vec![0.0; values.len()];
        read(&mut out).unwrap();
        out
    };
    step("Plane::write", &|| {
        let mut plane = Plane::zeros(dev, 7, 5).unwrap();
        plane.write(&values).unwrap();
        plane.read().unwrap()
    });
    step("Plane::read_into", &|| into(&|out| plane.read_into(out)));
    step("Plane::element", &|| vec![plane.element(6, 4).unwrap()]);
    let stack = ColumnStack::from_rows(dev, Shape::new(7, 5), &values).unwrap();
    step("ColumnStack::write", &|| {
        let mut stack = ColumnStack::zeros(dev, Shape::new(7, 5)).unwrap();
        stack.write(&values).unwrap();
        stack.read().unwrap()
    });
    step("ColumnStack::read_into", &|| into(&|out| stack.read_into(out)));
    step("ColumnStack::element", &|| vec![stack.element(6, 4).unwrap()]);
}

pub fn matrices(dev: &Device, step: Step<'_>) {
    let shape = Shape::new(23, 17);
    let values = uniform(33, shape.len());
    let wide: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    let a = Matrix::from_rows(dev, shape, &values).unwrap();
    let flat = a.to_vector().unwrap();
    let csr = problems::poisson_2d(6, 5).to_csr();
    let changed = |f: &dyn Fn(&mut Matrix) -> texla::Result<()>| {
        let mut out = Matrix::from_rows(dev, shape, &values).unwrap();
        f(&mut out).unwrap();
        out.read().unwrap()
    };
    step("Matrix::zeros", &|| Matrix::zeros(dev, shape).unwrap().read().unwrap());
    step("Matrix::filled", &|| Matrix::filled(dev, shape, 0.75).unwrap().read().unwrap());
    step("Matrix::identity", &|| Matrix::identity(dev, 9).unwrap().read().unwrap());
    step("Matrix::from_rows", &|| Matrix::from_rows(dev, shape, &values).unwrap().read().unwrap());
    let pairs = || DoubleMatrix::from_f64(dev, shape, &wide).unwrap();
    let low = |a: &DoubleMatrix| a.read().unwrap().into_iter().map(|v| v as f32).collect::<Vec<f32>>();
    step("DoubleMatrix::from_f64", &|| low(&pairs()));
    step("DoubleMatrix::read", &|| low(&pairs()));
    step("DoubleMatrix::write", &|| {
        let mut a = pairs();
        a.write(&wide).unwrap();
        low(&a)
    });
    step("Matrix::from_f64", &|| Matrix::from_f64(dev, shape, &wide).unwrap().read().unwrap());
    step("Matrix::from_csr", &|| Matrix::from_csr(dev, &csr).unwrap().read().unwrap());
    step("Matrix::from_vector", &|| Matrix::from_vector(&flat).unwrap().read().unwrap());
    step("Matrix::from_vector_rows", &|| {
        Matrix::from_vector_rows(&flat, shape.transposed()).unwrap().read().unwrap()
    });
    step("Matrix::set_zero", &|| changed(&|a| a.set_zero()));
    step("Matrix::write", &|| changed(&|a| a.write(&vec![0.5; shape.len()])));
    let block = a.block(3, 2, Shape::new(5, 6)).unwrap();
    step("Matrix::set_block", &|| changed(&|a| a.set_block(9, 7, &block)));
    step("accumulate of matrices", &|| changed(&|out| ops::accumulate_scaled(out, 0.5, &a)));
    step("Matrix::block", &|| a.block(3, 2, Shape::new(5, 6)).unwrap().read().unwrap());
    step("Matrix::read", &|| a.read().unwrap());
    step("Matrix::read_into", &|| {
        let mut out = vec![0.0; shape.len()];
        a.read_into(&mut out).unwrap();
        out
    });
    step("Matrix::read_texels", &|| a.read_texels().unwrap().concat());
    step("Matrix::element", &|| vec![a.element(3, 5).unwrap()]);
    step("Matrix::to_csr", &|| a.to_csr().unwrap().values().iter().map(|v| *v as f32).collect());
    step("Matrix::to_vector", &|| a.to_vector().unwrap().read().unwrap());
    step("Matrix::transposed", &|| a.transposed().unwrap().read().unwrap());
    step("Matrix::row", &|| a.row(2).unwrap().read().unwrap());
    step("Matrix::column", &|| a.column(2).unwrap().read().unwrap());
    step("Matrix::diagonal", &|| a.diagonal().unwrap().read().unwrap());
}

/// Stacks of columns, of which some share a texture, and sparse forms.
pub fn forms(dev: &Device, step: Step<'_>) {
    let n = 70;
    let shape = Shape::new(n, n);
    let values = uniform(34, shape.len());
    let wide: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    let stack = ColumnStack::from_rows(dev, shape, &values).unwrap();
    let dense = stack.to_matrix().unwrap();
    let column = stack.column(3).unwrap();
    let changed = |f: &dyn Fn(&mut ColumnStack) -> texla::Result<()>| {
        let mut out = ColumnStack::from_rows(dev, shape, &values).unwrap();
        f(&mut out).unwrap();
        out.read().unwrap()
    };
    step("ColumnStack::zeros", &|| ColumnStack::zeros(dev, shape).unwrap().read().unwrap());
    step("ColumnStack::from_rows", &|| ColumnStack::from_rows(dev, shape, &values).unwrap().read().unwrap());
    step("ColumnStack::from_f64", &|| ColumnStack::from_f64(dev, shape, &wide).unwrap().read().unwrap());
    step("ColumnStack::from_matrix", &|| ColumnStack::from_matrix(&dense).unwrap().read().unwrap());
    step("ColumnStack::set_zero", &|| changed(&|a| a.set_zero()));
    step("ColumnStack::set_column", &|| changed(&|a| a.set_column(60, &column)));
    step("ColumnStack::column", &|| stack.column(5).unwrap().read().unwrap());
    step("ColumnStack::read", &|| stack.read().unwrap());
    step("ColumnStack::read_texels", &|| stack.read_texels().unwrap().concat());
    step("ColumnStack::to_matrix", &|| stack.to_matrix().unwrap().read().unwrap());
    step("ColumnStack::to_csr", &|| stack.to_csr().unwrap().values().iter().map(|v| *v as f32).collect());

    let triplets = problems::poisson_2d(9, 4);
    let csr = triplets.to_csr();
    let new: Vec<f64> = csr.values().iter().map(|v| -0.5 * v).collect();
    step("BandedMatrix::from_triplets", &|| product(&BandedMatrix::from_triplets(dev, &triplets).unwrap()));
    step("BandedMatrix::from_csr", &|| product(&BandedMatrix::from_csr(dev, csr.clone()).unwrap()));
    step("BandedMatrix::poisson_2d", &|| product(&BandedMatrix::poisson_2d(dev, 9, 4).unwrap()));
    step("BandedMatrix::set_values", &|| {
        let mut a = BandedMatrix::from_csr(dev, csr.clone()).unwrap();
        a.set_values(&new).unwrap();
        product(&a)
    });
    let banded = BandedMatrix::from_csr(dev, csr.clone()).unwrap();
    step("BandedMatrix::to_matrix", &|| banded.to_matrix().unwrap().read().unwrap());
    step("FoldedBands::from_triplets", &|| product(&FoldedBands::from_triplets(dev, &triplets).unwrap()));
    step("FoldedBands::from_csr", &|| product(&FoldedBands::from_csr(dev, csr.clone()).unwrap()));
    step("FoldedBands::set_values", &|| {
        let mut a = FoldedBands::from_csr(dev, csr.clone()).unwrap();
        a.set_values(&new).unwrap();
        product(&a)
    });
    let folded = FoldedBands::from_csr(dev, stack.to_csr().unwrap()).unwrap();
    step("FoldedBands::to_matrix", &|| folded.to_matrix().unwrap().read().unwrap());
    for format in [SparseFormat::Gather, SparseFormat::Points] {
        step("SparseMatrix::from_triplets", &|| {
            product(&SparseMatrix::from_triplets(dev, &triplets, format).unwrap())
        });
        step("SparseMatrix::from_csr", &|| {
            product(&SparseMatrix::from_csr(dev, csr.clone(), format).unwrap())
        });
        step("SparseMatrix::set_values", &|| {
            let mut a = SparseMatrix::from_csr(dev, csr.clone(), format).unwrap();
            a.set_values(&new).unwrap();
            product(&a)
        });
        let a = SparseMatrix::from_csr(dev, csr.clone(), format);
        if let Some(a) = if_able(format == SparseFormat::Gather || dev.capabilities().float_blend, a) {
            step("SparseMatrix::to_matrix", &|| a.to_matrix().unwrap().read().unwrap());
        }
        step("StoredMatrix::new", &|| product(&StoredMatrix::new(dev, csr.clone(), format).unwrap()));
    }
    // Whole texels in a row or not; all kinds of sides; with solid cells and without; both dimensions.
    for (grid, side) in [
        (Grid::new_2d(40, 16), Side::WALL),
        (Grid::new_2d(33, 17), Side::Neumann),
        (Grid::new_2d(8, 3), Side::DIRICHLET),
        (Grid::new_2d(5, 3), Side::Periodic),
        (Grid::new_3d(4, 3, 2), Side::Periodic),
        (Grid::new_3d(3, 2, 2), Side::Neumann),
    ] {
        let (weights, sides) = ([1.0, 1.0, if grid.nz > 1 { 1.0 } else { 0.0 }], Sides::all(side));
        let solid: Vec<bool> = (0..grid.len()).map(|i| i % 50 == 1).collect();
        let open = StencilParams::new(weights, sides).with_shift(0.1);
        step("Stencil::new", &|| product(&Stencil::new(dev, grid, open).unwrap()));
        step("Stencil::new, with obstacles", &|| {
            product(&Stencil::new(dev, grid, open.with_solid(&solid)).unwrap())
        });
    }
}

/// Vectors in buffers.
pub fn buffers(dev: &Device, step: Step<'_>) {
    let values = uniform(35, 61);
    let x = BufferVector::from_slice(dev, &values).unwrap();
    let vector = Vector::from_slice(dev, &values).unwrap();
    let changed = |f: &dyn Fn(&mut BufferVector) -> texla::Result<()>| {
        let mut out = BufferVector::from_slice(dev, &values).unwrap();
        f(&mut out).unwrap();
        out.read().unwrap()
    };
    step("BufferVector::zeros", &|| BufferVector::zeros(dev, 127).unwrap().read().unwrap());
    step("BufferVector::from_slice", &|| BufferVector::from_slice(dev, &values).unwrap().read().unwrap());
    step("BufferVector::from_vector", &|| BufferVector::from_vector(&vector).unwrap().read().unwrap());
    step("BufferVector::write", &|| changed(&|y| y.write(&uniform(36, 61))));
    step("BufferVector::set_zero", &|| changed(&|y| y.set_zero()));
    step("BufferVector::copy_from", &|| changed(&|y| y.copy_from(&vector)));
    step("BufferVector::copy_range", &|| changed(&|y| y.copy_range(3, &x, 5..50)));
    step("BufferVector::copy_to", &|| super::changed(dev, &[0.0; 61], |y| x.copy_to(y)));
    step("BufferVector::to_vector", &|| x.to_vector().unwrap().read().unwrap());
    step("BufferVector::read", &|| x.read().unwrap());
    step("BufferVector::read_vec4s", &|| x.read_vec4s().unwrap());
    step("BufferVector::read_into", &|| {
        let mut out = vec![0.0; 61];
        x.read_into(&mut out).unwrap();
        out
    });
}
