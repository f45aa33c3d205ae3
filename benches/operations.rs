//! Times of the operations, as ns per element, beside the ceilings of the same device, what its profile predicts and the CPU
//! alternatives, all in one run: `cargo bench --bench operations -- [--n N] [--grid G] [--iterations K] [--rounds R] [--only TEXT]
//! [--json FILE] [--quick]`.

use std::process::ExitCode;
use std::rc::Rc;

use common::support::ceiling::{self, Draw, Turns, WRITE};
use common::support::{self, Report, json};
use common::{Bench, BenchArgs, Row, context, positive};
use glow::HasContext;
use texla::kernel::Accum;
use texla::ops::{self, Combine, LinOp, ReducePlan, Reduction, Window, Windows};
use texla::profile::{DeviceProfile, Fetches, Workload};
use texla::solve::{CgParams, CgSchedule, ConjugateGradient, Smoother, WeightedJacobi};
use texla::{
    BandedMatrix, Device, Grid, Scalar, Side, Sides, SparseFormat, SparseMatrix, Stencil, StencilParams,
    Vector, host::problems,
};

mod common;

/// A draw of texla's, and its GL calls by themselves; so many of them at a time.
const DISPATCH: &str = "dispatch: add of 2x2 texels";
const RAW: &str = "dispatch: the same calls in raw glow";
const DRAWS: usize = 500;

/// Prints and reports the rows beside their ceilings and predictions.
fn print(bench: &Bench<'_>, profile: &DeviceProfile, report: &mut Report) {
    println!(
        "{:44} {:>11} {:>11} {:>10} {:>9} {:>10} {:>18} {:>6}",
        "row", "ms median", "ms min", "ns/elem", "Gelem/s", "of ceiling", "predicted / median", "/ min"
    );
    for row in &bench.rows {
        let ns = row.seconds.median() * 1e9 / row.elements;
        let per_element = |r: &Row| r.seconds.median() / r.elements;
        let best = row.reference.and_then(|ceiling| {
            let of_its_kind = bench.rows.iter().filter(|r| r.name.starts_with(ceiling));
            of_its_kind.map(per_element).min_by(f64::total_cmp)
        });
        let share = best.map(|best| best / per_element(row));
        // A profile is of the least times that were seen.
        let [predicted, of_least] = [row.seconds.median(), row.seconds.least()]
            .map(|measured| row.work.map(|work| profile.predict(&work) / measured));
        let shown = |ratio: Option<f64>| ratio.map(|r| format!("{r:.2}")).unwrap_or_default();
        println!(
            "{:44} {:>11.4} {:>11.4} {:>10.4} {:>9.3} {:>10} {:>18} {:>6}",
            row.name,
            row.seconds.median() * 1e3,
            row.seconds.least() * 1e3,
            ns,
            1.0 / ns,
            share.map(|share| format!("{:.0} %", 100.0 * share)).unwrap_or_default(),
            shown(predicted),
            shown(of_least)
        );
        let mut line = row.json();
        line["ns_per_element"] = json!(ns);
        line["of_ceiling"] = json!(share);
        line["predicted_over_median"] = json!(predicted);
        line["predicted_over_least"] = json!(of_least);
        report.row(line);
    }
    let of = |name: &str| bench.rows.iter().find(|row| row.name == name);
    if let (Some(ours), Some(raw)) = (of(DISPATCH), of(RAW)) {
        let times = ours.seconds.median() / raw.seconds.median();
        println!("\na small draw takes {times:.2} times its GL calls");
        report.set("small_draw_over_its_calls", times);
    }
}

/// What the last draw went to.
#[allow(unsafe_code)]
fn bound_framebuffer(device: &Device) -> glow::Framebuffer {
    // SAFETY: the device's context is current.
    let name = unsafe { device.glow().get_parameter_i32(glow::DRAW_FRAMEBUFFER_BINDING) };
    glow::NativeFramebuffer(
        u32::try_from(name).ok().and_then(std::num::NonZeroU32::new).expect("a framebuffer"),
    )
}

/// The GL calls of draws that change nothing but their target, an even number of times: framebuffer, draw, error flag.
/// Program, textures and all else are as the last draw of texla's has left them, and stay so.
#[allow(unsafe_code)]
fn draw_again(device: &Device, framebuffers: [glow::Framebuffer; 2], draws: usize) {
    let gl = device.glow();
    for k in 0..draws {
        // SAFETY: the device's context is current inside a scope, and its framebuffers are alive.
        unsafe {
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffers[k % 2]));
            gl.draw_arrays(glow::TRIANGLES, 0, 3);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
    }
}

/// Times of the operations beside ceilings, predictions and the CPU
#[derive(clap::Parser)]
struct Args {
    #[command(flatten)]
    shared: BenchArgs,
    /// Floats in a vector
    #[arg(long, value_name = "N", value_parser = positive)]
    n: Option<usize>,
    /// Cells along a side of the five-point matrix
    #[arg(long, value_name = "G", value_parser = positive)]
    grid: Option<usize>,
    /// Iterations of conjugate gradients in a call
    #[arg(long, value_name = "K", value_parser = positive)]
    iterations: Option<usize>,
}

impl AsRef<support::CommonArgs> for Args {
    fn as_ref(&self) -> &support::CommonArgs {
        &self.shared.common
    }
}

fn main() -> ExitCode {
    support::main_with("operations", run)
}

fn run(args: &Args, report: &mut Report) -> support::Result {
    let shared = &args.shared;
    let (n, grid) = (shared.or(args.n, [1 << 16, 1 << 20]), shared.or(args.grid, [64, 512]));
    let iterations = shared.or(args.iterations, [20, 100]);
    let rounds = shared.or(shared.rounds, [3, 9]);
    let context = context(shared, report)?;
    let device = context.device();
    let caps = device.capabilities();
    println!("n = {n}, grid {grid}x{grid}, {rounds} rounds\n");
    report.set("n", n).set("grid", grid);

    let profile = DeviceProfile::measure(device)?;
    println!("{profile}");

    let value = |i: usize| ((i * 7919) % 1000) as f32 / 500.0 - 1.0;
    let host: Vec<f32> = (0..n).map(value).collect();
    let (x, y) = (Vector::from_slice(device, &host).unwrap(), Vector::from_slice(device, &host).unwrap());
    let scalar = Scalar::new(device, 0.5).unwrap();

    let triplets = problems::poisson_2d(grid, grid);
    let csr = triplets.to_csr();
    let cells = grid * grid;
    let nnz = csr.nnz();
    let v = Vector::filled(device, cells, 1.0).unwrap();
    let banded = BandedMatrix::from_csr(device, csr.clone()).unwrap();
    let gather = SparseMatrix::from_csr(device, csr.clone(), SparseFormat::Gather).unwrap();
    let points =
        caps.float_blend.then(|| SparseMatrix::from_csr(device, csr.clone(), SparseFormat::Points).unwrap());
    let b = Vector::from_slice(device, &(0..cells).map(value).collect::<Vec<_>>()).unwrap();
    let mut results: Vec<Scalar> = (0..16).map(|_| Scalar::zero(device).unwrap()).collect();
    let small = Vector::zeros(device, 16).unwrap();
    let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::WALL));
    let stencil = Stencil::new(device, Grid::new_2d(grid, grid), params).unwrap();
    let mut bench = Bench::new(device, shared.only.as_deref());

    // Ceilings: the least a pass can do. Of those that read the best is the ceiling.
    let ones = Rc::new(Vector::filled(device, n, 1.0).unwrap());
    let mut ceilings = ceiling::draws(&ones).unwrap();
    let copy = "vec4 kernel(ivec2 p) { return x_here(); }";
    ceilings.push(Draw::new("write after one fetch", copy, &ones, n, Accum::Replace).unwrap());
    if caps.float_blend {
        ceilings.push(Draw::new("blend", WRITE, &ones, n, Accum::Add).unwrap());
    }
    for Draw { name, run } in ceilings {
        bench.row(&format!("ceiling: {name}"), n, None, run);
    }

    // What a draw costs before anything is computed: both rows add 2x2 texels into two targets in turns.
    let fresh = || Vector::zeros(device, 16).unwrap();
    let small = &small;
    let add = |out: &mut Vector| ops::add(out, small, small).expect("add");
    let mut turns = [fresh(), fresh()];
    let ours = move || {
        (0..DRAWS).for_each(|k| add(&mut turns[k % 2]));
        Ok(())
    };
    bench.push(DISPATCH, 1, None, DRAWS, ours);
    let mut turns = [fresh(), fresh()];
    let raw = move || {
        let framebuffers = [0, 1].map(|k| {
            add(&mut turns[k]);
            bound_framebuffer(device)
        });
        draw_again(device, framebuffers, DRAWS);
        Ok(())
    };
    bench.push(RAW, 1, None, DRAWS, raw);

    // Vector operations.
    let (x, y, scalar) = (&x, &y, &scalar);
    let mut out = Turns::new(device, n).unwrap();
    bench.row("copy", n, Some("ceiling: write"), move || ops::copy(out.next(), x));
    let mut out = Turns::new(device, n).unwrap();
    bench.row("add", n, Some("ceiling: write"), move || ops::add(out.next(), x, y));
    let mut out = Turns::new(device, n).unwrap();
    bench.row("axpy", n, Some("ceiling: write"), move || ops::axpy(out.next(), 0.5, x, y));
    let mut out = Turns::new(device, n).unwrap();
    bench.row("axpy, coefficient on the device", n, Some("ceiling: write"), move || {
        ops::axpy(out.next(), scalar, x, y)
    });

    // A coefficient on the device is a fetch more, and padding is cut.
    let texels = x.extent().area() as f64;
    let coefficient = Fetches::default().with_adjacent(texels);
    let one_more = Workload::default().with_fetches(coefficient).with_cut_texels(texels);
    for (name, inputs, multiply_adds, more) in [
        ("copy", 1, 0, Workload::default()),
        ("add", 2, 1, Workload::default()),
        ("axpy", 2, 1, Workload::default()),
        ("axpy, coefficient on the device", 2, 1, one_more),
    ] {
        bench.counted(name, Some(Workload::elementwise(x, inputs, multiply_adds) + more));
    }

    // Reductions.
    let reduced =
        |windows: Windows, inputs| Some(ReducePlan::on(device, x.extent(), windows, inputs).workload(inputs));
    let mut slots = results.iter_mut();
    let sides = [2, 4, 8, 16];
    for side in sides {
        let window = Windows::Each(Window::new(side, side).unwrap());
        let slot = slots.next().unwrap();
        let name = format!("sum, windows {side}x{side}");
        bench.row(&name, n, Some("ceiling: read"), move || {
            ops::reduce::reduce_into(slot, Reduction::Sum, x, None, window)
        });
        bench.counted(&name, reduced(window, 1));
    }
    bench.row("sum, balanced windows", n, Some("ceiling: read"), move || ops::sum(x).map(|_| ()));
    let slot = slots.next().unwrap();
    bench.row("dot, balanced windows", 2 * n, Some("ceiling: read"), move || {
        ops::reduce::reduce_into(slot, Reduction::Dot, x, Some(y), Windows::Balanced)
    });
    bench.row("norm2 (two reductions)", 2 * n, Some("ceiling: read"), move || ops::norm2(x).map(|_| ()));

    for (name, inputs, times) in [
        ("sum, balanced windows", 1, 1.0),
        ("dot, balanced windows", 2, 1.0),
        ("norm2 (two reductions)", 1, 2.0),
    ] {
        bench.counted(name, reduced(Windows::Balanced, inputs).map(|work| work * times));
    }

    // Sparse products with the five-point matrix, per nonzero.
    let (banded, gather, v) = (&banded, &gather, &v);
    let mut w = Turns::new(device, cells).unwrap();
    bench.row("SpMV banded (per nonzero)", nnz, None, move || {
        ops::product(w.next(), Combine::Replace, 1.0, banded, v)
    });
    let mut w = Turns::new(device, cells).unwrap();
    bench.row("SpMV gather (per nonzero)", nnz, None, move || {
        ops::product(w.next(), Combine::Replace, 1.0, gather, v)
    });
    let mut w = Turns::new(device, cells).unwrap();
    if let Some(points) = &points {
        bench.row("SpMV points (per nonzero)", nnz, None, move || {
            ops::product(w.next(), Combine::Replace, 1.0, points, v)
        });
    }

    bench.counted("SpMV banded (per nonzero)", banded.workload());
    bench.counted("SpMV gather (per nonzero)", gather.workload());
    bench.counted("SpMV points (per nonzero)", points.as_ref().and_then(|points| points.workload()));

    // A sweep of weighted Jacobi in one pass, and by a product and an update, per unknown.
    const SWEEPS: usize = 8;
    let (stencil, b) = (&stencil, &b);
    let jacobi = WeightedJacobi::new(stencil, 0.8).expect("smoother");
    let counted_sweep = jacobi.workload().expect("workload");
    let mut w = Turns::new(device, cells).unwrap();
    bench.row("SpMV stencil (per nonzero)", nnz, None, move || {
        ops::product(w.next(), Combine::Replace, 1.0, stencil, v)
    });
    let mut sweep_x = Vector::zeros(device, cells).unwrap();
    let sweep = move || jacobi.smooth(&mut sweep_x, b, SWEEPS);
    bench.push("Jacobi sweep, stencil", cells, None, SWEEPS, sweep);
    let (mut x_of, mut r) = (Turns::new(device, cells).unwrap(), Vector::zeros(device, cells).unwrap());
    bench.row("Jacobi sweep, product and update", cells, None, move || {
        ops::product(&mut r, Combine::SubtractFrom(b), 1.0, stencil, v)?;
        ops::mul_add(x_of.next(), v, &r, v)
    });
    let product = stencil.workload();
    bench.counted("SpMV stencil (per nonzero)", product);
    bench.counted("Jacobi sweep, stencil", counted_sweep);
    // And the right-hand side.
    let one = Fetches::default().with_own(v.extent().area() as f64);
    let residual = product.map(|p| p + Workload::default().with_fetches(one));
    let both = residual.map(|residual| residual + Workload::elementwise(v, 3, 2));
    bench.counted("Jacobi sweep, product and update", both);

    // Conjugate gradients, per unknown and iteration: so many from zero, without what a solve does besides.
    for (name, schedule) in
        [("fused", CgSchedule::Fused), ("merged", CgSchedule::Merged), ("listing", CgSchedule::Listing)]
    {
        let params = CgParams::default().with_schedule(schedule);
        let cg = ConjugateGradient::new(banded, params).expect("solver");
        let work = cg.workload().expect("workload");
        let run = move || cg.iterate_from_zero(b, iterations).map(drop);
        let name = format!("CG iteration, banded, {name}");
        bench.push(&name, cells, None, iterations, run);
        bench.counted(&name, work);
    }

    // What else one could run, on the CPU of the same machine, one thread.
    let (ha, hb) = (host.clone(), host.clone());
    let mut hc = vec![0.0f32; n];
    bench.row("CPU: axpy, Rust loop", n, None, move || {
        hc.iter_mut().zip(ha.iter().zip(&hb)).for_each(|(c, (a, b))| *c = 0.5 * a + b);
        std::hint::black_box(&mut hc);
        Ok(())
    });
    let fa = faer::Col::<f32>::from_fn(n, |i| host[i]);
    bench.row("CPU: dot, faer", 2 * n, None, move || {
        std::hint::black_box(fa.transpose() * &fa);
        Ok(())
    });
    let indices: Vec<usize> = csr.cols().iter().map(|c| *c as usize).collect();
    let data: Vec<f32> = csr.values().iter().map(|v| *v as f32).collect();
    let matrix = sprs::CsMat::new((cells, cells), csr.row_ptr().to_vec(), indices, data);
    let sx = vec![1.0f32; cells];
    let mut sy = vec![0.0f32; cells];
    let spmv = matrix.clone();
    bench.row("CPU: SpMV, sprs f32 (per nonzero)", nnz, None, move || {
        sy.iter_mut().for_each(|v| *v = 0.0);
        sprs::prod::mul_acc_mat_vec_csr(spmv.view(), &sx[..], &mut sy[..]);
        std::hint::black_box(&mut sy);
        Ok(())
    });
    let hb: Vec<f32> = (0..cells).map(value).collect();
    bench.push("CPU: CG iteration, sprs f32", cells, None, 20, move || {
        sprs_cg(&matrix, &hb, 20);
        Ok(())
    });

    bench.measure(rounds);
    print(&bench, &profile, report);
    Ok(())
}

/// Plain float32 conjugate gradients over sprs: the same work on the CPU.
fn sprs_cg(a: &sprs::CsMat<f32>, b: &[f32], iterations: usize) {
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
    let (mut x, mut r, mut p) = (vec![0.0f32; b.len()], b.to_vec(), b.to_vec());
    let mut q = vec![0.0f32; b.len()];
    let mut rz = dot(&r, &r);
    for _ in 0..iterations {
        q.iter_mut().for_each(|v| *v = 0.0);
        sprs::prod::mul_acc_mat_vec_csr(a.view(), &p[..], &mut q[..]);
        let alpha = rz / dot(&p, &q);
        x.iter_mut().zip(&p).for_each(|(x, p)| *x += alpha * p);
        r.iter_mut().zip(&q).for_each(|(r, q)| *r -= alpha * q);
        let next = dot(&r, &r);
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + next / rz * *p);
        rz = next;
    }
    std::hint::black_box(&mut x);
}
