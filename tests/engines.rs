//! Chapters of the guide that show code of packages of their own quote it: what they show is what is built and run there.

use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Lines without what they are indented by.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// The blocks of a text that are not run with it, each with the file of the examples' that was named last.
fn quotations(text: &str) -> Vec<(&str, Vec<&str>)> {
    let (mut file, mut quoted) = (None, Vec::new());
    for (k, part) in text.split("```").enumerate() {
        if k % 2 == 0 {
            file = part.split('`').rfind(|word| word.starts_with("examples/") && word.contains('.')).or(file);
        } else if let Some((_, block)) =
            part.split_once('\n').filter(|(kind, _)| matches!(*kind, "rust,ignore" | "toml" | "html"))
        {
            quoted.push((file.unwrap_or_else(|| panic!("no file is named before {block}")), lines(block)));
        }
    }
    quoted
}

/// How many blocks there are, each of which stands in its file.
fn stand(chapter: &str) -> usize {
    let guide = read(chapter);
    let quoted = quotations(&guide);
    for (file, block) in &quoted {
        let text = read(file);
        let found = lines(&text).windows(block.len()).any(|part| part == *block);
        assert!(found, "{chapter}: these lines do not stand together in {file}: {block:#?}");
    }
    quoted.len()
}

/// `make hosts` builds and runs them.
#[test]
fn what_is_quoted_stands_in_the_hosts() {
    let quoted = stand("src/guide/engines.md");
    assert!(quoted >= 15, "{quoted}");
}

/// The programs of the chapter on threads are shown from the first line to the last, and so is the one of eframe.
#[test]
fn programs_to_copy_are_shown_whole() {
    assert_eq!(stand("src/guide/threads.md"), 8);
    let mut whole = Vec::new();
    for chapter in ["src/guide/threads.md", "src/guide/engines.md"] {
        let guide = read(chapter);
        let shown = quotations(&guide).into_iter();
        whole.extend(
            shown.filter(|(file, block)| lines(&read(file)) == *block).map(|(file, _)| file.to_owned()),
        );
    }
    let programs = ["one_context", "two_contexts", "shared_worker", "separate_worker", "eframe"];
    assert_eq!(whole, programs.map(|name| format!("examples/hosts/src/bin/{name}.rs")));
}

/// `make web` builds it, and `make web-test` opens it: a page to be copied, so that it is shown from the first line to the last.
#[test]
fn the_first_page_is_shown_as_it_is() {
    assert_eq!(stand("src/guide/web.md"), 3);
    let guide = read("src/guide/web.md");
    for (file, block) in quotations(&guide) {
        assert_eq!(block.len(), lines(&read(file)).len(), "{file} has more");
    }
    // The version of wasm-bindgen's program is the crate's, by which the pages are built.
    let lock = read("examples/web/Cargo.lock");
    let (_, package) = lock.split_once("name = \"wasm-bindgen\"\nversion = \"").unwrap();
    let version = package.split('"').next().unwrap();
    assert!(guide.contains(&format!("wasm-bindgen-cli --version {version}\n")), "{version}");
    // And what documentation has of it.
    let device = read("src/device/host.rs").replace("/// ", "");
    let example = device.split("```rust,ignore\n").nth(1).unwrap().split("```").next().unwrap();
    let page = read("examples/web/hello/src/lib.rs");
    assert!(lines(&page).windows(lines(example).len()).any(|part| part == lines(example)), "{example}");
}

/// `make hosts` runs every host.
#[test]
fn every_host_is_run() {
    let makefile = read("Makefile");
    let (_, rest) = makefile.split_once("for host in ").unwrap();
    assert!(rest.contains("target/hosts/debug/$$host || exit 1;"));
    let mut run: Vec<&str> = rest.split(';').next().unwrap().split_whitespace().collect();
    run.sort_unstable();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/hosts/src/bin");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut hosts: Vec<String> =
        files.map(|f| f.to_str().unwrap().trim_end_matches(".rs").to_owned()).collect();
    hosts.sort_unstable();
    assert_eq!(run, hosts);
}
