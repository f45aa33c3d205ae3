//! Shader texts as the driver got them, and which line of which file each of their lines is.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// As in `src/gl/source.rs`: line `n` of a text's file `k` is numbered `k STRIDE + n`.
const STRIDE: usize = 100_000;

/// The files below `glsl/`: names and texts.
pub fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("glsl");
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// The files by their first lines, which differ: name and lines.
pub type Heads = HashMap<String, (String, Vec<String>)>;

fn heads() -> Heads {
    let head = |(name, text): (String, String)| {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        (lines[0].clone(), (name, lines))
    };
    let heads: Heads = files().into_iter().map(head).collect();
    assert_eq!(heads.len(), files().len(), "two files begin with the same line");
    heads
}

/// Some lines of a text that are those of a file.
struct Run {
    file: String,
    /// Of the file, from 0.
    line: usize,
    /// Of the text.
    place: usize,
    length: usize,
}

/// One shader as it was compiled: Mesa names it by its stage and the hash of its text.
pub struct Text {
    pub name: String,
    pub lines: Vec<String>,
    runs: Vec<Run>,
}

impl Text {
    /// A file is known by its first line wherever that stands, and goes on after what it includes by a `#line`.
    pub fn new(name: &str, text: &str, heads: &Heads) -> Self {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut numbered: HashMap<usize, &(String, Vec<String>)> = HashMap::new();
        let mut runs: Vec<Run> = Vec::new();
        let mut number = 0;
        let mut open: Option<&(String, Vec<String>)> = None;
        for (place, line) in lines.iter().enumerate() {
            if let Some(rest) = line.strip_prefix("#line ") {
                let at: usize = rest.split(' ').next().unwrap().parse().unwrap();
                number = at / STRIDE;
                open = numbered.get(&number).copied().filter(|_| number > 0);
                if let Some((file, _)) = open {
                    let line = (at % STRIDE).saturating_sub(1);
                    runs.push(Run { file: file.clone(), line, place: place + 1, length: 0 });
                }
                continue;
            }
            if let Some(head) = heads.get(line) {
                numbered.insert(number, head);
                open = Some(head);
                runs.push(Run { file: head.0.clone(), line: 0, place, length: 0 });
            }
            if let (Some((_, expected)), Some(run)) = (open, runs.last_mut()) {
                match expected.get(run.line + run.length) {
                    Some(same) if same == line => run.length += 1,
                    _ => open = None,
                }
            }
        }
        Text { name: name.to_owned(), lines, runs }
    }

    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.runs.iter().map(|run| run.file.as_str())
    }

    /// The place of one line of a file in this text: none, or one.
    pub fn place(&self, file: &str, line: usize) -> Option<usize> {
        let run = self.runs.iter().find(|r| r.file == file && (r.line..r.line + r.length).contains(&line))?;
        Some(run.place + line - run.line)
    }

    /// The text with another line there.
    pub fn with(&self, place: usize, line: &str) -> String {
        let mut lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        lines[place] = line;
        lines.join("\n") + "\n"
    }
}

/// All texts seen so far, in a folder.
pub struct Store {
    folder: PathBuf,
    heads: Heads,
    pub texts: HashMap<String, Text>,
}

impl Store {
    /// What an earlier run has put there is kept.
    pub fn open(folder: &Path) -> Self {
        fs::create_dir_all(folder).unwrap();
        let mut store = Store { folder: folder.to_owned(), heads: heads(), texts: HashMap::new() };
        let all: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
        all.iter().for_each(|path| store.read(path));
        store
    }

    fn read(&mut self, path: &Path) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = Text::new(&name, &fs::read_to_string(path).unwrap(), &self.heads);
        self.texts.insert(name, text);
    }

    /// Takes in what a test has compiled; returns the names of those texts that hold a file of ours.
    pub fn take(&mut self, dumped: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dumped).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !self.texts.contains_key(&name) {
                let kept = self.folder.join(&name);
                fs::copy(&path, &kept).unwrap();
                self.read(&kept);
            }
            if self.texts[&name].files().next().is_some() {
                names.push(name);
            }
            fs::remove_file(path).unwrap();
        }
        names.sort();
        names
    }
}
