//! Proofs by exhaustion: is there a packing that costs less?

mod cases;
mod counting;
mod crew;
mod floor;
mod lanes;
mod least;
mod level;
mod limits;
mod pattern;
mod search;
mod state;
mod symmetry;
#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::error::{Error, Result};
use crate::pack::bound::{Compositions, Kinds};
use crate::pack::{BoundBy, Certificate, Form, Instructions, LinearExpression, LowerBound, Orders, Packing};
use crate::platform::Instant;
use level::{LevelRun, Outcome};
pub use limits::{ProofLimits, ProofProgress};
use pattern::Pattern;

/// How a proof ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verdict {
    /// No packing costs less than the best one known: it is optimal.
    Exhausted,
    /// This one does. All costs below its own are excluded: it is optimal.
    Found(Packing),
    /// The nodes allowed are used up.
    Nodes,
    /// The time is over.
    Time,
    /// Interrupted from outside.
    Interrupted,
}

/// The search for packings of one cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Level {
    /// Packings of this cost or less were searched for.
    pub target: Instructions,
    /// Into how many cases they were divided.
    pub cases: usize,
    /// Partial assignments visited. The same with any number of threads, unless time or an interruption ended the proof.
    pub nodes: u64,
}

/// What a search has proven.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Proof {
    /// How it ended.
    pub verdict: Verdict,
    /// No packing of one order is below this.
    pub bound: LowerBound,
    /// The searches, one for each cost from the lower bound on. The last may be incomplete.
    pub levels: Vec<Level>,
    /// How long it took.
    pub elapsed: Duration,
}

impl Proof {
    /// Nodes of all levels.
    pub fn nodes(&self) -> u64 {
        self.levels.iter().map(|level| level.nodes).sum()
    }

    /// What is now known of a packing of the given cost.
    pub fn certify(&self, cost: Instructions) -> Certificate {
        self.bound.certify(cost)
    }
}

/// An exhaustive search, by branch and bound, for a packing of one order that costs less on
/// [`SimdMachine`](crate::pack::SimdMachine) than the best one known.
///
/// The cost depends only on which rows share a group of four: the sum over pairs of groups of min(c, r + 1), less the additions
/// that rows without b save. For each cost T from the [`LowerBound`] to one below the best, "is there a partition of cost T or
/// less?" is answered by a search of all partitions:
///
/// 1. *Cases.* Every composition of the rows into groups whose bounds f sum to T or less, and every way to hand out the slack
///    T - sum of f. So each group has a number of active rows and a cap of its own on its cost.
/// 2. *First branch.* The first row of a smallest group: one of each orbit of the automorphisms of the pattern that are found.
/// 3. *Depth first.* Rows are assigned to groups. A group is given up if the prices of its blocks by now, which never fall, pass
///    its cap, or if one of its rows has more columns unassigned than its blocks can take in at prices that do not. Every
///    place of every row is probed so until nothing changes. The next branch is that of the fewest branches.
///
/// *Shapes*: up to 64 unknowns, y = A x + b. Where the lower bound is the best cost, any expression, without a search.
///
/// *Cost*: exponential. The 2D wave on 8 x 8 nodes takes minutes, most instances of the paper nothing. Memory: some KiB a
/// thread and level of the search.
///
/// *Source*: the machine of \[Bajaj04\] section 2.1; the paper has no proofs.
///
/// ```
/// use texla::pack::{Instructions, ProofLimits, Prover, Verdict, instances};
/// let wave = instances::wave_2d()?;
/// let limits = ProofLimits::default();
/// let proof = Prover::new(&wave).prove(Instructions(61), &limits)?; // nothing costs 60, say the best is 61
/// assert_eq!((proof.verdict, proof.bound.value), (Verdict::Exhausted, Instructions(61)));
/// let folded = Prover::new(&wave.fold_zero_nodes()).prove(Instructions(80), &limits)?; // from the identity's 80
/// assert!(matches!(folded.verdict, Verdict::Found(_)));
/// assert_eq!(folded.bound.value, Instructions(56)); // an optimal packing, found without annealing
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prover<'a> {
    expression: &'a LinearExpression,
    threads: usize,
}

impl<'a> Prover<'a> {
    /// On all cores.
    pub fn new(expression: &'a LinearExpression) -> Self {
        Self { expression, threads: 0 }
    }

    /// On this many threads; 0 for all cores. Verdicts and counts of nodes do not depend on it.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Searches for packings that cost less than `best`.
    ///
    /// *Errors*: [`Error::Unsupported`] for an iteration in place and for more than 64 unknowns, unless the lower bound is `best`;
    /// [`Error::Parameter`] for a budget of zero and for a `best` below the lower bound, which no packing costs.
    pub fn prove(&self, best: Instructions, limits: &ProofLimits<'_>) -> Result<Proof> {
        let op = "Prover::prove";
        limits.check(op)?;
        let (e, began) = (self.expression, Instant::now());
        let mut bound = LowerBound::new(e, Orders::One);
        if best < bound.value {
            let (name, value, expected) =
                ("best", best.to_string(), "the cost of a packing: no less than the lower bound");
            return Err(Error::Parameter { op, name, value, expected });
        }
        let mut levels: Vec<Level> = Vec::new();
        let mut verdict = Verdict::Exhausted;
        if bound.value < best {
            let kinds = Kinds::new(e, Orders::One);
            let pattern = self.pattern(&kinds)?;
            let table = Compositions::new(&kinds);
            for target in bound.value.0..best.0 {
                let run = LevelRun::new(e, &pattern, &kinds, table.as_ref(), Instructions(target));
                let spent = levels.iter().map(|level| level.nodes).sum();
                let (outcome, level) = run.run(self.threads, limits, spent, began);
                levels.push(level);
                match outcome {
                    Outcome::Exhausted => {
                        bound = LowerBound { value: Instructions(target + 1), by: BoundBy::Search };
                    }
                    Outcome::Found(packing) => verdict = Verdict::Found(packing),
                    Outcome::Stopped(by) => verdict = by,
                }
                if verdict != Verdict::Exhausted {
                    break;
                }
            }
        }
        Ok(Proof { verdict, bound, levels, elapsed: began.elapsed() })
    }

    fn pattern(&self, kinds: &Kinds) -> Result<Pattern> {
        let unsupported =
            |why: String| Error::Unsupported { what: "a search for all cheaper packings".to_owned(), why };
        if self.expression.form() == Form::GaussSeidel {
            return Err(unsupported(
                "an iteration in place: its cost depends on the order within groups, too".to_owned(),
            ));
        }
        let too_many = || {
            let n = self.expression.unknowns();
            unsupported(format!("{n} unknowns, at most {} can be searched", lanes::ROWS))
        };
        Pattern::new(self.expression, kinds).ok_or_else(too_many)
    }
}
