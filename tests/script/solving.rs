//! `solve`, `\` and `lcp` on made problems and on those of the data folder.

use crate::common::harness::on_both;
use crate::common::worst::{worst, worst_of};
use crate::common::{data, random, systems};
use crate::support::{refused, run, value};
use texla::host::{Csr, Triplets, problems};
use texla::script::{FileAccess, Interpreter, Precision, ScriptErrorKind as Kind, ScriptLimits};
use texla::{Device, Matrix, MatrixFormat, Shape, StoredMatrix, Vector};

/// A matrix as a dense and as a sparse variable.
fn set(interpreter: &mut Interpreter, device: &Device, a: &Csr) {
    let mut rows = vec![0.0; a.shape().len()];
    a.entries().for_each(|(i, j, v)| rows[i * a.shape().cols + j] += v);
    interpreter.set("A", Matrix::from_f64(device, a.shape(), &rows).unwrap()).unwrap();
    interpreter.set("S", StoredMatrix::new(device, a.clone(), MatrixFormat::Auto).unwrap()).unwrap();
}

#[test]
fn positive_definite_systems() {
    on_both(|device| {
        for n in [2, 3, 5, 50] {
            let a = systems::rounded(&systems::csr(&random::spd(n as u64, n, 0.3)));
            let b = systems::rhs_of_ones(&a);
            let mut interpreter = Interpreter::new(device);
            set(&mut interpreter, device, &a);
            interpreter.set("b", Vector::from_f64(device, &b).unwrap()).unwrap();
            for text in
                ["x = solve(A, b)", "x = A \\ b", "x = solve(S, b)", "x = S \\ b", "x = solve(A, b, 1e-6)"]
            {
                run(&mut interpreter, text);
                let (shape, x) = value(&interpreter, "x");
                assert_eq!(shape, Shape::column(n));
                // b was rounded on its way to the device.
                let b: Vec<f64> = b.iter().map(|v| f64::from(*v as f32)).collect();
                let residual = systems::relative_residual(&a, &x, &b);
                assert!(residual <= 2e-5, "{text}, n = {n}: {residual}");
            }
            // Several right-hand sides at once: the columns of the inverse.
            run(
                &mut interpreter,
                &format!("X = A \\ eye({n})\nE = A * X - eye({n})\ne = max(abs(E), \"all\")"),
            );
            assert!(value(&interpreter, "e").1[0] <= 1e-4, "n = {n}");
        }
    });
}

#[test]
fn least_squares() {
    on_both(|device| {
        for (rows, cols) in [(7, 1), (9, 4), (40, 13), (4, 9)] {
            let a = systems::rounded(&systems::csr(&random::sparse(5, rows, cols, 1.0)));
            let b: Vec<f64> = random::uniform(6, rows).into_iter().map(f64::from).collect();
            let mut interpreter = Interpreter::new(device);
            set(&mut interpreter, device, &a);
            interpreter.set("b", Vector::from_f64(device, &b).unwrap()).unwrap();
            for text in ["x = solve(A, b)", "x = S \\ b"] {
                run(&mut interpreter, text);
                let (shape, x) = value(&interpreter, "x");
                assert_eq!(shape, Shape::column(cols));
                let residual = systems::normal_residual(&a, &x, &b);
                assert!(residual <= 2e-5, "{text}, {rows}x{cols}: {residual}");
            }
        }
        // One equation: the solution of least norm.
        let mut interpreter = Interpreter::new(device);
        run(&mut interpreter, "x = solve([3 4], 25)\ny = 4 \\ 8\nz = solve(4, [8 12])");
        let x = value(&interpreter, "x").1;
        assert!((x[0] - 3.0).abs() < 1e-4 && (x[1] - 4.0).abs() < 1e-4, "{x:?}");
        assert_eq!((value(&interpreter, "y").1, value(&interpreter, "z").1), (vec![2.0], vec![2.0, 3.0]));
    });
}

#[test]
fn what_cannot_be_solved_is_an_error_that_says_why() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        run(
            &mut interpreter,
            "N = [2 1; 0 2]\nI = [1 2; 2 1]\nb = [1; -1]\nZ = zeros(2, 2)\nP = sparse(N)\nQ = sparse(I)",
        );
        // Neither symmetry nor a definite matrix is needed.
        run(&mut interpreter, "u = solve(N, b)\nv = P \\ b\nw = solve(I, b)\ny = solve(Q, b)");
        for (name, want) in [("u", [0.75, -0.5]), ("v", [0.75, -0.5]), ("w", [-1.0, 1.0]), ("y", [-1.0, 1.0])]
        {
            let got = value(&interpreter, name).1;
            assert!(got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-4), "{name}: {got:?}");
        }
        // Every method and preconditioner by name, with digits or without, in any order.
        run(&mut interpreter, "D = sparse([4 1 0; 1 3 1; 0 1 2])\nd = [5; 5; 3]");
        for words in [
            "gmres",
            "gmres ilut",
            "BiCGStab jacobi",
            "cg fsai",
            "amg cg",
            "minres",
            "ilu0",
            "cgls",
            "single cg",
            "double",
            "double jacobi",
            "bicgstab2 jacobi",
            "gmres(2) with ilut(1, 0.5)",
            "refined  GMRES with ilu0 of rows as they are",
            "double cg with jacobi",
        ] {
            run(&mut interpreter, &format!("o = solve(D, d, 1e-5, \"{words}\")"));
            let got = value(&interpreter, "o").1;
            assert!(got.iter().all(|x| (x - 1.0).abs() < 1e-3), "{words}: {got:?}");
        }
        for (text, message) in [
            ("x = solve(N, b, 1e-5, \"cg\")", "solve: N is not symmetric: A[0, 1] = 1e0"),
            ("x = solve(I, b, 1e-5, \"cg\")", "solve: I by cg: breakdown in iteration 0: p.Ap = -"),
            (
                "x = solve(Q, b, 1e-5, \"single cg\")",
                "expected more than 0: the matrix is not positive definite",
            ),
            ("x = solve(N, b, 1e-5, \"fsai cg\")", "solve: N is not symmetric"),
            (
                "x = solve(I, b, 1e-5, \"fsai cg\")",
                "solve: fsai is made from the entries, and I is dense: sparse(I) gives what it needs",
            ),
            ("x = solve(N, b, 1e-5, \"ilut\")", "ilut is made from the entries, and N is dense: sparse(N)"),
            ("x = solve(I, b, 1e-5, \"amg\")", "amg is made from the entries, and I is dense: sparse(I)"),
            ("x = solve(N, b, 1e-5, \"lu\")", "words for digits (\"single\", "),
            (
                "x = solve(N, b, 1e-5, \"gmres(2) with lu\")",
                "both with their parameters as in \"gmres(100) with",
            ),
            ("x = solve(N, b, 1e-5, \"gmres(0)\")", "with their parameters as in \"gmres(100)"),
            (
                "x = solve(N, b, 1e-5, \"gmres(5) with ilut\")",
                "ilut is made from the entries, and N is dense: sparse(N)",
            ),
            ("x = solve(Q, b, 1e-5, \"double gmres(5)\")", "no method but cg"),
            ("x = solve(N, b, 1e-5, \"lu\")", "a method (\"cg\", \"minres\", \"bicgstab\", "),
            ("x = solve(N, b, 1e-5, \"lu\")", "a preconditioner (\"none\", \"jacobi\", \"block-jacobi\", "),
            ("x = solve(Q, b, 1e-5, \"single double\")", "one each"),
            ("x = solve(Q, b, 1e-5, \"cg minres\")", "one each"),
            ("x = solve(Q, b, 1e-5, \"double gmres\")", "with \"double\" no method but cg"),
            ("x = solve(Z, b)", "stagnated after 0 iterations of cgls"),
            ("x = solve(eye(2), b, 0)", "expected at least 1e-18 and less than 1"),
        ] {
            let e = refused(&mut interpreter, text);
            assert!(e.kind.to_string().contains(message), "{text}: {e}");
            assert!(interpreter.get("x").is_none());
        }
        // Rectangular, by either residual: both are told.
        let text = "A = [1 0; 0 1e-3; 1 1]\nx = solve(A, [1 2 4]', 1e-12, \"single\")";
        let e = refused(&mut interpreter, text).kind.to_string();
        assert!(
            e.contains("(of the normal equations) and") && e.contains("(its own) in place of 1e-12"),
            "{e}"
        );
        // A bound that 32 bits cannot meet.
        let text = "x = solve([4 1 0; 1 3 1; 0 1 2], [1 2 3]', 1e-16, \"single\")";
        let e = refused(&mut interpreter, text);
        assert!(
            matches!(&e.kind, Kind::Unsolved { detail, .. } if detail.contains("in place of 1e-16")),
            "{e}"
        );
    });
}

/// Pairs of floats where 32 bits do not come to the bound, or where they are asked for: a chain of 60, whose solution is large and
/// smooth.
#[test]
fn precision_is_chosen_or_asked_for() {
    on_both(|device| {
        let n = 60;
        let chain = |word: &str| format!("x = solve(A, b, 1e-12{word})");
        let ready = |interpreter: &mut Interpreter| {
            let mut rows = vec![0.0; n * n];
            for i in 0..n {
                rows[i * n + i] = 2.0;
                if i > 0 {
                    (rows[i * n + i - 1], rows[(i - 1) * n + i]) = (-1.0, -1.0);
                }
            }
            let a = Matrix::from_rows(device, Shape::new(n, n), &rows).unwrap();
            interpreter.set("A", a).unwrap();
            interpreter.set("b", Vector::filled(device, n, 1.0).unwrap()).unwrap();
        };
        let exact = device.capabilities().exact_form.is_some();
        // x_i = (i + 1) (n - i) / 2, which 32 bits hold.
        let solved = |interpreter: &mut Interpreter, word: &str| {
            run(interpreter, &chain(word));
            let want: Vec<f32> = (0..n).map(|i| ((i + 1) * (n - i)) as f32 / 2.0).collect();
            assert_eq!(value(interpreter, "x").1, want, "{word}");
        };
        let mut interpreter = Interpreter::new(device);
        ready(&mut interpreter);
        for word in ["", ", \"auto\"", ", \"refined\"", ", \"double\""] {
            if exact {
                solved(&mut interpreter, word);
            }
        }
        let mut told = Interpreter::new(device).with_precision(Precision::Single);
        ready(&mut told);
        run(&mut told, "y = solve(A, b, 1e-3)");
        if exact {
            solved(&mut told, ", \"Double\"");
        } else {
            let e = refused(&mut told, &chain(", \"double\"")).kind.to_string();
            assert!(e.contains("two-sum"), "{e}");
        }
        let e = refused(&mut told, &chain(", \"quad\"")).kind.to_string();
        assert!(e.contains("(\"single\", \"refined\", \"double\", \"auto\")"), "{e}");
    });
}

/// Rows of one entry, another sign and rounding are no obstacles, and what is asked for by name is done with the matrix as it is.
#[test]
fn sparse_systems_are_solved_in_their_normal_form() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        let n = 24;
        // Negative, with identity rows at both ends, and one entry off by a last bit.
        let mut entries = vec![(0, 0, 1.0), (n - 1, n - 1, 1.0)];
        for i in 1..n - 1 {
            let off = if i == 7 { 1.0 + f64::EPSILON } else { 1.0 };
            entries.extend([(i, i - 1, off), (i, i, -2.0), (i, i + 1, 1.0)]);
        }
        let a = Triplets::from_entries(Shape::new(n, n), entries).unwrap().to_csr();
        let want: Vec<f64> = (0..n).map(|i| i as f64).collect();
        let b: Vec<f32> = a.mul_vec(&want).unwrap().into_iter().map(|v| v as f32).collect();
        let a = StoredMatrix::new(device, a, MatrixFormat::Auto).unwrap();
        interpreter.set("A", a).unwrap();
        interpreter.set("b", Vector::from_slice(device, &b).unwrap()).unwrap();
        for words in ["", ", 1e-6", ", 1e-5, \"gmres ilut\""] {
            run(&mut interpreter, &format!("x = solve(A, b{words})"));
            let x = value(&interpreter, "x").1;
            assert!(
                x.iter().zip(&want).all(|(x, w)| (f64::from(*x) - w).abs() < 0.01 * (1.0 + w)),
                "{words}: {x:?}"
            );
        }
    });
}

/// Values that are given by rows of 1e10, of a symmetric matrix with a positive diagonal.
#[test]
fn penalty_rows_are_solved_for() {
    on_both(|device| {
        if !crate::common::pairs::is_exact(device) {
            return;
        }
        let mut interpreter = Interpreter::new(device);
        let n = 25;
        let mut entries: Vec<_> = problems::poisson_1d(n).to_csr().entries().collect();
        entries.extend([(0, 0, 1e10), (n - 1, n - 1, 1e10)]);
        let a = Triplets::from_entries(Shape::new(n, n), entries).unwrap().to_csr();
        let want: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
        let b: Vec<f32> = a.mul_vec(&want).unwrap().into_iter().map(|v| v as f32).collect();
        interpreter.set("A", StoredMatrix::new(device, a, MatrixFormat::Auto).unwrap()).unwrap();
        interpreter.set("b", Vector::from_slice(device, &b).unwrap()).unwrap();
        run(&mut interpreter, "x = solve(A, b)");
        let x = value(&interpreter, "x").1;
        assert!(x.iter().zip(&want).all(|(x, w)| (f64::from(*x) - w).abs() < 1e-3 * w), "{x:?}");
    });
}

/// Where 32 bits do not reach the bound, complementarity problems go on in pairs, unless that is ruled out.
#[test]
fn complementarity_problems_go_on_in_pairs() {
    on_both(|device| {
        let exact = crate::common::pairs::is_exact(device);
        // A stack of masses of 1 and 1000.
        let text = "M = [1 -1 0 0; -1 1.001 -0.001 0; 0 -0.001 1.001 -1; 0 0 -1 2]\nq = [-1; 1; -1e-3; 0.5]\nz = lcp(M, q, 1e-9)";
        let mut single = Interpreter::new(device).with_precision(Precision::Single);
        assert!(refused(&mut single, text).kind.to_string().contains("in place of 1e-9"));
        let mut interpreter = Interpreter::new(device);
        if !exact {
            return;
        }
        run(&mut interpreter, text);
        let z = value(&interpreter, "z").1;
        assert!(z.iter().all(|z| *z >= 0.0) && z.iter().any(|z| *z > 0.5), "{z:?}");
    });
}

/// Complementarity problems with known solutions, dense and sparse, with the paper's sign of q.
#[test]
fn complementarity_problems() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        run(
            &mut interpreter,
            "M = [2 1; 1 2]\nz = lcp(M, [-5; -6])\nw = lcp(sparse(M), [-5; -6])\nu = lcp(M, [1; 2])\nv = lcp([4], [-2])\none = lcp([1 1; 1 1], [-1; -1])",
        );
        for name in ["z", "w"] {
            let z = value(&interpreter, name).1;
            assert!((z[0] - 4.0 / 3.0).abs() < 1e-3 && (z[1] - 7.0 / 3.0).abs() < 1e-3, "{name}: {z:?}");
        }
        assert_eq!(value(&interpreter, "u").1, [0.0, 0.0]);
        assert!((value(&interpreter, "v").1[0] - 0.5).abs() < 1e-4);
        let one = value(&interpreter, "one").1;
        assert!((one[0] + one[1] - 1.0).abs() < 1e-3, "{one:?}");
        for (text, message) in [
            ("z = lcp([0 1; 1 2], [1; 1])", "lcp: [0 1; 1 2](1,1) is 0, expected a positive number"),
            ("z = lcp(sparse([1 1; 1 -2]), [1; 1])", "(2,2) is -2, expected a positive number"),
            ("z = lcp([1 2], [1; 1])", "[1 2] is 1x2, expected as many rows as columns"),
            ("z = lcp(M, [1; 2; 3])", "M is 2x2 and [1; 2; 3] is 3x1"),
            ("z = lcp(M, [1 2])", "M is 2x2 and [1 2] is 1x2"),
            ("z = lcp([1 -2; -2 1], [-1; -1])", "lcp: "),
        ] {
            let e = refused(&mut interpreter, text);
            assert!(e.kind.to_string().contains(message), "{text}: {e}");
        }
    });
}

#[test]
fn matrices_of_the_data_folder() {
    let files = [
        ("unsym/west0067.mtx", 1e-5),
        ("sym/bcsstm10.mtx", 1e-5),
        ("spd/nos4.mtx", 1e-5),
        ("spd/bcsstk02.mtx", 1e-3),
        ("spd/gr_30_30.mtx", 1e-5),
        ("rect/ash219.mtx", 1e-5),
        ("rect/well1850.mtx", 1e-4),
    ];
    let Some(root) = data::data_root() else { return data::not_run(files.len(), "systems for scripts") };
    on_both(|device| {
        for (file, tolerance) in files {
            let a = systems::read(&root.join(file));
            if !systems::gather_fits(device, &a) {
                continue; // under the limits of a small device
            }
            let mut interpreter = Interpreter::new(device).with_files(FileAccess::From(root.clone()));
            run(
                &mut interpreter,
                &format!("A = load(\"{file}\")\nb = A * ones(cols(A), 1)\nx = solve(A, b, {tolerance})"),
            );
            let (b, x) = (value(&interpreter, "b").1, value(&interpreter, "x").1);
            let b: Vec<f64> = b.into_iter().map(f64::from).collect();
            let residual = if a.shape().is_square() {
                systems::relative_residual(&a, &x, &b)
            } else {
                systems::normal_residual(&a, &x, &b)
            };
            assert!(residual <= 2.0 * tolerance, "{file}: {residual}");
        }
    });
}

/// n, the storage, the shape twice, the matrix row by row, and the right-hand side.
fn read_lcp(text: &str) -> (usize, Vec<f64>, Vec<f64>) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let n: usize = words[0].parse().unwrap();
    let numbers: Vec<f64> = words[6..6 + n * n + n].iter().map(|w| w.parse().unwrap()).collect();
    (n, numbers[..n * n].to_vec(), numbers[n * n..].to_vec())
}

#[test]
fn complementarity_problems_of_the_data_folder() {
    let Some(root) = data::data_root() else {
        return data::not_run(10, "complementarity problems for scripts");
    };
    let files = data::files(&root, "lcp");
    assert!(!files.is_empty());
    on_both(|device| {
        for path in &files {
            let (n, m, q) = read_lcp(&std::fs::read_to_string(path).unwrap());
            let mut interpreter = Interpreter::new(device);
            interpreter.set("M", Matrix::from_f64(device, Shape::new(n, n), &m).unwrap()).unwrap();
            interpreter.set("q", Vector::from_f64(device, &q).unwrap()).unwrap();
            let zero_diagonal = (0..n).any(|i| m[i * n + i] <= 0.0);
            for matrix in ["M", "sparse(M)"] {
                let text = format!("z = lcp({matrix}, q)");
                if zero_diagonal {
                    let e = refused(&mut interpreter, &text);
                    assert!(e.kind.to_string().contains("diagonal"), "{}: {e}", path.display());
                    continue;
                }
                run(&mut interpreter, &text);
                let z: Vec<f64> = value(&interpreter, "z").1.into_iter().map(f64::from).collect();
                assert!(z.iter().all(|v| *v >= 0.0), "{}", path.display());
                let t = Triplets::from_dense(Shape::new(n, n), &m).unwrap().to_csr();
                let w: Vec<f64> = systems::apply(&t, &z).iter().zip(&q).map(|(a, b)| a + b).collect();
                let natural = worst_of(&z, &w, |z, w| if w.is_nan() { f64::NAN } else { z.min(*w).abs() });
                let scale = systems::lcp_unit(&q);
                assert!(natural <= 1.01e-4 * scale, "{}: {natural} beside {scale}", path.display());
            }
        }
    });
}

/// The same matrix, bound and start again take no set-up: nothing is compiled, and no texture is made twice for a preconditioner.
#[test]
fn a_matrix_is_set_up_once() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        if device.capabilities().max_texture_size < 1024 {
            return;
        }
        // No grid of one stencil, and more than factors are made of.
        let (plane, m, n) = (problems::poisson_2d(30, 30).to_csr(), 900, 27_000);
        let planes = (0..30).flat_map(|k| plane.entries().map(move |(i, j, v)| (m * k + i, m * k + j, v)));
        let between = (0..n - m).flat_map(|i| [(i, m + i, -1.0), (m + i, i, -1.0)]);
        let more = (0..n).map(|i| (i, i, 2.0 + (i % 3) as f64));
        let a = planes.chain(between).chain(more);
        let a = Triplets::from_entries(Shape::new(n, n), a).unwrap().to_csr();
        interpreter.set("A", StoredMatrix::new(device, a, MatrixFormat::Auto).unwrap()).unwrap();
        run(&mut interpreter, "b = A * ones(cols(A), 1)\nx = A \\ b");
        let uploads = |interpreter: &mut Interpreter, text: &str| {
            let before = device.counters();
            run(interpreter, text);
            device.counters().since(&before).uploads
        };
        let again = uploads(&mut interpreter, "y = A \\ b");
        let anew = uploads(&mut interpreter, "z = solve(A, b, 1e-4)");
        if device.capabilities().exact_form.is_some() {
            assert!(again < anew, "{again} {anew}");
        }
        assert_eq!(value(&interpreter, "x"), value(&interpreter, "y"));
        // Another matrix of the same name is another matrix.
        run(&mut interpreter, "A = 2 * A\nz = A \\ b");
        let (x, z) = (value(&interpreter, "x").1, value(&interpreter, "z").1);
        assert!(x.iter().zip(&z).all(|(x, z)| (x - 2.0 * z).abs() < 1e-2));
    });
}

/// What is remembered makes room for values.
#[test]
fn a_remembered_solver_makes_room() {
    on_both(|device| {
        let limits = ScriptLimits::default().with_bytes(3_000_000);
        let mut interpreter = Interpreter::new(device).with_limits(limits);
        let a = problems::poisson_2d(30, 30).to_csr();
        interpreter.set("A", StoredMatrix::new(device, a, MatrixFormat::Auto).unwrap()).unwrap();
        run(&mut interpreter, "b = A * ones(900, 1)\nx = A \\ b\ne = max(abs(x - 1))");
        assert!(value(&interpreter, "e").1[0] < 1e-3);
        // More than the solver leaves, and less than there is without it.
        run(&mut interpreter, "B = ones(380, 380)\nC = B + 1\nx = 0\ns = sum(C, \"all\")");
        assert_eq!(value(&interpreter, "s").1, [2.0 * 380.0 * 380.0]);
    });
}

#[test]
fn starts_are_taken() {
    on_both(|device| {
        let mut interpreter = Interpreter::new(device);
        let a = problems::poisson_2d(9, 8).to_csr();
        set(&mut interpreter, device, &a);
        for name in ["A", "S"] {
            for words in ["", "\"cg\", ", "\"single cgls\", "] {
                // A start that solves, and one iteration too few for any other.
                run(
                    &mut interpreter,
                    &format!(
                        "b = {name} * ones(72, 1)\nx = solve({name}, b, 1e-5, {words}ones(72, 1))\n\
                         B = [b, 2 * b]\nX = solve({name}, B, 1e-5, {words}[ones(72, 1), 2 * ones(72, 1)])\n\
                         Y = solve({name}, B, 1e-5, {words}ones(72, 1))\ne = max(abs(Y - X), \"all\")"
                    ),
                );
                assert!(value(&interpreter, "x").1.iter().all(|x| *x == 1.0), "{name} {words}");
                let x = value(&interpreter, "X").1;
                assert!(x.chunks(2).all(|x| *x == [1.0, 2.0]), "{name} {words}: {x:?}");
                assert!(value(&interpreter, "e").1[0] < 1e-2, "{name} {words}");
            }
            let error = refused(&mut interpreter, &format!("x = solve({name}, b, 1e-5, ones(71, 1))"));
            assert!(error.to_string().contains("a start needs as many rows as"), "{error}");
            let error = refused(&mut interpreter, &format!("x = solve({name}, b, 1e-5, ones(72, 2))"));
            assert!(error.to_string().contains("one column or those of b"), "{error}");
        }
    });
}

/// Rows that a norm does not see, and a right-hand side that nothing reaches.
#[test]
fn sparse_systems_are_judged_by_their_equations() {
    on_both(|device| {
        if device.capabilities().exact_form.is_none() {
            return;
        }
        let mut interpreter = Interpreter::new(device);
        // A field that is a hundred thousand times smaller than the one that causes it.
        let (grid, n) = (problems::poisson_2d(14, 13).to_csr(), 182);
        let fields = grid.entries().flat_map(|(i, j, v)| [(i, j, v), (n + i, n + j, v)]);
        let all = fields.chain((0..n).map(|i| (n + i, i, 1e-10)));
        let a = Triplets::from_entries(Shape::new(2 * n, 2 * n), all).unwrap().to_csr();
        let want: Vec<f64> = (0..2 * n).map(|i| if i < n { 3e5 } else { 1.0 + (i % 3) as f64 }).collect();
        let b = a.mul_vec(&want).unwrap();
        interpreter.set("A", StoredMatrix::new(device, a, MatrixFormat::Auto).unwrap()).unwrap();
        interpreter.set("b", Vector::from_f64(device, &b).unwrap()).unwrap();
        run(&mut interpreter, "x = A \\ b");
        let x = value(&interpreter, "x").1;
        let off = |(i, x): (usize, &f32)| (f64::from(*x) / want[i] - 1.0).abs();
        assert!(x.iter().enumerate().map(off).fold(0.0, worst) < 2e-2, "{x:?}");
        // Of rows that sum to zero, and of others.
        run(&mut interpreter, "N = sparse([1 -1 0; -1 2 -1; 0 -1 1])\nM = sparse([1 2; 2 4])");
        for (text, along) in [("x = N \\ [1; 1; 1]", "1.7e0"), ("x = M \\ [1; 0]", "8.9e-1")] {
            let error = refused(&mut interpreter, text);
            let said = error.to_string();
            assert!(said.contains(&format!("the right-hand side: a part of norm {along} is left")), "{said}");
        }
        let error = refused(&mut interpreter, "x = sparse([1e-38 0; 0 1]) \\ [10; 1]");
        assert!(error.to_string().contains("element 1 of the solution is 1"), "{error}");
    });
}

#[test]
fn digits_of_lcp_are_taken() {
    on_both(|device| {
        if device.capabilities().exact_form.is_none() {
            return;
        }
        let mut interpreter = Interpreter::new(device).with_precision(Precision::Single);
        run(&mut interpreter, "M = sparse([4 -1 0; -1 4 -1; 0 -1 4])\nq = [-1; 2; -3]");
        // Past what 32 bits hold.
        let error = refused(&mut interpreter, "z = lcp(M, q, 1e-10)");
        assert!(error.to_string().contains("in place of 1e-10"), "{error}");
        for word in ["double", "auto", "refined"] {
            run(&mut interpreter, &format!("z = lcp(M, q, 1e-10, \"{word}\")"));
            let z = value(&interpreter, "z").1;
            assert!(z.iter().zip([0.25, 0.0, 0.75]).all(|(z, w)| (z - w).abs() < 1e-6), "{word}: {z:?}");
        }
        let error = refused(&mut interpreter, "z = lcp(M, q, 1e-10, \"cg\")");
        assert!(error.to_string().contains("\"refined\""), "{error}");
    });
}
