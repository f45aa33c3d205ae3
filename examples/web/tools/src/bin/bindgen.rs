//! bindgen MODULE.wasm FOLDER NAME: puts the module with its JavaScript into a folder, as NAME.js, for pages that load modules.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = &arguments[..] else {
        eprintln!("expected a module, a folder and a name");
        return ExitCode::from(2);
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    let made = bindgen.input_path(module).web(true).map(|b| {
        b.typescript(false).omit_default_module_path(false).remove_name_section(true).out_name(name)
    });
    match made.and_then(|b| b.generate(folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{module}: {error:?}");
            ExitCode::FAILURE
        }
    }
}
