//! What is refused while a script runs: where the error points, what it says of shapes, and that nothing panics,
//! loops or exhausts memory.

use proptest::prelude::*;

use crate::bytes::mutated;
use crate::common::alloc::peak_of;
use crate::common::harness::{fitting, on_both, on_both_with};
use crate::support::{refused, run, value};
use texla::gl::Limits as GlLimits;
use texla::kernel::PoolStats;
use texla::script::{FileAccess, Interpreter, ScriptErrorKind as Kind, ScriptLimits, parse};
use texla::{Device, Matrix, Shape, Vector};

/// Statements that run first.
const BEFORE: &str = "A = [1 2; 3 4; 5 6]\nB = eye(4)\nx = [1 2 3]'\nS = sparse(eye(3))\ns = dot(x, x)\n";

#[test]
fn errors_say_where_and_which_shapes() {
    let cases: &[(&str, usize, &str)] = &[
        ("C = A * B", 7, "A is 3x2 and B is 4x4: A * B needs as many rows in B as A has columns"),
        ("C = A' * B", 8, "A' is 2x3 and B is 4x4: A' * B needs as many rows in B as A' has columns"),
        ("C = x * x", 7, "x is 3x1 and x is 3x1: x * x needs as many rows in x as x has columns"),
        ("C = A + B", 7, "A is 3x2 and B is 4x4: A + B needs equal shapes, or 1x1"),
        ("C = A - x'", 7, "A is 3x2 and x' is 1x3: A - x' needs equal shapes, or 1x1"),
        ("A += B", 3, "A is 3x2 and B is 4x4: A + B needs equal shapes, or 1x1"),
        ("C = A .* x", 7, "needs equal shapes"),
        ("C = max(A, x)", 5, "A is 3x2 and x is 3x1: max(A, x) needs equal shapes, or 1x1"),
        ("C = mad(A, A, x)", 5, "A is 3x2 and x is 3x1: mad(A, A, x) needs"),
        ("C = madad(x, x, x, A)", 5, "x is 3x1 and A is 3x2: madad(x, x, x, A) needs"),
        ("C = A / B", 7, "B is 4x4, expected 1x1 behind `/`"),
        ("C = (A * A') * (A + 0.12345678901234567890) + B", 45, "(A * A') * (A + 0.123456789... is 3x2"),
        ("C = solve(A, B)", 5, "A is 3x2 and B is 4x4: solving A x = B needs as many rows in B as in A"),
        ("C = A \\ B", 7, "solving A x = B needs"),
        (
            "C = dot(x, [1 2])",
            5,
            "x is 3x1 and [1 2] is 1x2: a dot product needs two vectors of equal length",
        ),
        ("C = dot(A, A)", 5, "two vectors of equal length"),
        ("C = normSquared(A)", 5, "two vectors of equal length"),
        ("C = trace(A)", 11, "A is 3x2, expected as many rows as columns"),
        ("C = norm(A)", 10, "A is 3x2, expected a vector"),
        ("C = norm(A, 2)", 13, "the norm 2 of a matrix is not built"),
        ("C = norm(x, 3)", 13, "found `3`, expected 1, 2, inf or \"fro\""),
        ("C = max(zeros(0, 3))", 9, "zeros(0, 3) is 0x3, expected at least one element"),
        ("C = max(A, \"some\")", 12, "expected \"all\""),
        ("C = sum(A, 3)", 12, "found `3`, expected \"all\", 1 or 2"),
        ("C = sum(A, all)", 12, "`all` is not defined"),
        ("C = sum(\"all\")", 9, "found a text"),
        (
            "C = [A x; x]",
            11,
            "the row that begins with x is 1 wide, expected 3, as the row that begins with A",
        ),
        (
            "C = [A [1 2]]",
            8,
            "A is 3x2 and [1 2] is 1x2: what stands side by side needs equal numbers of rows",
        ),
        ("C = A(4, 1)", 7, "the row in A(..) is 4, expected a whole number from 1 to 3"),
        ("C = A(1, 0)", 10, "the column in A(..) is 0, expected a whole number from 1 to 2"),
        ("C = A(1.5, 1)", 7, "the row in A(..) is 1.5"),
        ("C = A(1)", 5, "A is 3x2, expected two subscripts, row and column"),
        ("C = x(1, 1, 1)", 5, "x is 3x1, expected two subscripts"),
        ("C = A(2:5, 1)", 9, "the row in A(..) is 5, expected a whole number from 0 to 3"),
        ("C = A(x, 1)", 7, "x is 3x1, expected 1x1"),
        ("A(1:2, 1) = x", 13, "x is 3x1, expected 2x1, as the part of A that it replaces, or 1x1"),
        ("A(4, 4) = 1", 3, "from 1 to 3"),
        ("unknown(1) = 1", 1, "`unknown` is not defined"),
        ("C = unknown + 1", 5, "`unknown` is not defined"),
        ("C = Sum(x)", 5, "`Sum` is not defined; did you mean `sum`?"),
        (
            "C = zeros(-1)",
            11,
            "the number of rows or columns is -1, expected a whole number from 0 to 2147483647",
        ),
        ("C = zeros(2, 1.5)", 14, "is 1.5"),
        ("C = zeros(x)", 11, "x is 3x1, expected 1x1: the number of rows or columns"),
        ("C = eye(1e10)", 9, "is 1e+10"),
        ("C = zeros(1e9, 1e9)", 5, "1000000000x1000000000 elements"),
        ("C = ones(1e5)", 5, "100000x100000 elements"),
        ("C = eye(1e5)", 5, "100000x100000 elements"),
        ("C = zeros(1e9, 1) * zeros(1, 1e9)", 5, "1000000000x1 elements"),
        ("C = zeros(1e4, 1) * zeros(1, 1e4)", 19, "10000x10000 elements"),
        ("C = diag(zeros(1e4, 1))", 5, "10000x10000 elements"),
        (
            "repeat 1e18\nend",
            8,
            "the number of repetitions is 1e+18, expected a whole number from 0 to 2147483647",
        ),
        ("repeat -1\nend", 8, "is -1"),
        ("repeat 0.5\nend", 8, "is 0.5"),
        ("repeat inf\nend", 8, "is inf"),
        ("repeat A\nend", 8, "A is 3x2, expected 1x1: the number of repetitions"),
        ("C = 1e30 * 1e30", 10, "the result is 1e+60, expected a finite 32-bit float"),
        (
            "C = 1e-30 * 1e-30",
            11,
            "the result is 1e-60, expected a 32-bit float: the smallest is about 1.4e-45",
        ),
        ("C = 1 / 0", 7, "the result is inf"),
        ("C = inf - inf", 9, "the result is nan"),
        ("C = [1 inf]", 8, "the result is inf"),
        ("C = sqrt(-1)", 10, "-1, expected no negative number under a root"),
        ("C = S + A", 7, "S is 3x3 and A is 3x2"),
        ("C = S + eye(3)", 5, "S is sparse, expected a dense matrix here: full(S) makes one"),
        ("C = 2 + S", 9, "S is sparse"),
        ("C = S * S", 9, "S is sparse"),
        ("C = max(S)", 9, "S is sparse"),
        ("C = [S]", 6, "S is sparse"),
        ("C = S(1:2, 1)", 5, "S is sparse, expected a dense matrix for blocks: full(S) makes one"),
        ("S(1, 1) = 3", 1, "S is sparse"),
        ("A(1, 1) = S", 11, "S is 3x3, expected 1x1"),
        ("C = size(A, 3)", 13, "the dimension, 1 for rows or 2 for columns, is 3"),
        ("C = solve(2, 4, -1)", 5, "the bound is -1, expected at least 1e-18"),
        ("C = solve(A, x, A)", 17, "A is 3x2, expected 1x1: the bound on the relative residual"),
        ("print(A, unknown)", 10, "`unknown` is not defined"),
        ("save(A, 3)", 9, "the name of a file in double quotes"),
        ("C = load(A)", 10, "the name of a file in double quotes"),
        ("C = mad(A, \"x\", A)", 12, "found a text, expected a number or a matrix"),
    ];
    on_both(|device| {
        let mut wrong = Vec::new();
        for (text, column, message) in cases {
            let limits = ScriptLimits::default().with_bytes(1 << 22);
            let mut interpreter = Interpreter::new(device).with_limits(limits);
            run(&mut interpreter, BEFORE);
            let e = refused(&mut interpreter, text);
            let lines = e.to_string().lines().count();
            if (e.line, e.column, lines) != (1, *column, 3) || !e.kind.to_string().contains(message) {
                wrong.push(format!("{e}\nexpected column {column}: {message}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    });
}

#[test]
fn the_example_of_the_documentation() {
    on_both(|device| {
        let text = "A = ones(3, 2)\nB = ones(4)\n    C = A * B # the product\n";
        let e = refused(&mut Interpreter::new(device), text);
        let expected = "test: line 3, column 11: A is 3x2 and B is 4x4: A * B needs as many rows in B as A has columns\n        \
                        C = A * B # the product\n              ^";
        assert_eq!(e.to_string(), expected);
    });
}

/// What ran before an error stays; what the failed statement would have assigned does not.
#[test]
fn an_error_leaves_the_variables_before_it() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        run(&mut interpreter, "A = [1 2; 3 4]\nn = 1");
        let e = refused(&mut interpreter, "n = 2\nA(1, 1) = A * A\nn = 3");
        assert_eq!(e.line, 2);
        assert_eq!(value(&interpreter, "A").1, [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(value(&interpreter, "n").1, [2.0]);
        // And the interpreter goes on.
        assert_eq!(run(&mut interpreter, "sum(A, \"all\")"), "10\n");
    });
}

#[test]
fn the_room_is_shared_and_given_back() {
    on_both(|device| {
        let limits = ScriptLimits::default().with_bytes(7000);
        let mut interpreter = Interpreter::new(device).with_limits(limits);
        let over = |e: Kind| assert!(matches!(e, Kind::Limit { limit: 7000, .. }), "{e}");
        over(refused(&mut interpreter, "A = zeros(1, 1001)").kind);
        run(&mut interpreter, "A = zeros(20, 20)\nB = zeros(20, 20)");
        let e = refused(&mut interpreter, "C = zeros(20, 20)");
        assert!(
            e.to_string().contains("20x20 elements take 2560 bytes, beside 5120 in use, the limit is 7000"),
            "{e}"
        );
        run(&mut interpreter, "B = 0\nC = zeros(20, 20)\nC = 0\nA = 0");
        // Values that come and go take no more than is alive at one time.
        run(&mut interpreter, "repeat 50\nA = zeros(10, 10) + 1\nB = A * A\nx = B(:, 1)\nend");
        over(refused(&mut interpreter, "x = [1]\nrepeat 100\nx = [x x]\nend").kind);
        over(refused(&mut interpreter, "S = sparse(eye(400))").kind);
        run(&mut interpreter, "x = 0\nA = 0\nB = 0");
        assert_eq!(run(&mut interpreter, "sum(ones(1, 100))"), "100\n");
    });
}

/// What `work` gives, and how often it draws.
fn drawn<T>(device: &Device, work: impl FnOnce() -> T) -> (T, u64) {
    let before = device.counters().draws;
    let made = work();
    (made, device.counters().draws - before)
}

fn vector(device: &Device, n: usize) -> Vector {
    Vector::filled(device, n, 1.0).unwrap()
}

/// A column that is a matrix.
fn column(device: &Device, n: usize) -> Matrix {
    Matrix::from_vector_rows(&vector(device, n), Shape::new(n, 1)).unwrap()
}

/// Whatever makes a value takes the room for it first: nothing is allocated by a statement that is refused.
#[test]
fn nothing_is_made_without_room() {
    let cases: &[(&str, usize)] = &[
        ("B = A + A", 7),
        ("B = A - 1", 7),
        ("B = 1 - A", 7),
        ("B = A .* A", 7),
        ("B = A ./ A", 7),
        ("B = A / n", 7),
        ("B = A / 2", 7),
        ("B = 2 * A", 7),
        ("B = A * A", 7),
        ("B = A' * A", 8),
        ("B = A' * A'", 8),
        ("B = -A", 5),
        ("B = A'", 6),
        ("B = transpose(A)", 5),
        ("B = abs(A)", 5),
        ("B = sqrt(A)", 5),
        ("B = max(A, 0)", 5),
        ("B = min(A, A)", 5),
        ("B = divz(A, A)", 5),
        ("B = mad(A, A, 2)", 5),
        ("B = madad(A, A, A, A)", 5),
        ("B = ones(800)", 5),
        ("B = zeros(800)", 5),
        ("B = eye(800)", 5),
        ("B = diag(ones(800, 1))", 5),
        ("B = diag(ones(400, 1))", 5),
        ("B = ones(800, 1) * ones(1, 800)", 18),
        ("B = full(S)", 5),
        ("B = A * S", 7),
        ("B = S * A", 7),
        ("B = A(1:800, :)", 5),
        ("B = A(:, 1:790)", 5),
        ("B = [A]", 5),
        ("B = [A; A]", 5),
        ("A(:, :) = A", 1),
        ("A(:, :) = 2", 1),
        ("A(1:799, :) = n", 1),
        ("print(1)\n\n  B = 1 + (A + 1)", 14),
    ];
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        run(&mut interpreter, "S = sparse(eye(800))\nA = ones(800)\nn = norm(ones(4, 1))");
        let limits = ScriptLimits::default().with_bytes(1 << 22);
        let mut interpreter = interpreter.with_limits(limits);
        // Only what is made from is drawn at all: with as many draws as it takes alone, which is more where textures are so
        // small that matrices are tiled.
        let operands = ["ones(800, 1)", "ones(1, 800)", "ones(400, 1)"].map(|operand| {
            let statement = format!("v = {operand}");
            (operand, drawn(device, || run(&mut Interpreter::new(device), &statement)).1)
        });
        let turned = (
            "ones(800, 1) *",
            drawn(device, || column(device, 800)).1 - drawn(device, || vector(device, 800)).1,
        );
        let mut wrong = Vec::new();
        for (text, column) in cases {
            let made = operands.iter().chain([&turned]).filter(|(operand, _)| text.contains(operand));
            let allowed: u64 = made.map(|(_, draws)| draws).sum();
            let before = device.pool_stats().live_bytes;
            let (e, draws) = drawn(device, || refused(&mut interpreter, text));
            let found = device.pool_stats().live_bytes;
            let line = text.lines().count();
            let limited = matches!(e.kind, Kind::Limit { limit: 4_194_304, .. });
            if (e.line, e.column) != (line, *column) || !limited || found != before || draws != allowed {
                wrong.push(format!(
                    "{e}\nexpected column {column}, {allowed} draws; {draws} draws, {before} to {found} bytes"
                ));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
        // What fits is made, whichever way, and given back.
        run(&mut interpreter, "A = ones(500)\nA = A + A\nA = A'\nA = [A(1:9, :); A(1:9, :)]");
        run(&mut interpreter, "A(1:2, 1:2) = 7\nB = A(1:2, 1:3) + 1\nprint(sum(B, \"all\"))");
    });
}

/// A matrix of a gigabyte or more: the typed error comes before the work and before the memory, here and on the device.
#[test]
fn what_is_too_large_is_refused_at_once() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        // As long as vectors of the device are, but so that the product with what is there is past the default of 1 GiB.
        let n = fitting(device, 1_000_000);
        let m = fitting(device, (1 << 28) / n + 1);
        run(&mut interpreter, &format!("x = ones({n}, 1)\ny = ones(1, {m})"));
        let doubled = drawn(device, || run(&mut interpreter, "z = x * 2")).1;
        run(&mut interpreter, "z = 0");
        // A column is a vector, and a matrix before it is multiplied from the left.
        let turned = drawn(device, || column(device, n)).1 - drawn(device, || vector(device, n)).1;
        let zeros = format!("A = zeros({n}, {m})");
        for (text, allowed) in [("A = x * y", turned), (&zeros, 0), ("A = (x * 2) * y", doubled + turned)] {
            let before = device.pool_stats();
            let ((e, draws), peak) = peak_of(|| drawn(device, || refused(&mut interpreter, text)));
            assert!(matches!(e.kind, Kind::Limit { limit: 0x4000_0000, .. }), "{e}");
            assert_eq!(draws, allowed, "{text}");
            let after = device.pool_stats();
            let bytes = |stats: &PoolStats| (stats.live_bytes, stats.peak_bytes);
            assert_eq!(bytes(&after), bytes(&before), "{text}");
            assert!(peak < 1 << 20, "{text}: {peak} bytes at once");
        }
    });
}

/// Of a script or of a file that it names: nothing reaches the terminal that it would obey.
#[test]
fn control_characters_are_shown() {
    let hostile = "\u{1b}[2J\u{7}\u{202e}";
    let shown = "\\u{1b}[2J\\u{7}\\u{202e}";
    on_both(|device| {
        let files = FileAccess::From(std::path::PathBuf::from("no such folder"));
        let mut interpreter = Interpreter::new(device).with_files(files);
        for text in [
            format!("x = load(\"{hostile}\")"),
            format!("x = load(\"{hostile}.mtx\")"),
            format!("x = ones(2) + sum(3, \"{hostile}\")"),
            format!("x = {hostile}"),
            format!("x = (1 # {hostile}\n"),
        ] {
            let e = refused(&mut interpreter, &text).to_string();
            assert!(e.contains("\\u{1b}"), "{e:?}");
            assert!(!e.chars().any(|c| c != '\n' && c.is_control() || c == '\u{202e}'), "{e:?}");
        }
        assert_eq!(run(&mut interpreter, &format!("print(\"{hostile}\")")), format!("{shown}\n"));
        let e = parse("x = 1 +", &format!("a\n{hostile}")).unwrap_err().to_string();
        assert!(e.starts_with(&format!("a\\n{shown}: line 1")), "{e:?}");
        // The caret stands under the place, however wide what is before it is shown.
        let e = parse(format!("x = \"{hostile}\" $"), "").unwrap_err().to_string();
        let lines: Vec<&str> = e.lines().collect();
        assert_eq!(lines[1].find('"'), lines[2].find('^'), "{e}");
    });
}

#[test]
fn the_number_of_statements_can_be_limited() {
    on_both(|device| {
        let limits = ScriptLimits::default().with_statements(100);
        let mut interpreter = Interpreter::new(device).with_limits(limits);
        run(&mut interpreter, "n = 0\nrepeat 98\nn += 1\nend");
        // However often nothing is done, it is done at once.
        run(&mut interpreter, "repeat 2e9\nend\nrepeat 90\nrepeat 2e9\nend\nend");
        let e = refused(&mut interpreter, "repeat 1e9\nrepeat 1e9\nn += 1\nend\nend");
        assert_eq!((e.line, e.column), (3, 1), "{e}");
        assert!(matches!(e.kind, Kind::Limit { limit: 100, .. }), "{e}");
    });
}

/// Deep but accepted trees run on the stack of a test's thread.
#[test]
fn the_deepest_nesting_runs() {
    let n = usize::from(texla::script::MAX_DEPTH) - 2;
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        let loops = "repeat 1\n".repeat(n) + "x = 5\n" + &"end\n".repeat(n);
        run(&mut interpreter, &loops);
        for text in [
            format!("x = {}5{}", "(".repeat(n), ")".repeat(n)),
            format!("x = 5{}", "+0".repeat(n)),
            format!("x = {}5", "- -".repeat(n / 2)),
            format!("x = {}5{}", "[".repeat(n / 2), "]".repeat(n / 2)),
            format!("x = {}5{}", "max(0, ".repeat(n / 2), ")".repeat(n / 2)),
        ] {
            run(&mut interpreter, &text);
            assert_eq!(value(&interpreter, "x").1, [5.0], "{text}");
        }
    });
}

/// Small devices: what does not fit a texture is tiled, or a typed error.
#[test]
fn small_textures() {
    on_both_with(GlLimits::default().with_max_texture_size(Some(64)), |device| {
        let mut interpreter = Interpreter::new(device);
        run(
            &mut interpreter,
            "A = ones(300, 70)\nb = A * ones(70, 1)\nC = A' * A\nA(299:300, 69:70) = [1 2; 3 4]\ny = A(300, 70)",
        );
        assert_eq!(value(&interpreter, "b").1, vec![70.0; 300]);
        assert_eq!(value(&interpreter, "C").1, vec![300.0; 4900]);
        assert_eq!(value(&interpreter, "y").1, [4.0]);
        let e = refused(&mut interpreter, "x = zeros(16385, 1)");
        assert!(matches!(&e.kind, Kind::Library(e) if matches!(**e, texla::Error::TooLarge { .. })), "{e}");
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 150 } else { 1000 }))]

    /// Scripts of changed text run to their end or to an error, within their limits.
    #[test]
    fn changed_scripts_run_without_panic(bytes in mutated()) {
        if let Ok(program) = parse(&bytes, "fuzz") {
            let context = crate::common::harness::headless(texla::gl::Api::Gl33);
            let limits = ScriptLimits::default().with_bytes(1 << 16).with_statements(200);
            let mut interpreter = Interpreter::new(context.device()).with_limits(limits);
            for (name, text) in [("A", 3.0), ("x", 2.0), ("b", 1.0), ("w", 0.5), ("d", 0.25), ("p", 4.0), ("alpha", 0.1)] {
                interpreter.set(name, text).unwrap();
            }
            if let Err(e) = interpreter.run(&program, &mut std::io::sink()) {
                prop_assert!(e.line >= 1 && e.to_string().lines().count() >= 3);
            }
        }
    }
}
