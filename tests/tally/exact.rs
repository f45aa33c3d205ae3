//! Exact arithmetic on the host: sums of products of f64 numbers as floating-point expansions.
//!
//! After J. Shewchuk, *Adaptive precision floating-point arithmetic and fast robust geometric predicates*, Discrete
//! Comput. Geom. 18, 1997. What occurs here lies between 2^-450 and 2^450 or is zero, so that no product's error term
//! leaves the range of f64.

/// A sum without error: parts that do not overlap, from the smallest on.
#[derive(Clone, Debug, Default)]
pub struct Expansion(Vec<f64>);

impl Expansion {
    pub fn add(&mut self, value: f64) {
        let mut carried = value;
        let mut kept = 0;
        for i in 0..self.0.len() {
            let (a, b) = (carried, self.0[i]);
            let sum = a + b;
            let of_b = sum - a;
            let error = (a - (sum - of_b)) + (b - of_b);
            if error != 0.0 {
                self.0[kept] = error;
                kept += 1;
            }
            carried = sum;
        }
        self.0.truncate(kept);
        if carried != 0.0 {
            self.0.push(carried);
        }
    }

    pub fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        self.add(a.mul_add(b, -product));
    }

    /// To within two roundings of f64.
    pub fn value(&self) -> f64 {
        self.0.iter().sum()
    }
}

/// An entry: row, column, value. Several may stand at one place; they are added.
pub type Term = (usize, usize, f64);

/// `b - A x`.
pub fn residual(terms: &[Term], x: &[f32], b: &[f64]) -> Vec<Expansion> {
    let mut r = vec![Expansion::default(); b.len()];
    r.iter_mut().zip(b).for_each(|(r, b)| r.add(*b));
    terms.iter().for_each(|&(i, j, v)| r[i].add_product(-v, f64::from(x[j])));
    r
}

/// `Aᵀ r`.
pub fn transposed(terms: &[Term], cols: usize, r: &[Expansion]) -> Vec<Expansion> {
    let mut s = vec![Expansion::default(); cols];
    for &(i, j, v) in terms {
        r[i].0.iter().for_each(|part| s[j].add_product(v, *part));
    }
    s
}

pub fn values(r: &[Expansion]) -> Vec<f64> {
    r.iter().map(Expansion::value).collect()
}

/// `|A| v` for a vector of magnitudes, or `|A|ᵀ v`; rounded.
pub fn magnitudes(terms: &[Term], rows: usize, v: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; rows];
    terms.iter().for_each(|&(i, j, a)| sums[i] += a.abs() * v[j].abs());
    sums
}

pub fn flipped(terms: &[Term]) -> Vec<Term> {
    terms.iter().map(|&(i, j, v)| (j, i, v)).collect()
}

/// The arithmetic that everything else stands on, against sums whose value is known.
#[test]
fn sums_are_exact() {
    let mut e = Expansion::default();
    for v in [1e300, 1.0, -1e300, 2f64.powi(-200), -1.0, 3.0 * 2f64.powi(-600)] {
        e.add(v);
    }
    e.add(-(2f64.powi(-200)));
    assert_eq!(e.value(), 3.0 * 2f64.powi(-600));
    // (1 + 2^-30)² - 1 - 2^-29 = 2^-60
    let mut e = Expansion::default();
    let v = 1.0 + 2f64.powi(-30);
    e.add_product(v, v);
    e.add(-1.0);
    e.add(-(2f64.powi(-29)));
    assert_eq!(e.value(), 2f64.powi(-60));
    // Cancellation that 53 bits lose: row (0.3, -0.6, 0.3) times the constant 1e16 leaves what 0.3 + 0.3 - 0.6 is.
    let terms = [(0, 0, 0.3), (0, 1, -0.6), (0, 2, 0.3)];
    let r = residual(&terms, &[1e16; 3], &[1.0]);
    assert_eq!(r[0].value(), 1.0);
    assert_eq!(values(&transposed(&terms, 3, &r)), [0.3, -0.6, 0.3]);
}
