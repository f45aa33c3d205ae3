//! What matrices are called in tables, and what files of theirs are.

use std::collections::HashSet;
use std::path::{Component, Path};

/// The names of files without their ends, and where two are the same as many of their folders as tell them apart.
pub fn of_paths(paths: &[&Path]) -> Vec<String> {
    let parts: Vec<Vec<String>> = paths.iter().map(|path| parts(path)).collect();
    let tail = |parts: &[String], most: usize| parts[parts.len().saturating_sub(most)..].join("/");
    let label = |(own, of): (usize, &Vec<String>)| {
        let others = || parts.iter().enumerate().filter(|(other, _)| *other != own);
        let apart = |most: &usize| others().all(|(_, other)| tail(other, *most) != tail(of, *most));
        // The same file, twice.
        tail(of, (1..of.len()).find(apart).unwrap_or(of.len()))
    };
    parts.iter().enumerate().map(label).collect()
}

/// Folders, and the name without its end, `.mtx.gz` as a whole.
fn parts(path: &Path) -> Vec<String> {
    let unpacked = path.with_extension("");
    let is_packed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
    let path = if is_packed && unpacked.extension().is_some() { &unpacked } else { path };
    let folders = path.parent().into_iter().flat_map(Path::components);
    let folders = folders.filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    let all = folders.map(|part| part.as_os_str()).chain(path.file_stem());
    all.map(|part| part.to_string_lossy().into_owned()).collect()
}

/// Names of files in one folder, of which no two are the same, whatever the case of letters.
pub fn of_files<'a>(labels: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut free = |label: &str| {
        let label = label.replace(['/', '\\'], "-");
        let numbered = (2..).map(|k| format!("{label}-{k}"));
        let mut names = [label.clone()].into_iter().chain(numbered);
        names.find(|name| taken.insert(name.to_lowercase())).unwrap_or(label)
    };
    labels.map(&mut free).collect()
}
