//! The scenes' shaders without comments and blank space, for `support::shader!`: a browser fetches them with the first page.

use std::path::Path;
use std::{env, fs};

fn main() -> std::io::Result<()> {
    let out = env::var("OUT_DIR").map_err(std::io::Error::other)?;
    for scene in ["water", "smoke"] {
        let (from, to) = (Path::new("..").join(scene), Path::new(&out).join(scene));
        println!("cargo::rerun-if-changed={}", from.display());
        fs::create_dir_all(&to)?;
        for file in fs::read_dir(from)? {
            let file = file?.path();
            if file.extension().is_some_and(|kind| kind == "vert" || kind == "frag") {
                fs::write(to.join(file.file_name().unwrap_or_default()), bare(&fs::read_to_string(&file)?))?;
            }
        }
    }
    Ok(())
}

fn bare(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or("").trim());
    lines.filter(|line| !line.is_empty()).flat_map(|line| [line, "\n"]).collect()
}
