//! A wall of 60 cubes collapses [Moravanszky03] 5, Figure 4: rigid bodies on the CPU, and their contacts as a linear
//! complementarity problem that texla solves in every frame. Without a window it writes an animation and checks
//! itself; with `--window` it plays live, texla inside the window's own GL context.

use std::path::PathBuf;
use std::process::ExitCode;

use support::{CommonArgs, Report, Result};

mod body;
mod collide;
mod compare;
mod contact;
mod cpu;
mod headless;
mod math;
#[path = "../support/player.rs"]
mod player;
mod problem;
mod render;
mod simulation;
mod solver;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/surface.rs"]
mod surface;
mod view;
mod window;
mod world;

/// A wall of 60 cubes collapses; its contacts are solved on the GPU.
#[derive(clap::Parser)]
#[command(name = "cubes")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Play live: space pauses, R starts anew, Esc quits
    #[arg(long, conflicts_with_all = ["animation", "picture"])]
    window: bool,
    /// Where to write the animation, an animated PNG
    #[arg(long, value_name = "FILE", default_value = "out/cubes.png")]
    #[arg(default_value_if("window", "true", None))]
    animation: Option<PathBuf>,
    /// Write a larger picture of one frame
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Which frame that is
    #[arg(long, value_name = "N", default_value_t = 75)]
    picture_at: usize,
    /// Frames of 1/90 second; a window closes after them
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
    /// Solve every Nth frame in all forms; 0 for none. Usually 10, 20 with --quick, none with friction
    #[arg(long, value_name = "N")]
    compare: Option<usize>,
    /// Coefficient of friction; the paper has none
    #[arg(long, value_name = "MU", default_value_t = 0.0)]
    friction: f64,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("cubes", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    support::in_range("--friction", args.friction, 0.0..=2.0)?;
    if args.frames == Some(0) {
        return Err(support::Failure::bad_input("--frames takes 1 or more"));
    }
    if args.window { window::run(args, report) } else { headless::run(args, report) }
}
