//! What a matrix maps to zero.

use crate::host::Csr;

/// What a matrix maps to zero, but for rounding, of what these vectors span on each of its independent parts.
pub(crate) fn null_vectors(a: &Csr, vectors: &[Vec<f64>]) -> Vec<Vec<(usize, f64)>> {
    /// Products of three matrices leave that of sums.
    const ROUNDING: f64 = 1e-9;
    let mut null = Vec::new();
    for part in a.independent_groups() {
        // Vectors and their images, which are orthonormal.
        let mut images: Vec<[Vec<f64>; 2]> = Vec::new();
        for vector in vectors {
            let mut whole = vec![0.0; a.shape().rows];
            for &i in &part {
                if let (Some(slot), Some(v)) = (whole.get_mut(i), vector.get(i)) {
                    *slot = *v;
                }
            }
            for [before, image] in &images {
                let dot: f64 = part.iter().map(|&i| a.row_times(i, &whole) * at(image, i)).sum();
                whole.iter_mut().zip(before).for_each(|(v, before)| *v -= dot * before);
            }
            let size = |i: usize| a.row(i).map(|(j, v)| (v * at(&whole, j)).abs()).sum::<f64>();
            if part.iter().all(|&i| at(&whole, i) == 0.0) {
                continue;
            }
            if part.iter().all(|&i| a.row_times(i, &whole).abs() <= ROUNDING * size(i)) {
                null.push(part.iter().map(|&i| (i, at(&whole, i))).collect());
                continue;
            }
            let mut image: Vec<f64> = (0..whole.len()).map(|i| a.row_times(i, &whole)).collect();
            let norm = image.iter().map(|v| v * v).sum::<f64>().sqrt();
            image.iter_mut().chain(&mut whole).for_each(|v| *v /= norm);
            images.push([whole, image]);
        }
    }
    null
}

fn at(list: &[f64], i: usize) -> f64 {
    list.get(i).copied().unwrap_or_default()
}

/// Vectors of unit length that span the same, of those that have all their elements at the same places as others or at no common
/// ones.
pub(crate) fn orthonormal(vectors: impl Iterator<Item = Vec<(usize, f64)>>) -> Vec<Vec<(usize, f64)>> {
    let mut made: Vec<Vec<(usize, f64)>> = Vec::new();
    let norm = |vector: &[(usize, f64)]| vector.iter().map(|(_, v)| v * v).sum::<f64>().sqrt();
    for mut vector in vectors {
        let whole = norm(&vector);
        for before in &made {
            if before.first().map(|(i, _)| i) != vector.first().map(|(i, _)| i) {
                continue;
            }
            let dot: f64 = before.iter().zip(&vector).map(|((_, a), (_, b))| a * b).sum();
            vector.iter_mut().zip(before).for_each(|((_, v), (_, before))| *v -= dot * before);
        }
        let rest = norm(&vector);
        // Less is rounding.
        if rest > 1e-6 * whole {
            vector.iter_mut().for_each(|(_, v)| *v /= rest);
            made.push(vector);
        }
    }
    made
}
