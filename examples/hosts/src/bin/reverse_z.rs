//! A renderer of reversed depth: clip space from 0 to 1 by glClipControl, depths as floats, near is 1.
use texla_hosts::scene::Depth;

fn main() -> texla_hosts::Result {
    texla_hosts::run_scene("reverse_z", Depth::Reversed)
}
