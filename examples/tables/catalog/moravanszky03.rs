//! Á. Moravánszky, *Dense Matrix Algebra on the GPU*, ShaderX2, 2003.

use super::Better::{Less, More, Same};
use super::Program::Example;
use super::{Chapter, Cpu, Table, figure, output, plot};

const CPU: Cpu = Cpu::Rows {
    key: "by",
    of: &["plain loops, one thread", "faer, one thread", "faer, all threads"],
    like: &["operation"],
};

pub const CHAPTERS: &[Chapter] = &[
    Chapter {
        name: "figure3",
        title: "Figure 3: six operations with dense matrices",
        source: "[Moravanszky03] 5, Figure 3",
        items: &[
            ("Moravanszky03", "Section 3"),
            ("Moravanszky03", "Section 3.1"),
            ("Moravanszky03", "Section 3.2"),
            ("Moravanszky03", "Section 3.3"),
            ("Moravanszky03", "Section 3.4"),
            ("Moravanszky03", "Section 4.1"),
            ("Moravanszky03", "Section 5"),
            ("Moravanszky03", "Figure 3"),
        ],
        program: Example("dense_figure3"),
        flags: &[],
        outputs: &[output(
            "--plot",
            plot!("times"),
            "Bars for copy, add, two products, conjugate gradients and projected Jacobi: milliseconds on the device \
             by the paper's schedule and the default one, and on the CPU by plain loops and by the library faer",
        )],
        reading: "The paper shows bars and prints no numbers, so that nothing stands in its column; its schedule is \
                  run beside the default one. Matrices of the full run are 1000x1000, as the paper's. Copies and \
                  sums are held to the best draw that only writes.",
        tables: &[
            Table {
                caption: "Until the result is there",
                rows: "rows",
                only: &[],
                labels: &[("operation", "operation"), ("by", "by")],
                figures: &[figure("ms", "time", "ms", Less).cpu(CPU).share("share_of_ceiling")],
            },
            Table {
                caption: "With the readback",
                rows: "rows",
                only: &[],
                labels: &[("operation", "operation"), ("by", "by")],
                figures: &[figure("ms_with_readback", "time", "ms", Less)],
            },
            Table {
                caption: "Rates of the products",
                rows: "rows",
                only: &[],
                labels: &[("operation", "operation"), ("by", "by")],
                figures: &[figure("gflops", "rate", "GFLOP/s", More)],
            },
        ],
        facts: &[
            ("size", "rows and columns"),
            ("iterations", "iterations and sweeps"),
            ("default_schedule", "default schedule"),
            ("default_schedule_transposed", "the same, transposed"),
            ("threads", "CPU threads"),
            ("paper_hardware", "the paper's machines"),
        ],
    },
    Chapter {
        name: "cubes",
        title: "Figure 4: contacts of rigid bodies",
        source: "[Moravanszky03] 4.2 and 5, Figure 4",
        items: &[("Moravanszky03", "Section 4.2"), ("Moravanszky03", "Figure 4")],
        program: Example("cubes"),
        flags: &[],
        outputs: &[
            output("--picture", "cubes.png", "A wall of coloured cubes while it collapses"),
            output("--animation", "animation.png", ""),
        ],
        reading: "A wall of cubes falls; in every frame its contacts are a complementarity problem. The paper says \
                  what its figure took as one dense problem (400 unknowns, 2 n sweeps), and that taken apart into \
                  groups it ran in real time.",
        tables: &[
            Table {
                caption: "Solving the contacts of a frame: medians over the frames that were compared",
                rows: "forms",
                only: &[],
                labels: &[("form", "form")],
                figures: &[
                    figure("ms", "time", "ms", Less).cpu(Cpu::Rows {
                        key: "form",
                        of: &["CPU in 64 bits, Gauss-Seidel, groups"],
                        like: &[],
                    }),
                    figure("residual_worst", "worst residual", "", Less),
                ],
            },
            Table {
                caption: "The figure's statement: the wall at its start as one dense problem",
                rows: "",
                only: &[],
                labels: &[("figure4.unknowns", "unknowns here")],
                figures: &[
                    figure("figure4.unknowns", "unknowns", "", Same).paper("figure4.paper.unknowns"),
                    figure("figure4.dense_ms", "one dense problem", "ms", Less)
                        .paper("figure4.paper.dense_ms"),
                    figure("figure4.groups_ms", "taken apart", "ms", Less),
                ],
            },
        ],
        facts: &[],
    },
];
