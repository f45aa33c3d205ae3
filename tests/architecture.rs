//! The shape of the project, checked from its source text: no GL needed.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Which module may use which: only those in layers above its own. `lib.rs` and `guide` may name everything.
const EDGES: &[(&str, &[&str])] = &[
    ("platform", &[]),
    ("error", &["shape", "host"]),
    ("shape", &["error"]),
    ("host", &["platform", "error", "shape"]),
    ("pack", &["platform", "error", "shape", "host"]),
    ("record", &["error"]),
    ("gl", &["platform", "error", "shape", "record"]),
    ("profile", &["error", "shape", "record"]),
    ("device", &["error", "shape", "gl", "kernel", "profile"]),
    ("kernel", &["error", "shape", "gl", "device"]),
    ("data", &["error", "shape", "host", "gl", "device", "kernel", "profile"]),
    ("ops", &["platform", "error", "shape", "host", "gl", "device", "kernel", "data", "profile"]),
    (
        "solve",
        &["platform", "error", "shape", "host", "gl", "device", "kernel", "data", "profile", "ops", "pack"],
    ),
    ("script", &["platform", "error", "shape", "host", "device", "kernel", "data", "ops", "solve"]),
    ("sim", &["error", "shape", "host", "gl", "device", "kernel", "data", "ops", "solve"]),
    ("egl", &["error", "gl", "device"]),
    ("headless", &["error", "gl", "device", "egl"]),
    ("window", &["error", "gl", "device", "egl"]),
    // Of what is private, on a device.
    ("tests", &["error", "shape", "gl", "device", "kernel", "data", "ops", "solve", "headless"]),
];

/// Where types of glow stand in signatures outside `gl`: what a host hands over or is handed.
const GLOW_TYPES: &[(&str, &str)] = &[
    ("device/mod.rs", "Context"),
    ("device/host.rs", "Context"),
    ("device/host.rs", "Fence"),
    ("headless/mod.rs", "Context"),
    ("window/mod.rs", "Context"),
    ("data/vector.rs", "Texture"),
    ("data/scalar.rs", "Texture"),
    ("data/packed.rs", "Texture"),
    ("data/matrix.rs", "Texture"),
    ("data/plane.rs", "Texture"),
    ("data/picture.rs", "Texture"),
    ("solve/packed/block_vector.rs", "Texture"),
    ("data/buffer_vector.rs", "Buffer"),
];

/// The unsafe functions of the public API outside `gl` and `egl`: each asks the caller for a promise.
const UNSAFE_FUNCTIONS: &[(&str, &str)] = &[
    ("device/host.rs", "from_glow"),
    ("device/host.rs", "from_glow_with"),
    ("device/host.rs", "from_loader"),
    ("data/vector.rs", "from_texture"),
    ("data/picture.rs", "from_texture"),
];

/// The only places in Rust that write the words of a dialect.
const SHADER_WORDS: &[(&str, &[&str])] = &[
    ("#version", &["gl/api.rs"]),
    // `names.rs` lists them as words that no body may define, or that it may read.
    ("texelFetch", &["kernel/accessors.rs", "kernel/names.rs"]),
    ("textureLod", &["kernel/accessors.rs", "kernel/names.rs"]),
    ("gl_FragCoord", &["kernel/accessors.rs", "kernel/names.rs"]),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file below a folder: its path inside the folder and its text.
fn files(folder: &str, extensions: &[&str]) -> Vec<(String, String)> {
    fn walk(at: &Path, base: &Path, extensions: &[&str], found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                // What cargo has built, where a package stands by itself.
                if path.ends_with("target") {
                    continue;
                }
                walk(&path, base, extensions, found);
            } else if path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
                let name = path.strip_prefix(base).unwrap().to_string_lossy().replace('\\', "/");
                found.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let base = root().join(folder);
    let mut found = Vec::new();
    walk(&base, &base, extensions, &mut found);
    found.sort();
    assert!(!found.is_empty());
    found
}

fn sources() -> Vec<(String, String)> {
    files("src", &["rs"])
}

fn shaders() -> Vec<(String, String)> {
    files("glsl", &["frag", "vert", "glsl"])
}

/// The text without comments: lines keep their numbers.
fn code(text: &str) -> String {
    let strip = |line: &str| {
        let at = line.match_indices("//").map(|(i, _)| i);
        // Not inside a string: an even number of quotes stands before it.
        let at = at.into_iter().find(|i| line[..*i].matches('"').count().is_multiple_of(2));
        line[..at.unwrap_or(line.len())].to_owned()
    };
    text.lines().map(strip).collect::<Vec<_>>().join("\n")
}

/// The words that follow `prefix`, each cut off after its last letter.
fn words_after<'a>(text: &'a str, prefix: &'a str) -> impl Iterator<Item = &'a str> {
    text.match_indices(prefix).filter_map(move |(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at + prefix.len()..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let whole = before.is_none_or(|c| !c.is_alphanumeric() && c != '_');
        (whole && end > 0).then(|| &rest[..end])
    })
}

/// First names in a `crate::{a::b, c}` group.
fn groups(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, prefix) in text.match_indices("crate::{") {
        let (mut depth, mut name, mut first) = (0, String::new(), true);
        for c in text[at + prefix.len()..].chars() {
            match c {
                '}' if depth == 0 => break,
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    names.push(std::mem::take(&mut name));
                    first = true;
                }
                ':' => first = false,
                c if depth == 0 && first && (c.is_alphanumeric() || c == '_') => name.push(c),
                _ => {}
            }
        }
        names.push(name);
    }
    names.retain(|n| !n.is_empty());
    names
}

fn module(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap()
}

/// What `lib.rs` re-exports: `Device` stands for `device`.
fn exports() -> HashMap<String, String> {
    let text = code(&std::fs::read_to_string(root().join("src/lib.rs")).unwrap());
    let mut exports = HashMap::new();
    for item in text.split(';').filter_map(|item| item.split_once("pub use ").map(|(_, rest)| rest)) {
        // A crate by itself has no names.
        let Some((from, names)) = item.split_once("::") else { continue };
        for name in names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|n| !n.is_empty()) {
            exports.insert(name.to_owned(), from.to_owned());
        }
    }
    exports
}

#[test]
fn modules_use_only_the_layers_above_them() {
    let exports = exports();
    let modules: Vec<&str> = EDGES.iter().map(|(m, _)| *m).collect();
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        let from = module(&file);
        if ["lib", "guide"].contains(&from) {
            continue;
        }
        let Some((_, allowed)) = EDGES.iter().find(|(m, _)| *m == from) else {
            wrong.push(format!("{file}: the module `{from}` is in no layer"));
            continue;
        };
        let text = code(&text);
        let used = words_after(&text, "crate::").map(str::to_owned).chain(groups(&text));
        for name in used {
            let to = exports.get(&name).cloned().unwrap_or(name);
            if !modules.contains(&to.as_str()) || to == from || allowed.contains(&to.as_str()) {
                continue;
            }
            wrong.push(format!("{file} uses `{to}`"));
        }
        // The other way up: as many `super` as would reach the root.
        let depth = file.trim_end_matches("/mod.rs").matches('/').count() + 1;
        if text.contains(&"super::".repeat(depth.max(2))) {
            wrong.push(format!("{file} climbs to the root by `super`"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A scope that asks the platform no more until it drops: only around code that calls nobody else's.
#[test]
fn exclusive_scopes_stand_where_no_code_of_users_is_called() {
    let mut found = 0;
    for (file, text) in files("src", &["rs"]) {
        let code = code(&text);
        let scopes = code.matches(".exclusive_scope(").count();
        found += scopes;
        // The front of products calls operators that may be anybody's.
        let calls = ["a.apply(", "a.accurate(", "dyn FnMut", "dyn Preconditioner", "dyn Smoother"];
        assert!(scopes == 0 || file.starts_with("ops/"), "{file}");
        assert!(scopes == 0 || !calls.iter().any(|call| code.contains(call)), "{file}");
    }
    assert!(found >= 30, "{found}");
}

#[test]
fn unsafe_code_stands_in_gl_and_egl() {
    let mut found = Vec::new();
    for (file, text) in sources() {
        if ["gl", "egl"].contains(&module(&file)) {
            continue;
        }
        let text = code(&text);
        for (at, _) in text.match_indices("allow(unsafe_code)") {
            let name = words_after(&text[at..], "pub unsafe fn ").next();
            found.push((file.clone(), name.unwrap_or("nothing").to_owned()));
        }
        let functions = UNSAFE_FUNCTIONS.iter().filter(|(f, _)| *f == file).count();
        assert_eq!(text.matches("unsafe fn").count(), functions, "{file}");
        if functions == 0 {
            assert_eq!(words_after(&text, "unsafe").count() + text.matches("unsafe {").count(), 0, "{file}");
        }
    }
    found.sort();
    let mut expected: Vec<_> =
        UNSAFE_FUNCTIONS.iter().map(|(f, n)| ((*f).to_owned(), (*n).to_owned())).collect();
    expected.sort();
    assert_eq!(found, expected);
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert!(manifest.contains("unsafe_code = \"deny\""));
}

#[test]
fn every_unsafe_block_says_why() {
    for (file, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        for (i, line) in lines.iter().enumerate() {
            let code = code(line);
            // The rows of the state table are one block each, under the promise of the whole table.
            if !code.contains("unsafe {") || code.contains('|') || file.starts_with("gl/state/table") {
                continue;
            }
            let before = &lines[i.saturating_sub(6)..i];
            assert!(before.iter().any(|l| l.contains("SAFETY")), "{file}:{}: {line}", i + 1);
        }
    }
}

#[test]
fn glow_is_named_outside_gl_in_signatures_alone() {
    for (file, text) in sources().into_iter().filter(|(f, _)| module(f) != "gl") {
        for name in words_after(&code(&text), "glow::") {
            assert!(GLOW_TYPES.contains(&(file.as_str(), name)), "{file} names glow::{name}");
        }
        assert!(!code(&text).contains("HasContext"), "{file} calls GL");
    }
}

#[test]
fn shader_text_stands_in_files() {
    for (file, text) in sources() {
        let text = code(&text);
        for (word, places) in SHADER_WORDS {
            assert!(!text.contains(word) || places.contains(&file.as_str()), "{file} contains {word}");
        }
    }
    for (file, text) in shaders() {
        assert!(text.starts_with("// "), "{file} begins without a comment saying what it computes");
        let text = code(&text);
        assert!(!text.contains("#version"), "{file} chooses a dialect");
        if !file.starts_with("probe/") {
            for word in ["texelFetch", "textureLod", "gl_FragCoord", "uniform "] {
                assert!(
                    !text.contains(word),
                    "{file} contains {word}: accessors and parameters are generated"
                );
            }
        }
    }
}

#[test]
fn every_shader_file_is_used() {
    let all: String = sources().into_iter().map(|(_, text)| code(&text)).collect();
    for (file, _) in shaders() {
        assert!(all.contains(&format!("glsl!(\"{file}\")")), "{file} is used nowhere");
    }
}

#[test]
fn no_file_is_too_long() {
    for (file, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= 500, "{file} has {lines} lines");
        assert!(text.starts_with("//!"), "{file} begins without saying what it is for");
    }
}

#[test]
fn nothing_below_the_host_layer_panics_in_plain_sight() {
    // clippy denies the rest; these two macros it does not know about.
    for (file, text) in sources() {
        let text = code(&text);
        let library = text.split("#[cfg(test)]").next().unwrap();
        for word in ["todo!(", "unimplemented!("] {
            assert!(!library.contains(word), "{file} contains {word}");
        }
    }
}

/// Cargo looks for no example and no benchmark here: each is listed in one of three packages. That of the demo stays
/// quick to build.
#[test]
fn every_example_and_benchmark_is_listed_once() {
    let manifest = |folder: &str| std::fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
    let [library, examples, benches] = ["", "examples", "benches"].map(manifest);
    let listed = |text: &str, kind: &str| -> Vec<String> {
        let targets = text.split(kind).skip(1).map(|target| target.split('"').nth(1).unwrap().to_owned());
        targets.collect()
    };
    let here = |folder: &str| -> Vec<String> {
        let paths = files(folder, &["rs"]).into_iter().map(|(path, _)| path);
        let mains = paths.filter_map(|path| match path.split_once('/') {
            None => path.strip_suffix(".rs").map(str::to_owned),
            Some((name, file)) => (file == "main.rs").then(|| name.to_owned()),
        });
        mains.collect()
    };
    let mut found = [&library, &examples, &benches].map(|text| listed(text, "[[example]]")).concat();
    found.sort();
    // And the one that goes with the package.
    let mut expected = [here("examples"), here("programs")].concat();
    expected.sort();
    assert_eq!(found, expected);
    let mut found = listed(&benches, "[[bench]]");
    found.sort();
    assert_eq!(found, here("benches"));
    assert!(examples.contains("\"solve\""));
    for name in ["faer", "image", "proptest", "sprs", "winit"] {
        assert!(!examples.contains(&format!("\n{name} ")), "{name} takes long to build");
    }
}

/// Only the layer of GL knows that a context is lost: whatever else said so would say it of something else.
#[test]
fn a_lost_context_is_told_by_gl_alone() {
    let mut built = 0;
    for (file, text) in sources() {
        let found = words_after(&code(&text), "Error::").filter(|word| *word == "ContextLost").count();
        assert!(found == 0 || module(&file) == "gl", "{file} names Error::ContextLost");
        built += found;
    }
    assert!(built > 0);
}

/// What its source does not print is called a reconstruction where it is made.
#[test]
fn reconstructions_are_called_so() {
    for (file, before) in [
        ("src/pack/instances.rs", "pub fn gauss_seidel_64()"),
        ("examples/regula_falsi/main.rs", "use std::path::"),
    ] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        let (above, _) = text.split_once(before).unwrap_or_else(|| panic!("{file} has no {before}"));
        let comment = above.rsplit("\n\n").find(|part| part.contains("//")).unwrap();
        assert!(comment.to_lowercase().contains("a reconstruction"), "{file}: {comment}");
    }
}

/// Pictures: where a line ends, not what a check judges.
const DRAWING: [&str; 4] = ["histogram/chart.rs", "support/bars.rs", "support/paint.rs", "support/plot.rs"];

/// Where `max` meets no NaN that a check would have to see: integers, and what the host computes from finite numbers.
const MEETS_NO_NAN: &[(&str, &str)] = &[
    ("histogram/main.rs", "(1.0 - nu).max(1e-3)"),
    ("regula_falsi/main.rs", "most.max(c[3])"),
    ("support/golden.rs", "b.abs().max(1.0)"),
    ("common/bounds.rs", "bound.max(exact.abs())"),
    ("common/systems.rs", "a.shape().rows.max(a.shape().cols)"),
    ("lcp/verdicts.rs", "(-b).max(0.0)"),
    ("products.rs", "shape.rows.max(shape.cols)"),
    ("vertex.rs", ".max(1)"),
];

/// The arguments of a call, whose opening parenthesis stands at `open`.
fn arguments(text: &str, open: usize) -> &str {
    let mut depth = 0;
    let closes = |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        depth == 0
    };
    let end = text[open..].find(closes).unwrap_or(text.len() - open);
    &text[open..open + end]
}

/// Whether a text calls `max` with an argument or hands it over: that of an iterator has none.
fn takes_the_larger(text: &str) -> bool {
    let called = text.match_indices(".max(").any(|(at, call)| !text[at + call.len()..].starts_with(')'));
    called || text.contains("f64::max") || text.contains("f32::max")
}

/// `f64::max` passes over NaN, so what is folded or judged by it calls a broken result a good one: `worst` keeps it.
#[test]
fn nothing_that_is_checked_loses_a_nan() {
    let (mut wrong, mut allowed) = (Vec::new(), vec![0; MEETS_NO_NAN.len()]);
    for folder in ["examples", "tests"] {
        for (file, text) in files(folder, &["rs"]).into_iter().filter(|(f, _)| !DRAWING.contains(&f.as_str()))
        {
            // This file writes of it.
            if file == "architecture.rs" {
                continue;
            }
            let text = code(&text);
            let text = text.as_str();
            let folds = [".fold(", ".reduce("].into_iter().flat_map(|call| {
                text.match_indices(call).map(move |(at, _)| arguments(text, at + call.len() - 1))
            });
            let judged = text.lines().filter(|line| line.contains("assert") || line.contains("<="));
            for place in folds.chain(judged).filter(|place| takes_the_larger(place)) {
                let known = |(f, part): &(&str, &str)| *f == file && place.contains(part);
                match MEETS_NO_NAN.iter().position(known) {
                    Some(known) => allowed[known] += 1,
                    None => wrong.push(format!("{folder}/{file}: {}", place.trim())),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let idle: Vec<_> = MEETS_NO_NAN.iter().zip(&allowed).filter(|(_, n)| **n == 0).collect();
    assert!(idle.is_empty(), "allowed, and not there: {idle:?}");
}

/// Types of the public API with nothing hidden, and no `#[non_exhaustive]`: complete as they are, so users write them and
/// match them in full. Sizes, places and terms; what implements a trait has to answer in full; two dialects, two stages.
const COMPLETE: &[&str] = &[
    "Accum",
    "Accurate",
    "Api",
    "Bodies",
    "Boundaries",
    "Certificate",
    "Coefficient",
    "Combine",
    "Direction",
    "Drop",
    "Extent",
    "Field",
    "Form",
    "Grid",
    "Instruction",
    "JacobiLayout",
    "JacobiProblem",
    "JacobiStep",
    "MatmulForm",
    "LcpProblem",
    "Operation",
    "Orders",
    "OutOfRange",
    "Place",
    "Predicate",
    "Product",
    "Register",
    "Shape",
    "Sides",
    "Source",
    "ShaderStage",
    "Window",
];

/// Whatever may grow says so: parameters and options, reports, and enums that are not complete.
#[test]
fn what_may_grow_says_so() {
    let mut complete = Vec::new();
    for (file, text) in sources() {
        let text = code(&text);
        for item in text.split("\npub ").skip(1).zip(text.split("\npub ")) {
            let (here, before) = item;
            let Some(rest) = ["struct ", "enum "].iter().find_map(|kind| here.strip_prefix(kind)) else {
                continue;
            };
            let name = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap();
            let attributes = before.rsplit("\n\n").next().unwrap();
            let body =
                rest.split_once('{').map_or("", |(head, body)| if head.contains(';') { "" } else { body });
            let body = body.split("\n}").next().unwrap();
            let fields =
                body.lines().filter(|l| l.starts_with("    ") && !l.starts_with("     ") && l.contains(": "));
            let open = here.starts_with("enum")
                || (body.contains("    pub ") && fields.clone().all(|l| l.starts_with("    pub ")));
            if open && !attributes.contains("#[non_exhaustive]") {
                complete.push(format!("{name} in {file}"));
            }
        }
    }
    let unlisted: Vec<_> =
        complete.iter().filter(|c| !COMPLETE.contains(&c.split(' ').next().unwrap())).collect();
    assert!(unlisted.is_empty(), "{unlisted:#?}");
    let gone: Vec<_> =
        COMPLETE.iter().filter(|n| !complete.iter().any(|c| c.split(' ').next() == Some(**n))).collect();
    assert!(gone.is_empty(), "{gone:?}");
}

/// Names that two modules give to types of their own: those of waves and of fluids, what a file's banner calls so, what
/// an error of a script is about, and the registers of packed programs and of Krylov methods.
const GIVEN_TWICE: &[&str] = &["Boundaries", "Boundary", "Field", "Format", "Operand", "Register"];

/// A name of the public API stands for one type, so that a program can import any two of them.
#[test]
fn a_name_is_given_once() {
    let modules = ["data", "gl", "host", "host/market", "kernel", "ops", "pack", "profile", "script"];
    let mut names = Vec::new();
    for module in modules.into_iter().chain(["sim/fluid", "sim/wave", "solve"]) {
        let file = format!("src/{module}/mod.rs");
        let text = code(&std::fs::read_to_string(root().join(&file)).unwrap());
        let here = ["struct", "enum", "trait"].map(|kind| format!("pub {kind} "));
        names.extend(here.iter().flat_map(|kind| words_after(&text, kind)).map(str::to_owned));
        // What is another module's stands there.
        let own = text.replace("pub use crate::", "use crate::");
        let items = own.split(';').filter_map(|item| item.split_once("pub use ").map(|(_, rest)| rest));
        for item in items {
            let (_, list) = item.split_once("::").unwrap();
            let list = list.split(|c: char| !c.is_alphanumeric() && c != '_');
            names.extend(list.filter(|n| n.starts_with(char::is_uppercase)).map(str::to_owned));
        }
    }
    assert!(names.len() > 150, "{}", names.len());
    names.sort();
    let mut twice: Vec<&str> = names.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0].as_str()).collect();
    twice.dedup();
    assert_eq!(twice, GIVEN_TWICE);
}

/// The list whose steps are everything, and the sweeps that run it: state (with the refusals), faults, resources, shaders,
/// determinism.
const LIST: &str = "tests/common/everything.rs";
const SWEEPS: [&str; 5] = [
    "tests/common/refusals.rs",
    "tests/faults.rs",
    "tests/resources.rs",
    "tests/shaders.rs",
    "tests/determinism.rs",
];

/// What is swept elsewhere: `calibrate` takes seconds and decides about later products, and so long takes a whole profile.
const SWEPT_ELSEWHERE: &[(&str, &str)] = &[
    ("calibrate", "tests/calibrate.rs"),
    ("Calibration::apply", "tests/calibrate.rs"),
    ("Calibration::load", "tests/calibrate.rs"),
    ("Calibration::save", "tests/calibrate.rs"),
    ("DeviceProfile::measure", "tests/profile.rs"),
];

/// Methods that can fail and ask nothing of the device.
const ON_THE_HOST: &[&str] = &["Matrix::texture", "Window::new"];

/// What a type of `solve` or `kernel` that works on the device is asked to do.
const VERBS: &[&str] =
    &["advance", "apply", "iterate", "mask", "run", "smooth", "solve", "step", "sweep", "with"];

/// The names that a module exports: `pub use a::{b, c};`, and its own public functions and types.
fn exported(file: &str) -> Vec<String> {
    let text = code(&std::fs::read_to_string(root().join(file)).unwrap());
    let items = text.split(';').filter_map(|item| item.split_once("pub use ").map(|(_, rest)| rest));
    let names = items.flat_map(|item| {
        let names = item.split_once("::{").or_else(|| item.rsplit_once("::")).unwrap().1;
        names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|n| !n.is_empty())
    });
    let own = text.match_indices("\npub ").filter_map(|(at, found)| {
        let mut words = text[at + found.len()..].split(|c: char| !c.is_alphanumeric() && c != '_');
        ["fn", "struct", "enum"].contains(&words.next()?).then(|| words.next()).flatten()
    });
    names.chain(own).map(str::to_owned).collect()
}

/// All `impl` blocks below a folder: the type, whether it is a trait's, and its functions, each from its name on.
fn blocks(folder: &str) -> Vec<(String, bool, Vec<String>)> {
    let mut found = Vec::new();
    for (_, text) in files(folder, &["rs"]) {
        for block in code(&text).split("\nimpl").skip(1) {
            let (header, body) = block.split_once('{').unwrap();
            let body = body.split("\n}").next().unwrap();
            let of = header.rsplit(" for ").next().unwrap().trim();
            // Behind the parameters of the block itself.
            let of = of.strip_prefix('<').map_or(of, |_| of.split_once("> ").map_or(of, |(_, name)| name));
            let of = of.split(['<', ' ']).next().unwrap().to_owned();
            let functions = body.split("fn ").skip(1).zip(body.split("fn ")).map(|(function, before)| {
                let public = before.ends_with("    pub ") || before.ends_with("    pub unsafe ");
                format!("{}{function}", if public { "pub " } else { "" })
            });
            found.push((of, header.contains(" for "), functions.collect()));
        }
    }
    found
}

/// The aliases of types below a folder: `pub type Name<A> = Of<Params, A>;`.
fn aliases(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (_, text) in files(folder, &["rs"]) {
        let text = code(&text);
        for item in text.split("\npub type ").skip(1).filter_map(|rest| rest.split(';').next()) {
            // Defaults of parameters have an equals sign as well.
            let (name, of) = item.rsplit_once(" = ").unwrap();
            let word = |text: &str| text.split(['<', ' ']).next().unwrap().to_owned();
            found.push((word(name), word(of)));
        }
    }
    found
}

/// The types that have a method of one of [`VERBS`], which takes `self`; one that has aliases is used by these.
fn working(folder: &str) -> Vec<String> {
    let works = |function: &String| {
        let function = function.trim_start_matches("pub ");
        let named =
            |verb: &&str| function.strip_prefix(*verb).is_some_and(|rest| rest.starts_with(['(', '<']));
        VERBS.iter().any(named) && function.split("->").next().is_some_and(|head| head.contains("self"))
    };
    let found = blocks(folder).into_iter().filter(|block| block.2.iter().any(works)).map(|block| block.0);
    let aliases = aliases(folder);
    let of = |name: String| {
        let own = aliases.iter().filter(|(_, of)| *of == name).map(|(alias, _)| alias.clone());
        let own: Vec<String> = own.collect();
        if own.is_empty() { vec![name] } else { own }
    };
    found.flat_map(of).collect()
}

/// `Type::method` for the public methods of these types, in these folders, that can fail.
fn fallible(types: &[String], folders: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (of, of_trait, functions) in folders.iter().flat_map(|folder| blocks(folder)) {
        for function in functions.iter().filter_map(|f| f.strip_prefix("pub ")) {
            let head = function.split('{').next().unwrap();
            if !of_trait && types.contains(&of) && head.contains("Result<") {
                let name = head.split(['(', '<']).next().unwrap();
                found.push(format!("{of}::{name}"));
            }
        }
    }
    found
}

/// The functions of the one list: the names of each one's steps, and its code without what stands in strings.
fn listed() -> Vec<(Vec<String>, String)> {
    let folder = LIST.trim_end_matches(".rs");
    let mut texts = vec![std::fs::read_to_string(root().join(LIST)).unwrap()];
    texts.extend(files(folder, &["rs"]).into_iter().map(|(_, text)| text));
    let mut found = Vec::new();
    for text in texts {
        let text = code(&text).replace("\\\"", "");
        let all: Vec<&str> = text.split("\nfn ").flat_map(|part| part.split("\npub fn ")).collect();
        for function in all {
            let (mut names, mut bare) = (Vec::new(), String::new());
            // Between quotes every second part is a string.
            for (i, part) in function.split('"').enumerate() {
                match i % 2 {
                    0 => bare.push_str(part),
                    _ if ["step(", "to("].iter().any(|call| bare.trim_end().ends_with(call)) => {
                        names.push(part.to_owned());
                    }
                    _ => {}
                }
            }
            found.push((names, bare));
        }
    }
    found
}

/// What is exported and works on the device stands in the one list as a step that calls it, and the list in every sweep.
#[test]
fn everything_is_swept() {
    let read = |file: &str| code(&std::fs::read_to_string(root().join(file)).unwrap());
    let list = listed();
    let step = |name: &str, calls: &dyn Fn(&str) -> bool| {
        list.iter()
            .any(|(names, code)| names.iter().any(|n| n.split(',').next() == Some(name)) && calls(code))
    };
    let names = |code: &str, name: &str| words_after(code, "").any(|word| word == name);
    let mut wrong = Vec::new();
    let elsewhere = |name: &str| {
        let word = name.rsplit("::").next().unwrap();
        SWEPT_ELSEWHERE.iter().any(|(n, file)| *n == name && names(&read(file), word))
    };

    let of_ops = exported("src/ops/mod.rs");
    let functions: Vec<&String> = of_ops.iter().filter(|n| n.starts_with(char::is_lowercase)).collect();
    assert!(functions.len() >= 57, "{functions:?}");
    for name in functions {
        let called = |code: &str| words_after(code, "ops::").any(|word| word == name);
        if !step(name, &called) && !elsewhere(name) {
            wrong.push(format!("ops::{name}"));
        }
    }
    for (module, least) in [("solve", 18), ("kernel", 6)] {
        let (exported, working) =
            (exported(&format!("src/{module}/mod.rs")), working(&format!("src/{module}")));
        let lower = |name: &&String| name.starts_with(char::is_lowercase);
        let types: Vec<&String> = exported.iter().filter(|name| working.contains(name)).collect();
        assert!(types.len() >= least, "{module}: {types:?}");
        let all = types.into_iter().chain(exported.iter().filter(lower));
        wrong.extend(all.filter(|name| !step(name, &|code| names(code, name))).cloned());
    }
    for (modules, least) in [
        (&["data"][..], 85),
        (&["kernel"], 20),
        (&["ops"], 5),
        (&["profile"], 2),
        (&["sim", "sim/fluid", "sim/wave"], 25),
    ] {
        let types: Vec<String> =
            modules.iter().flat_map(|module| exported(&format!("src/{module}/mod.rs"))).collect();
        // Data has methods that are operations, and stand there.
        let methods = fallible(&types, &[&format!("src/{}", modules[0]), "src/ops"]);
        let methods: BTreeSet<&String> = methods.iter().collect();
        assert!(methods.len() >= least, "{modules:?}: {} methods: {methods:?}", methods.len());
        for name in methods {
            let (of, method) = name.split_once("::").unwrap();
            let called = |code: &str| {
                code.contains(&format!(".{method}("))
                    || (names(code, of) && code.contains(&format!("::{method}(")))
            };
            let idle = ON_THE_HOST.contains(&name.as_str());
            if !idle && !step(name, &called) && !elsewhere(name) {
                wrong.push(name.clone());
            }
        }
    }
    assert!(wrong.is_empty(), "not among the steps of {LIST}: {wrong:?}");
    for sweep in SWEEPS {
        assert!(names(&read(sweep), "every") && read(sweep).contains("every("), "{sweep}");
    }
}
