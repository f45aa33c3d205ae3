//! A linear system solved in textures: the smallest useful program.

use support::{CommonArgs, say};
use texla::solve::{CgParams, ConjugateGradient, Stop};
use texla::{BandedMatrix, Vector};

mod support;

fn main() -> std::process::ExitCode {
    support::main_with("hello", |args: &CommonArgs, report| {
        let context = args.headless(report)?; // an application that has a context calls `Device::from_glow`
        let a = BandedMatrix::poisson_2d(context.device(), 64, 64)?; // 4 on the diagonal, -1 for each neighbour
        let b = Vector::filled(context.device(), 64 * 64, 1.0)?;
        let mut x = Vector::zeros(context.device(), 64 * 64)?; // initial guess in, solution out
        let params = CgParams::default().with_stop(Stop::relative(1e-4));
        let solved = ConjugateGradient::new(&a, params)?.solve(&mut x, &b)?;
        say(format_args!("{} after {} iterations", solved.reason, solved.iterations));
        say(format_args!("x = {} in the middle", x.read()?[64 * 32 + 32]));
        report.at_most("true relative residual", 1e-4, solved.true_residual);
        Ok(())
    })
}
