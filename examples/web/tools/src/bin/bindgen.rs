//! bindgen MODULE.wasm FOLDER NAME: puts the module with its JavaScript into a folder, as NAME.js, for pages that load modules.

use std::path::Path;
use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = &arguments[..] else {
        eprintln!("expected a module, a folder and a name");
        return ExitCode::from(2);
    };
    match generate(module, Path::new(folder), name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module}: {error:?}");
            ExitCode::FAILURE
        }
    }
}

/// What the module imports is named by numbers on both sides, which is a third of the JavaScript less, compressed.
fn generate(module: &str, folder: &Path, name: &str) -> Result {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).web(true)?;
    bindgen.typescript(false).omit_default_module_path(false).remove_name_section(true);
    bindgen.remove_producers_section(true).out_name(name);
    let mut output = bindgen.generate_output()?;
    let mut script = without_comments(output.js());
    for (number, import) in output.wasm_mut().imports.iter_mut().enumerate() {
        let (long, short) = (format!("\n{}: ", import.name), format!("_{number}"));
        if script.matches(&long).count() == 1 {
            script = script.replace(&long, &format!("\n{short}: "));
            import.name = short;
        }
    }
    output.emit(folder)?;
    Ok(std::fs::write(folder.join(name).with_extension("js"), script)?)
}

/// Nor do comments and blank space that lines begin with go to a browser.
fn without_comments(script: &str) -> String {
    let lines = script.lines().map(str::trim_start);
    let kept = lines.filter(|line| !["/**", "*", "//"].iter().any(|start| line.starts_with(start)));
    kept.flat_map(|line| [line, "\n"]).collect()
}
