//! D. Göddeke, tutorial on the performance of GPU-based linear algebra, 2005.

use super::Better::More;
use super::Program::Example;
use super::{Chapter, Cpu, Table, figure, output, plot};

pub const CHAPTERS: &[Chapter] = &[Chapter {
    name: "ladder",
    title: "The Jacobi ladder and the table of results",
    source: "[Goeddeke05] all of it; Table of Results",
    items: &[
        ("Goeddeke05", "CPU implementation"),
        ("Goeddeke05", "Mapping the CPU implementation to the GPU"),
        ("Goeddeke05", "Substancial performance improvement by exploiting the SIMD model"),
        ("Goeddeke05", "Multipass rendering to reduce shader complexity"),
        ("Goeddeke05", "Including the vertex shader"),
        ("Goeddeke05", "Results"),
        ("Goeddeke05", "Table of Results"),
    ],
    program: Example("jacobi_ladder"),
    flags: &[],
    outputs: &[output(
        "--plot",
        plot!("rates"),
        "Bars by number of unknowns: MFLOP/s of a CPU loop, of the tutorial's RED and RGBA layouts, and of packed \
         bands",
    )],
    reading: "Sweeps of Jacobi with nine bands, 20 N operations each, from a CPU loop up the tutorial's ladder to \
              packed bands. The tutorial's numbers are those of its GeForce 6800, beside the last rung of each \
              layout. The ceiling is what the device fetches from cache in the same time, of texels of four floats.",
    tables: &[
        Table {
            caption: "Rate of a sweep",
            rows: "rows",
            only: &[],
            labels: &[("n", "N"), ("rung", "rung")],
            figures: &[figure("mflops", "rate", "MFLOP/s", More)
                .paper("paper_mflops")
                .cpu(Cpu::Rows { key: "rung", of: &["CPU, one loop", "CPU, band by band"], like: &["n"] })
                .share("share_of_fetch_ceiling")],
        },
        Table {
            caption: "Times as fast as the rung before",
            rows: "rows",
            only: &[],
            labels: &[("n", "N"), ("rung", "rung")],
            figures: &[figure("gain", "gain", "x", More)],
        },
    ],
    facts: &[],
}];
