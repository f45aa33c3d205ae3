//! What stands in the columns of a table, on the page and in the results.

use crate::catalog::Better;
use crate::record::{Figure, Table};
use crate::text::{printed, three, times};

/// A column: its heading, and what it says of a figure.
pub type Column<'a> = (&'static str, Box<dyn Fn(&Figure) -> String + 'a>);

pub fn or_empty(text: Option<String>) -> String {
    text.unwrap_or_default()
}

fn in_unit(f: &Figure, number: String) -> String {
    if f.unit.is_empty() { number } else { format!("{number} {}", f.unit) }
}

pub fn with_unit(f: &Figure, value: f64) -> String {
    in_unit(f, three(value))
}

/// Whether one value of it is better than another.
fn is_ranked(f: &Figure) -> bool {
    matches!(f.better, Better::Less | Better::More)
}

/// What a book says of a figure by itself.
pub fn columns<'a>() -> Vec<Column<'a>> {
    vec![
        ("paper", Box::new(|f| or_empty(f.paper.map(|p| in_unit(f, printed(p)))))),
        ("here", Box::new(|f| with_unit(f, f.value))),
        ("to paper", Box::new(|f| or_empty(f.paper.filter(|_| is_ranked(f)).map(|p| times(f.over(p)))))),
        ("rounds", Box::new(|f| or_empty(f.spread.map(|[a, b]| format!("{} to {}", three(a), three(b)))))),
        ("CPU", Box::new(|f| or_empty(f.cpu.map(|c| with_unit(f, c))))),
        ("to CPU", Box::new(|f| or_empty(f.cpu.map(|c| times(f.over(c)))))),
        ("ceiling", Box::new(|f| or_empty(f.share.map(|s| format!("{} %", three(100.0 * s)))))),
    ]
}

/// The caption of a table; with what it counts where that is one thing.
pub fn caption(table: &Table) -> String {
    let better = |f: &Figure| match f.better {
        Better::Less => ", less is better",
        Better::More => ", more is better",
        Better::Same | Better::Neither => "",
    };
    match table.figures.first() {
        Some(f) if table.names() == 1 => format!("{}: {}{}", table.caption, f.name, better(f)),
        _ => table.caption.clone(),
    }
}
