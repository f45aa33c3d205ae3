//! What the pages' results are held to, by this machine's own GL: a line for each, as the pages print them. `TEXLA_API=es30`
//! asks for what a browser has.

#[cfg(not(target_arch = "wasm32"))]
fn main() -> texla::Result<()> {
    let context = texla::Headless::new(texla::HeadlessOptions::default())?;
    for outcome in texla_web::results::all(context.device(), &mut || {})? {
        println!("{outcome}");
    }
    Ok(())
}

#[cfg(target_arch = "wasm32")]
fn main() {}
