//! Random systems, hostile ones among them: a seed says everything.

use texla::host::{NineBands, Triplets};
use texla::solve::Cycle;
use texla::{Grid, Shape, Side, Sides};

use crate::common::random::Rng;
use crate::exact::Term;

/// What the operator is made from.
pub enum Form {
    Entries,
    Stencil { grid: Grid, shift: f64, weights: [f64; 3], sides: Sides, cycle: Cycle },
    NineBands(NineBands),
}

pub struct System {
    pub seed: u64,
    /// In words: family, scales, right-hand side, start.
    pub name: String,
    pub form: Form,
    pub rows: usize,
    pub cols: usize,
    /// The matrix as given, in 64 bits. Where a row is a sum by definition, its terms are not added up.
    pub terms: Vec<Term>,
    pub b: Vec<f64>,
    pub x0: Vec<f32>,
    /// The vectors that the operator declares to span its null space.
    pub null_space: Vec<Vec<f32>>,
    /// Positive definite beyond doubt: to be told otherwise is false too.
    pub definite: bool,
    pub bound: f64,
    pub most: usize,
    pub every: usize,
}

impl System {
    pub fn is_square(&self) -> bool {
        self.rows == self.cols
    }

    /// Both sides times `2^e`: the solution is the same. A matrix of bands becomes one of entries.
    pub fn scaled(&self, e: i32) -> System {
        let unit = 2f64.powi(e);
        let form = match self.form {
            Form::Stencil { grid, shift, weights, sides, cycle } => {
                Form::Stencil { grid, shift: shift * unit, weights: weights.map(|w| w * unit), sides, cycle }
            }
            _ => Form::Entries,
        };
        System {
            name: format!("{}, both sides times 2^{e}", self.name),
            form,
            terms: self.terms.iter().map(|&(i, j, v)| (i, j, v * unit)).collect(),
            b: self.b.iter().map(|v| v * unit).collect(),
            x0: self.x0.clone(),
            null_space: self.null_space.clone(),
            ..*self
        }
    }

    /// The right-hand side and the start times `2^e`, and so the solution.
    pub fn with_sides_scaled(&self, e: i32) -> System {
        let unit = 2f64.powi(e);
        let same = self.scaled(0);
        System {
            name: format!("{}, b and x0 times 2^{e}", self.name),
            b: self.b.iter().map(|v| v * unit).collect(),
            x0: self.x0.iter().map(|v| (f64::from(*v) * unit) as f32).collect(),
            ..same
        }
    }

    pub fn triplets(&self) -> Triplets {
        Triplets::from_entries(Shape::new(self.rows, self.cols), self.terms.iter().copied()).unwrap()
    }
}

/// Small ones, primes, and one more or less than a full texel or texture.
const SIZES: [usize; 22] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 16, 17, 23, 31, 32, 37, 43, 53, 59, 61];

const EXPONENTS: [i32; 8] = [0, 0, 0, 40, -40, 80, -80, 120];

fn pick<T: Copy>(rng: &mut Rng, all: &[T]) -> T {
    all[rng.below(all.len())]
}

/// A power of two from 2^-145 to 2^145: none, one of a few, or any.
fn exponent(rng: &mut Rng) -> i32 {
    match rng.below(5) {
        0 | 1 => 0,
        2 => pick(rng, &EXPONENTS) * if rng.below(2) == 0 { 1 } else { -1 },
        3 => rng.below(241) as i32 - 120,
        _ => rng.below(291) as i32 - 145,
    }
}

fn signed(rng: &mut Rng) -> f64 {
    2.0 * rng.unit() - 1.0
}

/// A matrix by rows, before it is scaled.
struct Made {
    family: &'static str,
    rows: usize,
    cols: usize,
    terms: Vec<Term>,
    form: Form,
    /// Constants are mapped to zero, by `A` and by `Aᵀ`.
    floating: bool,
    definite: bool,
}

impl Made {
    fn entries(family: &'static str, rows: usize, cols: usize, terms: Vec<Term>) -> Self {
        Made { family, rows, cols, terms, form: Form::Entries, floating: false, definite: false }
    }
}

/// `Σ w (u_i - u_j)` over pairs.
fn laplacian(pairs: &[(usize, usize, f64)]) -> Vec<Term> {
    pairs.iter().flat_map(|&(i, j, w)| [(i, i, w), (j, j, w), (i, j, -w), (j, i, -w)]).collect()
}

/// Entries at one place made one, rounded to 64 bits, as an application would hand them over.
fn merged(terms: Vec<Term>) -> Vec<Term> {
    let mut all = std::collections::BTreeMap::new();
    terms.into_iter().for_each(|(i, j, v)| *all.entry((i, j)).or_insert(0.0) += v);
    all.into_iter().filter(|(_, v)| *v != 0.0).map(|((i, j), v)| (i, j, v)).collect()
}

/// A weight: of few bits, or one that 32 bits do not hold.
fn weight(rng: &mut Rng, dyadic: bool) -> f64 {
    if dyadic { (1 + rng.below(16)) as f64 / 8.0 } else { 0.1 + rng.unit() }
}

fn path(rng: &mut Rng, n: usize) -> Vec<(usize, usize, f64)> {
    let dyadic = rng.below(2) == 0;
    let same = (rng.below(2) == 0).then(|| pick(rng, &[1.0, 0.3, 0.7]));
    let mut pairs: Vec<_> = (1..n).map(|i| (i - 1, i, same.unwrap_or_else(|| weight(rng, dyadic)))).collect();
    if n > 3 && rng.below(3) == 0 {
        pairs.push((0, n - 1, same.unwrap_or(1.0)));
    }
    pairs
}

fn random_dense(rng: &mut Rng, rows: usize, cols: usize, density: f64) -> Vec<Term> {
    let mut terms = Vec::new();
    for (i, j) in (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j))) {
        if rng.unit() < density {
            terms.push((i, j, signed(rng)));
        }
    }
    terms
}

fn symmetric(terms: Vec<Term>) -> Vec<Term> {
    terms.into_iter().filter(|t| t.0 > t.1).flat_map(|(i, j, v)| [(i, j, v), (j, i, v)]).collect()
}

/// A diagonal that exceeds every row's and column's magnitudes by `factor`, and by a little more.
fn dominated(rng: &mut Rng, n: usize, mut terms: Vec<Term>, factor: f64) -> Vec<Term> {
    terms.retain(|t| t.0 != t.1);
    let mut sums = vec![0.0; n];
    for &(i, j, v) in &terms {
        sums[i] += v.abs();
        sums[j] += v.abs();
    }
    terms.extend(sums.iter().enumerate().map(|(i, s)| (i, i, factor * s + 0.1 + rng.unit())));
    terms
}

fn matrix(rng: &mut Rng) -> Made {
    let n = pick(rng, &SIZES);
    let density = pick(rng, &[0.1, 0.3, 1.0]);
    let family = rng.below(28);
    if (19..27).contains(&family) {
        return hostile(rng, n, family);
    }
    match family {
        0 | 1 => {
            let off = symmetric(random_dense(rng, n, n, density));
            let terms = dominated(rng, n, off, 0.6);
            Made { definite: true, ..Made::entries("definite", n, n, terms) }
        }
        2 => {
            let shift = pick(rng, &[1e-1, 1e-3, 1e-6, 1e-9, 1e-12]);
            let mut terms = laplacian(&path(rng, n));
            terms.extend((0..n).map(|i| (i, i, shift)));
            Made::entries("nearly singular", n, n, merged(terms))
        }
        3 | 4 | 18 => {
            let terms = merged(laplacian(&path(rng, n)));
            let mut made = Made::entries("floating", n, n, terms);
            made.floating = true;
            made
        }
        5 => {
            let mut terms = symmetric(random_dense(rng, n, n, density));
            terms.extend((0..n).map(|i| (i, i, 3.0 * signed(rng))));
            Made::entries("indefinite", n, n, terms)
        }
        6 => {
            let off = random_dense(rng, n, n, density);
            Made::entries("unsymmetric dominant", n, n, dominated(rng, n, off, 0.6))
        }
        7 => Made::entries("unsymmetric", n, n, random_dense(rng, n, n, density.max(0.3))),
        8 => {
            // Rows and columns in units of their own.
            let off = random_dense(rng, n, n, density);
            let mut terms = dominated(rng, n, off, 0.6);
            let spread = pick(rng, &[8, 30, 50]);
            let mut units = || -> Vec<f64> {
                (0..n).map(|_| 2f64.powi(rng.below(2 * spread + 1) as i32 - spread as i32)).collect()
            };
            let (rows, cols) = (units(), units());
            let same = terms.len().is_multiple_of(2);
            terms.iter_mut().for_each(|(i, j, v)| *v *= rows[*i] * if same { rows[*j] } else { cols[*j] });
            Made::entries("badly scaled", n, n, terms)
        }
        9 => {
            let value = pick(rng, &[1.0, 1.0, 2.0, 0.1, 3e-7]);
            let terms = (0..n).map(|i| (i, i, if value == 3e-7 { weight(rng, false) } else { value }));
            Made { definite: true, ..Made::entries("diagonal", n, n, terms.collect()) }
        }
        10 => {
            // Singular and not symmetric: a row or a column of zeros, or equal rows.
            let n = n.max(2);
            let off = random_dense(rng, n, n, density);
            let mut terms = dominated(rng, n, off, 0.6);
            let (k, l) = (rng.below(n), rng.below(n));
            match rng.below(3) {
                0 => terms.retain(|t| t.0 != k),
                1 => terms.retain(|t| t.1 != k),
                _ if k != l => {
                    terms.retain(|t| t.0 != k);
                    let copy: Vec<_> = terms.iter().filter(|t| t.0 == l).map(|t| (k, t.1, t.2)).collect();
                    terms.extend(copy);
                }
                _ => {}
            }
            Made::entries("singular unsymmetric", n, n, terms)
        }
        11 => {
            // v vᵀ + w wᵀ: semidefinite of rank 2.
            let (v, w): (Vec<f64>, Vec<f64>) = (0..n).map(|_| (signed(rng), signed(rng))).unzip();
            let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
            let terms = all.map(|(i, j)| (i, j, v[i] * v[j] + w[i] * w[j])).collect();
            Made::entries("semidefinite", n, n, terms)
        }
        12 | 13 => {
            let m = (n + 1 + rng.below(20)).min(61);
            let (rows, cols) = if rng.below(3) == 0 { (n, m) } else { (m, n) };
            let mut terms = random_dense(rng, rows, cols, density.max(0.3));
            if rng.below(3) == 0 && cols > 1 {
                // Of deficient rank: two equal columns.
                terms.retain(|t| t.1 != 0);
                let copy: Vec<_> = terms.iter().filter(|t| t.1 == 1).map(|t| (t.0, 0, t.2)).collect();
                terms.extend(copy);
            }
            Made::entries("rectangular", rows, cols, terms)
        }
        14 => {
            // Contacts: J Jᵀ, with a little on the diagonal or not.
            let bodies = 1 + rng.below(n);
            let j = random_dense(rng, n, bodies, 0.3);
            let mut terms = Vec::new();
            for &(i, k, v) in &j {
                terms.extend(j.iter().filter(|t| t.1 == k).map(|t| (i, t.0, v * t.2)));
            }
            let softness = pick(rng, &[0.0, 1e-3, 1.0]);
            terms.extend((0..n).map(|i| (i, i, softness + 1e-3)));
            Made::entries("contacts", n, n, merged(terms))
        }
        15 | 27 => {
            let side = 1 + rng.below(7);
            let bumpy = rng.below(2) == 0;
            let a = NineBands::bilinear(
                side,
                |x, y| [x as f64, y as f64],
                |_, _| if bumpy { 0.1 + rng.unit() } else { 1.0 },
            )
            .unwrap();
            let n = a.len();
            let terms = a.to_triplets().entries().collect();
            Made { form: Form::NineBands(a), definite: true, ..Made::entries("nine bands", n, n, terms) }
        }
        _ => stencil(rng),
    }
}

/// Coefficients that vanish beside others, and matrices that few methods are made for.
fn hostile(rng: &mut Rng, n: usize, family: usize) -> Made {
    let n = n.max(2);
    let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    match family {
        19 => {
            let terms = all.map(|(i, j)| (i, j, 1.0 / (i + j + 1) as f64));
            Made::entries("Hilbert", n, n, terms.collect())
        }
        20 => {
            let grade = pick(rng, &[1.0, 4.0, 10.0]) * (30.0 / n as f64).min(1.0);
            let mut terms = laplacian(&path(rng, n));
            terms.extend((0..n).map(|i| (i, i, 0.5)));
            terms.iter_mut().for_each(|(i, j, v)| *v *= (-grade * (*i + *j) as f64).exp2().max(1e-60));
            Made::entries("graded", n, n, merged(terms))
        }
        21 => {
            let mut to: Vec<usize> = (0..n).collect();
            rng.shuffle(&mut to);
            let terms = to.into_iter().enumerate().map(|(i, j)| (i, j, 1.0));
            Made::entries("permutation", n, n, terms.collect())
        }
        22 => {
            let mut terms = random_dense(rng, n, n, 0.5);
            terms.retain(|t| t.0 > t.1);
            let other: Vec<_> = terms.iter().map(|&(i, j, v)| (j, i, -v)).collect();
            terms.extend(other);
            Made::entries("skew", n, n, terms)
        }
        23 => {
            let mut terms = random_dense(rng, n, n, 0.5);
            terms.retain(|t| t.0 > t.1);
            Made::entries("nilpotent", n, n, terms)
        }
        24 => {
            let off = symmetric(random_dense(rng, n, n, 0.3));
            let mut terms = dominated(rng, n, off, 0.6);
            let (i, j, _) = terms[rng.below(terms.len())];
            let v = pick(rng, &[1e30, 1e20, 1e-20, 1e-30, 1e-36, 1e-39, 1e-46, 1e10, 1e-10]);
            let here = |t: &Term| (t.0, t.1) == (i, j) || (t.1, t.0) == (i, j);
            terms.iter_mut().filter(|t| here(t)).for_each(|t| t.2 = v);
            Made::entries("outlier", n, n, terms)
        }
        25 => {
            // A row and a column in units of their own.
            let off = random_dense(rng, n, n, 0.4);
            let mut terms = dominated(rng, n, off, 0.6);
            let k = rng.below(n);
            let mut unit = || 2f64.powi(rng.below(161) as i32 - 80);
            let (row, col) = (unit(), unit());
            terms.iter_mut().filter(|t| t.0 == k).for_each(|t| t.2 *= row);
            terms.iter_mut().filter(|t| t.1 == k).for_each(|t| t.2 *= col);
            Made::entries("row and column", n, n, terms)
        }
        _ => {
            let more = pick(rng, &[0.0, 1e-3, 1e-7, 1e-12]);
            let terms = all.map(|(i, j)| (i, j, if i == j { 1.0 + more } else { 1.0 }));
            Made::entries("ones", n, n, terms.collect())
        }
    }
}

fn stencil(rng: &mut Rng) -> Made {
    let grid = match rng.below(3) {
        0 => Grid::new_2d(1 + rng.below(8), 1 + rng.below(8)),
        1 => Grid::new_2d(pick(rng, &[2, 4, 7, 8, 16, 30]), 2),
        _ => Grid::new_3d(1 + rng.below(4), 1 + rng.below(4), 1 + rng.below(4)),
    };
    let shift = pick(rng, &[0.0, 0.0, 0.0, 1.0, 0.1, 1e-7]);
    let mut axis = |n: usize| -> ([Side; 2], f64) {
        let ends = match rng.below(5) {
            0 => [Side::DIRICHLET; 2],
            1 => [Side::WALL, Side::Neumann],
            2 if n > 2 => [Side::Periodic; 2],
            _ => [Side::Neumann; 2],
        };
        (ends, pick(rng, &[1.0, 1.0, 0.3, 2.5]))
    };
    let ((x, wx), (y, wy)) = (axis(grid.nx), axis(grid.ny));
    let (z, wz) = if grid.nz > 1 { axis(grid.nz) } else { ([Side::Neumann; 2], 0.0) };
    let (sides, weights) = (Sides { x, y, z }, [wx, wy, wz]);
    let mut terms = Vec::new();
    let mut held = shift != 0.0;
    let extents = [grid.nx, grid.ny, grid.nz];
    for i in 0..grid.len() {
        terms.push((i, i, shift));
        let (px, py, pz) = grid.place(i);
        for (k, (ends, w)) in [(x, wx), (y, wy), (z, wz)].into_iter().enumerate() {
            let at = [px, py, pz];
            for (up, side) in ends.into_iter().enumerate() {
                let mut next = at;
                let inside = if up == 1 { at[k] + 1 < extents[k] } else { at[k] > 0 };
                if inside {
                    next[k] = at[k] + 2 * up - 1;
                } else {
                    match side {
                        Side::Periodic => next[k] = (at[k] + extents[k] + 2 * up - 1) % extents[k],
                        Side::Dirichlet { distance } => {
                            held |= w != 0.0;
                            terms.push((i, i, w / distance));
                            continue;
                        }
                        Side::Neumann => continue,
                        other => panic!("{other:?}"),
                    }
                }
                terms.extend([(i, i, w), (i, grid.index(next[0], next[1], next[2]), -w)]);
            }
        }
    }
    terms.retain(|t| t.2 != 0.0);
    let cycle = if rng.below(2) == 0 { Cycle::V } else { Cycle::W };
    let n = grid.len();
    let form = Form::Stencil { grid, shift, weights, sides, cycle };
    let definite = held && shift != 1e-7;
    Made { form, floating: !held, definite, ..Made::entries("stencil", n, n, terms) }
}

/// The matrix times `2^e`.
fn scale(made: &mut Made, e: i32) {
    let unit = 2f64.powi(e);
    made.terms.iter_mut().for_each(|t| t.2 *= unit);
    match &mut made.form {
        Form::Entries => {}
        Form::Stencil { shift, weights, .. } => {
            *shift *= unit;
            weights.iter_mut().for_each(|w| *w *= unit);
        }
        Form::NineBands(a) => {
            let bands = std::array::from_fn(|k| a.band(k).iter().map(|v| v * unit).collect());
            *a = NineBands::from_bands(a.side(), bands).unwrap();
        }
    }
}

fn times(terms: &[Term], rows: usize, x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; rows];
    terms.iter().for_each(|&(i, j, v)| y[i] += v * x[j]);
    y
}

/// The right-hand side for the matrix as it is before it is scaled, with a solution if it comes from one.
fn right_hand_side(rng: &mut Rng, made: &Made) -> (&'static str, Vec<f64>, Option<Vec<f64>>) {
    let (rows, cols) = (made.rows, made.cols);
    let of_solution = |rng: &mut Rng| {
        let x: Vec<f64> = match rng.below(3) {
            0 => vec![1.0; cols],
            1 => (0..cols).map(|_| signed(rng)).collect(),
            _ => (0..cols).map(|_| f64::from(signed(rng) as f32)).collect(),
        };
        (times(&made.terms, rows, &x), x)
    };
    let (b, x) = of_solution(rng);
    match rng.below(12) {
        0..=3 => ("b of a solution", b, Some(x)),
        4 => ("random b", (0..rows).map(|_| signed(rng)).collect(), None),
        5 => {
            let mut b: Vec<f64> = (0..rows).map(|_| signed(rng)).collect();
            let large = pick(rng, &[1e4, 1e6, 1e8, 1e12, 1e20]);
            b[rng.below(rows)] = large;
            ("one large among small in b", b, None)
        }
        6 => ("b = 0", vec![0.0; rows], Some(vec![0.0; cols])),
        7 => ("b of tenths", (0..rows).map(|i| 0.1 * (1 + i % 9) as f64).collect(), None),
        8 => {
            let mut b = vec![0.0; rows];
            b[rng.below(rows)] = 1.0;
            ("unit b", b, None)
        }
        9 => ("b = 1", vec![1.0; rows], None),
        10 => {
            // Elements far apart.
            let b = (0..rows).map(|_| signed(rng) * 2f64.powi(rng.below(61) as i32 - 30)).collect();
            ("b of a wide range", b, None)
        }
        _ => {
            // A difference, which sums to zero.
            let mut b = vec![0.0; rows];
            b[0] += 1.0;
            b[rows - 1] -= 1.0;
            ("difference b", b, None)
        }
    }
}

fn start(rng: &mut Rng, made: &Made, solution: Option<&[f64]>, unit: f64) -> (String, Vec<f64>) {
    let cols = made.cols;
    let far = 10f64.powi(rng.below(21) as i32);
    // Constants are what a floating system loses digits of.
    let kind = if made.floating && rng.below(3) == 0 { 5 } else { rng.below(9) };
    match kind {
        0..=2 => ("x0 = 0".into(), vec![0.0; cols]),
        3 => ("random x0".into(), (0..cols).map(|_| signed(rng) * unit).collect()),
        4 => (format!("random x0 of {far:e}"), (0..cols).map(|_| far * signed(rng) * unit).collect()),
        5 => (format!("constant x0 of {far:e}"), vec![far * unit; cols]),
        6 => (format!("constant x0 of {far:e} without units"), vec![far; cols]),
        7 => {
            let of = |rng: &mut Rng| signed(rng) * 2f64.powi(rng.below(261) as i32 - 140);
            ("x0 of all sizes".into(), (0..cols).map(|_| of(rng)).collect())
        }
        _ => match solution {
            Some(x) => ("x0 is the solution".into(), x.iter().map(|v| v * unit).collect()),
            None => {
                let mut x = vec![0.0; cols];
                x[rng.below(cols)] = far * unit;
                (format!("x0 with an element of {far:e}"), x)
            }
        },
    }
}

/// The nearest 32-bit float; the largest one where there is none.
fn nearest(v: f64) -> f32 {
    (v as f32).clamp(-f32::MAX, f32::MAX)
}

pub fn system(seed: u64) -> System {
    let mut rng = Rng::new(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let rng = &mut rng;
    let mut made = matrix(rng);
    let (b_name, mut b, solution) = right_hand_side(rng, &made);
    let (e, f) = (exponent(rng), exponent(rng));
    // The bilinear elements are checked when they are made.
    let e = if matches!(made.form, Form::NineBands(_)) { e.clamp(-110, 110) } else { e };
    scale(&mut made, e);
    b.iter_mut().for_each(|v| *v *= 2f64.powi(f));
    let below = rng.below(10) == 0;
    if below {
        // Below the normal range, beside whatever else there is.
        let k = rng.below(b.len());
        b[k] = signed(rng) * 2f64.powi(-126 - rng.below(8) as i32);
    }
    let below = if below { ", one below the range" } else { "" };
    let (x_name, x0) = start(rng, &made, solution.as_deref(), 2f64.powi(f - e));
    let x0 = x0.into_iter().map(nearest).collect();
    let declared = made.floating && (matches!(made.form, Form::Stencil { .. }) || rng.below(3) > 0);
    let null_space = if declared { vec![vec![1.0; made.cols]] } else { Vec::new() };
    let singular = match (made.floating, declared) {
        (false, _) => "",
        (true, false) => ", null space not declared",
        (true, true) => ", null space declared",
    };
    let bound =
        pick(rng, &[1e-1, 1e-2, 1e-3, 1e-4, 1e-4, 1e-5, 1e-5, 1e-5, 1e-6, 1e-7, 6.1e-8, 1e-10, 1e-13]);
    let most = pick(rng, &[300, 300, 300, 300, 100, 20, 3, 1, 0]);
    let Made { family, rows, cols, terms, form, definite, .. } = made;
    let name = format!(
        "{family} {rows}x{cols}{singular}, A 2^{e}, b 2^{f}, {b_name}{below}, {x_name}, bound {bound:e}, at most {most}"
    );
    let every = pick(rng, &[1, 4, 16]);
    System { seed, name, form, rows, cols, terms, b, x0, null_space, definite, bound, most, every }
}
