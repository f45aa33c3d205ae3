//! The guide's chapter of engines quotes the hosts, which are packages of their own: what it shows is what is built and run there.

use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Lines without what they are indented by.
fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

#[test]
fn what_is_quoted_stands_in_the_hosts() {
    let guide = read("src/guide/engines.md");
    let mut quoted = 0;
    for section in guide.split("\n# ") {
        let heading = section.lines().next().unwrap();
        let blocks = section.split("```rust,ignore\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        for block in blocks.map(lines) {
            let file = heading.split('`').nth(1).unwrap_or_else(|| panic!("{heading} names no file"));
            let host = read(file);
            let found = lines(&host).windows(block.len()).any(|part| part == block);
            assert!(found, "{heading}: these lines do not stand together in {file}: {block:#?}");
            quoted += 1;
        }
    }
    assert!(quoted >= 9, "{quoted}");
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
