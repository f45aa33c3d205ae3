//! The room of an interpreter: bytes, taken before anything is made, and no fewer than what is made takes.

use crate::common::alloc::peak_of;
use crate::common::harness::{headless, on_both, on_both_with};
use crate::support::{refused, run};
use texla::gl::{Api, Limits as GlLimits};
use texla::host::problems;
use texla::script::{FileAccess, Interpreter, ScriptErrorKind as Kind, ScriptLimits, parse};
use texla::{Device, Error, Matrix, MatrixFormat, Shape, StoredMatrix, Vector};

fn limited(device: &Device, bytes: u64) -> Interpreter {
    Interpreter::new(device).with_limits(ScriptLimits::default().with_bytes(bytes))
}

/// What one statement may take that has nothing to do with the size of values: names, words, first textures.
const SLACK: u64 = 96 << 10;

/// Statements, with the operands that they need: `A` 200x300, `B` 300x300 symmetric, `R` 1x16000, `x` 16000x1, `y` 300x1,
/// `S` sparse 2500x2500 banded, `T` sparse 2500x2500 gathered, `D` 2500x12.
const STATEMENTS: &[(&str, &str)] = &[
    ("A", "C = A + A"),
    ("A", "C = 2 - A"),
    ("A", "C = madad(A, 1, A, 2)"),
    ("A", "C = A'"),
    ("A", "C = A' * A"),
    ("AB", "C = A * B"),
    ("AB", "C = B' * A'"),
    ("Ay", "c = A * y"),
    ("Ay", "c = y' * A'"),
    ("A", "C = [A; A]"),
    ("A", "C = A(1:100, :)"),
    ("A", "C = A(:, 7)"),
    ("A", "A(1:3, 1:3) = 5"),
    ("A", "A(1, 1) = 5"),
    ("A", "C = sum(A)"),
    ("A", "C = sum(A, 2)"),
    ("A", "c = norm(A, 1)"),
    ("A", "c = sum(A, \"all\")"),
    ("A", "C = sparse(A)"),
    ("A", "n = nnz(A)"),
    ("A", "print(A)"),
    ("B", "c = trace(B)"),
    ("By", "z = solve(B, y, 1e-3)"),
    ("By", "z = lcp(B, -y)"),
    ("Ay", "z = solve(A', y)"),
    ("R", "C = R + R"),
    ("R", "C = R'"),
    ("R", "c = dot(R, R)"),
    ("R", "C = sparse(R)"),
    ("R", "print(R)"),
    ("R", "C = [R; R]"),
    ("x", "R = x'"),
    ("x", "c = norm(x, 1)"),
    ("x", "print(x)"),
    ("x", "z = x - 1"),
    ("x", "x(1:100) = 2"),
    ("y", "C = diag(y)"),
    ("y", "C = y * y'"),
    ("", "C = ones(1, 16000)"),
    ("", "C = ones(3, 16000)"),
    ("", "C = ones(16000, 1)"),
    ("", "C = eye(300)"),
    ("", "c = sum(zeros(0, 16000))"),
    ("", "S = sparse(eye(300))"),
    ("S", "C = full(S(1, 1) * 1)"),
    ("S", "C = S * 2"),
    ("S", "C = S + S"),
    ("S", "C = S'"),
    ("S", "c = sum(S)"),
    ("S", "c = sum(S, 2)"),
    ("S", "c = norm(S, 1)"),
    ("S", "c = diag(S)"),
    ("SD", "C = S * D"),
    ("SD", "C = D' * S"),
    ("T", "C = T + T"),
    ("T", "C = T'"),
    ("T", "c = sum(T)"),
    ("TD", "C = T * D"),
    ("TD", "C = T' * D"),
    ("SD", "z = solve(S, D(:, 1), 1e-2)"),
    ("SD", "z = solve(S, D, 1e-2)"),
    ("TD", "z = lcp(T, -D(:, 1))"),
    ("TD", "z = solve(T, D(:, 2), 1e-2)"),
    ("A", "save(A, \"room.mtx\")\nC = load(\"room.mtx\")"),
    ("A", "save(A, \"room.txt\")\nC = load(\"room.txt\")"),
    ("T", "save(T, \"room-sparse.mtx\")\nC = load(\"room-sparse.mtx\")"),
];

/// Operands made by the library, with no more than they are.
fn operands(interpreter: &mut Interpreter, names: &str) {
    let device = interpreter.device().clone();
    for name in names.chars() {
        let dense = |rows: usize, cols: usize| {
            let values: Vec<f32> = (0..rows * cols)
                .map(|i| {
                    let (i, j) = (i / cols, i % cols);
                    if i == j { 40.0 } else { 1.0 / (1.0 + i.abs_diff(j) as f32) }
                })
                .collect();
            Matrix::from_rows(&device, Shape::new(rows, cols), &values).unwrap()
        };
        let stored =
            |format| StoredMatrix::new(&device, problems::poisson_2d(50, 50).to_csr(), format).unwrap();
        let text = name.to_string();
        match name {
            'A' => interpreter.set(&text, dense(200, 300)),
            'B' => interpreter.set(&text, dense(300, 300)),
            'R' => interpreter.set(&text, dense(1, 16_000)),
            'D' => interpreter.set(&text, dense(2500, 12)),
            'x' => interpreter.set(&text, Vector::filled(&device, 16_000, 1.0).unwrap()),
            'y' => interpreter.set(&text, Vector::filled(&device, 300, 1.0).unwrap()),
            'S' => interpreter.set(&text, stored(MatrixFormat::Banded)),
            'T' => interpreter.set(&text, scattered(&device)),
            other => panic!("no operand {other}"),
        }
        .unwrap();
    }
}

/// A symmetric matrix whose entries lie on many diagonals.
fn scattered(device: &Device) -> StoredMatrix {
    let n = 2500;
    let mut entries: Vec<_> = (0..n).map(|i| (i, i, 10.1)).collect();
    for i in 0..n {
        let j = (i * i * 7 + 13) % n;
        entries.extend([(i, j, 0.3), (j, i, 0.3)]);
    }
    let triplets = texla::host::Triplets::from_entries(Shape::new(n, n), entries).unwrap();
    StoredMatrix::new(device, triplets.to_csr(), MatrixFormat::Auto).unwrap()
}

/// What became of a statement.
enum Outcome {
    /// It ran, and the host held so much at once.
    Ran(u64),
    /// It found too little room.
    Refused,
    /// The device has no such vectors or textures, under the limits of a small one.
    TooLarge,
}

/// Runs a statement with so much room.
fn tried(device: &Device, names: &str, text: &str, bytes: u64) -> Outcome {
    let files = FileAccess::From(std::env::temp_dir());
    let mut interpreter = limited(device, u64::MAX).with_files(files);
    operands(&mut interpreter, names);
    let mut interpreter = interpreter.with_limits(ScriptLimits::default().with_bytes(bytes));
    let program = parse(text, "test").unwrap();
    let (result, peak) = peak_of(|| interpreter.run(&program, &mut std::io::sink()));
    match result {
        Ok(()) => Outcome::Ran(peak as u64),
        Err(e) if matches!(e.kind, Kind::Limit { .. }) => Outcome::Refused,
        Err(e) if matches!(&e.kind, Kind::Library(e) if matches!(**e, Error::TooLarge { .. })) => {
            Outcome::TooLarge
        }
        Err(e) => panic!("{text}: {e}"),
    }
}

/// For every statement the least room under which it runs is found, and it takes no more than that: textures and memory of
/// the host together, at the same limit.
#[test]
fn what_a_statement_takes_is_within_its_room() {
    let shared = headless(Api::Gl33);
    let (mut wrong, mut left_out) = (Vec::new(), 0);
    for (names, text) in STATEMENTS {
        // What nothing is added to has its operands alone.
        let operands_alone = {
            let mut interpreter = limited(shared.device(), u64::MAX);
            operands(&mut interpreter, names);
            shared.device().pool_stats().live_bytes
        };
        let (mut too_little, mut enough) = (operands_alone, 1 << 28);
        if let Outcome::TooLarge = tried(shared.device(), names, text, enough) {
            left_out += 1;
            continue;
        }
        while enough - too_little > 1 << 10 {
            let middle = (too_little + enough) / 2;
            match tried(shared.device(), names, text, middle) {
                Outcome::Ran(_) => enough = middle,
                Outcome::Refused | Outcome::TooLarge => too_little = middle,
            }
        }
        // Programs are compiled by now; a context of its own says what textures were in use at most.
        let Outcome::Ran(host) = tried(shared.device(), names, text, enough) else { panic!("{text}") };
        let own = headless(Api::Gl33);
        let begin = own.device().pool_stats().peak_bytes;
        assert!(matches!(tried(own.device(), names, text, enough), Outcome::Ran(_)), "{text}");
        let device = own.device().pool_stats().peak_bytes.max(begin);
        if host + device > enough + SLACK {
            wrong.push(format!("{text}: room {enough}, host {host}, device {device}"));
        }
        if std::env::var_os("TEXLA_SHOW_ROOM").is_some() {
            println!("{text}: room {enough}, host {host}, device {device}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(left_out < STATEMENTS.len() / 2);
}

/// Rows take sixteen times what their elements are; sparse matrices what lies on the host too.
#[test]
fn rows_and_sparse_matrices_are_counted_as_they_lie() {
    on_both(|device| {
        for (text, says) in [
            ("x = ones(1, 130000000)", "1x130000000 elements take 8320000000 bytes, the limit is 1073741824"),
            ("x = ones(1, 250000000)", "1x250000000 elements take 16000000000 bytes"),
            ("A = ones(3, 80000000)", "3x80000000 elements take 5120000000 bytes"),
            ("x = sum(zeros(0, 100000000))", "1x100000000 elements take 6400000000 bytes"),
            ("A = ones(20000)", "20000x20000 elements take 1600000000 bytes"),
        ] {
            let before = device.pool_stats().allocated_bytes;
            let (e, peak) = peak_of(|| refused(&mut Interpreter::new(device), text));
            assert!(matches!(e.kind, Kind::Limit { limit: 0x4000_0000, .. }), "{e}");
            assert!(e.kind.to_string().contains(says), "{e}");
            let made = device.pool_stats().allocated_bytes - before;
            assert!(
                peak < 1 << 20 && made <= 1 << 20,
                "{text}: {peak} bytes on the host, {made} on the device"
            );
        }
        // What cannot be copied to the host or sorted there is refused before it is.
        let mut interpreter = limited(device, 4 << 20);
        run(&mut interpreter, "A = ones(700)");
        for text in ["S = sparse(A)", "print(A)", "n = nnz(A)"] {
            let (e, peak) = peak_of(|| refused(&mut interpreter, text));
            assert!(e.kind.to_string().contains("copying 700x700 elements takes"), "{e}");
            assert!(peak < 1 << 20, "{text}: {peak} bytes");
        }
        let mut interpreter = limited(device, 8 << 20);
        run(&mut interpreter, "S = sparse(eye(700))\nA = ones(700)\nn = nnz(A)");
        let e = refused(&mut interpreter, "S = sparse(A)");
        assert!(e.kind.to_string().contains("sorting 490000 entries of 700x700 elements takes"), "{e}");
        let e = refused(&mut interpreter, "B = full(S)\nC = full(S)");
        assert!(e.kind.to_string().contains("700x700 elements take 1971200 bytes, beside"), "{e}");
    });
}

/// A matrix of many small tiles takes what one of a single tile does.
#[test]
fn tiles_do_not_change_what_a_matrix_takes() {
    on_both_with(GlLimits::default().with_max_texture_size(Some(64)), |device| {
        let e = refused(&mut limited(device, 1_000_000), "A = ones(500)");
        assert!(e.kind.to_string().contains("500x500 elements take 1024000 bytes"), "{e}");
        run(&mut limited(device, 1_024_000), "A = ones(500)");
    });
}
