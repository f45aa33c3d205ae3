//! The vertex stage as a computer: vectors in buffers, and kernels whose results are captured.
#![allow(unsafe_code)]

mod common;

use common::bounds::{assert_componentwise, product_bound};
use common::harness::{assert_padded, fitting, headless_with, lengths, limits, on_both, on_both_with};
use common::random::{uniform, wide_range};
use texla::gl::{Api, Limits};
use texla::kernel::{NoParams, PingPong, VertexKernel};
use texla::{BufferVector, Device, Error, Vector};

texla::params! { struct Weights { scale: f32, lanes: [f32; 4], start: i32 } }

/// Fails unless the padding lanes of a vector in a buffer are zero.
#[track_caller]
fn assert_buffer_padded(vector: &BufferVector, what: &str) {
    let all = vector.read_vec4s().unwrap();
    assert_eq!(all.len(), 4 * vector.vec4s().max(1), "{what}");
    assert!(all[vector.len()..].iter().all(|v| v.to_bits() == 0), "{what}: {all:?}");
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|v| v.to_bits()).collect()
}

/// `y[k] = c[k].x x[5 k + 1].wzyx + c[k].y x[3 k + 2] + b[k]` for `first..first + outputs`, indices of `x` modulo 16.
fn program(first: usize, outputs: usize) -> String {
    let line = |i: usize| {
        let k = first + i;
        let (p, q) = ((5 * k + 1) % 16, (3 * k + 2) % 16);
        format!("    y[{i}] = c[{k}].x * x[{p}].wzyx;\n    y[{i}] += c[{k}].y * x[{q}];\n    y[{i}] += b[{k}];\n")
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
        eprintln!("{} outputs, {} vec4s, {} blocks", caps.max_vertex_outputs, caps.max_block_vec4s, caps.vertex_blocks);
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
            let worst = assert_componentwise("step", &y.read().unwrap(), &want, &bound);
            eprintln!("{outputs} outputs: {worst:.3} of the bound");
        }
    });
}
