//! The program against the expression: how many instructions it has, and what it computes.

use texla::pack::{Form, LinearExpression, Packing, Program};

use super::support::{Report, Result, share, worst_of};

/// Unit roundoff of 32 bits, with room for the arithmetic in 64.
const U: f64 = 1.0001 / 16_777_216.0;

/// The program is run on the CPU in 64 bits, with its coefficients of 32.
pub fn program(e: &LinearExpression, program: &Program, report: &mut Report) -> Result {
    let off = f64::from(program.counts().total().abs_diff(program.cost.0));
    report.at_most(
        "block rows that need an instruction more or fewer than their cost",
        e.quads() as f64,
        off,
    );
    report.set("extra_instructions", program.extra);
    let n = e.unknowns();
    let value = |i: usize, seed: f64| (seed * (i as f64 + 1.0)).sin();
    let (x, b): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (value(i, 1.0), value(i, 0.7))).unzip();
    let found = program.run(&x, &b)?;
    let expected = twin(e, &program.packing, &x, &b)?;
    let largest = worst_of(&found, &expected, |found, (value, bound)| share((found - value).abs(), *bound));
    report.at_most("the program's result: distance from A x + b, over the bound", 1.0, largest);
    Ok(())
}

/// The result in 64 bits, and what coefficients rounded to 32 may change of it.
fn twin(e: &LinearExpression, packing: &Packing, x: &[f64], b: &[f64]) -> Result<Vec<(f64, f64)>> {
    let values = match e.form() {
        Form::Affine => e.evaluate(x, b)?,
        Form::GaussSeidel => e.sweep(packing.rows(), x, b)?,
    };
    // The largest number that is flushed, a unit of which may be missing in any coefficient.
    let tiny = f64::from(f32::MIN_POSITIVE);
    let mut bounds = vec![0.0; e.unknowns()];
    for i in packing.rows().indices().iter().map(|&i| i as usize).filter(|&i| i < e.unknowns()) {
        let position = packing.rows().position(i);
        let error = |(j, a): (usize, f64)| {
            let new = e.form() == Form::GaussSeidel && packing.rows().position(j) < position;
            let (x, off) = if new { (values[j], bounds[j]) } else { (x[j], 0.0) };
            (U * a.abs() + tiny) * (x.abs() + off) + a.abs() * off
        };
        bounds[i] = e.row(i).map(error).sum::<f64>() + 1e-14 * (values[i].abs() + 1.0);
    }
    Ok(values.into_iter().zip(bounds).collect())
}
