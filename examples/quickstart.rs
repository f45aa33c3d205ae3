//! The first thing to read: vectors on the device, a few operations, one result back.

use std::process::ExitCode;

use support::{CommonArgs, Failure, Report, Result, say, worst_of};
use texla::{Headless, HeadlessOptions, Vector, ops};

mod support;

/// Vectors, axpy, dot and norm in OpenGL float textures.
#[derive(clap::Parser)]
#[command(name = "quickstart")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

fn main() -> ExitCode {
    support::main_with("quickstart", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    let api = args.common.api.map(|api| api.to_string().parse()).transpose().map_err(Failure::bad_input)?;
    // An application that has a GL context of its own calls `Device::from_glow` instead: see `app_context`.
    let context = Headless::new(HeadlessOptions::default().with_api(api))?;
    let dev = context.device();
    report.device(context.name(), dev.capabilities().version, dev.api());

    let n = if args.common.quick { 10_000 } else { 1_000_000 };
    let ramp: Vec<f32> = (0..n).map(|i| i as f32 / n as f32).collect();
    let x = Vector::from_slice(dev, &ramp)?; // four floats a texel, in a texture that is nearly square
    let ones = Vector::filled(dev, n, 1.0)?;
    let mut y = Vector::zeros(dev, n)?;

    ops::axpy(&mut y, -2.0, &x, &ones)?; // y = 1 - 2 x: the output comes first
    let length = ops::norm2(&x)?; // a scalar, and still on the device
    ops::scale(&mut y, &length)?; // so it can be a factor without being read back
    let product = ops::dot(&x, &y)?;

    // The only calls that wait for the device.
    let (length, product, y) = (length.read()?, product.read()?, y.read()?);
    say(format!("n = {n}: |x| = {length}, x.y = {product}, y[0] = {}", y[0]));

    // The same in 64 bits on the CPU. The bounds are those of the sums: a few roundings a stage.
    let sum = |f: &dyn Fn(f64) -> f64| ramp.iter().map(|v| f(f64::from(*v))).sum::<f64>();
    let exact_length = sum(&|x| x * x).sqrt();
    let exact_product = exact_length * sum(&|x| x * (1.0 - 2.0 * x));
    let size = exact_length * sum(&|x| (x * (1.0 - 2.0 * x)).abs());
    let bound = 600.0 * f64::from(f32::EPSILON) / 2.0;
    report.at_most("relative error of the norm", bound, (f64::from(length) / exact_length - 1.0).abs());
    report.at_most(
        "error of x.y, relative to its terms",
        bound,
        (f64::from(product) - exact_product).abs() / size,
    );
    let expected = |x: &f32| length * (1.0 - 2.0 * x);
    let wrong = worst_of(&y, &ramp, |y, x| f64::from((y - expected(x)).abs()));
    report.at_most("largest error of y", f64::from(length) * f64::from(f32::EPSILON), wrong);
    Ok(())
}
