//! What the generated programs say of themselves: instructions, from their text alone.

use texla::pack::{LowerOptions, Order, Packing, Program, RepeatedExpression};

use crate::support::{Report, Result, Table, json, say};

#[path = "../packing_table2/count.rs"]
mod count;

/// Instructions of an order, and what they are for.
pub struct Counts {
    /// S*, by itself.
    block: usize,
    /// For the neighbours beyond its corners.
    corners: usize,
    /// Both T*.
    links: usize,
    /// Of the block row's own program, in one text for each quad.
    pub all: usize,
    /// Multiplications that its lanes do.
    multiplications: usize,
    /// TEX, which the paper counts apart.
    pub fetches: u32,
}

impl Counts {
    pub fn new(row: &RepeatedExpression, order: &Order) -> Result<Self> {
        let text = |e: &RepeatedExpression| -> Result<usize> {
            let parts = e.fragment_parts(order, true)?;
            Ok(parts.iter().map(|part| count::computing(&part.body)).sum())
        };
        let alone = Program::lower(row.block(), &Packing::symmetric(order.clone()), LowerOptions::FRAGMENT)?;
        let parts = alone.fragment_parts(1)?;
        let block = parts.iter().map(|part| count::computing(&part.body)).sum();
        // The block row without its corners: links to the blocks above and below alone.
        let sides = [[texla::pack::StencilBoundary::Dropped; 2]; 2];
        let mut straight = RepeatedExpression::new(row.block().clone(), row.blocks(), sides)?;
        for (offset, entries) in row.links().filter(|(offset, _)| offset[0] == 0) {
            straight = straight.link(offset, &entries.diagonal())?;
        }
        let (straight, all) = (text(&straight)?, text(row)?);
        let program = row.lower(order, true)?;
        Ok(Counts {
            block,
            corners: all - straight,
            links: straight - block,
            all,
            multiplications: program.products().map(|product| product.entries.len()).sum(),
            fetches: program.counts().tex,
        })
    }

    /// Share of the multiplications that four lanes could do.
    pub fn efficiency(&self) -> f64 {
        self.multiplications as f64 / (4 * self.all) as f64
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "block": self.block, "corners": self.corners, "links": self.links, "instructions": self.all,
            "multiplications": self.multiplications, "efficiency": self.efficiency(), "fetches": self.fetches,
        })
    }
}

/// Before and after, beside the paper's.
pub fn check(report: &mut Report, [before, after]: [&Counts; 2]) {
    let mut equal = |what: &str, wanted: usize, value: usize| {
        report.check(what, wanted as f64, value as f64, wanted == value);
    };
    for (name, counts, [block, all]) in [("before", before, [38, 56]), ("after", after, [24, 42])] {
        equal(&format!("instructions of S*, {name}"), block, counts.block);
        equal(&format!("instructions for its corners, {name}"), 2, counts.corners);
        equal(&format!("instructions of both T*, {name}"), 16, counts.links);
        equal(&format!("instructions for a block of 32, {name}"), all, counts.all);
        // 3 x 32 - 2 in S*, 2 corners, 2 x 32.
        equal(&format!("multiplications for a block of 32, {name}"), 160, counts.multiplications);
    }
    report.set("counts", json!({ "before": before.json(), "after": after.json() }));
}

pub fn print([before, after]: [&Counts; 2]) {
    let mut table =
        Table::new(["section 4.2", "S*", "corners", "both T*", "all", "lanes used", "TEX beside"]);
    for (name, c) in [("before", before), ("after", after)] {
        let numbers = [c.block, c.corners, c.links, c.all].map(|n| n.to_string());
        let efficiency = format!("{:.1} %", 100.0 * c.efficiency());
        table.row([name.to_owned()].into_iter().chain(numbers).chain([efficiency, c.fetches.to_string()]));
    }
    table.print();
    say(
        "Instructions in the texts of the eight kernels for a block of 32; the paper: 38 + 2 + 16 = 56, 24 + 2 + 16 = 42.\n",
    );
}
