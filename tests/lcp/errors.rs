//! Wrong arguments are typed errors, and no NaN comes out.

use crate::common::harness::{headless, on_both};
use crate::problems::{entries, params};
use texla::gl::Api;
use texla::host::Csr;
use texla::solve::{LcpBatch, LcpParams, LcpProblem, LcpSolver, ProjectedJacobi, Relaxation, Stop};
use texla::{Device, Error, MatrixFormat, SparseFormat, StoredMatrix, Vector};

fn stored(device: &Device, a: Csr) -> StoredMatrix {
    StoredMatrix::new(device, a, MatrixFormat::Sparse(SparseFormat::Gather)).unwrap()
}

#[test]
fn parameters_are_checked_when_the_solver_is_made() {
    on_both(|device| {
        let a = stored(device, texla::host::problems::poisson_1d(8).to_csr());
        let refused = |params: LcpParams, name: &str| match LcpSolver::new(&a, params).err() {
            Some(Error::Parameter { name: found, op: "LcpSolver", .. }) => assert_eq!(found, name),
            other => panic!("{params:?}: {other:?}"),
        };
        let csr = texla::host::problems::poisson_1d(8).to_csr();
        let batch = LcpBatch::new(device, &[LcpProblem { a: &csr, b: &[-1.0; 8] }]).unwrap();
        for tol in [0.0, -1e-5, 1.0, 2.0, 1e-30, f64::NAN, f64::INFINITY] {
            refused(params(tol), "relative");
        }
        for every in [0, Stop::MOST_UNSEEN + 1] {
            let stop = Stop::relative(1e-4).check_every(every);
            let params = LcpParams::default().with_stop(stop);
            refused(params, "check_every");
            match batch.solve(&mut batch.start(&[0.0; 8]).unwrap(), params).err() {
                Some(Error::Parameter { name: "check_every", op: "LcpBatch::solve", .. }) => {}
                other => panic!("{every}: {other:?}"),
            }
        }
        refused(LcpParams::default().with_max_sweeps(1 << 24), "max_sweeps");
        for omega in [0.0, -0.1, f32::NAN, f32::INFINITY] {
            refused(LcpParams::default().with_relaxation(Relaxation::Fixed(omega)), "omega");
        }
    });
}

#[test]
fn matrices_that_do_not_suit_are_named() {
    on_both(|device| {
        let refused = |a: Csr, text: &str| {
            let a = stored(device, a);
            for relaxation in [Relaxation::Accelerated, Relaxation::Fixed(0.5)] {
                match LcpSolver::new(&a, LcpParams::default().with_relaxation(relaxation)).err() {
                    Some(Error::Matrix { op: "LcpSolver", detail }) => {
                        assert!(detail.contains(text), "{detail}")
                    }
                    other => panic!("{text}: {other:?}"),
                }
            }
        };
        refused(entries(2, 3, [(0, 0, 1.0), (1, 1, 1.0)]), "2x3");
        let diagonal = |d: [f64; 4]| entries(4, 4, d.into_iter().enumerate().map(|(i, v)| (i, i, v)));
        refused(diagonal([1.0, 0.0, 1.0, 0.0]), "entry 0 in row 1 (counted from 0)");
        refused(diagonal([1.0, 1.0, 1.0, -2.0]), "entry -2 in row 3");
        // A diagonal that is not stored is zero.
        refused(entries(2, 2, [(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0)]), "entry 0 in row 1");
        // A diagonal so far below the largest coefficient that its inverse is no float.
        let a = stored(device, entries(2, 2, [(0, 0, 1e38), (1, 1, 1e-37)]));
        match LcpSolver::new(&a, LcpParams::default()).err() {
            Some(Error::NonFinite { index: 1, what, .. }) => assert!(what.contains("LcpSolver"), "{what}"),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn shapes_are_checked() {
    on_both(|device| {
        let a = stored(device, texla::host::problems::poisson_1d(8).to_csr());
        let solver = LcpSolver::new(&a, LcpParams::default()).unwrap();
        let of = |n| Vector::filled(device, n, 1.0).unwrap();
        for (n, m, name) in [(7, 8, "x"), (8, 9, "b")] {
            match solver.solve(&mut of(n), &of(m)) {
                Err(Error::ShapeMismatch { op: "LcpSolver::solve", operand, .. }) => {
                    assert_eq!(operand, name)
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

/// What is borrowed from the host is not looked at when it comes in.
#[test]
#[allow(unsafe_code)]
fn a_borrowed_right_hand_side_with_nan_or_infinity_is_refused() {
    use glow::HasContext;
    on_both(|device| {
        let a = stored(device, texla::host::problems::poisson_1d(8).to_csr());
        let solver = LcpSolver::new(&a, LcpParams::default()).unwrap();
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut values = [-1.0f32; 8];
            values[5] = bad;
            let gl = device.glow();
            // SAFETY: the context is current, since the device has just been used; the slice covers the texture, which
            // outlives the vector that borrows it.
            let raw = unsafe {
                let raw = gl.create_texture().unwrap();
                gl.bind_texture(glow::TEXTURE_2D, Some(raw));
                let data = glow::PixelUnpackData::Slice(Some(bytemuck::cast_slice(&values)));
                let internal = glow::RGBA32F as i32;
                gl.tex_image_2d(glow::TEXTURE_2D, 0, internal, 2, 1, 0, glow::RGBA, glow::FLOAT, data);
                gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MAX_LEVEL, 0);
                gl.bind_texture(glow::TEXTURE_2D, None);
                raw
            };
            {
                // SAFETY: as above.
                let b = unsafe { Vector::from_texture(device, raw, 2, 1) }.unwrap();
                let mut x = Vector::zeros(device, 8).unwrap();
                match solver.solve(&mut x, &b) {
                    Err(Error::NonFinite { what, value, .. }) => {
                        assert_eq!(what, "LcpSolver::solve: b");
                        assert!(value == f64::from(bad) || value.is_nan() && bad.is_nan(), "{bad}: {value}");
                    }
                    other => panic!("{bad}: {other:?}"),
                }
                assert!(x.read().unwrap().iter().all(|v| *v == 0.0), "{bad}");
                let found = texla::solve::natural_residual(&a, &x, &b).unwrap();
                assert_eq!(found.relative, f64::INFINITY, "{bad}");
                // It cannot be written to.
                let mut borrowed = b;
                let right = Vector::filled(device, 8, -1.0).unwrap();
                let refused = solver.solve(&mut borrowed, &right);
                assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
            }
            // SAFETY: the texture is the test's own.
            unsafe { gl.delete_texture(raw) };
        }
    });
}

#[test]
fn vectors_of_another_device_are_named() {
    on_both(|device| {
        let a = texla::BandedMatrix::poisson_2d(device, 3, 2).unwrap();
        let other = headless(Api::Gl33);
        let there = Vector::filled(other.device(), 6, -1.0).unwrap();
        let mut x = Vector::zeros(device, 6).unwrap();
        let wrong = |op: &str| Error::WrongDevice { op: op.to_owned(), operand: "b".to_owned() };
        let solver = LcpSolver::new(&a, LcpParams::default()).unwrap();
        assert_eq!(solver.solve(&mut x, &there).unwrap_err(), wrong("LcpSolver::solve"));
        let jacobi = ProjectedJacobi::new(&a, 0.5).unwrap();
        assert_eq!(jacobi.run(&mut x, &there, 3).unwrap_err(), wrong("ProjectedJacobi::run"));
    });
}
