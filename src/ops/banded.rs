//! Products with banded matrices.

use super::product::{Accurate, Combine, accumulate, check_product};
use crate::data::{BandedMatrix, Vector};
use crate::error::{Error, Result};
use crate::gl::{UniformValue, glsl};
use crate::kernel::{Field, FieldType, KernelSpec, Operand, ParamType, Pass, PooledTexture, View};

/// Textures that a pass reads besides diagonals: x, z, and a partial sum.
const OTHER_INPUTS: usize = 3;

/// How the diagonals of one pass read `x`: pure arithmetic on the offsets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BandPlan {
    /// Distinct shifts in texels, ascending.
    pub shifts: Vec<i32>,
    /// For each diagonal: place of its first texel in `shifts`, of the second one, and the residue.
    pub taps: Vec<(usize, usize, u8)>,
}

impl BandPlan {
    pub fn new(offsets: &[i64]) -> Self {
        let split = |o: &i64| (o.div_euclid(4) as i32, o.rem_euclid(4) as u8);
        let mut shifts: Vec<i32> = offsets
            .iter()
            .map(split)
            .flat_map(|(q, r)| if r == 0 { [q, q] } else { [q, q + 1] })
            .collect();
        shifts.sort_unstable();
        shifts.dedup();
        let place = |q: i32| shifts.binary_search(&q).unwrap_or_default();
        let taps = offsets.iter().map(split).map(|(q, r)| (place(q), place(q + i32::from(r != 0)), r)).collect();
        BandPlan { shifts, taps }
    }

    /// Four elements of `x` for diagonal `i`, from the fetched texels.
    fn elements(&self, i: usize) -> String {
        self.taps.get(i).map(|(a, b, r)| across(*r, &format!("x{a}"), &format!("x{b}"))).unwrap_or_default()
    }

    fn fetches(&self) -> String {
        let one = |i: usize| format!(" vec4 x{i} = x_shifted(t + shifts[{i}]);");
        let all: String = (0..self.shifts.len()).map(one).collect();
        format!("#define FETCHES{all}\n")
    }
}

/// Four consecutive elements that begin at `residue` in the texel `first` and go on in `second`.
fn across(residue: u8, first: &str, second: &str) -> String {
    match residue {
        1 => format!("vec4({first}.yzw, {second}.x)"),
        2 => format!("vec4({first}.zw, {second}.xy)"),
        3 => format!("vec4({first}.w, {second}.xyz)"),
        _ => first.to_owned(),
    }
}

/// A product with `Aᵀ` reads diagonals and `x` at the shifted place, both: the diagonal with offset `o` becomes one
/// with offset `-o` whose values are shifted along.
fn transposed_text(plan: &BandPlan) -> (String, String) {
    let inside = "uint(t + shifts[{}]) < uint(source_texels)";
    let mut fetches = "#define FETCHES".to_owned();
    for i in 0..plan.shifts.len() {
        let guard = inside.replace("{}", &i.to_string());
        fetches.push_str(&format!(" vec4 x{i} = {guard} ? x_shifted(t + shifts[{i}]) : vec4(0.0);"));
    }
    let mut bands = "#define BANDS".to_owned();
    for (i, (a, b, residue)) in plan.taps.iter().enumerate() {
        let times = |name: &str, at: usize| format!("vec4 {name} = x{at} * d{i}_shifted(t + shifts[{at}]);");
        let second = if *residue == 0 { String::new() } else { times("second", *b) };
        let four = across(*residue, "first", "second");
        bands.push_str(&format!(" {{ {} {second} sum += {four}; }}", times("first", *a)));
    }
    (fetches, bands + "\n")
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("d{i}")).collect()
}

fn shifts_field(count: usize) -> Field {
    Field { name: "shifts", kind: FieldType(crate::gl::UniformKind::Ints(count.max(1) as u32)) }
}

fn shifts_value(plan: &BandPlan) -> UniformValue {
    UniformValue::Ints(if plan.shifts.is_empty() { vec![0] } else { plan.shifts.clone() })
}

fn partial_sum(y: &Vector) -> Result<PooledTexture> {
    y.device().texture(y.extent(), crate::gl::Format::Rgba32F, "partial sum")
}

/// `y = combine(α A x)` for a banded matrix.
///
/// *Shapes*: `A` m x n, `x` n, `y` and the vector in `combine` m. *Cost*: 1 draw for every 12 diagonals, each texel of
/// `x` that several diagonals of a pass need fetched once; no readback. *Errors*: [`Error::ShapeMismatch`],
/// [`Error::Parameter`] for an `α` that is not finite. *Bound*: `γ_(k+2) (|α| |A| |x| + |z|)_i` for k diagonals.
/// *Source*: \[Krueger05\] 44.3.3.
pub fn banded_product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &BandedMatrix,
    x: &Vector,
) -> Result<()> {
    check_product("banded_product", a.shape(), y, &combine, alpha, x)?;
    product(y, combine, alpha, a, x, false)
}

/// `y = combine(α Aᵀ x)` for a banded matrix, without storing `Aᵀ`.
///
/// *Shapes*: `A` m x n, `x` m, `y` and the vector in `combine` n. *Cost*: as [`banded_product`], with two fetches of
/// each diagonal whose offset is no multiple of four. *Errors* and *bound*: as [`banded_product`].
pub fn banded_product_transposed(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &BandedMatrix,
    x: &Vector,
) -> Result<()> {
    check_product("banded_product_transposed", a.shape().transposed(), y, &combine, alpha, x)?;
    product(y, combine, alpha, a, x, true)
}

fn product(
    y: &mut Vector,
    combine: Combine<'_>,
    alpha: f32,
    a: &BandedMatrix,
    x: &Vector,
    transposed: bool,
) -> Result<()> {
    if matches!(combine, Combine::Accumulate) {
        return accumulate(y, |sum, combine| product(sum, combine, alpha, a, x, transposed));
    }
    let device = a.device();
    let _scope = device.scope()?;
    let units = device.gl().caps.borrow().texture_units as usize;
    let per_pass = units.saturating_sub(OTHER_INPUTS).clamp(1, 12);
    let sign = if transposed { -1 } else { 1 };
    let offsets: Vec<i64> = a.offsets().iter().map(|o| sign * o).collect();
    // A matrix without entries still takes a pass: zero, combined.
    let groups: Vec<(&[i64], &[crate::data::Band])> = if offsets.is_empty() {
        vec![(&[], &[])]
    } else {
        offsets.chunks(per_pass).zip(a.bands.chunks(per_pass)).collect()
    };
    let count = groups.len();
    let mut partial: Option<PooledTexture> = None;
    for (i, (offsets, bands)) in groups.into_iter().enumerate() {
        let last = i + 1 == count;
        let plan = BandPlan::new(offsets);
        let combine = if last { combine } else { Combine::Replace };
        let z = combine.operand();
        let key = format!("banded {:?} {last} {} {transposed} {}", plan.taps, combine.define(), partial.is_some());
        let d_names = names(bands.len());
        let kernel = device.kernel(&key, || {
            let mut inputs = vec!["x"];
            inputs.extend(d_names.iter().map(String::as_str));
            if partial.is_some() {
                inputs.push("partial");
            }
            if z.is_some() {
                inputs.push("z");
            }
            let fields = [
                shifts_field(plan.shifts.len()),
                Field { name: "factors", kind: <[f32; 2]>::KIND },
                Field { name: "source_texels", kind: i32::KIND },
            ];
            let (fetches, terms) = if transposed {
                transposed_text(&plan)
            } else {
                let term = |i: usize| format!(" sum += d{i}(p) * {};", plan.elements(i));
                let all: String = (0..bands.len()).map(term).collect();
                (plan.fetches(), format!("#define BANDS{all}\n"))
            };
            let first = if partial.is_some() { "partial(p)" } else { "vec4(0.0)" };
            KernelSpec::fragment(glsl!("banded/product.frag"), &inputs, &fields, &["out"])
                .with(&fetches)
                .with(&terms)
                .with(&format!("#define FIRST_TERM {first}\n#define LAST {}", u8::from(last)))
                .with(combine.define())
        })?;
        let mut inputs = vec![x.view()];
        inputs.extend(bands.iter().map(|b| View::whole(device, b.high.texture())));
        inputs.extend(partial.as_ref().map(|t| View::whole(device, t.texture())));
        inputs.extend(z.map(Operand::view));
        let params = vec![
            shifts_value(&plan),
            UniformValue::Vec2(a.scaling.factors(alpha)),
            UniformValue::Int(i32::try_from(x.extent().area()).unwrap_or(i32::MAX)),
        ];
        if last {
            device.execute(&Pass::new(&kernel, vec![y.view()], inputs).params(params))?;
        } else {
            let sum = partial_sum(y)?;
            let target = View::whole(device, sum.texture());
            device.execute(&Pass::new(&kernel, vec![target], inputs).params(params))?;
            partial = Some(sum);
        }
    }
    Ok(())
}

/// `out = α A x + β z` accumulated in double-float with the full coefficients, rounded once.
///
/// *Shapes*: as [`banded_product`]. *Cost*: 1 draw into two targets for every 5 diagonals. *Errors*:
/// [`Error::ShapeMismatch`]; [`Error::Unsupported`] for `Aᵀ`, and where the device has no exact form of two-sum
/// ([`Capabilities::exact_form`](crate::gl::Capabilities::exact_form)). *Bound*: one rounding, and about
/// `k 2⁻⁴⁶ |A| |x|`.
pub fn banded_accurate(out: &mut Vector, a: &BandedMatrix, terms: Accurate<'_>) -> Result<()> {
    let Accurate { transposed, alpha, x, plus } = terms;
    let op = "banded_accurate";
    check_product(op, a.shape(), out, &Combine::Replace, alpha, x)?;
    if let Some((_, z)) = plus {
        super::check_shape(op, "z", z.shape(), out.shape())?;
    }
    let device = a.device();
    super::require_exact(device, op)?;
    if transposed {
        let why = "use a SparseMatrix, which gathers the transposed rows".into();
        return Err(Error::Unsupported { what: "an accurate product with a transposed banded matrix".into(), why });
    }
    let _scope = device.scope()?;
    let units = device.gl().caps.borrow().texture_units as usize;
    let per_pass = (units.saturating_sub(OTHER_INPUTS) / 2).clamp(1, 6);
    let groups: Vec<(&[i64], &[crate::data::Band])> = if a.offsets().is_empty() {
        vec![(&[], &[])]
    } else {
        a.offsets().chunks(per_pass).zip(a.bands.chunks(per_pass)).collect()
    };
    let count = groups.len();
    let mut partial: Option<(PooledTexture, PooledTexture)> = None;
    for (i, (offsets, bands)) in groups.into_iter().enumerate() {
        let plan = BandPlan::new(offsets);
        let lows: Vec<bool> = bands.iter().map(|b| b.low.is_some()).collect();
        let key =
            format!("banded accurate {:?} {lows:?} {} {}", plan.taps, partial.is_some(), plus.is_some());
        let d_names = names(bands.len());
        let low_names: Vec<_> = lows.iter().zip(&d_names).filter(|(l, _)| **l).map(|(_, d)| format!("{d}_low")).collect();
        let kernel = device.kernel(&key, || {
            let mut inputs = vec!["x"];
            inputs.extend(d_names.iter().chain(&low_names).map(String::as_str));
            let (mut high, mut low) = ("vec4(0.0)", "vec4(0.0)");
            if partial.is_some() {
                inputs.extend(["partial_high", "partial_low"]);
                (high, low) = ("partial_high(p)", "partial_low(p)");
            } else if plus.is_some() {
                inputs.push("z");
                high = "beta * z(p)";
            }
            let fields = [
                shifts_field(plan.shifts.len()),
                Field { name: "factors", kind: <[f32; 2]>::KIND },
                Field { name: "beta", kind: f32::KIND },
            ];
            let term = |i: usize| {
                let low = if lows.get(i) == Some(&true) { format!("d{i}_low(p)") } else { "vec4(0.0)".into() };
                let x = plan.elements(i);
                format!(" s = add_product4(s, d{i}(p), {low}, ({x} * factors.y) * factors.x);")
            };
            let all: String = (0..bands.len()).map(term).collect();
            KernelSpec::fragment(glsl!("banded/accurate.frag"), &inputs, &fields, &["high_part", "low_part"])
                .with(&plan.fetches())
                .with(&format!("#define BANDS{all}\n#define START_HIGH {high}\n#define START_LOW {low}"))
        })?;
        let view = |t| View::whole(device, t);
        let mut inputs = vec![x.view()];
        inputs.extend(bands.iter().map(|b| view(b.high.texture())));
        inputs.extend(bands.iter().filter_map(|b| b.low.as_ref()).map(|t| view(t.texture())));
        match &partial {
            Some((high, low)) => inputs.extend([view(high.texture()), view(low.texture())]),
            None => inputs.extend(plus.map(|(_, z)| z.view())),
        }
        let params = vec![
            shifts_value(&plan),
            UniformValue::Vec2(a.scaling.factors(alpha)),
            UniformValue::Float(plus.map_or(0.0, |(beta, _)| beta)),
        ];
        let low = partial_sum(out)?;
        if i + 1 == count {
            let targets = vec![out.view(), view(low.texture())];
            device.execute(&Pass::new(&kernel, targets, inputs).params(params))?;
        } else {
            let high = partial_sum(out)?;
            let targets = vec![view(high.texture()), view(low.texture())];
            device.execute(&Pass::new(&kernel, targets, inputs).params(params))?;
            partial = Some((high, low));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texels_needed_twice_are_fetched_once() {
        let plan = BandPlan::new(&[-512, -1, 0, 1, 512]);
        assert_eq!(plan.shifts, [-128, -1, 0, 1, 128]);
        assert_eq!(plan.taps, [(0, 0, 0), (1, 2, 3), (2, 2, 0), (2, 3, 1), (4, 4, 0)]);
        assert_eq!(plan.elements(1), "vec4(x1.w, x2.xyz)");
        assert_eq!(plan.elements(3), "vec4(x2.yzw, x3.x)");
    }

    #[test]
    fn every_residue_takes_four_consecutive_elements() {
        let plan = BandPlan::new(&[-3, -2, -1, 0, 1, 2, 3, 4]);
        let element = |text: &str, lane: usize, plan: &BandPlan| -> i64 {
            // Expand the swizzles of a generated expression and find lane's element relative to 4 t.
            let text = text.trim_start_matches("vec4(").trim_end_matches(')');
            let mut all = Vec::new();
            for part in text.split(", ") {
                let (name, lanes) = part.split_once('.').unwrap_or((part, "xyzw"));
                let shift = plan.shifts[name[1..].parse::<usize>().unwrap()];
                all.extend(lanes.chars().map(|c| i64::from(shift) * 4 + "xyzw".find(c).unwrap() as i64));
            }
            all[lane]
        };
        for (i, offset) in (-3..=4).enumerate() {
            for lane in 0..4 {
                assert_eq!(element(&plan.elements(i), lane, &plan), offset + lane as i64);
            }
        }
    }
}
