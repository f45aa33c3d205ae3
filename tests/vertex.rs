//! The vertex stage as a computer: vectors in buffers, and kernels whose results are captured.
#![allow(unsafe_code)]

mod common;

use common::bounds::{assert_componentwise, bits, product_bound};
use common::harness::{assert_padded, fitting, lengths, limits, on_both, on_both_with};
use common::hostile::hosts_program;
use common::random::{uniform, wide_range};
use glow::HasContext;
use texla::kernel::{NoParams, PingPong, VertexKernel};
use texla::{BufferVector, Error, Vector};

texla::params! { struct Weights { scale: f32, lanes: [f32; 4], start: i32 } }

/// Fails unless the padding lanes of a vector in a buffer are zero.
#[track_caller]
fn assert_buffer_padded(vector: &BufferVector, what: &str) {
    let all = vector.read_vec4s().unwrap();
    assert_eq!(all.len(), 4 * vector.vec4s().max(1), "{what}");
    assert!(all[vector.len()..].iter().all(|v| v.to_bits() == 0), "{what}: {all:?}");
}

/// `y[k] = c[k].x x[5 k + 1].wzyx + c[k].y x[3 k + 2] + b[k]` for `first..first + outputs`, indices of `x` modulo 16.
fn program(first: usize, outputs: usize) -> String {
    let line = |i: usize| {
        let k = first + i;
        let (p, q) = ((5 * k + 1) % 16, (3 * k + 2) % 16);
        format!(
            "    y[{i}] = c[{k}].x * x[{p}].wzyx;\n    y[{i}] += c[{k}].y * x[{q}];\n    y[{i}] += b[{k}];\n"
        )
    };
    format!("void kernel(int vertex) {{\n{}}}\n", (0..outputs).map(line).collect::<String>())
}

/// The same in 64 bits, and the bounds.
fn twin(outputs: usize, [c, x, b]: [&[f32]; 3]) -> (Vec<f64>, Vec<f64>) {
    let at = |v: &[f32], k: usize, lane: usize| f64::from(v[4 * k + lane]);
    let element = |i: usize| {
        let (k, lane) = (i / 4, i % 4);
        let terms = [
            at(c, k, 0) * at(x, (5 * k + 1) % 16, 3 - lane),
            at(c, k, 1) * at(x, (3 * k + 2) % 16, lane),
            at(b, k, lane),
        ];
        (terms.iter().sum::<f64>(), product_bound(terms.iter().map(|t| t.abs()).sum(), 3))
    };
    (0..4 * outputs).map(element).unzip()
}

/// One, a few, as many as GL promises, and as many as there are.
#[test]
fn a_program_of_any_size_is_within_its_bound() {
    on_both(|dev| {
        let caps = dev.capabilities();
        assert!(caps.max_vertex_outputs >= 15, "fewer than GL promises");
        for outputs in [1, 2, 7, 15, caps.max_vertex_outputs as usize] {
            let [c, x, b] = [1, 2, 3].map(|seed| wide_range(seed, 4 * outputs.max(16), 8));
            let [cs, xs, bs] = [&c, &x, &b].map(|v| BufferVector::from_slice(dev, v).unwrap());
            let inputs = [("c", outputs), ("x", 16), ("b", outputs)];
            let body = program(0, outputs);
            let kernel = VertexKernel::<NoParams>::new(dev, "step", inputs, outputs, &body).unwrap();
            let mut y = BufferVector::zeros(dev, 4 * outputs).unwrap();
            kernel.run(&mut y, 0, [&cs, &xs, &bs], &NoParams).unwrap();
            let (want, bound) = twin(outputs, [&c, &x, &b]);
            assert_componentwise(&format!("{outputs} outputs"), &y.read().unwrap(), &want, &bound);
        }
    });
}

/// 16 `vec4`s are more than ES 3.0 promises for one run: two kernels write one target.
#[test]
fn a_program_in_two_parts_is_the_program() {
    on_both(|dev| {
        let [c, x, b] = [4, 5, 6].map(|seed| wide_range(seed, 64, 8));
        let [cs, xs, bs] = [&c, &x, &b].map(|v| BufferVector::from_slice(dev, v).unwrap());
        let kernel = |first, outputs| {
            let (inputs, body) = ([("c", 16), ("x", 16), ("b", 16)], program(first, outputs));
            VertexKernel::<NoParams>::new(dev, "part", inputs, outputs, &body).unwrap()
        };
        let mut y = BufferVector::zeros(dev, 64).unwrap();
        let before = dev.counters();
        {
            let _scope = dev.scope().unwrap();
            let (long, short) = (kernel(0, 15), kernel(15, 1));
            long.run(&mut y, 0, [&cs, &xs, &bs], &NoParams).unwrap();
            short.run(&mut y, 15, [&cs, &xs, &bs], &NoParams).unwrap();
        }
        let done = dev.counters().since(&before);
        assert_eq!((done.draws, done.uploads, done.readbacks, done.copies, done.compiles), (2, 0, 0, 0, 2));
        let (want, bound) = twin(16, [&c, &x, &b]);
        assert_componentwise("two parts", &y.read().unwrap(), &want, &bound);
    });
}

/// Gauss-Seidel on a path of 32: the second half reads what the first has written, moved by a copy. The first half is
/// sequential within its own outputs.
#[test]
fn a_later_part_reads_what_an_earlier_part_wrote() {
    on_both(|dev| {
        let half = |first: usize| {
            let lane = |i: usize| format!("[{}].{}", i / 4, ["x", "y", "z", "w"][i % 4]);
            let mut text = String::from("void kernel(int vertex) {\n");
            for i in first..first + 16 {
                // New values to the left: in `y` where this part makes them, in `x` where the copy has brought them.
                let left = match i {
                    0 => "0.0".to_owned(),
                    _ if i > first => format!("y{}", lane(i - 1 - first)),
                    _ => format!("x{}", lane(i - 1)),
                };
                let right = if i == 31 { "0.0".to_owned() } else { format!("x{}", lane(i + 1)) };
                text += &format!("    y{} = b{} + 0.25 * ({left} + {right});\n", lane(i - first), lane(i));
            }
            text + "}\n"
        };
        let kernel = |first| {
            VertexKernel::<NoParams>::new(dev, "half", [("x", 8), ("b", 8)], 4, &half(first)).unwrap()
        };
        let (one, two) = (kernel(0), kernel(16));
        let b = uniform(9, 32);
        let bs = BufferVector::from_slice(dev, &b).unwrap();
        let mut x = BufferVector::zeros(dev, 32).unwrap();
        let mut made = BufferVector::zeros(dev, 16).unwrap();
        let mut want = [0.0f32; 32];
        for _ in 0..20 {
            for (first, kernel) in [(0, &one), (16, &two)] {
                kernel.run(&mut made, 0, [&x, &bs], &NoParams).unwrap();
                x.copy_range(first, &made, 0..16).unwrap();
            }
            for i in 0..32 {
                let left = if i == 0 { 0.0 } else { want[i - 1] };
                let right = if i == 31 { 0.0 } else { want[i + 1] };
                // A quarter is exact: with or without a fused multiply-add there are two roundings.
                want[i] = b[i] + 0.25 * (left + right);
            }
        }
        assert_eq!(bits(&x.read().unwrap()), bits(&want));
    });
}

#[test]
fn vertices_write_one_after_the_other() {
    on_both(|dev| {
        let body = "void kernel(int vertex) {
            y[0] = lanes + scale * float(vertex);
            y[1].yw = vec2(float(vertex + start), 1.0);
            y[2] = y[0] + y[0];
        }";
        let kernel = VertexKernel::<Weights>::new(dev, "number", [], 3, body).unwrap();
        let params = Weights { scale: 2.0, lanes: [1.0, -1.0, 0.5, 0.0], start: -7 };
        for count in [0, 1, 2, 3, 5, 64, 5000] {
            let mut y = BufferVector::from_slice(dev, &vec![9.0; 12 * count + 16]).unwrap();
            let before = dev.counters().draws;
            kernel.run_vertices(&mut y, 2, count, [], &params).unwrap();
            let most = dev.capabilities().points_a_draw as usize;
            assert_eq!(dev.counters().draws - before, count.div_ceil(most) as u64);
            let mut want = vec![9.0f32; 8];
            for v in 0..count {
                let first = params.lanes.map(|l| l + 2.0 * v as f32);
                want.extend(first);
                want.extend([0.0, v as f32 - 7.0, 0.0, 1.0]);
                want.extend(first.map(|l| 2.0 * l));
            }
            want.extend([9.0; 8]);
            assert_eq!(y.read().unwrap(), want, "{count} vertices");
        }
    });
}

/// Lanes past the end stay zero whatever a kernel says, and what lies beside its range is left alone.
#[test]
fn padding_stays_zero() {
    on_both(|dev| {
        let ones = "void kernel(int vertex) { y[0] = vec4(1.0); y[1] = vec4(2.0); }";
        let ones = VertexKernel::<NoParams>::new(dev, "ones", [], 2, ones).unwrap();
        for length in 1..=24usize {
            let vec4s = length.div_ceil(4);
            for count in 0..=vec4s / 2 {
                for first in 0..=vec4s - 2 * count {
                    let mut y = BufferVector::from_slice(dev, &vec![-3.0; length]).unwrap();
                    ones.run_vertices(&mut y, first, count, [], &NoParams).unwrap();
                    let mut want = vec![-3.0; 4 * vec4s];
                    for (i, vec4) in want.chunks_mut(4).skip(first).take(2 * count).enumerate() {
                        vec4.fill([1.0, 2.0][i % 2]);
                    }
                    let what = format!("{length} elements, {count} vertices at {first}");
                    assert_eq!(y.read().unwrap(), want[..length], "{what}");
                    assert_buffer_padded(&y, &what);
                }
            }
        }
    });
}

/// An input is read up to the end of its block, and may be longer.
#[test]
fn inputs_of_every_size() {
    on_both(|dev| {
        let block = dev.capabilities().max_block_vec4s as usize;
        assert!(block >= 1 << 10, "less than GL promises");
        for vec4s in [1, 2, 255, 1024, block] {
            let body = format!("void kernel(int vertex) {{ y[0] = x[vertex]; y[1] = x[{}]; }}", vec4s - 1);
            let kernel = VertexKernel::<NoParams>::new(dev, "ends", [("x", vec4s)], 2, &body).unwrap();
            for more in [0, 3] {
                let x = uniform(vec4s as u64, 4 * vec4s + more);
                let xs = BufferVector::from_slice(dev, &x).unwrap();
                let mut y = BufferVector::zeros(dev, 8).unwrap();
                kernel.run(&mut y, 0, [&xs], &NoParams).unwrap();
                let want = [&x[..4], &x[4 * vec4s - 4..4 * vec4s]].concat();
                assert_eq!(bits(&y.read().unwrap()), bits(&want), "{vec4s} vec4s and {more} floats");
            }
        }
        // As many inputs as GL promises, one of them unused.
        let names: Vec<String> = (0..12).map(|i| format!("x{i}")).collect();
        let inputs: [(&str, usize); 12] = std::array::from_fn(|i| (names[i].as_str(), 1));
        let sum: Vec<String> = (0..11).map(|i| format!("{}.0 * x{i}[0]", 1 << i)).collect();
        let body = format!("void kernel(int vertex) {{ y[0] = {}; }}", sum.join(" + "));
        let kernel = VertexKernel::<NoParams>::new(dev, "many", inputs, 1, &body).unwrap();
        let x = BufferVector::from_slice(dev, &[1.0, 2.0, 3.0, -1.0]).unwrap();
        let mut y = BufferVector::zeros(dev, 4).unwrap();
        kernel.run(&mut y, 0, [&x; 12].map(|x| x as _), &NoParams).unwrap();
        assert_eq!(y.read().unwrap(), [2047.0, 4094.0, 6141.0, -2047.0]);
    });
}

/// Between buffers and textures every bit arrives, in both directions, and padding is padding.
#[test]
fn transfers_keep_every_bit() {
    on_both(|dev| {
        for n in lengths(dev, 70_000) {
            let values = wide_range(n as u64, n, 60);
            let vector = Vector::from_slice(dev, &values).unwrap();
            let before = dev.counters();
            let x = BufferVector::from_vector(&vector).unwrap();
            let mut back = x.to_vector().unwrap();
            let done = dev.counters().since(&before);
            assert_eq!((done.readbacks, done.uploads, done.copies, done.readback_bytes), (0, 0, 2, 0));
            assert_eq!((x.len(), x.vec4s()), (n, n.div_ceil(4)));
            assert_eq!(bits(&x.read().unwrap()), bits(&values), "{n}");
            assert_eq!(bits(&back.read().unwrap()), bits(&values), "{n}");
            assert_buffer_padded(&x, "from a vector");
            assert_padded(&back, "to a vector");
            // Over what is there already.
            let other = uniform(7, n);
            let mut y = BufferVector::from_slice(dev, &other).unwrap();
            y.copy_to(&mut back).unwrap();
            assert_eq!(bits(&back.read().unwrap()), bits(&other), "{n}");
            assert_padded(&back, "copy_to");
            y.copy_from(&vector).unwrap();
            assert_eq!(bits(&y.read().unwrap()), bits(&values), "{n}");
            assert_buffer_padded(&y, "copy_from");
        }
    });
}

#[test]
fn writing_and_reading() {
    on_both(|dev| {
        for n in lengths(dev, 3000) {
            let (a, b) = (uniform(1, n), wide_range(2, n, 60));
            let before = dev.counters();
            let mut x = BufferVector::from_slice(dev, &a).unwrap();
            assert_eq!(x.is_empty(), n == 0);
            assert_eq!(bits(&x.read().unwrap()), bits(&a));
            x.write(&b).unwrap();
            let mut out = vec![0.0; n];
            x.read_into(&mut out).unwrap();
            assert_eq!(bits(&out), bits(&b));
            assert_buffer_padded(&x, "write");
            x.set_zero().unwrap();
            assert_eq!(x.read_vec4s().unwrap(), vec![0.0; 4 * n.div_ceil(4).max(1)]);
            let zeros = BufferVector::zeros(dev, n).unwrap();
            assert_eq!(zeros.read_vec4s().unwrap(), x.read_vec4s().unwrap());
            let done = dev.counters().since(&before);
            let bytes = 16 * n.div_ceil(4).max(1) as u64;
            assert_eq!((done.uploads, done.upload_bytes), (4, 4 * bytes));
            assert_eq!((done.readbacks, done.readback_bytes), (6, 6 * bytes));
            assert_eq!((done.draws, done.copies), (0, 0));
        }
    });
}

#[test]
fn ranges_move_between_vectors() {
    on_both(|dev| {
        let x = uniform(3, 23);
        let xs = BufferVector::from_slice(dev, &x).unwrap();
        for (at, range) in [(0, 0..23), (1, 0..22), (7, 5..6), (18, 20..23), (21, 3..3), (0, 23..23)] {
            let mut want = uniform(4, 21.max(at + range.len()));
            let mut y = BufferVector::from_slice(dev, &want).unwrap();
            let before = dev.counters();
            y.copy_range(at, &xs, range.clone()).unwrap();
            let done = dev.counters().since(&before);
            assert_eq!((done.copies, done.readbacks, done.uploads), (u64::from(!range.is_empty()), 0, 0));
            want[at..at + range.len()].copy_from_slice(&x[range.clone()]);
            assert_eq!(bits(&y.read().unwrap()), bits(&want), "{range:?} to {at}");
            assert_buffer_padded(&y, "copy_range");
        }
    });
}

/// Buffers take turns, as textures do.
#[test]
fn steps_in_time() {
    on_both(|dev| {
        let body = "void kernel(int vertex) { y[0] = x[0] + x[1]; y[1] = 0.5 * x[0]; }";
        let step = VertexKernel::<NoParams>::new(dev, "step", [("x", 2)], 2, body).unwrap();
        let mut state = [1.0f32, 2.0, 3.0, 4.0, 0.25, 0.5, -0.75, 1.0];
        let start = BufferVector::from_slice(dev, &state).unwrap();
        let mut x = PingPong::new(start, BufferVector::zeros(dev, 8).unwrap());
        let before = dev.counters();
        let scope = dev.scope().unwrap();
        for _ in 0..50 {
            let (now, next) = x.split();
            step.run(next, 0, [now], &NoParams).unwrap();
            x.swap();
            let old = state;
            for lane in 0..4 {
                state[lane] = old[lane] + old[lane + 4];
                state[lane + 4] = 0.5 * old[lane];
            }
        }
        drop(scope);
        let done = dev.counters().since(&before);
        assert_eq!((done.draws, done.readbacks, done.uploads, done.state_saves), (50, 0, 0, 1));
        assert_eq!(bits(&x.front().read().unwrap()), bits(&state));
    });
}

/// What is not a normal number: what is only copied comes through whole, what is computed may flush or lose a NaN, as in
/// every shader; nothing else is affected.
#[test]
fn numbers_that_are_not_normal() {
    on_both(|dev| {
        let tiny = [1e-40f32, -1e-44, f32::MIN_POSITIVE, -0.0];
        let x = BufferVector::from_slice(dev, &tiny).unwrap();
        let body = "void kernel(int vertex) {
            y[0] = x[0];
            y[1] = x[0] + vec4(0.0, 0.0, x[0].z, 0.0);
            y[2] = vec4(1.0, -1.0, 1.0, 0.0) / vec4(x[0].w, x[0].w, 0.5, 1.0);
        }";
        let kernel = VertexKernel::<NoParams>::new(dev, "odd", [("x", 1)], 3, body).unwrap();
        let mut y = BufferVector::zeros(dev, 12).unwrap();
        kernel.run(&mut y, 0, [&x], &NoParams).unwrap();
        let y = y.read().unwrap();
        assert_eq!(bits(&y[..4]), bits(&tiny), "a copy is exact");
        for (got, exact) in y[4..6].iter().zip(tiny) {
            assert!(*got == exact || *got == 0.0, "{got:e}: neither {exact:e} nor flushed");
        }
        assert_eq!(y[6], 2.0 * f32::MIN_POSITIVE);
        assert!(y[8].is_infinite() && y[9].is_infinite() && y[8] == -y[9], "{:?}", &y[8..]);
        assert_eq!(y[10..], [2.0, 0.0]);
        let refused = BufferVector::from_slice(dev, &[1.0, f32::NAN]).unwrap_err();
        assert!(matches!(refused, Error::NonFinite { index: 1, .. }), "{refused}");
    });
}

/// Exact arithmetic, and text with lines of its own.
#[test]
fn bodies_can_include() {
    on_both(|dev| {
        if dev.capabilities().exact_form.is_none() {
            return;
        }
        let body = "#include \"include/exact.glsl\"
            void kernel(int vertex) { y[0] = vec4(two_sum(x[0].x, x[0].y), two_product(x[0].x, x[0].y)); }";
        let kernel = VertexKernel::<NoParams>::new(dev, "exact", [("x", 1)], 1, body).unwrap();
        for pair in wide_range(17, 200, 12).chunks(2) {
            let x = BufferVector::from_slice(dev, pair).unwrap();
            let mut y = BufferVector::zeros(dev, 4).unwrap();
            kernel.run(&mut y, 0, [&x], &NoParams).unwrap();
            let y: Vec<f64> = y.read().unwrap().iter().map(|v| f64::from(*v)).collect();
            let [a, b] = [pair[0], pair[1]].map(f64::from);
            assert_eq!((y[0] + y[1], y[2] + y[3]), (a + b, a * b));
        }
    });
}

type Made = texla::Result<VertexKernel<NoParams>>;

#[test]
fn kernels_that_are_wrong() {
    on_both(|dev| {
        let caps = dev.capabilities();
        let (good, most) =
            ("void kernel(int vertex) { y[0] = vec4(1.0); }", caps.max_vertex_outputs as usize);
        let make = |outputs, body: &str| -> Made { VertexKernel::new(dev, "bad", [("x", 1)], outputs, body) };
        let named = |name, vec4s| -> Made { VertexKernel::new(dev, "bad", [(name, vec4s)], 1, good) };
        let before = dev.live_objects();
        macro_rules! fails {
            ($made:expr, $error:pat, $words:expr) => {{
                let error = $made.map(|_| ()).unwrap_err();
                assert!(matches!(error, $error), "{error:?}");
                assert!(error.to_string().contains($words), "{error}");
            }};
        }
        fails!(
            make(1, "void kernel(int vertex) {\n oops }"),
            Error::Shader { stage: "vertex shader", .. },
            "bad:2"
        );
        fails!(
            make(1, "float f(); void kernel(int vertex) { y[0] = vec4(f()); }"),
            Error::Shader { .. },
            "bad"
        );
        fails!(make(1, &format!("{good}\n#include \"no\"")), Error::Include { .. }, "no");
        let stray = "uniform vec4 stray; void kernel(int vertex) { y[0] = stray; }";
        fails!(make(1, stray), Error::Interface { .. }, "`stray`");
        let stray = "layout(std140) uniform mine { vec4 stray[2]; };
            void kernel(int vertex) { y[0] = stray[1]; }";
        fails!(make(1, stray), Error::Interface { .. }, "`mine`");
        fails!(make(0, good), Error::Interface { .. }, "no output");
        fails!(make(most + 1, good), Error::Unsupported { .. }, "split it");
        fails!(named("x", 0), Error::Interface { .. }, "expected at least 1");
        fails!(named("x", 1 << 20), Error::TooLarge { .. }, "vec4s in a uniform block");
        for name in ["y", "kernel", "main", "gl_x", "texla_x", "a__b", "1x", "", "x y"] {
            fails!(named(name, 1), Error::Interface { .. }, name);
        }
        let twice: Made = VertexKernel::new(dev, "bad", [("x", 1), ("x", 2)], 1, good);
        fails!(twice, Error::Interface { .. }, "used twice");
        let clash = VertexKernel::<Weights>::new(dev, "bad", [("scale", 1)], 1, good);
        fails!(clash, Error::Interface { .. }, "used twice");
        let many: [(&str, usize); 40] =
            std::array::from_fn(|i| (&"abcdefghijklmnopqrstuvwxzABCDEFGHIJKLMNOPQRSTUVWXYZ"[i..i + 1], 1));
        let many: Made = VertexKernel::new(dev, "bad", many, 1, good);
        fails!(many, Error::Unsupported { .. }, "uniform blocks");
        assert_eq!(dev.live_objects(), before);
    });
}

#[test]
fn runs_that_are_wrong() {
    on_both(|dev| {
        let body = "void kernel(int vertex) { y[0] = x[0]; y[1] = x[1]; }";
        let kernel = VertexKernel::<NoParams>::new(dev, "copy", [("x", 2)], 2, body).unwrap();
        let x = BufferVector::from_slice(dev, &[1.0; 5]).unwrap();
        let short = BufferVector::from_slice(dev, &[1.0; 4]).unwrap();
        let mut y = BufferVector::from_slice(dev, &[3.0; 17]).unwrap();
        let run = |y: &mut BufferVector, first, count| kernel.run_vertices(y, first, count, [&x], &NoParams);
        run(&mut y, 3, 1).unwrap();
        for (first, count, index) in [
            (4, 1, 5),
            (0, 3, 5),
            (9, 0, 8),
            (usize::MAX, 1, usize::MAX - 1),
            (1, usize::MAX, usize::MAX - 1),
        ] {
            match run(&mut y, first, count).unwrap_err() {
                Error::IndexOutOfRange { index: found, bound: 5, .. } => assert_eq!(found, index),
                error => panic!("{error}"),
            }
        }
        run(&mut y, 5, 0).unwrap();
        let error = kernel.run(&mut y, 0, [&short], &NoParams).unwrap_err();
        assert!(error.to_string().contains("input `x` has 1 vec4s, expected at least 2"), "{error}");
        for error in [kernel.run(&mut y, 0, [], &NoParams), kernel.run(&mut y, 0, [&x, &x], &NoParams)] {
            let error = error.unwrap_err();
            assert!(error.to_string().contains("inputs given, expected 1: x"), "{error}");
        }
        let other = common::harness::headless(dev.api());
        let far = BufferVector::from_slice(other.device(), &[1.0; 8]).unwrap();
        let mut away = BufferVector::zeros(other.device(), 8).unwrap();
        for (result, operand) in [
            (kernel.run(&mut y, 0, [&far], &NoParams), "x"),
            (kernel.run(&mut away, 0, [&x], &NoParams), "target"),
        ] {
            match result.unwrap_err() {
                Error::WrongDevice { operand: found, .. } => assert_eq!(found, operand),
                error => panic!("{error}"),
            }
        }
        assert_eq!(y.read().unwrap(), [[3.0; 12].as_slice(), &[1.0; 5]].concat(), "nothing else was written");
    });
}

#[test]
fn vectors_that_are_wrong() {
    on_both(|dev| {
        let other = common::harness::headless(dev.api());
        let far = BufferVector::zeros(other.device(), 5).unwrap();
        let far_vector = Vector::zeros(other.device(), 5).unwrap();
        let mut x = BufferVector::from_slice(dev, &[1.0; 5]).unwrap();
        let mut vector = Vector::zeros(dev, 6).unwrap();
        let texels = Vector::zeros(dev, 8).unwrap();
        // SAFETY: the texture is alive until the test ends.
        let mut lent = unsafe { Vector::from_texture(dev, texels.texture(), 2, 1).unwrap() };
        let before = (dev.live_objects(), dev.counters());
        macro_rules! fails {
            ($result:expr, $error:pat) => {{
                let error = $result.map(|_| ()).unwrap_err();
                assert!(matches!(error, $error), "{error:?}");
            }};
        }
        fails!(BufferVector::zeros(dev, usize::MAX), Error::TooLarge { .. });
        fails!(BufferVector::zeros(dev, 1 << 29), Error::TooLarge { limit: 134_217_727, .. });
        fails!(BufferVector::from_slice(dev, &[f32::INFINITY]), Error::NonFinite { index: 0, .. });
        fails!(BufferVector::from_slice(dev, &[1e-40]), Error::Parameter { .. });
        fails!(x.write(&[1.0; 4]), Error::LengthMismatch { found: 4, expected: 5, .. });
        fails!(x.write(&[1.0, 2.0, 3.0, f32::NAN, 5.0]), Error::NonFinite { index: 3, .. });
        fails!(x.read_into(&mut [0.0; 6]), Error::LengthMismatch { found: 6, expected: 5, .. });
        fails!(x.copy_from(&vector), Error::LengthMismatch { found: 6, expected: 5, .. });
        fails!(x.copy_to(&mut vector), Error::LengthMismatch { found: 6, expected: 5, .. });
        fails!(x.copy_from(&far_vector), Error::WrongDevice { .. });
        fails!(x.copy_range(0, &far, 0..1), Error::WrongDevice { .. });
        let y = BufferVector::zeros(dev, 8).unwrap();
        fails!(y.copy_to(&mut lent), Error::Unsupported { .. });
        fails!(x.copy_range(0, &y, 7..9), Error::IndexOutOfRange { index: 8, bound: 8, .. });
        fails!(x.copy_range(4, &y, 0..2), Error::IndexOutOfRange { index: 5, bound: 5, .. });
        fails!(x.copy_range(usize::MAX, &y, 0..2), Error::IndexOutOfRange { bound: 5, .. });
        #[allow(clippy::reversed_empty_ranges)]
        let reversed = 3..1;
        fails!(x.copy_range(0, &y, reversed), Error::Parameter { .. });
        assert_eq!(x.read().unwrap(), [1.0; 5]);
        drop(y);
        dev.scope().unwrap();
        assert_eq!(dev.live_objects(), before.0);
        let done = dev.counters().since(&before.1);
        assert_eq!((done.draws, done.copies, done.readbacks), (0, 0, 1));
    });
}

/// What a device captures is asked of it, and less is an error that says so.
#[test]
fn lesser_devices_say_what_they_cannot() {
    let body = |outputs: usize| {
        let lines: String = (0..outputs).map(|i| format!("y[{i}] = vec4({i}.0);")).collect();
        format!("void kernel(int vertex) {{ {lines} }}")
    };
    on_both_with(limits().with_max_vertex_outputs(Some(4)), |dev| {
        assert_eq!(dev.capabilities().max_vertex_outputs, 4);
        let made: Made = VertexKernel::new(dev, "five", [], 5, &body(5));
        let error = made.map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("writes 5 vec4s a vertex, the device captures 4"), "{error}");
        let four: VertexKernel<NoParams> = VertexKernel::new(dev, "four", [], 4, &body(4)).unwrap();
        let mut y = BufferVector::zeros(dev, 16).unwrap();
        four.run(&mut y, 0, [], &NoParams).unwrap();
        assert_eq!(y.read().unwrap(), [[0.0; 4], [1.0; 4], [2.0; 4], [3.0; 4]].concat());
    });
    // A limit past all there is limits nothing.
    on_both_with(limits().with_max_vertex_outputs(Some(u32::MAX)), |dev| {
        assert!(dev.capabilities().max_vertex_outputs >= 15);
    });
    on_both_with(limits().with_max_vertex_outputs(Some(0)), |dev| {
        assert_eq!(dev.capabilities().max_vertex_outputs, 0);
        let made: Made = VertexKernel::new(dev, "one", [], 1, &body(1));
        assert!(matches!(made.map(|_| ()).unwrap_err(), Error::Unsupported { .. }));
        // Buffers do not need it.
        let x = BufferVector::from_slice(dev, &[1.0; 9]).unwrap();
        assert_eq!(x.to_vector().unwrap().read().unwrap(), [1.0; 9]);
    });
}

/// A buffer past one block is copied whole, and past the texture area it stays a buffer.
#[test]
fn buffers_may_be_longer_than_blocks_and_textures() {
    on_both(|dev| {
        let n = fitting(dev, 300_000) + 4;
        let x = BufferVector::from_slice(dev, &uniform(8, n)).unwrap();
        let mut y = BufferVector::zeros(dev, n).unwrap();
        y.copy_range(0, &x, 0..n).unwrap();
        assert_eq!(bits(&x.read().unwrap()), bits(&y.read().unwrap()));
        let fits = x.to_vector().is_ok();
        assert_eq!(fits, fitting(dev, n) == n);
    });
}

/// [Bajaj04] 3.1: what the vertex stage has computed is drawn without having been on the host, here as a vertex attribute
/// and as a uniform block.
#[test]
fn an_application_draws_from_the_buffer() {
    on_both(|dev| {
        let gl = dev.glow();
        let body = "void kernel(int vertex) { y[0] = x[0] + 1.0; y[1] = 2.0 * x[1]; }";
        let kernel = VertexKernel::<NoParams>::new(dev, "step", [("x", 2)], 2, body).unwrap();
        let x = BufferVector::from_slice(dev, &[0.0, 1.0, 2.0, 3.0, 10.0, 20.0, 30.0, 40.0]).unwrap();
        let mut y = BufferVector::zeros(dev, 8).unwrap();
        // The application's picture: one texel for each of four nodes.
        let picture = texla::Plane::zeros(dev, 4, 1).unwrap();
        let before = dev.counters();
        kernel.run(&mut y, 0, [&x], &NoParams).unwrap();
        // SAFETY: the context is current; objects are deleted in the end, and what is drawn to is complete.
        unsafe {
            let program = hosts_program(
                &gl,
                "in float height; layout(std140) uniform Both { vec4 both[2]; }; flat out float seen;
                 void main() {
                     seen = height + 100.0 * both[1][gl_VertexID];
                     gl_PointSize = 1.0;
                     gl_Position = vec4((2.0 * float(gl_VertexID) + 1.0) / 4.0 - 1.0, 0.0, 0.0, 1.0);
                 }",
                "flat in float seen; out vec4 colour; void main() { colour = vec4(seen); }",
                &[],
            );
            let (array, framebuffer) = (gl.create_vertex_array().unwrap(), gl.create_framebuffer().unwrap());
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let (at, texture) = (glow::COLOR_ATTACHMENT0, Some(picture.texture()));
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, at, glow::TEXTURE_2D, texture, 0);
            assert_eq!(gl.check_framebuffer_status(glow::FRAMEBUFFER), glow::FRAMEBUFFER_COMPLETE);
            gl.viewport(0, 0, 4, 1);
            gl.bind_vertex_array(Some(array));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(y.buffer()));
            let height = gl.get_attrib_location(program, "height").unwrap();
            gl.enable_vertex_attrib_array(height);
            gl.vertex_attrib_pointer_f32(height, 1, glow::FLOAT, false, 0, 0);
            let block = gl.get_uniform_block_index(program, "Both").unwrap();
            gl.uniform_block_binding(program, block, 2);
            gl.bind_buffer_base(glow::UNIFORM_BUFFER, 2, Some(y.buffer()));
            gl.use_program(Some(program));
            gl.draw_arrays(glow::POINTS, 0, 4);
            gl.use_program(None);
            gl.bind_vertex_array(None);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            gl.bind_buffer(glow::ARRAY_BUFFER, None);
            gl.bind_buffer_base(glow::UNIFORM_BUFFER, 2, None);
            gl.delete_program(program);
            gl.delete_vertex_array(array);
            gl.delete_framebuffer(framebuffer);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
        let done = dev.counters().since(&before);
        assert_eq!((done.draws, done.readbacks, done.uploads, done.async_checks), (1, 0, 0, 0));
        assert_eq!(picture.read().unwrap(), [2001.0, 4002.0, 6003.0, 8004.0]);
    });
}
