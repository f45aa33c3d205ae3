//! Orbits of symmetries as quads.

use super::colours::{Budget, refined};
use super::graph::Graph;
use super::symmetry::isomorphisms;

/// Symmetries looked at in one graph; a cube has 48.
const SYMMETRIES: usize = 192;

/// Quads of unknowns, and what is left over: pairs first.
#[derive(Clone, Debug, PartialEq, Default)]
pub(crate) struct Quads {
    pub quads: Vec<[u32; 4]>,
    pub left: Vec<u32>,
}

/// The ways to fill quads with orbits of symmetries, those with most quads first.
///
/// Parts of the graph that are alike go in fours, node by node. The rest is searched for symmetries of order 4 and pairs of
/// commuting ones of order 2: either generates a group whose orbits have 1, 2 or 4 nodes.
pub(crate) fn orbits(graph: &Graph, budget: &mut Budget<'_>) -> Vec<Quads> {
    let (copies, rest) = fours_of_parts(graph, budget);
    let rest = graph.induced(&rest);
    let symmetries = isomorphisms(&rest, &rest, SYMMETRIES, budget);
    let mut found: Vec<Quads> = groups(&symmetries).iter().map(|group| split(&rest, group)).collect();
    if found.is_empty() && !copies.is_empty() {
        found.push(Quads { quads: Vec::new(), left: rest.unknowns.clone() });
    }
    for way in &mut found {
        way.quads.splice(0..0, copies.iter().map(|quad| quad.map(|v| graph.unknown(v))));
    }
    found.retain(|way| !way.quads.is_empty());
    found.sort_by_key(|way| std::cmp::Reverse(way.quads.len()));
    found
}

/// Quads of nodes that correspond in four isomorphic parts, and the nodes of all other parts.
fn fours_of_parts(graph: &Graph, budget: &mut Budget<'_>) -> (Vec<[u32; 4]>, Vec<u32>) {
    let all = || (0..graph.len() as u32).collect();
    let parts = graph.components();
    let Some(colours) = refined(graph, &[], budget).filter(|_| parts.len() >= 4) else {
        return (Vec::new(), all());
    };
    // Isomorphic parts have the same colours.
    let signature = |part: &Vec<u32>| {
        let colour = |&v: &u32| colours.get(v as usize).copied().unwrap_or_default();
        let mut signature: Vec<u64> = part.iter().map(colour).collect();
        signature.sort_unstable();
        signature
    };
    let mut parts: Vec<(Vec<u64>, Vec<u32>)> =
        parts.into_iter().map(|part| (signature(&part), part)).collect();
    parts.sort();
    let (mut quads, mut rest) = (Vec::new(), Vec::new());
    for alike in parts.chunk_by(|a, b| a.0 == b.0) {
        for four in alike.chunks(4) {
            match four {
                [(_, a), (_, b), (_, c), (_, d)] => match four_copies(graph, [a, b, c, d], budget) {
                    Some(copies) => quads.extend(copies),
                    None => rest.extend([a, b, c, d].into_iter().flatten()),
                },
                fewer => rest.extend(fewer.iter().flat_map(|(_, part)| part)),
            }
        }
    }
    rest.sort_unstable();
    (quads, rest)
}

/// Node k of one part, and its images in three others.
fn four_copies(graph: &Graph, parts: [&[u32]; 4], budget: &mut Budget<'_>) -> Option<Vec<[u32; 4]>> {
    let [first, others @ ..] = parts;
    let from = graph.induced(first);
    let mut image = |part: &[u32]| {
        let map = isomorphisms(&from, &graph.induced(part), 1, budget).into_iter().next()?;
        map.into_iter().map(|k| part.get(k as usize).copied()).collect::<Option<Vec<u32>>>()
    };
    let [b, c, d] = others.map(&mut image);
    let images = b?.into_iter().zip(c?).zip(d?);
    Some(first.iter().zip(images).map(|(&a, ((b, c), d))| [a, b, c, d]).collect())
}

/// Generators of groups of order 4: one of order 4, or two of order 2 that commute.
fn groups(symmetries: &[Vec<u32>]) -> Vec<[&Vec<u32>; 2]> {
    let is_identity = |map: &[u32]| map.iter().zip(0u32..).all(|(&to, v)| to == v);
    let (mut found, mut involutions) = (Vec::new(), Vec::new());
    for map in symmetries.iter().filter(|map| !is_identity(map)) {
        let square = after(map, map);
        if is_identity(&square) {
            involutions.push(map);
        } else if is_identity(&after(&square, &square)) {
            found.push([map, map]);
        }
    }
    for (k, a) in involutions.iter().enumerate() {
        for b in involutions.iter().skip(k + 1) {
            if after(a, b) == after(b, a) {
                found.push([a, b]);
            }
        }
    }
    found
}

/// First `b`, then `a`.
fn after(a: &[u32], b: &[u32]) -> Vec<u32> {
    b.iter().map(|&v| a.get(v as usize).copied().unwrap_or_default()).collect()
}

/// The orbits of a group: those of four nodes, and the rest.
fn split(graph: &Graph, generators: &[&Vec<u32>; 2]) -> Quads {
    let mut seen = vec![false; graph.len()];
    let (mut found, mut singles) = (Quads::default(), Vec::new());
    for v in 0..graph.len() as u32 {
        if seen.get(v as usize).copied().unwrap_or_default() {
            continue;
        }
        let (mut orbit, mut next) = (vec![v], 0);
        while let Some(&w) = orbit.get(next) {
            for map in generators {
                let image = map.get(w as usize).copied().unwrap_or(w);
                if !orbit.contains(&image) {
                    orbit.push(image);
                }
            }
            next += 1;
        }
        for &w in &orbit {
            seen.get_mut(w as usize).map(|seen| *seen = true).unwrap_or_default();
        }
        let orbit: Vec<u32> = orbit.into_iter().map(|w| graph.unknown(w)).collect();
        match <[u32; 4]>::try_from(orbit) {
            Ok(quad) => found.quads.push(quad),
            Err(pair) if pair.len() == 2 => found.left.extend(pair),
            Err(other) => singles.extend(other),
        }
    }
    found.left.extend(singles);
    found
}
