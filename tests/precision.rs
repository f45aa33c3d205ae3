//! 32 bits all the way: fetched values keep them, and exact arithmetic is exact.

mod common;

use common::harness::on_both;
use common::random::Rng;
use texla::kernel::{Kernel, NoParams};
use texla::{Device, Vector};

/// Values that half floats would change: 24 bits of mantissa, past 65504, below 6e-8, odd integers past 2048.
const WITNESSES: [f32; 10] = [
    0.123_456_7,
    70_000.0,
    65_504.5,
    -1.234_567_8e-20,
    3.1e38,
    16_777_215.0,
    2049.0,
    1e-8,
    -0.333_333_34,
    1.000_000_1,
];

/// Every accessor, and a sampler handed to a function of the user's own: in GLSL ES a `sampler2D` without a stated
/// precision is lowp, and a driver may then return half floats.
#[test]
fn fetched_values_are_not_halves() {
    let bodies = [
        ("here", "vec4 kernel(ivec2 p) { return x(p); }"),
        ("at", "vec4 kernel(ivec2 p) { return x_at(p); }"),
        ("texel", "vec4 kernel(ivec2 p) { return x_texel(texel_index(p)); }"),
        (
            "element",
            "vec4 kernel(ivec2 p) {
                uint i = 4u * uint(texel_index(p));
                return vec4(x_element(i), x_element(i + 1u), x_element(i + 2u), x_element(i + 3u));
            }",
        ),
        (
            "parameter",
            "vec4 fetch(sampler2D s, ivec2 q) { return texelFetch(s, q, 0); }
            vec4 kernel(ivec2 p) { return fetch(texla_in_x, p); }",
        ),
        (
            "sampled",
            "vec4 fetch(sampler2D s, vec2 at) { vec4 v = texture(s, at); return v; }
            vec4 kernel(ivec2 p) { return fetch(texla_in_x, (vec2(p) + 0.5) / vec2(x_extent())); }",
        ),
    ];
    on_both(|dev| {
        let x = Vector::from_slice(dev, &WITNESSES).unwrap();
        for (name, body) in bodies {
            let kernel = Kernel::<NoParams>::new(dev, name, ["x"], body).unwrap();
            let mut out = Vector::zeros(dev, WITNESSES.len()).unwrap();
            kernel.run(&mut out, [&x], &NoParams).unwrap();
            assert_eq!(out.read().unwrap(), WITNESSES, "{name}");
        }
    });
}

texla::params! { struct Given { f: f32, v: [f32; 4], i: i32 } }

/// Parameters and variables without a stated precision have 32 bits too, integers all of theirs.
#[test]
fn parameters_and_variables_are_not_halves() {
    let body = "vec4 kernel(ivec2 p) {
        float local = f;
        int large = i + 1;
        return vec4(local, v.x + 0.0, v.y * 1.0, float(large - 16777216));
    }";
    on_both(|dev| {
        let kernel = Kernel::<Given>::new(dev, "given", [], body).unwrap();
        let mut out = Vector::zeros(dev, 4).unwrap();
        let given = Given { f: 0.123_456_7, v: [70_001.25, -1.234_567_8e-20, 0.0, 0.0], i: 16_777_216 };
        kernel.run(&mut out, [], &given).unwrap();
        assert_eq!(out.read().unwrap(), [0.123_456_7, 70_001.25, -1.234_567_8e-20, 1.0]);
    });
}

/// Pairs of every relation: alike, far apart, cancelling, powers of two, exponents from -100 to 100.
fn pairs(seed: u64, n: usize) -> (Vec<f32>, Vec<f32>) {
    let mut rng = Rng::new(seed);
    let mut value = |exponents: usize| {
        let mantissa = 1.0 + (rng.next_u32() >> 9) as f32 / 8_388_608.0;
        let sign = if rng.next_u32() & 1 == 0 { 1.0 } else { -1.0 };
        sign * mantissa * 2f32.powi(rng.below(2 * exponents + 1) as i32 - exponents as i32)
    };
    let pair = |i: usize| {
        let a = value([1, 12, 30, 100][i % 4]);
        match i % 16 {
            0 => (a, -a),
            1 => (a, -a * (1.0 + f32::EPSILON)),
            2 => (a, a * 2f32.powi(-24)),
            3 => (a.signum() * 2f32.powi(i as i32 % 50), value(25)),
            4 => (a, 0.0),
            _ => (a, value([1, 12, 30, 100][i / 4 % 4])),
        }
    };
    (0..n).map(pair).unzip()
}

/// Runs a kernel with four outputs of 4 numbers a texel: two pairs each of sums and of products.
fn exact_pairs(dev: &Device, a: &[f32], b: &[f32]) -> [Vec<f32>; 4] {
    let body = "#include \"include/exact.glsl\"
    void kernel(ivec2 p, out vec4 s, out vec4 e, out vec4 q, out vec4 f) {
        vec4 a = x(p), b = y(p);
        for (int c = 0; c < 4; ++c) {
            vec2 sum = two_sum(a[c], b[c]);
            vec2 product = two_product(a[c], b[c]);
            s[c] = sum.x; e[c] = sum.y; q[c] = product.x; f[c] = product.y;
        }
    }";
    let kernel = Kernel::<NoParams>::with_outputs(dev, "exact pairs", ["x", "y"], 4, body).unwrap();
    let [x, y] = [a, b].map(|v| Vector::from_slice(dev, v).unwrap());
    let mut out: [Vector; 4] = std::array::from_fn(|_| Vector::zeros(dev, a.len()).unwrap());
    let [s, e, q, f] = &mut out;
    kernel.with([&x, &y], &NoParams).run_many([s, e, q, f]).unwrap();
    out.map(|v| v.read().unwrap())
}

#[test]
fn two_sum_and_two_product_are_exact() {
    on_both(|dev| {
        assert!(
            dev.capabilities().exact_form.is_some(),
            "no form of exact arithmetic is exact on this driver"
        );
        let (a, b) = pairs(1, 10_000);
        let [s, e, q, f] = exact_pairs(dev, &a, &b);
        let mut products = 0;
        for i in 0..a.len() {
            let (a, b) = (a[i], b[i]);
            // Sums of floats are floats; whether the f64 twin is exact or not, the two parts are unique.
            let sum = a + b;
            let t = sum - a;
            let error = (a - (sum - t)) + (b - t);
            assert_eq!((s[i], e[i]), (sum, error), "two_sum({a:e}, {b:e})");
            if a.abs() < 1e9 * b.abs() && b.abs() < 1e9 * a.abs() {
                let (a, b) = (f64::from(a), f64::from(b));
                assert_eq!(f64::from(s[i]) + f64::from(e[i]), a + b, "two_sum({a:e}, {b:e})");
            }
            // The product's parts are products of 12-bit halves, none of which may underflow or overflow.
            let exact = f64::from(a) * f64::from(b);
            if exact == 0.0 || (2f64.powi(-78)..2f64.powi(127)).contains(&exact.abs()) {
                products += 1;
                assert_eq!(q[i], exact as f32, "two_product({a:e}, {b:e})");
                assert_eq!(f64::from(f[i]), exact - f64::from(q[i]), "two_product({a:e}, {b:e})");
            }
        }
        assert!(products > 8_000, "{products} products within range");
    });
}

/// A double-float sum of products against f64, with cancellation: certificates rest on it.
#[test]
fn double_float_sums_of_products_keep_44_bits() {
    let body = "#include \"include/exact.glsl\"
    vec4 kernel(ivec2 p) {
        vec2 s = vec2(0.0);
        for (uint i = 0u; i < 64u; ++i) s = add_product(s, vec2(x_element(i), 0.0), y_element(i));
        return vec4(s, 0.0, 0.0);
    }";
    on_both(|dev| {
        let kernel = Kernel::<NoParams>::new(dev, "double float", ["x", "y"], body).unwrap();
        let mut out = Vector::zeros(dev, 4).unwrap();
        for seed in 0..50 {
            let (a, b) = common::random::cancelling_pair(seed, 64);
            let [x, y] = [&a, &b].map(|v| Vector::from_slice(dev, v).unwrap());
            kernel.run(&mut out, [&x, &y], &NoParams).unwrap();
            let got = out.read().unwrap();
            let [a, b] = [a, b].map(|v| common::reference::widen(&v));
            let want = common::reference::dot(&a, &b);
            // 64 steps, each off by a few 2^-46 of what has been summed up so far.
            let bound = 64.0 * 4.0 * 2f64.powi(-46) * common::reference::abs_dot(&a, &b);
            let error = (f64::from(got[0]) + f64::from(got[1]) - want).abs();
            assert!(error <= bound, "seed {seed}: {got:?} for {want:e}, error {error:e}, bound {bound:e}");
        }
    });
}

/// Hashes choose shadows and starts, for which any others would do: what they are is seen only here.
#[test]
fn hashes_are_those_of_their_source() {
    let body = "#include \"include/hash.glsl\"
    vec4 kernel(ivec2 p) {
        uint i = 4u * uint(texel_index(p));
        return vec4(hashed(i), hashed(i + 1u), hashed(i + 2u), hashed(i + 3u));
    }";
    let twin = |i: u32| {
        let mut h = i + 1;
        h = (h ^ h >> 16).wrapping_mul(0x7feb_352d);
        h = (h ^ h >> 15).wrapping_mul(0x846c_a68b);
        h ^= h >> 16;
        let magnitude = 0.5 + (h >> 9) as f32 / 8_388_608.0;
        if h & 1 == 0 { magnitude } else { -magnitude }
    };
    on_both(|dev| {
        let kernel = Kernel::<NoParams>::new(dev, "hashes", [], body).unwrap();
        let mut out = Vector::zeros(dev, 4000).unwrap();
        kernel.run(&mut out, [], &NoParams).unwrap();
        let want: Vec<f32> = (0..4000).map(twin).collect();
        assert_eq!(out.read().unwrap(), want);
    });
}

/// `2^-floor(log2 m)` for every exponent, within the normal range.
#[test]
fn scales_are_powers_of_two() {
    let body = "#include \"include/prelude.glsl\"
    vec4 kernel(ivec2 p) {
        vec4 m = x(p);
        return vec4(inverse_scale(m.x), inverse_scale(m.y), inverse_scale(m.z), inverse_scale(m.w));
    }";
    let mut m = vec![0.0f32];
    let mut want = vec![1.0f32];
    for e in -126..=127 {
        for mantissa in [1.0, 1.3, 1.999_999_9] {
            m.push(mantissa * 2f32.powi(e));
            want.push(2f32.powi((-e).clamp(-126, 126)));
        }
    }
    on_both(|dev| {
        let kernel = Kernel::<NoParams>::new(dev, "scales", ["x"], body).unwrap();
        let x = Vector::from_slice(dev, &m).unwrap();
        let mut out = Vector::zeros(dev, m.len()).unwrap();
        kernel.run(&mut out, [&x], &NoParams).unwrap();
        assert_eq!(out.read().unwrap(), want);
    });
}
