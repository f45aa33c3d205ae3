//! Tests of what is private, on a device: they use all layers.

mod kept;
mod recording;
