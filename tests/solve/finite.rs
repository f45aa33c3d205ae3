//! What is not finite in the operands of a solver is named, whatever the device makes of it.

use crate::common::harness::{assert_padded, on_both};
use texla::host::{Triplets, problems};
use texla::kernel::{Kernel, NoParams};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, LcpBatch, LcpParams,
    LcpProblem, LcpSolver, LinOp, Stationary, StationaryParams, WeightedJacobi,
};
use texla::{BandedMatrix, Device, Error, Grid, Matrix, Side, Sides, Stencil, Vector, ops};

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
            let body = "vec4 kernel(ivec2 p) {
                return uintBitsToFloat(floatBitsToUint(x(p)) | uvec4(greaterThan(nan(p), vec4(0.0))) * 0x7fc00000u);
            }";
            let kernel = Kernel::<NoParams>::new(device, "nan", ["x", "nan"], body).unwrap();
            let every = how == "NaN in every place";
            let places: Vec<f32> =
                ones(0.0).iter().map(|v| f32::from(u8::from(every || *v == 0.0))).collect();
            let places = Vector::from_slice(device, &places).unwrap();
            kernel.run(&mut out, [&of(1.0), &places], &NoParams).unwrap();
        }
    }
    assert!(!out.read().unwrap()[AT].is_finite(), "{how} is made as wanted");
    out
}

type Solve<'a> = Box<dyn Fn(&mut Vector, &Vector) -> Option<Error> + 'a>;

fn krylov<'a>(a: &'a dyn LinOp) -> Vec<(&'static str, Solve<'a>)> {
    let cg = move |schedule| -> Solve<'a> {
        let params = CgParams { schedule, ..CgParams::default() };
        Box::new(move |x: &mut Vector, b: &Vector| {
            ConjugateGradient::new(a, params).unwrap().solve(x, b).err()
        })
    };
    vec![
        ("ConjugateGradient::solve", cg(CgSchedule::Auto)),
        ("ConjugateGradient::solve", cg(CgSchedule::Listing)),
        (
            "BiCgStab::solve",
            Box::new(move |x, b| BiCgStab::new(a, BiCgStabParams::default()).unwrap().solve(x, b).err()),
        ),
        ("Cgls::solve", Box::new(move |x, b| Cgls::new(a, CglsParams::default()).unwrap().solve(x, b).err())),
    ]
}

#[test]
fn what_is_not_finite_is_named() {
    on_both(|device| {
        let a = BandedMatrix::poisson_2d(device, 6, 6).unwrap();
        // With a null space, b is projected first.
        let closed =
            Stencil::new(device, Grid::new_2d(6, 6), 0.0, [1.0, 1.0, 0.0], Sides::all(Side::Neumann))
                .unwrap();
        let jacobi = WeightedJacobi::new(&a, 0.8).unwrap();
        let closed_jacobi = WeightedJacobi::new(&closed, 0.8).unwrap();
        let dense = Matrix::identity(device, N).unwrap();
        let params = StationaryParams::default();
        let lcp = LcpSolver::new(&a, LcpParams::default()).unwrap();
        let csr = problems::poisson_2d(6, 6).to_csr();
        let batch = LcpBatch::new(device, &[LcpProblem { a: &csr, b: &[-1.0; N] }]).unwrap();
        let mut solvers = krylov(&a);
        solvers.extend(krylov(&closed));
        solvers.extend(krylov(&dense));
        solvers.push((
            "Stationary::solve",
            Box::new(|x, b| Stationary::new(&a, &jacobi, params).unwrap().solve(x, b).err()),
        ));
        solvers.push((
            "Stationary::solve",
            Box::new(|x, b| Stationary::new(&closed, &closed_jacobi, params).unwrap().solve(x, b).err()),
        ));
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
        for (op, solve) in krylov(&a) {
            let mut x = Vector::zeros(device, 4).unwrap();
            assert_eq!(solve(&mut x, &b), None, "{op}");
        }
    });
}
