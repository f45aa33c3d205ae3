//! The page that packs: an expression before and after, its bound, and its shader.

use texla::Shape;
use texla::host::Triplets;
use texla::pack::{
    CostModel, LinearExpression, LowerBound, LowerOptions, Orders, Packing, Program, SearchLimits,
    SearchParams, SimdMachine, instances, optimize,
};

use crate::support::{Failure, Result};

/// Unknowns of an expression that a page packs at most.
const MOST: usize = 128;

/// What packing came to.
pub struct Packed {
    pub unknowns: usize,
    pub entries: usize,
    pub before: u32,
    pub after: u32,
    pub bound: u32,
    pub by: String,
    /// What each instruction multiplies: for each product whether it is along a row, the number of its entries, and these as row and
    /// column.
    pub drawn: [Vec<u32>; 2],
    pub order: Vec<u32>,
    pub shader: String,
}

/// One of the paper's expressions.
pub fn instance(name: &str) -> Result<LinearExpression> {
    let make = instances::ALL.iter().find(|(known, _)| *known == name).map(|(_, make)| make);
    let make = make.ok_or_else(|| Failure::bad_input(format_args!("there is no expression {name}")))?;
    Ok(make()?)
}

/// `y = A x + b` of rows as a user writes them: a line each, numbers apart by blanks or commas.
pub fn written(text: &str) -> Result<LinearExpression> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for (k, line) in text.lines().filter(|line| !line.trim().is_empty()).enumerate() {
        let words = line.split([' ', ',', '\t', ';']).filter(|word| !word.is_empty());
        let number = |word: &str| {
            let message =
                || Failure::bad_input(format_args!("row {}: found `{word}`, expected a number", k + 1));
            word.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(message)
        };
        rows.push(words.map(number).collect::<Result<_>>()?);
    }
    let n = rows.len();
    if n == 0 || n > MOST {
        return Err(Failure::bad_input(format_args!("{n} rows, expected 1 to {MOST}")));
    }
    let mut a = Triplets::new(Shape::new(n, n));
    for (i, row) in rows.iter().enumerate() {
        if row.len() != n {
            let found = row.len();
            return Err(Failure::bad_input(format_args!(
                "row {} has {found} numbers, expected {n}: as many as there are rows",
                i + 1
            )));
        }
        for (j, value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            a.push(i, j, *value)?;
        }
    }
    Ok(LinearExpression::new(&a, &vec![true; n])?)
}

fn products(program: &Program) -> Vec<u32> {
    let mut all = Vec::new();
    for product in program.products() {
        all.extend([u32::from(product.row_major), product.entries.len() as u32]);
        all.extend(product.entries.iter().flat_map(|(row, col)| [*row as u32, *col as u32]));
    }
    all
}

/// Packs by so many proposals: the same result everywhere.
pub fn pack(e: &LinearExpression, proposals: u64) -> Result<Packed> {
    let identity = Packing::identity(e.unknowns());
    let before = SimdMachine.cost(e, &identity)?;
    let bound = LowerBound::new(e, Orders::One);
    let params = SearchParams::default().with_seed(1).with_threads(1).with_lower_bound(Some(bound.value));
    let limits = SearchLimits::default().with_time(None).with_proposals(Some(proposals));
    let found = optimize(&SimdMachine, e, &params, &limits)?;
    let lowered = |packing: &Packing| Program::lower(e, packing, LowerOptions::VERTEX);
    let fragment = Program::lower(e, &found.packing, LowerOptions::FRAGMENT)?;
    let parts = fragment.fragment_parts(16)?;
    let shader = |(k, part): (usize, &texla::pack::ProgramPart)| {
        let (first, last) = (part.first, part.first + part.quads - 1);
        format!("// Part {} of {}: quads {first} to {last} of y.\n{}", k + 1, parts.len(), part.body)
    };
    Ok(Packed {
        unknowns: e.unknowns(),
        entries: e.nnz(),
        before: before.0,
        after: found.cost.0,
        bound: bound.value.0,
        by: bound.by.to_string(),
        drawn: [products(&lowered(&identity)?), products(&lowered(&found.packing)?)],
        order: found.packing.rows().indices().to_vec(),
        shader: parts.iter().enumerate().map(shader).collect::<Vec<_>>().join("\n"),
    })
}
