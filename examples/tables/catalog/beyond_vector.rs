//! *Beyond vector processing*, section 28.4 of a textbook on algorithms. It prints no numbers of its own.

use super::Better::{Less, Same};
use super::Program::Example;
use super::{Chapter, Cpu, Table, figure, milliseconds, output, plot};

pub const CHAPTERS: &[Chapter] = &[
    Chapter {
        name: "regula-falsi",
        title: "28.4.1: loops that end cell by cell",
        source: "[BeyondVector] 28.4.1, Exercise 28.4-1",
        items: &[("BeyondVector", "Section 28.4.1"), ("BeyondVector", "Exercise 28.4-1")],
        program: Example("regula_falsi"),
        flags: &[],
        outputs: &[output(
            "--png",
            plot!("steps"),
            "Steps that each equation takes, over its two parameters: the more, the brighter",
        )],
        reading: "An equation a texel, each solved in as many steps as it takes: by predication, where cells that \
                  are done are masked, or by a branch in the shader; several steps a pass or all in one.",
        tables: &[Table {
            caption: "All equations",
            rows: "rows",
            only: &[],
            labels: &[("schedule", "schedule"), ("steps_per_pass", "steps a pass")],
            figures: &[
                milliseconds("seconds", "time").cpu(Cpu::Keys(&["/cpu_seconds"])),
                figure("passes", "passes", "", Same),
            ],
        }],
        facts: &[("equations", "equations"), ("steps.mean", "steps, mean"), ("steps.most", "steps, most")],
    },
    Chapter {
        name: "tone-map",
        title: "28.4.2: reductions, by mapping tones",
        source: "[BeyondVector] 28.4.2, Exercise 28.4-2",
        items: &[("BeyondVector", "Section 28.4.2"), ("BeyondVector", "Exercise 28.4-2")],
        program: Example("tone_map"),
        flags: &[],
        outputs: &[output(
            "--output",
            "tone_map.png",
            "The same bright scene twice: divided by its largest channel on the left, which leaves it nearly black, and by \
             Reinhard's operator on the right",
        )],
        reading: "Maxima and the mean of the logarithm of an image are reductions; the section's windows are 2x2, \
                  texla's are larger. All of it is what a frame of an application would take.",
        tables: &[Table {
            caption: "Parts of mapping tones",
            rows: "rows",
            only: &[],
            labels: &[("part", "part"), ("by", "by")],
            figures: &[figure("ms", "time", "ms", Less).cpu(Cpu::Rows {
                key: "by",
                of: &["CPU"],
                like: &["part"],
            })],
        }],
        facts: &[("size", "pixels")],
    },
    Chapter {
        name: "histogram",
        title: "28.4.3 and Figure 28.6: scattering, by a histogram",
        source: "[BeyondVector] 28.4.3, Figure 28.6",
        items: &[("BeyondVector", "Section 28.4.3"), ("BeyondVector", "Figure 28.6")],
        program: Example("histogram"),
        flags: &[],
        outputs: &[output(
            "--plot",
            plot!("histogram"),
            "A histogram of random numbers: counts by value, in 256 bins",
        )],
        reading: "Every number becomes a point, which the vertex stage puts on its bin and blending counts. Counts \
                  are the CPU's, to the last one.",
        tables: &[Table {
            caption: "Counting all numbers",
            rows: "",
            only: &[],
            labels: &[("numbers", "numbers"), ("bins", "bins")],
            figures: &[
                figure("ms", "time", "ms", Less).cpu(Cpu::Keys(&["cpu_ms"])),
                figure("largest_bin", "the fullest bin", "", Same),
            ],
        }],
        facts: &[],
    },
    Chapter {
        name: "caustics",
        title: "Figure 28.7: caustics by photons",
        source: "[BeyondVector] 28.4.3, Figure 28.7, Exercise 28.4-3",
        items: &[("BeyondVector", "Figure 28.7"), ("BeyondVector", "Exercise 28.4-3")],
        program: Example("caustics"),
        flags: &[],
        outputs: &[output(
            "--png",
            "caustics.png",
            "A glass sphere over a floor, on which it gathers light into a bright, coloured caustic",
        )],
        reading: "Photons are traced through a sphere in the vertex stage, and counted where they land. Times \
                  contain the upload.",
        tables: &[Table {
            caption: "All photons",
            rows: "rows",
            only: &[],
            labels: &[("by", "by")],
            figures: &[milliseconds("seconds", "time").cpu(Cpu::Rows {
                key: "by",
                of: &["plain Rust, one thread, 32 bits", "plain Rust, one thread, 64 bits"],
                like: &[],
            })],
        }],
        facts: &[("photons", "photons"), ("size", "texels a side")],
    },
    Chapter {
        name: "reuse",
        title: "28.4.4: parallelism or reuse",
        source: "[BeyondVector] 28.4.4",
        items: &[("BeyondVector", "Section 28.4.4")],
        program: Example("reuse"),
        flags: &[],
        outputs: &[output(
            "--plot",
            plot!("times"),
            "Bars by steps of a computation: milliseconds per fragment, at vertices and from tables",
        )],
        reading: "The same quantity computed in every fragment, at the vertices and interpolated, or in an earlier \
                  pass and fetched. The longer it takes to compute, the more reuse pays.",
        tables: &[Table {
            caption: "The whole square",
            rows: "rows",
            only: &[],
            labels: &[("quantity", "quantity"), ("steps", "steps")],
            figures: &[
                milliseconds("per_fragment_seconds", "per fragment").cpu(CPUS),
                milliseconds("vertex_seconds", "at vertices").cpu(CPUS),
                milliseconds("tables_seconds", "from tables").cpu(CPUS),
            ],
        }],
        facts: &[],
    },
    Chapter {
        name: "coverage",
        title: "Exercise 28.4-4: radio coverage",
        source: "[BeyondVector] Exercise 28.4-4",
        items: &[("BeyondVector", "Exercise 28.4-4")],
        program: Example("coverage"),
        flags: &[],
        outputs: &[output(
            "--png",
            "coverage.png",
            "A map of discs around transmitters, in the colours of the strongest signal at each place",
        )],
        reading: "Every transmitter draws its disc and blending keeps the strongest signal (scattering), or every \
                  cell asks all transmitters (gathering). The more there are that reach less far, the more \
                  scattering gains.",
        tables: &[Table {
            caption: "The whole map",
            rows: "rows",
            only: &[],
            labels: &[("towers", "transmitters")],
            figures: &[
                milliseconds("scatter_seconds", "scattering").cpu(Cpu::Keys(&["cpu_seconds"])),
                milliseconds("gather_seconds", "gathering").cpu(Cpu::Keys(&["cpu_seconds"])),
                figure("cells_of_discs", "cells of discs", "", Same),
            ],
        }],
        facts: &[],
    },
];

const CPUS: Cpu = Cpu::Keys(&["cpu_seconds", "cpu_tables_seconds"]);
