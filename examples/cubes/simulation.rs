//! The world with the device that solves for its contacts.

use texla::Device;

use crate::compare::{self, Form};
use crate::cpu;
use crate::problem::Model;
use crate::solver;
use crate::support::{Result, worst};
use crate::world::{Wall, World};

/// A world whose contacts are solved on a device.
pub struct Simulation {
    device: Device,
    pub world: World,
}

/// What a frame has come to.
#[derive(Default)]
pub struct Frame {
    /// Contacts of the problem that was solved last.
    pub contacts: usize,
    pub unknowns: usize,
    /// Independent groups of contacts, and the unknowns of the largest.
    pub groups: usize,
    pub largest: usize,
    /// How often the problem was stated; milliseconds and sweeps are those of all.
    pub rounds: usize,
    pub milliseconds: f64,
    pub sweeps: usize,
    /// The relative natural residual of the worst group, in 64 bits on the CPU, and whether the solver vouched for all.
    pub residual: f64,
    pub converged: bool,
    /// All forms on the first problem of this frame, if asked for.
    pub forms: Option<Vec<Form>>,
}

impl Simulation {
    pub fn new(device: &Device, wall: Wall, model: Model) -> Self {
        Simulation { device: device.clone(), world: World::new(wall, model) }
    }

    /// Moves on by a frame.
    pub fn frame(&mut self, compare: bool) -> Result<Frame> {
        let mut frame = Frame { converged: true, ..Frame::default() };
        let rows_each = self.world.model.rows_each();
        self.world.step(|problem| {
            let (answer, groups) = solver::groups(&self.device, problem)?;
            frame.rounds += 1;
            frame.unknowns = problem.len();
            frame.contacts = problem.len() / rows_each;
            frame.groups = groups.len();
            frame.largest = groups.iter().map(Vec::len).max().unwrap_or(0);
            frame.milliseconds += answer.milliseconds;
            frame.sweeps += answer.sweeps;
            frame.residual = worst(frame.residual, cpu::residual(problem, &groups, &answer.x));
            frame.converged &= answer.converged;
            if compare && frame.rounds == 1 && problem.len() > 0 {
                frame.forms = Some(compare::forms(&self.device, problem, &groups, &answer)?);
            }
            Ok(answer.x)
        })?;
        Ok(frame)
    }
}
