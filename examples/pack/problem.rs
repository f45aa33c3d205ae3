//! The expression that the flags ask for, and the order to begin with.

use std::path::Path;

use clap::ValueEnum;
use texla::host::market;
use texla::pack::{LinearExpression, Order, Packing, instances};

use super::support::{Failure, Result, read_file, shortened};
use super::{Args, Instance, RhsPattern, is_iteration};

/// Bytes that the file of an order has at most.
const MOST_BYTES: u64 = 1 << 26;

/// What is to be packed.
pub struct Problem {
    pub name: String,
    /// Of the picture.
    pub title: String,
    pub expression: LinearExpression,
    /// The order that the user gave.
    pub given: Option<Packing>,
}

impl Problem {
    pub fn read(args: &Args) -> Result<Self> {
        let (mut name, what, expression) = match (&args.matrix, args.instance) {
            (Some(path), _) => (path.display().to_string(), None, from_file(args, path)?),
            (None, instance) => from_paper(args, instance.unwrap_or(Instance::Wave2d))?,
        };
        let folded = args.fold_zero_nodes && !is_iteration(&expression);
        if args.fold_zero_nodes && !folded {
            return Err(Failure::bad_input("--fold-zero-nodes is for y = A x + b, not for an iteration"));
        }
        if args.independent && is_iteration(&expression) {
            return Err(Failure::bad_input(
                "--independent is for y = A x + b, not for an iteration in place",
            ));
        }
        let expression = if folded { expression.fold_zero_nodes() } else { expression };
        if folded {
            name.push_str(", zero nodes folded");
        }
        let given = args.order.as_deref().map(|path| order(path, expression.unknowns())).transpose()?;
        let title =
            what.map_or(name.clone(), |what| format!("{what} ({name})")) + ", before and after packing";
        Ok(Problem { name, title, expression, given })
    }
}

/// Its name, what it is, and itself.
fn from_paper(args: &Args, instance: Instance) -> Result<(String, Option<String>, LinearExpression)> {
    let value = instance.to_possible_value();
    let name = value.as_ref().map_or("", |value| value.get_name());
    let make = instances::ALL.iter().find(|(known, _)| *known == name).map(|(_, make)| make);
    let make = make.ok_or_else(|| Failure::unsolved(format_args!("there is no instance {name}")))?;
    if args.gauss_seidel && instance != Instance::Gs64 {
        return Err(Failure::bad_input(format_args!("--gauss-seidel: {name} is no iteration, gs64 is one")));
    }
    let what = value.as_ref().and_then(|value| value.get_help()).map(ToString::to_string);
    Ok((name.to_owned(), what, make()?))
}

fn from_file(args: &Args, path: &Path) -> Result<LinearExpression> {
    let a = market::read_matrix(path).map_err(texla::Error::from)?.triplets;
    let rows = a.shape().rows;
    let nontrivial = match &args.rhs {
        None => vec![args.rhs_pattern != Some(RhsPattern::None); rows],
        Some(path) => {
            let b = market::read_vector(path).map_err(texla::Error::from)?;
            if b.len() != rows {
                let (path, found) = (path.display(), b.len());
                return Err(Failure::bad_input(format_args!("{path} has {found} entries, expected {rows}")));
            }
            if let Some(k) = b.iter().position(|b| !b.is_finite()) {
                let path = path.display();
                return Err(Failure::bad_input(format_args!("{path}: entry {} is not finite", k + 1)));
            }
            b.iter().map(|&b| b != 0.0).collect()
        }
    };
    Ok(if args.gauss_seidel {
        LinearExpression::gauss_seidel(&a)?.with_nontrivial(&nontrivial)?
    } else {
        LinearExpression::new(&a, &nontrivial)?
    })
}

/// Unknowns by position, separated by white space.
fn order(path: &Path, unknowns: usize) -> Result<Packing> {
    let bytes = read_file(path, MOST_BYTES)?;
    let name = path.display();
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::bad_input(format_args!("{name} is no text: expected numbers")))?;
    let number = |(k, word): (usize, &str)| {
        word.parse::<usize>().map_err(|_| {
            let word = shortened(word);
            Failure::bad_input(format_args!("{name}: number {} is `{word}`, expected an index from 0", k + 1))
        })
    };
    let indices = text.split_whitespace().enumerate().map(number).collect::<Result<Vec<_>>>()?;
    let order = Order::new(unknowns, &indices)
        .map_err(|error| Failure::bad_input(format_args!("{name}: {error}")))?;
    Ok(Packing::symmetric(order))
}
