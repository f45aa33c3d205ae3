//! Listing 44-1 of [Krueger05] written in texla, line for line: each line of the original stands as a comment above the
//! call that it has become. Solves the same system with every representation of its matrix.

mod common;

use common::bounds::{assert_componentwise, product_bound};
use common::harness::{assert_padded, on_both};
use common::{forms, random, reference, systems};
use texla::host::problems;
use texla::ops::{self, Combine};
use texla::solve::LinOp;
use texla::{Device, Result, Scalar, Vector};

/// The members of the original's class; its pointers to vectors and scalars are owned here.
#[allow(non_snake_case)]
struct CgSolver<'a> {
    Matrix: &'a dyn LinOp,
    X: Vector,
    B: Vector,
    R: Vector,
    P: Vector,
    Q: Vector,
    Rho: Scalar,
    NewRho: Scalar,
    Alpha: Scalar,
    Beta: Scalar,
    Temp: Scalar,
}

impl<'a> CgSolver<'a> {
    #[allow(non_snake_case)]
    fn new(device: &Device, Matrix: &'a dyn LinOp, X: Vector, B: Vector) -> Result<Self> {
        let vector = || Vector::zeros(device, B.len());
        let scalar = || Scalar::zero(device);
        let (R, P, Q) = (vector()?, vector()?, vector()?);
        let (Rho, NewRho, Alpha, Beta, Temp) = (scalar()?, scalar()?, scalar()?, scalar()?, scalar()?);
        Ok(CgSolver { Matrix, X, B, R, P, Q, Rho, NewRho, Alpha, Beta, Temp })
    }

    // void clCGSolver::solveInit() {
    fn solve_init(&mut self) -> Result<()> {
        // Matrix->matrixVectorOp(CL_SUB, X, B, R);      // R = A * x - b
        ops::product(&mut self.R, Combine::Subtract(&self.B), 1.0, self.Matrix, &self.X)?;
        // R->multiply(-1);                              // R = -R
        ops::scale(&mut self.R, -1.0)?;
        // R->clone(P);                                  // P = R
        ops::copy(&mut self.P, &self.R)?;
        // R->reduceAdd(R, Rho);                         // rho = sum(R * R);
        ops::dot_into(&mut self.Rho, &self.R, &self.R)
        // }
    }

    // void clCGSolver::solveIteration() {
    fn solve_iteration(&mut self) -> Result<()> {
        // Matrix->matrixVectorOp(CL_NULL, P, NULL, Q);  // Q = Ap;
        ops::product(&mut self.Q, Combine::Replace, 1.0, self.Matrix, &self.P)?;
        // P->reduceAdd(Q, Temp);                        // temp = sum(P * Q);
        ops::dot_into(&mut self.Temp, &self.P, &self.Q)?;
        // Rho->div(Temp, Alpha);                        // alpha = rho/temp;
        ops::div(&mut self.Alpha, &self.Rho, &self.Temp)?;
        // X->addVector(P, X, 1, Alpha);                 // X = X + alpha * P
        ops::accumulate_scaled(&mut self.X, &self.Alpha, &self.P)?;
        // R->subtractVector(Q, R, 1, Alpha);            // R = R - alpha * Q
        ops::subtract_scaled(&mut self.R, &self.Alpha, &self.Q)?;
        // R->reduceAdd(R, NewRho);                      // newrho = sum(R * R);
        ops::dot_into(&mut self.NewRho, &self.R, &self.R)?;
        // NewRho->divZ(Rho, Beta);                      // beta = newrho/rho
        ops::div_or_zero(&mut self.Beta, &self.NewRho, &self.Rho)?;
        // R->addVector(P, P, 1, Beta);                  // P = R + beta * P;
        ops::scale_and_add(&mut self.P, &self.Beta, &self.R)?;
        // clFloat *temp; temp=NewRho; NewRho=Rho; Rho=temp;  // swap rho and newrho pointers
        std::mem::swap(&mut self.NewRho, &mut self.Rho);
        // }
        Ok(())
    }

    // void clCGSolver::solve(int maxI) {
    fn solve(&mut self, max_i: usize) -> Result<()> {
        // solveInit();
        self.solve_init()?;
        // for(int i = 0; i < maxI; i++) solveIteration();
        for _ in 0..max_i {
            self.solve_iteration()?;
        }
        // }
        Ok(())
    }

    // int clCGSolver::solve(float rhoTresh, int maxI) {
    fn solve_to(&mut self, rho_thresh: f32, max_i: usize) -> Result<usize> {
        // solveInit();
        self.solve_init()?;
        // Rho->clone(NewRho);
        ops::copy(&mut self.NewRho, &self.Rho)?;
        // for(int i = 0; i < maxI && NewRho.getData() > rhoTresh; i++)
        // A slip of the original: the iteration has swapped the two, so that NewRho is the rho of the iteration before
        // and one more is made than is needed. What is meant is Rho.
        let mut i = 0;
        while i < max_i && self.Rho.read()? > rho_thresh {
            // solveIteration();
            self.solve_iteration()?;
            i += 1;
        }
        // return i; }
        Ok(i)
    }

    /// The loop as it is printed.
    fn solve_as_printed(&mut self, rho_thresh: f32, max_i: usize) -> Result<usize> {
        self.solve_init()?;
        ops::copy(&mut self.NewRho, &self.Rho)?;
        let mut i = 0;
        while i < max_i && self.NewRho.read()? > rho_thresh {
            self.solve_iteration()?;
            i += 1;
        }
        Ok(i)
    }
}

/// Two systems: of a grid, and dense.
fn systems_to_solve() -> Vec<(&'static str, texla::host::Csr)> {
    vec![
        ("grid", problems::poisson_2d(9, 7).to_csr()),
        ("random", systems::rounded(&systems::csr(&random::spd(4, 57, 0.5)))),
        ("prime", systems::rounded(&systems::csr(&random::spd(5, 97, 0.05)))),
    ]
}

/// Every representation; of the grid's matrix also the one that stores nothing.
fn all(device: &Device, system: &str, a: &texla::host::Csr) -> Vec<(&'static str, Box<dyn LinOp>)> {
    let mut all = forms::all_forms(device, a);
    if system == "grid" {
        let stencil = forms::laplacian(device, 9, 7);
        assert_eq!(stencil.csr(), a);
        all.push(("stencil", Box::new(stencil)));
    }
    all
}

#[test]
fn the_listing_solves_with_every_representation() {
    on_both(|device| {
        for (system, a) in systems_to_solve() {
            let n = a.shape().rows;
            let b = systems::rhs_of_ones(&a);
            let start = random::uniform(1, n);
            for (form, matrix) in all(device, system, &a) {
                let label = format!("{system}, {form}");
                let x = Vector::from_slice(device, &start).unwrap();
                let hb = Vector::from_f64(device, &b).unwrap();
                let mut cg = CgSolver::new(device, matrix.as_ref(), x, hb).unwrap();

                // R = b - A x, within the product bound.
                cg.solve_init().unwrap();
                let x0 = reference::widen(&start);
                let want = reference::sub(&b, &systems::apply(&a, &x0));
                let sizes = reference::add(&reference::abs(&b), &systems::apply_abs(&a, &x0));
                let terms = systems::row_terms(&a);
                let bound: Vec<f64> =
                    sizes.iter().zip(terms).map(|(s, k)| product_bound(*s, k + 1)).collect();
                assert_componentwise(&label, &cg.R.read().unwrap(), &want, &bound);
                assert_eq!(cg.P.read().unwrap(), cg.R.read().unwrap());

                let scale = reference::dot(&b, &b) as f32;
                let i = cg.solve_to(1e-12 * scale, 3 * n).unwrap();
                assert!(i < 3 * n, "{label}: rho is {} after {i} iterations", cg.Rho.read().unwrap());
                let x = cg.X.read().unwrap();
                // Of the recurrence 1e-6; the truth is within the LAPACK ratio.
                assert!(systems::lapack_ratio(&a, &x, &b) < 30.0, "{label}");
                assert!(systems::relative_residual(&a, &x, &b) < 1e-5, "{label}");
                for v in [&cg.X, &cg.R, &cg.P, &cg.Q] {
                    assert_padded(v, &label);
                }
            }
        }
    });
}

/// A fixed number of iterations waits for nothing, and creates nothing after the first.
#[test]
fn iterations_neither_read_back_nor_allocate() {
    on_both(|device| {
        let a = problems::poisson_2d(9, 7).to_csr();
        for (form, matrix) in forms::all_forms(device, &a) {
            let x = Vector::zeros(device, 63).unwrap();
            let b = Vector::from_f64(device, &systems::rhs_of_ones(&a)).unwrap();
            let mut cg = CgSolver::new(device, matrix.as_ref(), x, b).unwrap();
            cg.solve(2).unwrap();
            let (work, pool) = (device.counters(), device.pool_stats());
            cg.solve_iteration().unwrap();
            let one = device.counters().since(&work);
            cg.solve(10).unwrap();
            let done = device.counters().since(&work);
            assert_eq!((done.readbacks, done.uploads), (0, 0), "{form}");
            assert_eq!(device.pool_stats().allocated, pool.allocated, "{form}");
            // Every iteration draws as much as any other; the start takes some more.
            assert!(done.draws >= 11 * one.draws, "{form}");
        }
    });
}

#[test]
fn the_printed_loop_makes_one_iteration_more() {
    on_both(|device| {
        let a = problems::poisson_2d(8, 8).to_csr();
        let matrix = texla::BandedMatrix::from_csr(device, a.clone()).unwrap();
        let make = || {
            let b = Vector::from_slice(device, &random::uniform(3, 64)).unwrap();
            CgSolver::new(device, &matrix, Vector::zeros(device, 64).unwrap(), b).unwrap()
        };
        for threshold in [1.0, 1e-2, 1e-4] {
            let meant = make().solve_to(threshold, 100).unwrap();
            assert_eq!(make().solve_as_printed(threshold, 100).unwrap(), meant + 1);
        }
    });
}
