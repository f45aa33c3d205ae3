//! The search, the proof, and what is said of their result.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use texla::pack::{
    Cost, CostModel, Instructions, Origin, Packing, ProofLimits, ProofProgress, Prover, SearchLimits,
    SearchParams, Start, Verdict, optimize,
};

use super::Args;
use super::problem::Problem;
use super::support::{Progress, Report, Result, json, say};

/// Seconds for the search unless the user says otherwise, with --quick, and for the proof.
const SECONDS: [f64; 3] = [10.0, 2.0, 600.0];
/// Steps of the progress bar.
const STEPS: u64 = 1000;

/// What has been found and proven.
pub struct Outcome {
    pub packing: Packing,
    before: f64,
    cost: f64,
    lower_bound: f64,
    bound_by: String,
    /// What found the packing.
    start: String,
    proposals: u64,
    seconds: f64,
    reason: Option<String>,
}

/// The packing found, or given, by its cost on a model; no packing costs less than the bound.
pub fn run<M: CostModel>(
    model: &M,
    problem: &Problem,
    args: &Args,
    interrupt: &'static AtomicBool,
    (bound, bound_by): (M::Cost, String),
) -> Result<Outcome> {
    let e = &problem.expression;
    let identity = Packing::identity(e.unknowns());
    let before = model.cost(e, &identity)?;
    say(format_args!("before        {before}"));
    let mut outcome = Outcome {
        packing: problem.given.clone().unwrap_or(identity),
        before: before.value(),
        cost: before.value(),
        lower_bound: bound.value(),
        bound_by,
        start: if problem.given.is_some() { Origin::Given } else { Origin::Identity }.to_string(),
        proposals: 0,
        seconds: 0.0,
        reason: None,
    };
    if args.no_search {
        outcome.cost = model.cost(e, &outcome.packing)?.value();
        return Ok(outcome);
    }
    let seconds = args.seconds.unwrap_or(SECONDS[usize::from(args.common.quick)]);
    let bar = Progress::new("search", STEPS);
    let show = |p: &texla::pack::Progress<M::Cost>| {
        let share = match args.proposals {
            Some(all) => p.proposals as f64 / all as f64,
            None => p.elapsed.as_secs_f64() / seconds,
        };
        bar.set((STEPS as f64 * share.min(1.0)) as u64);
        bar.note(format_args!("best {}", p.best));
    };
    let limits = SearchLimits::default()
        .with_time(args.proposals.is_none().then(|| Duration::from_secs_f64(seconds)))
        .with_proposals(args.proposals)
        .with_interrupt(Some(interrupt))
        .with_progress(Some(&show));
    let params = SearchParams::default()
        .with_seed(args.seed)
        .with_threads(args.threads.unwrap_or(0))
        .with_independent(args.independent)
        .with_start(problem.given.clone().map_or(Start::Random, Start::Given))
        .with_lower_bound(Some(bound));
    let found = optimize(model, e, &params, &limits)?;
    bar.finish();
    Ok(Outcome {
        packing: found.packing,
        cost: found.cost.value(),
        start: found.origin.to_string(),
        proposals: found.proposals,
        seconds: found.seconds,
        reason: Some(format!("{:?}", found.reason).to_lowercase()),
        ..outcome
    })
}

/// Searches for anything cheaper until nothing is left, within the seconds allowed.
pub fn prove(
    outcome: &mut Outcome,
    problem: &Problem,
    args: &Args,
    interrupt: &'static AtomicBool,
    report: &mut Report,
) -> Result {
    let seconds = args.seconds.unwrap_or(SECONDS[2]);
    let bar = Progress::new("proof", STEPS);
    let show = |p: &ProofProgress| {
        bar.set((STEPS as f64 * (p.elapsed.as_secs_f64() / seconds).min(1.0)) as u64);
        bar.note(format_args!("nothing at {}? case {} of {}", p.target.0, p.done, p.parts));
    };
    let limits = ProofLimits::default()
        .with_time(Some(Duration::from_secs_f64(seconds)))
        .with_interrupt(Some(interrupt))
        .with_progress(Some(&show));
    let best = Instructions(outcome.cost as u32);
    let prover = Prover::new(&problem.expression).threads(args.threads.unwrap_or(0));
    let proof = match prover.prove(best, &limits) {
        // What has been found is not lost for that.
        Err(texla::Error::Unsupported { why, .. }) => {
            say(format_args!("proof         none: {why}"));
            report.set("proof", json!({ "verdict": "unsupported", "why": why }));
            return Ok(());
        }
        proof => proof?,
    };
    bar.finish();
    let verdict = match &proof.verdict {
        Verdict::Exhausted => "exhausted",
        Verdict::Found(_) => "found",
        Verdict::Nodes => "nodes",
        Verdict::Time => "time",
        Verdict::Interrupted => "interrupted",
        _ => "unknown",
    };
    for level in &proof.levels {
        say(format_args!("proof         {}: {} cases, {} nodes", level.target.0, level.cases, level.nodes));
    }
    say(format_args!("proof         {verdict} after {:.1} s", proof.elapsed.as_secs_f64()));
    report.set(
        "proof",
        json!({
            "verdict": verdict, "nodes": proof.nodes(), "seconds": proof.elapsed.as_secs_f64(),
            "levels": proof.levels.iter().map(|l| json!({
                "cost": l.target.0, "cases": l.cases, "nodes": l.nodes,
            })).collect::<Vec<_>>(),
        }),
    );
    (outcome.lower_bound, outcome.bound_by) = (f64::from(proof.bound.value.0), proof.bound.by.to_string());
    if let Verdict::Found(packing) = proof.verdict {
        outcome.cost = texla::pack::SimdMachine.cost(&problem.expression, &packing)?.value();
        (outcome.packing, outcome.start) = (packing, "proof".to_owned());
    }
    Ok(())
}

impl Outcome {
    /// Says what has been found and puts it into the report.
    pub fn tell(&self, report: &mut Report) {
        let optimal = self.cost <= self.lower_bound;
        let less = if self.before > 0.0 { 100.0 * (1.0 - self.cost / self.before) } else { 0.0 };
        let Outcome { cost, before, lower_bound, start, bound_by, .. } = self;
        say(format_args!("after         {cost}, found by {start}; {less:.0} % less"));
        let gap = cost - lower_bound;
        let gap = if optimal { "optimal".to_owned() } else { format!("{gap} above it") };
        say(format_args!("lower bound   {lower_bound}, by {bound_by}: {gap}"));
        if let Some(reason) = &self.reason {
            let (proposals, seconds) = (self.proposals, self.seconds);
            say(format_args!("search        {proposals} proposals in {seconds:.2} s; ended by {reason}"));
        }
        if self.reason.as_deref() == Some("size") {
            let most = texla::pack::MAX_UNKNOWNS;
            say(format_args!(
                "              past {most} unknowns no swaps are tried: the order as it was and the"
            ));
            say("              seeds have been priced, and this is the best of them");
        }
        report.set("cost_before", *before as u64);
        report.set("cost", *cost as u64);
        report.set("lower_bound", *lower_bound as u64);
        report.set("bound_by", bound_by.clone());
        report.set("optimal", optimal);
        report.set("order", self.packing.rows().indices().to_vec());
        if !self.packing.is_symmetric() {
            report.set("column_order", self.packing.cols().indices().to_vec());
        }
        report.set("proposals", self.proposals);
        report.set("seconds", self.seconds);
        report.set("stopped_by", json!(self.reason));
        report.set("start", start.clone());
        // A given order is priced, whatever it costs.
        if self.reason.is_some() {
            report.at_most("cost beyond that of the order as it was", 0.0, (cost - before).max(0.0));
        }
        report.at_least("cost against the lower bound", *lower_bound, *cost);
    }
}
