//! The program of README: a linear system solved in textures.

use texla::solve::{CgParams, ConjugateGradient, Stop};
use texla::{BandedMatrix, Headless, HeadlessOptions, Vector};

fn main() -> texla::Result<()> {
    let context = Headless::new(HeadlessOptions::default())?; // no window; an application has `Device::from_glow`
    let dev = context.device();
    let a = BandedMatrix::poisson_2d(dev, 64, 64)?; // the five-point Laplacian on a grid
    let b = Vector::filled(dev, 64 * 64, 1.0)?;
    let mut x = Vector::zeros(dev, 64 * 64)?; // initial guess in, solution out
    let params = CgParams::default().with_stop(Stop::relative(1e-4));
    let report = ConjugateGradient::new(&a, params)?.solve(&mut x, &b)?;
    println!("{} after {} iterations", report.reason, report.iterations); // not converging is a report, too
    println!("{} in the middle", x.read()?[32 * 64 + 32]); // the only line that copies `x` to the host
    Ok(())
}
