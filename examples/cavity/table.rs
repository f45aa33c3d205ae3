//! The published velocities on the centre lines, and their comparison.

/// (y, u) at x = 1/2, from the lid down: U. Ghia, K. N. Ghia, C. T. Shin, J. Comput. Phys. 48, 1982, table I, Re = 100.
pub const U: [(f64, f64); 17] = [
    (1.0000, 1.00000),
    (0.9766, 0.84123),
    (0.9688, 0.78871),
    (0.9609, 0.73722),
    (0.9531, 0.68717),
    (0.8516, 0.23151),
    (0.7344, 0.00332),
    (0.6172, -0.13641),
    (0.5000, -0.20581),
    (0.4531, -0.21090),
    (0.2813, -0.15662),
    (0.1719, -0.10150),
    (0.1016, -0.06434),
    (0.0703, -0.04775),
    (0.0625, -0.04192),
    (0.0547, -0.03717),
    (0.0000, 0.00000),
];

/// (x, v) at y = 1/2: the same, table II.
pub const V: [(f64, f64); 17] = [
    (1.0000, 0.00000),
    (0.9688, -0.05906),
    (0.9609, -0.07391),
    (0.9531, -0.08864),
    (0.9453, -0.10313),
    (0.9063, -0.16914),
    (0.8594, -0.22445),
    (0.8047, -0.24533),
    (0.5000, 0.05454),
    (0.2344, 0.17527),
    (0.2266, 0.17507),
    (0.1563, 0.16077),
    (0.0938, 0.12317),
    (0.0781, 0.10890),
    (0.0703, 0.10091),
    (0.0625, 0.09233),
    (0.0000, 0.00000),
];

/// The profile at a place, linear between its points.
pub fn at(profile: &[(f64, f64)], place: f64) -> f64 {
    let above = profile.partition_point(|(s, _)| *s < place).clamp(1, profile.len() - 1);
    let ((a, f), (b, g)) = (profile[above - 1], profile[above]);
    f + (g - f) * (place - a) / (b - a)
}

/// The largest deviation of a profile from published points, and where it is; NaN where one of them is.
pub fn deviation(profile: &[(f64, f64)], points: &[(f64, f64)]) -> (f64, f64) {
    let off = |&(place, value): &(f64, f64)| ((at(profile, place) - value).abs(), place);
    points.iter().map(off).fold(
        (0.0, 0.0),
        |most, this| {
            if most.0.is_nan() || this.0 <= most.0 { most } else { this }
        },
    )
}
