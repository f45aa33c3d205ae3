//! The packing optimiser as a tool: a matrix in, the order of its unknowns in which y = A x + b takes the fewest
//! instructions out, with how far that is from the best there can be, and the program as a listing or as GLSL.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use problem::Problem;
use support::{CommonArgs, Failure, Report, Result, json, say, write_file};
use texla::pack::{
    CostModel, Form, LinearExpression, LowerBound, LowerOptions, Orders, Packing, Program, ShaderStage,
    SimdMachine, TexelFetch,
};

mod check;
mod picture;
mod problem;
mod search;
#[path = "../support/mod.rs"]
mod support;

/// Packs y = A x + b into the fewest instructions: an order of the unknowns, a bound, a program.
///
/// Without --matrix and --instance it packs the paper's 2D wave equation. A search that Ctrl-C ends keeps its best.
#[derive(clap::Parser)]
#[command(name = "pack")]
struct Args {
    #[command(flatten)]
    common: CommonArgs,
    /// A, square, from a Matrix Market file; with --gauss-seidel the matrix of the system, diagonal and all
    #[arg(long, value_name = "A.mtx", conflicts_with = "instance", value_hint = clap::ValueHint::FilePath)]
    matrix: Option<PathBuf>,
    /// Which entries of b are not the constant 0: the non-zeros of this vector
    #[arg(long, value_name = "b.mtx", requires = "matrix", conflicts_with = "rhs_pattern", value_hint = clap::ValueHint::FilePath)]
    rhs: Option<PathBuf>,
    /// All entries of b, or none of them; all unless given
    #[arg(long, value_enum, value_name = "PATTERN", requires = "matrix")]
    rhs_pattern: Option<RhsPattern>,
    /// One of the paper's expressions; gs64 is an iteration of Gauss and Seidel
    #[arg(long, value_enum)]
    instance: Option<Instance>,
    /// An iteration of Gauss and Seidel for A x = b in place of A x + b
    #[arg(long)]
    gauss_seidel: bool,
    /// Drop the columns of unknowns that stay zero for ever, where y becomes the next x
    #[arg(long)]
    fold_zero_nodes: bool,
    /// Rows and columns ordered by themselves, where y never becomes an x of the same layout
    #[arg(long, conflicts_with_all = ["gauss_seidel", "fold_zero_nodes", "prove"])]
    independent: bool,
    /// Begin with this order: unknowns by position, 4 ceil(n / 4) of them, from 0; those from n on are padding
    #[arg(long, value_name = "order.txt", value_hint = clap::ValueHint::FilePath)]
    order: Option<PathBuf>,
    /// Price that order, or the given one, and search for no better
    #[arg(long, conflicts_with = "prove")]
    no_search: bool,
    /// What to make least: the paper's instructions, or texel fetches and multiply-adds
    #[arg(long, value_enum, default_value = "simd")]
    cost: Model,
    /// After the search, look for anything cheaper by exhaustion: to 64 unknowns, one order, no iteration
    #[arg(long)]
    prove: bool,
    /// Seconds for the search, and for the proof; 10 and 600 unless given (2 with --quick)
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Swaps proposed, in place of seconds: the same result on every machine
    #[arg(long, value_name = "N", conflicts_with = "seconds")]
    proposals: Option<u64>,
    /// Seed of the random streams
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Threads; as many as there are cores unless given
    #[arg(long, value_name = "T")]
    threads: Option<usize>,
    /// Print the program
    #[arg(long, value_enum, default_value = "none")]
    emit: Emit,
    /// Write the program to FILE in place of printing it
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Draw the matrix before and after, with what each instruction multiplies
    #[arg(long, value_name = "F.svg|F.png", value_parser = support::figure_file())]
    picture: Option<PathBuf>,
}

impl AsRef<CommonArgs> for Args {
    fn as_ref(&self) -> &CommonArgs {
        &self.common
    }
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum RhsPattern {
    All,
    None,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
#[value(rename_all = "snake_case")]
// What the help says of each is the title of its picture too.
enum Instance {
    /// Wave equation on 8x8 nodes
    #[value(name = "wave2d")]
    Wave2d,
    /// Suspensions of five cars, a Runge-Kutta stage
    #[value(name = "rk20")]
    Rk20,
    /// Gauss-Seidel in a cube of 4x4x4 cells
    #[value(name = "gs64")]
    Gs64,
    /// Poisson's equation on a plane, a block of 8
    #[value(name = "poisson2d_s8")]
    Poisson2d,
    /// Poisson's equation in space, a block of 40
    #[value(name = "poisson3d_s40")]
    Poisson3d,
    /// Wave equation, a block of 32
    #[value(name = "wave_s32")]
    WaveS32,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Model {
    Simd,
    Fetch,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum Emit {
    Listing,
    GlslFragment,
    GlslVertex,
    None,
}

/// The most threads that anything is gained by.
const MOST_THREADS: usize = 1024;
/// Quads whose instructions go into one fragment shader; and what every device captures from one vertex.
const FRAGMENT_QUADS: usize = 16;
const VERTEX_QUADS: usize = 15;

fn main() -> ExitCode {
    support::main_with("pack", run)
}

fn run(args: &Args, report: &mut Report) -> Result {
    args.seconds.map(|seconds| support::in_range("--seconds", seconds, 1e-3..=1e6)).transpose()?;
    args.proposals.map(|proposals| support::in_range("--proposals", proposals, 1..=u64::MAX)).transpose()?;
    args.threads.map(|threads| support::in_range("--threads", threads, 1..=MOST_THREADS)).transpose()?;
    if args.out.is_some() && args.emit == Emit::None {
        return Err(Failure::bad_input("--out needs --emit: listing, glsl-fragment or glsl-vertex"));
    }
    if args.prove && args.cost != Model::Simd {
        return Err(Failure::bad_input("--prove is for --cost simd"));
    }
    let problem = Problem::read(args)?;
    // What can't become a program is refused before the search, not after it.
    let e = &problem.expression;
    Program::lower(e, &Packing::identity(e.unknowns()), options(args.emit))?;
    say(format_args!(
        "expression    {}: {} unknowns, {} non-zeros, {} scalar operations",
        problem.name,
        e.unknowns(),
        e.nnz(),
        e.scalar_operations()
    ));
    let interrupt = interrupt()?;
    let mut outcome = match args.cost {
        Model::Simd => {
            let bound = LowerBound::new(e, if args.independent { Orders::Two } else { Orders::One });
            search::run(&SimdMachine, &problem, args, interrupt, (bound.value, bound.by.to_string()))?
        }
        Model::Fetch => {
            let bound = TexelFetch.lower_bound(e);
            search::run(
                &TexelFetch,
                &problem,
                args,
                interrupt,
                (bound, "non-zeros to a block, rows to a quad".to_owned()),
            )?
        }
    };
    if args.prove && !interrupt.load(Ordering::Relaxed) {
        search::prove(&mut outcome, &problem, args, interrupt, report)?;
    }
    outcome.tell(report);
    let found = outcome.packing;
    let program = Program::lower(e, &found, options(args.emit))?;
    let counts = program.counts();
    report.set("aliases", counts.alias);
    let names = counts.by_name();
    let kinds: Vec<String> =
        names.iter().filter(|(_, count)| *count > 0).map(|(name, count)| format!("{count} {name}")).collect();
    say(format_args!(
        "program       {} instructions, cost {:+}: {}; {} constants, {} temporaries",
        counts.total(),
        program.extra,
        if kinds.is_empty() { "none".to_owned() } else { kinds.join(" + ") },
        program.constants.len(),
        program.temporaries
    ));
    report.set("instructions", json!(names.into_iter().collect::<std::collections::BTreeMap<_, _>>()));
    report.set("constants", program.constants.len());
    report.set("temporaries", program.temporaries);
    report.row(json!({ "expression": problem.name, "unknowns": e.unknowns(), "nonzeros": e.nnz() }));
    check::program(e, &program, report)?;
    emit(args, &program)?;
    let Some(path) = &args.picture else { return Ok(()) };
    let before = Program::lower(e, &Packing::identity(e.unknowns()), LowerOptions::VERTEX)?;
    let after = Program::lower(e, &found, LowerOptions::VERTEX)?;
    picture::write(path, &problem.title, &before, &after)
}

/// The stage that a program is printed for.
fn options(emit: Emit) -> LowerOptions {
    match emit {
        Emit::GlslFragment => LowerOptions::FRAGMENT,
        Emit::Listing | Emit::GlslVertex | Emit::None => LowerOptions::VERTEX,
    }
}

fn emit(args: &Args, program: &Program) -> Result {
    let text = match (args.emit, program.stage) {
        (Emit::None, _) => return Ok(()),
        (Emit::Listing, _) => program.listing(),
        (_, stage) => {
            let parts = parts(program)?;
            let kernel = if stage == ShaderStage::Fragment { "Kernel" } else { "VertexKernel" };
            let count = parts.len();
            let part = |(k, part): (usize, &texla::pack::ProgramPart)| {
                let last = part.first + part.quads - 1;
                let (k, first, body) = (k + 1, part.first, &part.body);
                format!(
                    "// Part {k} of {count}, body of a texla {kernel}: quads {first} to {last} of y.\n{body}"
                )
            };
            heading(program) + &parts.iter().enumerate().map(part).collect::<Vec<_>>().join("\n")
        }
    };
    match &args.out {
        Some(path) => write_file(path, text.as_bytes()),
        None => {
            say(format_args!("\n{}\n", text.trim_end()));
            Ok(())
        }
    }
}

/// The program in parts, smaller ones where so many quads have too many instructions.
fn parts(program: &Program) -> Result<Vec<texla::pack::ProgramPart>> {
    let split = |quads| match program.stage {
        ShaderStage::Fragment => program.fragment_parts(quads),
        ShaderStage::Vertex => program.vertex_parts(quads),
    };
    let mut quads = if program.stage == ShaderStage::Fragment { FRAGMENT_QUADS } else { VERTEX_QUADS };
    loop {
        match split(quads) {
            Err(texla::Error::Parameter { name: "instructions", .. }) if quads > 1 => quads /= 2,
            parts => return Ok(parts?),
        }
    }
}

/// What the text of a program needs to be understood.
fn heading(program: &Program) -> String {
    let mut text = match program.stage {
        ShaderStage::Fragment => "// Texel t of y is quad t. x_texel(j), b_texel(j): quad j of x, of b; texel_index(p): the number of\n\
                            // the target's texel p. solve::FragmentExpression in texla runs it.\n",
        ShaderStage::Vertex => "// x[j], b[j]: quad j of x, of b, in uniform blocks; y[k]: what is captured, quad k of the part.\n\
                          // solve::VertexExpression and VertexGaussSeidel in texla run it.\n",
    }
    .to_owned();
    if program.form == Form::GaussSeidel {
        text.push_str("// Parts run in their order; quads of x in front of a part's first have to be the new ones by then.\n");
    }
    text.push_str(
        "// Entries of b that are trivial have to be zero. Unknowns in the components of the quads:\n",
    );
    let (rows, cols) = (program.packing.rows(), program.packing.cols());
    let orders = if program.packing.is_symmetric() {
        vec![("x, b, y", rows)]
    } else {
        vec![("b, y", rows), ("x", cols)]
    };
    for (names, order) in orders {
        for (quad, unknowns) in order.indices().chunks(4).enumerate() {
            let name =
                |&i: &u32| if (i as usize) < order.unknowns() { i.to_string() } else { "-".to_owned() };
            let unknowns: Vec<String> = unknowns.iter().map(name).collect();
            text.push_str(&format!("// {names} {quad}: {}\n", unknowns.join(" ")));
        }
    }
    text + "\n"
}

/// Set by the first Ctrl-C, which ends the search; the second ends the program.
fn interrupt() -> Result<&'static AtomicBool> {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .map_err(Failure::unsolved)?;
    Ok(&INTERRUPTED)
}

/// Whether an expression is an iteration in place.
fn is_iteration(e: &LinearExpression) -> bool {
    e.form() == Form::GaussSeidel
}
