//! The element-wise family: every operation against the f64 twin, with padding lanes checked after each.

mod common;

use common::bounds::{DIV_ULPS, ROUNDED_ULPS, SQRT_ULPS, assert_componentwise, product_bound, ulp_bound};
use common::harness::{assert_matrix_padded, assert_padded, fitting, headless, lengths, on_both};
use common::random::{any_bits, nonzero, wide_range};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use texla::gl::Api;
use texla::ops::{self, Coefficient, Elements};
use texla::{Device, Error, Matrix, Result, Scalar, Shape, Vector};

/// The coefficients of all cases: short binary fractions would hide roundings, and an interval around zero would hide
/// padding lanes that are clamped.
const A: f32 = -0.723_456_7;
const B: f32 = -1.312_345_6;

/// One operation: how to run it, what it means for one element, and how far off it may be.
struct Case<T: 'static> {
    name: &'static str,
    run: fn(&mut T, [&T; 3], [Coefficient<'_>; 2]) -> Result<()>,
    means: fn([f64; 3], f64, f64) -> f64,
    bound: Bound,
}

/// The error bound of one element.
enum Bound {
    Exact,
    Ulps(f64),
    /// The product bound: the number of terms and the sum of their magnitudes.
    Terms(usize, fn([f64; 3], f64, f64) -> f64),
}

impl Bound {
    fn of(&self, exact: f64, v: [f64; 3], a: f64, b: f64) -> f64 {
        match self {
            Bound::Exact => 0.0,
            Bound::Ulps(ulps) => ulp_bound(exact, *ulps),
            Bound::Terms(terms, sum) => product_bound(sum(v.map(f64::abs), a.abs(), b.abs()), *terms),
        }
    }
}

/// The whole table.
fn table<T: Elements>() -> Vec<Case<T>> {
    use Bound::{Exact, Terms, Ulps};
    macro_rules! case {
        ($name:literal, $run:expr, $means:expr, $bound:expr) => {
            Case { name: $name, run: $run, means: $means, bound: $bound }
        };
    }
    let rounded = || Ulps(ROUNDED_ULPS);
    vec![
        case!("copy", |o, [x, ..], _| ops::copy(o, x), |[x, ..], _, _| x, Exact),
        case!("neg", |o, [x, ..], _| ops::neg(o, x), |[x, ..], _, _| -x, Exact),
        case!("abs", |o, [x, ..], _| ops::abs(o, x), |[x, ..], _, _| x.abs(), Exact),
        case!("max", |o, [x, y, _], _| ops::max(o, x, y), |[x, y, _], _, _| x.max(y), Exact),
        case!("min", |o, [x, y, _], _| ops::min(o, x, y), |[x, y, _], _, _| x.min(y), Exact),
        case!("clamp", |o, [x, ..], [a, b]| ops::clamp(o, x, b, a), |[x, ..], a, b| x.max(b).min(a), Exact),
        case!("fill", |o, _, [a, _]| ops::fill(o, a), |_, a, _| a, Exact),
        case!("add", |o, [x, y, _], _| ops::add(o, x, y), |[x, y, _], _, _| x + y, rounded()),
        case!("sub", |o, [x, y, _], _| ops::sub(o, x, y), |[x, y, _], _, _| x - y, rounded()),
        case!("mul", |o, [x, y, _], _| ops::mul(o, x, y), |[x, y, _], _, _| x * y, rounded()),
        case!("scaled", |o, [x, ..], [a, _]| ops::scaled(o, a, x), |[x, ..], a, _| a * x, rounded()),
        case!(
            "scale",
            |o, [x, ..], [a, _]| ops::copy(o, x).and_then(|()| ops::scale(o, a)),
            |[x, ..], a, _| a * x,
            rounded()
        ),
        case!(
            "add_constant",
            |o, [x, ..], [a, _]| ops::add_constant(o, x, a),
            |[x, ..], a, _| x + a,
            rounded()
        ),
        case!("div", |o, [_, y, z], _| ops::div(o, y, z), |[_, y, z], _, _| y / z, Ulps(DIV_ULPS)),
        case!(
            "div_or_zero",
            |o, [x, y, _], _| ops::div_or_zero(o, y, x),
            |[x, y, _], _, _| if x == 0.0 { 0.0 } else { y / x },
            Ulps(DIV_ULPS)
        ),
        case!("reciprocal", |o, [.., z], _| ops::reciprocal(o, z), |[.., z], _, _| 1.0 / z, Ulps(DIV_ULPS)),
        // Squares are exact in f64, and keep the operand's sign out of the case.
        case!(
            "sqrt",
            |o, [x, ..], _| x.like().and_then(|mut t| ops::abs(&mut t, x).and_then(|()| ops::sqrt(o, &t))),
            |[x, ..], _, _| x.abs().sqrt(),
            Ulps(SQRT_ULPS)
        ),
        case!(
            "axpy",
            |o, [x, y, _], [a, _]| ops::axpy(o, a, x, y),
            |[x, y, _], a, _| a * x + y,
            Terms(2, |[x, y, _], a, _| a * x + y)
        ),
        case!(
            "axpby",
            |o, [x, y, _], [a, b]| ops::axpby(o, a, x, b, y),
            |[x, y, _], a, b| a * x + b * y,
            Terms(2, |[x, y, _], a, b| a * x + b * y)
        ),
        case!(
            "mul_add",
            |o, [x, y, z], _| ops::mul_add(o, x, y, z),
            |[x, y, z], _, _| x * y + z,
            Terms(2, |[x, y, z], _, _| x * y + z)
        ),
        case!(
            "madad",
            |o, [x, y, z], _| ops::madad(o, x, y, z, z),
            |[x, y, z], _, _| x + (y + z) * z,
            Terms(3, |[x, y, z], _, _| x + (y + z) * z)
        ),
        case!(
            "max_constant",
            |o, [x, ..], [a, _]| ops::max_constant(o, x, a),
            |[x, ..], a, _| x.max(a),
            Exact
        ),
        case!(
            "accumulate",
            |o, [x, y, _], _| ops::copy(o, x).and_then(|()| ops::accumulate(o, y)),
            |[x, y, _], _, _| x + y,
            rounded()
        ),
        case!(
            "accumulate_scaled",
            |o, [x, y, _], [a, _]| ops::copy(o, x).and_then(|()| ops::accumulate_scaled(o, a, y)),
            |[x, y, _], a, _| x + a * y,
            Terms(2, |[x, y, _], a, _| x + a * y)
        ),
        case!(
            "subtract_scaled",
            |o, [x, y, _], [a, _]| ops::copy(o, x).and_then(|()| ops::subtract_scaled(o, a, y)),
            |[x, y, _], a, _| x - a * y,
            Terms(2, |[x, y, _], a, _| x + a * y)
        ),
        case!(
            "scale_and_add",
            |o, [x, y, _], [a, _]| ops::copy(o, x).and_then(|()| ops::scale_and_add(o, a, y)),
            |[x, y, _], a, _| a * x + y,
            Terms(2, |[x, y, _], a, _| a * x + y)
        ),
        case!(
            "accumulate_product",
            |o, [x, y, z], _| ops::copy(o, x).and_then(|()| ops::accumulate_product(o, y, z)),
            |[x, y, z], _, _| x + y * z,
            Terms(2, |[x, y, z], _, _| x + y * z)
        ),
    ]
}

/// Runs a case and compares element by element.
fn check<T: Elements>(
    case: &Case<T>,
    out: &mut T,
    x: [&T; 3],
    host: [&[f32]; 3],
    coefficients: [Coefficient<'_>; 2],
    read: impl Fn(&T) -> Vec<f32>,
) {
    (case.run)(out, x, coefficients).unwrap_or_else(|e| panic!("{}: {e}", case.name));
    let (a, b) = (f64::from(A), f64::from(B));
    let elements: Vec<_> = (0..host[0].len()).map(|i| host.map(|h| f64::from(h[i]))).collect();
    let want: Vec<_> = elements.iter().map(|v| (case.means)(*v, a, b)).collect();
    let bounds: Vec<_> = elements.iter().zip(&want).map(|(v, w)| case.bound.of(*w, *v, a, b)).collect();
    assert_componentwise(case.name, &read(out), &want, &bounds);
}

/// Three operands: wide and with zeros, wide, and safe to divide by. Sums stay exact in f64.
fn operands(seed: u64, n: usize) -> [Vec<f32>; 3] {
    let mut x = wide_range(seed, n, 12);
    x.iter_mut().step_by(7).for_each(|v| *v = 0.0);
    [x, wide_range(seed + 1, n, 12), nonzero(seed + 2, n)]
}

fn upload(dev: &Device, host: &[Vec<f32>; 3]) -> [Vector; 3] {
    host.each_ref().map(|h| Vector::from_slice(dev, h).unwrap())
}

#[test]
fn every_operation_on_vectors_of_every_length() {
    on_both(|dev| {
        let (a, b) = (Scalar::new(dev, A).unwrap(), Scalar::new(dev, B).unwrap());
        let device = [Coefficient::from(&a), Coefficient::from(&b)];
        let mixed = [Coefficient::from(A), Coefficient::from(&b)];
        let given = [Coefficient::from(A), Coefficient::from(B)];
        for n in lengths(dev, 5_000).into_iter().chain([fitting(dev, 200_003)]) {
            let host = operands(n as u64, n);
            let x = upload(dev, &host);
            let mut out = Vector::zeros(dev, n).unwrap();
            for case in table::<Vector>() {
                for coefficients in [given, device, mixed] {
                    let (x, host) = (x.each_ref(), host.each_ref().map(Vec::as_slice));
                    check(&case, &mut out, x, host, coefficients, |o| o.read().unwrap());
                    assert_padded(&out, case.name);
                }
            }
        }
    });
}

/// In one texture and in several, all with the same table.
#[test]
fn every_operation_on_matrices() {
    on_both(|dev| {
        let (a, b) = (Scalar::new(dev, A).unwrap(), Scalar::new(dev, B).unwrap());
        let device = [Coefficient::from(&a), Coefficient::from(&b)];
        let given = [Coefficient::from(A), Coefficient::from(B)];
        for (rows, cols) in [(0, 0), (0, 3), (1, 1), (2, 1), (1, 7), (5, 3), (9, 4), (50, 127), (300, 70)] {
            let shape = Shape::new(rows, cols);
            let host = operands(rows as u64, shape.len());
            let x = host.each_ref().map(|h| Matrix::from_rows(dev, shape, h).unwrap());
            let mut out = Matrix::zeros(dev, shape).unwrap();
            for case in table::<Matrix>() {
                for coefficients in [given, device] {
                    let (x, host) = (x.each_ref(), host.each_ref().map(Vec::as_slice));
                    check(&case, &mut out, x, host, coefficients, |o| o.read().unwrap());
                    assert_matrix_padded(&out, case.name);
                }
            }
        }
    });
}

#[test]
fn every_operation_on_scalars() {
    on_both(|dev| {
        let (a, b) = (Scalar::new(dev, A).unwrap(), Scalar::new(dev, B).unwrap());
        for seed in 0..8 {
            let host = operands(seed, 2).map(|v| vec![v[1]]);
            let x = host.each_ref().map(|h| Scalar::new(dev, h[0]).unwrap());
            let mut out = Scalar::zero(dev).unwrap();
            for case in table::<Scalar>() {
                for c in [[Coefficient::from(A), Coefficient::from(B)], [Coefficient::from(&a), (&b).into()]]
                {
                    let (x, host) = (x.each_ref(), host.each_ref().map(Vec::as_slice));
                    check(&case, &mut out, x, host, c, |o| vec![o.read().unwrap()]);
                }
            }
        }
    });
}

/// Rule 2, along random chains: each result is an operand of what follows.
#[test]
fn padding_stays_zero_along_random_chains() {
    on_both(|dev| {
        let (a, b) = (Scalar::new(dev, A).unwrap(), Scalar::new(dev, B).unwrap());
        let cases = table::<Vector>();
        let steps = proptest::collection::vec((0..cases.len(), 0..3usize, 0..2u8), 1..12);
        let strategy = (1..fitting(dev, 3000), proptest::num::u64::ANY, steps);
        let config = Config { cases: 40, failure_persistence: None, ..Config::default() };
        let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
        let outcome = runner.run(&strategy, |(n, seed, steps)| {
            let mut x = upload(dev, &operands(seed % 1000, n));
            for (at, replaced, on_device) in steps {
                let case = &cases[at];
                let coefficients = match on_device {
                    0 => [Coefficient::from(A), Coefficient::from(B)],
                    _ => [Coefficient::from(&a), Coefficient::from(&b)],
                };
                let mut out = Vector::filled(dev, n, f32::MAX).unwrap();
                (case.run)(&mut out, x.each_ref(), coefficients).unwrap();
                assert_padded(&out, case.name);
                x[replaced] = out;
            }
            Ok(())
        });
        outcome.unwrap_or_else(|e| panic!("{e}"));
    });
}

/// A coefficient on the device can be anything; it must not reach lanes that are no elements.
#[test]
fn infinite_coefficients_do_not_reach_the_padding() {
    on_both(|dev| {
        let mut infinite = Scalar::zero(dev).unwrap();
        ops::reciprocal(&mut infinite, &Scalar::zero(dev).unwrap()).unwrap();
        assert_eq!(infinite.read().unwrap(), f32::INFINITY);
        let x = Vector::filled(dev, 5, 1.0).unwrap();
        let mut out = Vector::zeros(dev, 5).unwrap();
        ops::scaled(&mut out, &infinite, &x).unwrap();
        assert_padded(&out, "scaled");
        ops::axpy(&mut out, &infinite, &x, &x).unwrap();
        assert_padded(&out, "axpy");
        ops::axpby(&mut out, 1.0, &x, &infinite, &x).unwrap();
        assert_padded(&out, "axpby");
        // The same by the elements: overflow in one of them stays there.
        let big = Vector::from_slice(dev, &[1e38, 1.0, 2.0, 3.0, 1e38]).unwrap();
        ops::mul(&mut out, &big, &big).unwrap();
        assert_eq!(out.read().unwrap(), [f32::INFINITY, 1.0, 4.0, 9.0, f32::INFINITY]);
        assert_padded(&out, "mul");
    });
}

/// From end to end of the normal range: what does not round is exact.
#[test]
fn any_magnitude_passes_through() {
    on_both(|dev| {
        let n = fitting(dev, 10_007);
        let (values, others) = (any_bits(1, n), any_bits(2, n));
        let [x, y] = [&values, &others].map(|v| Vector::from_slice(dev, v).unwrap());
        let mut out = Vector::zeros(dev, n).unwrap();
        let mut expect =
            |run: &dyn Fn(&mut Vector) -> Result<()>, f: &dyn Fn(f32, f32) -> f32, what: &str| {
                run(&mut out).unwrap();
                let want: Vec<_> = values.iter().zip(&others).map(|(a, b)| f(*a, *b).to_bits()).collect();
                let got: Vec<_> = out.read().unwrap().iter().map(|v| v.to_bits()).collect();
                assert!(got == want, "{what}");
            };
        expect(&|o| ops::copy(o, &x), &|a, _| a, "copy");
        expect(&|o| ops::neg(o, &x), &|a, _| -a, "neg");
        expect(&|o| ops::abs(o, &x), &|a, _| a.abs(), "abs");
        expect(&|o| ops::max(o, &x, &y), &f32::max, "max");
        expect(&|o| ops::min(o, &x, &y), &f32::min, "min");
        expect(&|o| ops::clamp(o, &x, -1e30, 1e-30), &|a, _| a.clamp(-1e30, 1e-30), "clamp");
        expect(&|o| ops::scaled(o, 1.0, &x), &|a, _| a, "times one");
    });
}

#[test]
fn zeros_of_either_sign_and_denormals() {
    on_both(|dev| {
        let tiny = 1e-40;
        let x = Vector::from_slice(dev, &[0.0, -0.0, tiny, -tiny, 1.0, -1.0]).unwrap();
        let ones = Vector::filled(dev, 6, 1e-30).unwrap();
        let mut out = Vector::zeros(dev, 6).unwrap();
        let mut result = |run: &dyn Fn(&mut Vector) -> Result<()>| {
            run(&mut out).unwrap();
            out.read().unwrap()
        };
        assert_eq!(result(&|o| ops::sqrt(o, &x))[..2], [0.0, -0.0]);
        // A denormal divisor is itself or zero: either way there is a finite answer.
        let q = result(&|o| ops::div_or_zero(o, &ones, &x));
        assert_eq!(q[..2], [0.0, 0.0]);
        assert!(q[2] == 0.0 || (q[2] - 1e10).abs() < 1e6, "{q:?}");
        assert!(q[3] == 0.0 || (q[3] + 1e10).abs() < 1e6, "{q:?}");
        let sums = result(&|o| ops::add_constant(o, &x, 0.0));
        assert!(sums.iter().zip([0.0, 0.0, tiny, -tiny, 1.0, -1.0]).all(|(s, v)| *s == 0.0 || *s == v));
        // A coefficient's sign counts, also after the same operation with the other zero.
        ops::fill(&mut out, 0.0).unwrap();
        ops::fill(&mut out, -0.0).unwrap();
        assert!(out.read().unwrap().iter().all(|v| v.to_bits() == (-0.0f32).to_bits()));
    });
}

#[test]
fn one_draw_each_and_nothing_read_back() {
    on_both(|dev| {
        let x = upload(dev, &operands(1, 1009));
        let mut out = Vector::zeros(dev, 1009).unwrap();
        let given = [Coefficient::from(A), Coefficient::from(B)];
        for case in table::<Vector>().iter().filter(|c| {
            !["scale", "sqrt", "subtract_scaled", "scale_and_add"].contains(&c.name)
                && !c.name.starts_with("accumulate")
        }) {
            let before = dev.counters();
            (case.run)(&mut out, x.each_ref(), given).unwrap();
            let done = dev.counters().since(&before);
            assert_eq!(
                (done.draws, done.readbacks, done.uploads, done.clears),
                (1, 0, 0, 0),
                "{}",
                case.name
            );
        }
    });
}

#[test]
fn shapes_that_differ_are_named() {
    on_both(|dev| {
        let [five, six] = [5, 6].map(|n| Vector::filled(dev, n, 1.0).unwrap());
        let mut out = Vector::filled(dev, 5, 3.0).unwrap();
        let expect = |e: Result<()>, op, operand| {
            let (found, expected) = (Shape::column(6), Shape::column(5));
            assert_eq!(e.unwrap_err(), Error::ShapeMismatch { op, operand, found, expected });
        };
        let before = dev.counters().draws;
        expect(ops::copy(&mut out, &six), "copy", "x");
        expect(ops::neg(&mut out, &six), "neg", "x");
        expect(ops::abs(&mut out, &six), "abs", "x");
        expect(ops::sqrt(&mut out, &six), "sqrt", "x");
        expect(ops::reciprocal(&mut out, &six), "reciprocal", "x");
        expect(ops::scaled(&mut out, 1.0, &six), "scale", "x");
        expect(ops::add_constant(&mut out, &six, 1.0), "add_constant", "x");
        expect(ops::clamp(&mut out, &six, 0.0, 1.0), "clamp", "x");
        expect(ops::add(&mut out, &six, &five), "add", "x");
        expect(ops::add(&mut out, &five, &six), "add", "y");
        expect(ops::sub(&mut out, &five, &six), "sub", "y");
        expect(ops::mul(&mut out, &five, &six), "mul", "y");
        expect(ops::div(&mut out, &five, &six), "div", "y");
        expect(ops::div_or_zero(&mut out, &five, &six), "div_or_zero", "y");
        expect(ops::max(&mut out, &five, &six), "max", "y");
        expect(ops::min(&mut out, &five, &six), "min", "y");
        expect(ops::axpy(&mut out, 1.0, &five, &six), "axpy", "y");
        expect(ops::axpby(&mut out, 1.0, &six, 1.0, &five), "axpby", "x");
        expect(ops::mul_add(&mut out, &five, &five, &six), "mul_add", "z");
        assert_eq!(dev.counters().draws, before, "nothing was drawn");
        assert_eq!(out.read().unwrap(), [3.0; 5]);
        let message = ops::add(&mut out, &five, &six).unwrap_err().to_string();
        assert_eq!(message, "add: operand `y` is 6x1, expected 5x1");
    });
}

#[test]
fn coefficients_that_are_not_finite_are_refused() {
    on_both(|dev| {
        let x = Vector::filled(dev, 5, 1.0).unwrap();
        let mut out = Vector::filled(dev, 5, 3.0).unwrap();
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let refusals = [
                ("a", ops::fill(&mut out, bad)),
                ("a", ops::scale(&mut out, bad)),
                ("a", ops::scaled(&mut out, bad, &x)),
                ("a", ops::add_constant(&mut out, &x, bad)),
                ("low", ops::clamp(&mut out, &x, bad, 1.0)),
                ("high", ops::clamp(&mut out, &x, 0.0, bad)),
                ("a", ops::axpy(&mut out, bad, &x, &x)),
                ("b", ops::axpby(&mut out, 1.0, &x, bad, &x)),
            ];
            for (wanted, refusal) in refusals {
                let fits = matches!(&refusal, Err(Error::Parameter { name, .. }) if *name == wanted);
                assert!(fits, "{refusal:?}");
            }
        }
        let e = ops::clamp(&mut out, &x, 1.0, 0.5).unwrap_err();
        assert!(matches!(e, Error::Parameter { op: "clamp", name: "low", .. }), "{e}");
        assert_eq!(out.read().unwrap(), [3.0; 5]);
    });
}

#[test]
fn operands_of_another_device_are_refused() {
    on_both(|dev| {
        let other = headless(Api::Gl33);
        let there = Vector::filled(other.device(), 5, 1.0).unwrap();
        let coefficient = Scalar::new(other.device(), 2.0).unwrap();
        let here = Vector::filled(dev, 5, 1.0).unwrap();
        let mut out = Vector::filled(dev, 5, 3.0).unwrap();
        let expect = |e: Result<()>, op: &str, operand: &str| {
            assert_eq!(e.unwrap_err(), Error::WrongDevice { op: op.into(), operand: operand.into() });
        };
        expect(ops::copy(&mut out, &there), "copy", "x");
        expect(ops::add(&mut out, &here, &there), "add", "y");
        expect(ops::mul_add(&mut out, &here, &here, &there), "mul_add", "z");
        expect(ops::axpy(&mut out, &coefficient, &here, &here), "axpy", "alpha");
        expect(ops::axpby(&mut out, 1.0, &here, &coefficient, &here), "axpby", "beta");
        expect(ops::scale(&mut out, &coefficient), "scale", "alpha");
        expect(ops::dot(&here, &there).map(drop), "reduce", "y");
        // Both devices go on working in turn.
        assert_eq!(out.read().unwrap(), [3.0; 5]);
        assert_eq!(there.read().unwrap(), [1.0; 5]);
        ops::add(&mut out, &here, &here).unwrap();
        assert_eq!(out.read().unwrap(), [2.0; 5]);
    });
}
