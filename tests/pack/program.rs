//! Programs: as many instructions as the cost says, and the result of plain arithmetic.

use proptest::prelude::*;
use texla::host::Triplets;
use texla::pack::{
    CostModel, Form, Instruction, LinearExpression, LowerOptions, Operation, Order, Packing, Program,
    Register, ShaderStage, SimdMachine, Source, Swizzle, WriteMask, instances,
};
use texla::{Error, Shape};

use crate::common::bounds::{U, assert_componentwise, product_bounds};
use crate::common::random::Rng;
use crate::cost::{WAVE, accordion, instance};

const VERTEX: LowerOptions = LowerOptions::VERTEX;
const FRAGMENT: LowerOptions = LowerOptions::FRAGMENT;
const FX: LowerOptions = VERTEX.with_one_constant(true);

/// The half-turns' orbits of the cube.
fn cube() -> Vec<usize> {
    let at = |i: usize, j: usize, k: usize| (k * 4 + j) * 4 + i;
    let mut order = Vec::new();
    for (i, j, k) in (0..64).map(|c| (c % 4, c / 4 % 4, c / 16)) {
        if !order.contains(&at(i, j, k)) {
            order.extend([at(i, j, k), at(3 - i, 3 - j, k), at(3 - i, j, 3 - k), at(i, 3 - j, 3 - k)]);
        }
    }
    order
}

const CARS: [usize; 20] = [0, 1, 2, 3, 5, 9, 13, 17, 4, 8, 12, 16, 7, 11, 15, 19, 6, 10, 14, 18];

/// Every instance with its best order.
pub fn best() -> Vec<(&'static str, Vec<usize>)> {
    vec![
        ("wave2d", WAVE.to_vec()),
        ("rk20", CARS.to_vec()),
        ("gs64", cube()),
        ("poisson2d_s8", accordion(2)),
        ("poisson3d_s40", accordion(10)),
        ("wave_s32", accordion(8)),
    ]
}

pub fn shuffled(rng: &mut Rng, n: usize) -> Order {
    let mut at: Vec<usize> = (0..n.next_multiple_of(4)).collect();
    rng.shuffle(&mut at);
    Order::new(n, &at).unwrap()
}

/// The program, checked: it keeps to the invariants, and counts what its cost says.
#[track_caller]
fn lowered(e: &LinearExpression, packing: &Packing, options: LowerOptions) -> Program {
    let program = Program::lower(e, packing, options).unwrap();
    program.verify().unwrap();
    assert_eq!(program.cost, SimdMachine.cost(e, packing).unwrap());
    let counts = program.counts();
    let wanted = program.cost.0.checked_add_signed(program.extra);
    assert_eq!(Some(counts.total() - counts.mov), wanted, "cost {}", program.cost);
    assert!(counts.mov == 0 || options.one_constant);
    program
}

/// y and the sums of magnitudes, in 64 bits with the coefficients rounded to 32: the rows in the order of the packing.
fn twin(e: &LinearExpression, packing: &Packing, x: &[f64], b: &[f64]) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
    let n = e.unknowns();
    let (mut now, mut y, mut sums, mut terms) = (x.to_vec(), vec![0.0; n], vec![0.0; n], vec![0; n]);
    for p in 0..packing.rows().len() {
        let i = packing.rows().at(p);
        if i >= n {
            continue;
        }
        let b = if e.is_nontrivial(i) { b[i] } else { 0.0 };
        let products: Vec<f64> = e.row(i).map(|(j, v)| f64::from(v as f32) * now[j]).collect();
        y[i] = products.iter().sum::<f64>() + b;
        sums[i] = products.iter().map(|v| v.abs()).sum::<f64>() + b.abs();
        terms[i] = products.len() + 1;
        if e.form() == Form::GaussSeidel {
            now[i] = y[i];
        }
    }
    (y, sums, terms)
}

/// Both interpreters against the twin. A program adds a zero now and then and sums in another order, which the number
/// of terms covers; Gauss-Seidel passes errors on, but its rows of magnitudes sum to at most `norm`.
#[track_caller]
fn agrees(name: &str, e: &LinearExpression, packing: &Packing, program: &Program, seed: u64) {
    let mut rng = Rng::new(seed);
    let n = e.unknowns();
    let (x, b): (Vec<f32>, Vec<f32>) = (0..n).map(|_| (rng.signed(), rng.signed())).unzip();
    let wide = |v: &[f32]| v.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
    let (want, sums, terms) = twin(e, packing, &wide(&x), &wide(&b));
    let mut bounds = product_bounds(&sums, terms);
    if e.form() == Form::GaussSeidel {
        // What a row inherits: the errors of the rows before it, by the magnitudes of its coefficients.
        for p in 0..packing.rows().len() {
            let i = packing.rows().at(p);
            let inherited = |&(j, _): &(usize, f64)| packing.rows().position(j) < p;
            let more: f64 = e.row(i).filter(inherited).map(|(j, v)| v.abs() * bounds[j]).sum();
            if i < n {
                bounds[i] += more * (1.0 + 16.0 * U);
            }
        }
    }
    let single = program.run_f32(&x, &b).unwrap();
    assert_componentwise(name, &single, &want, &bounds);
    let double = program.run(&wide(&x), &wide(&b)).unwrap();
    for i in 0..n {
        // The same bound with the unit roundoff of 64 bits.
        let bound = bounds[i] * f64::EPSILON / U;
        assert!((double[i] - want[i]).abs() <= bound, "{name}: y[{i}] = {}, {} wanted", double[i], want[i]);
    }
}

/// Everything about one expression in one packing.
#[track_caller]
fn check(name: &str, e: &LinearExpression, packing: &Packing, seed: u64) -> Program {
    let program = lowered(e, packing, VERTEX);
    agrees(name, e, packing, &program, seed);
    assert_eq!(program.extra, z(e, packing), "{name}: z");
    agrees(name, e, packing, &lowered(e, packing, FX), seed);
    if e.form() == Form::Affine {
        let fragment = lowered(e, packing, FRAGMENT);
        agrees(name, e, packing, &fragment, seed);
        let without_tex = |mut c: texla::pack::InstructionCounts| {
            c.tex = 0;
            c
        };
        assert_eq!(without_tex(fragment.counts()), program.counts(), "{name}: the fragment stage");
    }
    program
}

/// z by its definition, from the matrix alone: block rows that need one instruction more.
fn z(e: &LinearExpression, packing: &Packing) -> i32 {
    let quads = e.quads();
    let (rows, cols) = (packing.rows(), packing.cols());
    let in_place = e.form() == Form::GaussSeidel;
    let mut z = 0;
    for i in 0..quads {
        // Non-zeros of each row by (new, serial, quad of x).
        let mut blocks = std::collections::BTreeMap::<(bool, bool, usize), [u32; 4]>::new();
        for r in 0..4 {
            for (j, _) in e.row(rows.at(4 * i + r)) {
                let at = cols.position(j);
                let new = in_place && at < 4 * i + r;
                blocks.entry((new, new && at / 4 == i, at / 4)).or_default()[r] += 1;
            }
        }
        let row_major = |counts: &[u32; 4]| {
            counts.iter().filter(|&&c| c > 0).count() < *counts.iter().max().unwrap() as usize
        };
        let serial = blocks.keys().any(|key| key.1);
        let dots: Vec<_> = blocks.iter().filter(|(key, counts)| !key.1 && row_major(counts)).collect();
        let columns: Vec<_> = blocks.iter().filter(|(key, counts)| !key.1 && !row_major(counts)).collect();
        let trivial = (0..4).all(|r| !e.is_nontrivial(rows.at(4 * i + r)));
        let written = |r: usize| dots.iter().any(|(_, counts)| counts[r] > 0);
        let fresh = (0..4).any(|r| !written(r) && columns.iter().any(|(_, counts)| counts[r] > 0));
        let avoids =
            |counts: &[u32; 4]| (0..4).all(|r| !written(r) || counts[r] < *counts.iter().max().unwrap());
        let possible = columns.iter().any(|(_, counts)| avoids(counts));
        let begun = trivial && !dots.is_empty() && fresh && !possible;
        // Sums of dot products of old and of new x.
        let new = dots.iter().filter(|(key, _)| key.0).count();
        let old = dots.len() - new;
        z += match (in_place, trivial) {
            (false, _) => i32::from(begun),
            (true, false) => i32::from(!serial && new > 0),
            (true, true) if dots.is_empty() => 0,
            // The first needs no sum, nor does the serial part; the formula spares one of either kind.
            (true, true) => {
                let (new, old, serial) = (new as i32, old as i32, i32::from(serial));
                old + new - 1 + i32::from(begun) - (new + serial - 1).max(0) - (old - 1).max(0)
            }
        };
    }
    z
}

#[test]
fn instances_in_any_order() {
    let mut rng = Rng::new(61);
    for (name, order) in best() {
        let e = instance(name);
        let n = e.unknowns();
        let packed = Packing::symmetric(Order::new(n, &order).unwrap());
        for (seed, packing) in [Packing::identity(n), packed].into_iter().enumerate() {
            let program = check(name, &e, &packing, seed as u64);
            assert_eq!(program.extra, 0, "{name}");
        }
        for seed in 0..10 {
            check(name, &e, &Packing::symmetric(shuffled(&mut rng, n)), seed);
            if e.form() == Form::Affine {
                let two = Packing::independent(shuffled(&mut rng, n), shuffled(&mut rng, n)).unwrap();
                check(name, &e, &two, seed);
            }
        }
    }
}

/// (ADD, MUL, MAD, DP4) of an instance in an order.
fn mix(e: &LinearExpression, at: &[usize]) -> (u32, u32, u32, u32) {
    let packing = Packing::symmetric(Order::new(e.unknowns(), at).unwrap());
    let counts = lowered(e, &packing, VERTEX).counts();
    (counts.add, counts.mul, counts.mad, counts.dp4)
}

#[test]
fn golden_mixes_of_instructions() {
    let identity: Vec<usize> = (0..64).collect();
    assert_eq!(mix(&instance("gs64"), &identity), (0, 0, 64, 48));
    assert_eq!(mix(&instance("gs64"), &cube()), (0, 0, 72, 0));
    assert_eq!(mix(&instance("wave2d"), &WAVE), (1, 0, 61, 1));
    assert_eq!(mix(&instance("rk20"), &CARS), (0, 2, 12, 0));
    assert_eq!(mix(&instance("rk20"), &identity[..20]), (0, 0, 20, 0));
}

#[test]
fn coefficients_share_registers() {
    for ((name, order), constants) in best().into_iter().zip([4, 13, 1, 3, 3, 5]) {
        let e = instance(name);
        let packing = Packing::symmetric(Order::new(e.unknowns(), &order).unwrap());
        // Rows that are always zero need a vector of zeros besides.
        let vectors = lowered(&e, &packing, VERTEX).constants;
        let found = vectors.iter().filter(|c| **c != [0.0; 4]).count();
        assert_eq!(found, constants, "{name}: {vectors:?}");
        assert!(vectors.len() <= found + 1);
    }
}

#[test]
fn one_instruction_more_where_nothing_can_begin() {
    // Row 0 full in block 0, the identity in block 1, no b: 1 DP4 and one peel, which reaches rows that no DP4 has written.
    let entries = (0..4).flat_map(|k| [(0, k, 1.0), (k, 4 + k, 1.0)]);
    let a = Triplets::from_entries(Shape::new(8, 8), entries).unwrap();
    let e = LinearExpression::new(&a, &[false; 8]).unwrap();
    let program = check("caveat", &e, &Packing::identity(8), 1);
    assert_eq!((program.cost.0, program.extra, program.counts().total()), (2, 1, 3));
    // A second non-zero in row 1 lets row 0 wait for the second peel: the first is a MUL.
    let entries = (0..4).flat_map(|k| [(0, k, 1.0), (k, 4 + k, 1.0)]).chain([(1, 4, 1.0)]);
    let a = Triplets::from_entries(Shape::new(8, 8), entries).unwrap();
    let e = LinearExpression::new(&a, &[false; 8]).unwrap();
    let program = check("caveat", &e, &Packing::identity(8), 2);
    assert_eq!((program.cost.0, program.extra), (3, 0));
}

/// Rows with up to `per_row` entries, b trivial with probability `quiet`.
pub fn random(rng: &mut Rng, n: usize, per_row: usize, quiet: f64) -> (Triplets, Vec<bool>) {
    let mut entries = Vec::new();
    for i in 0..n {
        for _ in 0..rng.below(per_row + 1) {
            entries.push((i, rng.below(n), f64::from(rng.signed())));
        }
    }
    (
        Triplets::from_entries(Shape::new(n, n), entries).unwrap(),
        (0..n).map(|_| rng.unit() >= quiet).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_matrices(seed in any::<u64>(), n in 1usize..40, per_row in 0usize..9, quiet in 0u8..4) {
        let mut rng = Rng::new(seed);
        let (a, nontrivial) = random(&mut rng, n, per_row, [0.0, 0.3, 0.9, 1.0][usize::from(quiet)]);
        let e = LinearExpression::new(&a, &nontrivial).unwrap();
        let rows = shuffled(&mut rng, n);
        check("symmetric", &e, &Packing::symmetric(rows.clone()), seed);
        check("independent", &e, &Packing::independent(rows, shuffled(&mut rng, n)).unwrap(), seed);
    }

    #[test]
    fn random_sweeps(seed in any::<u64>(), n in 1usize..40, per_row in 0usize..9) {
        let mut rng = Rng::new(seed);
        let (mut a, _) = random(&mut rng, n, per_row, 0.0);
        (0..n).for_each(|i| a.push(i, i, 8.0 * per_row as f64 + 1.0).unwrap());
        let trivial = [0, 1, 2][seed as usize % 3];
        let nontrivial: Vec<bool> = (0..n).map(|_| trivial == 0 || trivial == 1 && rng.below(3) > 0).collect();
        let e = LinearExpression::gauss_seidel(&a).unwrap().with_nontrivial(&nontrivial).unwrap();
        check("sweep", &e, &Packing::symmetric(shuffled(&mut rng, n)), seed);
    }
}

#[test]
fn a_value_that_nothing_multiplies_spreads_no_infinity() {
    // x_3 is in no row: its infinity must not reach y.
    let entries = [(0, 0, 1.0), (0, 1, 2.0), (0, 2, 3.0), (1, 1, 4.0), (2, 0, 5.0)];
    let a = Triplets::from_entries(Shape::new(4, 4), entries).unwrap();
    for with_b in [true, false] {
        let e = LinearExpression::new(&a, &[with_b; 4]).unwrap();
        let program = lowered(&e, &Packing::identity(4), VERTEX);
        let y = program.run_f32(&[1.0, 2.0, 3.0, f32::INFINITY], &[0.5; 4]).unwrap();
        let b = if with_b { 0.5 } else { 0.0 };
        assert_eq!(y, [14.0 + b, 8.0 + b, 5.0 + b, b]);
    }
}

#[test]
fn temporaries_are_used_again() {
    for (name, order) in best() {
        let e = instance(name);
        for packing in
            [Packing::identity(e.unknowns()), Packing::symmetric(Order::new(e.unknowns(), &order).unwrap())]
        {
            assert!(lowered(&e, &packing, VERTEX).temporaries <= 2, "{name}");
        }
    }
}

#[test]
fn b_is_subtracted_under_either_rule() {
    for (name, order) in best() {
        let e = instance(name);
        let n = e.unknowns();
        let packing = Packing::symmetric(Order::new(n, &order).unwrap());
        let (x, b): (Vec<f64>, Vec<f64>) = (0..n).map(|i| ((i as f64).sin(), (i as f64).cos())).unzip();
        let negative: Vec<f64> = b.iter().map(|b| -b).collect();
        let want = lowered(&e, &packing, VERTEX).run(&x, &negative).unwrap();
        for options in [VERTEX, FX] {
            let program = lowered(&e, &packing, options.with_subtract_b(true));
            assert_eq!(program.run(&x, &b).unwrap(), want, "{name}");
        }
    }
}

#[test]
fn one_constant_register_an_instruction() {
    let total = |name: &str| {
        let e = instance(name);
        let order = best().into_iter().find(|(n, _)| *n == name).unwrap().1;
        let packing = Packing::symmetric(Order::new(e.unknowns(), &order).unwrap());
        let counts = lowered(&e, &packing, FX).counts();
        (counts.total() - counts.mov, counts.mov)
    };
    assert_eq!(total("wave2d"), (63, 4 + 12)); // Table 2 (e) has 81 in all
    assert_eq!(total("gs64"), (72, 1 + 16)); // it has 87
    assert_eq!(total("rk20"), (14, 5 + 3)); // one of the four evaluations; the first moves the quads of y
    // What reads two constants is found.
    let mut program = lowered(&instance("wave2d"), &Packing::identity(64), VERTEX);
    program.one_constant = true;
    let found = program.verify();
    assert!(
        matches!(&found, Err(Error::Program { detail, .. }) if detail.contains("one constant")),
        "{found:?}"
    );
}

#[test]
fn what_cannot_be_lowered_is_refused() {
    let (cars, cube) = (instance("rk20"), instance("gs64"));
    let found = Program::lower(&cars, &Packing::identity(24), VERTEX);
    assert!(matches!(found, Err(Error::LengthMismatch { found: 24, expected: 20, .. })));
    let found = Program::lower(&cube, &Packing::identity(64), FRAGMENT);
    assert!(matches!(found, Err(Error::Parameter { name: "stage", .. })));
    let both = FX.with_stage(ShaderStage::Fragment);
    let found = Program::lower(&cars, &Packing::identity(20), both);
    assert!(matches!(found, Err(Error::Parameter { name: "one_constant", .. })));
    let program = lowered(&cars, &Packing::identity(20), VERTEX);
    assert!(matches!(program.run(&[0.0; 19], &[0.0; 20]), Err(Error::LengthMismatch { operand: "x", .. })));
    assert!(matches!(program.run(&[0.0; 20], &[0.0; 21]), Err(Error::LengthMismatch { operand: "b", .. })));
}

#[test]
fn coefficients_below_the_normal_range_are_zeros_of_their_sign() {
    let a = Triplets::from_entries(Shape::new(4, 4), [(0, 0, 1e-40), (1, 1, -1e-300), (2, 2, 3.0)]).unwrap();
    let e = LinearExpression::new(&a, &[true; 4]).unwrap();
    let program = lowered(&e, &Packing::identity(4), VERTEX);
    let bits = program.constants[0].map(f32::to_bits);
    assert_eq!(bits, [0.0, -0.0, 3.0, 0.0].map(f32::to_bits));
}

/// A program of one block row, to be spoilt.
fn small() -> Program {
    let a =
        Triplets::from_entries(Shape::new(4, 4), (0..4).flat_map(|k| [(k, k, 2.0), (0, k, 1.0)])).unwrap();
    let e = LinearExpression::new(&a, &[true; 4]).unwrap();
    lowered(&e, &Packing::identity(4), VERTEX)
}

#[test]
fn every_invariant_is_checked() {
    let r = |k| Source::from(Register::Temp(k));
    let mov = |from: Register, to, mask| Instruction::new(Operation::Mov(from.into()), to, mask);
    let y = Register::Y(0);
    type Spoil = Box<dyn Fn(&mut Program)>;
    let spoilt: Vec<(&str, Spoil)> = vec![
        ("block rows", Box::new(|p| p.starts.push(0))),
        ("unknowns", Box::new(|p| p.nontrivial.push(true))),
        ("constant", Box::new(|p| p.constants[0][1] = f32::NAN)),
        ("constant", Box::new(|p| p.constants[0][0] = 1e-40)),
        ("does not exist", Box::new(|p| p.temporaries = 0)),
        ("does not exist", Box::new(|p| p.constants.truncate(1))),
        (
            "does not exist",
            Box::new(move |p| p.instructions[0] = mov(Register::X(1), Register::Temp(0), WriteMask::ALL)),
        ),
        ("cannot be written", Box::new(|p| p.instructions[0].target = Register::X(0))),
        ("writes no component", Box::new(|p| p.instructions[0].mask = WriteMask::NONE)),
        ("before its component", Box::new(|p| p.instructions[0].mask = WriteMask::one(1))),
        (
            "before its component",
            Box::new(|p| {
                p.instructions.remove(0);
            }),
        ),
        (
            "expected one",
            Box::new(move |p| {
                p.instructions[1] =
                    Instruction::new(Operation::Dp4(r(0), r(0)), Register::Temp(0), WriteMask::ALL)
            }),
        ),
        (
            "TEX",
            Box::new(|p| {
                p.instructions[0] =
                    Instruction::new(Operation::Tex(Register::X(0).into()), Register::Temp(0), WriteMask::ALL)
            }),
        ),
        ("TEX", Box::new(|p| p.stage = ShaderStage::Fragment)),
        ("alias", Box::new(|p| p.instructions[0].alias = true)),
        (
            "in front of all",
            Box::new(|p| {
                p.stage = ShaderStage::Fragment;
                p.starts[0] = 1;
            }),
        ),
        ("another block row", Box::new(|p| p.instructions[0].target = Register::Y(1))),
        (
            "ends before",
            Box::new(|p| {
                p.instructions.pop();
            }),
        ),
        ("second time", Box::new(move |p| p.instructions.push(mov(Register::X(0), y, WriteMask::one(0))))),
        (
            "not for block row",
            Box::new(move |p| p.instructions.push(mov(y, Register::Temp(0), WriteMask::ALL))),
        ),
        (
            "not for block row",
            Box::new(move |p| p.instructions[0] = mov(Register::B(9), Register::Temp(0), WriteMask::ALL)),
        ),
    ];
    for (what, spoil) in spoilt {
        let mut program = small();
        spoil(&mut program);
        match program.verify() {
            Err(Error::Program { instruction, detail }) => {
                assert!(
                    detail.contains(what) || what.contains("not for") && detail.contains("exist"),
                    "{what}: {detail}"
                );
                assert!(instruction <= program.instructions.len());
            }
            found => panic!("{what}: {found:?}"),
        }
    }
    let mut cube = lowered(&instance("gs64"), &Packing::identity(64), VERTEX);
    cube.verify().unwrap();
    // An old value where the new one is made already.
    let at = cube.starts[5];
    cube.instructions[at].operation = cube.instructions[at].operation.map(|s| match s.register {
        Register::X(_) => Source::new(Register::X(4), Swizzle::IDENTITY),
        _ => s,
    });
    let found = cube.verify();
    assert!(matches!(&found, Err(Error::Program { instruction, .. }) if *instruction == at), "{found:?}");
}

#[test]
fn instances_module_and_this_one_agree_about_names() {
    assert!(best().iter().zip(instances::ALL).all(|(a, b)| a.0 == b.0));
}
