//! Rows of the table: the best packing of an instance, what proves it, and its program.

use std::sync::Mutex;

use texla::pack::{
    Certificate, Instructions, LinearExpression, LowerBound, LowerOptions, Optimized, Orders, Packing,
    Program, Proof, ProofLimits, ProofProgress, Prover, SearchLimits, SearchParams, SimdMachine, TexelFetch,
    Verdict, optimize,
};
use texla::pack::{CostModel, Form};

use crate::Budget;
use crate::count;
use crate::support::{Progress, Report, Result, json};

/// What the paper has: Table 2, and for the blocks of section 4 its text and Figures 10, 13 and 14.
pub struct Paper {
    pub instance: &'static str,
    pub title: &'static str,
    /// How often the instance is evaluated: a step of the Runge-Kutta method has four stages.
    pub times: u32,
    /// Table 2 (a).
    pub scalar: Option<u32>,
    /// Table 2 (b) and (c).
    pub costs: [u32; 2],
    /// Table 2 (e).
    pub shader: Option<u32>,
}

pub const PAPER: [Paper; 6] = [
    table2("wave2d", "2D wave equation", 1, 462, [82, 63], 81),
    table2("rk20", "Runge-Kutta, 4 stages", 4, 360, [80, 56], 120),
    table2("gs64", "Gauss-Seidel", 1, 576, [112, 72], 87),
    block("poisson2d_s8", "2D Poisson, block S", [6, 4]),
    block("poisson3d_s40", "3D Poisson, block S", [38, 20]),
    block("wave_s32", "wave, block S*", [38, 24]),
];

const fn table2(
    instance: &'static str,
    title: &'static str,
    times: u32,
    scalar: u32,
    costs: [u32; 2],
    shader: u32,
) -> Paper {
    Paper { instance, title, times, scalar: Some(scalar), costs, shader: Some(shader) }
}

const fn block(instance: &'static str, title: &'static str, costs: [u32; 2]) -> Paper {
    Paper { instance, title, times: 1, scalar: None, costs, shader: None }
}

/// A row. Its numbers are those of one evaluation; what is shown is [`Paper::times`] as much.
pub struct Row {
    pub paper: &'static Paper,
    pub expression: LinearExpression,
    pub found: Optimized<Instructions>,
    /// The best bound, the exhaustive search's where it got further.
    pub bound: LowerBound,
    pub proof: Option<Proof>,
    /// Texel fetches of the fragment stage, in the given order and in the best.
    pub fetches: [u32; 2],
    /// Statements of the shader's text that compute, counted there: of all evaluations.
    emitted: u32,
    program: Program,
    one_constant: Program,
}

impl Row {
    /// Searches and, where that is wanted and needed, proves.
    pub fn new(paper: &'static Paper, budget: &Budget, progress: &Progress) -> Result<Self> {
        let expression = crate::instance(paper.instance)?;
        let e = &expression;
        let mut bound = LowerBound::new(e, Orders::One);
        let Budget { time, proof, seed, threads } = *budget;
        let params =
            SearchParams::default().with_seed(seed).with_threads(threads).with_lower_bound(Some(bound.value));
        let limits = SearchLimits::default().with_time(Some(time)).with_proposals(None);
        let mut found = optimize(&SimdMachine, e, &params, &limits)?;
        let proof = match proof {
            Some(time) if found.cost > bound.value && e.form() == Form::Affine => {
                let progress = Mutex::new(progress);
                let tell = |p: &ProofProgress| {
                    if let Ok(progress) = progress.lock() {
                        progress.note(format_args!("none of {}? {} of {}", p.target, p.done, p.parts));
                    }
                };
                let limits = ProofLimits::default().with_time(Some(time)).with_progress(Some(&tell));
                Some(Prover::new(e).threads(threads).prove(found.cost, &limits)?)
            }
            _ => None,
        };
        if let Some(proof) = &proof {
            bound = proof.bound;
            // A proof that fails brings what is better.
            if let Verdict::Found(better) = &proof.verdict {
                (found.cost, found.packing) = (SimdMachine.cost(e, better)?, better.clone());
            }
        }
        let lower = |one_constant| {
            Program::lower(e, &found.packing, LowerOptions::VERTEX.with_one_constant(one_constant))
        };
        let (program, one_constant) = (lower(false)?, lower(true)?);
        let fetches = |packing: &Packing| TexelFetch.fetches(e, packing);
        let fetches = [fetches(&Packing::identity(e.unknowns()))?, fetches(&found.packing)?];
        let emitted = paper.times * computing(&program)?;
        Ok(Row { paper, found, bound, proof, fetches, emitted, program, one_constant, expression })
    }

    /// Table 2 (a).
    pub fn scalar(&self) -> u32 {
        self.paper.times * self.expression.scalar_operations() as u32
    }

    /// Table 2 (b) and (c).
    pub fn costs(&self) -> [u32; 2] {
        [self.found.cost_before, self.found.cost].map(|cost| self.paper.times * cost.0)
    }

    /// No packing costs less.
    pub fn least(&self) -> u32 {
        self.paper.times * self.bound.value.0
    }

    /// What proves that, or how far it is from the cost.
    pub fn proof(&self) -> String {
        match self.bound.certify(self.found.cost) {
            Certificate::Optimal(by) => by.to_string(),
            Certificate::Gap(Instructions(gap)) => format!("gap {gap}: {}", self.bound.by),
        }
    }

    /// Table 2 (d).
    pub fn efficiency(&self) -> f64 {
        f64::from(self.scalar()) / f64::from(self.costs()[1])
    }

    /// The instructions of the whole shader: without a rule for constant registers, and with the paper's, one an instruction.
    ///
    /// A step of the Runge-Kutta method has four stages, and sums in front of three of them and at its end: one MAD for each
    /// quad, four at the end. What is moved in front of a stage is moved once a step.
    pub fn shader(&self) -> [u32; 2] {
        let sums = if self.paper.times == 4 { 7 * self.program.quads() as u32 } else { 0 };
        [&self.program, &self.one_constant].map(|program| {
            let once = program.prologue().iter().filter(|i| !i.alias).count() as u32;
            self.paper.times * (program.counts().total() - once) + once + sums
        })
    }

    pub fn check(&self, report: &mut Report) {
        let Paper { instance, costs, scalar, .. } = *self.paper;
        let [before, after] = self.costs();
        let mut equal = |what: &str, wanted: u32, value: u32| {
            report.check(format!("{instance}: {what}"), wanted, value, value == wanted);
        };
        if let Some(wanted) = scalar {
            equal("scalar operations as in the paper", wanted, self.scalar());
        }
        equal("cost before as in the paper", costs[0], before);
        // z, what a program needs beyond the cost, is zero on all instances.
        equal("instructions emitted as the cost says", after, self.emitted);
        report.at_most(format!("{instance}: cost after, no more than the paper's"), costs[1], after);
        report.at_least(format!("{instance}: cost after, no less than the bound"), self.least(), after);
    }

    pub fn json(&self) -> serde_json::Value {
        let Paper { instance, times, scalar, costs, shader, .. } = *self.paper;
        let [before, after] = self.costs();
        let [program, one_constant] = self.shader();
        let proof = self.proof.as_ref().map(|proof| {
            let verdict = format!("{:?}", proof.verdict);
            let word = verdict.split('(').next().unwrap_or_default().to_lowercase();
            json!({ "verdict": word, "nodes": proof.nodes(), "seconds": proof.elapsed.as_secs_f64() })
        });
        json!({
            "instance": instance, "times": times, "unknowns": self.expression.unknowns(),
            "nonzeros": self.expression.nnz(), "scalar_operations": self.scalar(), "cost_before": before,
            "cost": after, "lower_bound": self.least(), "bound_by": self.bound.by.to_string(),
            "optimal": self.found.cost <= self.bound.value, "efficiency": self.efficiency(),
            "shader_instructions": program, "shader_instructions_one_constant": one_constant,
            "emitted": self.emitted, "extra": self.program.extra,
            "fetches_before": self.fetches[0], "fetches": self.fetches[1],
            "start": self.found.origin.to_string(), "proposals": self.found.proposals,
            "found_after_seconds": self.found.found_after, "seconds": self.found.seconds, "proof": proof,
            "order": self.found.packing.rows().indices(),
            "paper": {
                "scalar_operations": scalar, "cost_before": costs[0], "cost": costs[1],
                "shader_instructions": shader,
            },
        })
    }
}

/// The statements that compute in the text that the driver is given.
fn computing(program: &Program) -> Result<u32> {
    let parts = program.vertex_parts(program.quads().max(1))?;
    Ok(parts.iter().map(|part| count::computing(&part.body) as u32).sum())
}
