//! Faults that change nothing that can be seen, each with the reason.

use crate::sites::Fault;

/// Files in which no fault can be noticed.
pub const SILENT: &[(&str, &str)] = &[
    ("capture.frag", "has no code"),
    ("profile/compute.frag", TIMED),
    ("profile/point.vert", TIMED),
    ("profile/read.frag", TIMED),
    ("profile/write.frag", TIMED),
    ("solve/shadow.frag", "any vector that looks random will do; the hash itself is held to its source"),
    ("solve/update.frag", "all that it computes is written from the statements of a recipe"),
];

const TIMED: &str = "of what it computes, only the time is looked at";

/// Files that make numbers of which nothing is asked but that they look random, by lines with these words.
const RANDOM: &[(&str, &str)] =
    &[("lcp/start.frag", "hashed("), ("solve/shadow.frag", "hashed("), ("solve/shadow.frag", "uint i =")];

/// Words of lines that do the same in any of the scalar steps of Krylov methods.
const STEPS: &[(&str, &str)] = &[
    ("float value = ", "the value is read only with a flag, which brings its own"),
    ("float flag = -(RUNNING);", "zero with a sign"),
    ("flag = -(OUT_OF_RANGE)", "a flag that is none of the others is read as this one"),
    (
        "rr >= ceiling",
        "it comes to the ceiling to the last bit by chance only, and what follows leaves the range",
    ),
    (
        "else if (rr < threshold) flag = MET;",
        "a bound is met to the last bit by chance only, and once more is as good",
    ),
    (
        "else if (rr < bound()) flag = MET;",
        "a bound is met to the last bit by chance only, and once more is as good",
    ),
];

/// File, the whole line with the fault, why it does the same.
pub const EQUIVALENT: &[(&str, &str, &str)] = &[
    (
        "banded/extend.frag",
        "if (k > 2 * length_) return 0.0;",
        "element 2 n is the first padding lane of x, which is zero; where x has none, neither has the target",
    ),
    (
        "dense/outer.frag",
        "float w = y_at(ivec2(j, 1)).x;",
        "the row is one texel high, and a fetch beyond it is of that texel",
    ),
    (
        "include/corner.glsl",
        "float end = (corner & 1) == 1 ? -2.0 : 1.0;",
        "a line that goes on past the viewport is clipped there",
    ),
    (
        "jacobi/pack.frag",
        "if (y >= side && column.x >= side) return vec4(0.0);",
        "what lies past the grid is then a copy of the last unknown with weights of zero: it takes part in nothing, and \
         leaves the range of floats no sooner",
    ),
    (
        "lcp/control.frag",
        "bool telling = in_range(a.y) && in_range(a.z) && c.x * c.x * a.z >= ROUNDING * b.y;",
        "equal only where both are zero; the quotient is NaN then, and every comparison with it false",
    ),
    (
        "lcp/power_vector.frag",
        "return -((inverses_here() * w_here()) * spectrum_texel(owner(p).x).y);",
        "the sign of a vector in a power iteration changes no norm",
    ),
    (
        "lcp/start.frag",
        "return -(v * vec4(greaterThan(inverses_here(), vec4(0.0))));",
        "the sign of a vector in a power iteration changes no norm",
    ),
    ("include/operator.glsl", "vec4 none = -(vec4(0.0));", "zero with a sign"),
    (
        "include/owner.glsl",
        "ivec2 owner(ivec2 p) { return ivec2(1, texel_index(p)); }",
        "the tables of a single problem are one texel, and a fetch beyond it is of that texel",
    ),
    (
        "include/element.glsl",
        "vec2 scale = vec2(2.0 / size, 0.0);",
        "what is multiplied by it is divided by it again, and its size is about right",
    ),
    (
        "probe/average.frag",
        "void main() { out0 = textureLod(a, 2.0 * gl_FragCoord.xy * inverse_extent, 1.0); }",
        "the texture has a single level",
    ),
    (
        "probe/loops.frag",
        "for (float k = 0.0; k < v.x; k += 2.0) sum = sum * v.y + v.y;",
        "llvmpipe leaves either loop after as many rounds; a driver that leaves none would notice",
    ),
    (
        "probe/numbers.vert",
        "gl_PointSize = 2.0;",
        "the target is one texel: a larger point meets it all the same",
    ),
    (
        "probe/points.vert",
        "gl_PointSize = 2.0;",
        "the target is one texel: a larger point meets it all the same",
    ),
    ("repack/repack.frag", "if (e.y < 0) return 0.0;", "padding is (-1, -1)"),
    (
        "repack/unpack.frag",
        "return vec4(x_element(uint(first + p.y * width + p.x)), 1.0, 0.0, 0.0);",
        "the target has one channel",
    ),
    (
        "repack/unpack.frag",
        "return vec4(x_element(uint(first + p.y * width + p.x)), 0.0, 0.0, 1.0);",
        "the target has one channel",
    ),
    (
        "repack/unpack.frag",
        "return vec4(x_element(uint(first + p.y * width + p.x)), 0.0, 1.0, 0.0);",
        "the target has one channel",
    ),
    (
        "solve/gmres_column.frag",
        "if (p.x == j) return vec4(all, 1.0, 0.0, 0.0);",
        "of an element of the triangle the first channel alone is read",
    ),
    (
        "solve/gmres_column.frag",
        "float next = first_element(uint(k + 1)) - second_element(uint(k + 1));",
        "the second time takes out what rounding has left, and the sum is rounded as much",
    ),
    ("solve/step.frag", "float flag = -(0.0);", "zero with a sign"),
    ("solve/step.frag", "float limit = -(0.0);", "zero with a sign"),
    ("solve/substitute.frag", "vec4 n = -(vec4(0.0));", "zero with a sign"),
    ("solve/substitute.frag", "vec4 f = -(vec4(0.0));", "zero with a sign"),
];

fn is_step(file: &str) -> bool {
    let name = file.strip_prefix("solve/").unwrap_or_default();
    ["bicg_", "gmres_", "minres_"].iter().any(|method| name.starts_with(method))
}

/// Why a fault is none.
pub fn reason(fault: &Fault) -> Option<&'static str> {
    if fault.text.contains("_at(ivec2(1))") {
        return Some("a scalar is one texel, and a fetch beyond it is of that texel");
    }
    if RANDOM.iter().any(|(file, word)| *file == fault.file && fault.text.contains(word)) {
        return Some("other numbers that look random");
    }
    let same = |(file, line, _): &&(&str, &str, &str)| *file == fault.file && *line == fault.text.trim();
    if is_step(&fault.file) {
        // What is changed is the value alone.
        let before = &fault.text[..fault.column];
        if before
            .rsplit_once("value =")
            .is_some_and(|(to, of)| to.ends_with("OUT_OF_RANGE; ") && !of.contains(';'))
        {
            return Some("what has left the range is not told");
        }
        if let Some((_, why)) = STEPS.iter().find(|(words, _)| fault.text.contains(words)) {
            return Some(why);
        }
    }
    EQUIVALENT.iter().find(same).map(|(_, _, why)| *why)
}
