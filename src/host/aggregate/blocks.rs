//! Aggregation of nodes with several unknowns, by several vectors.

use super::groups::{NONE, aggregates};
use super::{Coarser, Fine, galerkin};
use crate::error::Result;
use crate::host::parallel::Threads;
use crate::host::{Csr, NearNullSpace};
use crate::shape::Shape;

/// What a vector must have left, beside those before it on an aggregate, to be an unknown there: the rest is rounding.
const INDEPENDENT: f64 = 1e-6;

/// Lists of what belongs to each of so many.
struct Members {
    ends: Vec<usize>,
    all: Vec<u32>,
}

impl Members {
    fn new(of: &[u32], count: usize) -> Self {
        let mut ends = vec![0; count + 1];
        for owner in of.iter().filter(|owner| **owner != NONE) {
            ends.get_mut(*owner as usize + 1).into_iter().for_each(|end| *end += 1);
        }
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        let (mut next, mut all) = (ends.clone(), vec![0; sum]);
        for (i, owner) in (0u32..).zip(of).filter(|(_, owner)| **owner != NONE) {
            if let Some(place) = next.get_mut(*owner as usize) {
                all.get_mut(*place).into_iter().for_each(|slot| *slot = i);
                *place += 1;
            }
        }
        Members { ends, all }
    }

    fn of(&self, owner: usize) -> &[u32] {
        let end = |at: usize| self.ends.get(at).copied().unwrap_or_default();
        self.all.get(end(owner)..end(owner + 1)).unwrap_or_default()
    }
}

/// An aggregate's part of `T`, and what the vectors are in its unknowns.
struct Part {
    /// Orthonormal columns.
    columns: Vec<Vec<f64>>,
    /// For each vector its element in each of them.
    elements: Vec<Vec<f64>>,
}

impl Part {
    fn new(unknowns: &[u32], vectors: &[Vec<f64>]) -> Self {
        let (mut columns, mut elements): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        for vector in vectors {
            let mut left: Vec<f64> =
                unknowns.iter().map(|i| vector.get(*i as usize).copied().unwrap_or_default()).collect();
            let size = norm(&left);
            let mut own = vec![0.0; columns.len()];
            // Twice, so that columns are orthogonal to all digits.
            for _ in 0..2 {
                for (column, element) in columns.iter().zip(&mut own) {
                    let dot: f64 = column.iter().zip(&left).map(|(c, v)| c * v).sum();
                    left.iter_mut().zip(column).for_each(|(v, c)| *v -= dot * c);
                    *element += dot;
                }
            }
            let rest = norm(&left);
            if rest > INDEPENDENT * size {
                left.iter_mut().for_each(|v| *v /= rest);
                columns.push(left);
                own.push(rest);
            }
            elements.push(own);
        }
        Part { columns, elements }
    }
}

fn norm(list: &[f64]) -> f64 {
    list.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// How strongly nodes are coupled: the Frobenius norm of what lies between them.
fn graph(threads: Threads, a: &Csr, of: &[u32], members: &Members, count: usize) -> Csr {
    let node = |j: usize| of.get(j).copied().unwrap_or(NONE);
    let expected = a.nnz() * count * count / (of.len() * of.len()).max(1);
    Csr::by_rows(threads, Shape::new(count, count), expected, Vec::new, |own, terms: &mut Vec<_>, rows| {
        terms.clear();
        for i in members.of(own) {
            terms.extend(a.row(*i as usize).map(|(j, value)| (node(j), value)));
        }
        terms.sort_by_key(|(node, _)| *node);
        for terms in terms.chunk_by(|a, b| a.0 == b.0) {
            let coupled = norm(&terms.iter().map(|(_, value)| *value).collect::<Vec<f64>>());
            if let Some((node, _)) = terms.first()
                && coupled > 0.0
            {
                rows.push(*node, coupled);
            }
        }
    })
}

/// The next coarser matrix by aggregates of nodes, with its own space: an aggregate is a node with as many unknowns as vectors
/// are independent on it. `P = (I - ω D⁻¹ A) T` with ω = 4/3 / λ_max(D⁻¹ A), where `T` has them as orthonormal columns. `None` where
/// nodes are not coupled, or hardly become fewer unknowns.
pub(crate) fn coarser_by_blocks(
    threads: Threads,
    fine: Fine<'_>,
    space: &NearNullSpace,
) -> Result<Option<(Coarser, NearNullSpace)>> {
    let (a, n) = (fine.a, space.len());
    let nodes = space.nodes().iter().max().map_or(0, |most| *most as usize + 1);
    let (of_nodes, count) =
        aggregates(&graph(threads, a, space.nodes(), &Members::new(space.nodes(), nodes), nodes));
    let group = |i: &u32| of_nodes.get(*i as usize).copied().unwrap_or(NONE);
    let of: Vec<u32> = space.nodes().iter().map(group).collect();
    let members = Members::new(&of, count);
    let parts = threads.each(count, |g| Part::new(members.of(g), space.vectors()));
    let mut begins: Vec<usize> = vec![0];
    let mut next = 0;
    begins.extend(parts.iter().map(|part| {
        next += part.columns.len();
        next
    }));
    if next == 0 || 5 * next > 4 * n {
        return Ok(None);
    }
    let most = space.vectors().len();
    let mut t = vec![0.0; n * most];
    for (g, part) in parts.iter().enumerate() {
        for (c, column) in part.columns.iter().enumerate() {
            for (i, value) in members.of(g).iter().zip(column) {
                t.get_mut(*i as usize * most + c).into_iter().for_each(|slot| *slot = *value);
            }
        }
    }
    let row_of_t = |i: usize| t.get(i * most..(i + 1) * most).unwrap_or_default();
    let of_unknown = |j: usize| of.get(j).copied().unwrap_or(NONE);
    let begin = |g: u32| begins.get(g as usize).copied().unwrap_or_default();
    let omega = 4.0 / 3.0 / fine.largest_eigenvalue;
    let prolongator =
        Csr::by_rows(threads, Shape::new(n, next), 2 * n * most, Vec::new, |i, terms: &mut Vec<_>, rows| {
            terms.clear();
            terms.extend(a.row(i).map(|(j, value)| (of_unknown(j), j, value)).filter(|(g, ..)| *g != NONE));
            // Stable, so that sums keep the order of columns.
            terms.sort_by_key(|(g, ..)| *g);
            let factor = omega / fine.diagonal.get(i).copied().unwrap_or(1.0);
            for terms in terms.chunk_by(|a, b| a.0 == b.0) {
                let Some((g, ..)) = terms.first() else { continue };
                let mut sums = [0.0; NearNullSpace::MOST];
                for (_, j, value) in terms {
                    sums.iter_mut().zip(row_of_t(*j)).for_each(|(sum, t)| *sum += value * t);
                }
                let rank = begin(*g + 1) - begin(*g);
                for (c, (sum, t)) in sums.iter().zip(row_of_t(i)).take(rank).enumerate() {
                    let own = if of_unknown(i) == *g { *t } else { 0.0 };
                    rows.push((begin(*g) + c) as u32, own - factor * sum);
                }
            }
        });
    let restriction = prolongator.transposed_on(threads);
    let coarse = galerkin(threads, &restriction, a, &prolongator)?.evened(threads);
    let mut vectors = vec![Vec::with_capacity(next); most];
    for part in &parts {
        for (vector, elements) in vectors.iter_mut().zip(&part.elements) {
            let rest = part.columns.len() - elements.len();
            vector.extend(elements.iter().copied().chain(std::iter::repeat_n(0.0, rest)));
        }
    }
    let ranks = (0u32..).zip(&parts).map(|(g, part)| (g, part.columns.len()));
    let nodes = ranks.flat_map(|(g, rank)| std::iter::repeat_n(g, rank)).collect();
    Ok(Some((Coarser { prolongator, restriction, a: coarse }, NearNullSpace::numbered(nodes, vectors))))
}
