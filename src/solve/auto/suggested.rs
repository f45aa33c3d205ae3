//! What suits a matrix, by what is known of it without a product.

use super::choice::{Choice, MethodKind, PreconditionerKind};
use crate::error::{Error, Result};
use crate::host::aggregate::{has_hubs, is_damped, suits};
use crate::host::{Blocks, Csr, NearNullSpace};
use crate::ops::LinOp;
use crate::solve::precondition::IluParams;

/// What suits a matrix, in the order in which it is tried.
pub(super) fn suggested(a: &dyn LinOp, factors: bool) -> Result<Vec<Choice>> {
    use MethodKind::{BiCgStab2, Cg, Cgls, Gmres, Minres};
    use PreconditionerKind::{
        Amg, BlockJacobi, Factors, FsaiSquared, Geometric, Ilut, Jacobi, None, Saddle, SpaiSquared,
    };
    let shape = a.shape();
    if !shape.is_square() {
        let mut both = vec![Choice::new(Cgls, Jacobi), Choice::new(Cgls, None)];
        // Of many solutions the one of least norm: weights would make it another.
        if shape.rows < shape.cols {
            both.reverse();
        }
        return Ok(both);
    }
    let symmetric = a.asymmetry()?.is_none();
    // Who has no diagonal does not say; what else is wrong is no word on the matrix.
    let (says, positive_diagonal) = match a.diagonal() {
        Ok(diagonal) => (true, diagonal.iter().all(|d| *d > 0.0)),
        Err(Error::Unsupported { .. }) => (false, false),
        Err(error) => return Err(error),
    };
    let positive = symmetric && positive_diagonal;
    let mut choices = Vec::new();
    let Some(pattern) = a.pattern() else {
        if positive || symmetric && !says {
            choices.extend([Choice::new(Cg, Jacobi), Choice::new(Cg, None)]);
        }
        if symmetric {
            choices.extend([Choice::new(Minres, Jacobi), Choice::new(Minres, None)]);
        }
        choices.extend([
            Choice::new(Gmres, Jacobi).with_restart(100),
            Choice::new(Gmres, None).with_restart(100),
            Choice::new(BiCgStab2, Jacobi),
        ]);
        return Ok(choices);
    };
    let vector = a.near_null_space().and_then(NearNullSpace::scalar);
    let ilut = Choice::new(Gmres, Ilut);
    let more =
        Choice { restart: 100, ilu: IluParams { fill: 40, drop: 1e-5, tolerance: 1e-4, ..ilut.ilu }, ..ilut };
    if positive {
        // What is found to be an operator on a grid suits aggregation, too.
        let is_grid = pattern.grid().is_some();
        if is_grid {
            choices.push(Choice::new(Cg, Geometric));
        }
        let mut others = vec![Choice::new(Cg, FsaiSquared), Choice::new(Cg, Jacobi)];
        if is_grid || suits(pattern, vector) || is_of_vectors(a, pattern) {
            others.insert(0, Choice::new(Cg, Amg));
        }
        if has_hubs(pattern) {
            others.rotate_right(1);
        }
        choices.extend(others);
    }
    if symmetric && !positive && !pattern.second_block().is_empty() {
        choices.push(Choice::new(Minres, Saddle));
    }
    if !symmetric && positive_diagonal && suits(pattern, vector) && is_damped(pattern, vector) {
        choices.push(Choice::new(Gmres, Amg));
    }
    choices.push(ilut);
    if symmetric {
        choices.extend([Choice::new(Minres, Jacobi), Choice::new(Minres, None)]);
    } else {
        choices.push(Choice::new(BiCgStab2, Jacobi));
    }
    choices.extend([more, Choice { method: BiCgStab2, ..more }]);
    if !symmetric {
        choices.push(Choice::new(BiCgStab2, BlockJacobi));
    }
    choices.push(Choice::new(Gmres, SpaiSquared));
    // A singular matrix has no factors.
    if factors && cfg!(feature = "direct") && a.null_space().is_empty() {
        choices.push(Choice::new(Gmres, Factors));
    }
    Ok(choices)
}

/// Whether a matrix has unknowns in nodes, or smooth errors that are said.
fn is_of_vectors(a: &dyn LinOp, pattern: &Csr) -> bool {
    match a.near_null_space() {
        Some(space) => space.scalar().is_none(),
        None => Blocks::found(pattern).is_some(),
    }
}
