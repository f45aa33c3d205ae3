//! What probing found of a device, by name, for those who print it.

use texla::gl::Capabilities;

/// What was found of one thing.
pub enum Found {
    Flag(bool),
    Number(u32),
    Word(String),
}

/// All that stands in [`Capabilities`] beside the names of the driver.
pub fn list(caps: &Capabilities) -> Vec<(&'static str, Found)> {
    let form = caps.exact_form.map_or("none".to_owned(), |form| format!("{form:?}"));
    vec![
        ("software", Found::Flag(caps.software)),
        ("max_texture_size", Found::Number(caps.max_texture_size)),
        ("max_draw_buffers", Found::Number(caps.max_draw_buffers)),
        ("texture_units", Found::Number(caps.texture_units)),
        ("uniform_components", Found::Number(caps.uniform_components)),
        ("varying_components", Found::Number(caps.varying_components)),
        ("float_blend", Found::Flag(caps.float_blend)),
        ("float_min_max", Found::Flag(caps.float_min_max)),
        ("float_filter", Found::Flag(caps.float_filter)),
        ("computed_coordinates", Found::Flag(caps.computed_coordinates)),
        ("points_a_draw", Found::Number(caps.points_a_draw)),
        ("rounds_a_draw", Found::Number(caps.rounds_a_draw)),
        ("loop_rounds", Found::Number(caps.loop_rounds)),
        ("max_vertex_outputs", Found::Number(caps.max_vertex_outputs)),
        ("max_block_vec4s", Found::Number(caps.max_block_vec4s)),
        ("vertex_blocks", Found::Number(caps.vertex_blocks)),
        ("exact_lines", Found::Flag(caps.exact_lines)),
        ("exact_derivatives", Found::Flag(caps.exact_derivatives)),
        ("sample_queries", Found::Flag(caps.sample_queries)),
        ("program_binaries", Found::Flag(caps.program_binaries)),
        ("exact_form", Found::Word(form)),
    ]
}

/// Where the device falls short of what most do, and what texla then does.
pub fn quirks(caps: &Capabilities) -> Vec<String> {
    let mut found = Vec::new();
    let mut unless = |fine: bool, quirk: &str| (!fine).then(|| found.push(quirk.to_owned()));
    unless(
        caps.float_blend,
        "floats are not blended as sums in order: histograms and sparse products are gathered, points and splats refused",
    );
    unless(
        caps.float_min_max,
        "blending by Max or Min changes floats: points and splats with these are refused",
    );
    unless(caps.float_filter, "float textures are not filtered exactly: filtered windows are refused");
    unless(caps.computed_coordinates, "computed coordinates miss texels: they are fetched by number");
    unless(caps.exact_lines, "lines miss texels: rows and columns are drawn as rectangles");
    unless(caps.exact_derivatives, "derivatives are not those of the quad: products are not split over it");
    unless(caps.sample_queries, "nobody can wait for what sample queries find: masks are added up");
    unless(caps.exact_form.is_some(), "no form of double-float is exact: nothing is certified");
    unless(caps.max_vertex_outputs >= 15, "vertices write fewer numbers than GL promises");
    if caps.points_a_draw < 1 << 16 {
        found.push(format!("vertices lose count in long draws: {} points a draw", caps.points_a_draw));
    }
    if caps.loop_rounds < u32::MAX {
        found.push(format!(
            "loops end by themselves after {} rounds: longer rows are refused",
            caps.loop_rounds
        ));
    }
    found
}
