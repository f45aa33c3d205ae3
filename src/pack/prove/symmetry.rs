//! Automorphisms of the pattern: permutations of the rows, and of the columns with them, that change nothing.

use std::collections::BTreeMap;

use super::lanes::{ROWS, Table, members};
use super::pattern::Pattern;

/// Refinements spent on one pattern. What is not found by then only makes a search longer.
const REFINEMENTS: u32 = 4000;

/// A colour for each row; rows of different colours are never exchanged.
type Colours = Table<u16, ROWS>;

/// For each row that a search places: the rows onto which automorphisms found by backtracking carry it.
///
/// Every automorphism is checked entry by entry before it is believed, so that orbits may be too small, never too large.
pub(super) fn orbits(p: &Pattern) -> Table<u64, ROWS> {
    let rows = p.active | p.inert;
    let mut orbit = Table::default();
    for v in members(rows) {
        orbit.set(v, 1 << v);
    }
    let mut finder = Finder { p, rows, left: REFINEMENTS };
    let mut start = Colours::default();
    for v in members(rows) {
        start.set(v, p.kind.at(v) << 1 | (p.inert >> v & 1) as u16);
    }
    let Some((start, _)) = finder.refine(start, start) else { return orbit };
    for v in members(rows) {
        for w in members(rows & !((2u64 << v).wrapping_sub(1))) {
            if start.at(v) != start.at(w) || orbit.at(v) >> w & 1 == 1 {
                continue;
            }
            let Some(map) = finder.carry(start, start, v, w) else { continue };
            for from in members(rows) {
                let joined = orbit.at(from) | orbit.at(map.at(from) as usize);
                for member in members(joined) {
                    orbit.set(member, joined);
                }
            }
        }
    }
    orbit
}

struct Finder<'a> {
    p: &'a Pattern,
    rows: u64,
    left: u32,
}

impl Finder<'_> {
    /// Splits the colours of two copies of the pattern by the colours of what each row has for columns and is a column of, until
    /// nothing splits; none if the copies differ.
    fn refine(&mut self, mut a: Colours, mut b: Colours) -> Option<(Colours, Colours)> {
        let mut known = 0;
        loop {
            self.left = self.left.checked_sub(1)?;
            let mut numbers: BTreeMap<Vec<u16>, [u32; 2]> = BTreeMap::new();
            for (copy, colours) in [&a, &b].into_iter().enumerate() {
                for v in members(self.rows) {
                    let counts = numbers.entry(self.signature(colours, v)).or_default();
                    if let Some(count) = counts.get_mut(copy) {
                        *count += 1;
                    }
                }
            }
            if numbers.values().any(|[a, b]| a != b) {
                return None;
            }
            let number: BTreeMap<&Vec<u16>, u16> = numbers.keys().zip(0..).collect();
            let renumber = |colours: &Colours| {
                let mut new = Colours::default();
                for v in members(self.rows) {
                    new.set(v, number.get(&self.signature(colours, v)).copied().unwrap_or_default());
                }
                new
            };
            (a, b) = (renumber(&a), renumber(&b));
            if number.len() == known {
                return Some((a, b));
            }
            known = number.len();
        }
    }

    fn signature(&self, colours: &Colours, v: usize) -> Vec<u16> {
        let mut signature = vec![colours.at(v)];
        for set in [self.p.columns.at(v), self.p.readers.at(v)] {
            signature.push(u16::MAX);
            let from = signature.len();
            signature.extend(members(set & self.rows).map(|w| colours.at(w)));
            signature.get_mut(from..).unwrap_or_default().sort_unstable();
        }
        signature
    }

    /// An automorphism that carries `v` onto `w` and agrees with the colours of both copies.
    fn carry(&mut self, mut a: Colours, mut b: Colours, v: usize, w: usize) -> Option<Colours> {
        a.set(v, u16::MAX - 1);
        b.set(w, u16::MAX - 1);
        let (a, b) = self.refine(a, b)?;
        let class = |colours: &Colours, colour: u16| {
            members(self.rows).filter(|&x| colours.at(x) == colour).fold(0u64, |set, x| set | 1 << x)
        };
        let open = members(self.rows).find(|&x| class(&a, a.at(x)).count_ones() > 1);
        let Some(open) = open else {
            let mut map = Colours::default();
            for x in members(self.rows) {
                map.set(x, class(&b, a.at(x)).trailing_zeros() as u16);
            }
            return self.is_automorphism(&map).then_some(map);
        };
        let targets = class(&b, a.at(open));
        members(targets).find_map(|target| self.carry(a, b, open, target))
    }

    fn is_automorphism(&self, map: &Colours) -> bool {
        let image = |set: u64| members(set).fold(0u64, |all, x| all | 1 << map.at(x));
        image(self.rows) == self.rows
            && members(self.rows).all(|v| {
                let to = map.at(v) as usize;
                self.p.kind.at(to) == self.p.kind.at(v)
                    && self.p.inert >> to & 1 == self.p.inert >> v & 1
                    && self.p.columns.at(to) & self.rows == image(self.p.columns.at(v) & self.rows)
            })
    }
}
