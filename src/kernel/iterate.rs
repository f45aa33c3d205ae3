//! A loop of variable length for every cell [BeyondVector] 28.4.1: cells that are done drop out by the depth test, and a
//! sample query ends the loop, or a sum where no query can be waited for.

use std::collections::VecDeque;

use super::counts::Counts;
use super::domain::Predicate;
use super::draw::Draw;
use super::params::{Field, ParamType, Params};
use super::pass::{Compiled, Operand, TargetOperand};
use super::ping_pong::PingPong;
use super::predicate::Mask;
use super::replays::Turns;
use super::spec::{InputSpec, KernelSpec, StageSpec, Test};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::gl::{Depth, SampleQuery, Samples};

/// The state as an input, and the steps of a pass as a parameter.
pub(super) const STATE: &str = "texla_state";
pub(super) const STEPS: &str = "texla_steps";

/// How cells that are done are left alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhileSchedule {
    /// By a mask: the device may skip them before the shader starts.
    #[default]
    Predicated,
    /// By a branch in the shader, which runs for every cell in every pass: what predication is compared with.
    Branching,
}

/// Parameters of [`IterateWhile::run`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WhileParams {
    /// Steps that a cell makes in one pass, unless it is done before. Devices may end longer loops than
    /// [`loop_rounds`](crate::gl::Capabilities::loop_rounds) early: cells then go on in the next pass.
    pub steps_per_pass: u32,
    /// Passes after which the loop ends in any case.
    pub max_passes: usize,
    /// How cells that are done are left alone.
    pub schedule: WhileSchedule,
}

with!(const WhileParams:
    with_steps_per_pass(steps_per_pass: u32),
    with_max_passes(max_passes: usize),
    with_schedule(schedule: WhileSchedule),
);

impl Default for WhileParams {
    /// 8 steps a pass, 1,024 passes, predicated.
    fn default() -> Self {
        WhileParams { steps_per_pass: 8, max_passes: 1024, schedule: WhileSchedule::Predicated }
    }
}

/// What a loop has come to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WhileReport {
    /// Passes after which no cell was left to work on; all of them, where the loop has not finished.
    pub passes: usize,
    /// No cell is left. Otherwise the passes were used up.
    pub finished: bool,
    /// Texels that were not done after 0, 1, 2, ... passes, as they have been counted. Empty on OpenGL ES with sample queries, which
    /// only say whether there are any.
    pub active: Vec<u64>,
}

/// `while (unfinished(p, s)) s = advance(p, s);` for every texel `p` of a state `s`, each for as long as it takes.
///
/// The body defines `bool unfinished(ivec2 p, vec4 s)` and `vec4 advance(ivec2 p, vec4 s)`; it can read the inputs and
/// the parameters. A pass makes up to [`steps_per_pass`](WhileParams::steps_per_pass) steps in each cell that is not
/// done. The mask lags a pass behind, so that a cell's last value reaches both buffers before it drops out. `advance`
/// should not give NaN: what `unfinished` says of it is up to the compiler. A cell that is never done is left as it is
/// after [`max_passes`](WhileParams::max_passes).
///
/// ```
/// use texla::{Vector, kernel::{IterateWhile, NoParams, PingPong, WhileParams}};
/// # let ctx = texla::Headless::new(Default::default())?;
/// # let dev = ctx.device();
/// // Newton's method for square roots: s is (estimate, a, ...).
/// let body = "bool unfinished(ivec2 p, vec4 s) { return abs(s.x * s.x - s.y) > 1e-6 * s.y; }
/// vec4 advance(ivec2 p, vec4 s) { return vec4(0.5 * (s.x + s.y / s.x), s.yzw); }";
/// let roots = IterateWhile::<NoParams>::new(dev, "roots", [], body)?;
/// let start = Vector::from_slice(dev, &[1., 4., 0., 0., 1., 1e6, 0., 0.])?;
/// let mut state = PingPong::new(start, Vector::zeros(dev, 8)?);
/// let report = roots.run(&mut state, [], &NoParams, WhileParams::default().with_steps_per_pass(1))?;
/// assert!(report.finished && report.passes > 10); // 4 takes 5 steps, 10^6 takes more
/// let s = state.front().read()?;
/// assert!((s[0] - 2.0).abs() < 1e-5 && (s[4] - 1000.0).abs() < 1e-2);
/// # Ok::<(), texla::Error>(())
/// ```
///
/// *Cost* of a run: for each pass 1 draw of the step under the mask of the pass before, and 1 draw that narrows the
/// mask; a few more of each at the end, in which nothing is left to do. No pixel is read back; queries are polled. Where they cannot
/// be waited for ([`Capabilities::sample_queries`](crate::gl::Capabilities::sample_queries), in a browser) the mask is added up after
/// each pass, by as many draws as for [`Mask::count`](super::Mask::count), and the counts are read together: after two passes at first,
/// then after more and more, so that no more than one pass in ten is in vain: 45 readbacks for 1,000 passes.
///
/// *Source*: \[BeyondVector\] 28.4.1 (early-z culling, variable-length loops), exercise 28.4-1.
pub struct IterateWhile<P: Params> {
    step: Compiled,
    write: Compiled,
    narrow: Compiled,
    count: Compiled,
    device: Device,
    params: std::marker::PhantomData<P>,
}

shown!([P: Params] IterateWhile<P>, |k| "IterateWhile({})", k.step.spec().name);

impl<P: Params> IterateWhile<P> {
    /// Compiles the loop. *Errors*: as [`Kernel::new`](super::Kernel::new).
    pub fn new<const N: usize>(device: &Device, name: &str, inputs: [&str; N], body: &str) -> Result<Self> {
        let compiled = |stage, entry: &str, fields: &[Field]| {
            let mut spec = KernelSpec::users(name, stage, &inputs, fields, body);
            spec.inputs.insert(0, InputSpec::float(STATE));
            // Behind the body, whose lines keep their numbers.
            spec.text.push_str(entry);
            spec.wanted = ["bool unfinished(ivec2 p, vec4 s)", "vec4 advance(ivec2 p, vec4 s)"]
                .map(str::to_owned)
                .to_vec();
            Compiled::new(device, spec)
        };
        let condition = |test| {
            let entry = "\nbool kernel(ivec2 p) { return unfinished(p, texla_state_here()); }\n";
            compiled(StageSpec::Condition(test), entry, P::FIELDS)
        };
        let mut fields = P::FIELDS.to_vec();
        fields.push(Field { name: STEPS, kind: i32::KIND });
        let steps = "\nvec4 kernel(ivec2 p) {\n    vec4 s = texla_state_here();\n    \
             for (int k = 0; k < texla_steps && unfinished(p, s); k++) s = advance(p, s);\n    return s;\n}\n";
        let stage = StageSpec::Fragment { outputs: vec!["o0".into()], mask: true };
        let step = compiled(stage, steps, &fields)?;
        super::user::compile_now(device, &step)?;
        Ok(IterateWhile {
            step,
            write: condition(Test::Write)?,
            narrow: condition(Test::Narrow)?,
            count: condition(Test::Count)?,
            device: device.clone(),
            params: std::marker::PhantomData,
        })
    }

    /// Runs the loop. The result is the front of `state`.
    ///
    /// *Errors*: [`Error::Parameter`] without steps in a pass; [`Error::Interface`] when the buffers differ in extent or
    /// length or the inputs in number; [`Error::WrongDevice`]; [`Error::Unsupported`] while an occlusion query of the
    /// application's is active. Running out of passes is no error: see [`WhileReport::finished`].
    pub fn run<T: TargetOperand, const N: usize>(
        &self,
        state: &mut PingPong<T>,
        inputs: [&dyn Operand; N],
        params: &P,
        limits: WhileParams,
    ) -> Result<WhileReport> {
        let WhileParams { steps_per_pass, max_passes, schedule } = limits;
        if steps_per_pass == 0 {
            let (op, name) = ("IterateWhile::run", "steps_per_pass");
            return Err(Error::Parameter { op, name, value: "0".into(), expected: "at least 1" });
        }
        let _scope = self.device.scope()?;
        self.check_alike(state)?;
        let mut looks = Looks::new(&self.device)?;
        let cells = Cells { device: &self.device, inputs: &inputs, params };
        let steps = i32::try_from(steps_per_pass).unwrap_or(i32::MAX);
        let mask = cells.over(&self.write, state.front()).mask(state.front().view())?;
        let unfinished = |looks: &mut Looks<'_>, state: &T| match &mut looks.way {
            Way::Queries(_) => {
                looks.fragments(&mask, &|| cells.over(&self.count, state).test(&mask, Depth::Off))
            }
            Way::Sums(counts) => {
                cells.over(&self.write, state).test(&mask, Depth::Write)?;
                counts.add(&mask)
            }
        };
        // Each pass is as the last but one.
        let [steps_of, others_of] = [Turns::default(), Turns::default()];
        for pass in 0..max_passes {
            let (front, back) = state.split();
            let target = back.target();
            let step = |predicate| {
                cells.over(&self.step, front).param(STEPS, steps).target(target).only(predicate).run()
            };
            let step_again = |predicate| steps_of.draw(&self.device, pass, &[], || step(predicate));
            match schedule {
                // Over all cells: it also brings those into the other buffer that are done already.
                WhileSchedule::Predicated if pass == 0 => step(Predicate::Always)?,
                // The mask says what was unfinished before the pass that filled `front`: what became so in that pass
                // is copied here, and drops out after it.
                WhileSchedule::Predicated => {
                    looks.fragments(&mask, &|| step_again(Predicate::If(&mask)))?;
                    let narrow = || cells.over(&self.narrow, front).test(&mask, Depth::Narrow);
                    others_of.draw(&self.device, pass, &[], narrow)?;
                }
                WhileSchedule::Branching => {
                    unfinished(&mut looks, front)?;
                    step_again(Predicate::Always)?;
                }
            }
            state.swap();
            if looks.none_left(false)? {
                return Ok(looks.report());
            }
        }
        // Out of passes. What the mask says is what the last look, one before the end, would have counted.
        if schedule == WhileSchedule::Predicated && max_passes > 0 {
            looks.fragments(&mask, &|| mask.pass_where_held())?;
        }
        unfinished(&mut looks, state.front())?;
        looks.none_left(true)?;
        Ok(looks.report())
    }

    fn check_alike<T: Operand>(&self, state: &PingPong<T>) -> Result<()> {
        let (front, back) = (state.front().view(), state.back().view());
        if front.extent == back.extent && front.tail == back.tail {
            return Ok(());
        }
        let detail = "the two buffers of the state differ in length or extent".into();
        Err(Error::Interface { kernel: self.step.spec().name.clone(), detail })
    }
}

/// What the passes of a loop read besides the state.
struct Cells<'a, P: Params> {
    device: &'a Device,
    inputs: &'a [&'a dyn Operand],
    params: &'a P,
}

impl<P: Params> Cells<'_, P> {
    fn over<'b>(&'b self, kernel: &'b Compiled, state: &'b dyn Operand) -> Draw<'b> {
        Draw::of(self.device, kernel).input(STATE, state.view()).operands(self.inputs).params(self.params)
    }
}

/// How cells are counted.
enum Way {
    /// By queries under way.
    Queries(VecDeque<SampleQuery>),
    /// By adding up masks: sums that have not been read.
    Sums(Counts),
}

/// Counts of cells that are not done, those under way and those known: one for each pass, in order.
struct Looks<'a> {
    device: &'a Device,
    way: Way,
    active: Vec<u64>,
    seen: usize,
    finished: bool,
}

impl<'a> Looks<'a> {
    /// Of all passes, one in so many may be in vain, or one: so many counts are under way before one is waited for.
    const IN_VAIN: usize = 10;

    /// Sums that are read together at most.
    const SUMS: u32 = 64;

    /// Asks a query of nothing first: where one of the application's stands in the way, nothing is drawn.
    fn new(device: &'a Device) -> Result<Self> {
        let asked = device.gl().caps.borrow().sample_queries;
        let way = if asked {
            device.gl().count_samples(|| Ok(()))?;
            Way::Queries(VecDeque::new())
        } else {
            Way::Sums(Counts::new(device, Self::SUMS)?)
        };
        Ok(Looks { device, way, active: Vec::new(), seen: 0, finished: false })
    }

    /// Draws, and counts the fragments that the mask admits, or the texels of the mask before.
    fn fragments(&mut self, mask: &Mask, draw: &dyn Fn() -> Result<()>) -> Result<()> {
        match &mut self.way {
            Way::Queries(queries) => queries.push_back(self.device.gl().count_samples(draw)?),
            Way::Sums(counts) => {
                counts.add(mask)?;
                draw()?;
            }
        }
        Ok(())
    }

    /// Whether a count has come out as none; waits where too many are under way, or for all of them.
    fn none_left(&mut self, wait_for_all: bool) -> Result<bool> {
        while !self.finished {
            let many = (self.seen / Self::IN_VAIN).max(1);
            match &mut self.way {
                Way::Queries(queries) => {
                    let wait = wait_for_all || queries.len() > many;
                    if !queries.front().is_some_and(|query| wait || query.ready()) {
                        break;
                    }
                    let Some(query) = queries.pop_front() else { break };
                    let samples = query.wait()?;
                    self.note(samples);
                }
                Way::Sums(counts) => {
                    let wait = wait_for_all || counts.full() || counts.under_way() > many;
                    if !wait || counts.under_way() == 0 {
                        break;
                    }
                    for count in counts.take()? {
                        self.note(Samples::Counted(count));
                    }
                }
            }
        }
        Ok(self.finished)
    }

    /// What follows the first count of none is in vain.
    fn note(&mut self, samples: Samples) {
        if self.finished {
            return;
        }
        if let Samples::Counted(n) = samples {
            self.active.push(n);
        }
        match samples.any() {
            true => self.seen += 1,
            false => self.finished = true,
        }
    }

    /// `seen` counts the looks that found a cell left: all of them but one past the last pass, if none came out empty.
    fn report(self) -> WhileReport {
        let passes = if self.finished { self.seen } else { self.seen.saturating_sub(1) };
        WhileReport { passes, finished: self.finished, active: self.active }
    }
}
