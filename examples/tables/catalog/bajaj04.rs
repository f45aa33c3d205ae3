//! C. Bajaj, I. Ihm, J. Min, J. Oh, *SIMD Optimization of Linear Expressions for Programmable Graphics Hardware*,
//! Computer Graphics Forum 23(4), 2004.

use super::Better::{Less, More, Same};
use super::Program::Example;
use super::{Chapter, Cpu, Output, Table, figure, milliseconds, output, plot};

/// A matrix before and after packing.
const fn packed(
    name: &'static str,
    title: &'static str,
    source: &'static str,
    items: &'static [(&'static str, &'static str)],
    flags: &'static [&'static str],
    outputs: &'static [Output],
) -> Chapter {
    let reading = "Dots are non-zeros of the matrix, and a line joins those that one instruction of four lanes \
                   multiplies: blue ones a peel, each in a row of its own, orange ones all in one row; a dot in \
                   colour is multiplied alone. On the left unknowns are in the order they come in, on the right in \
                   the best that was found. The bound is what no order is below. The paper's counts stand beside \
                   Table 2, those of the suspension for four stages.";
    Chapter {
        name,
        title,
        source,
        items,
        program: Example("pack"),
        flags,
        outputs,
        reading,
        tables: COSTS,
        facts: &[("start", "found from"), ("stopped_by", "ended by")],
    }
}

const COSTS: &[Table] = &[Table {
    caption: "Instructions",
    rows: "",
    only: &[],
    labels: &[],
    figures: &[
        figure("cost_before", "before", "", Same),
        figure("cost", "after", "", Same),
        figure("lower_bound", "no order below", "", Same),
    ],
}];

pub const CHAPTERS: &[Chapter] = &[
    packed(
        "matrix-rk20",
        "Figure 2: the suspension's matrix before and after packing",
        "[Bajaj04] 2.3.2, Figure 2; costs in Table 2",
        &[("Bajaj04", "Figure 2")],
        &["--instance", "rk20", "--seconds", "1"],
        &[output(
            "--picture",
            plot!("matrix"),
            "The 20x20 matrix of the suspensions before and after packing: lines that wind through five blocks along \
             the diagonal become straight diagonals of four non-zeros; one of the blocks stays as it was",
        )],
    ),
    packed(
        "matrix-wave",
        "Figure 5: the wave's matrix before and after packing",
        "[Bajaj04] 3.1, Figure 5; costs in Table 2",
        &[("Bajaj04", "Section 3.1"), ("Bajaj04", "Figure 5")],
        &["--instance", "wave2d", "--seconds", "1"],
        &[output(
            "--picture",
            plot!("matrix"),
            "The 64x64 matrix of the two-dimensional wave equation before and after packing: bands of short lines and \
             of single dots become diagonals of four non-zeros, with a bent line here and there",
        )],
    ),
    packed(
        "matrix-gs64",
        "Figure 7: the matrix of Gauss and Seidel before and after packing",
        "[Bajaj04] 3.3, Figure 7; costs in Table 2",
        &[("Bajaj04", "Figure 7")],
        &["--instance", "gs64", "--seconds", "1"],
        &[output(
            "--picture",
            plot!("matrix"),
            "The 64x64 matrix of an iteration of Gauss and Seidel before and after packing: single orange dots along \
             the diagonal are gone afterwards, and every line joins four non-zeros",
        )],
    ),
    Chapter {
        name: "table2",
        title: "Table 2 and Figure 8: packing, and the search for it",
        source: "[Bajaj04] 3.4, Table 2 and Figure 8; 3.5",
        items: &[
            ("Bajaj04", "Section 2.3.3"),
            ("Bajaj04", "Section 3.4"),
            ("Bajaj04", "Table 2"),
            ("Bajaj04", "Figure 8"),
        ],
        program: Example("packing_table2"),
        flags: &[],
        outputs: &[
            Output {
                flag: "--plots",
                file: plot!("packing-wave2d"),
                alt: "Figure 8 for the wave: the cost over the accepted moves of annealing, a curve for each of three schedules, \
                      and the paper's cost as a level",
                folder: true,
            },
            output(
                "",
                plot!("packing-rk20"),
                "Figure 8 for the suspension: the cost over the accepted moves of annealing, by three schedules",
            ),
            output(
                "",
                plot!("packing-gs64"),
                "Figure 8 for Gauss and Seidel: the cost over the accepted moves of annealing, by three schedules",
            ),
        ],
        reading: "Instructions of each expression as its unknowns come in and in the best order found, beside the \
                  paper's. Counts are those of the programs that run. In the vertex stage 174 iterations of each are \
                  timed, as in section 3.5, on a GeForce FX 5900 there. Curves go down as annealing cools; the paper prints \
                  its curves but not its schedules, and these are ours.",
        tables: &[
            Table {
                caption: "Instructions",
                rows: "rows",
                only: &[],
                labels: &[("instance", "expression")],
                figures: &[
                    figure("cost_before", "before", "", Same).paper("paper.cost_before"),
                    figure("cost", "after", "", Same).paper("paper.cost"),
                    figure("lower_bound", "no order below", "", Same),
                    figure("scalar_operations", "scalar operations", "", Same)
                        .paper("paper.scalar_operations"),
                ],
            },
            Table {
                caption: "174 iterations in the vertex stage",
                rows: "vertex_stage",
                only: &[],
                labels: &[("instance", "expression")],
                figures: &[
                    milliseconds("before_seconds", "before"),
                    milliseconds("after_seconds", "after"),
                    milliseconds("empty_seconds", "a program that only writes"),
                    figure("ratio", "before over after", "x", More),
                ],
            },
        ],
        facts: &[("papers_gauss_seidel_ms", "the paper's Gauss-Seidel, ms before and after")],
    },
    Chapter {
        name: "vertex-state",
        title: "Section 3: applications in the vertex stage",
        source: "[Bajaj04] 3.1 to 3.5, Figure 6",
        items: &[
            ("Bajaj04", "Section 3"),
            ("Bajaj04", "Equation 3"),
            ("Bajaj04", "Section 3.2"),
            ("Bajaj04", "Figure 6"),
            ("Bajaj04", "Section 3.5"),
        ],
        program: Example("vertex_state"),
        flags: &[],
        outputs: &[
            output(
                "--plot",
                plot!("cars"),
                "Bounce and pitch of three cars over time, by fourth-order Runge-Kutta",
            ),
            output("--waves", "waves.png", ""),
        ],
        reading: "Waves, cars on springs and an iteration of Gauss and Seidel as programs of the vertex stage, whose \
                  outputs are captured. Each is held to 64 bits, to a bound that its roundings give.",
        tables: &[Table {
            caption: "Instructions",
            rows: "rows",
            only: &[],
            labels: &[("program", "program")],
            figures: &[
                figure("before", "before", "", Same),
                figure("after", "after", "", Same),
                figure("unknowns", "unknowns", "", Same),
            ],
        }],
        facts: &[],
    },
    Chapter {
        name: "table3",
        title: "Table 3 and Figures 9, 12, 13: Poisson's equation by enhanced block Jacobi",
        source: "[Bajaj04] 4.1, Table 3, Figures 9, 12 and 13",
        items: &[
            ("Bajaj04", "Section 4.1"),
            ("Bajaj04", "Figure 9"),
            ("Bajaj04", "Section 4.1.2"),
            ("Bajaj04", "Figure 12"),
            ("Bajaj04", "Figure 13"),
            ("Bajaj04", "Section 4.1.3"),
            ("Bajaj04", "Table 3"),
        ],
        program: Example("poisson_table3"),
        // On a software rasteriser on two cores a step of all methods takes a minute and more.
        flags: &["--steps=5"],
        outputs: &[output(
            "--plot",
            plot!("figures"),
            "Figures 9, 12 and 13: the matrix of a block before and after packing, the slabs of the grid, and slices \
             through smoke and pressure",
        )],
        reading: "Figures are means over the steps of a fluid, each method from its last solution; the paper's are its times \
                  with transfer and, where it prints those too, without. The paper does not say what \
                  its tolerance bounds, so that both of what it may be are run: the residual, and the change of x, \
                  whose counts are in the paper's ratios. Its scene is not given either, and counts depend on it. \
                  Its machine is a GeForce FX 5900 Ultra beside a Pentium 4; its numbers are those of 40x80x80 cells and \
                  stand beside no other size.",
        tables: &[
            Table {
                caption: "Instructions of a block of 40 unknowns",
                rows: "programs",
                only: &[],
                labels: &[("order", "order")],
                figures: &[
                    // Lines of 40 as in the paper, which --quick does not have.
                    figure("instructions", "instructions", "", Same).paper("paper_instructions"),
                    figure("fetches", "fetches", "", Same),
                ],
            },
            Table {
                caption: "Solving a system, by the change of x",
                rows: "rows",
                only: &[("criterion", "change of x over x")],
                labels: &[("method", "method"), ("tolerance", "to")],
                figures: &[
                    figure("iterations", "iterations", "", Same).paper("papers_iterations"),
                    figure("ms", "time", "ms", Less).paper("papers_ms_without_transfer").cpu(CPU3),
                    figure("ms_with_transfer", "with b brought and x read", "ms", Less).paper("papers_ms"),
                ],
            },
            Table {
                caption: "Solving a system, by the residual",
                rows: "rows",
                only: &[("criterion", "residual over b")],
                labels: &[("method", "method"), ("tolerance", "to")],
                figures: &[
                    figure("iterations", "iterations", "", Same),
                    figure("ms", "time", "ms", Less).cpu(CPU3),
                    figure("ms_with_transfer", "with b brought and x read", "ms", Less),
                ],
            },
            Table {
                caption: "An iteration",
                rows: "iterations",
                only: &[],
                labels: &[("method", "method")],
                figures: &[figure("ms", "time", "ms", Less)
                    .cpu(Cpu::Rows {
                        key: "method",
                        of: &["Gauss-Seidel, CPU", "the same, two threads"],
                        like: &[],
                    })
                    .share("share_of_ceiling")],
            },
        ],
        facts: &[
            ("size", "cells"),
            ("steps", "time steps"),
            ("diffusion_sweeps", "sweeps of a diffusion (the paper: 5 to 10)"),
        ],
    },
    Chapter {
        name: "table4",
        title: "Table 4 and Figure 14: waves in eight textures",
        source: "[Bajaj04] 4.2, Table 4 and Figure 14",
        items: &[("Bajaj04", "Section 4.2"), ("Bajaj04", "Figure 14"), ("Bajaj04", "Table 4")],
        program: Example("wave_table4"),
        flags: &[],
        outputs: &[output(
            "--plot",
            plot!("waves"),
            "Figure 14: waves on a square, and the matrix of a block before and after packing",
        )],
        reading: "A step of two-dimensional waves: total is with the grid read back after every step, as in the \
                  paper, and drawn is from the textures, which it could not yet do. Its machine is a GeForce FX 5900 \
                  Ultra beside a Pentium 4; its times are means over 2000 steps of 512x512 nodes and stand beside no \
                  other size, those here are medians of rounds. The ceiling is a draw that only writes a level.",
        tables: &[
            Table {
                caption: "A step",
                rows: "rows",
                only: &[],
                labels: &[("row", "by"), ("column", "with")],
                figures: &[figure("ms", "time", "ms", Less)
                    .paper("paper_ms")
                    .cpu(Cpu::Rows { key: "row", of: &["CPU, one thread", "CPU, two threads"], like: &[] })
                    .share("share_of_ceiling")],
            },
            Table {
                caption: "What a step takes, for 32 nodes",
                rows: "rows",
                only: &[("column", "no data transfer")],
                labels: &[("row", "by")],
                figures: &[
                    figure("instructions", "instructions", "", Same),
                    figure("fetches", "fetches", "", Same),
                    figure("draws_per_step", "draws", "", Same),
                ],
            },
        ],
        facts: &[
            ("size", "nodes a side"),
            ("chosen.plan", "chosen by this device's charges"),
            ("fastest", "fastest here"),
        ],
    },
    Chapter {
        name: "diffusion",
        title: "Section 4: any expression in the fragment stage",
        source: "[Bajaj04] 4, on an image of ours",
        items: &[("Bajaj04", "Section 4")],
        program: Example("anisotropic_diffusion"),
        flags: &[],
        outputs: &[output(
            "--output",
            "diffusion.png",
            "A drawn pattern before and after anisotropic diffusion, which smooths along one direction alone",
        )],
        reading: "Diffusion of an image along one direction as a repeated expression, beside products with the same \
                  matrix stored as diagonals and as rows.",
        tables: &[
            Table {
                caption: "A step",
                rows: "rows",
                only: &[],
                labels: &[("by", "by")],
                figures: &[figure("ms", "time", "ms", Less)],
            },
            Table {
                caption: "The generated program",
                rows: "",
                only: &[],
                labels: &[("steps", "steps")],
                figures: &[
                    figure("instructions", "instructions", "", Same),
                    figure("fetches", "fetches", "", Same),
                ],
            },
        ],
        facts: &[("plan", "chosen")],
    },
];

const CPU3: Cpu = Cpu::Rows {
    key: "method",
    of: &["Gauss-Seidel, CPU", "the same, two threads"],
    like: &["criterion", "tolerance"],
};
