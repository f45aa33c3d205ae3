//! The benchmarks: operations beside the ceilings of the device and beside what a CPU does.

use super::Better::{Less, More, Neither, Same};
use super::Program::Bench;
use super::{Chapter, Cpu, Table, figure};

pub const CHAPTERS: &[Chapter] = &[
    Chapter {
        name: "operations",
        title: "Operations, beside the ceilings of the device",
        source: "benches/operations.rs",
        items: &[],
        program: Bench("operations"),
        flags: &[],
        outputs: &[],
        reading: "Rows are measured in turns. An element is a number written, read or multiplied, or an unknown of an iteration. \
                  Predictions are by the profile that this device was measured to have, of the least time.",
        tables: &[
            Table {
                caption: "Time of a call or an iteration",
                rows: "rows",
                only: &[],
                labels: &[("row", "row")],
                figures: &[figure("ms", "time", "ms", Less).share("of_ceiling")],
            },
            Table {
                caption: "What its profile predicts, over the least that was measured",
                rows: "rows",
                only: &[],
                labels: &[("row", "row")],
                figures: &[figure("predicted_over_least", "ratio", "", Neither)],
            },
            Table {
                caption: "A small draw over its bare GL calls",
                rows: "",
                only: &[],
                labels: &[("n", "numbers in the vectors above")],
                figures: &[figure("small_draw_over_its_calls", "ratio", "", Less)],
            },
        ],
        facts: &[("n", "numbers in a vector"), ("grid", "cells along a side")],
    },
    Chapter {
        name: "products",
        title: "Products of dense matrices by every schedule",
        source: "benches/dense.rs; [Moravanszky03] 3.3 for the paper's passes",
        items: &[],
        program: Bench("dense"),
        flags: &[],
        outputs: &[],
        reading: "Every schedule, the shader of TensorFlow.js as a kernel of a user's, and faer on the CPU.",
        tables: &[Table {
            caption: "Rate",
            rows: "rows",
            only: &[],
            labels: &[("row", "product and schedule")],
            figures: &[figure("gflops", "rate", "GFLOP/s", More)],
        }],
        facts: &[("n", "rows and columns"), ("cpu_threads", "CPU threads")],
    },
    Chapter {
        name: "time-to-solution",
        title: "Time to solution",
        source: "benches/time_to_solution",
        items: &[],
        program: Bench("time_to_solution"),
        flags: &["--most=6"],
        outputs: &[],
        reading: "From the call to the certified answer, every answer looked at again in 64 bits; setting up is counted on neither side, \
                  but on both from having the matrix to having the solution, where each row has a device of its own. What a row of the size before lets expect to take more than six seconds is left out.",
        tables: &[
            Table {
                caption: "Wall-clock of a solve",
                rows: "rows",
                only: &[("what", "solve")],
                labels: &[("problem", "problem"), ("grid", "grid"), ("method", "method")],
                figures: &[figure("wall_ms", "time", "ms", Less).cpu(Cpu::Rows {
                    key: "method",
                    of: &["CPU: "],
                    like: &["problem", "grid"],
                })],
            },
            Table {
                caption: "From having the matrix to having the solution",
                rows: "rows",
                only: &[("what", "answer")],
                labels: &[("problem", "problem"), ("grid", "grid"), ("method", "from what, and how")],
                figures: &[
                    figure("upload_ms", "upload", "ms", Less),
                    figure("set_up_ms", "set-up", "ms", Less),
                    figure("compile_ms", "compiling", "ms", Less),
                    figure("iterate_ms", "iterations or factors", "ms", Less),
                    figure("wall_ms", "in all", "ms", Less).cpu(Cpu::Rows {
                        key: "method",
                        of: &["CPU: "],
                        like: &["problem", "grid"],
                    }),
                ],
            },
            Table {
                caption: "Draws of a solve",
                rows: "rows",
                only: &[("what", "solve")],
                labels: &[("problem", "problem"), ("grid", "grid"), ("method", "method")],
                figures: &[
                    figure("draws_useful", "useful", "", Neither),
                    figure("draws_in_vain", "in vain", "", Less),
                ],
            },
            Table {
                caption: "Parts of a solve, by themselves",
                rows: "rows",
                only: &[("what", "part")],
                labels: &[("problem", "problem"), ("grid", "grid"), ("method", "part")],
                figures: &[figure("wall_ms", "time", "ms", Less)],
            },
            Table {
                caption: "Multigrid-CG: the wall over what the useful work alone takes",
                rows: "rows",
                only: &[],
                labels: &[("problem", "problem"), ("grid", "grid")],
                figures: &[figure("over_useful_work", "ratio", "", Less)],
            },
        ],
        facts: &[("tol", "bound on the relative residual"), ("cpu_threads", "CPU threads")],
    },
    Chapter {
        name: "predication",
        title: "What early-z predication gains",
        source: "[BeyondVector] 28.4.1; benches/predication.rs",
        items: &[],
        program: Bench("predication"),
        flags: &[],
        outputs: &[],
        reading: "How many times as long the first of two takes as the second. All computes every cell, branch asks in the shader; \
                  a mask is drawn into the depth buffer, a pass draws where it lets it, both computes two branches and chooses.",
        tables: &[Table {
            caption: "Ratios by pattern",
            rows: "rows",
            only: &[],
            labels: &[("row", "active cells")],
            figures: &[
                figure("all/mask+pass", "all cells over mask and pass", "", More),
                figure("all/pass", "all cells over the pass alone", "", More),
                figure("branch/mask+pass", "branch over mask and pass", "", More),
                figure("both/two", "both branches over mask and two passes", "", More),
                figure("branches/two", "two branches over mask and two passes", "", More),
            ],
        }],
        facts: &[],
    },
    Chapter {
        name: "layouts",
        title: "Packed layouts and schedules, all timed",
        source: "[Bajaj04] 4; benches/packing.rs",
        items: &[],
        program: Bench("packing"),
        flags: &["--layouts", "--rounds=3"],
        outputs: &[],
        reading: "Every order, layout and schedule of three expressions, beside what the profile of the device predicts, and stored \
                  matrices. Chosen is what the library takes on this device when it has the profile.",
        tables: &[Table {
            caption: "A step or iteration, the least",
            rows: "rows",
            only: &[],
            labels: &[("problem", "problem"), ("row", "order, layout, schedule")],
            figures: &[
                figure("ms", "time", "ms", Less),
                figure("over_fastest", "over the fastest", "", Less),
                figure("instructions", "instructions", "", Same),
                figure("predicted_over_least", "predicted over measured", "", Neither),
            ],
        }],
        facts: &[("chosen", "")],
    },
];
