//! The interpreter inside a host program.

use std::io::{Error as IoError, Write};
use std::rc::Rc;
use std::time::Duration;

use crate::common::harness::{headless, on_both};
use crate::support::{refused, run, value};
use texla::gl::Api;
use texla::script::{Data, Interpreter, Script, ScriptErrorKind as Kind, ScriptLimits, ScriptRun, parse};
use texla::{Error, Matrix, Scalar, Shape, Vector};

#[test]
fn variables_go_in_and_come_out() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        interpreter.set("n", 2.0).unwrap();
        interpreter.set("s", Scalar::new(device, 3.0).unwrap()).unwrap();
        interpreter.set("x", Vector::from_slice(device, &[1.0, 2.0]).unwrap()).unwrap();
        interpreter
            .set("A", Matrix::from_rows(device, Shape::new(2, 2), &[1.0, 2.0, 3.0, 4.0]).unwrap())
            .unwrap();
        run(&mut interpreter, "y = n * s * A * x");
        assert_eq!(value(&interpreter, "y"), (Shape::new(2, 1), vec![30.0, 66.0]));
        let Data::Vector(y) = interpreter.get("y").unwrap().data() else { panic!("y is no vector") };
        assert_eq!(y.read().unwrap(), [30.0, 66.0]);
        assert_eq!(interpreter.names().collect::<Vec<_>>(), ["A", "n", "s", "x", "y"]);
        assert!(interpreter.remove("y").is_some() && interpreter.get("y").is_none());
        assert!(interpreter.get("pi").is_none() && interpreter.get("z").is_none());
    });
}

/// The type of a value follows from its shape, however it came about.
#[test]
fn types_follow_from_shapes() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        let ones = |rows, cols| Matrix::filled(device, Shape::new(rows, cols), 1.0).unwrap();
        interpreter.set("a", ones(1, 1)).unwrap();
        interpreter.set("b", ones(3, 1)).unwrap();
        interpreter.set("c", ones(1, 3)).unwrap();
        interpreter.set("d", Vector::filled(device, 1, 1.0).unwrap()).unwrap();
        run(&mut interpreter, "e = c'\nf = c * b\ng = b'\nh = b(2)");
        let kind = |name: &str| match interpreter.get(name).unwrap().data() {
            Data::Number(_) => "number",
            Data::Scalar(_) => "scalar",
            Data::Vector(_) => "vector",
            Data::Matrix(_) => "matrix",
            Data::Sparse(_) => "sparse",
            _ => "other",
        };
        let expected = [
            ("a", "scalar"),
            ("b", "vector"),
            ("c", "matrix"),
            ("d", "scalar"),
            ("e", "vector"),
            ("f", "scalar"),
            ("g", "matrix"),
            ("h", "number"),
        ];
        for (name, expected) in expected {
            assert_eq!(kind(name), expected, "{name}");
        }
    });
}

#[test]
fn names_and_values_are_checked() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        for name in ["", "1a", "a b", "a-b", "sum", "pi", "end", "\u{e4}"] {
            let e = interpreter.set(name, 1.0).unwrap_err();
            assert!(matches!(e, Error::Parameter { name: "name", .. }), "{name}: {e}");
        }
        assert!(matches!(interpreter.set("x", f64::NAN), Err(Error::NonFinite { .. })));
        assert!(matches!(interpreter.set("x", 1e39), Err(Error::NonFinite { .. })));
        assert_eq!(interpreter.names().count(), 0);
    });
    let (one, other) = (headless(Api::Gl33), headless(Api::Es30));
    let vector = Vector::zeros(other.device(), 3).unwrap();
    let e = Interpreter::new(one.device()).set("x", vector).unwrap_err();
    assert!(matches!(e, Error::WrongDevice { .. }), "{e}");
}

/// A value that the host holds does not change under it.
#[test]
fn values_that_are_held_do_not_change() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        let matrix = Rc::new(Matrix::filled(device, Shape::new(2, 2), 1.0).unwrap());
        interpreter.set("A", Data::Matrix(Rc::clone(&matrix))).unwrap();
        run(&mut interpreter, "A(1, 1) = 5");
        assert_eq!(matrix.read().unwrap(), [1.0; 4]);
        let held = interpreter.get("A").unwrap().clone();
        run(&mut interpreter, "A(2, 2) = 7\nB = A\nB(1, 2) = 9");
        assert_eq!(held.read().unwrap(), [5.0, 1.0, 1.0, 1.0]);
        assert_eq!(value(&interpreter, "A").1, [5.0, 1.0, 1.0, 7.0]);
        assert_eq!(value(&interpreter, "B").1, [5.0, 9.0, 1.0, 7.0]);
    });
}

/// However a script is cut, it does and prints the same: between any two statements, or all at once.
#[test]
fn scripts_in_slices_are_the_same() {
    on_both(|dev| {
        for (text, statements) in [
            ("", 0),
            ("x = 1\nprint(x)", 2),
            ("x = 1\nrepeat 3\n  x = 2 * x\n  print(x)\n  repeat x\n    y = x\n  end\nend\ny", 26),
            (
                "repeat 2\nend\nrepeat 0\n  print(7)\nend\nrepeat 2\n  repeat 0\n    print(8)\n  end\n  repeat 2\n  end\nend\n5",
                8,
            ),
            ("repeat 2\n  repeat 2\n    repeat 2\n      1\n    end\n  end\nend", 15),
            ("A = [4 1; 1 3]\nx = A \\ [1 2]'\nrepeat 2\n  x = A * x\n  b = x * x\nend\nprint(x)", 5),
        ] {
            let program = parse(text, "test").unwrap();
            let (mut whole, mut printed) = (Interpreter::new(dev), Vec::new());
            let wanted = whole.run(&program, &mut printed).map_err(|e| e.to_string());
            let whole_done = advanced(&mut Interpreter::new(dev), &program, Duration::MAX);
            let mut cut = Interpreter::new(dev);
            let in_pieces = advanced(&mut cut, &program, Duration::ZERO);
            assert_eq!(whole_done, (1, wanted.clone(), printed.clone()), "{text}");
            assert_eq!((&in_pieces.1, &in_pieces.2), (&wanted, &printed), "{text}");
            assert!(cut.names().eq(whole.names()), "{text}");
            // Limits count statements, and so do the smallest slices.
            assert_eq!(in_pieces.0, usize::max(statements, 1), "{text}");
            for limit in 0..statements as u64 {
                let limits = ScriptLimits::default().with_statements(limit);
                let mut short = Interpreter::new(dev).with_limits(limits);
                let (slices, ended, _) = advanced(&mut short, &program, Duration::ZERO);
                assert_eq!(slices as u64, limit + 1, "{text}");
                assert!(ended.unwrap_err().contains("more statements"), "{text}");
            }
        }
    });
}

/// Slices that a script takes, how it ends, and what it prints. What is at its end stays there.
fn advanced(
    interpreter: &mut Interpreter,
    program: &Script,
    slice: Duration,
) -> (usize, Result<(), String>, Vec<u8>) {
    let (mut run, mut out) = (ScriptRun::new(program.clone()), Vec::new());
    for slices in 1.. {
        let ended = match interpreter.advance(&mut run, slice, &mut out) {
            Ok(false) => continue,
            Ok(true) => Ok(()),
            Err(e) => Err(e.to_string()),
        };
        let printed = out.clone();
        assert!(interpreter.advance(&mut run, slice, &mut out).unwrap());
        assert_eq!(out, printed, "nothing more is done");
        return (slices, ended, printed);
    }
    unreachable!("no end")
}

/// Each statement of the script is timed once, loops as one, with the time of all slices that it took.
#[test]
fn slices_are_timed_together() {
    on_both(|dev| {
        /// Takes at least a millisecond for each number.
        struct Slow(Vec<u8>);
        impl Write for Slow {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                std::thread::sleep(Duration::from_millis(1));
                self.0.write(bytes)
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let text = "timing on\nx = 1\nrepeat 20\n  print(x)\nend\ny = x";
        let mut interpreter = Interpreter::new(dev);
        let (mut run, mut out) = (ScriptRun::new(parse(text, "test").unwrap()), Slow(Vec::new()));
        while !interpreter.advance(&mut run, Duration::ZERO, &mut out).unwrap() {}
        let printed = String::from_utf8(out.0).unwrap();
        let timed = printed.lines().filter_map(|line| line.strip_suffix(" ms")?.split_once(": "));
        let (lines, times): (Vec<_>, Vec<_>) = timed.unzip();
        assert_eq!(lines, ["# line 2", "# line 3", "# line 6"], "{printed}");
        assert!(times[1].parse::<f64>().unwrap() >= 20.0, "{printed}");
    });
}

/// Output that cannot be written ends the script.
#[test]
fn output_that_fails() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(IoError::other("closed"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        let e = interpreter.run(&parse("x = 1\nprint(x)\nx = 2", "").unwrap(), &mut Closed).unwrap_err();
        assert!(matches!(&e.kind, Kind::Output { message, closed: _ } if message == "closed"), "{e}");
        assert_eq!((e.line, value(&interpreter, "x").1), (2, vec![1.0]));
    });
}

#[test]
fn files_are_forbidden_unless_allowed() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        for text in ["x = load(\"/etc/passwd\")", "save(1, \"x.mtx\")"] {
            let e = refused(&mut interpreter, text);
            assert_eq!(e.kind, Kind::FilesForbidden, "{text}");
        }
        assert!(!std::path::Path::new("x.mtx").exists());
    });
}
