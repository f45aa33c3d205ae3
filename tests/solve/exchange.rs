//! An operator of a user's may leave another vector in place of the one it was to write: as good as writing, if it is of the
//! same length, on the same device and texla's own; anything else is a typed error.

use std::cell::{Cell, RefCell};

use crate::common::harness::{headless_with, limits, on_both};
use crate::systems::Method;
use texla::ops::{self, Checked, Product};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, LcpParams,
    LcpSolver, LinOp, Preconditioner, ProjectedJacobi, Smoother, Stationary, StationaryParams, Stop,
    WeightedJacobi,
};
use texla::{BandedMatrix, Device, Error, Result, Shape, Vector};

/// Multiplies into a vector of its own and exchanges that for `y`, until told to give something else.
struct Exchanging<'a> {
    a: &'a BandedMatrix,
    /// None to write `y` itself, as others do.
    spare: Option<RefCell<Vector>>,
    /// What is put in place of `y` in the end, after so many products.
    last: RefCell<Option<Vector>>,
    left: Cell<usize>,
}

impl<'a> Exchanging<'a> {
    fn new(a: &'a BandedMatrix, last: Option<Vector>, left: usize) -> Self {
        let spare = Some(RefCell::new(Vector::zeros(a.device(), a.shape().rows).unwrap()));
        Exchanging { a, spare, last: RefCell::new(last), left: Cell::new(left) }
    }

    fn writing(a: &'a BandedMatrix) -> Self {
        Exchanging { spare: None, ..Self::new(a, None, 0) }
    }

    fn exchange(&self, y: &mut Vector, write: impl FnOnce(&mut Vector) -> Result<()>) -> Result<()> {
        let Some(spare) = &self.spare else { return write(y) };
        let spare = &mut *spare.borrow_mut();
        ops::copy(spare, y)?;
        write(spare)?;
        std::mem::swap(y, spare);
        if self.left.replace(self.left.get().saturating_sub(1)) == 0
            && let Some(last) = self.last.borrow_mut().take()
        {
            *y = last;
        }
        Ok(())
    }
}

impl LinOp for Exchanging<'_> {
    fn device(&self) -> &Device {
        self.a.device()
    }

    fn shape(&self) -> Shape {
        self.a.shape()
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.exchange(y, |y| self.a.apply(y, terms))
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.exchange(y, |y| self.a.apply_transposed(y, terms))
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        self.a.diagonal()
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        LinOp::column_squares(self.a)
    }

    fn exponent(&self) -> Result<i32> {
        Ok(self.a.exponent())
    }
}

/// What calls an operator of a user's.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Caller {
    Solver(Method),
    WeightedJacobi,
    LcpSolver,
    ProjectedJacobi,
}

const CALLERS: [Caller; 9] = [
    Caller::Solver(Method::Cg(CgSchedule::Merged)),
    Caller::Solver(Method::Cg(CgSchedule::Listing)),
    Caller::Solver(Method::BiCgStab),
    Caller::Solver(Method::BiCgStab2),
    Caller::Solver(Method::Cgls),
    Caller::Solver(Method::Jacobi(0.8)),
    Caller::WeightedJacobi,
    Caller::LcpSolver,
    Caller::ProjectedJacobi,
];

impl Caller {
    fn run(self, a: &dyn LinOp, x: &mut Vector, b: &Vector) -> Result<()> {
        match self {
            Caller::Solver(method) => method.solve(a, x, b, 1000, Stop::relative(1e-3)).map(drop),
            Caller::WeightedJacobi => WeightedJacobi::new(a, 0.8)?.smooth(x, b, 5),
            Caller::LcpSolver => LcpSolver::new(a, LcpParams::default())?.solve(x, b).map(drop),
            Caller::ProjectedJacobi => ProjectedJacobi::new(a, 0.8)?.run(x, b, 5),
        }
    }
}

#[test]
fn a_vector_of_the_same_kind_may_take_the_place_of_y() {
    on_both(|dev| {
        let a = BandedMatrix::poisson_2d(dev, 9, 7).unwrap();
        let b = Vector::from_slice(dev, &crate::common::random::uniform(5, 63)).unwrap();
        for caller in CALLERS {
            let solved = |a: &dyn LinOp| {
                let mut x = Vector::zeros(dev, 63).unwrap();
                let texture = x.texture();
                caller.run(a, &mut x, &b).unwrap_or_else(|e| panic!("{caller:?}: {e}"));
                // A smoother alone works on the vector it is given, and may exchange it.
                let own = x.texture() == texture || caller == Caller::WeightedJacobi;
                assert!(own, "{caller:?}: the caller's texture");
                x.read().unwrap()
            };
            assert_eq!(solved(&Exchanging::new(&a, None, 0)), solved(&Exchanging::writing(&a)), "{caller:?}");
        }
    });
}

#[test]
fn any_other_vector_in_place_of_y_is_a_typed_error() {
    on_both(|dev| {
        let a = BandedMatrix::poisson_2d(dev, 8, 8).unwrap();
        let b = Vector::from_slice(dev, &crate::common::random::uniform(5, 64)).unwrap();
        let other = headless_with(dev.api(), limits());
        let host = Vector::zeros(dev, 64).unwrap();
        for caller in CALLERS {
            for left in [0, 1, 4] {
                let error = |last: Vector| {
                    let operator = Exchanging::new(&a, Some(last), left);
                    let mut x = Vector::zeros(dev, 64).unwrap();
                    let texture = x.texture();
                    let error = caller.run(&operator, &mut x, &b).expect_err("another vector");
                    let own = x.texture() == texture || caller == Caller::WeightedJacobi;
                    assert!(x.len() == 64 && own, "{caller:?}");
                    assert!(x.read().unwrap().iter().all(|v| v.is_finite()), "{caller:?}");
                    error
                };
                for n in [63, 65, 1000, 1] {
                    let e = error(Vector::zeros(dev, n).unwrap());
                    assert!(matches!(e, Error::ShapeMismatch { operand: "y", .. }), "{caller:?}: {e}");
                }
                let e = error(Vector::zeros(other.device(), 64).unwrap());
                assert!(
                    matches!(&e, Error::WrongDevice { operand, .. } if operand == "y"),
                    "{caller:?}: {e}"
                );
                // SAFETY: `host` lives longer.
                #[allow(unsafe_code)]
                let borrowed = unsafe { Vector::from_texture(dev, host.texture(), 4, 4) }.unwrap();
                let e = error(borrowed);
                assert!(matches!(e, Error::Unsupported { .. }), "{caller:?}: {e}");
            }
        }
    });
}

/// A preconditioner that does the same to `z`.
struct Shortening;

impl Preconditioner for Shortening {
    fn apply(&self, z: &mut Vector, _: &Vector) -> Result<()> {
        *z = Vector::zeros(z.device(), 3)?;
        Ok(())
    }
}

/// And a smoother to `x`.
impl Smoother for Shortening {
    fn smooth(&self, x: &mut Vector, _: &Vector, _: usize) -> Result<()> {
        *x = Vector::zeros(x.device(), 3)?;
        Ok(())
    }
}

#[test]
fn preconditioners_and_smoothers_are_held_to_the_same() {
    on_both(|dev| {
        let a = BandedMatrix::poisson_2d(dev, 8, 8).unwrap();
        let b = Vector::filled(dev, 64, 1.0).unwrap();
        let mut x = Vector::zeros(dev, 64).unwrap();
        let m = &Shortening;
        for result in [
            ConjugateGradient::preconditioned(&a, m, CgParams::default())
                .unwrap()
                .solve(&mut x, &b)
                .map(drop),
            BiCgStab::preconditioned(&a, m, BiCgStabParams::default()).unwrap().solve(&mut x, &b).map(drop),
            Cgls::preconditioned(&a, m, CglsParams::default()).unwrap().solve(&mut x, &b).map(drop),
            Stationary::new(&a, m, StationaryParams::default()).unwrap().solve(&mut x, &b).map(drop),
        ] {
            assert!(matches!(result, Err(Error::ShapeMismatch { .. })), "{result:?}");
            assert_eq!(x.read().unwrap(), [0.0; 64]);
        }
    });
}
