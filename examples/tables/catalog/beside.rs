//! The device itself, and what is held to a source beyond the five papers.

use super::Better::{Less, Neither, Same};
use super::Program::Example;
use super::{Chapter, Table, figure, output, plot};

pub const DEVICE: &[Chapter] = &[Chapter {
    name: "device",
    title: "The device",
    source: "what probing and measuring found, before anything else",
    items: &[],
    program: Example("info"),
    flags: &[],
    outputs: &[output("--profile", "profile.txt", "")],
    reading: "Capabilities are probed: a small draw is made and read back, and extension strings are not believed. \
              The charges are what one of each costs on this device, in seconds; solvers choose by them. The \
              ceilings are the best draws that do nothing but write, or read.",
    tables: &[
        Table {
            caption: "Ceilings: the best draws that only write, read, or fetch from the cache",
            rows: "ceilings",
            only: &[],
            labels: &[("draw", "draw")],
            figures: &[figure("gfloats", "rate", "Gfloat/s", super::Better::More)],
        },
        Table {
            caption: "Charges",
            rows: "rows",
            only: &[],
            labels: &[("name", "of what")],
            figures: &[figure("value", "in seconds, but overlap, which is a share", "", Neither)],
        },
    ],
    facts: &[("system", "system"), ("capabilities", ""), ("environment", ""), ("quirks", "quirks")],
}];

pub const CHAPTERS: &[Chapter] = &[Chapter {
    name: "cavity",
    title: "The lid-driven cavity",
    source: "Ghia, Ghia, Shin, J. Comput. Phys. 48, 1982, Tables I and II: beside the five papers",
    items: &[],
    program: Example("cavity"),
    flags: &[],
    outputs: &[output(
        "--plot",
        plot!("profiles"),
        "Velocities along the two centre lines of the cavity: curves computed here, and the published points on them",
    )],
    reading: "A fluid in a box whose lid moves, at Reynolds number 100, run until it is steady on finer and finer \
              grids. Deviations are from the published velocities, as shares of the lid's speed.",
    tables: &[Table {
        caption: "Deviation from the published velocities",
        rows: "rows",
        only: &[],
        labels: &[("grid", "cells a side")],
        figures: &[
            figure("deviation_u", "in u", "", Less),
            figure("deviation_v", "in v", "", Less),
            figure("steps", "steps", "", Same),
            figure("seconds", "until steady", "s", Less),
        ],
    }],
    facts: &[],
}];
