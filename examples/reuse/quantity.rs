//! The two quantities, in any numbers: for a CPU's loops, and as twins with bounds.

use crate::support::bounded::{Bounded, Number};
use crate::support::worst;

pub const TURN: [f32; 2] = [0.999_95, 0.01];
pub const OFFSET: [f32; 4] = [0.75, -0.5, 0.25, 1.0];
pub const WIDTHS: [f32; 4] = [0.5, 1.0, 2.0, 4.0];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Linear in the position: right at the corners, right between them.
    Affine,
    /// A product of a function of x and one of y.
    Bells,
}

impl Quantity {
    pub const ALL: [Quantity; 2] = [Quantity::Affine, Quantity::Bells];

    pub fn name(self) -> &'static str {
        match self {
            Quantity::Affine => "affine map",
            Quantity::Bells => "bells",
        }
    }
}

/// Where a quantity is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Fragment,
    Vertex,
    Tables,
}

impl Way {
    pub const ALL: [Way; 3] = [Way::Fragment, Way::Vertex, Way::Tables];

    pub fn name(self) -> &'static str {
        match self {
            Way::Fragment => "per fragment",
            Way::Vertex => "at vertices",
            Way::Tables => "in tables",
        }
    }

    /// Whether it gives the right results.
    pub fn suits(self, quantity: Quantity) -> bool {
        self != Way::Vertex || quantity == Quantity::Affine
    }
}

type V4<T> = [T; 4];

fn affine<T: Number>(mut p: V4<T>, shift: f32, steps: usize) -> V4<T> {
    let ([cosine, sine], offset) = (TURN.map(T::of), OFFSET.map(|v| T::of(shift * v)));
    for _ in 0..steps {
        let turned = [-p[1], p[0], -p[3], p[2]];
        p = [0, 1, 2, 3].map(|k| cosine * p[k] + sine * turned[k] + offset[k]);
    }
    p
}

fn pair<T: Number>(x: f32, y: f32) -> V4<T> {
    [x, y, 0.5 * y, 0.5 * x].map(T::of)
}

fn lobe<T: Number>(place: f32, side: usize, steps: usize) -> V4<T> {
    let one = T::of(1.0);
    let u = T::of(place) * T::of(2.0 / side as f32) - one;
    WIDTHS.map(|width| {
        let z = -(u * u) * T::of(width);
        (1..=steps).rev().fold(one, |sum, j| one + sum * (z / T::of(j as f32)))
    })
}

impl Quantity {
    /// In texel (x, y) of `side` by `side`.
    pub fn at<T: Number>(self, [x, y]: [usize; 2], side: usize, steps: usize) -> V4<T> {
        let [x, y] = [x, y].map(|v| v as f32 + 0.5);
        match self {
            Quantity::Affine => affine(pair(x, y), 1.0, steps),
            Quantity::Bells => {
                let (f, g) = (lobe::<T>(x, side, steps), lobe::<T>(y, side, steps));
                [0, 1, 2, 3].map(|k| f[k] * g[k])
            }
        }
    }

    /// The tables of both axes, and how their entries make a texel.
    pub fn tables<T: Number>(self, side: usize, steps: usize) -> [Vec<V4<T>>; 2] {
        let places = || (0..side).map(|i| i as f32 + 0.5);
        match self {
            Quantity::Affine => [
                places().map(|x| affine(pair(x, 0.0), 1.0, steps)).collect(),
                places().map(|y| affine(pair(0.0, y), 0.0, steps)).collect(),
            ],
            Quantity::Bells => {
                let lobes: Vec<_> = places().map(|x| lobe(x, side, steps)).collect();
                [lobes.clone(), lobes]
            }
        }
    }

    pub fn combined<T: Number>(self, across: V4<T>, up: V4<T>) -> V4<T> {
        [0, 1, 2, 3].map(|k| match self {
            Quantity::Affine => across[k] + up[k],
            Quantity::Bells => across[k] * up[k],
        })
    }
}

/// Roundings that an interpolated value is granted, relative to the largest value at a corner: GL promises nothing. A
/// rasteriser takes two differences of values and divides by the area, multiplies by two distances, and adds twice.
const INTERPOLATION: f64 = 16.0;

/// What texel (x, y) has to be, for each way of computing it.
pub struct Twin {
    quantity: Quantity,
    side: usize,
    steps: usize,
    tables: [Vec<V4<Bounded>>; 2],
    /// What interpolation adds to the error.
    interpolated: [f64; 4],
}

impl Twin {
    pub fn new(quantity: Quantity, side: usize, steps: usize) -> Self {
        let far = 2.0 * side as f32;
        // The triangle's corners.
        let corners = [(0.0, 0.0), (far, 0.0), (0.0, far)].map(|(x, y)| affine(pair(x, y), 1.0, steps));
        let most = |of: fn(&Bounded) -> f64, k: usize| {
            corners.iter().map(|corner: &V4<Bounded>| of(&corner[k])).fold(0.0, worst)
        };
        let u = 1.0 / 16_777_216.0;
        let interpolated =
            [0, 1, 2, 3].map(|k| most(|v| v.error, k) + INTERPOLATION * u * most(|v| v.value.abs(), k));
        Twin { quantity, side, steps, tables: quantity.tables(side, steps), interpolated }
    }

    pub fn at(&self, way: Way, [x, y]: [usize; 2]) -> V4<Bounded> {
        let exact = || self.quantity.at::<Bounded>([x, y], self.side, self.steps);
        match way {
            Way::Fragment => exact(),
            Way::Vertex => {
                let exact = exact();
                [0, 1, 2, 3].map(|k| Bounded { error: self.interpolated[k], ..exact[k] })
            }
            Way::Tables => self.quantity.combined(self.tables[0][x], self.tables[1][y]),
        }
    }
}
