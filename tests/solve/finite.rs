//! What is not finite in the operands of a solver is named, whatever the device makes of it.

use crate::common::harness::{assert_padded, on_both, write_bits};
use crate::systems::Method;
use texla::host::{Triplets, problems};
use texla::solve::{LcpBatch, LcpParams, LcpProblem, LcpSolver, LinOp, Stop};
use texla::{BandedMatrix, Device, Error, Grid, Matrix, Side, Sides, Stencil, StencilParams, Vector, ops};

const N: usize = 36;
/// Where the first element lies that is not finite.
const AT: usize = 13;

/// How the device comes to such numbers.
const MADE: [&str; 5] = ["1 / 0", "-1 / 0", "overflow", "0 / 0", "NaN in every place"];

/// An ordinary vector with elements from `AT` on that no upload would take.
fn made(device: &Device, how: &str) -> Vector {
    let mut out = Vector::filled(device, N, 0.5).unwrap();
    let ones =
        |value: f32| (0..N).map(|i| if i == AT || i == N - 1 { value } else { 1.0 }).collect::<Vec<_>>();
    let of = |value: f32| Vector::from_slice(device, &ones(value)).unwrap();
    match how {
        "1 / 0" => ops::reciprocal(&mut out, &of(0.0)).unwrap(),
        "-1 / 0" => {
            let mut up = Vector::zeros(device, N).unwrap();
            ops::reciprocal(&mut up, &of(0.0)).unwrap();
            ops::scaled(&mut out, -1.0, &up).unwrap();
        }
        "overflow" => {
            let large = of(3e38);
            ops::add(&mut out, &large, &large).unwrap();
        }
        // A compiler may take 0 / 0 for anything, but not these bits.
        _ => {
            let every = how == "NaN in every place";
            let bits: Vec<u32> = ones(0.0)
                .iter()
                .map(|v| if every || *v == 0.0 { f32::NAN.to_bits() } else { v.to_bits() })
                .collect();
            write_bits(&mut out, &bits);
        }
    }
    assert!(!out.read().unwrap()[AT].is_finite(), "{how} is made as wanted");
    out
}

type Solve<'a> = Box<dyn Fn(&mut Vector, &Vector) -> Option<Error> + 'a>;

fn with<'a>(a: &'a dyn LinOp, methods: &[Method]) -> Vec<(&'static str, Solve<'a>)> {
    let of = |method: &Method| -> (&'static str, Solve<'a>) {
        let method = *method;
        (method.entry(), Box::new(move |x, b| method.solve(a, x, b, 1000, Stop::default()).err()))
    };
    methods.iter().map(of).collect()
}

#[test]
fn what_is_not_finite_is_named() {
    on_both(|device| {
        let a = BandedMatrix::poisson_2d(device, 6, 6).unwrap();
        // With a null space, b is projected first.
        let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::Neumann));
        let closed = Stencil::new(device, Grid::new_2d(6, 6), params).unwrap();
        let dense = Matrix::identity(device, N).unwrap();
        let lcp = LcpSolver::new(&a, LcpParams::default()).unwrap();
        let csr = problems::poisson_2d(6, 6).to_csr();
        let batch = LcpBatch::new(device, &[LcpProblem { a: &csr, b: &[-1.0; N] }]).unwrap();
        let methods = [&Method::KRYLOV[..], &[Method::Jacobi(0.8)]].concat();
        let mut solvers = with(&a, &methods);
        solvers.extend(with(&closed, &methods));
        solvers.extend(with(&dense, &methods));
        solvers.push(("LcpSolver::solve", Box::new(|x, b| lcp.solve(x, b).err())));
        let solve_batch: Solve<'_> = Box::new(|x, _| batch.solve(x, LcpParams::default()).err());
        let batch = ("LcpBatch::solve", solve_batch);
        let ordinary = Vector::from_slice(
            device,
            &(0..N).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect::<Vec<_>>(),
        )
        .unwrap();
        for how in MADE {
            let bad = made(device, how);
            let bits = |v: &Vector| v.read().unwrap().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            let first = if how == "NaN in every place" { 0 } else { AT };
            let named = |error: Option<Error>, op: &str, operand: &str| match error {
                Some(Error::NonFinite { what, index, value }) => {
                    assert_eq!((what, index), (format!("{op}: {operand}"), first), "{how}");
                    let kind = if how.contains("NaN") || how == "0 / 0" {
                        value.is_nan()
                    } else {
                        value.is_infinite()
                    };
                    assert!(kind, "{op}, {how} in {operand}: {value}");
                }
                other => panic!("{op}, {how} in {operand}: {other:?}"),
            };
            for (op, solve) in &solvers {
                let mut x = Vector::filled(device, N, 0.25).unwrap();
                named(solve(&mut x, &bad), op, "b");
                assert_eq!(x.read().unwrap(), [0.25; N], "{op}: x is left alone");
                assert_padded(&x, op);
            }
            for (op, solve) in solvers.iter().chain([&batch]) {
                let mut x = Vector::zeros(device, N).unwrap();
                ops::copy(&mut x, &bad).unwrap();
                named(solve(&mut x, &ordinary), op, "x");
                assert_eq!(bits(&x), bits(&bad), "{op}: x is left alone");
            }
        }
    });
}

/// The largest floats are finite.
#[test]
fn large_numbers_are_finite() {
    on_both(|device| {
        let a = BandedMatrix::from_triplets(device, &Triplets::from_diagonal(&[1.0, 2.0, 0.5, 1.0])).unwrap();
        let b = Vector::from_slice(device, &[f32::MAX, -f32::MAX, 1.0, f32::MIN_POSITIVE]).unwrap();
        for (op, solve) in with(&a, &Method::KRYLOV) {
            let mut x = Vector::zeros(device, 4).unwrap();
            assert_eq!(solve(&mut x, &b), None, "{op}");
        }
    });
}
