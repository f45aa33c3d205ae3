//! Scalar steps: the text that is the same for all of them, around what a recipe says.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::places::Group;
use super::wide::translated;
use super::{Dot, Space, Store};
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand as _, View};
use crate::ops::reduce::Partial;
use crate::profile::{Fetches, Workload};
use crate::shape::Extent;

/// The words of a text but for channels, and whether it assigns to them.
fn words(text: &str) -> Vec<(&str, bool)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        let (_, word) = rest.split_at(start);
        let (word, after) = word.split_at(word.find(|c| !is_part(c)).unwrap_or(word.len()));
        rest = after;
        let assigned = after.trim_start().strip_prefix('=').is_some_and(|more| !more.starts_with('='));
        words.push((word.split('.').next().unwrap_or(word), assigned));
    }
    words
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

/// Sums past those of one reduction, by the names of their inputs and extents: for eight of pairs.
const MORE: [(&str, &str); 3] =
    [("more1", "more1_source"), ("more2", "more2_source"), ("more3", "more3_source")];

/// Most sums of a step.
const MOST_SUMS: usize = 8;

/// What a text of a scalar step may not have: it is statements of declarations, assignments and calls, whose operators are also those
/// of pairs.
const REFUSED: [&str; 9] = ["#", "/*", "+=", "-=", "*=", "/=", "++", "--", "\\"];
const REFUSED_WORDS: [&str; 7] = ["discard", "return", "for", "while", "do", "const", "switch"];

/// The text of a step with so many sums of somebody else's recipe, without its comments.
fn checked(text: &str, sums: usize) -> Result<Cow<'_, str>> {
    let op = "Space::numbers";
    if sums > MOST_SUMS {
        let value = format!("{sums} different ones");
        return Err(Error::Parameter { op, name: "dots", value, expected: "eight at most" });
    }
    let mut text: Cow<'_, str> = text.into();
    if text.contains("//") {
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or(""));
        text = lines.flat_map(|line| [line, "\n"]).collect::<String>().into();
    }
    let words = words(&text);
    let sign = REFUSED.iter().find(|sign| text.contains(**sign));
    let word = || REFUSED_WORDS.iter().find(|refused| words.iter().any(|(word, _)| word == *refused));
    let Some(found) = sign.or_else(word) else { return Ok(text) };
    Err(Error::Parameter {
        op,
        name: "text",
        value: format!("one with `{found}`: {text}"),
        expected: "statements without loops, returns and operators that assign besides `=`: a = a + b;",
    })
}

impl Store {
    /// The same for a recipe of somebody else's, whose steps are looked at.
    pub(in crate::solve) fn checking(self) -> Self {
        Store { text_of: Some(checked), ..self }
    }
}

/// The signature of a kernel with these outputs, and the end of its body.
fn signature(outputs: &[Output<'_>]) -> (String, String) {
    if let [Output { name, assigned, .. }] = outputs {
        return ("vec4 kernel(ivec2 p)".to_owned(), format!("vec4 {name}; {assigned} return {name};"));
    }
    let names: String = outputs.iter().map(|output| format!(", out vec4 {}", output.name)).collect();
    let writes: Vec<&str> = outputs.iter().map(|output| output.assigned.as_str()).collect();
    (format!("void kernel(ivec2 p{names})"), writes.join(" "))
}

/// A scalar step as it is put together.
struct Step<'t> {
    names: Vec<&'static str>,
    sums: Vec<Dot>,
    /// Which of the sums each name is.
    places: Vec<usize>,
    /// Groups whose numbers it knows, and whether it assigns any of them.
    groups: Vec<(usize, bool)>,
    text: &'t str,
    words: Vec<(&'t str, bool)>,
    /// The first of an iteration.
    begins: bool,
    /// Finds what the threshold is relative to.
    finds_unit: bool,
}

impl Step<'_> {
    fn assigns(&self, name: &str) -> bool {
        self.words.contains(&(name, true))
    }
}

/// What a step writes: the output's name, the statement that assigns it, and the texel.
struct Output<'v> {
    name: String,
    assigned: String,
    view: View<'v>,
}

impl Space<'_, '_> {
    /// Up to eight inner products, four in a reduction or two pairs, and the scalar step that `text` says: GLSL statements that
    /// assign numbers.
    ///
    /// What they know: the sums by their names, all numbers of the recipe, `done` iterations; `breaks(condition, FLAG, value)`,
    /// `counts()`, `meets(r.r)` and `will_meet(r.r)` of `glsl/solve/step.frag`. A sum or number out of the range of floats ends the
    /// run. *Errors*: those of drawing.
    pub fn numbers<const N: usize>(&mut self, dots: [(&'static str, Dot); N], text: &str) -> Result<()> {
        self.numbers_besides(&dots, text, Besides::default())
    }

    /// The same with something besides.
    pub(in crate::solve) fn numbers_besides(
        &mut self,
        dots: &[(&'static str, Dot)],
        text: &str,
        besides: Besides<'_>,
    ) -> Result<()> {
        let traced: Vec<(&'static str, Dot)> =
            dots.iter().map(|(name, dot)| Ok((*name, self.traced(*dot)?))).collect::<Result<_>>()?;
        let (sums, places) = distinct(&traced);
        let room = self.sums_at_once();
        let mut partials = Vec::new();
        for chunk in sums.chunks(room) {
            partials.push(self.sums(chunk)?);
        }
        let begins = std::mem::take(&mut self.own.begins);
        if begins {
            self.own.groups.iter_mut().for_each(|group| group.written = false);
        }
        let text = match self.own.text_of {
            Some(text_of) => text_of(text, sums.len())?,
            None => text.into(),
        };
        let (text, words) = (&*text, words(&text));
        let tests = |(word, _): &(&str, bool)| *word == "meets" || *word == "will_meet";
        let finds_unit = self.own.finds_unit && words.iter().any(tests);
        let names = dots.iter().map(|(name, _)| *name).collect();
        let groups = self.groups_in(&words);
        let step = Step { names, sums, places, groups, text, words, begins, finds_unit };
        if self.own.counted.is_some() {
            self.count_step(&step);
            return Ok(());
        }
        self.draw_step(&step, &partials.into_iter().flatten().collect::<Vec<_>>(), besides)?;
        self.own.report.swap();
        if finds_unit {
            self.own.bounds.swap();
            self.own.finds_unit = false;
        }
        for (k, _) in step.groups.iter().filter(|(_, writes)| *writes) {
            if let Some(group) = self.own.groups.get_mut(*k) {
                group.texel.swap();
                group.written = true;
            }
        }
        Ok(())
    }

    /// Groups of which a text has a number, and whether it assigns any.
    fn groups_in(&self, words: &[(&str, bool)]) -> Vec<(usize, bool)> {
        let found = |(k, group): (usize, &Group)| {
            let own = words.iter().filter(|(word, _)| group.names.contains(word));
            own.map(|(_, assigned)| (k, *assigned)).reduce(|(k, any), (_, assigned)| (k, any || assigned))
        };
        self.own.groups.iter().enumerate().filter_map(found).collect()
    }

    fn count_step(&mut self, step: &Step<'_>) {
        let windows = step.sums.len().div_ceil(self.sums_at_once());
        let outputs = 1 + step.groups.iter().filter(|(_, writes)| *writes).count();
        let fetches = Fetches::default().with_adjacent((windows * 64) as f64);
        let work = Workload::pass(Extent::new(1, 1), outputs, fetches);
        self.own.counted = self.own.counted.map(|counted| counted + work);
    }

    /// Draws a step: as many times as it takes to write all outputs.
    fn draw_step(&self, step: &Step<'_>, partials: &[Partial], besides: Besides<'_>) -> Result<()> {
        let (wide, device) = (self.own.wide, self.device());
        let text = match wide {
            true => translated(step.text),
            false => step.text.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        let (sums, numbers, checks) = (self.sums_text(step), self.numbers_text(step), self.checks_text(step));
        let outputs = self.outputs(step, !besides.frozen.is_empty());
        let frozen = self.frozen_text(step, besides.frozen);
        let more: String = MORE
            .iter()
            .take(partials.len().saturating_sub(1))
            .map(|(name, extent)| format!("TOTAL_OF(total_of_{name}, {name}_at, {extent}) "))
            .collect();
        let most = (device.gl().caps.borrow().max_draw_buffers as usize).max(1);
        for outputs in outputs.chunks(most) {
            let (head, writes) = signature(outputs);
            let mut draw = Draw::new(&device, glsl!("solve/step.frag"))
                .define("WIDE", wide)
                .define("BEGINS", step.begins)
                .define("FINDS_UNIT", step.finds_unit)
                .written(&[
                    ("HEAD", &head),
                    ("MORE", &more),
                    ("SUMS", &sums),
                    ("NUMBERS", &numbers),
                    ("STATEMENTS", &text),
                    ("CHECKS", &checks),
                    ("FROZEN", &frozen),
                    ("WRITES", &writes),
                ]);
            draw = match partials.first() {
                Some(partial) => partial.left_to(draw),
                None => draw.define("NO_SUMS", ()),
            };
            for (partial, names) in partials.iter().skip(1).zip(MORE) {
                draw = partial.left_as(draw, names);
            }
            draw = draw.input("last", self.own.report.front().view());
            draw = draw.input("bounds", self.own.bounds.front().view());
            for (k, _) in &step.groups {
                let Some(group) = self.own.groups.get(*k) else { continue };
                draw = draw.input(("n", *k), group.texel.front().view());
            }
            draw = besides.inputs.iter().fold(draw, |draw, (name, view)| draw.input(*name, *view));
            draw = besides.ints.iter().fold(draw, |draw, (name, value)| draw.param(name, *value));
            let drawn = draw.targets(outputs.iter().map(|output| output.view)).run();
            drawn.map_err(|error| self.with_statements(error, step))?;
        }
        Ok(())
    }

    /// An error of the compiler's with the statements as the recipe has them, where they are somebody else's.
    fn with_statements(&self, error: Error, step: &Step<'_>) -> Error {
        match error {
            Error::Shader { kernel, stage, log } if self.own.text_of.is_some() => {
                Error::Shader { kernel: format!("{kernel}, with `{}`", step.text.trim()), stage, log }
            }
            error => error,
        }
    }

    fn number_type(&self) -> &'static str {
        if self.own.wide { "vec2" } else { "float" }
    }

    /// The sums by their names.
    fn sums_text(&self, step: &Step<'_>) -> String {
        let mut text = String::new();
        let (room, kind) = (self.sums_at_once(), self.number_type());
        let totals = ["dots"].into_iter().chain(MORE.map(|(name, _)| name));
        for (k, name) in totals.take(step.sums.len().div_ceil(room)).enumerate() {
            let _ = write!(text, "vec4 texla_total{k} = total_of_{name}(); ");
        }
        for (name, place) in step.names.iter().zip(&step.places) {
            let channel = channels(place % room, self.own.wide);
            let _ = write!(text, "{kind} {name} = texla_total{}.{channel}; ", place / room);
        }
        text
    }

    /// The numbers by theirs.
    fn numbers_text(&self, step: &Step<'_>) -> String {
        let (mut text, kind) = (String::new(), self.number_type());
        for (k, names) in self.named(step) {
            let _ = write!(text, "vec4 n{k}_was = n{k}_at(ivec2(0)); ");
            for (place, name) in names.iter().enumerate() {
                let _ = write!(text, "{kind} {name} = n{k}_was.{}; ", channels(place, self.own.wide));
            }
        }
        text
    }

    /// Tests that nothing has left the range of floats: sums, and what is assigned.
    fn checks_text(&self, step: &Step<'_>) -> String {
        let numbers = self.named(step).flat_map(|(_, names)| names);
        let assigned = numbers.filter(|name| step.assigns(name));
        let check = |name: &&str| format!("if (!within({name})) ends(OUT_OF_RANGE, leading({name})); ");
        step.names.iter().chain(assigned).map(check).collect()
    }

    /// What is done in place of all that where nothing moves any more: to numbers as they were.
    fn frozen_text(&self, step: &Step<'_>, frozen: &str) -> String {
        let mut text = String::new();
        if !frozen.is_empty() {
            for (k, names) in self.named(step) {
                for (place, name) in names.iter().enumerate() {
                    let _ = write!(text, "{name} = n{k}_was.{}; ", channels(place, self.own.wide));
                }
            }
        }
        text + frozen
    }

    /// The groups of a step, with the names of their numbers.
    fn named<'s>(&'s self, step: &'s Step<'_>) -> impl Iterator<Item = (usize, &'s [&'static str])> {
        step.groups.iter().filter_map(|(k, _)| Some((*k, self.own.groups.get(*k)?.names.as_slice())))
    }

    /// The report, the groups that are assigned, and the bounds where they are found.
    fn outputs(&self, step: &Step<'_>, counts_frozen: bool) -> Vec<Output<'_>> {
        let output = |name: &str, value: String, view| Output {
            name: name.to_owned(),
            assigned: format!("{name} = {value};"),
            view,
        };
        let mut outputs = vec![output("next_report", "report".to_owned(), self.own.report.back().view())];
        for (k, _) in step.groups.iter().filter(|(_, writes)| *writes) {
            let Some(group) = self.own.groups.get(*k) else { continue };
            let parts = group.names.join(", ");
            let taken = group.names.len() * if self.own.wide { 2 } else { 1 };
            let rest = match (4 - taken.min(4), group.gates) {
                (0, _) => String::new(),
                (rest, gates) => ", 0.0".repeat(rest - 1) + if gates { ", 1.0" } else { ", 0.0" },
            };
            let value = match (group.gates, counts_frozen) {
                (true, _) => format!("moves ? vec4({parts}{rest}) : vec4(n{k}_was.xyz, 0.0)"),
                (false, false) => format!("moves ? vec4({parts}{rest}) : n{k}_was"),
                (false, true) => format!("vec4({parts}{rest})"),
            };
            outputs.push(output(&format!("n{k}_next"), value, group.texel.back().view()));
        }
        if step.finds_unit {
            let value = "vec4(threshold, ceiling, limit, 0.0)".to_owned();
            outputs.push(output("next_bounds", value, self.own.bounds.back().view()));
        }
        outputs
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
    use super::words;

    #[test]
    fn words_are_told_with_whether_they_are_assigned() {
        assert_eq!(words("alpha = rz / pq;"), [("alpha", true), ("rz", false), ("pq", false)]);
        assert_eq!(
            words("if (a == 0.0) b2=x.a;"),
            [("if", false), ("a", false), ("0", false), ("b2", true), ("x", false)]
        );
        assert_eq!(words(" ; a.x = 1"), [("a", true), ("1", false)]);
        assert_eq!(words("a="), [("a", true)]);
        assert_eq!(words(""), []);
    }
}
