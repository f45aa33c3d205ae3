//! A plain renderer: winit's window, texla's context, glow.
use texla_hosts::scene::Depth;

fn main() -> texla_hosts::Result {
    texla_hosts::run_scene("plain", Depth::Usual)
}
