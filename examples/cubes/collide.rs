//! Where cubes touch, or are about to: separating axes, then the clipped face or the two edges that meet.

use crate::body::Cube;
use crate::math::{UP, Vec3};
use crate::support::worst;

/// A point at which two bodies touch or nearly do.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub place: Vec3,
    /// Unit vector from the second body into the first.
    pub normal: Vec3,
    /// Distance along the normal; negative when the bodies overlap.
    pub gap: f64,
    /// What the normal turns with.
    pub facing: Facing,
}

/// What a contact's normal is perpendicular to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Facing {
    /// A face of the first cube.
    First,
    /// A face of the second cube, or the floor.
    Second,
    /// Edges of both cubes, along these axes.
    Edges(usize, usize),
}

/// The best separating axis of a kind, pointing from the second cube into the first.
#[derive(Clone, Copy)]
struct Axis {
    facing: Facing,
    normal: Vec3,
    gap: f64,
}

/// A face is a better footing than a pair of edges or the other cube's face that separate hardly more; and the choice
/// should not change from frame to frame.
const PREFERENCE: f64 = 2e-3;

/// How much worse than edges a face may separate, relative to half an edge, to count beside them.
const NEARLY: f64 = 0.05;

/// Below this, two edges count as parallel, and faces separate as well as they do.
const PARALLEL: f64 = 1e-3;

/// The axes of the three kinds. For two cubes that overlap, the gap of the best one is minus their depth.
fn axes(a: &Cube, b: &Cube) -> [Axis; 3] {
    let between = a.position - b.position;
    let none = Axis { facing: Facing::First, normal: UP, gap: f64::NEG_INFINITY };
    let mut best = [none; 3];
    let mut offer = |kind: usize, facing: Facing, axis: Vec3| {
        let along = axis.dot(between);
        let normal = if along < 0.0 { -axis } else { axis };
        let gap = along.abs() - a.reach(axis) - b.reach(axis);
        if gap > best[kind].gap {
            best[kind] = Axis { facing, normal, gap };
        }
    };
    for i in 0..3 {
        offer(0, Facing::First, a.axes[i]);
        offer(1, Facing::Second, b.axes[i]);
        for j in 0..3 {
            let cross = a.axes[i].cross(b.axes[j]);
            if cross.length() > PARALLEL {
                offer(2, Facing::Edges(i, j), cross.unit());
            }
        }
    }
    best
}

/// Whether two cubes can be within `margin` of each other, by the balls around them.
pub fn within(a: &Cube, b: &Cube, margin: f64) -> bool {
    let reach = 3f64.sqrt() * (a.half + b.half) + margin;
    let apart = a.position - b.position;
    apart.dot(apart) <= reach * reach
}

/// How deep two cubes overlap; negative when they are apart.
pub fn depth(a: &Cube, b: &Cube) -> f64 {
    -axes(a, b).iter().map(|axis| axis.gap).fold(f64::NEG_INFINITY, worst)
}

/// How deep a cube has sunk into the floor, the plane y = 0.
pub fn depth_in_floor(cube: &Cube) -> f64 {
    cube.reach(UP) - cube.position.y
}

/// The corners of a cube that are within `margin` of the floor.
pub fn with_floor(cube: &Cube, margin: f64) -> Vec<Touch> {
    if -depth_in_floor(cube) > margin {
        return Vec::new();
    }
    let touch = |corner: Vec3| {
        let gap = corner.y;
        (gap <= margin).then(|| Touch {
            place: corner - UP * (gap / 2.0),
            normal: UP,
            gap,
            facing: Facing::Second,
        })
    };
    let touches: Vec<Touch> = cube.corners().into_iter().filter_map(touch).collect();
    at_most_four(touches)
}

/// Up to four points at which two cubes are within `margin` of each other.
pub fn between(a: &Cube, b: &Cube, margin: f64) -> Vec<Touch> {
    if !within(a, b, margin) {
        return Vec::new();
    }
    let [first, second, edges] = axes(a, b);
    let preference = PREFERENCE * a.half.min(b.half);
    let face = if second.gap > first.gap + preference { second } else { first };
    let by_edges = edges.gap > face.gap + preference;
    if face.gap.max(edges.gap) > margin {
        return Vec::new();
    }
    let mut touches = Vec::new();
    if by_edges {
        touches.extend(edge_to_edge(a, b, edges));
    }
    // A single point lets the cubes turn about it, so a face that separates nearly as well has a say, too.
    if !by_edges || face.gap > edges.gap - NEARLY * a.half.min(b.half) {
        touches.extend(face_to_face(a, b, face, margin));
    }
    touches
}

/// The face of one cube, clipped to the prism over the face of the other that the axis belongs to.
fn face_to_face(a: &Cube, b: &Cube, axis: Axis, margin: f64) -> Vec<Touch> {
    let (base, other, outward) = match axis.facing {
        Facing::Second => (b, a, axis.normal),
        _ => (a, b, -axis.normal),
    };
    let along = |cube: &Cube| {
        let size = cube.axes.map(|axis| axis.dot(outward).abs());
        (0..3).max_by(|i, j| size[*i].total_cmp(&size[*j])).unwrap_or(0)
    };
    let opposite = along(other);
    let [u, v] = [1, 2].map(|k| other.axes[(opposite + k) % 3] * other.half);
    let out = other.axes[opposite] * other.half;
    let centre = other.position + if out.dot(outward) > 0.0 { -out } else { out };
    let mut polygon = vec![centre + u + v, centre - u + v, centre - u - v, centre + u - v];
    let face = along(base);
    for side in [1, 2].map(|k| base.axes[(face + k) % 3]) {
        for side in [side, -side] {
            polygon = clip(&polygon, |p| (p - base.position).dot(side) - base.half * (1.0 + 1e-9));
        }
    }
    let touch = |p: Vec3| {
        let gap = (p - base.position).dot(outward) - base.half;
        let place = p - outward * (gap / 2.0);
        (gap <= margin).then_some(Touch { place, normal: axis.normal, gap, facing: axis.facing })
    };
    at_most_four(polygon.into_iter().filter_map(touch).collect())
}

/// The part of a convex polygon on which `outside` is not positive.
fn clip(polygon: &[Vec3], outside: impl Fn(Vec3) -> f64) -> Vec<Vec3> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (i, &p) in polygon.iter().enumerate() {
        let q = polygon[(i + 1) % polygon.len()];
        let (at_p, at_q) = (outside(p), outside(q));
        if at_p <= 0.0 {
            kept.push(p);
        }
        if (at_p <= 0.0) != (at_q <= 0.0) {
            kept.push(p + (q - p) * (at_p / (at_p - at_q)));
        }
    }
    kept
}

/// Four points hold a face as well as eight: the deepest, the one farthest from it, and the two that span the largest
/// triangles with these, one on either side.
fn at_most_four(touches: Vec<Touch>) -> Vec<Touch> {
    if touches.len() <= 4 {
        return touches;
    }
    let farthest = |measure: &dyn Fn(&Touch) -> f64| {
        let by = |i: &usize, j: &usize| measure(&touches[*i]).total_cmp(&measure(&touches[*j]));
        (0..touches.len()).max_by(by).unwrap_or(0)
    };
    let deepest = farthest(&|t| -t.gap);
    let origin = touches[deepest].place;
    let second = farthest(&|t| (t.place - origin).length());
    let line = touches[second].place - origin;
    let area = |t: &Touch| line.cross(t.place - origin).dot(t.normal);
    let mut kept = vec![deepest, second, farthest(&area), farthest(&|t| -area(t))];
    kept.sort_unstable();
    kept.dedup(); // where the line is a side of the polygon
    kept.into_iter().map(|i| touches[i]).collect()
}

/// The closest points of the two edges that face each other.
fn edge_to_edge(a: &Cube, b: &Cube, axis: Axis) -> Option<Touch> {
    let Facing::Edges(i, j) = axis.facing else { return None };
    let middle = |cube: &Cube, edge: usize, towards: Vec3| {
        let others = [1, 2].map(|k| cube.axes[(edge + k) % 3]);
        let side = |axis: Vec3| axis * if axis.dot(towards) < 0.0 { -cube.half } else { cube.half };
        cube.position + side(others[0]) + side(others[1])
    };
    let (p, q) = (middle(a, i, -axis.normal), middle(b, j, axis.normal));
    let (u, v, d) = (a.axes[i], b.axes[j], q - p);
    // p + s u and q + t v with the distance perpendicular to both; |u| = |v| = 1, and they are not parallel.
    let c = u.dot(v);
    let s = ((d.dot(u) - c * d.dot(v)) / (1.0 - c * c)).clamp(-a.half, a.half);
    let t = ((c * d.dot(u) - d.dot(v)) / (1.0 - c * c)).clamp(-b.half, b.half);
    let place = (p + u * s + q + v * t) * 0.5;
    Some(Touch { place, normal: axis.normal, gap: axis.gap, facing: axis.facing })
}
