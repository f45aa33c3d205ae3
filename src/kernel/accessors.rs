//! The text around a kernel's body: uniforms, accessors for its inputs, and `main`.
//!
//! For an input `x` the body can call
//!
//! | accessor | what it gives |
//! |---|---|
//! | `vec4 x(ivec2 p)` | the texel of `x` that belongs to the target's texel `p`, whatever the two textures' widths; a user's `x` is as long as the target |
//! | `vec4 x_here()` | the same for the fragment's own texel, which is cheaper |
//! | `vec4 x_at(ivec2 q)` | texel `q` of `x`'s own texture |
//! | `vec4 x_fetched(ivec2 q)` | the same by its number alone, which never leaves the texture; slower on some devices |
//! | `vec4 x_clamped(ivec2 q)` | the same, where `q` may lie past an edge: then the texel there |
//! | `vec2 x_place(vec2 q)` | texture coordinates of texel `q`; `x_step()` is their difference between neighbours |
//! | `vec4 x_placed(vec2 c)` | the texel at such coordinates: fewer conversions in long loops; clamped at edges |
//! | `vec4 x_texel(int t)` | texel `t` of a folded vector: elements `4 t .. 4 t + 3` |
//! | `vec4 x_shifted(int t)` | the same, where `t` may lie outside: then some texel of `x`, which may be infinite |
//! | `float x_element(uint i)` | element `i` of a folded vector |
//! | `float x_value()` | the first value: a `Scalar`'s |
//! | `ivec2 x_extent()` | width and height in texels |
use std::fmt::Write;

use super::domain::Accum;
use super::spec::{InputSpec, KernelSpec, StageSpec, Test, WITHIN, before};
use crate::gl::{Source, Stage, glsl};

/// How an input lies against the target; part of a program's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fold {
    /// The same extent, with a power-of-two width: the texel under the fragment.
    Same,
    /// The same extent, with any other width.
    SameOfAnyWidth,
    /// A single texel.
    Single,
    /// Another extent, with a power-of-two width: shift and mask.
    PowerOfTwo,
    /// Any other width: division.
    General,
    /// Not asked for: one program for all.
    Addressed,
}

impl KernelSpec {
    /// Uniforms and accessors: what stands before the body of either stage.
    fn interface(&self, folds: &[Fold], fragment: bool) -> String {
        let mut text: String = self.uniforms().iter().map(|(name, kind)| kind.declare(name)).collect();
        if !fragment {
            for (name, attribute) in self.stage.attributes() {
                let _ = writeln!(text, "in {} {name};", attribute.glsl());
            }
        }
        text.push_str("int texel_index(ivec2 p) { return p.y * texla_width + p.x; }\n");
        text.push_str("ivec2 texel_position(int t) { return ivec2(t % texla_width, t / texla_width); }\n");
        for (input, fold) in self.inputs.iter().zip(folds) {
            text.push_str(&accessors(input, *fold, fragment));
        }
        text
    }

    /// The varyings of either stage.
    fn varyings(&self, direction: &str) -> String {
        let names = self.vertex.iter().flat_map(|v| &v.varyings);
        names.map(|name| format!("{direction} vec4 {name};\n")).collect()
    }

    /// The vertex stage.
    pub fn vertex_stage(&self, folds: &[Fold]) -> Stage<'_> {
        let body = match &self.vertex {
            Some(vertex) => Source { name: &vertex.file, text: &vertex.text },
            None => Source { name: &self.file, text: &self.text },
        };
        let generated = format!("{}\n", self.generated);
        match &self.stage {
            StageSpec::Points { mask, .. } => {
                let mut after = "flat out vec4 texla_value;\nvoid main() {\n    ivec2 texel;\n    \
                     point(gl_VertexID, texel, texla_value);\n"
                    .to_owned();
                if *mask {
                    after.push_str(&format!("    int t = {};\n", position_in_tail("texel")));
                    after.push_str(&masked("texla_value"));
                }
                after += "    gl_Position = vec4((2.0 * vec2(texel) + 1.0) * texla_inverse - 1.0, 0.0, 1.0);\n    \
                          gl_PointSize = 1.0;\n}\n";
                Stage { before: self.interface(folds, false) + &generated, body, after }
            }
            // Corners past the target are drawn back to just outside, where they cover the same and lose no digits; then
            // all go to the edge of the texels covered, since rasterisers see positions in steps of 1/16 or 1/256.
            StageSpec::Splats { .. } => {
                let after = "flat out vec4 texla_value;\nvoid main() {\n    vec4 r;\n    \
                     splat(gl_InstanceID + texla_area.x, r, texla_value);\n    \
                     bool some = r.x < r.z && r.y < r.w;\n    \
                     vec2 end = 1.0 / texla_inverse + 1.0;\n    \
                     r = ceil(clamp(r, vec4(-1.0), vec4(end, end)) - 0.5);\n    \
                     vec2 corner = vec2((gl_VertexID & 1) == 1 ? r.z : r.x, (gl_VertexID & 2) == 2 ? r.w : r.y);\n    \
                     gl_Position = some ? vec4(2.0 * corner * texla_inverse - 1.0, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);\n\
                     }\n";
                Stage { before: self.interface(folds, false) + &generated, body, after: after.into() }
            }
            StageSpec::Fragment { .. } | StageSpec::Condition(_) if self.vertex.is_some() => {
                let before = self.interface(folds, false) + &generated + &self.varyings("out");
                let after = "void main() {\n    gl_Position = texla_corner();\n    \
                     vertex(vec2(texla_area.xy) + (0.5 * gl_Position.xy + 0.5) * vec2(texla_area.zw));\n}\n";
                Stage { before: before + glsl!("include/corner.glsl").text, body, after: after.into() }
            }
            StageSpec::Fragment { .. } | StageSpec::Condition(_) => {
                Stage { before: String::new(), body: glsl!("quad.vert"), after: String::new() }
            }
        }
    }

    /// The fragment stage.
    pub fn fragment_stage(&self, folds: &[Fold]) -> Stage<'_> {
        let body = Source { name: &self.file, text: &self.text };
        let mut before = self.interface(folds, true) + &self.generated + "\n" + &self.varyings("in");
        let (after, outputs) = match &self.stage {
            StageSpec::Points { .. } => {
                return Stage { before: String::new(), body: glsl!("points.frag"), after: String::new() };
            }
            StageSpec::Condition(test) => (condition_main(*test), 0),
            StageSpec::Splats { mask, .. } => {
                before.push_str("flat in vec4 texla_value;\n");
                (main_of("texla_v0 = kernel(p, texla_value);", 1, *mask, None), 1)
            }
            StageSpec::Fragment { outputs, mask } => {
                let names: Vec<_> = (0..outputs.len()).map(|i| format!("texla_v{i}")).collect();
                let call = match names.as_slice() {
                    [one] => format!("{one} = kernel(p);"),
                    _ => format!("kernel(p, {});", names.join(", ")),
                };
                (main_of(&call, outputs.len(), *mask, self.combines), outputs.len())
            }
        };
        for i in 0..outputs {
            let _ = writeln!(before, "layout(location = {i}) out vec4 texla_out{i};");
        }
        Stage { before, body, after }
    }
}

/// `main` of a fragment stage: the call, lanes past the end, the outputs, combined with the targets' texels where blending
/// does not.
fn main_of(call: &str, outputs: usize, mask: bool, combines: Option<Accum>) -> String {
    let names: Vec<_> = (0..outputs).map(|i| format!("texla_v{i}")).collect();
    let mut text = format!(
        "void main() {{\n    ivec2 p = ivec2(gl_FragCoord.xy);\n    vec4 {};\n    {call}\n",
        names.join(", ")
    );
    if mask {
        text.push_str(&format!("    int t = {};\n", position_in_tail("p")));
        names.iter().for_each(|name| text.push_str(&masked(name)));
    }
    for (i, name) in names.iter().enumerate() {
        let before = before(i);
        let value = match combines {
            None | Some(Accum::Replace) => name.clone(),
            Some(Accum::Add) => format!("{before}_at(p) + {name}"),
            Some(Accum::Max) => format!("max({before}_at(p), {name})"),
            Some(Accum::Min) => format!("min({before}_at(p), {name})"),
        };
        let _ = writeln!(text, "    texla_out{i} = {value};");
    }
    text + "}\n"
}

/// `main` of a condition.
fn condition_main(test: Test) -> String {
    let write = "gl_FragDepth = holds ? 0.8 : 0.2;";
    // Only what another mask has left out is not worth asking about: a branch for each fragment costs more.
    let (asked, result) = match test {
        Test::Write => ("kernel(p) && used".to_owned(), write),
        Test::WriteWithin(inside) => {
            (format!("used && ({WITHIN}_at(p).x > 0.5) == {inside} && kernel(p)"), write)
        }
        Test::Narrow => ("kernel(p) && used".to_owned(), "if (holds) discard;"),
        Test::Count => ("kernel(p) && used".to_owned(), "if (!holds) discard;"),
    };
    format!(
        "void main() {{\n    ivec2 p = ivec2(gl_FragCoord.xy);\n    int t = {};\n    \
         bool used = t < texla_tail.x || (t == texla_tail.x && texla_tail.y > 0);\n    \
         bool holds = {asked};\n    {result}\n}}\n",
        position_in_tail("p")
    )
}

/// Where a texel lies in the order in which lanes come to an end.
fn position_in_tail(texel: &str) -> String {
    format!("{texel}.x * texla_tail.z + {texel}.y * texla_tail.w")
}

/// Lanes past the end stay zero, whatever the kernel says; `t` is the texel's position.
fn masked(name: &str) -> String {
    format!(
        "    if (t >= texla_tail.x) {{\n        int lanes = t == texla_tail.x ? texla_tail.y : 0;\n        \
         {name} = vec4(lanes > 0 ? {name}.x : 0.0, lanes > 1 ? {name}.y : 0.0, lanes > 2 ? {name}.z : 0.0, 0.0);\n    \
         }}\n"
    )
}

/// The functions through which a body reads one input.
fn accessors(input: &InputSpec, fold: Fold, fragment: bool) -> String {
    let x = &input.name;
    if input.filtered {
        // Coordinates mean another thing to the linear sampler: single texels are fetched by number. The corner of four
        // texels is exact where the texture's sides are powers of two.
        return format!(
            "vec4 {x}_at(ivec2 q) {{ return texelFetch(texla_in_{x}, q, 0); }}\n\
             vec4 {x}_average(ivec2 q) {{ \
             return textureLod(texla_in_{x}, (vec2(q) + 1.0) * texla_inverse_{x}, 0.0); }}\n"
        );
    }
    let (texel, value) = if input.unsigned { ("uvec4", "uint") } else { ("vec4", "float") };
    let at = format!(
        "#if TEXLA_COMPUTED_COORDINATES\n\
         {texel} {x}_at(ivec2 q) {{ return textureLod(texla_in_{x}, (vec2(q) + 0.5) * texla_inverse_{x}, 0.0); }}\n\
         {texel} {x}_clamped(ivec2 q) {{ return {x}_at(q); }}\n\
         {texel} {x}_placed(vec2 c) {{ return textureLod(texla_in_{x}, c, 0.0); }}\n\
         #else\n\
         {texel} {x}_at(ivec2 q) {{ return texelFetch(texla_in_{x}, q, 0); }}\n\
         {texel} {x}_clamped(ivec2 q) {{ \
         return {x}_at(clamp(q, ivec2(0), textureSize(texla_in_{x}, 0) - 1)); }}\n\
         {texel} {x}_placed(vec2 c) {{ return {x}_clamped(ivec2(floor(c / texla_inverse_{x}))); }}\n\
         #endif\n\
         {texel} {x}_fetched(ivec2 q) {{ return texelFetch(texla_in_{x}, q, 0); }}\n\
         vec2 {x}_step() {{ return texla_inverse_{x}; }}\n\
         vec2 {x}_place(vec2 q) {{ return (q + 0.5) * texla_inverse_{x}; }}\n\
         ivec2 {x}_extent() {{ return textureSize(texla_in_{x}, 0); }}\n"
    );
    if input.addressed {
        return at;
    }
    let position = match fold {
        Fold::General | Fold::SameOfAnyWidth => format!("ivec2(t % texla_fold_{x}.x, t / texla_fold_{x}.x)"),
        _ => format!("ivec2(t & texla_fold_{x}.x, t >> texla_fold_{x}.y)"),
    };
    let here = match fold {
        Fold::Same | Fold::SameOfAnyWidth => format!("{x}_at(p)"),
        Fold::Single => format!("{x}_at(ivec2(0))"),
        Fold::PowerOfTwo | Fold::General | Fold::Addressed => format!("{x}_texel(texel_index(p))"),
    };
    // The fragment's position is at hand as floats; only fragment stages have one.
    let own = match fold {
        Fold::Same | Fold::SameOfAnyWidth if fragment => format!(
            "#if TEXLA_COMPUTED_COORDINATES\n{texel} {x}_here() {{ \
             return textureLod(texla_in_{x}, gl_FragCoord.xy * texla_inverse_{x}, 0.0); }}\n#else\n\
             {texel} {x}_here() {{ return {x}(ivec2(gl_FragCoord.xy)); }}\n#endif\n"
        ),
        _ if fragment => format!("{texel} {x}_here() {{ return {x}(ivec2(gl_FragCoord.xy)); }}\n"),
        _ => String::new(),
    };
    // Computed coordinates clamp to the edge by themselves; the others must not leave the texture.
    let clamped = format!(
        "{texel} {x}_shifted(int t) {{\n    ivec2 e = textureSize(texla_in_{x}, 0);\n    \
         return {x}_texel(clamp(t, 0, e.x * e.y - 1));\n}}\n"
    );
    let shifted = match fold {
        Fold::General | Fold::SameOfAnyWidth => clamped,
        _ => format!(
            "#if TEXLA_COMPUTED_COORDINATES\n{texel} {x}_shifted(int t) {{ return {x}_texel(t); }}\n#else\n\
             {clamped}#endif\n"
        ),
    };
    format!(
        "{at}\
         {texel} {x}_texel(int t) {{ return {x}_at({position}); }}\n\
         {shifted}\
         {texel} {x}(ivec2 p) {{ return {here}; }}\n\
         {own}\
         {value} {x}_element(uint i) {{ return {x}_texel(int(i >> 2u))[int(i & 3u)]; }}\n\
         {value} {x}_value() {{ return {x}_at(ivec2(0)).x; }}\n"
    )
}
