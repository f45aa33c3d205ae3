//! The interpreter inside a host program.

use std::io::{Error as IoError, Write};
use std::rc::Rc;

use crate::common::harness::{headless, on_both};
use crate::support::{refused, run, value};
use texla::gl::Api;
use texla::script::{Data, Interpreter, ScriptErrorKind as Kind, parse};
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
