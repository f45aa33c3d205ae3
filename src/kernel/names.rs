//! What a user may call inputs, outputs and parameters, and which words no body can use in both dialects.

use super::iterate::{STATE, STEPS};
use super::spec::WITHIN;
use crate::error::{Error, Result};

/// Names that texla gives itself, out of the way of a user's.
const OWN: [&str; 3] = [WITHIN, STATE, STEPS];

/// Functions that texla or a body defines.
const FUNCTIONS: [&str; 7] = ["main", "kernel", "point", "vertex", "splat", "texel_index", "texel_position"];

/// What follows an input's name in the names of its accessors.
const ACCESSORS: [&str; 13] = [
    "_average", "_fetched", "_here", "_at", "_clamped", "_place", "_step", "_placed", "_texel", "_shifted",
    "_element", "_value", "_extent",
];

/// Keywords of both GLSL 3.30 and GLSL ES 3.00.
const KEYWORDS: &str = "bool break bvec2 bvec3 bvec4 case centroid const continue default discard do else false flat float \
    for highp if in inout int invariant isampler2D isampler2DArray isampler3D isamplerCube ivec2 ivec3 ivec4 layout lowp \
    mat2 mat2x2 mat2x3 mat2x4 mat3 mat3x2 mat3x3 mat3x4 mat4 mat4x2 mat4x3 mat4x4 mediump out precision return sampler2D \
    sampler2DArray sampler2DArrayShadow sampler2DShadow sampler3D samplerCube samplerCubeShadow smooth struct switch true \
    uint uniform usampler2D usampler2DArray usampler3D usamplerCube uvec2 uvec3 uvec4 vec2 vec3 vec4 void while";

/// Keywords of one of them alone, words reserved in one of them, and keywords of their later versions, up to 4.60 and
/// 3.20, which drivers may know already.
const RESERVED: &str = "active asm atomic_uint attribute buffer cast class coherent common dmat2 dmat2x2 dmat2x3 dmat2x4 \
    dmat3 dmat3x2 dmat3x3 dmat3x4 dmat4 dmat4x2 dmat4x3 dmat4x4 double dvec2 dvec3 dvec4 enum extern external filter fixed \
    fvec2 fvec3 fvec4 goto half hvec2 hvec3 hvec4 iimage1D iimage1DArray iimage2D iimage2DArray iimage2DMS iimage2DMSArray \
    iimage2DRect iimage3D iimageBuffer iimageCube iimageCubeArray image1D image1DArray image1DArrayShadow image1DShadow \
    image2D image2DArray image2DArrayShadow image2DMS image2DMSArray image2DRect image2DShadow image3D imageBuffer imageCube \
    imageCubeArray inline input interface isampler1D isampler1DArray isampler2DMS isampler2DMSArray isampler2DRect \
    isamplerBuffer isamplerCubeArray long namespace noinline noperspective output partition patch precise public readonly \
    resource restrict row_major sample sampler1D sampler1DArray sampler1DArrayShadow sampler1DShadow sampler2DMS \
    sampler2DMSArray sampler2DRect sampler2DRectShadow sampler3DRect samplerBuffer samplerCubeArray samplerCubeArrayShadow \
    samplerExternalOES shared short sizeof static subroutine superp template this typedef uimage1D uimage1DArray uimage2D \
    uimage2DArray uimage2DMS uimage2DMSArray uimage2DRect uimage3D uimageBuffer uimageCube uimageCubeArray union unsigned \
    usampler1D usampler1DArray usampler2DMS usampler2DMSArray usampler2DRect usamplerBuffer usamplerCubeArray using varying \
    volatile writeonly";

/// Functions of either. GLSL lets a program have more of the same name, GLSL ES does not.
const BUILTINS: &str = "EmitVertex EndPrimitive abs acos acosh all any asin asinh atan atanh ceil clamp cos cosh cross dFdx \
    dFdy degrees determinant distance dot equal exp exp2 faceforward floatBitsToInt floatBitsToUint floor fract ftransform \
    fwidth greaterThan greaterThanEqual intBitsToFloat inverse inversesqrt isinf isnan length lessThan lessThanEqual log \
    log2 matrixCompMult max min mix mod modf noise1 noise2 noise3 noise4 normalize not notEqual outerProduct packHalf2x16 \
    packSnorm2x16 packUnorm2x16 pow radians reflect refract round roundEven shadow1D shadow1DLod shadow1DProj \
    shadow1DProjLod shadow2D shadow2DLod shadow2DProj shadow2DProjLod sign sin sinh smoothstep sqrt step tan tanh \
    texelFetch texelFetchOffset texture texture1D texture1DLod texture1DProj texture1DProjLod texture2D texture2DLod \
    texture2DProj texture2DProjLod texture3D texture3DLod texture3DProj texture3DProjLod textureCube textureCubeLod \
    textureGrad textureGradOffset textureLod textureLodOffset textureOffset textureProj textureProjGrad \
    textureProjGradOffset textureProjLod textureProjLodOffset textureProjOffset textureSize transpose trunc \
    uintBitsToFloat unpackHalf2x16 unpackSnorm2x16 unpackUnorm2x16";

fn is_among(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|word| word == name)
}

/// Whether a body cannot use this word at all.
pub(super) fn is_reserved(word: &str) -> bool {
    is_among(RESERVED, word)
}

/// What begins with `gl_` and only says something of the vertex or fragment; constants, `gl_Max..`, do too. All else is what a
/// stage gives beside its outputs: a depth would move the texel out of every mask, a position the point to another texel.
const READ_ONLY: [&str; 5] =
    ["gl_FragCoord", "gl_FrontFacing", "gl_PointCoord", "gl_VertexID", "gl_InstanceID"];

/// Why no body may say this word, though both dialects know it.
pub(super) fn why_not(word: &str) -> Option<&'static str> {
    match word {
        "main" => Some("is texla's, expected another name"),
        "mediump" | "lowp" => Some("lowers precision, and on OpenGL ES alone, expected `highp` or nothing"),
        _ if !word.starts_with("gl_") || READ_ONLY.contains(&word) => None,
        _ if word.starts_with("gl_Max") || word.starts_with("gl_Min") => None,
        _ => Some("is texla's to write, expected results as the kernel's function gives them"),
    }
}

/// Whether texla gives bodies a function of this name, which they cannot define.
pub(super) fn is_own_function(name: &str) -> bool {
    matches!(name, "texel_index" | "texel_position")
}

/// Whether GLSL has a function of this name.
pub(super) fn is_builtin(name: &str) -> bool {
    is_among(BUILTINS, name)
}

/// Characters of a name at most: GLSL ES has room for 1024, with what texla puts around it.
const LONGEST: usize = 256;

/// Refuses names that are too long, no identifiers, not distinct, reserved or GLSL's own, or those of functions that texla writes:
/// `main`, those of the body, and the accessors of an input that is a texture.
pub(super) fn check_names(kernel: &str, names: &[&str], textures: &[&str]) -> Result<()> {
    for (i, name) in names.iter().enumerate() {
        let fail = |detail: String| Error::Interface { kernel: kernel.to_owned(), detail };
        let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let first = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic());
        let reserved = (["gl_", "texla_"].iter().any(|p| name.starts_with(p)) && !OWN.contains(name))
            || name.contains("__");
        let function = FUNCTIONS.contains(name)
            || textures
                .iter()
                .any(|texture| name.strip_prefix(texture).is_some_and(|suffix| ACCESSORS.contains(&suffix)));
        if name.len() > LONGEST {
            let found = name.len();
            return Err(fail(format!("a name is {found} bytes long, expected {LONGEST} at most")));
        }
        if !letters || !first || reserved || function {
            let detail = format!(
                "`{name}` cannot name an input, output or parameter: expected a letter and then letters, digits and single \
                 underscores, and nothing of GLSL's or texla's own (`gl_`, `texla_`, `kernel`, an input's `_at` and the like)"
            );
            return Err(fail(detail));
        }
        if is_among(KEYWORDS, name) || is_reserved(name) || is_builtin(name) {
            let detail = format!(
                "`{name}` cannot name an input, output or parameter: it is a word of GLSL or GLSL ES, expected another name"
            );
            return Err(fail(detail));
        }
        if names.iter().take(i).any(|other| other == name) {
            return Err(fail(format!("the name `{name}` is used twice")));
        }
    }
    Ok(())
}
