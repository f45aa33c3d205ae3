//! The package as a registry has it: its files, what README shows of them, and what it asks of whoever builds it. No GL needed.
//! `make package` builds it and runs its tests.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// What a command prints, of those that come with Rust.
fn output(program: &str, args: &[&str]) -> String {
    let ran = Command::new(program).args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(ran.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

fn cargo(args: &[&str]) -> String {
    output(env!("CARGO"), args)
}

/// What stands in the parentheses of links and pictures, but for addresses and places on the same page.
fn links(text: &str) -> BTreeSet<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://") && !target.starts_with('#')).collect()
}

#[test]
fn what_readme_shows_is_in_the_package() {
    let list = cargo(&["package", "--list", "--offline", "--allow-dirty", "-p", "texla"]);
    let files: BTreeSet<&str> = list.lines().collect();
    assert!(files.len() > 400, "{files:?}");
    let readme = read("README.md");
    let links = links(&readme);
    assert!(links.len() >= 10, "{links:?}");
    let missing: Vec<_> = links.iter().filter(|link| !files.contains(*link)).collect();
    assert!(missing.is_empty(), "README links to what is not in the package: {missing:?}");
    for needed in ["LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md", "programs/poisson.rs"] {
        assert!(files.contains(needed), "{needed}");
    }
    // And nothing that it shows lies there for no one.
    let idle: Vec<_> = files.iter().filter(|f| f.starts_with("pictures/") && !links.contains(*f)).collect();
    assert!(idle.is_empty(), "README does not show {idle:?}");
    // A registry takes ten million bytes.
    let sizes = files.iter().filter_map(|file| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        path.metadata().ok().map(|file| file.len())
    });
    let size: u64 = sizes.sum();
    assert!((1_000_000..10_000_000).contains(&size), "{size} bytes");
}

#[test]
fn the_program_of_the_package_is_that_of_readme() {
    let program = read("programs/poisson.rs");
    let (_, code) = program.split_once("\n\n").unwrap();
    assert!(read("README.md").contains(&format!("```rust\n{code}```")), "README has another program");
}

/// Every feature is explained where a user looks, and the oldest compiler.
#[test]
fn readme_names_features_and_compiler() {
    let (readme, manifest) = (read("README.md"), read("Cargo.toml"));
    let features = manifest.split("\n[features]\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = features.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name);
    let names: Vec<_> = names.filter(|name| *name != "default").collect();
    assert!(names.len() >= 5, "{names:?}");
    let table = readme.split("## Settings").nth(1).unwrap();
    let missing: Vec<_> = names.iter().filter(|name| !table.contains(&format!("| `{name}` |"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let oldest = manifest.split("\nrust-version = \"").nth(1).unwrap().split('"').next().unwrap();
    assert!(
        table.contains(&format!("Rust {oldest} or newer")),
        "README names another compiler than {oldest}"
    );
}

/// What a package asks for, with the compiler of a version.
fn version(text: &str) -> (u32, u32) {
    let mut numbers = text.split('.').map(|n| n.parse().unwrap());
    (numbers.next().unwrap(), numbers.next().unwrap_or(0))
}

/// The licences that a program under MIT or Apache-2.0 may have parts under, without a word of its own licence changing.
const LICENCES: &[&str] = &["Apache-2.0", "ISC", "MIT", "Unicode-3.0", "Zlib"];

/// One way of an `OR` is enough, all of an `AND` are needed; older packages write the first as a slash.
fn allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ");
    let parts = expression.split(" AND ").map(|part| part.trim_matches(['(', ')']));
    parts.into_iter().all(|part| part.split(" OR ").any(|licence| LICENCES.contains(&licence.trim())))
}

#[test]
fn an_expression_of_licences_is_read() {
    for good in ["MIT", "Apache-2.0/GPL-3.0", "(GPL-3.0 OR MIT) AND ISC", "MIT OR Apache-2.0"] {
        assert!(allowed(good), "{good}");
    }
    for bad in ["GPL-3.0", "", "(MIT OR Apache-2.0) AND OFL-1.1", "MIT-0"] {
        assert!(!allowed(bad), "{bad}");
    }
}

/// What users build with texla, on this platform: it is content with the compiler that texla asks for, and its licences can be kept.
#[test]
fn dependencies_ask_for_no_more_than_texla() {
    // What is on by default is little; sparse factors bring more.
    let (by_default, all) = (dependencies(&[]), dependencies(&["--all-features"]));
    assert!((10..60).contains(&by_default), "{by_default} packages by default");
    assert!((by_default + 10..by_default + 60).contains(&all), "{all} packages in all");
}

/// Checks what texla is built from with these features, without those that benchmarks ask for; returns how many packages that are.
fn dependencies(features: &[&str]) -> usize {
    let rustc = output("rustc", &["-vV"]);
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let tree =
        ["tree", "-p", "texla", "--offline", "--prefix", "none", "-e", "normal,build", "--target", host];
    let tree = cargo(&[&tree, features].concat());
    let named: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?.strip_prefix('v')?))
        })
        .collect();
    let args = ["metadata", "--offline", "--format-version", "1", "--filter-platform", host];
    let metadata: Value = serde_json::from_str(&cargo(&[&args, features].concat())).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let used = |package: &&Value| {
        named.contains(&(package["name"].as_str().unwrap(), package["version"].as_str().unwrap()))
    };
    let texla = packages.iter().find(|package| package["name"] == "texla").unwrap();
    let ours = version(texla["rust_version"].as_str().unwrap());
    let mut seen = 0;
    for package in packages.iter().filter(used) {
        let name = &package["name"];
        let asked = package["rust_version"].as_str().map(version);
        assert!(
            asked.is_none_or(|asked| asked <= ours),
            "{name} asks for Rust {asked:?}, texla for {ours:?}"
        );
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(allowed(licence), "{name} is under `{licence}`");
        seen += 1;
    }
    assert_eq!(seen, named.len(), "{named:?}");
    seen
}
