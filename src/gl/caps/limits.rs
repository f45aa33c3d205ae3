//! Limits that an application sets below the device's own.

/// Limits below the device's own, for applications that share it and for tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Limits {
    /// Largest texture side to use.
    pub max_texture_size: Option<u32>,
    /// Most draw buffers to use in one pass.
    pub max_draw_buffers: Option<u32>,
    /// Most `vec4`s that a vertex may write into a buffer; with 0, behave as if vertices could not be captured.
    pub max_vertex_outputs: Option<u32>,
    /// Behave as if float targets could not be blended, by Add, Max or Min.
    pub without_float_blend: bool,
    /// Behave as if float textures could not be filtered.
    pub without_float_filter: bool,
    /// Behave as if nobody could wait for what a sample query has found.
    pub without_sample_queries: bool,
}

with!(const Limits:
    with_max_texture_size(max_texture_size: Option<u32>),
    with_max_draw_buffers(max_draw_buffers: Option<u32>),
    with_max_vertex_outputs(max_vertex_outputs: Option<u32>),
    without_float_blend(without_float_blend: bool),
    without_float_filter(without_float_filter: bool),
    without_sample_queries(without_sample_queries: bool),
);
