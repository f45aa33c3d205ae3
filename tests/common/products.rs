//! The f64 twin of products with vectors, and what every form of a matrix is held to by it.

use texla::host::Csr;
use texla::ops::{self, Accuracy, Accurate, Coefficient, Combine, LinOp, ReducePlan, Windows};
use texla::{Device, Extent, Scalar, Vector};

use super::bounds::{DIV_ULPS, assert_componentwise, bits, product_bound, ulp, ulp_bound};
use super::harness::assert_padded;
use super::reference::widen;
use super::{random, systems};

/// Every way in which a product meets another vector, with a factor for each.
pub const COMBINES: [(&str, f32); 11] = [
    ("replace", 1.0),
    ("replace", -1.7),
    ("accumulate", 1.0),
    ("accumulate", 0.3),
    ("add to", -2.5),
    ("subtract from", 1.1),
    ("subtract", 0.7),
    ("multiply", 1.3),
    ("divide", -0.9),
    ("max", 1.0),
    ("min", 1.9),
];

pub fn combine<'a>(name: &str, z: &'a Vector) -> Combine<'a> {
    match name {
        "replace" => Combine::Replace,
        "accumulate" => Combine::Accumulate,
        "add to" => Combine::AddTo(z),
        "subtract from" => Combine::SubtractFrom(z),
        "subtract" => Combine::Subtract(z),
        "multiply" => Combine::Multiply(z),
        "divide" => Combine::Divide(z),
        "max" => Combine::Max(z),
        "min" => Combine::Min(z),
        _ => panic!("{name}"),
    }
}

/// What comes out for a product `p` of `k` terms whose magnitudes sum to `size`, and the bound.
fn combined(name: &str, p: f64, size: f64, k: usize, y: f64, z: f64) -> (f64, f64) {
    let own = product_bound(size, k);
    match name {
        "replace" => (p, own),
        "accumulate" => (y + p, product_bound(size + y.abs(), k + 1)),
        "add to" => (z + p, product_bound(size + z.abs(), k + 1)),
        "subtract from" => (z - p, product_bound(size + z.abs(), k + 1)),
        "subtract" => (p - z, product_bound(size + z.abs(), k + 1)),
        "multiply" => (p * z, product_bound(size * z.abs(), k + 1)),
        // The product's error divided, and that of the division of what came out.
        "divide" => {
            let carried = own / z.abs();
            (p / z, carried + ulp_bound(p / z, DIV_ULPS).max(ulp_bound((p / z).abs() + carried, DIV_ULPS)))
        }
        "max" => (p.max(z), own),
        "min" => (p.min(z), own),
        _ => panic!("{name}"),
    }
}

/// A product in f64.
pub struct Twin {
    pub product: Vec<f64>,
    /// What the magnitudes of the terms sum to.
    pub magnitudes: Vec<f64>,
    /// How many products a row has.
    pub terms: Vec<usize>,
}

impl Twin {
    /// With the coefficients that 32 bits hold.
    pub fn new(a: &Csr, x: &[f32]) -> Self {
        let (a, x) = (systems::rounded(a), widen(x));
        Twin {
            product: systems::apply(&a, &x),
            magnitudes: systems::apply_abs(&a, &x),
            terms: systems::row_terms(&a),
        }
    }

    /// Expected values and bounds of a combination.
    pub fn combined(&self, name: &str, alpha: f32, y: &[f32], z: &[f32]) -> (Vec<f64>, Vec<f64>) {
        let alpha = f64::from(alpha);
        let row = |i: usize| {
            let (p, size) = (alpha * self.product[i], alpha.abs() * self.magnitudes[i]);
            combined(name, p, size, self.terms[i], f64::from(y[i]), f64::from(z[i]))
        };
        (0..self.product.len()).map(row).unzip()
    }

    /// The same with one more rounding, where a factor meets the whole sum.
    fn scaled_last(self) -> Self {
        Twin { terms: self.terms.into_iter().map(|k| k + 1).collect(), ..self }
    }
}

/// A product by the one verb, of `A` or of `Aᵀ`.
pub fn apply<'a>(
    a: &dyn LinOp,
    transposed: bool,
    y: &mut Vector,
    c: Combine<'a>,
    alpha: impl Into<Coefficient<'a>>,
    x: &'a Vector,
) -> texla::Result<()> {
    if transposed { ops::product_transposed(y, c, alpha, a, x) } else { ops::product(y, c, alpha, a, x) }
}

/// `A` and `Aᵀ` in one form: combinations with a factor of the host's, or of the device's too; padding; no readback; and
/// the same bits when repeated.
pub fn check(
    device: &Device,
    label: &str,
    form: &dyn LinOp,
    a: &Csr,
    seed: u64,
    combines: &[(&str, f32)],
    on_device: &[bool],
) {
    assert_eq!(form.shape(), a.shape(), "{label}");
    for transposed in [false, true] {
        let side = if transposed { a.transposed() } else { a.clone() };
        let (m, n) = (side.shape().rows, side.shape().cols);
        let (hx, hy, hz) =
            (random::uniform(seed, n), random::uniform(seed + 1, m), random::nonzero(seed + 2, m));
        let x = Vector::from_slice(device, &hx).unwrap();
        let z = Vector::from_slice(device, &hz).unwrap();
        for (&(how, alpha), on_device) in combines.iter().flat_map(|c| on_device.iter().map(move |d| (c, *d)))
        {
            let label =
                format!("{label} {m}x{n} transposed {transposed} {how} {alpha}, on device {on_device}");
            let scalar = Scalar::new(device, alpha).unwrap();
            let factor = if on_device { Coefficient::Device(&scalar) } else { Coefficient::Host(alpha) };
            let run = || {
                let mut y = Vector::from_slice(device, &hy).unwrap();
                let before = device.counters();
                apply(form, transposed, &mut y, combine(how, &z), factor, &x)
                    .unwrap_or_else(|e| panic!("{label}: {e}"));
                assert_eq!(device.counters().since(&before).readbacks, 0, "{label}");
                assert_padded(&y, &label);
                y.read().unwrap()
            };
            let got = run();
            let twin = Twin::new(&side, &hx);
            let twin = if on_device { twin.scaled_last() } else { twin };
            let (want, bound) = twin.combined(how, alpha, &hy, &hz);
            assert_componentwise(&label, &got, &want, &bound);
            assert_eq!(bits(&got), bits(&run()), "{label}: not the same bits when repeated");
        }
    }
}

/// A double-double sum of exact products: what accurate products are compared with.
#[derive(Clone, Copy, Default)]
pub struct Exact {
    high: f64,
    low: f64,
}

impl Exact {
    pub fn add(&mut self, v: f64) {
        let s = self.high + v;
        let t = s - self.high;
        self.low += (self.high - (s - t)) + (v - t);
        self.high = s;
    }

    pub fn add_product(&mut self, a: f64, b: f64) {
        let p = a * b;
        self.add(p);
        self.low += a.mul_add(b, -p);
    }

    pub fn value(self) -> f64 {
        self.high + self.low
    }
}

/// `alpha A x + beta z` with the full coefficients, and the bound: 1 ulp of the result and k 2^-44 of the magnitudes.
pub fn accurate(a: &Csr, alpha: f32, x: &[f32], plus: Option<(f32, &[f32])>) -> (Vec<f64>, Vec<f64>) {
    let row = |(i, (cols, values)): (usize, (&[u32], &[f64]))| {
        let mut sum = Exact::default();
        let mut size = 0.0;
        for (col, v) in cols.iter().zip(values) {
            let x = f64::from(alpha) * f64::from(x[*col as usize]);
            sum.add_product(*v, x);
            size += (v * x).abs();
        }
        if let Some((beta, z)) = plus {
            let added = f64::from(beta) * f64::from(z[i]);
            sum.add(added);
            size += added.abs();
        }
        let terms = cols.len() + usize::from(plus.is_some());
        (sum.value(), ulp(sum.value()) + terms as f64 * 2f64.powi(-44) * size)
    };
    a.rows().enumerate().map(row).unzip()
}

/// One form whose `op(A)` is `side`, in double-float: the bound, padding, and the same bits when repeated.
pub fn check_accurate(
    device: &Device,
    label: &str,
    form: &dyn LinOp,
    side: &Csr,
    transposed: bool,
    (alpha, hx): (f32, &[f32]),
    plus: Option<(f32, &[f32])>,
) {
    let (want, bound) = accurate(side, alpha, hx, plus);
    let x = Vector::from_slice(device, hx).unwrap();
    let z = plus.map(|(b, z)| (b, Vector::from_slice(device, z).unwrap()));
    let run = || {
        let mut out = Vector::zeros(device, side.shape().rows).unwrap();
        let plus = z.as_ref().map(|(b, z)| (*b, z));
        let terms = Accurate { transposed, alpha, x: &x, plus };
        assert_eq!(ops::product_accurate(&mut out, form, terms).unwrap(), Accuracy::DoubleFloat, "{label}");
        assert_padded(&out, label);
        out.read().unwrap()
    };
    let got = run();
    assert_componentwise(label, &got, &want, &bound);
    assert_eq!(bits(&got), bits(&run()), "{label}: not the same bits when repeated");
}

/// Draws of a solver's reduction of products that are computed on the way, some texels of a row in the first stage, with the
/// scalar step that sums the last one.
pub fn fused_reduction(extent: Extent) -> u64 {
    let Extent { width, height } = extent;
    let strip = if extent.area() <= 1024 { 16 } else { 4 };
    let left = if width == 1 {
        Extent::new(1, height.div_ceil(strip))
    } else {
        Extent::new(width.div_ceil(strip), height)
    };
    let after = ReducePlan::new(left, Windows::Balanced);
    if left.area() == 1 { 2 } else { after.stages().len() as u64 + 1 }
}
