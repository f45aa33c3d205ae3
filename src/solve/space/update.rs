//! Vector updates: one pass for as many registers as the device has draw buffers.

use std::fmt::Write as _;

use super::expr::{Base, Term};
use super::places::{Meaning, Owed};
use super::reads::Reads;
use super::step::channels;
use super::{Number, Register, Space, Update};
use crate::data::exponent;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand as _};
use crate::profile::{Fetches, Workload};
use crate::shape::Extent;
use crate::solve::drive::dots::InlinedProduct;
use crate::solve::drive::scales::power;

/// The text of one pass of vector updates, and what it reads and writes.
#[derive(Default)]
struct Written {
    reads: Reads,
    groups: Vec<usize>,
    /// Of registers that are anything once iterates are frozen, and of those that stay.
    made: String,
    moved: String,
    targets: Vec<Register>,
    /// Iterates are frozen where the report says so: no coefficient of this iteration does.
    by_report: bool,
    /// Under which condition registers move.
    moves: String,
    /// What the update before has left.
    owed: String,
}

impl Written {
    fn factor(&mut self, Number { group, place }: Number, wide: bool) -> String {
        if !self.groups.contains(&group) {
            self.groups.push(group);
        }
        format!("g{group}.{}", channels(place, wide))
    }
}

impl<'a> Space<'_, 'a> {
    /// Linear combinations of registers, one after another: what an update makes of a register the next ones read. All of them are
    /// one pass, or as few as the draw buffers of the device allow. What goes on from what it was stays that once the iterates are
    /// frozen; and so do the iterate and its residual.
    ///
    /// *Errors*: those of drawing.
    pub fn update<const N: usize>(&mut self, updates: [Update; N]) -> Result<()> {
        self.updated(updates.into())
    }

    fn updated(&mut self, updates: Vec<Update>) -> Result<()> {
        let mut owed = self.own.owed;
        let mut pays = false;
        let mut kept = Vec::with_capacity(updates.len());
        let mut assigned = Vec::with_capacity(updates.len());
        for mut update in updates {
            let of_x = update.target == Self::X;
            // What goes on from what it was, or from what an update before has made.
            update.stays = of_x || update.target == Self::R || update.reads(update.target);
            update.stays |= assigned.iter().any(|register| update.reads(*register));
            assigned.push(update.target);
            if self.own.last && !of_x {
                continue;
            }
            if of_x {
                if owed.is_none()
                    && let Some(later) = self.may_wait(&update)?
                {
                    owed = Some(later);
                    continue;
                }
                pays = self.own.owed.is_some();
            }
            kept.push(update);
        }
        if let [first] = kept.as_slice()
            && first.terms.is_empty()
            && let Base::Of(operand) = first.base
            && first.target != Self::X
            && first.target != Self::R
            && operand.register != first.target
        {
            return self.stands_for(first.target, operand);
        }
        let debt = if pays { self.own.owed } else { None };
        let mut rest = kept.as_slice();
        while !rest.is_empty() {
            let count = self.at_once(rest, debt.is_some())?;
            let (now, later) = rest.split_at(count);
            self.pass(now, debt.filter(|_| now.iter().any(|update| update.target == Self::X)))?;
            rest = later;
        }
        self.own.owed = if pays { None } else { owed };
        Ok(())
    }

    /// How many of these updates one pass has draw buffers and texture units for.
    fn at_once(&self, updates: &[Update], pays: bool) -> Result<usize> {
        let parts = if self.own.wide { 2 } else { 1 };
        let (buffers, units) = {
            let device = self.device();
            let caps = device.gl().caps.borrow();
            (caps.max_draw_buffers as usize, caps.texture_units as usize)
        };
        // Of one extent, first of all.
        let extent = |update: &Update| self.extent_of(update.target);
        let first = updates.first().map(extent).transpose()?;
        let mut count = 0;
        while updates.get(count).map(extent).transpose()?.is_some_and(|own| Some(own) == first) {
            count += 1;
        }
        while count > 1 {
            let written = self.worded(updates.get(..count).unwrap_or(updates))?;
            let inputs =
                Self::others(&written, written.reads.count(self)?, pays) + if pays { parts - 1 } else { 0 };
            // Operators that are read with the updates have been asked whether there is room.
            if parts * written.targets.len() <= buffers
                && (inputs <= units || written.reads.product.is_some())
            {
                break;
            }
            count -= 1;
        }
        Ok(count.max(1))
    }

    /// Textures that a pass reads besides an operator and its factor: registers, coefficients or the report, and for an update
    /// of before its direction and coefficient.
    fn others(written: &Written, registers: usize, pays: bool) -> usize {
        registers + written.groups.len() + usize::from(written.by_report) + if pays { 2 } else { 0 }
    }

    /// A register that is another one for once: without a pass, where its own vector is not needed by an update that waits.
    fn stands_for(&mut self, target: Register, operand: super::Operand) -> Result<()> {
        let weighted = operand.weighted && !self.m.is_identity();
        let alias = self.own.place_of(operand.register)?.meaning != Meaning::Own;
        if weighted || alias || self.own.wide || self.own.options.defers {
            return self.update_as(target, operand);
        }
        let version = self.own.place_of(operand.register)?.version;
        self.own.changed(target)?;
        self.own.place_mut(target)?.meaning = Meaning::Borrows(operand.register, version);
        Ok(())
    }

    /// `target = operand`, written.
    pub(super) fn update_as(&mut self, target: Register, operand: super::Operand) -> Result<()> {
        self.pass(&[Update::new(target, Base::Of(operand))], None)
    }

    /// Whether an update of the iterate may be left to the next iteration: along one direction that has a vector of its own.
    fn may_wait(&self, update: &Update) -> Result<Option<Owed>> {
        let [Term { minus: false, factor: Some(factor), operand }] = update.terms.as_slice() else {
            return Ok(None);
        };
        let own = self.own.place_of(operand.register)?.meaning == Meaning::Own;
        let gates = self.own.groups.get(factor.group).is_some_and(|group| group.gates);
        let can = self.own.options.defers && !self.own.last && own && gates && !operand.weighted;
        Ok(can.then_some(Owed { factor: *factor, along: operand.register, settles: false }))
    }

    /// Moves the iterate along the direction of before, where that is left to the next iteration and there is none.
    pub(super) fn pay(&mut self) -> Result<()> {
        let Some(owed) = self.own.owed.take() else { return Ok(()) };
        let unmoved = Update { stays: true, ..Update::new(Self::X, Base::Itself) };
        self.pass(&[unmoved], Some(Owed { settles: true, ..owed }))
    }

    /// By what an update of the unknown is multiplied to be one of the iterate: a power of two, of pairs two powers whose product may
    /// be no float.
    fn with_scale<'d>(&self, draw: Draw<'d>) -> Draw<'d> {
        if !self.own.wide {
            return draw.param("x_scale", self.at.x_scale() / self.own.lift);
        }
        let e = exponent(f64::from(self.matrix_scale())) - exponent(f64::from(self.at.scale));
        draw.param("x_scale", [e - e / 2, e / 2].map(power))
    }

    fn worded(&self, updates: &[Update]) -> Result<Written> {
        let wide = self.own.wide;
        let mut written = Written::default();
        let mut assigned: Vec<Register> = Vec::new();
        for update in updates {
            let target = written.reads.variable(update.target);
            // What it was may be read until all of it is known.
            let base = match update.base {
                Base::Itself => target.clone(),
                Base::Nothing => "NOTHING".to_owned(),
                Base::Of(operand) => self.operand(&mut written.reads, operand, &assigned)?,
            };
            let mut text = format!("{{ Texel next = {base}; ");
            for Term { minus, factor, operand } in &update.terms {
                let mut by = factor.map_or("number(1.0)".to_owned(), |factor| written.factor(factor, wide));
                if *minus {
                    by = format!("negative({by})");
                }
                let along = self.operand(&mut written.reads, *operand, &assigned)?;
                let _ = match update.target == Self::X {
                    // Where there may be anything, nothing times that is nothing.
                    false if update.base == Base::Nothing => {
                        write!(text, "if (leading({by}) != 0.0) next = moved(next, {by}, {along}); ")
                    }
                    true => write!(text, "next = moved_by(next, x_scale, {by}, {along}); "),
                    false => write!(text, "next = moved(next, {by}, {along}); "),
                };
            }
            let _ = write!(text, "{target} = next; }} ");
            if update.stays { &mut written.moved } else { &mut written.made }.push_str(&text);
            assigned.push(update.target);
            if !written.targets.contains(&update.target) {
                written.targets.push(update.target);
            }
        }
        written.reads.unread = self.unread(updates);
        self.gated(&mut written, updates);
        Ok(written)
    }

    /// An operand of an update: what an earlier one has assigned is its new value.
    fn operand(&self, reads: &mut Reads, operand: super::Operand, assigned: &[Register]) -> Result<String> {
        if !assigned.contains(&operand.register) {
            return reads.of(self, operand);
        }
        let name = reads.variable(operand.register);
        if operand.weighted && !self.m.is_identity() {
            reads.weighted = true;
            return Ok(format!("weighted(t_m, {name})"));
        }
        Ok(name)
    }

    /// Iterates that are frozen stay: coefficients of this iteration tell, or the report.
    fn gated(&self, written: &mut Written, updates: &[Update]) {
        let fresh = |k: &&usize| self.own.groups.get(**k).is_some_and(|group| group.written && group.gates);
        let gates: Vec<String> =
            written.groups.iter().filter(fresh).map(|k| format!("g{k}.w != 0.0")).collect();
        let always = updates.iter().all(|update| update.always);
        written.by_report = gates.is_empty() && !written.moved.is_empty() && !always;
        written.moves = match (written.by_report, gates.is_empty()) {
            (true, _) => "frozen.x <= 0.0".to_owned(),
            (_, true) => "true".to_owned(),
            _ => gates.join(" && "),
        };
    }

    fn pass(&mut self, updates: &[Update], debt: Option<Owed>) -> Result<()> {
        let mut written = self.worded(updates)?;
        if self.own.counted.is_some() {
            return self.count_update(&written, debt.is_some());
        }
        let turned = debt.map(|owed| owed.along).filter(|along| written.targets.contains(along));
        for target in written.targets.clone() {
            self.with_back(target)?;
        }
        if let Some(along) = turned {
            // What the debt is along lies where the next direction would.
            let room = match self.own.place_mut(along)?.spare.take() {
                Some(room) => room,
                None => self.stored(along)?,
            };
            let place = self.own.place_mut(along)?;
            place.spare = place.back.replace(room);
        }
        if let Some(Owed { factor, .. }) = debt {
            let (k, by) = (written.reads.variable(Self::X), channels(factor.place, self.own.wide));
            let before =
                if self.own.wide { "Pair4(before_here(), before_low_here())" } else { "before_here()" };
            let moved = format!("{k} = moved_by({k}, x_scale, then.{by}, {before});");
            written.owed = format!("vec4 then = then_at(ivec2(0)); if (then.w != 0.0) {moved}");
        }
        self.draw_update(&written, debt)?;
        written.targets.into_iter().try_for_each(|target| self.written(target))
    }

    /// Registers that are assigned before they are read, and need not be what they were.
    fn unread(&self, updates: &[Update]) -> Vec<Register> {
        let unread = |(k, update): (usize, &Update)| {
            let held = self.own.counted.is_some() || self.source(update.target).is_ok();
            let read = update.stays || updates.iter().take(k + 1).any(|u| u.reads(update.target));
            (!held || !read).then_some(update.target)
        };
        updates.iter().enumerate().filter_map(unread).collect()
    }

    /// The signature of the kernel, and the end of its body.
    fn signature(&self, written: &Written) -> (String, String) {
        let (mut head, mut writes) = (String::new(), String::new());
        for register in &written.targets {
            let k = written.reads.roots.iter().position(|r| r == register).unwrap_or(0);
            if self.own.wide {
                let _ = write!(head, ", out vec4 o{k}, out vec4 o{k}_low");
                let _ = write!(writes, "o{k} = t{k}.high; o{k}_low = t{k}.low; ");
            } else if written.targets.len() == 1 {
                return ("vec4 kernel(ivec2 p)".to_owned(), format!("return t{k}; "));
            } else {
                let _ = write!(head, ", out vec4 o{k}");
                let _ = write!(writes, "o{k} = t{k}; ");
            }
        }
        (format!("void kernel(ivec2 p{head})"), writes)
    }

    fn draw_update(&self, written: &Written, debt: Option<Owed>) -> Result<()> {
        let device = &self.device();
        let (head, writes) = self.signature(written);
        let mut groups: String =
            written.groups.iter().map(|k| format!("vec4 g{k} = g{k}_at(ivec2(0)); ")).collect();
        if written.by_report {
            groups.push_str("vec4 frozen = frozen_at(ivec2(0)); ");
        }
        let product = if written.reads.product.is_some() { "Texel t_q = product(p); " } else { "" };
        let loads = written.reads.loads(self, "here()", ["", ""])? + &written.made;
        let inputs = written.reads.inputs(self)?;
        let factor = written.reads.factor(self)?;
        let mut draw = Draw::new(device, glsl!("solve/update.frag")).define("WIDE", self.own.wide);
        if let Some(register) = factor {
            let (a, alpha, d) = (self.at.a, self.matrix_scale(), self.source(register)?.high);
            let others = Self::others(written, inputs.len(), debt.is_some());
            draw = InlinedProduct { a, alpha, d }.in_draw(draw, others)?;
        }
        draw = draw.written(&[
            ("HEAD", &head),
            ("GROUPS", &groups),
            ("LOADS", &loads),
            ("OWED", &written.owed),
            ("MOVES", &written.moves),
            ("STATEMENTS", &[product, &written.moved].concat()),
            ("WRITES", &writes),
        ]);
        draw = inputs.iter().fold(draw, |draw, (name, view)| draw.input(*name, *view));
        for k in &written.groups {
            let Some(group) = self.own.groups.get(*k) else { continue };
            draw = draw.input(("g", *k), group.texel.front().view());
        }
        if written.by_report {
            draw = draw.input("frozen", self.own.report.front().view());
        }
        if let Some(Owed { factor, along, settles }) = debt {
            let group = self.own.groups.get(factor.group);
            let place = self.own.place_of(along)?;
            let before =
                place.spare.as_ref().filter(|_| written.targets.contains(&along)).or(place.back.as_ref());
            let (Some(group), Some(before)) = (group, before) else {
                return Err(Error::Internal { place: "Space", detail: "no direction of before" });
            };
            draw = draw
                .input("before", before.high.view())
                .input_if("before_low", before.low.as_ref().map(|v| v.view()))
                .input("then", if settles { group.texel.front() } else { group.texel.back() }.view());
        }
        if written.targets.contains(&Self::X) {
            draw = self.with_scale(draw);
        }
        draw = draw.masked(factor.is_some());
        for register in &written.targets {
            let (high, low) = self.target(*register)?;
            draw = draw.target(high.view()).targets(low.map(|v| v.view()));
        }
        draw.run()
    }

    fn count_update(&mut self, written: &Written, pays: bool) -> Result<()> {
        let parts = if self.own.wide { 2 } else { 1 };
        let extent = written.targets.first().map_or(Ok(Extent::new(1, 1)), |first| self.extent_of(*first))?;
        let texels = extent.area() as f64;
        let factor = written.reads.factor(self)?;
        let inputs =
            written.reads.count(self)? + usize::from(factor.is_some()) + if pays { parts } else { 0 };
        let groups = written.groups.len() + usize::from(pays);
        let targets = written.targets.len() * parts;
        let mut fetches = Fetches::default().with_own(inputs as f64 * texels);
        fetches = fetches.with_adjacent(groups as f64 * texels);
        let mut work =
            Workload::pass(extent, targets, fetches).with_multiply_adds(4.0 * targets as f64 * texels);
        if factor.is_some()
            && let Some(product) = self.at.a.workload()
        {
            let inlined = Workload::default().fetching(extent, product.fetches);
            work = work.cut(true) + inlined.with_multiply_adds(product.multiply_adds);
        }
        self.own.counted = self.own.counted.map(|counted| counted + work);
        for target in written.targets.clone() {
            self.own.changed(target)?;
        }
        Ok(())
    }
}
