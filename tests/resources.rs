//! What texla holds: every GL object is accounted for, on errors too, and goes with its owner, in whatever order.
#![cfg(feature = "sim")]
#![allow(unsafe_code)]

mod common;

use std::any::Any;

use common::alloc::resident;
use common::everything::every;
use common::harness::{fitting, headless, headless_with, limits, on_both};
use common::random::{Rng, uniform};
use glow::HasContext;
use texla::gl::{Api, LiveObjects};
use texla::host::Triplets;
use texla::kernel::{
    Accum, Bodies, Condition, IterateWhile, Kernel, NoParams, PingPong, Points, PointsKernel, Predicate,
    SplatKernel, WhileParams, WhileSchedule,
};
use texla::ops::{Accurate, Combine, MatmulForm, MatmulSchedule};
use texla::solve::{
    BiCgStab, BiCgStabParams, CgParams, ConjugateGradient, Direction, GaussSeidel, LcpBatch, LcpParams,
    LcpProblem, LcpSolver, LinOp, Multigrid, MultigridParams, ProjectedJacobi, Relaxation, Smoother,
    Stationary, StationaryParams, WeightedJacobi, natural_residual,
};
use texla::{
    BandedMatrix, ColumnStack, Device, DeviceOptions, Error, FoldedBands, Grid, Headless, HeadlessOptions,
    Layout, Matrix, Packed, Plane, Scalar, Shape, Side, Sides, SparseFormat, SparseMatrix, Stencil,
    StencilParams, Vector, ops,
};

/// What is alive apart from what can be made again.
fn live(dev: &Device) -> LiveObjects {
    dev.trim().unwrap();
    assert_eq!(dev.pool_stats().free, 0);
    dev.live_objects()
}

fn textures(n: u64) -> LiveObjects {
    LiveObjects::default().with_textures(n)
}

fn plus(a: LiveObjects, b: LiveObjects) -> LiveObjects {
    LiveObjects::default()
        .with_textures(a.textures + b.textures)
        .with_buffers(a.buffers + b.buffers)
        .with_framebuffers(a.framebuffers + b.framebuffers)
        .with_programs(a.programs + b.programs)
        .with_shaders(a.shaders + b.shaders)
        .with_vertex_arrays(a.vertex_arrays + b.vertex_arrays)
        .with_samplers(a.samplers + b.samplers)
        .with_fences(a.fences + b.fences)
        .with_queries(a.queries + b.queries)
        .with_transform_feedbacks(a.transform_feedbacks + b.transform_feedbacks)
}

/// Object balance: objects after a call = those before + the outputs; those before once the outputs have dropped.
fn balance(dev: &Device, name: &str, outputs: LiveObjects, call: &dyn Fn() -> Box<dyn Any>) {
    let before = live(dev);
    let output = call();
    assert_eq!(dev.live_objects().shaders, 0, "{name}");
    assert_eq!(live(dev), plus(before, outputs), "{name}");
    drop(output);
    assert_eq!(live(dev), before, "{name}, dropped");
}

#[test]
fn each_call_leaves_its_outputs_alone() {
    on_both(|dev| {
        let x = Vector::from_slice(dev, &uniform(1, 1000)).unwrap();
        let y = Vector::from_slice(dev, &uniform(2, 1000)).unwrap();
        let check = |name: &str, outputs, call: &dyn Fn() -> Box<dyn Any>| balance(dev, name, outputs, call);
        macro_rules! check {
            ($outputs:expr, $call:expr) => {
                check(stringify!($call), $outputs, &|| Box::new($call))
            };
        }
        check!(textures(1), Vector::from_slice(dev, &[1.0; 77]).unwrap());
        check!(textures(1), Vector::zeros(dev, 0).unwrap());
        check!(textures(1), Vector::filled(dev, 300, 2.0).unwrap());
        check!(textures(1), Scalar::new(dev, 2.0).unwrap());
        check!(textures(1), ops::sum(&x).unwrap());
        check!(textures(1), ops::dot(&x, &y).unwrap());
        check!(textures(1), ops::norm2(&x).unwrap());
        check!(textures(1), ops::nonfinite(&x).unwrap());
        check!(textures(1), x.to_packed(Shape::new(40, 25), Layout::Block2x2).unwrap());
        check!(textures(0), x.read().unwrap());
        check!(textures(0).with_buffers(1).with_fences(1), x.read_async().unwrap());
        check!(textures(0), x.read_async().unwrap().wait().unwrap());
        check!(textures(2), {
            let (mut a, mut b) = (Vector::zeros(dev, 1000).unwrap(), Vector::zeros(dev, 1000).unwrap());
            ops::axpy(&mut a, 2.0, &x, &y).unwrap();
            ops::div_or_zero(&mut b, &a, &x).unwrap();
            ops::scale(&mut a, 3.0).unwrap();
            (a, b)
        });
        check!(textures(1), {
            let packed = Packed::from_rows(dev, Shape::new(2, 2), Layout::Single, &[1.0; 4]).unwrap();
            packed.to_vector().unwrap()
        });
        let body = "vec4 kernel(ivec2 p) { return x(p); }";
        let program = textures(0).with_programs(1);
        check!(program, Kernel::<NoParams>::new(dev, "copy", ["x"], body).unwrap());
        let points = textures(0).with_buffers(2).with_vertex_arrays(1);
        check!(points, Points::new(dev, &[&[[0.0; 4]], &[[0.0; 4]]]).unwrap());
        let body = "bool kernel(ivec2 p) { return true; }";
        check!(textures(1).with_programs(1), {
            let condition = Condition::<NoParams>::new(dev, "true", [], body).unwrap();
            let mask = condition.mask(&x, [], &NoParams).unwrap();
            (condition, mask)
        });
        let body =
            "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(0); value = attribute0; }";
        check!(textures(1), {
            let kernel = PointsKernel::<NoParams>::new(dev, "points", [], 1, body).unwrap();
            let points = Points::new(dev, &[&[[1.0; 4]; 9]]).unwrap();
            let mut target = Vector::zeros(dev, 8).unwrap();
            kernel.with([], &points, &NoParams).run(&mut target).unwrap();
            target
        });
        let a = Matrix::from_rows(dev, Shape::new(50, 20), &uniform(3, 1000)).unwrap();
        let tiles = a.tiles().count() as u64;
        check!(textures(tiles), a.transposed().unwrap().block(0, 0, Shape::new(20, 50)).unwrap());
        check!(textures(1), a.row(7).unwrap());
        check!(textures(1), ops::norm1(&a).unwrap());
        check!(textures(1), ops::trace(&a).unwrap());
        check!(textures(1), a.to_vector().unwrap());
        check!(textures(0), a.element(3, 4).unwrap());
        for schedule in [MatmulSchedule::Auto, MatmulSchedule::PAPER, MatmulSchedule::OnePass] {
            check!(textures(1), {
                let mut c = Matrix::zeros(dev, Shape::new(50, 50)).unwrap();
                ops::matmul_with(&mut c, MatmulForm::TransposedB, &a, &a, schedule).unwrap();
                c.set_block(2, 3, &a.block(0, 0, Shape::new(9, 9)).unwrap()).unwrap();
                ops::accumulate(&mut c, &Matrix::identity(dev, 50).unwrap()).unwrap();
                c
            });
        }
        check!(textures(1), {
            let mut y = Vector::zeros(dev, 50).unwrap();
            let x = Vector::filled(dev, 20, 1.0).unwrap();
            ops::product(&mut y, Combine::Accumulate, 2.0, &a, &x).unwrap();
            y
        });
        // SAFETY: the texture lives as long as `x`.
        check!(textures(0), unsafe {
            Vector::from_texture(dev, x.texture(), x.extent().width as usize, x.extent().height as usize)
                .unwrap()
        });
        let csr = texla::host::problems::poisson_1d(90).to_csr();
        let a = SparseMatrix::from_csr(dev, csr.clone(), SparseFormat::Gather).unwrap();
        let b = Vector::filled(dev, 90, -1.0).unwrap();
        // What the operator makes on first use stays with it.
        natural_residual(&a, &b, &b).unwrap();
        check!(textures(1), {
            let mut x = Vector::zeros(dev, 90).unwrap();
            ProjectedJacobi::new(&a, 0.5).unwrap().run(&mut x, &b, 3).unwrap();
            x
        });
        check!(textures(1), {
            let mut x = Vector::zeros(dev, 90).unwrap();
            LcpSolver::new(&a, LcpParams::default()).unwrap().solve(&mut x, &b).unwrap();
            natural_residual(&a, &x, &b).unwrap();
            x
        });
        // The matrix with its columns and slices; b; the diagonal; and three tables of who owns what.
        let problem = LcpProblem { a: &csr, b: &[-1.0; 90] };
        check!(textures(8), LcpBatch::new(dev, &[problem, problem]).unwrap());
        check!(textures(9), {
            let batch = LcpBatch::new(dev, &[problem, problem]).unwrap();
            let mut x = batch.start(&[0.0; 180]).unwrap();
            batch.solve(&mut x, LcpParams::default()).unwrap();
            (batch, x)
        });
    });
}

/// The same for every operation there is, whose outputs have dropped when it ends.
#[test]
fn no_operation_leaves_anything() {
    on_both(|dev| {
        every(dev, &mut |name, call| {
            // What an operator makes on first use stays with it.
            call();
            let before = live(dev);
            call();
            assert_eq!(dev.live_objects().shaders, 0, "{name}");
            assert_eq!(live(dev), before, "{name}");
        });
    });
}

/// Object balance for waves: the state, the right-hand side and the solution, two levels each of the first two; losses; the
/// report of the last solve; and two programs.
#[test]
fn waves_hold_what_they_need() {
    use texla::sim::wave::{self, Boundaries, Boundary, Scheme, Wave, WaveParams};
    on_both(|dev| {
        for (scheme, boundary, expected) in [
            (Scheme::Explicit, Boundary::Fixed, 6),
            (Scheme::CrankNicholson, Boundary::Fixed, 7),
            // With the one vector of the stiffness' null space.
            (Scheme::CrankNicholson, Boundary::Reflecting, 8),
            (Scheme::CrankNicholson, Boundary::Absorbing, 10),
        ] {
            let before = live(dev);
            let params =
                WaveParams::new(30, 20).with_scheme(scheme).with_boundaries(Boundaries::all(boundary));
            let mut wave = Wave::new(dev, params).unwrap();
            let drop = wave::Drop { centre: [9.0, 9.0], radius: 4.0, height: 1.0, balanced: false };
            for _ in 0..3 {
                wave.drop(drop).unwrap();
                wave.step().unwrap();
            }
            wave.report().unwrap();
            std::mem::drop(wave.energy().unwrap());
            assert!(wave.step_forced(&Vector::zeros(dev, 7).unwrap(), 1.0).is_err());
            let held = textures(expected).with_programs(2);
            assert_eq!(live(dev), plus(before, held), "{scheme:?} {boundary:?}");
            std::mem::drop(wave);
            assert_eq!(live(dev), before, "{scheme:?} {boundary:?}, dropped");
        }
        let before = live(dev);
        let refused = WaveParams::new(9, 7).with_scheme(Scheme::Explicit).with_dt(2.0);
        assert!(Wave::new(dev, refused).is_err());
        assert_eq!(live(dev), before);
    });
}

#[test]
fn operators_on_grids_hold_what_they_need() {
    on_both(|dev| {
        let check =
            |outputs, call: &dyn Fn() -> Box<dyn Any>| balance(dev, "on grids", textures(outputs), call);
        let (grid, weights) = (Grid::new_2d(24, 16), [1.0, 1.0, 0.0]);
        let stencil = |side, solid: &[bool]| {
            Stencil::new(dev, grid, StencilParams::new(weights, Sides::all(side)).with_solid(solid)).unwrap()
        };
        let solid: Vec<bool> = (0..grid.len()).map(|i| i == 100).collect();
        // Nothing; a null vector; and where solid cells are.
        check(0, &|| Box::new(stencil(Side::WALL, &[])));
        check(1, &|| Box::new(stencil(Side::Neumann, &[])));
        check(2, &|| Box::new(stencil(Side::Neumann, &solid)));
        let b = Vector::filled(dev, grid.len(), 1.0).unwrap();
        let [open, obstructed] = [stencil(Side::WALL, &[]), stencil(Side::WALL, &solid)];
        // The inverse on 12 by 8 cells; with an obstacle also where it is and what interpolation is scaled by.
        let inverse = Matrix::zeros(dev, Shape::new(96, 96)).unwrap().tiles().count() as u64;
        for (a, held) in [(&open, inverse), (&obstructed, inverse + 2)] {
            check(held, &|| {
                let m = Multigrid::new(a, MultigridParams::default()).unwrap();
                let mut x = Vector::zeros(dev, grid.len()).unwrap();
                m.smooth(&mut x, &b, 2).unwrap();
                assert_eq!(m.grids().count(), 2);
                Box::new(m)
            });
        }
        let before = live(dev);
        let params = StencilParams::new(weights, Sides::all(Side::WALL)).with_solid(&[true; 3]);
        assert!(Stencil::new(dev, grid, params).is_err());
        assert!(Multigrid::new(&open, MultigridParams::default().with_sweeps(0)).is_err());
        assert_eq!(live(dev), before);
    });
}

/// The same for the representations of [Krueger05] 44.2.
#[test]
fn each_call_of_the_framework_leaves_its_outputs_alone() {
    on_both(|dev| {
        let n = 40;
        let values = uniform(5, n * n);
        let stack = ColumnStack::from_rows(dev, Shape::new(n, n), &values).unwrap();
        let dense = stack.to_matrix().unwrap();
        let csr = stack.to_csr().unwrap();
        let folded = FoldedBands::from_csr(dev, csr.clone()).unwrap();
        let x = Vector::filled(dev, n, 1.0).unwrap();
        let check = |name: &str, outputs, call: &dyn Fn() -> Box<dyn Any>| {
            balance(dev, name, textures(outputs), call);
        };
        macro_rules! check {
            ($outputs:expr, $call:expr) => {
                check(stringify!($call), $outputs, &|| Box::new($call))
            };
        }
        let count = stack.texture_count() as u64;
        check!(count, ColumnStack::from_matrix(&dense).unwrap());
        check!(1, stack.to_matrix().unwrap());
        check!(1, stack.column(7).unwrap());
        check!(n as u64, FoldedBands::from_csr(dev, csr.clone()).unwrap());
        check!(1, folded.to_matrix().unwrap());
        check!(1, Matrix::from_csr(dev, &csr).unwrap());
        check!(1, {
            let mut plane = Plane::zeros(dev, 8, 5).unwrap();
            ops::vector_to_plane(&mut plane, &x).unwrap();
            plane
        });
        for form in [&stack as &dyn LinOp, &folded] {
            check!(1, {
                let mut y = Vector::zeros(dev, n).unwrap();
                ops::product(&mut y, Combine::Accumulate, 1.0, form, &x).unwrap();
                ops::product_transposed(&mut y, Combine::Divide(&x), 1.0, form, &x).unwrap();
                for transposed in [false, true] {
                    let terms = Accurate { transposed, alpha: 1.0, x: &x, plus: Some((1.0, &x)) };
                    ops::product_accurate(&mut y, form, terms).unwrap();
                }
                y
            });
            check!(0, form.column_squares().unwrap());
            check!(0, form.asymmetry().unwrap());
        }
        check!(0, ColumnStack::from_rows(dev, Shape::new(2, 2), &[f32::NAN; 4]).unwrap_err());
        check!(0, ColumnStack::zeros(dev, Shape::new(1 << 20, 1 << 20)).unwrap_err());
        check!(0, stack.column(n).unwrap_err());
        check!(0, Plane::zeros(dev, usize::MAX, 1).unwrap_err());
    });
}

#[test]
fn sweeps_and_shadows_hold_what_they_need() {
    on_both(|dev| {
        let check = |name: &str, outputs, call: &dyn Fn() -> Box<dyn Any>| {
            balance(dev, name, textures(outputs), call);
        };
        let n = 24 * 16;
        let a = BandedMatrix::poisson_2d(dev, 24, 16).unwrap();
        let b = Vector::filled(dev, n, 1.0).unwrap();
        let start = || Vector::zeros(dev, n).unwrap();
        // The weights.
        let before = live(dev);
        let jacobi = WeightedJacobi::new(&a, 1.0).unwrap();
        assert_eq!(live(dev), plus(before, textures(1)));
        check("Stationary", 1, &|| {
            let mut x = start();
            Stationary::new(&a, &jacobi, StationaryParams::default()).unwrap().solve(&mut x, &b).unwrap();
            Box::new(x)
        });
        // Weights, what couples a texel's unknowns in one direction or both, and a mask for each of two colours.
        for (direction, held) in [(Direction::Forward, 4), (Direction::Symmetric, 5)] {
            let before = live(dev);
            let gs = GaussSeidel::new(&a, 1.0, direction).unwrap();
            let mut x = start();
            gs.smooth(&mut x, &b, 2).unwrap();
            assert_eq!(live(dev), plus(before, textures(held + 1)), "{direction:?}");
            drop((gs, x));
            assert_eq!(live(dev), before);
        }
        check("BiCgStab", 1, &|| {
            let mut x = start();
            let gs = GaussSeidel::new(&a, 1.0, Direction::Forward).unwrap();
            let params = BiCgStabParams::default();
            BiCgStab::preconditioned(&a, &gs, params).unwrap().solve(&mut x, &b).unwrap();
            Box::new(x)
        });
        let before = live(dev);
        assert!(GaussSeidel::new(&a, 2.0, Direction::Forward).is_err());
        let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::Neumann));
        let closed = Stencil::new(dev, Grid::new_2d(24, 16), params).unwrap();
        assert!(BiCgStab::new(&closed, BiCgStabParams::default()).unwrap().solve(&mut start(), &b).is_err());
        drop(closed);
        assert_eq!(live(dev), before);
    });
}

#[test]
fn errors_leave_nothing() {
    on_both(|dev| {
        let x = Vector::from_slice(dev, &[1.0; 16]).unwrap();
        let small = Vector::from_slice(dev, &[1.0; 3]).unwrap();
        let kernel = |body: &str| Kernel::<NoParams>::new(dev, "bad", ["x"], body).map(|_| ()).unwrap_err();
        let csr = |values: &[f64]| Triplets::from_dense(Shape::new(2, 2), values).unwrap().to_csr();
        let no_p_matrix = csr(&[1.0, -3.0, -3.0, 1.0]);
        let diverging = SparseMatrix::from_csr(dev, no_p_matrix, SparseFormat::Gather).unwrap();
        let b = Vector::filled(dev, 2, -1.0).unwrap();
        let zero = csr(&[1.0, 0.0, 1.0, 0.0]);
        let cases: [(&str, &dyn Fn() -> Error); 14] = [
            ("divergence", &|| {
                let mut x = Vector::zeros(dev, 2).unwrap();
                let params = LcpParams::default().with_relaxation(Relaxation::Fixed(1.0));
                LcpSolver::new(&diverging, params).unwrap().solve(&mut x, &b).unwrap_err()
            }),
            ("zero diagonal", &|| {
                LcpBatch::new(dev, &[LcpProblem { a: &zero, b: &[1.0; 2] }]).map(|_| ()).unwrap_err()
            }),
            ("compile", &|| kernel("vec4 kernel(ivec2 p) { oops }")),
            ("link", &|| kernel("vec4 missing(); vec4 kernel(ivec2 p) { return missing(); }")),
            ("include", &|| kernel("#include \"nothing\"\nvec4 kernel(ivec2 p) { return x(p); }")),
            ("interface", &|| kernel("uniform vec4 stray; vec4 kernel(ivec2 p) { return stray; }")),
            ("condition", &|| Condition::<NoParams>::new(dev, "bad", [], "oops").map(|_| ()).unwrap_err()),
            ("points kernel", &|| {
                PointsKernel::<NoParams>::new(dev, "bad", [], 1, "oops").map(|_| ()).unwrap_err()
            }),
            ("points", &|| Points::new(dev, &[&[[f32::NAN; 4]]]).map(|_| ()).unwrap_err()),
            ("too large", &|| Vector::zeros(dev, usize::MAX).unwrap_err()),
            ("not finite", &|| Vector::from_slice(dev, &[f32::INFINITY]).unwrap_err()),
            ("wrong length", &|| {
                Packed::from_rows(dev, Shape::new(2, 2), Layout::Single, &[1.0]).map(|_| ()).unwrap_err()
            }),
            ("wrong shape", &|| ops::dot(&x, &small).map(|_| ()).unwrap_err()),
            // SAFETY: nothing is made of it: it has no texels.
            ("texture of a wrong size", &|| unsafe {
                Vector::from_texture(dev, x.texture(), 0, 1).unwrap_err()
            }),
        ];
        for (name, fail) in cases {
            let before = live(dev);
            let error = fail();
            assert_eq!(live(dev), before, "{name}: {error}");
            assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 16.0, "the next call works after: {name}");
        }
    });
}

/// What an operator is asked once for each solve may need the device: its errors come through, and are no answer.
#[test]
fn what_operators_are_asked_reports_the_devices_errors() {
    on_both(|dev| {
        let values = [4.0, 1.0, 1.0, 1.0, 4.0, 1.0, 1.0, 1.0, 4.0];
        let dense = Matrix::from_rows(dev, Shape::new(3, 3), &values).unwrap();
        let stack = ColumnStack::from_matrix(&dense).unwrap();
        let (b, mut x) = (Vector::filled(dev, 3, 1.0).unwrap(), Vector::zeros(dev, 3).unwrap());
        // SAFETY: the context is current.
        let fault = || unsafe { dev.glow().enable(0xffff) };
        type Question<'a> = &'a dyn Fn(&dyn LinOp) -> texla::Result<()>;
        let questions: [(&str, Question<'_>); 4] = [
            ("exponent", &|a| a.exponent().map(drop)),
            ("asymmetry", &|a| a.asymmetry().map(drop)),
            ("diagonal", &|a| a.diagonal().map(drop)),
            ("column_squares", &|a| a.column_squares().map(drop)),
        ];
        for (form, a) in [("Matrix", &dense as &dyn LinOp), ("ColumnStack", &stack)] {
            for (name, ask) in &questions {
                fault();
                assert_eq!(ask(a), Err(Error::HostGl { code: 0x0500 }), "{form}, {name}");
                // In the midst of texla's own work it is the driver's.
                let scope = dev.scope().unwrap();
                fault();
                let error = ask(a).unwrap_err();
                assert!(matches!(error, Error::Gl { code: 0x0500, .. }), "{form}, {name}: {error}");
                drop(scope);
                ask(a).unwrap();
            }
            // The first thing that a solver asks of its operator.
            fault();
            let error = ConjugateGradient::new(a, CgParams::default()).err();
            assert_eq!(error, Some(Error::HostGl { code: 0x0500 }), "{form}");
            let cg = ConjugateGradient::new(a, CgParams::default()).unwrap();
            x.set_zero().unwrap();
            assert!(cg.solve(&mut x, &b).unwrap().converged(), "{form}");
        }
    });
}

#[test]
fn data_may_outlive_the_context_and_the_device() {
    for api in Api::ALL {
        let context = headless(api);
        let ledger = context.device().ledger();
        let device = context.device().clone();
        let x = Vector::from_slice(&device, &[1.0, 2.0]).unwrap();
        let pending = x.read_async().unwrap();
        drop(context);
        let y = Vector::from_slice(&device, &[3.0, 4.0]).unwrap();
        drop(device);
        let product = ops::dot(&x, &y).unwrap();
        assert_eq!(product.read().unwrap(), 11.0);
        drop((x, y));
        assert!(ledger.live_objects().total() > 0);
        assert_eq!(product.device().capabilities(), headless(api).device().capabilities());
        assert_eq!(product.read().unwrap(), 11.0);
        drop(product);
        assert_eq!(pending.wait().unwrap(), [1.0, 2.0], "the last handle of all");
        drop(pending);
        assert_eq!(ledger.live_objects().total(), 0, "{api}");
    }
}

#[test]
fn a_scope_may_outlive_everything_else() {
    for api in Api::ALL {
        let context = headless(api);
        let ledger = context.device().ledger();
        let scope = context.device().scope().unwrap();
        let x = Vector::from_slice(context.device(), &[1.0, 2.0]).unwrap();
        drop((context, x));
        drop(scope);
        assert_eq!(ledger.live_objects().total(), 0, "{api}");
    }
}

#[test]
fn two_contexts_take_turns_on_one_thread() {
    for (a, b) in [(Api::Gl33, Api::Gl33), (Api::Gl33, Api::Es30), (Api::Es30, Api::Gl33)] {
        let (first, second) = (headless(a), headless(b));
        let ledgers = [first.device().ledger(), second.device().ledger()];
        let mut x = Vector::from_slice(first.device(), &[1.0; 40]).unwrap();
        let mut y = Vector::from_slice(second.device(), &[2.0; 40]).unwrap();
        for _ in 0..5 {
            ops::scale(&mut x, 2.0).unwrap();
            ops::scale(&mut y, 3.0).unwrap();
            let dropped_later = ops::sum(&x).unwrap();
            assert_eq!(ops::sum(&y).unwrap().read().unwrap(), 40.0 * y.read().unwrap()[0]);
            drop(dropped_later); // while the other context is current
        }
        assert_eq!((x.read().unwrap()[39], y.read().unwrap()[39]), (32.0, 486.0));
        // The first device goes while the second context is current.
        y.read().unwrap();
        drop((x, first));
        assert_eq!(ledgers[0].live_objects().total(), 0);
        assert_eq!(ops::sum(&y).unwrap().read().unwrap(), 40.0 * 486.0);
        drop((y, second));
        assert_eq!(ledgers[1].live_objects().total(), 0);
    }
}

/// A borrowed texture's name may come back for another one of the host's.
#[test]
fn a_borrowed_textures_name_may_be_used_again() {
    on_both(|dev| {
        let gl = dev.glow();
        let host_texture = |value: f32| {
            // SAFETY: the context is current; the texture is of the format and size that it is borrowed as.
            unsafe {
                let texture = gl.create_texture().unwrap();
                gl.bind_texture(glow::TEXTURE_2D, Some(texture));
                let texels = [value; 16].map(f32::to_ne_bytes).concat();
                let data = glow::PixelUnpackData::Slice(Some(&texels));
                let format = glow::RGBA32F as i32;
                gl.tex_image_2d(glow::TEXTURE_2D, 0, format, 2, 2, 0, glow::RGBA, glow::FLOAT, data);
                gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MAX_LEVEL, 0);
                gl.bind_texture(glow::TEXTURE_2D, None);
                texture
            }
        };
        for round in 1..=4 {
            let texture = host_texture(round as f32);
            let framebuffers = dev.live_objects().framebuffers;
            // SAFETY: the texture is deleted after the vector that borrows it.
            let borrowed = unsafe { Vector::from_texture(dev, texture, 2, 2) }.unwrap();
            assert_eq!(borrowed.read().unwrap(), [round as f32; 16]);
            assert_eq!(ops::sum(&borrowed).unwrap().read().unwrap(), 16.0 * round as f32);
            drop(borrowed);
            // SAFETY: as above.
            unsafe { gl.delete_texture(texture) };
            // Not every driver gives names again, so it is the framebuffer that is looked for.
            drop(dev.scope().unwrap());
            if round > 1 {
                assert_eq!(
                    dev.live_objects().framebuffers,
                    framebuffers,
                    "one would keep the dead texture alive"
                );
            }
        }
    });
}

fn with_budget(api: Api, pool_budget: u64) -> Headless {
    let options = DeviceOptions::default().with_limits(limits()).with_pool_budget(pool_budget);
    Headless::new(HeadlessOptions::default().with_api(Some(api)).with_options(options)).unwrap()
}

#[test]
fn the_pool_reuses_and_keeps_to_its_budget() {
    for api in Api::ALL {
        let budget = 40_000;
        let context = with_budget(api, budget);
        let dev = context.device();
        let start = dev.pool_stats();
        // One texture, taken again and again; 1024 texels of 16 bytes.
        for _ in 0..10 {
            drop(Vector::zeros(dev, 4096).unwrap());
        }
        let stats = dev.pool_stats();
        assert_eq!((stats.allocated - start.allocated, stats.reused - start.reused), (1, 9));
        assert_eq!((stats.free, stats.free_bytes, stats.live), (1, 16_384, start.live));
        // Three at once are more than the budget.
        let three: Vec<_> = (0..3).map(|_| Vector::zeros(dev, 4096).unwrap()).collect();
        let stats = dev.pool_stats();
        assert_eq!((stats.live_bytes, stats.peak_bytes, stats.free), (3 * 16_384, 3 * 16_384, 0));
        drop(three);
        let stats = dev.pool_stats();
        assert_eq!((stats.free, stats.free_bytes, stats.peak_bytes), (2, 32_768, 3 * 16_384));
        // A texture that is larger than the budget is not kept.
        let before = dev.live_objects().textures;
        drop(Vector::zeros(dev, 4 * 64 * 64).unwrap());
        drop(dev.scope().unwrap());
        assert!(dev.pool_stats().free_bytes <= budget && dev.live_objects().textures <= before);
        // Sizes that never come back push each other out.
        for n in 1..200 {
            drop(Vector::zeros(dev, n * 37).unwrap());
            assert!(dev.pool_stats().free_bytes <= budget);
        }
        dev.trim().unwrap();
        let stats = dev.pool_stats();
        assert_eq!((stats.free, stats.free_bytes, stats.live), (0, 0, 0));
        assert_eq!(dev.live_objects().textures, 0);

        let context = with_budget(api, 0);
        for _ in 0..3 {
            drop(Vector::zeros(context.device(), 100).unwrap());
        }
        let stats = context.device().pool_stats();
        assert_eq!((stats.free, stats.reused), (0, 0));
    }
}

/// Steady memory.
#[test]
fn ten_thousand_cycles_do_not_grow() {
    on_both(|dev| {
        let most = fitting(dev, 5000);
        let values = uniform(3, most);
        let mut rng = Rng::new(9);
        let mut start = 0;
        for cycle in 0..10_000 {
            if cycle == 200 {
                start = resident();
            }
            let n = 1 + rng.below(most);
            let x = Vector::from_slice(dev, &values[..n]).unwrap();
            let mut y = Vector::zeros(dev, n).unwrap();
            let s = ops::norm2(&x).unwrap();
            ops::axpy(&mut y, &s, &x, &x).unwrap();
            match cycle % 100 {
                0 => drop(y.read().unwrap()),
                1 => drop(y.read_async().unwrap()),
                2 => dev.trim().unwrap(),
                3 => drop(Kernel::<NoParams>::new(dev, "bad", [], "oops")),
                _ => {}
            }
        }
        let grown = resident().saturating_sub(start);
        eprintln!("grown by {} KiB", grown >> 10);
        assert!(grown < 32 << 20, "grown by {grown} bytes");
        // What is alive is bounded by the caches, not by the number of cycles.
        assert!(dev.live_objects().framebuffers <= 96);
    });
}

/// llvmpipe says that textures may have 16384² texels, and has no memory for half of that.
#[test]
fn memory_that_the_driver_lacks_is_a_typed_error() {
    for api in Api::ALL {
        let context = headless_with(api, limits());
        let dev = context.device();
        let caps = dev.capabilities();
        if !caps.renderer.contains("llvmpipe") || caps.max_texture_size < 16384 {
            eprintln!("not looked at on {} with sides of {}", caps.renderer, caps.max_texture_size);
            continue;
        }
        let x = Vector::from_slice(dev, &[1.0, 2.0, 3.0]).unwrap();
        drop(Vector::zeros(dev, 500).unwrap());
        let before = dev.live_objects();
        let error = Vector::zeros(dev, 4 * 16384 * 8200).unwrap_err();
        assert!(matches!(error, Error::OutOfMemory { .. }), "{error}");
        assert!(error.to_string().contains("16384x8200 texels"), "{error}");
        assert_eq!(dev.pool_stats().free, 0, "the pool gave back what it had");
        dev.trim().unwrap();
        assert!(dev.live_objects().textures <= before.textures);
        assert_eq!(ops::sum(&x).unwrap().read().unwrap(), 6.0, "the next call works");
    }
}

/// A host that has texla's texture bound when texla exchanges and deletes it.
#[test]
fn a_texture_deleted_while_the_host_has_it_bound() {
    use glow::HasContext;
    for api in texla::gl::Api::ALL {
        let options = texla::DeviceOptions::default().with_pool_budget(0);
        let options = texla::HeadlessOptions::default().with_api(Some(api)).with_options(options);
        let context = texla::Headless::new(options).unwrap();
        let (dev, gl) = (context.device(), context.glow());
        let mut v = texla::Vector::filled(dev, 9, 1.0).unwrap();
        // SAFETY: the context is current.
        unsafe { gl.bind_texture(glow::TEXTURE_2D, Some(v.texture())) };
        {
            let _scope = dev.scope().unwrap();
            texla::ops::scale(&mut v, 2.0).unwrap();
            dev.trim().unwrap();
        }
        assert_eq!(v.read().unwrap(), [2.0; 9]);
        // SAFETY: as above.
        assert_eq!(unsafe { gl.get_parameter_i32(glow::TEXTURE_BINDING_2D) }, 0);
    }
}

/// The same by enhanced block Jacobi: a vector of places and programs for the pressure, one for four cells of a line at most, and
/// from the first viscous step on the same for each component; another time step replaces them.
#[test]
fn fluids_on_lines_hold_what_they_need() {
    use texla::Grid;
    use texla::sim::fluid::{Diffusion, Fluid, FluidParams, Pressure};
    on_both(|dev| {
        for (grid, components) in [(Grid::new_2d(14, 9), 2), (Grid::new_3d(8, 5, 4), 3)] {
            let before = live(dev);
            let params = StationaryParams::default();
            let params = FluidParams::new(0.1)
                .with_pressure(Pressure::EnhancedBlockJacobi { params, sweeps: Some(10) })
                .with_diffusion(Diffusion::EnhancedBlockJacobi)
                .with_viscosity(0.1);
            let mut fluid = Fluid::new(dev, grid, params, &[]).unwrap();
            // Velocity, which faces are free, what others hold; pressure, null space, places.
            let held = plus(before, textures(3 * components + 3));
            // Quads that share a draw share a program.
            let of = |lines: &[usize]| lines.iter().map(|n| n.div_ceil(4) as u64).sum::<u64>();
            let assert_live = |expected: LiveObjects, lines: &[usize]| {
                let found = live(dev);
                let programs = found.programs - before.programs;
                assert_eq!(found, expected.with_programs(found.programs), "{grid}");
                assert!(
                    (lines.len() as u64..=of(lines)).contains(&programs),
                    "{grid}: {programs} for {lines:?}"
                );
                found
            };
            assert_live(held, &[grid.nx]);
            let lines = [grid.nx, grid.nx - 1, grid.nx, grid.nx];
            let moving = [0.1, 0.1, 0.05].map(|dt| {
                fluid.push([0.5, 0.5, 0.0], 0.3, [1.0, 0.0, 0.0]).unwrap();
                fluid.step(dt).unwrap();
                assert_live(plus(held, textures(components)), &lines[..=components as usize])
            });
            assert_eq!([moving[0]; 3], moving, "{grid}");
            drop(fluid);
            assert_eq!(live(dev), before, "{grid}");
        }
    });
}

/// Object balance for fluids: velocity, which faces are free, and what the others hold, for each component; the
/// pressure, the null space of a closed box; where there are obstacles, two vectors for them. A step changes nothing.
#[test]
fn fluids_hold_what_they_need() {
    use texla::Grid;
    use texla::sim::fluid::{Boundaries, Boundary, Fluid, FluidParams, Pressure};
    on_both(|dev| {
        let (flat, deep) = (Grid::new_2d(30, 20), Grid::new_3d(8, 7, 6));
        for (grid, boundary, obstacles, expected) in [
            (flat, Boundary::Open, false, 7),
            (flat, Boundary::WALL, false, 8),
            (flat, Boundary::WALL, true, 10),
            (deep, Boundary::WALL, false, 11),
        ] {
            let before = live(dev);
            let pressure = Pressure::ConjugateGradient(CgParams::default());
            let boundaries = Boundaries::all(boundary);
            let params = FluidParams::new(0.1)
                .with_boundaries(boundaries)
                .with_pressure(pressure)
                .with_viscosity(0.1)
                .with_confinement(1.0);
            let solid: Vec<bool> = (0..grid.len()).map(|i| obstacles && i == 99).collect();
            let mut fluid = Fluid::new(dev, grid, params, &solid).unwrap();
            let held = plus(before, textures(expected));
            assert_eq!(live(dev), held, "{grid} {boundary:?} {obstacles}");
            let mut dye = Vector::zeros(dev, grid.len()).unwrap();
            for _ in 0..3 {
                fluid.push([0.5, 0.5, 0.0], 0.3, [1.0, 0.0, 0.0]).unwrap();
                fluid.step(0.1).unwrap();
                fluid.splat(&mut dye, [0.5, 0.5, 0.0], 0.3, 1.0).unwrap();
                fluid.transport(&mut dye, 0.1).unwrap();
            }
            fluid.project_reported().unwrap();
            assert!(fluid.step(0.0).is_err());
            drop(dye);
            assert_eq!(live(dev), held, "{grid} {boundary:?} {obstacles}, after steps");
            drop(fluid);
            assert_eq!(live(dev), before, "{grid} {boundary:?} {obstacles}, dropped");
        }
        let before = live(dev);
        assert!(Fluid::new(dev, flat, FluidParams::new(-1.0), &[]).is_err());
        assert!(Fluid::new(dev, flat, FluidParams::new(0.1), &[true; 3]).is_err());
        assert_eq!(live(dev), before);
    });
}

/// Object balance for masks, splats and loops: a mask is a texture, numbered points a vertex array; queries go with their
/// results, also where a loop ends by an error.
#[test]
fn predication_leaves_nothing_behind() {
    on_both(|dev| {
        let x = Vector::from_slice(dev, &uniform(1, 401)).unwrap();
        let body = "bool kernel(ivec2 p) { return x(p).x > 0.0; }";
        let before = live(dev);
        let condition = Condition::<NoParams>::new(dev, "positive", ["x"], body).unwrap();
        let mut mask = condition.mask(&x, [&x], &NoParams).unwrap();
        let inner = condition.mask_within(Predicate::Unless(&mask), &x, [&x], &NoParams).unwrap();
        condition.narrow(&mut mask, [&x], &NoParams).unwrap();
        assert!(mask.any().unwrap() && !inner.any().unwrap());
        let _ = mask.count();
        // Three forms of the condition; the one that counts is the device's.
        let own = textures(2).with_programs(3);
        assert_eq!(live(dev), plus(before, own));
        drop((condition, mask, inner));
        assert_eq!(live(dev), before);

        let points = Points::numbered(dev, 9).unwrap();
        let arrays = |n| LiveObjects::default().with_vertex_arrays(n);
        assert_eq!(live(dev), plus(before, arrays(1)));
        drop(points);
        let place =
            "void splat(int i, out vec4 r, out vec4 v) { r = vec4(0.0, 0.0, 3.0, 3.0); v = vec4(1.0); }";
        let bodies = Bodies { vertex: place, fragment: "vec4 kernel(ivec2 p, vec4 v) { return v; }" };
        let splats = SplatKernel::<NoParams>::new(dev, "s", [], 0, bodies);
        let splats = splats.unwrap();
        let mut plane = Plane::zeros(dev, 5, 5).unwrap();
        let points = Points::numbered(dev, 3).unwrap();
        splats.with([], &points, &NoParams).accumulate(Accum::Add).run(&mut plane).unwrap();
        drop((splats, points, plane));
        assert_eq!(live(dev), before);

        let body = "bool unfinished(ivec2 p, vec4 s) { return s.x < 50.0; }
            vec4 advance(ivec2 p, vec4 s) { return s + 1.0; }";
        let kernel = IterateWhile::<NoParams>::new(dev, "count", [], body).unwrap();
        let fresh = || Vector::zeros(dev, 401).unwrap();
        let mut state = PingPong::new(fresh(), fresh());
        let mut held = None;
        for schedule in [WhileSchedule::Predicated, WhileSchedule::Branching] {
            for max_passes in [0, 1, 5, 100] {
                let limits = WhileParams::default()
                    .with_steps_per_pass(1)
                    .with_max_passes(max_passes)
                    .with_schedule(schedule);
                *state.front_mut() = fresh();
                kernel.run(&mut state, [], &NoParams, limits).unwrap();
                let now = live(dev).with_programs(0);
                assert_eq!(*held.get_or_insert(now), now, "{schedule:?} {max_passes}");
            }
        }
        let mut unlike = PingPong::new(fresh(), Vector::zeros(dev, 5).unwrap());
        assert!(kernel.run(&mut unlike, [], &NoParams, WhileParams::default()).is_err());
        drop(unlike);
        assert!(kernel.run(&mut state, [&x], &NoParams, WhileParams::default()).is_err());
        assert_eq!(live(dev).with_programs(0), held.unwrap());
        drop((kernel, state));
        assert_eq!(live(dev), before);
    });
}

/// Object balance for sweeps with nine bands: three or eleven textures of a matrix, or two; two of an iterate for each
/// row of a fragment, and one for the right-hand side where it is apart. Sweeps and reads change nothing.
#[test]
fn the_ladder_holds_what_it_needs() {
    use texla::host::NineBands;
    use texla::solve::{JacobiLayout, JacobiProblem, JacobiSchedule, NineBandJacobi, NineBandSmoother};
    on_both(|dev| {
        let a = NineBands::laplace(7).unwrap();
        let problem = JacobiProblem { a: &a, b: &[1.0; 49], x: &[0.0; 49] };
        let before = live(dev);
        for schedule in JacobiSchedule::LADDER.into_iter().filter(|s| s.fits(dev, 7)) {
            let expected = match schedule {
                JacobiSchedule::HostLoop | JacobiSchedule::HostBands => 0,
                JacobiSchedule::Tutorial(JacobiLayout::Red, _) => 3 + 2,
                JacobiSchedule::Tutorial(JacobiLayout::Rgba, _) => 11 + 2,
                JacobiSchedule::Packed { rows } => 2 + 1 + 2 * u64::from(rows),
                other => panic!("{other:?}"),
            };
            let problems = vec![problem; schedule.systems()];
            let mut jacobi = NineBandJacobi::new(dev, &problems, schedule, 1.0).unwrap();
            let held = plus(before, textures(expected));
            assert_eq!(live(dev), held, "{schedule:?}");
            jacobi.sweep(3).unwrap();
            jacobi.read().unwrap();
            assert_eq!(live(dev), held, "{schedule:?}, after sweeps");
            drop(jacobi);
            assert!(NineBandJacobi::new(dev, &problems, schedule, -1.0).is_err());
            assert_eq!(live(dev), before, "{schedule:?}, dropped");
        }
        let smoother = NineBandSmoother::new(dev, &a, 1.0).unwrap();
        let held = plus(before, textures(2));
        let mut x = Vector::zeros(dev, 49).unwrap();
        let b = Vector::filled(dev, 49, 1.0).unwrap();
        smoother.smooth(&mut x, &b, 3).unwrap();
        assert!(smoother.smooth(&mut x, &Vector::zeros(dev, 48).unwrap(), 1).is_err());
        drop((x, b));
        assert_eq!(live(dev), held);
        drop(smoother);
        assert_eq!(live(dev), before);
    });
}

/// Object balance for histograms: a program, and another one once there are weights; filtered reductions keep nothing.
#[test]
fn histograms_hold_what_they_need() {
    use texla::ops::{Histogram, Reduction, Windows};
    let programs = |n| textures(0).with_programs(n);
    on_both(|dev| {
        let x = Vector::from_slice(dev, &uniform(1, 1000)).unwrap();
        let mut out = Vector::zeros(dev, 10).unwrap();
        let mut mean = Scalar::zero(dev).unwrap();
        let before = live(dev);
        let histogram = Histogram::equal_width(dev, -1.0, 1.0, 10).unwrap();
        assert_eq!(live(dev), plus(before, programs(1)));
        for _ in 0..3 {
            histogram.count(&mut out, &x).unwrap();
            histogram.counts(&x).unwrap();
        }
        // The program for a target as large as the input was the first; this is the one for other targets.
        assert_eq!(live(dev), plus(before, programs(2)));
        histogram.sum(&mut out, &x, &x).unwrap();
        assert_eq!(live(dev), plus(before, programs(3)));
        assert!(histogram.sum(&mut out, &x, &Vector::filled(dev, 3, 1.0).unwrap()).is_err());
        assert!(Histogram::new(dev, 10, "float bin(float x) { oops }").is_err());
        assert!(Histogram::new(dev, 10, "float position(float x) { return x; }").is_err());
        assert_eq!(live(dev), plus(before, programs(3)));
        drop(histogram);
        assert_eq!(live(dev), before, "dropped");
        let filtered = ops::reduce_into(&mut mean, Reduction::Mean, &x, None, Windows::Filtered);
        assert_eq!(filtered.is_ok(), dev.capabilities().float_filter);
        drop(ops::mean(&x).unwrap());
        assert_eq!(live(dev), before, "reductions");
    });
}

/// Object balance for the vertex stage: a buffer for each vector, a program for each kernel, and nothing for a run.
#[test]
fn vertex_kernels_hold_what_they_need() {
    use texla::BufferVector;
    use texla::kernel::VertexKernel;
    on_both(|dev| {
        let buffers = |n: u64| textures(0).with_buffers(n);
        let check = |name: &str, outputs, call: &dyn Fn() -> Box<dyn Any>| balance(dev, name, outputs, call);
        macro_rules! check {
            ($outputs:expr, $call:expr) => {
                check(stringify!($call), $outputs, &|| Box::new($call))
            };
        }
        let body = "void kernel(int vertex) { y[0] = x[0]; }";
        let kernel = || VertexKernel::<NoParams>::new(dev, "copy", [("x", 1)], 1, body).unwrap();
        let vector = Vector::filled(dev, 70, 2.0).unwrap();
        let x = BufferVector::from_slice(dev, &[1.0; 70]).unwrap();
        check!(buffers(1), BufferVector::zeros(dev, 0).unwrap());
        check!(buffers(1), BufferVector::from_slice(dev, &[1.0; 7]).unwrap());
        check!(buffers(1), BufferVector::from_vector(&vector).unwrap());
        check!(textures(1), x.to_vector().unwrap());
        check!(textures(0), x.read().unwrap());
        check!(textures(0).with_programs(1), kernel());
        check!(buffers(1), {
            let mut y = BufferVector::zeros(dev, 70).unwrap();
            kernel().run(&mut y, 3, [&x], &NoParams).unwrap();
            y.copy_range(0, &x, 3..5).unwrap();
            assert!(kernel().run(&mut y, 18, [&x], &NoParams).is_err());
            y
        });
        check!(textures(0), BufferVector::zeros(dev, usize::MAX).unwrap_err());
        check!(textures(0), BufferVector::from_slice(dev, &[f32::NAN]).unwrap_err());
        check!(textures(0), VertexKernel::<NoParams>::new(dev, "bad", [("x", 1)], 1, "oops").unwrap_err());
        let stray = "uniform float stray; void kernel(int vertex) { y[0] = vec4(stray); }";
        check!(textures(0), VertexKernel::<NoParams>::new(dev, "bad", [("x", 1)], 1, stray).unwrap_err());
        // What is bound to a run may go before the scope ends, and while a later run still has the bindings.
        let before = live(dev);
        {
            let _scope = dev.scope().unwrap();
            let kernel = kernel();
            let mut y = BufferVector::zeros(dev, 4).unwrap();
            for i in 0..20 {
                let x = BufferVector::from_slice(dev, &[i as f32; 4]).unwrap();
                kernel.run(&mut y, 0, [&x], &NoParams).unwrap();
                drop(x);
                dev.trim().unwrap();
                assert_eq!(y.read().unwrap(), [i as f32; 4]);
            }
        }
        assert_eq!(live(dev), before);
    });
}

/// The handles of vertex kernels and their vectors may be the last.
#[test]
fn buffers_may_outlive_the_device() {
    use texla::BufferVector;
    use texla::kernel::VertexKernel;
    for api in Api::ALL {
        let context = headless(api);
        let ledger = context.device().ledger();
        let body = "void kernel(int vertex) { y[0] = 2.0 * x[0]; }";
        let kernel = VertexKernel::<NoParams>::new(context.device(), "twice", [("x", 1)], 1, body).unwrap();
        let x = BufferVector::from_slice(context.device(), &[1.0, 2.0]).unwrap();
        let mut y = BufferVector::zeros(context.device(), 2).unwrap();
        drop(context);
        kernel.run(&mut y, 0, [&x], &NoParams).unwrap();
        drop((kernel, x));
        assert_eq!(y.read().unwrap(), [2.0, 4.0]);
        assert!(ledger.live_objects().total() > 0);
        drop(y);
        assert_eq!(ledger.live_objects().total(), 0, "{api}");
    }
}
