//! Listings and GLSL: the text itself, and what it computes, by a reader of the few forms of statements that occur.

use std::collections::BTreeMap;

use texla::host::Triplets;
use texla::pack::{Form, LinearExpression, LowerOptions, Order, Packing, Program, instances};
use texla::{Error, Shape};

use crate::common::random::{Rng, any_bits};
use crate::program::{best, random, shuffled};

const VERTEX: LowerOptions = LowerOptions::VERTEX;
const FRAGMENT: LowerOptions = LowerOptions::FRAGMENT;

/// The pattern of Figure 1, its coefficients numbered.
fn figure_1(b: bool) -> LinearExpression {
    let rows: [&[usize]; 4] = [&[1, 2], &[0, 2, 3], &[1, 2], &[0, 1]];
    let entries = rows
        .iter()
        .enumerate()
        .flat_map(|(i, row)| row.iter().map(move |&j| (i, j, (10 * (i + 1) + j) as f64)));
    let a = Triplets::from_entries(Shape::new(4, 4), entries).unwrap();
    LinearExpression::new(&a, &[b; 4]).unwrap()
}

#[test]
fn figure_1_is_listed_as_the_paper_has_it() {
    let program = Program::lower(&figure_1(false), &Packing::identity(4), VERTEX).unwrap();
    assert_eq!(
        program.listing(),
        "# y = A x + b. Unknowns: 4, quads: 1; for the vertex stage
# Instructions: 1 MUL, 2 MAD. Moves that do not count: 0
# Temporaries: 1. Constants: 3
#
# Unknowns in the components of X, B, Y:
# 0: 0 1 2 3
#
# Constants:
# C0 = 11.0 20.0 31.0 40.0
# C1 = 12.0 22.0 32.0 41.0
# C2 = 0.0 23.0 0.0 0.0

# Y0
MUL R0, C0, X0.yxyx
MAD R0, C1, X0.zzzy, R0
MAD Y0, C2, X0.wwww, R0
"
    );
}

#[test]
fn a_row_by_itself_is_listed_row_major() {
    let row = (0..3).map(|j| (2, j, (j + 1) as f64));
    let a = Triplets::from_entries(Shape::new(4, 4), row).unwrap();
    let listing = |b: bool, options| {
        let e = LinearExpression::new(&a, &[b; 4]).unwrap();
        let text = Program::lower(&e, &Packing::identity(4), options).unwrap().listing();
        text.split_once("# Y0\n").unwrap().1.to_owned()
    };
    assert_eq!(
        listing(true, VERTEX),
        "DP4 R0.z, C0, X0.xyzx\nADD Y0.z, R0, B0\nMOV Y0.xyw, B0  # not counted\n"
    );
    assert_eq!(listing(false, VERTEX), "DP4 Y0.z, C0, X0.xyzx\nMOV Y0.xyw, C1  # not counted\n");
    assert_eq!(
        listing(false, FRAGMENT),
        "TEX R0, X0\nDP4 Y0.z, C0, R0.xyzx\nMOV Y0.xyw, C1  # not counted\n"
    );
}

#[test]
fn serial_dot_products_add_what_is_there() {
    let entries = (0..4).flat_map(|i: usize| {
        (i.saturating_sub(1)..4.min(i + 2)).map(move |j| (i, j, if i == j { 2.0 } else { -1.0 }))
    });
    let a = Triplets::from_entries(Shape::new(4, 4), entries).unwrap();
    let e = LinearExpression::gauss_seidel(&a).unwrap();
    let program = Program::lower(&e, &Packing::identity(4), VERTEX).unwrap();
    assert!(
        program.listing().ends_with(
            "\n# Y0\nMAD Y0, C0, X0.yzwy, B0\nDP4 Y0.y, C1, Y0.xyyy\nDP4 Y0.z, C2, Y0.zyzz\nDP4 Y0.w, C3, Y0.wwzw\n"
        ),
        "{program}"
    );
    let body = &program.vertex_parts(15).unwrap()[0].body;
    assert!(body.contains("    y[0].y = c1.x * y[0].x + c1.y * y[0].y;\n"), "{body}");
}

// --- a reader of the generated statements ---

type Quads = BTreeMap<String, [f64; 4]>;

fn lanes(suffix: Option<&str>) -> Vec<usize> {
    suffix.unwrap_or("xyzw").chars().map(|c| "xyzw".find(c).unwrap()).collect()
}

/// `x[3].zy`, `c0`, `0.0`.
fn operand(text: &str, quads: &Quads) -> Vec<f64> {
    if let Ok(number) = text.parse::<f64>() {
        return vec![number];
    }
    let (name, suffix) = text.split_once('.').map_or((text, None), |(name, suffix)| (name, Some(suffix)));
    let quad = quads.get(name).unwrap_or_else(|| panic!("{name} has no value"));
    lanes(suffix).into_iter().map(|k| quad[k]).collect()
}

/// A sum of products, from left to right; every operand is as wide as the target.
fn statement(line: &str, quads: &mut Quads) {
    let (target, value) = line.strip_suffix(';').unwrap().split_once(" = ").unwrap();
    let (name, suffix) = target.split_once('.').map_or((target, None), |(name, suffix)| (name, Some(suffix)));
    let targets = lanes(suffix);
    let mut sum: Option<Vec<f64>> = None;
    for term in value.split(" + ") {
        let mut product = vec![1.0; targets.len()];
        for factor in term.split(" * ") {
            let factor = operand(factor, quads);
            assert_eq!(factor.len(), product.len(), "{line}");
            product.iter_mut().zip(factor).for_each(|(p, f)| *p *= f);
        }
        sum = Some(match sum {
            Some(sum) => sum.iter().zip(&product).map(|(s, p)| s + p).collect(),
            None => product,
        });
    }
    let quad = quads.entry(name.to_owned()).or_insert([f64::NAN; 4]);
    for (k, value) in targets.into_iter().zip(sum.unwrap()) {
        quad[k] = value;
    }
}

/// `const vec4 c0 = vec4(...);`
fn constant(line: &str, quads: &mut Quads) {
    let (name, values) = line.strip_prefix("const vec4 ").unwrap().split_once(" = vec4(").unwrap();
    let values: Vec<f64> = values
        .strip_suffix(");")
        .unwrap()
        .split(", ")
        .map(|v| f64::from(v.parse::<f32>().unwrap()))
        .collect();
    quads.insert(name.to_owned(), values.try_into().unwrap());
}

/// Runs the body of a kernel; `texel` chooses among block rows in the fragment stage.
fn run(body: &str, quads: &mut Quads, texel: usize) {
    // Whether each enclosing block is the one that is executed.
    let mut taken: Vec<bool> = Vec::new();
    for line in body.lines().map(str::trim) {
        if line.starts_with("const ") {
            constant(line, quads);
        } else if let Some(test) = line.strip_prefix("if (t < ") {
            taken.push(texel < test.strip_suffix(") {").unwrap().parse().unwrap());
        } else if line == "} else {" {
            let last = taken.last_mut().unwrap();
            *last = !*last;
        } else if line == "}" {
            taken.pop();
        } else if line.contains(" = ") && !line.starts_with("int ") && taken.iter().all(|t| *t) {
            statement(line, quads);
        }
    }
    assert!(taken.is_empty());
}

fn inputs(name: &str, bracket: (&str, &str), values: &[f64], quads: &mut Quads) {
    for (j, quad) in values.chunks(4).enumerate() {
        quads.insert(format!("{name}{}{j}{}", bracket.0, bracket.1), quad.try_into().unwrap());
    }
}

/// What the texts of both stages compute, against the interpreter.
fn check(e: &LinearExpression, packing: &Packing, max_outputs: usize, seed: u64) {
    let (n, mut rng) = (e.unknowns(), Rng::new(seed));
    let mut values = || (0..n).map(|_| f64::from(rng.signed())).collect::<Vec<_>>();
    let (x, b) = (values(), values());
    let program = Program::lower(e, packing, VERTEX).unwrap();
    let want = program.run(&x, &b).unwrap();
    let close = |found: &[f64], what: &str| {
        // The order of sums is that of the interpreter; only products with zero are left out.
        assert_eq!(packing.rows().unpacked(found), want, "{what}");
    };
    let b: Vec<f64> = b.iter().enumerate().map(|(i, &b)| if e.is_nontrivial(i) { b } else { 0.0 }).collect();
    let mut x = packing.cols().packed(&x);
    let b = packing.rows().packed(&b);
    let mut y = Vec::new();
    let parts = program.vertex_parts(max_outputs).unwrap();
    assert_eq!(parts.len(), e.quads().div_ceil(max_outputs));
    for part in &parts {
        assert_eq!(4 * part.first, y.len());
        if e.form() == Form::GaussSeidel {
            x[..y.len()].copy_from_slice(&y);
        }
        let mut quads = Quads::new();
        inputs("x", ("[", "]"), &x, &mut quads);
        inputs("b", ("[", "]"), &b, &mut quads);
        run(&part.body, &mut quads, 0);
        assert!(!part.body.contains(&format!("y[{}]", part.quads)));
        (0..part.quads).for_each(|k| y.extend(quads[&format!("y[{k}]")]));
    }
    close(&y, "vertex stage");
    if e.form() == Form::Affine {
        let parts = Program::lower(e, packing, FRAGMENT).unwrap().fragment_parts(max_outputs).unwrap();
        let mut y = Vec::new();
        for (part, texel) in parts.iter().flat_map(|p| (p.first..p.first + p.quads).map(move |t| (p, t))) {
            assert_eq!(4 * texel, y.len());
            let mut quads = Quads::new();
            inputs("x_texel", ("(", ")"), &x, &mut quads);
            inputs("b_texel", ("(", ")"), &b, &mut quads);
            run(&part.body, &mut quads, texel);
            y.extend(quads["y"]);
        }
        close(&y, "fragment stage");
    }
}

#[test]
fn texts_compute_what_the_program_does() {
    for (name, order) in best() {
        let e = crate::cost::instance(name);
        for outputs in [1, 3, 15, 64] {
            check(&e, &Packing::identity(e.unknowns()), outputs, 7);
            check(&e, &Packing::symmetric(Order::new(e.unknowns(), &order).unwrap()), outputs, 8);
        }
    }
    let mut rng = Rng::new(62);
    for seed in 0..60 {
        let n = 1 + rng.below(24);
        let (mut a, nontrivial) = random(&mut rng, n, 6, 0.5);
        let e = LinearExpression::new(&a, &nontrivial).unwrap();
        let two = Packing::independent(shuffled(&mut rng, n), shuffled(&mut rng, n)).unwrap();
        check(&e, &two, 1 + rng.below(4), seed);
        (0..n).for_each(|i| a.push(i, i, 50.0).unwrap());
        let e = LinearExpression::gauss_seidel(&a).unwrap();
        check(&e, &Packing::symmetric(shuffled(&mut rng, n)), 1 + rng.below(4), seed);
    }
}

#[test]
fn fetches_are_one_a_quad_and_block_row() {
    use texla::pack::TexelFetch;
    for (name, order) in best().into_iter().filter(|(name, _)| *name != "gs64") {
        let e = crate::cost::instance(name);
        for packing in
            [Packing::identity(e.unknowns()), Packing::symmetric(Order::new(e.unknowns(), &order).unwrap())]
        {
            let program = Program::lower(&e, &packing, FRAGMENT).unwrap();
            let with_b =
                (0..e.quads()).filter(|q| (4 * q..4 * q + 4).any(|p| e.is_nontrivial(packing.rows().at(p))));
            let fetches = TexelFetch.fetches(&e, &packing).unwrap() + with_b.count() as u32;
            assert_eq!(program.counts().tex, fetches, "{name}");
        }
    }
}

#[test]
fn literals_read_back_as_the_same_bits() {
    let mut values = any_bits(63, 4000);
    values.extend([
        0.0,
        -0.0,
        1.0,
        -1.5,
        f32::MAX,
        f32::MIN,
        f32::MIN_POSITIVE,
        1e-7,
        16_777_216.0,
        1e20,
        0.1,
    ]);
    for chunk in values.chunks(4).filter(|chunk| chunk.len() == 4) {
        let mut program = Program::lower(&figure_1(true), &Packing::identity(4), VERTEX).unwrap();
        program.constants[0].copy_from_slice(chunk);
        let body = &program.vertex_parts(15).unwrap()[0].body;
        let text = body.split_once("vec4(").unwrap().1.split_once(')').unwrap().0;
        for (text, value) in text.split(", ").zip(chunk) {
            assert!(text.contains('.') && !text.ends_with('.'), "{text}");
            assert_eq!(text.parse::<f32>().unwrap().to_bits(), value.to_bits(), "{text}");
        }
    }
}

#[test]
fn thousands_of_instructions_make_text_in_proportion() {
    let length = |side: usize| {
        let wave = instances::wave_on(texla::Grid::new_2d(side, side)).unwrap();
        let packing = Packing::identity(side * side);
        let fragment = Program::lower(&wave, &packing, FRAGMENT).unwrap();
        let vertex = Program::lower(&wave, &packing, VERTEX).unwrap();
        let parts = vertex.vertex_parts(15).unwrap();
        assert_eq!(parts.iter().map(|part| part.quads).sum::<usize>(), side * side / 4);
        let one = fragment.fragment_parts(side * side / 4).unwrap();
        assert_eq!(one.len(), 1);
        (one[0].body.len(), parts.iter().map(|p| p.body.len()).sum::<usize>())
    };
    let (small, large) = (length(32), length(64));
    assert!(large.0 < 5 * small.0 && large.1 < 5 * small.1, "{small:?} {large:?}");
}

#[test]
fn what_makes_no_text_is_refused() {
    let cars = crate::cost::instance("rk20");
    let packing = Packing::identity(20);
    let vertex = Program::lower(&cars, &packing, VERTEX).unwrap();
    assert!(matches!(vertex.fragment_parts(1), Err(Error::Parameter { name: "stage", .. })));
    assert!(matches!(vertex.vertex_parts(0), Err(Error::Parameter { name: "quads", .. })));
    let mut fragment = Program::lower(&cars, &packing, FRAGMENT).unwrap();
    assert!(matches!(fragment.vertex_parts(15), Err(Error::Parameter { name: "stage", .. })));
    fragment.temporaries = 0;
    assert!(matches!(fragment.fragment_parts(1), Err(Error::Program { instruction: 0, .. })));
    // Longer than one piece of text may be: a tridiagonal system has two instructions a quad and two fetches, or more.
    let n = 2 * Program::MAX_GLSL_INSTRUCTIONS;
    let e = LinearExpression::jacobi(&texla::host::problems::poisson_1d(n)).unwrap();
    let program = Program::lower(&e, &Packing::identity(n), FRAGMENT).unwrap();
    assert!(matches!(program.fragment_parts(n), Err(Error::Parameter { name: "instructions", .. })));
    let program = Program::lower(&e, &Packing::identity(n), VERTEX).unwrap();
    assert_eq!(program.vertex_parts(15).unwrap().len(), (n / 4).div_ceil(15));
    assert!(matches!(program.vertex_parts(n), Err(Error::Parameter { name: "instructions", .. })));
}
