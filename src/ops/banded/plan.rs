//! How the diagonals of one pass read `x`, and the text that does it: pure arithmetic on the offsets.

use crate::data::Band;

/// Where four consecutive elements of the shifted `x` come from, for each diagonal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BandPlan {
    /// Distinct shifts in texels, ascending.
    pub shifts: Vec<i32>,
    /// For each diagonal: place of its first texel in `shifts`, of the second one, and the residue.
    pub taps: Vec<(usize, usize, u8)>,
}

impl BandPlan {
    pub fn new(offsets: &[i64]) -> Self {
        let split = |o: &i64| (o.div_euclid(4) as i32, o.rem_euclid(4) as u8);
        let mut shifts: Vec<i32> =
            offsets.iter().map(split).flat_map(|(q, r)| if r == 0 { [q, q] } else { [q, q + 1] }).collect();
        shifts.sort_unstable();
        shifts.dedup();
        let place = |q: i32| shifts.binary_search(&q).unwrap_or_default();
        let taps =
            offsets.iter().map(split).map(|(q, r)| (place(q), place(q + i32::from(r != 0)), r)).collect();
        BandPlan { shifts, taps }
    }

    /// Four elements of `x` for diagonal `i`, from the fetched texels.
    fn elements(&self, i: usize) -> String {
        self.taps.get(i).map(|(a, b, r)| across(*r, &format!("x{a}"), &format!("x{b}"))).unwrap_or_default()
    }
}

/// Four consecutive elements that begin at `residue` in the texel `first` and go on in `second`.
fn across(residue: u8, first: &str, second: &str) -> String {
    match residue {
        1 => format!("vec4({first}.yzw, {second}.x)"),
        2 => format!("vec4({first}.zw, {second}.xy)"),
        3 => format!("vec4({first}.w, {second}.xyz)"),
        _ => first.to_owned(),
    }
}

/// What is known of a diagonal before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BandKind {
    Stored { low: bool },
    Constant,
}

impl From<&Band> for BandKind {
    fn from(band: &Band) -> Self {
        match band {
            Band::Stored { low, .. } => BandKind::Stored { low: low.is_some() },
            Band::Constant { .. } => BandKind::Constant,
        }
    }
}

/// The program of one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BandText {
    plan: BandPlan,
    kinds: Vec<BandKind>,
    /// Of `Aᵀ`: the diagonal with offset `o` becomes one with offset `-o` whose coefficients are shifted along.
    transposed: bool,
    /// `x` and `y` have as many texels.
    square: bool,
}

impl BandText {
    pub fn new(offsets: &[i64], bands: &[Band], transposed: bool, square: bool) -> Self {
        let kinds = bands.iter().map(BandKind::from).collect();
        BandText { plan: BandPlan::new(offsets), kinds, transposed, square }
    }

    pub fn shifts(&self) -> &[i32] {
        &self.plan.shifts
    }

    /// What distinguishes this program from others: the values of the shifts do not.
    pub fn key(&self) -> String {
        let own = self.plan.shifts.iter().position(|s| *s == 0);
        format!("{:?} {:?} {own:?} {} {}", self.plan.taps, self.kinds, self.transposed, self.square)
    }

    /// A constant diagonal goes on where the matrix has ended: what lies outside has to be cut off.
    pub fn has_constants(&self) -> bool {
        self.kinds.contains(&BandKind::Constant)
    }

    /// The names of the stored diagonals, as inputs of the kernel.
    pub fn highs(&self) -> Vec<String> {
        self.named(|kind| matches!(kind, BandKind::Stored { .. }), "")
    }

    /// The names of their remainders.
    pub fn lows(&self) -> Vec<String> {
        self.named(|kind| matches!(kind, BandKind::Stored { low: true }), "_low")
    }

    fn named(&self, which: impl Fn(&BandKind) -> bool, suffix: &str) -> Vec<String> {
        let of = |(i, _): (usize, &BandKind)| format!("d{i}{suffix}");
        self.kinds.iter().enumerate().filter(|(_, kind)| which(kind)).map(of).collect()
    }

    /// The macros `FETCHES` and `BANDS`; `term` turns coefficient, remainder and elements into a statement.
    pub fn generate(&self, term: impl Fn(&str, &str, &str) -> String) -> String {
        let mut text = "#define FETCHES".to_owned();
        for (i, shift) in self.plan.shifts.iter().enumerate() {
            text.push_str(&match *shift == 0 && self.square {
                true => format!(" vec4 x{i} = x_texel(t);"),
                // Chosen, not multiplied by zero: the texel that stands for those outside may hold infinities. Fetched
                // before that, so that no fetch stands in a branch.
                false => format!(
                    " vec4 x{i} = x_shifted(t + shifts[{i}]); \
                     x{i} = uint(t + shifts[{i}]) < uint(source_texels) ? x{i} : vec4(0.0);"
                ),
            });
        }
        text.push_str("\n#define BANDS");
        for (i, ((a, b, residue), kind)) in self.plan.taps.iter().zip(&self.kinds).enumerate() {
            let coefficients = |name: &str| match self.transposed {
                true => {
                    let at = |k: usize| format!("{name}_shifted(t + shifts[{k}])");
                    across(*residue, &at(*a), &at(*b))
                }
                false => format!("{name}_here()"),
            };
            let (high, low) = match kind {
                BandKind::Constant => {
                    (format!("vec4(constants[{}])", 2 * i), format!("vec4(constants[{}])", 2 * i + 1))
                }
                BandKind::Stored { low: true } => {
                    (coefficients(&format!("d{i}")), coefficients(&format!("d{i}_low")))
                }
                BandKind::Stored { low: false } => (coefficients(&format!("d{i}")), "vec4(0.0)".into()),
            };
            text.push_str(&format!(" {}", term(&high, &low, &self.plan.elements(i))));
        }
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_needed_twice_are_fetched_once() {
        let plan = BandPlan::new(&[-512, -1, 0, 1, 512]);
        assert_eq!(plan.shifts, [-128, -1, 0, 1, 128]);
        assert_eq!(plan.taps, [(0, 0, 0), (1, 2, 3), (2, 2, 0), (2, 3, 1), (4, 4, 0)]);
        assert_eq!(plan.elements(1), "vec4(x1.w, x2.xyz)");
        assert_eq!(plan.elements(3), "vec4(x2.yzw, x3.x)");
    }

    #[test]
    fn every_residue_takes_four_consecutive_elements() {
        let plan = BandPlan::new(&[-3, -2, -1, 0, 1, 2, 3, 4]);
        let element = |text: &str, lane: usize, plan: &BandPlan| -> i64 {
            // Expand the swizzles of a generated expression and find lane's element relative to 4 t.
            let text = text.trim_start_matches("vec4(").trim_end_matches(')');
            let mut all = Vec::new();
            for part in text.split(", ") {
                let (name, lanes) = part.split_once('.').unwrap_or((part, "xyzw"));
                let shift = plan.shifts[name[1..].parse::<usize>().unwrap()];
                all.extend(lanes.chars().map(|c| i64::from(shift) * 4 + "xyzw".find(c).unwrap() as i64));
            }
            all[lane]
        };
        for (i, offset) in (-3..=4).enumerate() {
            for lane in 0..4 {
                assert_eq!(element(&plan.elements(i), lane, &plan), offset + lane as i64);
            }
        }
    }
}
