//! The same loop on the CPU in 32 bits, and what the polynomial is at a root in 64 bits.

/// Parameters of one equation.
pub type Pair = [f32; 2];

fn polynomial([a, b]: Pair, x: f32) -> f32 {
    (((2.0 - a - b) * x + a) * x + b) * x - 1.0
}

/// The cell of `cell.glsl` at its end, operation for operation; at most `most` steps.
pub fn solve(pair: Pair, tolerance: f32, most: u32) -> [f32; 4] {
    let [mut low, mut high, mut f, mut steps] = START;
    while f.abs() > tolerance && steps < most as f32 {
        let (at_low, at_high) = (polynomial(pair, low), polynomial(pair, high));
        let x = (low * at_high - high * at_low) / (at_high - at_low);
        f = polynomial(pair, x);
        *(if f < 0.0 { &mut low } else { &mut high }) = x;
        steps += 1.0;
    }
    [low, high, f, steps]
}

/// Where every cell begins: the bracket [0, 1], and the polynomial at 1.
pub const START: [f32; 4] = [0.0, 1.0, 1.0, 0.0];

/// The newest end of a bracket.
pub fn root([low, high, f, _]: [f32; 4]) -> f32 {
    if f < 0.0 { low } else { high }
}

/// The polynomial in 64 bits, and how far one evaluated in 32 bits can be from it: six operations one after another, and
/// the two that make the leading coefficient.
pub fn exactly([a, b]: Pair, x: f32) -> (f64, f64) {
    let (a, b, x) = (f64::from(a), f64::from(b), f64::from(x));
    let gamma = 8.0 * f64::from(f32::EPSILON / 2.0) / (1.0 - 8.0 * f64::from(f32::EPSILON / 2.0));
    let sum = (((2.0 + a.abs() + b.abs()) * x + a.abs()) * x + b.abs()) * x + 1.0;
    ((((2.0 - a - b) * x + a) * x + b) * x - 1.0, gamma * sum)
}
