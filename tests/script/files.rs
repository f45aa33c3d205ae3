//! `load` and `save`: formats, round trips, nothing half-written, and hostile files.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::harness::{headless, on_both};
use crate::common::{data, random};
use crate::support::{refused, run, value};
use texla::script::{Data, FileAccess, Interpreter, ScriptErrorKind as Kind, ScriptLimits, parse};
use texla::{Device, Matrix, Shape};

/// An empty folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let path = crate::common::scratch::folder().join(format!("script-{name}"));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn with_files(device: &Device, folder: &Path) -> Interpreter {
    Interpreter::new(device).with_files(FileAccess::From(folder.to_owned()))
}

/// Names of the files in a folder, hidden ones included.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn what_is_saved_is_loaded_again() {
    let folder = folder("round-trip");
    on_both(|device| {
        for (seed, (rows, cols)) in (1..).zip([(1, 1), (5, 1), (1, 5), (4, 7)]) {
            let values = random::wide_range(seed, rows * cols, 30);
            let mut interpreter = with_files(device, &folder);
            interpreter
                .set("A", Matrix::from_rows(device, Shape::new(rows, cols), &values).unwrap())
                .unwrap();
            for file in ["a.mtx", "a.MTX", "a.mm", "a.txt", "a", "a.csv"] {
                run(&mut interpreter, &format!("save(A, \"{file}\")\nB = load(\"{file}\")"));
                assert_eq!(value(&interpreter, "B"), (Shape::new(rows, cols), values.clone()), "{file}");
            }
        }
        let mut interpreter = with_files(device, &folder);
        let text = "S = sparse([1 0 -2.5; 0 0 3])\nsave(S, \"s.mtx\")\nT = load(\"s.mtx\")\nsave(S, \"s.txt\")\nU = load(\"s.txt\")\n\
                    save(zeros(0, 3), \"e.mtx\")\nE = load(\"e.mtx\")\nn = 0.1\nsave(n, \"n.txt\")\nm = load(\"n.txt\")";
        run(&mut interpreter, text);
        assert!(matches!(interpreter.get("T").unwrap().data(), Data::Sparse(a) if a.pattern().nnz() == 3));
        assert!(matches!(interpreter.get("U").unwrap().data(), Data::Matrix(_)));
        for name in ["T", "U"] {
            assert_eq!(
                value(&interpreter, name),
                (Shape::new(2, 3), vec![1.0, 0.0, -2.5, 0.0, 0.0, 3.0]),
                "{name}"
            );
        }
        assert_eq!(value(&interpreter, "E").0, Shape::new(0, 3));
        assert_eq!(value(&interpreter, "m").1, [0.1]);
    });
    assert_eq!(fs::read_to_string(folder.join("s.txt")).unwrap(), "1e0 0e0 -2.5e0\n0e0 0e0 3e0\n");
    assert!(
        fs::read_to_string(folder.join("s.mtx"))
            .unwrap()
            .starts_with("%%MatrixMarket matrix coordinate real")
    );
    assert!(
        fs::read_to_string(folder.join("e.mtx")).unwrap().starts_with("%%MatrixMarket matrix array real")
    );
    assert!(names(&folder).iter().all(|name| !name.contains("part")), "{:?}", names(&folder));
}

#[test]
fn formats_of_files() {
    let folder = folder("formats");
    let files = [
        ("array.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n3\n2\n4\n"),
        ("symmetric.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n4\n"),
        ("sparse.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 5\n2 3 6\n"),
        ("column.mtx", "%%MatrixMarket matrix coordinate real general\n3 1 2\n1 1 5\n3 1 6\n"),
        ("one.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 5\n1 1 6\n"),
        ("plain.txt", "# a comment\n1 2,3\r\n\n  4\t5 6 # and one behind\n"),
        ("empty.txt", "# nothing\n\n"),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    on_both(|device| {
        let mut interpreter = with_files(device, &folder);
        for (file, shape, values) in [
            ("array.mtx", (2, 2), vec![1.0, 2.0, 3.0, 4.0]),
            ("symmetric.mtx", (2, 2), vec![1.0, 2.0, 2.0, 4.0]),
            ("sparse.mtx", (2, 3), vec![5.0, 0.0, 0.0, 0.0, 0.0, 6.0]),
            ("column.mtx", (3, 1), vec![5.0, 0.0, 6.0]),
            ("one.mtx", (1, 1), vec![11.0]),
            ("plain.txt", (2, 3), vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            ("empty.txt", (0, 0), vec![]),
        ] {
            run(&mut interpreter, &format!("x = load(\"{file}\")"));
            assert_eq!(value(&interpreter, "x"), (Shape::new(shape.0, shape.1), values), "{file}");
            let sparse = matches!(interpreter.get("x").unwrap().data(), Data::Sparse(_));
            assert_eq!(sparse, file == "sparse.mtx", "{file}");
        }
    });
}

/// What gzip has compressed, whatever its name; other formats are refused by name, also where a name promises plain text.
#[test]
#[cfg(feature = "gzip")]
fn compressed_and_foreign_files() {
    use std::io::Write;
    let gzip = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let folder = folder("compressed");
    let sparse = gzip("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 5\n2 1 6\n");
    let dense = gzip("%%MatrixMarket matrix array real general\n2 1\n5\n6\n");
    for (name, bytes) in [
        ("sparse.mtx.gz", &sparse[..]),
        ("sparse.mtx", &sparse[..]),
        ("dense.txt", &dense[..]),
        ("cut.mtx.gz", &sparse[..sparse.len() - 3]),
        ("plain.txt.gz", &gzip("1 2\n3 4\n")[..]),
        ("a.npz", b"PK\x03\x04...indices.npy"),
        ("a.npy", b"\x93NUMPY\x01\0"),
        ("list.mtx", b"1 1 4\n2 2 5.5\n"),
    ] {
        fs::write(folder.join(name), bytes).unwrap();
    }
    on_both(|device| {
        let mut interpreter = with_files(device, &folder);
        for file in ["sparse.mtx.gz", "sparse.mtx"] {
            run(&mut interpreter, &format!("x = load(\"{file}\")"));
            assert_eq!(value(&interpreter, "x"), (Shape::new(2, 2), vec![5.0, 6.0, 6.0, 0.0]), "{file}");
            assert!(matches!(interpreter.get("x").unwrap().data(), Data::Sparse(_)), "{file}");
        }
        run(&mut interpreter, "x = load(\"dense.txt\")");
        assert_eq!(value(&interpreter, "x"), (Shape::new(2, 1), vec![5.0, 6.0]));
        for (file, message) in [
            ("cut.mtx.gz", "cut.mtx.gz:1: the gzip stream is damaged: it ends too early"),
            ("plain.txt.gz", "plain.txt.gz:1: rows of numbers; convert it: "),
            ("a.npz", "a.npz:1: NumPy archive; convert it: "),
            ("a.npy", "a.npy:1: NumPy array; convert it: "),
            ("list.mtx", "list.mtx:1: list of entries `row column value`"),
        ] {
            let e = refused(&mut interpreter, &format!("x = load(\"{file}\")"));
            assert!(e.kind.to_string().contains(message), "{file}: {e}");
        }
    });
}

#[test]
fn files_that_cannot_be_read_or_written() {
    let folder = folder("refused");
    fs::create_dir(folder.join("inner.mtx")).unwrap();
    for (name, text) in [
        ("uneven.txt", "1 2\n3\n"),
        ("word.txt", "1 2\n3 four\n"),
        ("large.txt", "1e39\n"),
        ("nan.txt", "nan\n"),
        ("bytes.txt", ""),
        ("short.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n"),
        ("beyond.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n-1e39\n"),
        ("beyond_sparse.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1e40\n"),
        ("beyond_column.mtx", "%%MatrixMarket matrix coordinate real general\n2 1 1\n2 1 1e40\n"),
        ("wide.mtx", "%%MatrixMarket matrix coordinate real general\n2000000000 2 1\n1 1 1\n"),
        ("huge.mtx", "%%MatrixMarket matrix array real general\n2000000000 2000000000\n1\n"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(folder.join("bytes.txt"), b"1 2\n\xff\xfe\n").unwrap();
    on_both(|device| {
        let mut interpreter = with_files(device, &folder);
        for (text, column, message) in [
            ("x = load(\"none.mtx\")", 10, "none.mtx"),
            ("x = load(\"none.txt\")", 10, "none.txt: "),
            ("x = load(\"inner.mtx\")", 10, "inner.mtx: it is a folder"),
            ("x = load(\".\")", 10, "it is a folder"),
            ("x = load(\"\")", 10, "found `\"\"`, expected the name of a file"),
            ("save(1, \"\")", 9, "found `\"\"`, expected the name of a file"),
            (
                "x = load(\"uneven.txt\")",
                10,
                "uneven.txt: line 2: 1 numbers, expected 2 as in the rows before",
            ),
            ("x = load(\"word.txt\")", 10, "word.txt: line 2: `four`, expected a finite 32-bit float"),
            ("x = load(\"large.txt\")", 10, "line 1: `1e39`"),
            ("x = load(\"nan.txt\")", 10, "line 1: `nan`"),
            ("x = load(\"bytes.txt\")", 10, "line 2: no UTF-8 text"),
            ("x = load(\"short.mtx\")", 10, "short.mtx:3: the file ends after 1 entries, expected 4"),
            ("x = load(\"beyond.mtx\")", 10, "beyond.mtx: `-1e39`, expected a finite 32-bit float"),
            ("x = load(\"beyond_sparse.mtx\")", 10, "value 1e40 at index 1 is not a finite 32-bit float"),
            ("x = load(\"beyond_column.mtx\")", 10, "not a finite 32-bit float"),
            ("x = load(\"wide.mtx\")", 10, "all but empty"),
            ("x = load(\"huge.mtx\")", 10, "huge.mtx:"),
            ("save([1 2], \"inner.mtx\")", 13, "inner.mtx: it is a folder"),
            ("save([1 2], \"none/x.mtx\")", 13, "none/x.mtx: "),
            ("save([1 2], \"..\")", 13, "it is a folder"),
            ("save(zeros(0, 3), \"e.txt\")", 19, "zeros(0, 3) is 0x3: plain text cannot hold it"),
            ("save([1 2] ./ [0 1], \"i.mtx\")", 22, "contains inf, which a file cannot hold"),
        ] {
            let before = names(&folder);
            let e = refused(&mut interpreter, text);
            assert_eq!((e.line, e.column), (1, column), "{text}: {e}");
            assert!(e.kind.to_string().contains(message), "{text}: {e}");
            assert_eq!(names(&folder), before, "{text}");
        }
    });
}

/// A save that fails leaves the file as it was; what was saved before an error stays whole.
#[test]
fn nothing_is_half_written() {
    let folder = folder("atomic");
    fs::write(folder.join("old.mtx"), "what was there").unwrap();
    on_both(|device| {
        let mut interpreter = with_files(device, &folder);
        refused(&mut interpreter, "save([1 2; 3 4], \"new.mtx\")\nsave([1] ./ [0 1], \"old.mtx\")");
        assert_eq!(names(&folder), ["new.mtx", "old.mtx"]);
        assert_eq!(fs::read_to_string(folder.join("old.mtx")).unwrap(), "what was there");
        run(&mut interpreter, "A = load(\"new.mtx\")");
        assert_eq!(value(&interpreter, "A").1, [1.0, 2.0, 3.0, 4.0]);
        // And one that succeeds replaces the whole file.
        run(&mut interpreter, "save(ones(9), \"new.mtx\")\nsave(7, \"new.mtx\")");
        let text = fs::read_to_string(folder.join("new.mtx")).unwrap();
        assert_eq!(text, "%%MatrixMarket matrix array real general\n1 1\n7e0\n");
    });
}

/// Paths begin at the folder that the application names; absolute ones are taken as they are.
#[test]
fn where_paths_begin() {
    let (one, other) = (folder("one"), folder("other"));
    on_both(|device| {
        let mut interpreter = with_files(device, &one);
        run(&mut interpreter, &format!("save(1, \"x.txt\")\nsave(2, \"{}\")", other.join("y.txt").display()));
        assert_eq!((names(&one), names(&other)), (vec!["x.txt".into()], vec!["y.txt".into()]));
    });
}

/// Every file of the data folder that is meant to do harm: loaded or refused, within the room.
#[test]
fn hostile_files() {
    let Some(root) = data::data_root() else { return data::not_run(100, "hostile files for scripts") };
    let context = headless(texla::gl::Api::Gl33);
    let (mut loaded, mut turned_down) = (0, 0);
    for dir in ["bad", "format"] {
        for path in data::files(&root, dir) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            for as_market in [true, false] {
                // As plain text, under a name that says so.
                let copy = folder("hostile").join(if as_market { "file.mtx" } else { "file.txt" });
                fs::copy(&path, &copy).unwrap();
                let limits = ScriptLimits::default().with_bytes(1 << 24);
                let mut interpreter =
                    with_files(context.device(), copy.parent().unwrap()).with_limits(limits);
                let text =
                    format!("A = load(\"{}\")\nn = rows(A)", copy.file_name().unwrap().to_string_lossy());
                match interpreter.run(&parse(&text, "").unwrap(), &mut std::io::sink()) {
                    Ok(()) => loaded += 1,
                    Err(e) => {
                        assert_eq!(e.line, 1, "{name}: {e}");
                        assert!(
                            matches!(e.kind, Kind::Library(_) | Kind::File { .. } | Kind::Limit { .. }),
                            "{name}: {e}"
                        );
                        turned_down += 1;
                    }
                }
            }
        }
    }
    assert!(loaded > 20 && turned_down > 100, "{loaded} loaded, {turned_down} refused");
}

/// What is no regular file is not replaced by one, and a link stays a link.
#[cfg(unix)]
#[test]
fn devices_pipes_and_links() {
    let folder = folder("special");
    let socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
    fs::write(folder.join("target.txt"), "9\n").unwrap();
    std::os::unix::fs::symlink("target.txt", folder.join("link.txt")).unwrap();
    on_both(|device| {
        let mut interpreter = with_files(device, &folder);
        for (name, what) in [("socket", "no regular file"), (".", "a folder"), ("", "")] {
            let e = refused(&mut interpreter, &format!("save([1 2], \"{name}\")"));
            assert!(e.to_string().contains(what), "{e}");
        }
        run(&mut interpreter, "save([1 2], \"link.txt\")");
        assert!(fs::symlink_metadata(folder.join("link.txt")).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(folder.join("target.txt")).unwrap(), "1e0 2e0\n");
        assert_eq!(names(&folder), ["link.txt", "socket", "target.txt"]);
        // Nothing has no solution but nothing.
        run(&mut interpreter, "z = lcp([], [])");
    });
    drop(socket);
}
