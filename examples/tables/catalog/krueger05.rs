//! J. Krüger, R. Westermann, *A GPU Framework for Solving Systems of Linear Equations*, GPU Gems 2, chapter 44, 2005.

use super::Better::{Less, Same};
use super::Program::Example;
use super::{Chapter, Table, figure, output, plot};

pub const CHAPTERS: &[Chapter] = &[
    Chapter {
        name: "table44-1",
        title: "Table 44-1: vector operations and the wave demo",
        source: "[Krueger05] 44.5, Table 44-1; the program of 44.4.1",
        items: &[
            ("Krueger05", "Section 44.3.1"),
            ("Krueger05", "Section 44.3.2"),
            ("Krueger05", "Section 44.5"),
            ("Krueger05", "Table 44-1"),
            ("Krueger05", "Program of 44.4.1, implicit"),
            ("Krueger05", "Equation 44-7"),
        ],
        program: Example("framework_table44_1"),
        flags: &["--printed"],
        outputs: &[output(
            "--plot",
            plot!("times"),
            "Bars by grid size: milliseconds of reduction, vector operation and wave demo, here and in 2005",
        )],
        reading: "A reduction sums a vector of as many numbers as the grid has cells, an operation adds two, the \
                  demo makes an implicit step and draws it. The paper's card is a GeForce 6800 GT. Printed step and \
                  printed demo are the paper's own program, line by line. The ceiling of a reduction is the best \
                  draw that only reads, that of an operation the best that only writes; a step has to do both, so \
                  often as conjugate gradients cannot do without.",
        tables: &[
            Table {
                caption: "Time of one operation, step or frame",
                rows: "rows",
                only: &[],
                labels: &[("size", "grid"), ("operation", "operation")],
                figures: &[figure("ms", "time", "ms", Less).paper("paper_ms").share("share_of_ceiling")],
            },
            Table {
                caption: "What a step of the wave takes",
                rows: "rows",
                only: &[("operation", "wave step")],
                labels: &[("size", "grid")],
                figures: &[
                    figure("iterations", "iterations", "", Same),
                    figure("passes_per_iteration", "passes an iteration", "", Same),
                    figure("draws", "draws", "", Same),
                    figure("readbacks", "readbacks", "", Same),
                ],
            },
        ],
        facts: &[("paper_hardware", "the paper's card")],
    },
    Chapter {
        name: "convergence",
        title: "Listing 44-1: conjugate gradients",
        source: "[Krueger05] 44.3.5, Listing 44-1",
        items: &[("Krueger05", "Section 44.3.5"), ("Krueger05", "Listing 44-1")],
        program: Example("solve"),
        flags: &["--method=cg"],
        outputs: &[output(
            "--plot",
            plot!("residual"),
            "The relative residual over the iterations, on a logarithmic scale, down to the bound",
        )],
        reading: "Poisson's equation on a square, solved to a relative residual of 1e-5. The true residual is \
                  computed in 64 bits from what was read back; nothing is read back in the loop. The paper prints no \
                  numbers for this.",
        tables: &[Table {
            caption: "The solve",
            rows: "",
            only: &[],
            labels: &[("matrix.name", "matrix")],
            figures: &[
                figure("iterations", "iterations", "", Same),
                figure("true_relative_residual", "true relative residual", "", Less),
                figure("readbacks_in_loop", "readbacks in the loop", "", Same),
                figure("draws_per_iteration", "draws an iteration", "", Same),
                figure("ms_per_iteration", "an iteration", "ms", Less),
            ],
        }],
        facts: &[("reason", "ended because"), ("format", "kept as")],
    },
    Chapter {
        name: "water",
        title: "Figure 44-10: the water demo",
        source: "[Krueger05] 44.4, Figure 44-10",
        items: &[
            ("Krueger05", "Section 44.4"),
            ("Krueger05", "Equation 44-3"),
            ("Krueger05", "Section 44.4.1"),
            ("Krueger05", "Figure 44-10"),
        ],
        program: Example("water"),
        flags: &[],
        outputs: &[
            output(
                "--picture",
                "water.png",
                "A pool of water with ripples that run out from drops and are mirrored by its walls",
            ),
            output("--animation", "animation.png", ""),
        ],
        reading: "Drops fall into a pool, and every frame is a few implicit steps of the wave equation. Iterations \
                  and draws are the same in every step, and nothing is read back.",
        tables: &[Table {
            caption: "A step, and a picture",
            rows: "",
            only: &[],
            labels: &[("cells", "cells a side")],
            figures: &[
                figure("ms_per_step", "a step", "ms", Less).share("share_of_ceiling"),
                figure("ms_per_picture", "a picture", "ms", Less),
                figure("iterations_per_step", "iterations a step", "", Same),
                figure("draws_per_step", "draws a step", "", Same),
            ],
        }],
        facts: &[],
    },
    Chapter {
        name: "smoke",
        title: "Figure 44-9: the smoke demo",
        source: "[Krueger05] 44.4, Figure 44-9",
        items: &[("Krueger05", "Figure 44-9")],
        program: Example("smoke"),
        flags: &[],
        outputs: &[
            output(
                "--picture",
                "smoke.png",
                "Streams of orange and of blue dye in turns around a disc in a wind tunnel, curling up into eddies behind it",
            ),
            output("--animation", "animation.png", ""),
        ],
        reading: "A wind tunnel with a disc in it, by stable fluids. The second table compares what solvers need \
                  from nothing for the same divergence.",
        tables: &[
            Table {
                caption: "A step",
                rows: "",
                only: &[],
                labels: &[("frames", "frames")],
                figures: &[figure("ms_per_step", "a step", "ms", Less)],
            },
            Table {
                caption: "Iterations or sweeps of the pressure's solver",
                rows: "compared",
                only: &[],
                labels: &[("name", "solver")],
                figures: &[figure("value", "count", "", Same)],
            },
        ],
        facts: &[("cells", "cells")],
    },
];
