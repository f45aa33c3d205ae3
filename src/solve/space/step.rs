//! Scalar steps: the text that is the same for all of them, around what a recipe says.

use std::fmt::Write as _;

use super::wide::translated;
use super::{Dot, Space};
use crate::error::Result;
use crate::gl::glsl;
use crate::kernel::{Draw, Operand as _, View};
use crate::profile::{Fetches, Workload};
use crate::shape::Extent;

/// Whether a text has this word, and whether it assigns to it.
fn mentions(text: &str, name: &str) -> (bool, bool) {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = (false, false);
    for (at, _) in text.match_indices(name) {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + name.len()..).unwrap_or("");
        if before.is_some_and(|c| word(c) || c == '.') || after.chars().next().is_some_and(word) {
            continue;
        }
        found.0 = true;
        let after = after.trim_start();
        found.1 |= after.starts_with('=') && !after.starts_with("==");
    }
    found
}

/// A number's channels of its group.
pub(super) fn channels(place: usize, wide: bool) -> &'static str {
    match (place, wide) {
        (0, true) => "xy",
        (_, true) => "zw",
        (0, _) => "x",
        (1, _) => "y",
        (2, _) => "z",
        _ => "w",
    }
}

/// Sums by names, each once: those of the same product are one.
fn distinct(dots: &[(&'static str, Dot)]) -> (Vec<Dot>, Vec<usize>) {
    let mut sums: Vec<Dot> = Vec::new();
    let places = dots.iter().map(|(_, dot)| {
        let same = |s: &Dot| s == dot || (s.0, s.1) == (dot.1, dot.0);
        sums.iter().position(same).unwrap_or_else(|| {
            sums.push(*dot);
            sums.len() - 1
        })
    });
    let places = places.collect();
    (sums, places)
}

/// What a scalar step reads besides sums and numbers, and what it does where nothing moves any more.
#[derive(Default)]
pub(in crate::solve) struct Besides<'v> {
    pub inputs: &'v [(&'static str, View<'v>)],
    pub ints: &'v [(&'static str, i32)],
    /// Statements in place of the others, whose numbers count although iterates are frozen.
    pub frozen: &'static str,
}

impl Space<'_, '_> {
    /// Up to four inner products in one reduction, of pairs in two, and the scalar step that `text` says: GLSL statements that
    /// assign numbers.
    ///
    /// What they know: the sums by their names, all numbers of the recipe, `done` iterations; `breaks(condition, FLAG, value)`,
    /// `counts()`, `meets(r.r)` and `will_meet(r.r)` of `glsl/solve/step.frag`. A sum or number out of the range of floats ends the
    /// run. *Errors*: those of drawing.
    pub fn numbers<const N: usize>(&mut self, dots: [(&'static str, Dot); N], text: &str) -> Result<()> {
        self.numbers_besides(dots, text, Besides::default())
    }

    /// The same with something besides.
    pub(in crate::solve) fn numbers_besides<const N: usize>(
        &mut self,
        dots: [(&'static str, Dot); N],
        text: &str,
        besides: Besides<'_>,
    ) -> Result<()> {
        let resolved: Vec<(&'static str, Dot)> =
            dots.iter().map(|(name, dot)| Ok((*name, self.traced(*dot)?))).collect::<Result<_>>()?;
        let (sums, places) = distinct(&resolved);
        let room = self.sums_at_once();
        let mut partials = Vec::new();
        for chunk in sums.chunks(room) {
            partials.push(self.sums(chunk)?);
        }
        let wide = self.own.wide;
        let mut reads: Vec<(usize, bool)> = Vec::new();
        let mut checks = String::new();
        for (name, _) in &dots {
            let _ = write!(checks, "if (!within({name})) ends(OUT_OF_RANGE, leading({name})); ");
        }
        for (k, group) in self.own.groups.iter().enumerate() {
            let found: Vec<_> = group.names.iter().map(|name| mentions(text, name)).collect();
            if found.iter().any(|(read, _)| *read) {
                reads.push((k, found.iter().any(|(_, assigned)| *assigned)));
            }
            for (name, _) in group.names.iter().zip(&found).filter(|(_, (_, assigned))| *assigned) {
                let _ = write!(checks, "if (!within({name})) ends(OUT_OF_RANGE, leading({name})); ");
            }
        }
        let begins = std::mem::take(&mut self.own.begins);
        if begins {
            self.own.groups.iter_mut().for_each(|group| group.written = false);
        }
        if let Some(counted) = self.own.counted {
            let left = sums.len().div_ceil(room) * 64;
            let outputs = 1 + reads.iter().filter(|(_, writes)| *writes).count();
            let step = Workload::pass(Extent::new(1, 1), outputs, Fetches::default().with_adjacent(left as f64));
            self.own.counted = Some(counted + step);
            return Ok(());
        }
        let text = if wide { translated(text) } else { text.split_whitespace().collect::<Vec<_>>().join(" ") };
        let kind = if wide { "vec2" } else { "float" };
        let mut unpacked = String::new();
        for (k, (name, _)) in dots.iter().enumerate() {
            let place = places.get(k).copied().unwrap_or(0);
            let total = if place < room { "total" } else { "total_more" };
            let channel = if wide { ["xy", "zw"].get(place % 2) } else { ["x", "y", "z", "w"].get(place % 4) };
            let _ = write!(unpacked, "{kind} {name} = {total}.{}; ", channel.copied().unwrap_or("x"));
        }
        let mut before = String::new();
        if sums.len() > room {
            before.push_str("vec4 total_more = total_of_more(); ");
        }
        let sums_text = match sums.is_empty() {
            true => String::new(),
            false => format!("vec4 total = total_of_dots(); {before}{unpacked}"),
        };
        let (mut numbers, mut frozen) = (String::new(), String::new());
        let report = "next_report = report;".to_owned();
        let mut outputs = vec![("next_report".to_owned(), report, self.own.report.back().view())];
        for (k, is_written) in &reads {
            let Some(group) = self.own.groups.get(*k) else { continue };
            let _ = write!(numbers, "vec4 n{k}_was = n{k}_at(ivec2(0)); ");
            for (place, name) in group.names.iter().enumerate() {
                let _ = write!(numbers, "{kind} {name} = n{k}_was.{}; ", channels(place, wide));
            }
            if !is_written {
                continue;
            }
            let parts = group.names.join(", ");
            let taken = group.names.len() * if wide { 2 } else { 1 };
            let rest = match (4 - taken, group.gates) {
                (0, _) => String::new(),
                (rest, gates) => ", 0.0".repeat(rest - 1) + if gates { ", 1.0" } else { ", 0.0" },
            };
            let next = match (group.gates, besides.frozen) {
                (true, _) => format!("n{k}_next = moves ? vec4({parts}{rest}) : vec4(n{k}_was.xyz, 0.0);"),
                (false, "") => format!("n{k}_next = moves ? vec4({parts}{rest}) : n{k}_was;"),
                (false, _) => format!("n{k}_next = vec4({parts}{rest});"),
            };
            if !besides.frozen.is_empty() {
                for (place, name) in group.names.iter().enumerate() {
                    let _ = write!(frozen, "{name} = n{k}_was.{}; ", channels(place, wide));
                }
            }
            outputs.push((format!("n{k}_next"), next, group.texel.back().view()));
        }
        let unit = self.own.finds_unit && (text.contains("meets(") || text.contains("will_meet("));
        if unit {
            let next = "next_bounds = vec4(threshold, ceiling, limit, 0.0);".to_owned();
            outputs.push(("next_bounds".to_owned(), next, self.own.bounds.back().view()));
        }
        frozen.push_str(besides.frozen);
        let device = self.device();
        let most = (device.gl().caps.borrow().max_draw_buffers as usize).max(1);
        for outputs in outputs.chunks(most) {
            let names: Vec<_> = outputs.iter().map(|(name, _, _)| format!("out vec4 {name}")).collect();
            let (head, writes) = match outputs {
                [(name, text, _)] => {
                    ("vec4 kernel(ivec2 p)".to_owned(), format!("vec4 {name}; {text} return {name};"))
                }
                _ => {
                    let writes: Vec<_> = outputs.iter().map(|(_, text, _)| text.as_str()).collect();
                    (format!("void kernel(ivec2 p, {})", names.join(", ")), writes.join(" "))
                }
            };
            let mut draw = Draw::new(&device, glsl!("solve/step.frag"))
                .define("WIDE", wide)
                .define("BEGINS", begins)
                .define("FINDS_UNIT", unit)
                .define("MORE", sums.len() > room)
                .written("HEAD", head)
                .written("SUMS", sums_text.as_str())
                .written("NUMBERS", numbers.as_str())
                .written("STATEMENTS", text.as_str())
                .written("CHECKS", checks.as_str())
                .written("FROZEN", frozen.as_str())
                .written("WRITES", writes);
            let mut left = partials.iter().flatten();
            draw = match left.next() {
                Some(partial) => partial.left_to(draw),
                None => draw.define("NO_SUMS", ()),
            };
            if let Some(more) = left.next() {
                draw = more.left_as(draw, ("more", "more_source"));
            }
            draw = draw.input("last", self.own.report.front().view());
            draw = draw.input("bounds", self.own.bounds.front().view());
            for (k, _) in &reads {
                let Some(group) = self.own.groups.get(*k) else { continue };
                draw = draw.input(("n", *k), group.texel.front().view());
            }
            draw = besides.inputs.iter().fold(draw, |draw, (name, view)| draw.input(*name, *view));
            draw = besides.ints.iter().fold(draw, |draw, (name, value)| draw.param(name, *value));
            draw.targets(outputs.iter().map(|(_, _, view)| *view)).run()?;
        }
        self.own.report.swap();
        if unit {
            self.own.bounds.swap();
            self.own.finds_unit = false;
        }
        for k in reads.iter().filter(|(_, writes)| *writes).map(|(k, _)| *k) {
            if let Some(group) = self.own.groups.get_mut(k) {
                group.texel.swap();
                group.written = true;
            }
        }
        Ok(())
    }

    /// A product of the registers that are read in the end, so that equal ones are told.
    fn traced(&self, Dot(a, b): Dot) -> Result<Dot> {
        let traced = |operand| {
            Ok::<_, crate::error::Error>(match self.root(operand)? {
                (super::Root::Vector(register), weighted) => {
                    super::Operand { register, weighted: weighted && !self.m.is_identity() }
                }
                _ => operand,
            })
        };
        Ok(Dot(traced(a)?, traced(b)?))
    }
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn names_are_found_as_words_and_as_assigned() {
        assert_eq!(mentions("alpha = rz / pq;", "alpha"), (true, true));
        assert_eq!(mentions("alpha = rz / pq;", "rz"), (true, false));
        assert_eq!(mentions("alpha2 = rz;", "alpha"), (false, false));
        assert_eq!(mentions("if (alpha == 0.0) beta = 1.0;", "alpha"), (true, false));
        assert_eq!(mentions("x.alpha = 1.0;", "alpha"), (false, false));
    }
}
