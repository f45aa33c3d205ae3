//! How the diagonals of one pass read `x`, and the text that does it: pure arithmetic on the offsets.

use crate::data::{Band, texel_shifts};

/// Where four consecutive elements of the shifted `x` come from: the place of their first texel among the shifts, of the
/// second one, and the residue.
type Tap = [i64; 3];

/// The same for each diagonal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BandPlan {
    /// Distinct shifts in texels, ascending.
    shifts: Vec<i32>,
    taps: Vec<Tap>,
}

impl BandPlan {
    fn new(offsets: &[i64]) -> Self {
        let split = |o: &i64| (o.div_euclid(4) as i32, o.rem_euclid(4));
        let shifts = texel_shifts(offsets);
        let place = |q: i32| shifts.binary_search(&q).unwrap_or_default() as i64;
        let taps =
            offsets.iter().map(split).map(|(q, r)| [place(q), place(q + i32::from(r != 0)), r]).collect();
        BandPlan { shifts, taps }
    }
}

/// Four elements of `x` for a diagonal, from its fetched texels.
fn elements(x: &str, [a, b, residue]: Tap) -> String {
    across(residue, &format!("{x}{a}"), &format!("{x}{b}"))
}

/// Four consecutive elements that begin at `residue` in the texel `first` and go on in `second`.
fn across(residue: i64, first: &str, second: &str) -> String {
    match residue {
        1 => format!("vec4({first}.yzw, {second}.x)"),
        2 => format!("vec4({first}.zw, {second}.xy)"),
        3 => format!("vec4({first}.w, {second}.xyz)"),
        _ => first.to_owned(),
    }
}

/// What is known of a diagonal before it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BandKind {
    Constant,
    Stored,
    /// With a remainder.
    StoredTwice,
}

impl From<&Band> for BandKind {
    fn from(band: &Band) -> Self {
        match band {
            Band::Constant { .. } => BandKind::Constant,
            Band::Stored { low: None, .. } => BandKind::Stored,
            Band::Stored { low: Some(_), .. } => BandKind::StoredTwice,
        }
    }
}

/// What a pass does with coefficient and elements.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Term {
    /// Multiplies and adds in 32 bits.
    Single,
    /// In double-float, with remainders.
    Accurate,
    /// As `Single`, at the texel `c`.
    Inlined,
    /// As `Accurate`, with an `x` of pairs.
    Paired,
}

/// The program of one pass.
pub(super) struct BandText {
    plan: BandPlan,
    kinds: Vec<BandKind>,
    /// Diagonals of powers of two and zeros.
    powers: Vec<bool>,
    /// Of `Aᵀ`: the diagonal with offset `o` becomes one with offset `-o` whose coefficients are shifted along.
    transposed: bool,
    /// `x` and `y` have as many texels.
    square: bool,
}

impl BandText {
    pub fn new(offsets: &[i64], bands: &[Band], transposed: bool, square: bool) -> Self {
        let kinds = bands.iter().map(BandKind::from).collect();
        let powers = bands.iter().map(Band::is_of_powers).collect();
        BandText { plan: BandPlan::new(offsets), kinds, powers, transposed, square }
    }

    pub fn shifts(&self) -> &[i32] {
        &self.plan.shifts
    }

    /// A constant diagonal goes on where the matrix has ended: what lies outside has to be cut off.
    pub fn has_constants(&self) -> bool {
        self.kinds.contains(&BandKind::Constant)
    }

    /// All that [`generate`] has to know, which the values of the shifts are not: the term, whether it is the transpose,
    /// how many shifts there are, which of them lead to the texel at hand, the one before and the one after (or -1), and for
    /// each diagonal its tap, its kind and whether it is of powers of two.
    pub fn words(&self, term: Term) -> Vec<i64> {
        let BandPlan { shifts, taps } = &self.plan;
        let leads_to = |shift: i32| {
            let found = shifts.iter().position(|s| *s == shift).filter(|_| self.square);
            found.map_or(-1, |i| i as i64)
        };
        let mut words = vec![term as i64, i64::from(self.transposed), shifts.len() as i64];
        // What makes no difference to the text is left out, so that programs are shared.
        let (inlined, accurate) = (term == Term::Inlined, matches!(term, Term::Accurate | Term::Paired));
        words.extend([
            leads_to(0),
            if inlined { leads_to(-1) } else { -1 },
            if inlined { leads_to(1) } else { -1 },
        ]);
        for (([a, b, residue], kind), powers) in taps.iter().zip(&self.kinds).zip(&self.powers) {
            words.extend([*a, *b, *residue, *kind as i64, i64::from(*powers && accurate)]);
        }
        words
    }
}

/// The macros `FETCHES` and `BANDS`, of [`BandText::words`]; of accurate terms also how many there are, and lists of their coefficients
/// and elements, for sums that take one after the other.
pub(super) fn generate(words: &[i64]) -> String {
    let [term, transposed, shifts, own, before, after, diagonals @ ..] = words else { return String::new() };
    let (inlined, paired) = (*term == Term::Inlined as i64, *term == Term::Paired as i64);
    let parts: &[&str] = if paired { &["x", "x_low"] } else { &["x"] };
    let mut text = "#define FETCHES".to_owned();
    for (i, x) in (0..*shifts).flat_map(|i| parts.iter().map(move |x| (i, x))) {
        if i == *own {
            let fetched = if inlined { "x_own".to_owned() } else { format!("{x}_texel(t)") };
            text.push_str(&format!(" vec4 {x}{i} = {fetched};"));
            continue;
        }
        let fetched = match i {
            i if inlined && i == *before => "x_before".to_owned(),
            i if inlined && i == *after => "x_after".to_owned(),
            i => format!("{x}_shifted(t + shifts[{i}])"),
        };
        // Chosen, not multiplied by zero: the texel that stands for those outside may hold infinities. Fetched
        // before that, so that no fetch stands in a branch.
        text.push_str(&format!(
            " vec4 {x}{i} = {fetched}; {x}{i} = uint(t + shifts[{i}]) < uint(source_texels) ? {x}{i} : vec4(0.0);"
        ));
    }
    text.push_str("\n#define BANDS");
    let [mut highs, mut lows, mut xs] = [const { Vec::new() }; 3];
    let mut all_powers = true;
    for (i, diagonal) in diagonals.chunks_exact(5).enumerate() {
        let [a, b, residue, kind, powers] = *diagonal else { continue };
        let coefficients = |name: &str| match *transposed != 0 {
            true => {
                let at = |k: i64| format!("{name}_shifted(t + shifts[{k}])");
                across(residue, &at(a), &at(b))
            }
            false if inlined => format!("{name}_at(c)"),
            false => format!("{name}_here()"),
        };
        let constant = |k: usize| format!("vec4(constants[{k}])");
        let is = |other: BandKind| kind == other as i64;
        let high = if is(BandKind::Constant) { constant(2 * i) } else { coefficients(&format!("d{i}")) };
        let elements = |x: &str| elements(x, [a, b, residue]);
        if !paired && *term != Term::Accurate as i64 {
            text.push_str(&format!(" sum += {high} * {};", elements("x")));
            continue;
        }
        let scaled = |x: &&str| format!("scaled4({}, factors)", elements(x));
        let of_term: Vec<String> = parts.iter().map(scaled).collect();
        let x = of_term.join(", ");
        let pairs = if paired { "_pair" } else { "" };
        let low = if is(BandKind::Constant) && powers == 0 {
            constant(2 * i + 1)
        } else if is(BandKind::StoredTwice) {
            coefficients(&format!("d{i}_low"))
        } else {
            "vec4(0.0)".to_owned()
        };
        text.push_str(&match powers {
            0 => format!(" s = add{pairs}_product4(s, {high}, {low}, {x});"),
            _ => format!(" s = add_exact{pairs}_product4(s, {high}, {x});"),
        });
        all_powers &= powers != 0;
        highs.push(high);
        lows.push(low);
        xs.extend(of_term);
    }
    if !highs.is_empty() {
        let list = |all: &[String]| format!("vec4[{}]({})", all.len(), all.join(", "));
        text.push_str(&format!("\n#define TERMS {}\n#define HIGHS {}", highs.len(), list(&highs)));
        text.push_str(&format!("\n#define XS {}", list(&xs)));
        text.push_str(&if all_powers {
            "\n#define POWERS 1".to_owned()
        } else {
            format!("\n#define LOWS {}", list(&lows))
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_needed_twice_are_fetched_once() {
        let plan = BandPlan::new(&[-512, -1, 0, 1, 512]);
        assert_eq!(plan.shifts, [-128, -1, 0, 1, 128]);
        assert_eq!(plan.taps, [[0, 0, 0], [1, 2, 3], [2, 2, 0], [2, 3, 1], [4, 4, 0]]);
        assert_eq!(elements("x", plan.taps[1]), "vec4(x1.w, x2.xyz)");
        assert_eq!(elements("x", plan.taps[3]), "vec4(x2.yzw, x3.x)");
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
                assert_eq!(element(&elements("x", plan.taps[i]), lane, &plan), offset + lane as i64);
            }
        }
    }
}
