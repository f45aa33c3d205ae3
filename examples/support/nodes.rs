//! Flags for what is known of a matrix of vectors in nodes.

use std::path::{Path, PathBuf};

use clap::ValueHint;
use texla::Error;
use texla::host::market::ReadOptions;
use texla::host::{BlockOrder, Blocks, Csr, NearNullSpace};

use super::{Failure, Result, in_market};

#[derive(clap::Args)]
pub struct NodeArgs {
    /// Unknowns of a node, for multigrid; ":axis" where all nodes of a component come one after another, and not the components of a
    /// node. Without it 2, 3 or 6 are found in the entries
    #[arg(long, value_name = "SIZE[:axis]", value_parser = blocks, requires = "matrix", conflicts_with = "complex")]
    block: Option<Blocks>,
    /// Coordinates of the nodes, a column for each axis, with a row for each node or each unknown: multigrid then knows the motions
    /// that deform nothing
    #[arg(long, value_name = "XYZ.mtx", value_hint = ValueHint::FilePath, requires = "matrix",
        conflicts_with_all = ["complex", "near_null"])]
    coordinates: Option<PathBuf>,
    /// Vectors that the matrix maps nearly to zero, for multigrid: a file with a vector in each column
    #[arg(long, value_name = "B.mtx", value_hint = ValueHint::FilePath, requires = "matrix", conflicts_with = "complex")]
    near_null: Option<PathBuf>,
}

fn blocks(text: &str) -> std::result::Result<Blocks, String> {
    let (size, order) = match text.split_once(':') {
        None | Some((_, "node")) => (text.split(':').next().unwrap_or(text), BlockOrder::Nodes),
        Some((size, "axis")) => (size, BlockOrder::Components),
        Some((_, other)) => return Err(format!("{other:?}, expected \"axis\" or \"node\" after the size")),
    };
    match size.parse() {
        Ok(size) if (1..=NearNullSpace::MOST).contains(&size) => Ok(Blocks::new(size, order)),
        _ => Err(format!("{size:?}, expected a size from 1 to {}", NearNullSpace::MOST)),
    }
}

impl NodeArgs {
    /// What is said of a matrix.
    pub fn space(&self, a: &Csr) -> Result<Option<NearNullSpace>> {
        let n = a.shape().cols;
        let refused = |error| match error {
            Error::Parameter { name, value, expected, .. } => {
                let flag = match name {
                    "blocks" => "--block",
                    "coordinates" => "--coordinates",
                    _ => "--near-null",
                };
                Failure::bad_input(format_args!("{flag} {value}: expected {expected}"))
            }
            error => Failure::bad_input(error),
        };
        let columns = |path: &Path| ReadOptions::default().read_columns(path).map_err(in_market);
        if let Some(path) = &self.near_null {
            let vectors = columns(path)?;
            if let Some(vector) = vectors.iter().find(|vector| vector.len() != n) {
                let (path, found) = (path.display(), vector.len());
                let message = format!("{path}: a near-null vector has {found} elements, expected {n}");
                return Err(Failure::bad_input(message));
            }
            let space = NearNullSpace::new(vectors).map_err(refused)?;
            let space = self.block.map_or(Ok(space.clone()), |blocks| space.in_blocks(blocks));
            return space.map(Some).map_err(refused);
        }
        let Some(path) = &self.coordinates else {
            let constants = self.block.map(|blocks| NearNullSpace::constants(n, blocks));
            return constants.transpose().map_err(refused);
        };
        let axes = columns(path)?;
        let blocks =
            self.block.or_else(|| Blocks::found(a)).unwrap_or(Blocks::new(axes.len(), BlockOrder::Nodes));
        let rows = axes.first().map_or(0, Vec::len);
        let axes = if rows == n && blocks.size > 1 {
            // Of the first component of each node.
            let of_node = |node: usize| match blocks.order {
                BlockOrder::Components => node,
                _ => node * blocks.size,
            };
            let of = |axis: &Vec<f64>| (0..n / blocks.size).map(|node| axis[of_node(node)]).collect();
            axes.iter().map(of).collect()
        } else {
            axes
        };
        let nodes = axes.first().map_or(0, Vec::len);
        if nodes * blocks.size != n {
            let (path, size) = (path.display(), blocks.size);
            let message = format!(
                "{path}: {rows} rows for {n} unknowns, {size} in a node: expected {n}, or {} (--block says how many are in a node)",
                n / size
            );
            return Err(Failure::bad_input(message));
        }
        NearNullSpace::rigid(blocks, &axes).map(Some).map_err(refused)
    }
}
