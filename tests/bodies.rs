//! What a user's body may say, the same in both dialects, and what is said of what it may not.

mod common;

use common::harness::{limits, on_both, on_both_with};
use texla::gl::Api;
use texla::kernel::{
    Bodies, Condition, Domain, Field, IterateWhile, Kernel, NoParams, Operand, ParamType, ParamValue, Params,
    PingPong, Points, PointsKernel, Predicate, SplatKernel, VertexKernel, WhileParams,
};
use texla::ops::Histogram;
use texla::{BufferVector, Device, Error, Layout, Matrix, Packed, Result, Scalar, Shape, Vector};

const SPLAT: &str =
    "void splat(int i, out vec4 rectangle, out vec4 value) { rectangle = vec4(0.0); value = vec4(1.0); }";
const SPLATTED: &str = "vec4 kernel(ivec2 p, vec4 value) { return value; }";
const SPLAT_BODIES: Bodies = Bodies { vertex: SPLAT, fragment: SPLATTED };
const ONE: &str = "vec4 kernel(ivec2 p) { return vec4(1.0); }";
const CORNER: &str = "void vertex(vec2 p) { ramp = vec4(p, 0.0, 0.0); }";

/// A kind of kernel, a body that is right for it, and what makes the kernel of a body.
type Kind = (&'static str, &'static str, fn(&Device, &str) -> Result<()>);

/// Every kind of kernel that takes a body, with its input, if it takes any, named `x`. The vertex body of those that have
/// two is a kind of its own.
const KINDS: [Kind; 10] = [
    ("Kernel", ONE, |dev, body| Kernel::<NoParams>::new(dev, "mine", ["x"], body).map(drop)),
    (
        "Kernel::with_outputs",
        "void kernel(ivec2 p, out vec4 a, out vec4 b) { a = b = vec4(1.0); }",
        |dev, body| Kernel::<NoParams>::with_outputs(dev, "mine", ["x"], 2, body).map(drop),
    ),
    ("Kernel::interpolated", ONE, |dev, body| {
        let bodies = Bodies { vertex: CORNER, fragment: body };
        Kernel::<NoParams>::interpolated(dev, "mine", ["x"], ["ramp"], bodies).map(drop)
    }),
    ("Kernel::interpolated (vertex)", CORNER, |dev, body| {
        let bodies = Bodies { vertex: body, fragment: ONE };
        Kernel::<NoParams>::interpolated(dev, "mine", ["x"], ["ramp"], bodies).map(drop)
    }),
    ("Condition", "bool kernel(ivec2 p) { return true; }", |dev, body| {
        Condition::<NoParams>::new(dev, "mine", ["x"], body).map(drop)
    }),
    (
        "PointsKernel",
        "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(0); value = vec4(1.0); }",
        |dev, body| PointsKernel::<NoParams>::new(dev, "mine", ["x"], 1, body).map(drop),
    ),
    ("SplatKernel", SPLATTED, |dev, body| {
        let bodies = Bodies { fragment: body, ..SPLAT_BODIES };
        SplatKernel::<NoParams>::new(dev, "mine", ["x"], 1, bodies).map(drop)
    }),
    ("SplatKernel (vertex)", SPLAT, |dev, body| {
        let bodies = Bodies { vertex: body, ..SPLAT_BODIES };
        SplatKernel::<NoParams>::new(dev, "mine", ["x"], 1, bodies).map(drop)
    }),
    ("VertexKernel", "void kernel(int vertex) { y[0] = vec4(1.0); }", |dev, body| {
        VertexKernel::<NoParams>::new(dev, "mine", [("x", 1)], 1, body).map(drop)
    }),
    ("Histogram", "float bin(float x) { return x; }", |dev, body| Histogram::new(dev, 3, body).map(drop)),
];

const LOOP: &str = "bool unfinished(ivec2 p, vec4 s) { return false; }
vec4 advance(ivec2 p, vec4 s) { return s; }";

fn interface(result: Result<()>) -> String {
    match result {
        Err(Error::Interface { detail, .. }) => detail,
        other => panic!("expected an interface error, found {other:?}"),
    }
}

fn unsupported(result: Result<()>) -> String {
    match result {
        Err(Error::Unsupported { why, .. }) => why,
        other => panic!("expected to be told of a limit, found {other:?}"),
    }
}

#[test]
fn every_kind_takes_its_right_body() {
    on_both(|dev| {
        for (kind, right, make) in KINDS {
            make(dev, right).unwrap_or_else(|e| panic!("{kind}: {e}"));
        }
    });
}

/// A uniform, or any other variable between stages, of the body's own is named as it is in the body, with what to do.
#[test]
fn variables_of_the_interface_are_refused_by_name() {
    on_both(|dev| {
        for (kind, right, make) in KINDS {
            for (declaration, name) in [
                ("uniform float stray;", "stray"),
                ("uniform highp sampler2D picture;", "picture"),
                ("struct T { float a; }; uniform T t;", "t"),
                ("uniform vec4 several[3];", "several"),
                ("layout(std140) uniform Block { vec4 inside; };", "Block"),
                ("in vec4 colour;", "colour"),
                ("flat out vec4 colour;", "colour"),
            ] {
                let detail = interface(make(dev, &format!("// one\n{declaration}\n{right}")));
                assert!(detail.contains(&format!("`{name}`")), "{kind}: {detail}");
                assert!(detail.contains(":2: ") && detail.contains("`params!`"), "{kind}: {detail}");
                assert!(!detail.contains("texla_"), "{kind}: {detail}");
            }
        }
        // Where a macro hides it, the linked program is asked.
        let body = "#define HIDDEN uniform\nHIDDEN float stray; vec4 kernel(ivec2 p) { return vec4(stray); }";
        let detail = interface(Kernel::<NoParams>::new(dev, "mine", ["x"], body).map(drop));
        assert!(detail.contains("`stray`") && detail.contains("`params!`"), "{detail}");
        assert!(!detail.contains("texla_"), "{detail}");
    });
}

/// Without its function, or with other arguments, a body is told the signature, not the driver's words for what texla wrote.
#[test]
fn the_wanted_function_is_named() {
    on_both(|dev| {
        for (kind, right, make) in KINDS {
            let (head, _) = right.split_once(") {").unwrap();
            let (types, _) = head.split_once('(').unwrap();
            let name = types.split(' ').nth(1).unwrap();
            let wanted = format!("expected `{types}(");
            for wrong in [
                "".to_owned(),
                "float f(float a) { return a; }".to_owned(),
                right.replace(name, "other"),
                right.replacen('(', "(mat3 m, ", 1),
                right.replacen("ivec2 p", "vec2 p", 1).replacen("int i,", "float i,", 1).replacen(
                    "(vec2 p) { ramp",
                    "(ivec2 p) { ramp",
                    1,
                ),
                right.replacen("int vertex", "uint vertex", 1),
                format!("m{}", right.replacen(types, &format!("at2 {name}"), 1)),
            ] {
                if wrong == right {
                    continue;
                }
                let detail = interface(make(dev, &wrong));
                assert!(detail.contains(&wanted), "{kind}: {detail} of {wrong}");
            }
        }
        for function in ["unfinished", "advance"] {
            let body = LOOP.replace(function, "other");
            let detail = interface(IterateWhile::<NoParams>::new(dev, "mine", ["x"], &body).map(drop));
            assert!(detail.contains(&format!(" {function}(ivec2 p, vec4 s)`")), "{detail}");
        }
        IterateWhile::<NoParams>::new(dev, "mine", ["x"], LOOP).unwrap();
    });
}

/// What would change a result behind texla's back, or make the driver speak of what texla wrote, is named.
#[test]
fn what_is_texlas_own_is_refused_by_name() {
    on_both(|dev| {
        for (kind, right, make) in KINDS {
            for (before, found) in [
                ("void f() { gl_FragDepth = 0.1; }", "`gl_FragDepth`"),
                ("#define DEEP gl_FragDepth", "`gl_FragDepth`"),
                ("void f() { gl_Position = vec4(0.0); }", "`gl_Position`"),
                ("void main() {}", "`main`"),
                ("precision mediump float;", "`mediump`"),
                ("#line 1000", "`#line`"),
                ("float caf\u{e9};", "`\\u{e9}`"),
                ("// \0", "NUL"),
            ] {
                let detail = interface(make(dev, &format!("// one\n{before}\n{right}")));
                assert!(detail.contains(":2: ") && detail.contains(found), "{kind}: {detail} of {before}");
            }
            make(dev, &format!("// caf\u{e9}\nprecision highp float;\n{right}"))
                .unwrap_or_else(|e| panic!("{kind}: {e}"));
        }
    });
}

#[test]
fn words_that_one_dialect_refuses_are_refused_in_both() {
    on_both(|dev| {
        for (kind, right, make) in KINDS {
            for word in
                ["sample", "buffer", "shared", "active", "filter", "half", "template", "patch", "double"]
            {
                let detail =
                    interface(make(dev, &format!("float twice(float {word}) {{ return {word}; }}\n{right}")));
                assert!(detail.contains(&format!("`{word}`")) && detail.contains(":1: "), "{kind}: {detail}");
            }
            for function in ["max", "mix", "texture"] {
                let own = format!("\nfloat {function}(mat3 m) {{ return m[0].x; }}\n{right}");
                let detail = interface(make(dev, &own));
                assert!(
                    detail.contains(&format!("`{function}`")) && detail.contains(":2: "),
                    "{kind}: {detail}"
                );
            }
            // In a comment, in a directive that leads nowhere, as part of a word, or hiding a function where both allow it.
            let fine = format!(
                "// uniform sample\n/* active\nin out */ float resampled(float max) {{ return max; }}\n{right}"
            );
            make(dev, &fine).unwrap_or_else(|e| panic!("{kind}: {e}"));
        }
    });
}

texla::params! { struct Max { max: f32 } }
texla::params! { struct Sample { sample: f32 } }

#[test]
fn names_of_glsl_are_refused_in_both() {
    on_both(|dev| {
        for name in
            ["max", "mix", "texture", "sample", "buffer", "shared", "active", "float", "vec4", "texture2D"]
        {
            let refused = |result: Result<()>| {
                let detail = interface(result);
                assert!(detail.contains(&format!("`{name}`")), "{detail}");
            };
            refused(Kernel::<NoParams>::new(dev, "mine", [name], ONE).map(drop));
            let condition = "bool kernel(ivec2 p) { return true; }";
            refused(Condition::<NoParams>::new(dev, "mine", [name], condition).map(drop));
            let [.., points, _, _, vertex, _] = KINDS;
            refused(PointsKernel::<NoParams>::new(dev, "mine", [name], 1, points.1).map(drop));
            refused(SplatKernel::<NoParams>::new(dev, "mine", [name], 1, SPLAT_BODIES).map(drop));
            refused(VertexKernel::<NoParams>::new(dev, "mine", [(name, 1)], 1, vertex.1).map(drop));
            refused(IterateWhile::<NoParams>::new(dev, "mine", [name], LOOP).map(drop));
            let bodies = Bodies { vertex: CORNER, fragment: ONE };
            refused(Kernel::<NoParams>::interpolated(dev, "mine", [], [name], bodies).map(drop));
        }
        interface(Kernel::<Max>::new(dev, "mine", [], ONE).map(drop));
        interface(Kernel::<Sample>::new(dev, "mine", [], ONE).map(drop));
        interface(VertexKernel::<Sample>::new(dev, "mine", [], 1, KINDS[8].1).map(drop));
    });
}

/// GLSL converts integers to floats by itself, GLSL ES does not: where the driver knows both, both are asked.
#[test]
fn conversions_that_one_dialect_refuses_are_refused_in_both() {
    on_both(|dev| {
        // Mesa knows both: this must not be passed over there.
        let knows = dev.api() == Api::Es30 || dev.capabilities().version.contains("Mesa");
        if !knows {
            return;
        }
        for (kind, right, make) in KINDS {
            for line in [
                "float twice(float a) { return 2 * a; }",
                "const float HALF = 1 / 2;",
                "vec2 f() { vec2 v = ivec2(1); return v; }",
            ] {
                match make(dev, &format!("// one\n{line}\n{right}")) {
                    Err(Error::Shader { log, stage, .. }) => {
                        assert!(log.contains(":2"), "{kind}: {log}");
                        assert_eq!(stage.contains("GLSL ES"), dev.api() == Api::Gl33, "{stage}");
                    }
                    other => panic!("{kind}: {line}: {other:?}"),
                }
            }
            // What both have, exact arithmetic included, passes.
            let both = format!(
                "#include \"include/exact.glsl\"\nvec2 f(float a) {{ return two_sum(a, 2.0); }}\n{right}"
            );
            make(dev, &both).unwrap_or_else(|e| panic!("{kind}: {e}"));
        }
        let body = "vec4 kernel(ivec2 p) { return 2 * x(p); }";
        assert!(matches!(Kernel::<NoParams>::new(dev, "mine", ["x"], body), Err(Error::Shader { .. })));
    });
}

// --- limits ---

/// So many `vec4`s.
struct Many<const N: usize>;

impl<const N: usize> Params for Many<N> {
    const FIELDS: &'static [Field] = &[Field { name: "many", kind: <[f32; 4]>::KIND }; N];

    fn values(&self) -> Vec<ParamValue> {
        vec![[0.0f32; 4].value(); N]
    }
}

#[test]
fn more_than_the_device_has_is_told_beforehand() {
    on_both(|dev| {
        let caps = dev.capabilities();
        let units = caps.texture_units as usize;
        let sum = |n: usize| (0..n).map(|i| format!("x{i}(p)")).collect::<Vec<_>>().join(" + ");
        let names: [String; 17] = std::array::from_fn(|i| format!("x{i}"));
        let names = names.each_ref().map(String::as_str);
        assert!(units <= 16);
        let body = format!("vec4 kernel(ivec2 p) {{ return {}; }}", sum(17));
        let why = unsupported(Kernel::<NoParams>::new(dev, "mine", names, &body).map(drop));
        assert!(why.contains("17 textures") && why.contains(&units.to_string()), "{why}");
        let body = body.replacen("vec4", "bool", 1).replace("return", "return vec4(0.0) ==");
        unsupported(Condition::<NoParams>::new(dev, "mine", names, &body).map(drop));
        unsupported(PointsKernel::<NoParams>::new(dev, "mine", names, 1, KINDS[5].1).map(drop));
        unsupported(SplatKernel::<NoParams>::new(dev, "mine", names, 1, SPLAT_BODIES).map(drop));

        let buffers = caps.max_draw_buffers as usize;
        let outs: String = (0..=buffers).map(|i| format!(", out vec4 o{i}")).collect();
        let sets: String = (0..=buffers).map(|i| format!("o{i} = vec4(1.0);")).collect();
        let body = format!("void kernel(ivec2 p{outs}) {{ {sets} }}");
        let why =
            unsupported(Kernel::<NoParams>::with_outputs(dev, "mine", [], buffers + 1, &body).map(drop));
        assert!(why.contains(&format!("{} draw buffers", buffers + 1)), "{why}");

        const VEC4S: usize = 1 << 18;
        assert!(caps.uniform_components >= 896 && caps.uniform_components < 4 * VEC4S as u32, "{caps:?}");
        let why = unsupported(Kernel::<Many<VEC4S>>::new(dev, "mine", [], ONE).map(drop));
        assert!(
            why.contains("uniform components") && why.contains(&caps.uniform_components.to_string()),
            "{why}"
        );
        unsupported(Condition::<Many<VEC4S>>::new(dev, "mine", [], KINDS[4].1).map(drop));
        unsupported(PointsKernel::<Many<VEC4S>>::new(dev, "mine", [], 1, KINDS[5].1).map(drop));
        unsupported(VertexKernel::<Many<VEC4S>>::new(dev, "mine", [], 1, KINDS[8].1).map(drop));

        let varyings: [String; 200] = std::array::from_fn(|i| format!("v{i}"));
        let sets: String = varyings.iter().map(|v| format!("{v} = vec4(p, 0.0, 0.0);")).collect();
        let (corner, sum) = (format!("void vertex(vec2 p) {{ {sets} }}"), varyings.join(" + "));
        let body = format!("vec4 kernel(ivec2 p) {{ return {sum}; }}");
        let varyings = varyings.each_ref().map(String::as_str);
        let bodies = Bodies { vertex: &corner, fragment: &body };
        let made = Kernel::<NoParams>::interpolated(dev, "mine", [], varyings, bodies).map(drop);
        assert!(unsupported(made).contains("varying components"), "{caps:?}");
    });
    on_both_with(limits().with_max_draw_buffers(Some(4)), |dev| {
        let body = "void kernel(ivec2 p, out vec4 a, out vec4 b, out vec4 c, out vec4 d, out vec4 e) {
            a = b = c = d = e = vec4(1.0); }";
        let why = unsupported(Kernel::<NoParams>::with_outputs(dev, "mine", [], 5, body).map(drop));
        assert!(why.contains("5 draw buffers") && why.contains("has 4"), "{why}");
    });
}

// --- lengths ---

#[test]
fn inputs_shorter_than_the_target_are_refused() {
    on_both(|dev| {
        let ramp = |n: usize| Vector::from_slice(dev, &(0..n).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
        for read in ["x(p)", "x_here()", "READ", "x (ivec2(p.x, p.y))", "x P(p)", "J(x)", "INPUT(p)"] {
            let macros = "#define READ x(p)\n#define P(a) (a)\n#define J(a) a(p)\n#define INPUT x";
            let macros = if read.contains("x_here") { "" } else { macros };
            let body = format!("{macros}\nvec4 kernel(ivec2 p) {{ return {read}; }}");
            let copy = Kernel::<NoParams>::new(dev, "mine", ["x"], &body).unwrap();
            for (n, target) in [(99, 100), (4, 100), (2, 3), (0, 1), (100, 1000), (5, 300), (998, 1000)] {
                let mut y = Vector::filled(dev, target, 7.0).unwrap();
                let detail = interface(copy.run(&mut y, [&ramp(n)], &NoParams));
                assert!(detail.contains(&format!("`x` has {n} elements")), "{detail}");
                assert!(detail.contains(&target.to_string()) && detail.contains("`x_at`"), "{detail}");
                assert_eq!(y.read().unwrap(), vec![7.0; target], "nothing was drawn");
            }
            for (n, target) in [(100, 100), (101, 100), (1000, 100), (300, 5), (3, 0)] {
                let mut y = Vector::filled(dev, target, 7.0).unwrap();
                copy.run(&mut y, [&ramp(n)], &NoParams).unwrap();
                assert_eq!(y.read().unwrap(), ramp(target).read().unwrap());
            }
        }
        // Accessors that name a place of the input's own read any; a single number stands for as many as there are.
        let body =
            "vec4 kernel(ivec2 p) { return x_at(ivec2(0)) + x_texel(0) + vec4(x_element(1u)) + s(p).x; }";
        let any = Kernel::<NoParams>::new(dev, "mine", ["x", "s"], body).unwrap();
        let mut y = Vector::zeros(dev, 9).unwrap();
        any.run(&mut y, [&ramp(4), &Scalar::new(dev, 10.0).unwrap()], &NoParams).unwrap();
        assert_eq!(y.read().unwrap(), [11.0, 13.0, 15.0, 17.0, 11.0, 13.0, 15.0, 17.0, 11.0]);
    });
}

/// What is drawn decides, whatever form target and input have.
#[test]
fn an_input_has_to_reach_as_far_as_what_is_drawn() {
    on_both(|dev| {
        let body = "vec4 kernel(ivec2 p) { return x(p); }";
        let copy = Kernel::<NoParams>::new(dev, "mine", ["x"], body).unwrap();
        let grid = |w: usize, h: usize| {
            Packed::from_rows(dev, Shape::new(4 * h, w), Layout::Column4, &vec![1.0; 4 * w * h]).unwrap()
        };
        let run = |x: &dyn Operand, domain| copy.with([x], &NoParams).on(domain).run(&mut grid(8, 8));
        let half = grid(8, 4);
        let rect = |y, height| Domain::Rect { x: 1, y, width: 3, height };
        for domain in [Domain::Row(3), rect(1, 3), rect(7, 0)] {
            run(&half, domain).unwrap();
        }
        for domain in [Domain::Full, Domain::Row(4), Domain::Column(0), rect(1, 4)] {
            interface(run(&half, domain));
        }
        run(&Vector::zeros(dev, 256).unwrap(), Domain::Full).unwrap();
        interface(run(&Vector::zeros(dev, 255).unwrap(), Domain::Full));
        // Of matrices the last texel of a column counts: 5 rows and 6 take as many texels.
        let matrix = |rows| Matrix::filled(dev, Shape::new(rows, 7), 1.0).unwrap();
        copy.run(&mut matrix(5), [&matrix(6)], &NoParams).unwrap();
        copy.run(&mut matrix(6), [&matrix(6)], &NoParams).unwrap();
        interface(copy.run(&mut matrix(6), [&matrix(5)], &NoParams));
    });
}

#[test]
fn inputs_of_other_kernels_that_are_too_short_are_refused() {
    on_both(|dev| {
        let [short, long] = [8, 64].map(|n| Vector::filled(dev, n, 1.0).unwrap());
        let positive = "bool kernel(ivec2 p) { return x(p).x > 0.0; }";
        let condition = Condition::<NoParams>::new(dev, "mine", ["x"], positive).unwrap();
        interface(condition.mask(&long, [&short], &NoParams).map(drop));
        let mut mask = condition.mask(&long, [&long], &NoParams).unwrap();
        interface(condition.narrow(&mut mask, [&short], &NoParams));
        interface(condition.mask_within(Predicate::If(&mask), &long, [&short], &NoParams).map(drop));
        assert!(condition.mask(&short, [&long], &NoParams).unwrap().any().unwrap());

        let mut y = Vector::zeros(dev, 64).unwrap();
        let points = Points::new(dev, &[&[[0.0; 4]]]).unwrap();
        let body =
            "void point(int i, out ivec2 texel, out vec4 value) { texel = ivec2(0); value = x(texel); }";
        let scatter = PointsKernel::<NoParams>::new(dev, "mine", ["x"], 1, body).unwrap();
        interface(scatter.with([&short], &points, &NoParams).run(&mut y));
        scatter.with([&long], &points, &NoParams).run(&mut y).unwrap();
        for (place, body) in [
            (SPLAT.to_owned(), "vec4 kernel(ivec2 p, vec4 value) { return x_here(); }"),
            (SPLAT.replace("vec4(1.0)", "x(ivec2(0))"), SPLATTED),
        ] {
            let bodies = Bodies { vertex: &place, fragment: body };
            let splat = SplatKernel::<NoParams>::new(dev, "mine", ["x"], 1, bodies).unwrap();
            let mut run = |x| splat.with([x], &points, &NoParams).run(&mut y);
            interface(run(&short as &dyn Operand));
            run(&long).unwrap();
        }

        let body = LOOP.replace("return false", "return x(p).x < 0.0");
        let endless = IterateWhile::<NoParams>::new(dev, "mine", ["x"], &body).unwrap();
        let zeros = || Vector::zeros(dev, 64).unwrap();
        let run = |x: &Vector| {
            let mut state = PingPong::new(zeros(), zeros());
            endless.run(&mut state, [x], &NoParams, WhileParams::default()).map(drop)
        };
        interface(run(&short));
        run(&long).unwrap();
    });
}

/// Parameters by hand, whose values may be others than their fields say.
struct ByHand(Vec<ParamValue>);

impl Params for ByHand {
    const FIELDS: &'static [Field] =
        &[Field { name: "omega", kind: f32::KIND }, Field { name: "sweep", kind: i32::KIND }];

    fn values(&self) -> Vec<ParamValue> {
        self.0.clone()
    }
}

#[test]
fn values_that_are_not_what_their_fields_say_are_refused() {
    on_both(|dev| {
        let right = || vec![0.5f32.value(), 3i32.value()];
        let wrong: [(Vec<ParamValue>, &[&str]); 6] = [
            (vec![], &["0 values", "2 fields", "omega, sweep"]),
            (vec![0.5f32.value()], &["1 values"]),
            ([right(), right()].concat(), &["4 values"]),
            (vec![1i32.value(), 3i32.value()], &["`omega`", "`int`", "expected `float`"]),
            (vec![[0.5f32; 2].value(), 3i32.value()], &["`omega`", "`vec2`"]),
            (vec![0.5f32.value(), 3u32.value()], &["`sweep`", "`uint`", "expected `int`"]),
        ];
        let told = "vec4(omega, float(sweep), 0.0, 0.0)";
        let sevens = || Vector::filled(dev, 4, 7.0).unwrap();
        let kernel = format!("vec4 kernel(ivec2 p) {{ return {told}; }}");
        let kernel = Kernel::<ByHand>::new(dev, "mine", [], &kernel).unwrap();
        let condition = "bool kernel(ivec2 p) { return omega < float(sweep); }";
        let condition = Condition::<ByHand>::new(dev, "mine", [], condition).unwrap();
        let vertex = format!("void kernel(int vertex) {{ y[0] = {told}; }}");
        let vertex = VertexKernel::<ByHand>::new(dev, "mine", [], 1, &vertex).unwrap();
        let body = LOOP.replace("return false", "return omega > float(sweep)");
        let endless = IterateWhile::<ByHand>::new(dev, "mine", [], &body).unwrap();

        let drawn = |given: &ByHand| {
            let mut y = sevens();
            (kernel.run(&mut y, [], given), y.read().unwrap())
        };
        let captured = |given: &ByHand| {
            let mut y = BufferVector::from_slice(dev, &[7.0; 4]).unwrap();
            (vertex.run(&mut y, 0, [], given), y.read().unwrap())
        };
        let others = |given: &ByHand| {
            let mut state = PingPong::new(sevens(), sevens());
            let looped = endless.run(&mut state, [], given, WhileParams::default()).map(drop);
            [condition.mask(&sevens(), [], given).map(drop), looped]
        };
        for (values, words) in wrong {
            let given = ByHand(values);
            let mut results = Vec::from(others(&given));
            for (result, y) in [drawn(&given), captured(&given)] {
                assert_eq!(y, [7.0; 4], "nothing was drawn");
                results.push(result);
            }
            for result in results {
                let detail = interface(result);
                assert!(words.iter().all(|w| detail.contains(w)), "{detail}");
            }
        }
        let given = ByHand(right());
        for (result, y) in [drawn(&given), captured(&given)] {
            result.unwrap();
            assert_eq!(y, [0.5, 3.0, 0.0, 0.0]);
        }
        for result in others(&given) {
            result.unwrap();
        }
    });
}
