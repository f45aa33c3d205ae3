//! All forms of the solve on one problem.

use texla::Device;

use crate::cpu;
use crate::problem::Problem;
use crate::solver::{self, Answer, BOUND};
use crate::support::clock::{self, Rounds};
use crate::support::{Result, Table, json, worst};

/// One form's way with one problem.
pub struct Form {
    pub name: &'static str,
    pub milliseconds: f64,
    pub sweeps: Option<usize>,
    /// The relative natural residual of the worst group, in 64 bits.
    pub residual: f64,
}

/// The places of the paper's forms in the list: one dense problem, and taken apart.
pub const PAPERS_DENSE: usize = 0;
const PAPERS_GROUPS: usize = 1;

/// What [Moravanszky03] 5 says of Figure 4, with 2 n sweeps: unknowns at the start, and milliseconds a frame as one dense
/// problem. Taken apart, "real-time performance is achieved".
const PAPERS_UNKNOWNS: usize = 400;
const PAPERS_MILLISECONDS: f64 = 2000.0;

/// Solves the problem in all forms but the one that is already at hand.
pub fn forms(device: &Device, problem: &Problem, groups: &[Vec<usize>], own: &Answer) -> Result<Vec<Form>> {
    let of = |name, answer: &Answer| Form {
        name,
        milliseconds: answer.milliseconds,
        sweeps: Some(answer.sweeps),
        residual: cpu::residual(problem, groups, &answer.x),
    };
    let (x, milliseconds) = cpu::gauss_seidel(problem, groups, BOUND);
    let x: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let residual = cpu::residual(problem, groups, &x);
    Ok(vec![
        of("omega 0.1, 2n sweeps, one dense problem", &solver::papers_dense(device, problem)?),
        of("omega 0.1, 2n sweeps, groups", &solver::papers_groups(device, problem)?),
        of("to a residual, one dense problem", &solver::dense(device, problem)?),
        of("to a residual, groups", own),
        Form { name: "CPU in 64 bits, Gauss-Seidel, groups", milliseconds, sweeps: None, residual },
    ])
}

/// A table of what the forms have taken over all frames that were compared, and the same for the report.
pub fn summary(compared: &[Vec<Form>]) -> (Table, serde_json::Value) {
    let mut table =
        Table::new(["form", "ms, median", "ms, most", "sweeps, most", "residual, median", "residual, worst"]);
    let mut rows = Vec::new();
    let names: Vec<&str> =
        compared.first().map_or(Vec::new(), |forms| forms.iter().map(|f| f.name).collect());
    for (k, name) in names.into_iter().enumerate() {
        let all = || compared.iter().filter_map(|forms| forms.get(k));
        let times: Rounds = all().map(|form| form.milliseconds).collect();
        let sweeps = all().filter_map(|form| form.sweeps).max();
        let residual = clock::median(all().map(|form| form.residual));
        let largest = all().map(|form| form.residual).fold(0.0, worst);
        table.row([
            name.to_owned(),
            format!("{:.1}", times.median()),
            format!("{:.1}", times.most()),
            sweeps.map_or("-".to_owned(), |sweeps| sweeps.to_string()),
            format!("{residual:.1e}"),
            format!("{largest:.1e}"),
        ]);
        let row = json!({
            "form": name, "sweeps_most": sweeps, "residual_median": residual, "residual_worst": largest,
        });
        rows.push(times.in_row(row, "ms"));
    }
    (table, json!(rows))
}

/// Figure 4's statement, measured by the paper's two forms on the first problem, which is the largest that stands still,
/// and over all that were compared: in a line, and for the report.
pub fn statement(compared: &[Vec<Form>]) -> Option<(String, serde_json::Value)> {
    let first = compared.first()?;
    let (dense, groups) = (first.get(PAPERS_DENSE)?, first.get(PAPERS_GROUPS)?);
    let median =
        |form: usize| clock::median(compared.iter().filter_map(|f| f.get(form)).map(|f| f.milliseconds));
    let medians = [PAPERS_DENSE, PAPERS_GROUPS].map(median);
    // 2 n sweeps.
    let unknowns = dense.sweeps? / 2;
    let line = format!(
        "Figure 4, 2 n sweeps: n = {unknowns} at the start, {:.1} ms a frame as one dense problem, {:.1} ms taken apart; \
         medians {:.1} and {:.1} ms (the paper, 2003: n = {PAPERS_UNKNOWNS}, {PAPERS_MILLISECONDS:.0} ms, real time)",
        dense.milliseconds, groups.milliseconds, medians[0], medians[1]
    );
    // Beside a problem of another size they would say nothing.
    let papers = (unknowns == PAPERS_UNKNOWNS).then(
        || json!({ "unknowns": PAPERS_UNKNOWNS, "dense_ms": PAPERS_MILLISECONDS, "groups": "real time" }),
    );
    let value = json!({
        "unknowns": unknowns, "dense_ms": dense.milliseconds, "groups_ms": groups.milliseconds,
        "dense_ms_median": medians[0], "groups_ms_median": medians[1],
        "paper": papers,
    });
    Some((line, value))
}
