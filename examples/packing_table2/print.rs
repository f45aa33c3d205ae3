//! The tables on standard output.

use crate::search::Row;
use crate::support::{Table, say};
use crate::vertex::{EVALUATIONS, PAPERS_MS, Timed};

fn or_dash(value: Option<impl ToString>) -> String {
    value.map_or("-".to_owned(), |value| value.to_string())
}

/// Table 2 (a) to (d), with bounds.
pub fn costs(rows: &[Row]) {
    let mut table = Table::new([
        "Table 2",
        "scalar (a)",
        "before (b)",
        "paper's after (c)",
        "after",
        "at least",
        "proven by",
        "efficiency (d)",
        "paper's",
    ]);
    for row in rows {
        let [before, after] = row.costs();
        let papers = |scalar: u32| format!("{:.1}", f64::from(scalar) / f64::from(row.paper.costs[1]));
        table.row([
            row.paper.title.to_owned(),
            row.scalar().to_string(),
            before.to_string(),
            row.paper.costs[1].to_string(),
            after.to_string(),
            row.least().to_string(),
            row.proof(),
            format!("{:.1}", row.efficiency()),
            or_dash(row.paper.scalar.map(papers)),
        ]);
    }
    table.print();
    say("Costs are four-wide instructions; before: in the order given, the paper's too. The last three are");
    say(
        "blocks of section 4, whose costs are in the text of the paper. Four stages make a step of the Runge-Kutta method.\n",
    );
}

/// Table 2 (e), what a scalar GPU would fetch, and the search.
pub fn programs(rows: &[Row]) {
    let mut table = Table::new([
        "program",
        "instructions",
        "one constant each",
        "paper's (e)",
        "fetches before",
        "after",
        "found by",
        "found, ms",
        "searched, s",
        "proven, s",
    ]);
    for row in rows {
        let [all, one_constant] = row.shader();
        let proven = row.proof.as_ref().map(|proof| format!("{:.1}", proof.elapsed.as_secs_f64()));
        table.row([
            row.paper.title.to_owned(),
            all.to_string(),
            one_constant.to_string(),
            or_dash(row.paper.shader),
            (row.paper.times * row.fetches[0]).to_string(),
            (row.paper.times * row.fetches[1]).to_string(),
            row.found.origin.to_string(),
            format!("{:.1}", 1e3 * row.found.found_after),
            format!("{:.1}", row.found.seconds),
            or_dash(proven),
        ]);
    }
    table.print();
    say(
        "One constant each: no instruction reads two constant registers, the rule of the paper's hardware, which is what",
    );
    say(
        "(e) counts; where its moves went the paper does not say in full. Runge-Kutta: with the sums of a whole step.\n",
    );
}

/// Section 3.5.
pub fn times(timed: &[Timed], rounds: usize) {
    let heading = format!("{EVALUATIONS} evaluations in the vertex stage");
    let mut table = Table::new([
        heading.as_str(),
        "before, ms",
        "after, ms",
        "before / after",
        "cost before / after",
        "empty program, ms",
    ]);
    for t in timed {
        let [before, after, empty] = t.seconds();
        table.row([
            t.title.to_owned(),
            format!("{:.3}", 1e3 * before),
            format!("{:.3}", 1e3 * after),
            format!("{:.2}", before / after),
            format!("{:.2}", t.costs[0] / t.costs[1]),
            format!("{:.3}", 1e3 * empty),
        ]);
    }
    let [before, after] = PAPERS_MS;
    table.row([
        "the paper's Gauss-Seidel, 2004".to_owned(),
        before.to_string(),
        after.to_string(),
        format!("{:.2}", before / after),
    ]);
    table.print();
    say(format_args!(
        "Medians of {rounds} rounds in turn, each evaluation from the last one's result. The empty program only"
    ));
    say("takes b over: what draws cost by themselves. The paper's device was a GeForce FX 5900.");
    if timed.iter().map(Timed::seconds).all(|[_, after, empty]| empty > 0.5 * after) {
        say("Here that is most of the time, and what packing saves hardly shows.");
    }
    say("");
}
