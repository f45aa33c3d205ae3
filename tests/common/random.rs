//! Seeded test data: the same seed gives the same values on every machine and with every version of any crate.

use std::collections::BTreeSet;

/// PCG32 (XSH-RR 64/32, M. O'Neill), stream 54.
#[derive(Debug, Clone)]
pub struct Rng {
    state: u64,
}

impl Rng {
    const INCREMENT: u64 = (54 << 1) | 1;

    pub fn new(seed: u64) -> Self {
        let mut rng = Self { state: 0 };
        rng.next_u32();
        rng.state = rng.state.wrapping_add(seed);
        rng.next_u32();
        rng
    }

    pub fn next_u32(&mut self) -> u32 {
        let old = self.state;
        self.state = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(Self::INCREMENT);
        ((((old >> 18) ^ old) >> 27) as u32).rotate_right((old >> 59) as u32)
    }

    pub fn next_u64(&mut self) -> u64 {
        u64::from(self.next_u32()) << 32 | u64::from(self.next_u32())
    }

    /// An integer below `n`, which must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        assert!(n > 0);
        ((u128::from(self.next_u64()) * n as u128) >> 64) as usize
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [-1, 1] with a full float32 mantissa in every binade.
    pub fn signed(&mut self) -> f32 {
        (2.0 * self.unit() - 1.0) as f32
    }

    /// Magnitude in [0.5, 1.5), either sign: safe to divide by.
    pub fn away_from_zero(&mut self) -> f32 {
        let magnitude = (0.5 + self.unit()) as f32;
        if self.next_u32() & 1 == 0 { magnitude } else { -magnitude }
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

// --- vectors ---

/// Uniform in [-1, 1].
pub fn uniform(seed: u64, n: usize) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    (0..n).map(|_| rng.signed()).collect()
}

/// Uniform in [-1, 1] times 2^e, e uniform in -`spread` ..= `spread`.
pub fn wide_range(seed: u64, n: usize, spread: u32) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    let mut value = || rng.signed() * 2f32.powi(rng.below(2 * spread as usize + 1) as i32 - spread as i32);
    (0..n).map(|_| value()).collect()
}

/// Any bit patterns but those of NaN, infinities and denormals: every sign, exponent and mantissa.
pub fn any_bits(seed: u64, n: usize) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    let mut value = || loop {
        let v = f32::from_bits(rng.next_u32());
        if v.is_normal() {
            return v;
        }
    };
    (0..n).map(|_| value()).collect()
}

/// Magnitudes in [0.5, 1.5), either sign.
pub fn nonzero(seed: u64, n: usize) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    (0..n).map(|_| rng.away_from_zero()).collect()
}

/// Values to 2^16 that nearly cancel: opposite pairs in random order, one in eight of them disturbed by about 2^-8.
/// The sum is far below the sum of magnitudes.
pub fn cancelling(seed: u64, n: usize) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    let mut x = Vec::with_capacity(n + 1);
    while x.len() + 1 < n {
        let v = rng.signed() * 65_536.0;
        let rest = if rng.below(8) == 0 { rng.signed() / 256.0 } else { 0.0 };
        x.extend([v, rest - v]);
    }
    if x.len() < n {
        x.push(rng.signed() / 256.0);
    }
    rng.shuffle(&mut x);
    x
}

/// Two vectors whose products nearly cancel.
pub fn cancelling_pair(seed: u64, n: usize) -> (Vec<f32>, Vec<f32>) {
    let mut rng = Rng::new(seed);
    let mut pairs = Vec::with_capacity(n + 1);
    while pairs.len() + 1 < n {
        let (a, b) = (rng.signed() * 256.0, rng.signed() * 256.0);
        pairs.extend([(a, b), (b * (1.0 + rng.signed() / 65_536.0), -a)]);
    }
    if pairs.len() < n {
        pairs.push((rng.signed() / 256.0, rng.signed()));
    }
    rng.shuffle(&mut pairs);
    pairs.into_iter().unzip()
}

// --- sparse matrices ---

/// A sparse matrix by compressed rows; columns ascend within a row.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    pub rows: usize,
    pub cols: usize,
    pub row_ptr: Vec<usize>,
    pub col_idx: Vec<usize>,
    pub values: Vec<f32>,
}

impl Csr {
    /// From rows of (column, value), columns ascending.
    pub fn from_rows(cols: usize, rows: &[Vec<(usize, f32)>]) -> Self {
        let mut row_ptr = vec![0];
        let (mut col_idx, mut values) = (Vec::new(), Vec::new());
        for row in rows {
            assert!(row.windows(2).all(|w| w[0].0 < w[1].0) && row.iter().all(|e| e.0 < cols));
            row.iter().for_each(|&(j, v)| {
                col_idx.push(j);
                values.push(v);
            });
            row_ptr.push(values.len());
        }
        Self { rows: rows.len(), cols, row_ptr, col_idx, values }
    }

    /// From a dense matrix by rows, zeros left out.
    fn from_dense(cols: usize, a: &[f32]) -> Self {
        let row = |r: &[f32]| r.iter().copied().enumerate().filter(|e| e.1 != 0.0).collect();
        Self::from_rows(cols, &a.chunks_exact(cols.max(1)).map(row).collect::<Vec<_>>())
    }

    pub fn nnz(&self) -> usize {
        self.values.len()
    }

    /// The values as f64.
    pub fn widened(&self) -> Vec<f64> {
        super::reference::widen(&self.values)
    }

    /// Number of entries of each row: the terms of a product's elements.
    pub fn row_terms(&self) -> Vec<usize> {
        self.row_ptr.windows(2).map(|w| w[1] - w[0]).collect()
    }

    /// Number of entries of each column: the terms of a transposed product's elements.
    pub fn col_terms(&self) -> Vec<usize> {
        let mut terms = vec![0; self.cols];
        self.col_idx.iter().for_each(|&j| terms[j] += 1);
        terms
    }

    /// (row, column, value), row by row.
    pub fn triplets(&self) -> Vec<(usize, usize, f32)> {
        let row = |i: usize| (self.row_ptr[i]..self.row_ptr[i + 1]).map(move |e| (i, e));
        (0..self.rows).flat_map(row).map(|(i, e)| (i, self.col_idx[e], self.values[e])).collect()
    }

    /// All elements by rows.
    pub fn dense(&self) -> Vec<f32> {
        let mut a = vec![0.0; self.rows * self.cols];
        self.triplets().into_iter().for_each(|(i, j, v)| a[i * self.cols + j] = v);
        a
    }

    /// The main diagonal, zero where nothing is stored.
    pub fn diagonal(&self) -> Vec<f32> {
        let mut d = vec![0.0; self.rows.min(self.cols)];
        self.triplets().into_iter().filter(|e| e.0 == e.1).for_each(|(i, _, v)| d[i] = v);
        d
    }
}

/// Every element present with probability `density`, magnitudes in [0.5, 1.5).
pub fn sparse(seed: u64, rows: usize, cols: usize, density: f64) -> Csr {
    let mut rng = Rng::new(seed);
    let mut lists = vec![Vec::new(); rows];
    for row in &mut lists {
        for j in 0..cols {
            if rng.unit() < density {
                row.push((j, rng.away_from_zero()));
            }
        }
    }
    Csr::from_rows(cols, &lists)
}

/// About `per_row` entries in every row at random columns: for large matrices.
pub fn sparse_rows(seed: u64, rows: usize, cols: usize, per_row: usize) -> Csr {
    let mut rng = Rng::new(seed);
    let mut row = |_| {
        let chosen: BTreeSet<_> = (0..per_row.min(cols)).map(|_| rng.below(cols)).collect();
        chosen.into_iter().map(|j| (j, rng.away_from_zero())).collect()
    };
    Csr::from_rows(cols, &(0..rows).map(&mut row).collect::<Vec<_>>())
}

/// [`sparse`], but every third row is empty, the first and the last too.
pub fn empty_rows(seed: u64, rows: usize, cols: usize, density: f64) -> Csr {
    let full = sparse(seed, rows, cols, density);
    let mut lists = vec![Vec::new(); rows];
    for (i, j, v) in full.triplets().into_iter().filter(|e| e.0 % 3 != 0 && e.0 + 1 != rows) {
        lists[i].push((j, v));
    }
    Csr::from_rows(cols, &lists)
}

/// One full row among rows of a single entry.
pub fn one_long_row(seed: u64, rows: usize, cols: usize, long: usize) -> Csr {
    let mut rng = Rng::new(seed);
    let mut lists: Vec<Vec<_>> = (0..rows).map(|_| vec![(rng.below(cols), rng.away_from_zero())]).collect();
    lists[long] = (0..cols).map(|j| (j, rng.away_from_zero())).collect();
    Csr::from_rows(cols, &lists)
}

/// Symmetric, strictly diagonally dominant with a positive diagonal, hence positive definite, also after the
/// rounding of the diagonal: the excess over the row's magnitudes is at least 1/8 of them.
pub fn spd(seed: u64, n: usize, density: f64) -> Csr {
    let mut rng = Rng::new(seed);
    let mut lists = vec![Vec::new(); n];
    for i in 0..n {
        for j in 0..i {
            if rng.unit() < density {
                let v = rng.signed();
                lists[i].push((j, v));
                lists[j].push((i, v));
            }
        }
    }
    for (i, row) in lists.iter_mut().enumerate() {
        let others: f64 = row.iter().map(|e| f64::from(e.1).abs()).sum();
        row.push((i, (others * (1.125 + rng.unit()) + 0.5) as f32));
        row.sort_by_key(|e| e.0);
    }
    Csr::from_rows(n, &lists)
}

/// Full first row and column and a diagonal; symmetric and diagonally dominant.
pub fn arrow(seed: u64, n: usize) -> Csr {
    let mut rng = Rng::new(seed);
    let mut a = vec![0.0; n * n];
    for i in 1..n {
        let v = rng.away_from_zero();
        (a[i], a[i * n], a[i * n + i]) = (v, v, v.abs() + 1.0);
    }
    if n > 0 {
        a[0] = 2.0 * n as f32;
    }
    Csr::from_dense(n, &a)
}

/// A square matrix by diagonals: `diagonals[d][i]` is the element at row `i`, column `i + offsets[d]`, and zero
/// where there is no such column.
#[derive(Debug, Clone, PartialEq)]
pub struct Banded {
    pub n: usize,
    pub offsets: Vec<isize>,
    pub diagonals: Vec<Vec<f32>>,
}

impl Banded {
    /// The diagonals as f64.
    pub fn widened(&self) -> Vec<Vec<f64>> {
        self.diagonals.iter().map(|d| super::reference::widen(d)).collect()
    }

    /// The same matrix by compressed rows; `offsets` must be distinct.
    pub fn csr(&self) -> Csr {
        let mut lists = vec![Vec::new(); self.n];
        for (diagonal, &offset) in self.diagonals.iter().zip(&self.offsets) {
            for (i, &v) in diagonal.iter().enumerate() {
                if let Some(j) = i.checked_add_signed(offset).filter(|&j| j < self.n) {
                    lists[i].push((j, v));
                }
            }
        }
        lists.iter_mut().for_each(|row| row.sort_by_key(|e| e.0));
        Csr::from_rows(self.n, &lists)
    }
}

/// Random diagonals at the given offsets.
pub fn banded(seed: u64, n: usize, offsets: &[isize]) -> Banded {
    let mut rng = Rng::new(seed);
    let inside = |i: usize, offset| i.checked_add_signed(offset).is_some_and(|j| j < n);
    let mut diagonal =
        |&o: &isize| (0..n).map(|i| if inside(i, o) { rng.away_from_zero() } else { 0.0 }).collect();
    let diagonals = offsets.iter().map(&mut diagonal).collect();
    Banded { n, offsets: offsets.to_vec(), diagonals }
}
