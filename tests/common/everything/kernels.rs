//! What kernels of the user's are asked: all kinds of them, all ways to run one, and masks.

use texla::kernel::{
    Accum, Bodies, Call, Condition, Domain, IterateWhile, Kernel, NoParams, PingPong, Points, PointsKernel,
    Predicate, SplatKernel, VertexKernel, WhileParams, WhileSchedule,
};
use texla::{BufferVector, Device, Plane, Vector, ops};

use super::super::harness::fitting;
use super::super::random::uniform;
use super::{Step, changed};

texla::params! { struct Shift { by: f32 } }

/// A kernel of the user's, where it may draw and how.
pub fn quads(dev: &Device, step: Step<'_>) {
    let n = fitting(dev, 1237);
    let values = uniform(21, n);
    let x = Vector::from_slice(dev, &uniform(22, n)).unwrap();
    let by = &Shift { by: 0.5 };
    let body = "vec4 kernel(ivec2 p) { return x(p) + by; }";
    let new = || Kernel::<Shift>::new(dev, "shift", ["x"], body).unwrap();
    let shift = new();
    step("Kernel", &|| changed(dev, &values, |out| new().run(out, [&x], by)));
    step("Kernel::new", &|| {
        new();
        x.read().unwrap()
    });
    step("Kernel::run", &|| changed(dev, &values, |out| shift.run(out, [&x], by)));
    for domain in
        [Domain::Full, Domain::Rect { x: 1, y: 1, width: 3, height: 5 }, Domain::Row(2), Domain::Column(3)]
    {
        for accum in [Accum::Replace, Accum::Add, Accum::Max, Accum::Min] {
            step("Call::run", &|| {
                changed(dev, &values, |out| shift.with([&x], by).on(domain).accumulate(accum).run(out))
            });
        }
    }
    let body =
        "void kernel(ivec2 p, out vec4 a, out vec4 b, out vec4 c) { a = x(p); b = 2.0 * a; c = 3.0 * a; }";
    let new = || Kernel::<NoParams>::with_outputs(dev, "several", ["x"], 3, body).unwrap();
    let several = new();
    let run = |kernel: &Kernel<NoParams>, accum| {
        let [mut a, mut b, mut c] = [0; 3].map(|_| Vector::zeros(dev, n).unwrap());
        kernel.with([&x], &NoParams).accumulate(accum).run_many([&mut a, &mut b, &mut c]).unwrap();
        [a, b, c].map(|v| v.read().unwrap()).concat()
    };
    step("Kernel::with_outputs", &|| run(&new(), Accum::Replace));
    for accum in [Accum::Replace, Accum::Add] {
        step("Call::run_many", &|| run(&several, accum));
    }
    step("Kernel::interpolated", &|| {
        let corner = "void vertex(vec2 p) { place = vec4(p, 0.0, 0.0); }";
        let body = "vec4 kernel(ivec2 p) { return vec4(place.x + 3.0 * place.y); }";
        let bodies = Bodies { vertex: corner, fragment: body };
        let ramp = Kernel::<NoParams>::interpolated(dev, "ramp", [], ["place"], bodies).unwrap();
        let mut plane = Plane::zeros(dev, 10, 7).unwrap();
        ramp.run(&mut plane, [], &NoParams).unwrap();
        plane.read().unwrap()
    });
    // What a kernel may include, in both stages.
    for name in ["include/prelude.glsl", "include/exact.glsl", "include/layout.glsl"] {
        step(name, &|| {
            let body = format!("#include \"{name}\"\nvec4 kernel(ivec2 p) {{ return x(p); }}");
            let kernel = Kernel::<NoParams>::new(dev, "include", ["x"], &body).unwrap();
            let body = format!(
                "#include \"{name}\"
                void point(int i, out ivec2 texel, out vec4 value) {{ texel = ivec2(0); value = x_at(texel); }}"
            );
            PointsKernel::<NoParams>::new(dev, "include", ["x"], 0, &body).unwrap();
            changed(dev, &values, |out| kernel.run(out, [&x], &NoParams))
        });
    }
}

/// Masks, alone and within one another, and loops that they end.
pub fn masks(dev: &Device, step: Step<'_>) {
    let n = fitting(dev, 1237);
    let x = Vector::from_slice(dev, &uniform(31, n)).unwrap();
    let body = "bool kernel(ivec2 p) { return x(p).x > by; }";
    let new = || Condition::<Shift>::new(dev, "above", ["x"], body).unwrap();
    let above = new();
    let one = Kernel::<NoParams>::new(dev, "one", [], "vec4 kernel(ivec2 p) { return vec4(1.0); }").unwrap();
    let under = |predicate: Predicate<'_>| {
        changed(dev, &vec![0.0; n], |out| one.with([], &NoParams).only(predicate).run(out))
    };
    let low = &Shift { by: -0.5 };
    let made = || above.mask(&x, [&x], low).unwrap();
    let mask = made();
    step("Condition", &|| under(Predicate::If(&new().mask(&x, [&x], low).unwrap())));
    step("Condition::new", &|| {
        new();
        x.read().unwrap()
    });
    step("Condition::mask", &|| under(Predicate::If(&above.mask(&x, [&x], low).unwrap())));
    step("Call::run, masked", &|| under(Predicate::Unless(&mask)));
    for within in [Predicate::If(&mask), Predicate::Unless(&mask)] {
        step("Condition::mask_within", &|| {
            under(Predicate::If(&above.mask_within(within, &x, [&x], &Shift { by: 0.0 }).unwrap()))
        });
    }
    step("Condition::narrow", &|| {
        let mut mask = made();
        above.narrow(&mut mask, [&x], &Shift { by: 0.25 }).unwrap();
        under(Predicate::If(&mask))
    });
    step("Mask::any", &|| vec![f32::from(u8::from(mask.any().unwrap()))]);
    step("Mask::count", &|| vec![mask.count().unwrap() as f32]);
    let body = "bool unfinished(ivec2 p, vec4 s) { return s.x < 2.0 * by; }
        vec4 advance(ivec2 p, vec4 s) { return s + 0.3 * by * abs(x_here().x); }";
    let new = || IterateWhile::<Shift>::new(dev, "climb", ["x"], body).unwrap();
    let climb = new();
    let run = |climb: &IterateWhile<Shift>, schedule| {
        let [front, back] = [0; 2].map(|_| Vector::zeros(dev, n).unwrap());
        let mut state = PingPong::new(front, back);
        let limits = WhileParams::default().with_steps_per_pass(3).with_max_passes(9).with_schedule(schedule);
        let report = climb.run(&mut state, [&x], &Shift { by: 1.5 }, limits).unwrap();
        let mut read = state.front().read().unwrap();
        read.push(report.passes as f32);
        read
    };
    step("IterateWhile", &|| run(&new(), WhileSchedule::Predicated));
    step("IterateWhile::new", &|| run(&new(), WhileSchedule::Branching));
    for schedule in [WhileSchedule::Predicated, WhileSchedule::Branching] {
        step("IterateWhile::run", &|| run(&climb, schedule));
    }
}

pub fn points(dev: &Device, step: Step<'_>) {
    let x = Vector::from_slice(dev, &uniform(23, 45)).unwrap();
    let zeros = [0.0; 45];
    let body = "void point(int i, out ivec2 texel, out vec4 value) {
        texel = texel_position(i % 3); value = attribute0 + x_texel(i % 2); }";
    let new = || PointsKernel::<NoParams>::new(dev, "scatter", ["x"], 1, body).unwrap();
    let scatter = new();
    let attributes = [[1.0; 4], [0.5; 4], [0.25; 4], [0.125; 4]];
    let points = Points::new(dev, &[&attributes]).unwrap();
    let none = &NoParams;
    step("PointsKernel", &|| {
        changed(dev, &zeros, |out| new().with([&x], &points, none).accumulate(Accum::Add).run(out))
    });
    step("PointsKernel::new", &|| changed(dev, &zeros, |out| new().with([&x], &points, none).run(out)));
    let call = |accum| -> Call<'_> { scatter.with([&x], &points, none).accumulate(accum) };
    step("Call", &|| changed(dev, &zeros, |out| call(Accum::Add).run(out)));
    step("Call, the larger", &|| changed(dev, &zeros, |out| call(Accum::Max).run(out)));
    step("Points::new", &|| {
        let points = Points::new(dev, &[&attributes]).unwrap();
        changed(dev, &zeros, |out| scatter.with([&x], &points, none).accumulate(Accum::Add).run(out))
    });
    let point =
        "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(i % 10, 3); value = vec4(0.7); }";
    let lined = PointsKernel::<NoParams>::new(dev, "numbered", [], 0, point).unwrap();
    let plane = |draw: &dyn Fn(&mut Plane) -> texla::Result<()>| {
        let mut plane = Plane::zeros(dev, 10, 7).unwrap();
        draw(&mut plane).unwrap();
        plane.read().unwrap()
    };
    step("Points::numbered", &|| {
        let numbered = Points::numbered(dev, 25).unwrap();
        plane(&|plane| lined.with([], &numbered, none).accumulate(Accum::Add).run(plane))
    });
    let place = "void splat(int i, out vec4 rectangle, out vec4 value) {
        rectangle = attribute0; value = vec4(float(i) + 0.3); }";
    let body = "vec4 kernel(ivec2 p, vec4 value) { return value; }";
    let bodies = Bodies { vertex: place, fragment: body };
    let new = || SplatKernel::<NoParams>::new(dev, "splats", [], 1, bodies).unwrap();
    let rectangles =
        Points::new(dev, &[&[[1.0, 1.0, 4.0, 3.0], [2.0, 0.0, 9.0, 2.0], [3.0, 0.0, 5.0, 9.0]]]).unwrap();
    let splats = new();
    let run = |splats: &SplatKernel<NoParams>, accum| {
        plane(&|plane| splats.with([], &rectangles, none).accumulate(accum).run(plane))
    };
    step("SplatKernel", &|| run(&new(), Accum::Add));
    step("SplatKernel::new", &|| run(&new(), Accum::Max));
    step("Call::run, splats", &|| run(&splats, Accum::Add));
}

/// Kernels whose vertices are captured.
pub fn vertices(dev: &Device, step: Step<'_>) {
    let x = BufferVector::from_slice(dev, &uniform(42, 61)).unwrap();
    let body = "void kernel(int vertex) {
        for (int i = 0; i < 15; i++) y[i] = a[i] + by * b[0] + c[1] * float(vertex); }";
    let inputs = [("a", 15), ("b", 1), ("c", 2)];
    let new = || VertexKernel::<Shift>::new(dev, "sum", inputs, 15, body).unwrap();
    let kernel = new();
    let by = &Shift { by: 0.75 };
    let changed = |f: &dyn Fn(&mut BufferVector) -> texla::Result<()>| {
        let mut y = BufferVector::zeros(dev, 127).unwrap();
        f(&mut y).unwrap();
        y.read().unwrap()
    };
    step("VertexKernel", &|| changed(&|y| new().run(y, 0, [&x, &x, &x], by)));
    step("VertexKernel::new", &|| {
        new();
        x.read().unwrap()
    });
    step("VertexKernel::run", &|| changed(&|y| kernel.run(y, 1, [&x, &x, &x], by)));
    step("VertexKernel::run_vertices", &|| changed(&|y| kernel.run_vertices(y, 2, 2, [&x, &x, &x], by)));
    // Among other work, where the guest has bindings of its own already.
    step("vertex kernels in a scope", &|| {
        let _scope = dev.scope().unwrap();
        let mut vector = Vector::from_slice(dev, &uniform(43, 61)).unwrap();
        let mut y = BufferVector::zeros(dev, 127).unwrap();
        ops::scale(&mut vector, 2.0).unwrap();
        kernel.run(&mut y, 0, [&x, &x, &x], by).unwrap();
        ops::add_constant(&mut vector, &x.to_vector().unwrap(), 1.0).unwrap();
        let sum = ops::sum(&vector).unwrap();
        kernel.run(&mut y, 15, [&x, &x, &x], by).unwrap();
        let mut read = y.read().unwrap();
        read.push(sum.read().unwrap());
        read
    });
}
