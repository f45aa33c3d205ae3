//! Which texels belong to which problem, and sums within problems.
//!
//! The tree of a problem's sums depends on nothing but the problem's own size. That is why a problem comes out with the
//! same bits whatever else is solved beside it.

use super::table::Table;
use crate::data::Vector;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::glsl;
use crate::kernel::{Draw, Operand, View};
use crate::ops::reduce::{Block, block, chain};

/// What is summed: see `glsl/lcp/sums.frag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sums {
    Sweep,
    /// Of a correction of pairs.
    Correction,
    Natural {
        diagonal: bool,
    },
    Power,
}

impl Sums {
    fn block(self) -> Block {
        match self {
            Sums::Sweep => (
                "#define SWEEP 1\n#define DIAGONAL 1",
                &["x", "w", "inverses", "before", "w_before", "goals"],
            ),
            Sums::Correction => (
                "#define SWEEP 1\n#define DIAGONAL 1\n#define PAIRS 1",
                &["x", "w", "inverses", "before", "w_before", "goals", "base", "base_low"],
            ),
            Sums::Natural { diagonal: true } => {
                ("#define NATURAL 1\n#define DIAGONAL 1", &["x", "w", "inverses", "goals"])
            }
            Sums::Natural { diagonal: false } => {
                ("#define NATURAL 1\n#define DIAGONAL 0", &["x", "w", "goals"])
            }
            Sums::Power => {
                ("#define POWER 1\n#define DIAGONAL 1", &["x", "w", "inverses", "before", "w_before"])
            }
        }
    }
}

/// The two tables that the last stage of a sum leaves, to be combined by problems.
pub(super) struct Parts {
    pub a: Table,
    pub b: Table,
}

/// `(first, count)` for each problem.
type Ranges = Vec<(usize, usize)>;

/// The stages of a reduction: for each of their targets where it begins, how many it takes in, and its problem. And
/// where each problem's part lies in the last stage's targets.
fn stages(problems: &[(usize, usize)], most: usize) -> (Vec<Vec<[u32; 4]>>, Ranges) {
    let mut source = problems.to_vec();
    let mut stages = Vec::new();
    loop {
        let (mut targets, mut next) = (Vec::new(), Vec::new());
        for (problem, (first, count)) in source.iter().enumerate() {
            let begin = targets.len();
            let starts = (0..*count).step_by(most);
            targets.extend(starts.map(|k| [first + k, most.min(count - k), problem, 0].map(|v| v as u32)));
            next.push((begin, targets.len() - begin));
        }
        stages.push(targets);
        source = next;
        if source.iter().all(|(_, count)| *count <= most) {
            return (stages, source);
        }
    }
}

/// Texels of vectors by problems.
pub(super) struct Partition {
    device: Device,
    stages: Vec<(Table, usize)>,
    /// Where each problem's parts lie after the last stage.
    last: Ranges,
    last_table: Table,
    /// For each texel its problem and its place there; none where there is but one problem.
    owners: Option<Table>,
}

impl Partition {
    /// Texels that one target combines: a software rasteriser pays for passes, a GPU for long chains of fetches.
    fn most(device: &Device) -> usize {
        if device.is_software() { 256 } else { 32 }
    }

    /// All of a vector is one problem.
    pub fn single(device: &Device, length: usize) -> Result<Self> {
        Self::build(device, &[(0, length.div_ceil(4))], None)
    }

    /// Problems of these numbers of texels, one after another.
    pub fn of(device: &Device, texels: &[usize]) -> Result<Self> {
        let mut problems = Vec::with_capacity(texels.len());
        let mut owners = Vec::new();
        let mut first = 0;
        for (problem, count) in texels.iter().enumerate() {
            problems.push((first, *count));
            owners.extend((0..*count).map(|k| [problem as u32, k as u32, 0, 0]));
            first += count;
        }
        Self::build(device, &problems, Some(owners))
    }

    fn build(device: &Device, problems: &[(usize, usize)], owners: Option<Vec<[u32; 4]>>) -> Result<Self> {
        let _scope = device.scope()?;
        let (stages, last) = stages(problems, Self::most(device));
        let stages = stages.iter().map(|s| Ok((Table::words(device, s)?, s.len())));
        let stages = stages.collect::<Result<Vec<_>>>()?;
        let ranges: Vec<_> = last.iter().map(|(first, count)| [*first as u32, *count as u32, 0, 0]).collect();
        let owners = owners.map(|o| Table::words(device, &o)).transpose()?;
        Ok(Partition {
            device: device.clone(),
            stages,
            last,
            last_table: Table::words(device, &ranges)?,
            owners,
        })
    }

    /// Number of problems.
    pub fn problems(&self) -> usize {
        self.last.len()
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// For each problem the range of its parts after the last stage.
    pub fn ranges(&self) -> View<'_> {
        self.last_table.view()
    }

    /// Draws a vector with a kernel that asks for the owner of its texel (`glsl/include/owner.glsl`).
    pub fn run<'a>(&'a self, draw: Draw<'a>, out: &'a mut Vector) -> Result<()> {
        let draw = draw.define("SINGLE", self.owners.is_none());
        let draw = match &self.owners {
            Some(owners) => draw.unsigned("owners", owners.view()),
            None => draw,
        };
        draw.target(out.view()).run()
    }

    /// All stages of a reduction. *Cost*: a draw a stage.
    pub fn sums(&self, sums: Sums, inputs: &[View<'_>]) -> Result<Parts> {
        let (lines, names) = sums.block();
        let stage = |(ranges, targets): &(Table, usize), before: Option<&Parts>| {
            let uninit = || Table::uninit(&self.device, *targets);
            let next = Parts { a: uninit()?, b: uninit()? };
            let draw = Draw::new(&self.device, glsl!("lcp/sums.frag"));
            let draw = match before {
                None => block(draw.define("FIRST", 1u8), (lines, names), inputs.iter().copied()),
                Some(before) => {
                    draw.lines(lines).input("part_a", before.a.view()).input("part_b", before.b.view())
                }
            };
            draw.unsigned("ranges", ranges.view()).targets([next.a.view(), next.b.view()]).run()?;
            Ok(next)
        };
        chain(&self.stages, stage)?
            .ok_or(Error::Internal { place: "Partition::sums", detail: "a reduction of no stage" })
    }

    /// Reads the maxima that the last stage has left, one texel for each problem. *Cost*: waits for the device.
    pub async fn read_maxima(&self, parts: &Parts) -> Result<Vec<[f32; 4]>> {
        let parts = parts.a.read().await?;
        let of = |(first, count): &(usize, usize)| {
            let own = parts.get(*first..first + count).unwrap_or_default();
            own.iter().fold([0.0f32; 4], |mut all, part| {
                all.iter_mut().zip(part).for_each(|(m, v)| *m = m.max(*v));
                all
            })
        };
        Ok(self.last.iter().map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_cover_every_texel_of_every_problem_once() {
        for (sizes, most) in
            [(vec![0usize], 4), (vec![1], 4), (vec![17], 4), (vec![3, 0, 65, 4, 5], 4), (vec![1000, 1], 2)]
        {
            let mut first = 0;
            let problems: Vec<_> = sizes
                .iter()
                .map(|n| {
                    first += n;
                    (first - n, *n)
                })
                .collect();
            let (stages, last) = stages(&problems, most);
            // Which source texels stand behind each target, and whose they are.
            let mut behind: Vec<Vec<usize>> = (0..first).map(|k| vec![k]).collect();
            for stage in &stages {
                let covered: usize = stage.iter().map(|t| t[1] as usize).sum();
                assert_eq!(covered, behind.len());
                behind = stage
                    .iter()
                    .map(|[first, count, ..]| {
                        assert!((1..=most).contains(&(*count as usize)));
                        behind[*first as usize..(first + count) as usize].concat()
                    })
                    .collect();
            }
            for ((start, count), (begin, parts)) in problems.iter().zip(&last) {
                assert!(*parts <= most);
                let own: Vec<usize> = behind[*begin..begin + parts].concat();
                assert_eq!(own, (*start..start + count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_problems_tree_does_not_depend_on_the_others() {
        let sizes = |problems: &[(usize, usize)], which: usize| -> Vec<Vec<u32>> {
            let (stages, _) = stages(problems, 4);
            let own = |s: &Vec<[u32; 4]>| s.iter().filter(|t| t[2] as usize == which).map(|t| t[1]).collect();
            stages.iter().map(own).collect()
        };
        let alone = sizes(&[(0, 70)], 0);
        let beside = sizes(&[(0, 3), (3, 70), (73, 9)], 1);
        assert_eq!(alone, beside);
    }
}
