//! Verdicts on systems of the host's in their normal form: random rows of one entry, signs, asymmetry up to the bound and past it,
//! penalties, units, singular ones. None may be false.

use texla::host::{Csr, Triplets, problems};
use texla::solve::{AutoParams, Components, DirectUse, HostSystem, HostSystemParams, Stop, StopReason};
use texla::{Device, Error, Shape};

use crate::common::pairs::true_residual;
use crate::common::random::Rng;

/// A system, and whether the base it was made from has an inverse.
struct Made {
    a: Csr,
    b: Vec<f64>,
    regular: bool,
    label: String,
}

fn triplets(n: usize, entries: &[(usize, usize, f64)]) -> Csr {
    Triplets::from_entries(Shape::new(n, n), entries.iter().copied()).unwrap().to_csr()
}

fn base(rng: &mut Rng) -> (Vec<(usize, usize, f64)>, usize, bool, &'static str) {
    let (nx, ny) = (1 + rng.below(7), 1 + rng.below(7));
    let grid = problems::poisson_2d(nx, ny).to_csr();
    let n = nx * ny;
    match rng.below(5) {
        0 => (grid.entries().collect(), n, true, "grid"),
        // Without a hold: rows sum to zero.
        1 => {
            let beside = grid.entries().filter(|(i, j, _)| i != j).collect::<Vec<_>>();
            let holds = beside.iter().map(|(i, _, v)| (*i, *i, -v)).collect::<Vec<_>>();
            ([beside, holds].concat(), n, false, "floating")
        }
        2 => {
            let wind = 0.9 * rng.unit();
            let of = |(i, j, v): (usize, usize, f64)| (i, j, if j > i { v * (1.0 - wind) } else { v });
            (grid.entries().map(of).collect(), n, true, "wind")
        }
        3 => {
            let one = |i: usize, rng: &mut Rng| {
                let mut row = vec![(i, i, 4.0 + rng.unit())];
                row.extend((0..3).map(|_| (i, rng.below(n), 2.0 * rng.unit() - 1.0)));
                row
            };
            ((0..n).flat_map(|i| one(i, rng)).collect(), n, true, "random")
        }
        _ => {
            let shift = 3.0 * rng.unit();
            let of = |(i, j, v): (usize, usize, f64)| (i, j, if i == j { v - shift } else { v });
            (grid.entries().map(of).collect(), n, true, "shifted")
        }
    }
}

fn made(seed: u64) -> Made {
    let mut rng = Rng::new(seed ^ 0x6e6f_726d);
    let (mut entries, n, mut regular, kind) = base(&mut rng);
    let mut label = format!("seed {seed}: {kind} of {n}");
    if rng.below(3) == 0 {
        // Rows of one entry, whose columns stay.
        let given: Vec<bool> = (0..n).map(|_| rng.below(4) == 0).collect();
        entries.retain(|(i, j, _)| !given[*i] || i == j);
        regular |= given.iter().any(|g| *g) && n > 1;
        label += ", identity rows";
    }
    if rng.below(3) == 0 {
        let size = 2f64.powi(15 + rng.below(90) as i32);
        let at = rng.below(n);
        entries.push((at, at, size));
        regular = true;
        label += &format!(", a penalty of {size:.0e}");
    }
    if rng.below(3) == 0 {
        let off = 2f64.powi(-(18 + rng.below(36) as i32));
        for (i, j, v) in &mut entries {
            if i < j && rng.below(3) == 0 {
                *v *= 1.0 + off;
            }
        }
        label += &format!(", off by {off:.0e}");
    }
    if rng.below(2) == 0 {
        entries.iter_mut().for_each(|(.., v)| *v = -*v);
        label += ", negated";
    }
    if rng.below(3) == 0 {
        let most = [3, 20, 100][rng.below(3)];
        let units: Vec<i32> = (0..n).map(|_| rng.below(2 * most + 1) as i32 - most as i32).collect();
        entries.iter_mut().for_each(|(i, j, v)| *v *= 2f64.powi(units[*i] + units[*j]));
        label += &format!(", units to 2^{most}");
    }
    let a = triplets(n, &entries);
    let b = match rng.below(3) {
        0 => a.mul_vec(&(0..n).map(|_| 2.0 * rng.unit() - 1.0).collect::<Vec<_>>()).unwrap(),
        1 => (0..n).map(|_| 2.0 * rng.unit() - 1.0).collect(),
        _ => (0..n).map(|_| if rng.below(5) == 0 { 1.0 } else { 0.0 }).collect(),
    };
    Made { a, b, regular, label }
}

/// What came of the systems.
#[derive(Debug, Default)]
pub struct Ends {
    pub converged: usize,
    pub others: usize,
    pub refused: usize,
    pub wrong: Vec<String>,
}

/// The share of the worst row, as its definition has it.
fn omega(a: &Csr, x: &[f64], b: &[f64]) -> f64 {
    let largest = x.iter().map(|x| x.abs()).max_by(f64::total_cmp).unwrap_or(0.0);
    let row = |i: usize| {
        let (mut rest, mut size) = (b[i], b[i].abs());
        for (j, v) in a.row(i) {
            rest -= v * x[j];
            size += v.abs() * (x[j].abs() + 0.01 * largest);
        }
        if rest == 0.0 { 0.0 } else { rest.abs() / size }
    };
    (0..b.len()).map(row).max_by(f64::total_cmp).unwrap_or(0.0)
}

pub fn try_all(device: &Device, seeds: impl Iterator<Item = u64>) -> Ends {
    let mut ends = Ends::default();
    for seed in seeds {
        let Made { a, b, regular, label } = made(seed);
        let mut rng = Rng::new(seed);
        let tol = 10f64.powf(-3.0 - 8.0 * rng.unit());
        let direct = [DirectUse::Never, DirectUse::Never, DirectUse::ByCost, DirectUse::Last][rng.below(4)];
        let auto = AutoParams::default().with_stop(Stop::relative(tol)).with_max_iters(2000);
        let params = HostSystemParams::default().with_auto(auto).with_direct(direct);
        let label = format!("{label}, to {tol:.1e}, factors {direct}");
        match HostSystem::new(device, a.clone(), params).and_then(|system| system.solve(&b)) {
            Ok((x, report)) => {
                if report.converged() {
                    ends.converged += 1;
                    let nothing = b.iter().chain(&x).all(|v| *v == 0.0);
                    let found = if nothing { 0.0 } else { true_residual(&a, &x, &b) };
                    let share = omega(&a, &x, &b);
                    let most = Components::limit(tol);
                    if !(found <= tol * (1.0 + 1e-6) && share <= most * 1.01) {
                        ends.wrong.push(format!("{label}: {found:e}, a row {share:e}; {report}"));
                    }
                } else {
                    ends.others += 1;
                    if report.solved.reason == StopReason::Uncertified {
                        ends.wrong.push(format!("{label}: uncertified; {report}"));
                    }
                }
            }
            Err(Error::Inconsistent { .. }) if !regular => ends.refused += 1,
            // Elements beyond the range, and rows of zeros.
            Err(
                Error::Inconsistent { .. }
                | Error::Matrix { .. }
                | Error::NonFinite { .. }
                | Error::Parameter { .. },
            ) => {
                ends.others += 1;
            }
            Err(error) => ends.wrong.push(format!("{label}: {error}")),
        }
    }
    ends
}
