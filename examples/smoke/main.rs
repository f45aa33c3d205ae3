//! Smoke in a wind tunnel [Krueger05] 44.4: stable fluids on a staggered grid, the pressure by conjugate gradients and
//! multigrid on textures, and drawn from the very textures that the solver wrote. Without a window it writes a picture
//! and an animation and checks itself; with `--window` the mouse stirs, texla inside the window's own GL context.

use std::path::PathBuf;
use std::process::ExitCode;

use support::{CommonArgs, Failure, Report, Result};

mod compare;
mod headless;
#[path = "../support/player.rs"]
mod player;
mod render;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/surface.rs"]
mod surface;
mod tunnel;
mod window;

/// Smoke flows around a disc: a fluid on textures.
#[derive(clap::Parser)]
#[command(name = "smoke")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Play live: the left button stirs, space pauses, R starts anew, Esc quits
    #[arg(long, conflicts_with_all = ["animation", "picture"])]
    window: bool,
    /// Cells from floor to ceiling, a multiple of 4 from 32 to 512; twice as many along [default: 192, 96 with --quick]
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Where to write the animation, an animated PNG
    #[arg(long, value_name = "FILE", default_value = "out/smoke.png")]
    #[arg(default_value_if("window", "true", None))]
    animation: Option<PathBuf>,
    /// Write a larger picture of one frame
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Which frame that is
    #[arg(long, value_name = "N", requires = "picture")]
    picture_at: Option<usize>,
    /// Frames, a step each; a window closes after them
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

impl Args {
    fn height(&self) -> usize {
        self.size.unwrap_or(if self.common.quick { 96 } else { 192 })
    }
}

fn main() -> ExitCode {
    support::main_with("smoke", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    if !(32..=512).contains(&args.height()) || !args.height().is_multiple_of(4) {
        return Err(Failure::bad_input("--size takes a multiple of 4 from 32 to 512"));
    }
    args.frames.map(|frames| support::in_range("--frames", frames, 1..=10_000)).transpose()?;
    if args.window { window::run(args, report) } else { headless::run(args, report) }
}
