//! Water in a pool [Krueger05] 44.4: the wave equation by implicit steps, solved by conjugate gradients on textures, and
//! drawn from the very texture that the solver wrote. Without a window it writes a picture and an animation and checks
//! itself; with `--window` drops fall where the mouse is, texla inside the window's own GL context.

use std::path::PathBuf;
use std::process::ExitCode;

use support::{CommonArgs, Report, Result};

mod headless;
#[path = "../support/player.rs"]
mod player;
mod pool;
#[allow(dead_code)] // the example of Table 44-1 draws too, and keeps its pictures on the device
mod render;
#[path = "../support/mod.rs"]
mod support;
#[path = "../support/surface.rs"]
mod surface;
mod view;
mod window;

/// Water in a pool: implicit waves, drawn from the solver's own texture.
#[derive(clap::Parser)]
#[command(name = "water")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// Play live: the left button drops, the right one turns, space pauses, R starts anew, Esc quits
    #[arg(long, conflicts_with_all = ["animation", "picture"])]
    window: bool,
    /// Cells along a side of the pool, 16 to 1024 [default: 384, 160 with --quick]
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// Where to write the animation, an animated PNG
    #[arg(long, value_name = "FILE", default_value = "out/water.png")]
    #[arg(default_value_if("window", "true", None))]
    animation: Option<PathBuf>,
    /// Write a larger picture of one frame
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Which frame that is
    #[arg(long, value_name = "N", requires = "picture")]
    picture_at: Option<usize>,
    /// Frames of 1/30 second; a window closes after them
    #[arg(long, value_name = "N")]
    frames: Option<usize>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

impl Args {
    fn cells(&self) -> usize {
        self.size.unwrap_or(if self.common.quick { 160 } else { 384 })
    }
}

fn main() -> ExitCode {
    support::main_with("water", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    support::in_range("--size", args.cells(), 16..=1024)?;
    args.frames.map(|frames| support::in_range("--frames", frames, 1..=10_000)).transpose()?;
    if args.window { window::run(args, report) } else { headless::run(args, report) }
}
