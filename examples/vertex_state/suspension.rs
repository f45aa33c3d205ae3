//! Cars on springs: bounce and pitch over a road, [Bajaj04] section 3.2.

use texla::Shape;
use texla::host::Triplets;

use super::bound;

/// Cars side by side.
pub const CARS: usize = 5;
/// Unknowns of a car: height and its speed, pitch and its speed.
pub const STATE: usize = 4;

/// A body on two springs with dampers: the front wheel `front` metres before the centre of mass, the rear one behind it.
#[derive(Clone, Copy, Debug)]
pub struct Car {
    /// Kilograms.
    pub mass: f64,
    /// Kilograms times square metres, about the centre of mass.
    pub inertia: f64,
    /// L, metres between the axles.
    pub wheelbase: f64,
    /// L0, metres from the centre of mass to the front axle.
    pub front: f64,
    /// Newtons a metre, front and rear.
    pub springs: [f64; 2],
    /// Newton seconds a metre, front and rear.
    pub dampers: [f64; 2],
    /// Metres a second.
    pub speed: f64,
    /// Where the centre of mass is at the start, metres along the road.
    pub start: f64,
}

/// Five cars of different kinds, from a small one to a van.
pub fn cars() -> [Car; CARS] {
    let car = |k: usize, mass: f64, wheelbase: f64, springs: [f64; 2], dampers: [f64; 2], speed: f64| Car {
        mass,
        inertia: mass * (0.47 * wheelbase).powi(2),
        wheelbase,
        front: (0.45 + 0.02 * k as f64) * wheelbase,
        springs,
        dampers,
        speed,
        start: -3.0 * k as f64,
    };
    [
        car(0, 850.0, 2.3, [16e3, 17e3], [1.1e3, 1.2e3], 9.0),
        car(1, 1200.0, 2.6, [20e3, 22e3], [1.5e3, 1.7e3], 11.0),
        car(2, 1500.0, 2.8, [24e3, 24e3], [1.2e3, 1.2e3], 13.0),
        car(3, 1900.0, 3.0, [35e3, 38e3], [3.0e3, 3.2e3], 15.0),
        car(4, 2300.0, 3.3, [30e3, 40e3], [2.0e3, 2.6e3], 8.0),
    ]
}

impl Car {
    /// Metres from the centre of mass forward to each axle.
    pub fn arms(&self) -> [f64; 2] {
        [self.front, self.front - self.wheelbase]
    }

    /// The rows of G in y' = G y + beta, y = (height, its speed, pitch, its speed), pitch with the nose down positive.
    fn rows(&self) -> [[f64; STATE]; STATE] {
        let mut rows = [[0.0, 1.0, 0.0, 0.0], [0.0; STATE], [0.0, 0.0, 0.0, 1.0], [0.0; STATE]];
        for ((arm, k), c) in self.arms().into_iter().zip(self.springs).zip(self.dampers) {
            // The body over the axle stands at y0 - arm y2, and the axle pushes with k (z - that) + c (z' - its speed).
            let of_force = [-k, -c, k * arm, c * arm];
            for (j, force) in of_force.into_iter().enumerate() {
                rows[1][j] += force / self.mass;
                rows[3][j] -= arm * force / self.inertia;
            }
        }
        rows
    }

    /// beta at a time: what the road does to the two speeds.
    fn forcing(&self, seconds: f64) -> [f64; STATE] {
        let mut beta = [0.0; STATE];
        for ((arm, k), c) in self.arms().into_iter().zip(self.springs).zip(self.dampers) {
            let (height, slope) = road(self.start + self.speed * seconds + arm);
            let force = k * height + c * slope * self.speed;
            beta[1] += force / self.mass;
            beta[3] -= arm * force / self.inertia;
        }
        beta
    }
}

/// Height of the road and its slope, `x` metres along it: waves, and a bump every thirty metres.
pub fn road(x: f64) -> (f64, f64) {
    use std::f64::consts::TAU;
    let (mut height, mut slope) = (0.0, 0.0);
    for (metres, amplitude, phase) in [(9.0, 0.025, 0.0), (3.7, 0.010, 1.0)] {
        let angle = TAU * x / metres + phase;
        height += amplitude * angle.sin();
        slope += amplitude * TAU / metres * angle.cos();
    }
    let (wide, high) = (1.6, 0.09);
    let along = (x - 20.0).rem_euclid(30.0) - 15.0;
    if along.abs() < wide / 2.0 {
        let angle = TAU * along / wide;
        height += high / 2.0 * (1.0 + angle.cos());
        slope -= high / 2.0 * TAU / wide * angle.sin();
    }
    (height, slope)
}

/// All cars as one system of 20 equations.
pub struct Fleet {
    pub cars: [Car; CARS],
    /// Seconds a step.
    pub h: f64,
}

impl Fleet {
    pub fn unknowns() -> usize {
        CARS * STATE
    }

    /// G, four rows for each car.
    pub fn matrix(&self) -> texla::Result<Triplets> {
        let n = Self::unknowns();
        let mut g = Triplets::new(Shape::new(n, n));
        for (k, car) in self.cars.iter().enumerate() {
            for (i, row) in car.rows().into_iter().enumerate() {
                for (j, value) in row.into_iter().enumerate().filter(|(_, value)| *value != 0.0) {
                    g.push(STATE * k + i, STATE * k + j, value)?;
                }
            }
        }
        Ok(g)
    }

    /// Which entries of beta are not always zero: those of the speeds.
    pub fn nontrivial() -> Vec<bool> {
        (0..Self::unknowns()).map(|i| i % 2 == 1).collect()
    }

    /// h beta at a time, as the device is given it.
    pub fn forcing(&self, seconds: f64) -> Vec<f32> {
        let scaled = |car: &Car| car.forcing(seconds).map(|b| (self.h * b) as f32);
        self.cars.iter().flat_map(scaled).collect()
    }
}

/// The twin in 64 bits: the classical Runge-Kutta step of [Bajaj04] equations (4) to (11), with a bound on what a device
/// may be off by after one step.
pub struct Twin {
    /// The rows of h G, as the device has them: column and coefficient.
    pub rows: Vec<Vec<(usize, f64)>>,
}

/// Values, and how far a device's may be off.
type WithErrors = Vec<(f64, f64)>;

impl Twin {
    /// k = (h G) w + h beta.
    fn stage(&self, w: &WithErrors, forcing: &[f32]) -> WithErrors {
        let of = |(row, forcing): (&Vec<(usize, f64)>, &f32)| {
            let forcing = f64::from(*forcing);
            let value = row.iter().map(|&(j, g)| g * w[j].0).sum::<f64>() + forcing;
            let passed_on: f64 = row.iter().map(|&(j, g)| g.abs() * w[j].1).sum();
            let magnitude: f64 = row.iter().map(|&(j, g)| g.abs() * (w[j].0.abs() + w[j].1)).sum();
            (value, passed_on + bound::sum(row.len() + 1, magnitude + forcing.abs()))
        };
        self.rows.iter().zip(forcing).map(of).collect()
    }

    /// y + the weighted k.
    fn add(y: &[f64], parts: &[(f64, &WithErrors)]) -> WithErrors {
        let of = |(i, &y): (usize, &f64)| {
            let value = y + parts.iter().map(|(c, k)| c * k[i].0).sum::<f64>();
            let passed_on: f64 = parts.iter().map(|(c, k)| c * k[i].1).sum();
            let magnitude: f64 = parts.iter().map(|(c, k)| c * (k[i].0.abs() + k[i].1)).sum();
            // One more rounding each for the coefficients.
            (value, passed_on + bound::sum(2 * parts.len() + 1, y.abs() + magnitude))
        };
        y.iter().enumerate().map(of).collect()
    }

    /// One step, h beta given at its beginning, in its middle and at its end.
    pub fn step(&self, y: &[f64], [begin, middle, end]: [&[f32]; 3]) -> WithErrors {
        let exact: WithErrors = y.iter().map(|&y| (y, 0.0)).collect();
        let a = self.stage(&exact, begin);
        let b = self.stage(&Self::add(y, &[(0.5, &a)]), middle);
        let c = self.stage(&Self::add(y, &[(0.5, &b)]), middle);
        let d = self.stage(&Self::add(y, &[(1.0, &c)]), end);
        Self::add(y, &[(1.0 / 6.0, &a), (1.0 / 3.0, &b), (1.0 / 3.0, &c), (1.0 / 6.0, &d)])
    }
}
