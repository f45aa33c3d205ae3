//! `sim::wave`: every step against a twin in 64 bits, convergence to the exact waves, energy, sides, and what a step
//! costs.
#![cfg(feature = "sim")]

mod common;

use common::bounds::{U, assert_componentwise, gamma, product_bound, product_bounds};
use common::harness::{assert_padded, on_both};
use common::products::fused_reduction;
use common::random::uniform;
use common::reference::widen;
use common::worst::{worst, worst_of};
use texla::ops::{ReducePlan, Windows};
use texla::sim::wave::{Boundaries, Boundary, Drop, Scheme, Wave, WaveParams};
use texla::{Device, Error, Vector};

use Boundary::{Absorbing, Fixed, Periodic, Reflecting};

const SCHEMES: [Scheme; 3] = [Scheme::Explicit, Scheme::CrankNicholson, Scheme::CurrentAndNext];
const IMPLICIT: [Scheme; 2] = [Scheme::CrankNicholson, Scheme::CurrentAndNext];

/// `A = -h² Δ` on the cells, and the losses, in 64 bits.
struct Twin {
    params: WaveParams,
    losses: Vec<f64>,
    /// `dt²` times that of the next step.
    force: Vec<f64>,
}

impl Twin {
    fn new(params: WaveParams) -> Self {
        let (nx, ny) = (params.grid.nx, params.grid.ny);
        let r = params.courant();
        let at_side = |i: usize, cells: usize, sides: [Boundary; 2]| {
            let hit = [i == 0, i + 1 == cells].into_iter().zip(sides);
            hit.filter(|(hit, side)| *hit && *side == Absorbing).count() as f64 * 0.5 * r
        };
        let losses = (0..nx * ny).map(|i| {
            let (x, y) = (i % nx, i / nx);
            0.5 * params.damping * params.dt
                + at_side(x, nx, params.boundaries.x)
                + at_side(y, ny, params.boundaries.y)
        });
        Twin { losses: losses.collect(), force: vec![0.0; nx * ny], params }
    }

    fn alpha(&self) -> f64 {
        self.params.courant().powi(2)
    }

    /// `A u`; with `magnitudes` `|A| |u|`.
    fn stiffness(&self, u: &[f64], magnitudes: bool) -> Vec<f64> {
        let (nx, ny) = (self.params.grid.nx as isize, self.params.grid.ny as isize);
        let size = |v: f64| if magnitudes { v.abs() } else { v };
        let sign = if magnitudes { 1.0 } else { -1.0 };
        let value = |x: isize, y: isize| size(u[(x + nx * y) as usize]);
        let row = |i: isize| {
            let (x, y) = (i % nx, i / nx);
            let own = value(x, y);
            let mut sum = 0.0;
            for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
                let (sides, high) = if dx != 0 {
                    (self.params.boundaries.x, dx > 0)
                } else {
                    (self.params.boundaries.y, dy > 0)
                };
                let (to_x, to_y) = (x + dx, y + dy);
                let inside = (0..nx).contains(&to_x) && (0..ny).contains(&to_y);
                sum += match sides[usize::from(high)] {
                    _ if inside => own + sign * value(to_x, to_y),
                    Reflecting | Absorbing => 0.0,
                    Fixed => 2.0 * own,
                    Periodic => own + sign * value(to_x.rem_euclid(nx), to_y.rem_euclid(ny)),
                    other => panic!("{other:?}"),
                };
            }
            sum
        };
        (0..nx * ny).map(row).collect()
    }

    /// `(1 + s + θ α A) u`.
    fn matrix(&self, theta: f64, u: &[f64]) -> Vec<f64> {
        let stiff = self.stiffness(u, false);
        let terms = u.iter().zip(&self.losses).zip(&stiff);
        terms.map(|((u, s), a)| (1.0 + s) * u + theta * self.alpha() * a).collect()
    }

    /// The right-hand side of a step, and the sum of the magnitudes of its terms.
    fn right(&self, y: &[f64], v: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let half = if self.params.scheme == Scheme::CurrentAndNext { 0.5 } else { 0.0 };
        let mean: Vec<f64> = y.iter().zip(v).map(|(y, v)| y + half * v).collect();
        let size: Vec<f64> = y.iter().zip(v).map(|(y, v)| y.abs() + half * v.abs()).collect();
        let all = |a: Vec<f64>, sign: f64, v: &dyn Fn(usize) -> f64| {
            let own = |i: usize| sign * self.alpha() * a[i] + sign * 2.0 * self.losses[i] * v(i);
            let forced = |i: usize| if sign > 0.0 { self.force[i].abs() } else { self.force[i] };
            (0..y.len()).map(|i| own(i) + forced(i)).collect()
        };
        let g = all(self.stiffness(&mean, false), -1.0, &|i| v[i]);
        (g, all(self.stiffness(&size, true), 1.0, &|i| v[i].abs()))
    }

    /// Solves with the step's matrix by conjugate gradients in 64 bits.
    fn solve(&self, theta: f64, g: &[f64]) -> Vec<f64> {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (mut x, mut r, mut d) = (vec![0.0; g.len()], g.to_vec(), g.to_vec());
        let (mut rr, first) = (dot(g, g), dot(g, g));
        for _ in 0..10 * g.len() + 100 {
            if rr <= 1e-28 * first {
                break;
            }
            let q = self.matrix(theta, &d);
            let step = rr / dot(&d, &q);
            x.iter_mut().zip(&d).for_each(|(x, d)| *x += step * d);
            r.iter_mut().zip(&q).for_each(|(r, q)| *r -= step * q);
            let next = dot(&r, &r);
            d = r.iter().zip(&d).map(|(r, d)| r + next / rr * d).collect();
            rr = next;
        }
        x
    }

    /// The change `δ` of a step.
    fn change(&self, y: &[f64], v: &[f64]) -> Vec<f64> {
        let theta = match self.params.scheme {
            Scheme::Explicit => return self.explicit(y, v),
            Scheme::CrankNicholson => 0.25,
            Scheme::CurrentAndNext => 0.5,
            other => panic!("{other:?}"),
        };
        self.solve(theta, &self.right(y, v).0)
    }

    fn explicit(&self, y: &[f64], v: &[f64]) -> Vec<f64> {
        self.right(y, v).0.iter().zip(&self.losses).map(|(g, s)| g / (1.0 + s)).collect()
    }

    /// The discrete energy of a scheme that keeps it.
    fn energy(&self, y: &[f64], v: &[f64]) -> f64 {
        let p = &self.params;
        let share = if p.scheme == Scheme::Explicit { 1.0 } else { 0.5 };
        let mean: Vec<f64> = y.iter().zip(v).map(|(y, v)| y - share * v).collect();
        let stress = self.stiffness(&mean, false);
        let left = if share == 1.0 { y } else { &mean };
        let potential: f64 = left.iter().zip(&stress).map(|(a, b)| a * b).sum();
        let kinetic: f64 = v.iter().map(|v| v * v).sum();
        0.5 * (p.cell / p.dt).powi(2) * kinetic + 0.5 * p.speed.powi(2) * potential
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Sides of all kinds, on grids that fill no texel, no row and no square.
fn cases() -> Vec<WaveParams> {
    let all = Boundaries::all;
    let mixed = Boundaries { x: [Fixed, Absorbing], y: [Periodic; 2] };
    let channel = Boundaries { x: [Absorbing; 2], y: [Reflecting, Fixed] };
    let sizes = [(1, 1), (1, 7), (13, 1), (2, 2), (3, 5), (8, 4), (31, 17), (64, 33)];
    let boundaries = [all(Reflecting), all(Fixed), all(Absorbing), all(Periodic), mixed, channel];
    let mut cases = Vec::new();
    for (k, (nx, ny)) in sizes.into_iter().enumerate() {
        for (l, boundaries) in boundaries.into_iter().enumerate() {
            let damping = if (k + l) % 3 == 0 { 0.3 } else { 0.0 };
            cases.push(
                WaveParams::new(nx, ny)
                    .with_boundaries(boundaries)
                    .with_damping(damping)
                    .with_cell(0.5)
                    .with_speed(2.0),
            );
        }
    }
    cases
}

fn started(dev: &Device, params: WaveParams, seed: u64) -> Wave {
    let mut wave = Wave::new(dev, params).unwrap();
    let n = params.grid.len();
    let y = Vector::from_slice(dev, &uniform(seed, n)).unwrap();
    wave.displace(1.0, &y).unwrap();
    wave.strike(0.5, &Vector::from_slice(dev, &uniform(seed + 1, n)).unwrap()).unwrap();
    wave
}

/// The product bound, step by step from what the device itself has reached.
#[test]
fn every_step_is_that_of_the_twin() {
    on_both(|dev| {
        for (case, params) in cases().into_iter().enumerate() {
            for scheme in SCHEMES {
                let courant = if scheme == Scheme::Explicit { 0.6 } else { [0.4, 1.5, 4.0][case % 3] };
                let params = params.with_scheme(scheme).with_dt(courant * params.cell / params.speed);
                let mut twin = Twin::new(params);
                let mut wave = started(dev, params, case as u64);
                let force = uniform(case as u64 + 2, params.grid.len());
                let on_device = Vector::from_slice(dev, &force).unwrap();
                for step in 0..3 {
                    let (y, v) = (
                        widen(&wave.displacement().read().unwrap()),
                        widen(&wave.increment().read().unwrap()),
                    );
                    let name = format!("{params:?}, step {step}");
                    if step < 2 {
                        wave.step().unwrap();
                    } else {
                        wave.step_forced(&on_device, -0.7).unwrap();
                        let scale = -0.7 * params.dt.powi(2);
                        twin.force = force.iter().map(|f| scale * f64::from(*f)).collect();
                    }
                    let delta = twin.change(&y, &v);
                    let (g, sizes) = twin.right(&y, &v);
                    // Five terms, the two of the losses and the force; alpha, losses and factor are rounded, too.
                    let right = product_bounds(&sizes, std::iter::repeat_n(11, y.len()));
                    let error: Vec<f64> = match wave.report().unwrap() {
                        // `1 / (1 + s)` is rounded, and multiplied by.
                        None => right.iter().zip(&delta).map(|(r, d)| r + gamma(3) * d.abs()).collect(),
                        // The inverse of this matrix shortens, in the norm of squares and in that of the largest.
                        Some(report) => {
                            assert!(report.residual <= 2.0 * params.tolerance, "{name}: {report:?}");
                            let most = right.iter().copied().fold(0.0, worst);
                            let coefficients = 8.0 * U * params.condition() * norm(&delta);
                            let solved = 1.001 * report.residual * norm(&g) + coefficients;
                            vec![most + solved; y.len()]
                        }
                    };
                    let next_v: Vec<f64> = v.iter().zip(&delta).map(|(v, d)| v + d).collect();
                    let next_y: Vec<f64> = y.iter().zip(&next_v).map(|(y, v)| y + v).collect();
                    let bound = |k: usize| -> Vec<f64> {
                        (0..y.len())
                            .map(|i| {
                                error[i]
                                    + product_bound(
                                        v[i].abs() + delta[i].abs() + if k > 2 { y[i].abs() } else { 0.0 },
                                        k,
                                    )
                            })
                            .collect()
                    };
                    assert_componentwise(
                        &format!("{name}: v"),
                        &wave.increment().read().unwrap(),
                        &next_v,
                        &bound(2),
                    );
                    assert_componentwise(
                        &format!("{name}: y"),
                        &wave.displacement().read().unwrap(),
                        &next_y,
                        &bound(3),
                    );
                    assert_padded(wave.displacement(), &name);
                    assert_padded(wave.increment(), &name);
                }
                let (y, v) =
                    (widen(&wave.displacement().read().unwrap()), widen(&wave.increment().read().unwrap()));
                if scheme != Scheme::CurrentAndNext {
                    // Every term is of the size of the energy of the signs' worst case.
                    let size: f64 = y.iter().chain(&v).map(|x| x * x).sum::<f64>();
                    let scale = 0.5 * (params.cell / params.dt).powi(2) + 16.0 * params.speed.powi(2);
                    let bound = gamma(64) * scale * size + 1e-30;
                    let energy = wave.energy().unwrap().read().unwrap();
                    assert_componentwise("energy", &[energy], &[twin.energy(&y, &v)], &[bound]);
                }
            }
        }
    });
}

/// `cos(k x) cos(l y) cos(ω t)` between reflecting walls, with sines where the surface is held.
fn mode(params: &WaveParams, k: f64, l: f64) -> Vec<f32> {
    let (nx, ny) = (params.grid.nx, params.grid.ny);
    let along = |i: usize, cells: usize, k: f64, side: Boundary| {
        let phase = std::f64::consts::PI * k * (i as f64 + 0.5) / cells as f64;
        if side == Fixed { phase.sin() } else { phase.cos() }
    };
    let value = |i: usize| {
        along(i % nx, nx, k, params.boundaries.x[0]) * along(i / nx, ny, l, params.boundaries.y[0])
    };
    (0..nx * ny).map(|i| value(i) as f32).collect()
}

/// The largest error against the exact standing wave on the unit square at t = 1.
fn error_at_one(dev: &Device, n: usize, scheme: Scheme, boundary: Boundary, courant: f64) -> f64 {
    let cell = 1.0 / n as f64;
    let boundaries = Boundaries::all(boundary);
    let dt = courant * cell;
    let params = WaveParams::new(n, n)
        .with_cell(cell)
        .with_dt(dt)
        .with_boundaries(boundaries)
        .with_scheme(scheme)
        .with_tolerance(1e-7);
    let shape = mode(&params, 1.0, 1.0);
    let mut wave = Wave::new(dev, params).unwrap();
    let y = Vector::from_slice(dev, &shape).unwrap();
    wave.start(&y, &Vector::zeros(dev, n * n).unwrap()).unwrap();
    while wave.time() < 1.0 - 1e-9 {
        wave.step().unwrap();
    }
    assert!((wave.time() - 1.0).abs() < 1e-9);
    let omega = std::f64::consts::PI * 2f64.sqrt();
    let exact = omega.cos();
    let error = |y: &f32, s: &f32| (f64::from(*y) - exact * f64::from(*s)).abs();
    worst_of(&wave.displacement().read().unwrap(), &shape, error)
}

#[test]
fn standing_waves_converge_with_second_order() {
    on_both(|dev| {
        for (scheme, courant) in
            [(Scheme::Explicit, 0.5), (Scheme::CrankNicholson, 0.5), (Scheme::CrankNicholson, 2.0)]
        {
            for boundary in [Reflecting, Fixed] {
                let errors = [16, 32, 64].map(|n| error_at_one(dev, n, scheme, boundary, courant));
                eprintln!("{scheme:?} {boundary:?} {courant}: {errors:?}");
                for pair in errors.windows(2) {
                    let ratio = pair[0] / pair[1];
                    assert!((3.7..4.3).contains(&ratio), "{scheme:?} {boundary:?}: {errors:?}");
                }
            }
        }
        // To the letter of the paper: first order.
        let errors = [16, 32, 64].map(|n| error_at_one(dev, n, Scheme::CurrentAndNext, Reflecting, 0.5));
        for pair in errors.windows(2) {
            assert!((1.6..2.4).contains(&(pair[0] / pair[1])), "{errors:?}");
        }
    });
}

/// A mode's three levels obey `W_(n+1) = W_n / (1 + α λ / 2)` with `W_n = y_(n+1) y_(n-1) - y_n²`.
#[test]
fn the_papers_average_damps_as_its_roots_say() {
    on_both(|dev| {
        let params =
            WaveParams::new(16, 8).with_scheme(Scheme::CurrentAndNext).with_dt(2.0).with_tolerance(1e-7);
        let shape = mode(&params, 2.0, 1.0);
        let eigenvalue = |k: f64, n: f64| 4.0 * (std::f64::consts::PI * k / (2.0 * n)).sin().powi(2);
        let lambda = eigenvalue(2.0, 16.0) + eigenvalue(1.0, 8.0);
        let expected = 1.0 / (1.0 + 0.5 * params.courant().powi(2) * lambda);
        let mut wave = Wave::new(dev, params).unwrap();
        wave.displace(1.0, &Vector::from_slice(dev, &shape).unwrap()).unwrap();
        let mut levels = Vec::new();
        for _ in 0..8 {
            wave.step().unwrap();
            levels.push(f64::from(wave.displacement().element(0).unwrap()));
        }
        let w: Vec<f64> = levels.windows(3).map(|y| y[2] * y[0] - y[1] * y[1]).collect();
        for pair in w.windows(2) {
            assert!((pair[1] / pair[0] / expected - 1.0).abs() < 1e-4, "{} {expected}", pair[1] / pair[0]);
        }
    });
}

fn drop_in(wave: &mut Wave, x: f64, y: f64, radius: f64) {
    wave.drop(Drop { centre: [x, y], radius, height: 1.0, balanced: false }).unwrap();
}

/// The largest relative change of the energy over so many steps.
fn drift(dev: &Device, scheme: Scheme, dt: f64, steps: usize) -> f64 {
    let boundaries = Boundaries { x: [Reflecting; 2], y: [Fixed, Reflecting] };
    let params = WaveParams::new(20, 14)
        .with_boundaries(boundaries)
        .with_scheme(scheme)
        .with_dt(dt)
        .with_tolerance(1e-4);
    let mut wave = Wave::new(dev, params).unwrap();
    drop_in(&mut wave, 9.0, 6.0, 5.0);
    let start = f64::from(wave.energy().unwrap().read().unwrap());
    let mut most = 0.0f64;
    let _scope = dev.scope().unwrap();
    for step in 1..=steps {
        wave.step().unwrap();
        if step % (steps / 20) == 0 {
            let now = f64::from(wave.energy().unwrap().read().unwrap());
            most = worst(most, (now / start - 1.0).abs());
        }
    }
    eprintln!("{scheme:?}, {steps} steps of {dt}, {} iterations: {most:e}", wave.iterations());
    most
}

#[test]
fn energy_stays_over_ten_thousand_steps() {
    on_both(|dev| {
        // The ES device does the same, so it is asked for less.
        let steps = if dev.api() == texla::gl::Api::Gl33 { 10_000 } else { 500 };
        assert!(drift(dev, Scheme::Explicit, 0.7, steps) < 1e-4);
        assert!(drift(dev, Scheme::CrankNicholson, 0.8, steps) < 1e-3);
        assert!(drift(dev, Scheme::CrankNicholson, 4.0, steps / 20) < 1e-3);
    });
}

#[test]
fn an_explicit_step_past_its_limit_has_to_be_asked_for() {
    on_both(|dev| {
        let params = WaveParams::new(16, 16).with_scheme(Scheme::Explicit).with_dt(0.72);
        let error = Wave::new(dev, params).unwrap_err();
        assert!(matches!(error, Error::Parameter { name: "dt", .. }), "{error}");
        assert!(error.to_string().contains("the limit is dt = 0.70710678"), "{error}");
        // At the limit itself, and along one axis up to 1.
        Wave::new(dev, params.with_dt(params.explicit_limit())).unwrap();
        let line = WaveParams::new(16, 1).with_scheme(Scheme::Explicit).with_dt(1.0);
        Wave::new(dev, line).unwrap();
        assert!(Wave::new(dev, line.with_dt(1.01)).is_err());
        // If asked for, it does what the theory says; the implicit scheme does not.
        let mut wave = started(dev, params.with_allow_unstable(true), 5);
        let mut stable = started(dev, params.with_scheme(Scheme::CrankNicholson), 5);
        for _ in 0..120 {
            wave.step().unwrap();
            stable.step().unwrap();
        }
        let largest = |wave: &Wave| texla::ops::max_abs(wave.displacement()).unwrap().read().unwrap();
        assert!(largest(&wave) > 1e6, "{}", largest(&wave));
        assert!(largest(&stable) < 100.0, "{}", largest(&stable));
    });
}

#[test]
fn implicit_steps_of_any_length_stay_bounded() {
    on_both(|dev| {
        for scheme in IMPLICIT {
            for (dt, steps) in [(0.1, 100), (3.0, 60), (30.0, 10)] {
                let params = WaveParams::new(17, 11).with_scheme(scheme).with_dt(dt);
                let mut wave = Wave::new(dev, params).unwrap();
                drop_in(&mut wave, 8.0, 5.0, 4.0);
                let start = wave.energy().unwrap().read().unwrap();
                for _ in 0..steps {
                    wave.step().unwrap();
                }
                let now = wave.energy().unwrap().read().unwrap();
                assert!(now.is_finite() && now <= 1.01 * start, "{scheme:?} {dt}: {start} {now}");
                assert!(wave.report().unwrap().unwrap().residual <= 2.0 * params.tolerance);
            }
        }
    });
}

/// Energy left of a drop in the middle after the time in which its waves have crossed the basin twice.
fn left(dev: &Device, (nx, ny): (usize, usize), scheme: Scheme, courant: f64, boundary: Boundary) -> f64 {
    let params = WaveParams::new(nx, ny)
        .with_scheme(scheme)
        .with_dt(courant)
        .with_boundaries(Boundaries::all(boundary));
    let mut wave = Wave::new(dev, params).unwrap();
    let middle = [nx as f64 / 2.0, ny as f64 / 2.0];
    wave.drop(Drop { centre: middle, radius: 16.0, height: 1.0, balanced: true }).unwrap();
    let start = wave.energy().unwrap().read().unwrap();
    while wave.time() < 2.0 * nx.max(ny) as f64 {
        wave.step().unwrap();
    }
    f64::from(wave.energy().unwrap().read().unwrap() / start)
}

#[test]
fn absorbing_sides_absorb() {
    on_both(|dev| {
        for (scheme, courant) in [(Scheme::Explicit, 0.5), (Scheme::CrankNicholson, 1.0)] {
            let line = left(dev, (128, 1), scheme, courant, Absorbing);
            let plane = left(dev, (96, 96), scheme, courant, Absorbing);
            eprintln!("{scheme:?}: left of a line {line:e}, of a plane {plane:e}");
            assert!(line < 0.01, "{scheme:?}: {line}");
            assert!(plane < 0.01, "{scheme:?}: {plane}");
            for other in [Reflecting, Fixed, Periodic] {
                let kept = left(dev, (96, 96), scheme, courant, other);
                assert!((kept - 1.0).abs() < 1e-3, "{scheme:?} {other:?}: {kept}");
            }
        }
    });
}

#[test]
fn damping_takes_its_share() {
    on_both(|dev| {
        for scheme in [Scheme::Explicit, Scheme::CrankNicholson] {
            let params = WaveParams::new(24, 24).with_scheme(scheme).with_damping(0.05);
            let shape = mode(&params, 2.0, 3.0);
            let mut wave = Wave::new(dev, params).unwrap();
            wave.displace(1.0, &Vector::from_slice(dev, &shape).unwrap()).unwrap();
            for _ in 0..20 {
                wave.step().unwrap();
            }
            let before = wave.energy().unwrap().read().unwrap();
            for _ in 0..80 {
                wave.step().unwrap();
            }
            let after = wave.energy().unwrap().read().unwrap();
            let expected = (-0.05f64 * 80.0 * 0.5).exp();
            assert!(
                (f64::from(after / before) / expected - 1.0).abs() < 0.05,
                "{scheme:?}: {}",
                after / before
            );
        }
    });
}

/// The number of draws depends on the parameters alone, and a step waits for nothing.
#[test]
fn a_step_issues_a_fixed_number_of_draws_and_reads_nothing() {
    on_both(|dev| {
        let lossy = Boundaries::all(Absorbing);
        for boundaries in [Boundaries::default(), lossy] {
            for scheme in SCHEMES {
                let params = WaveParams::new(40, 30).with_boundaries(boundaries).with_scheme(scheme);
                let mut wave = Wave::new(dev, params).unwrap();
                let force = wave
                    .bump(Drop { centre: [7.0, 9.0], radius: 4.0, height: 0.1, balanced: false })
                    .unwrap();
                let cost = |forced: bool, wave: &mut Wave| {
                    let before = dev.counters();
                    if forced {
                        wave.step_forced(&force, 0.5).unwrap()
                    } else {
                        wave.step().unwrap()
                    }
                    let done = dev.counters().since(&before);
                    assert_eq!((done.readbacks, done.async_checks, done.readback_bytes), (0, 0, 0));
                    done.draws
                };
                let quiet = cost(false, &mut wave);
                let forced = cost(true, &mut wave);
                assert_eq!(forced, quiet);
                for step in 0..20 {
                    if step == 10 {
                        drop_in(&mut wave, 20.0, 10.0, 6.0);
                    }
                    assert_eq!(cost(false, &mut wave), quiet, "{scheme:?}, step {step}");
                }
                match scheme {
                    Scheme::Explicit => assert_eq!(quiet, 1),
                    _ if dev.capabilities().max_draw_buffers < 3 => {}
                    _ => {
                        let (extent, software) = (wave.displacement().extent(), dev.capabilities().software);
                        let stages = ReducePlan::new(extent, Windows::Balanced).stages().len() as u64;
                        // Nothing but iterations and the largest element of the right-hand side, which is their first
                        // residual and direction.
                        let iteration =
                            if software { 2 + stages.max(2) } else { 1 + fused_reduction(extent) };
                        let average = u64::from(scheme == Scheme::CurrentAndNext);
                        let solver = wave.iterations() as u64 * iteration + stages;
                        assert_eq!(quiet, 2 + average + solver, "{scheme:?}");
                    }
                }
                assert_eq!(params.iterations(), wave.iterations());
            }
        }
    });
}

#[test]
fn quiet_water_stays_quiet() {
    on_both(|dev| {
        // As quiet as can be.
        for scheme in SCHEMES {
            let mut wave = Wave::new(dev, WaveParams::new(0, 3).with_scheme(scheme)).unwrap();
            drop_in(&mut wave, 0.0, 0.0, 1.0);
            wave.step().unwrap();
            assert_eq!(wave.energy().unwrap().read().unwrap(), 0.0);
            assert!(wave.displacement().read().unwrap().is_empty());
        }
        for scheme in SCHEMES {
            let mut wave = Wave::new(dev, WaveParams::new(9, 5).with_scheme(scheme)).unwrap();
            for _ in 0..3 {
                wave.step().unwrap();
            }
            assert_eq!(wave.displacement().read().unwrap(), [0.0; 45]);
            assert_eq!(wave.energy().unwrap().read().unwrap(), 0.0);
            if let Some(report) = wave.report().unwrap() {
                assert_eq!((report.residual, report.iterations, report.met), (0.0, 0, true));
            }
            // Ripples whose squares nearly leave the range.
            wave.drop(Drop { centre: [4.0, 2.0], radius: 2.0, height: 1e-12, balanced: false }).unwrap();
            for _ in 0..3 {
                wave.step().unwrap();
            }
            wave.report().unwrap();
            let largest = texla::ops::max_abs(wave.displacement()).unwrap().read().unwrap();
            assert!((1e-14..1e-12).contains(&largest), "{largest}");
        }
    });
}

#[test]
fn a_report_does_not_call_met_what_is_not() {
    on_both(|dev| {
        for exponent in [0, -12, -18, -24, -30, -36, 18, 30] {
            let mut wave = Wave::new(dev, WaveParams::new(32, 32).with_dt(2.0)).unwrap();
            let height = 10f64.powi(exponent);
            wave.drop(Drop { centre: [16.0, 16.0], radius: 6.0, height, balanced: false }).unwrap();
            wave.step().unwrap();
            let report = wave.report().unwrap().unwrap();
            assert_eq!(report.met, report.residual <= 1e-5, "1e{exponent}: {report:?}");
            // Further down elements of what is solved for lie below the normal range.
            assert_eq!(report.met, exponent > -36, "1e{exponent}: {report:?}");
        }
    });
}

/// Waves are linear: of another height they are the same, to the last bit.
#[test]
fn heights_change_nothing_but_the_unit() {
    on_both(|dev| {
        for scheme in SCHEMES {
            let run = |exponent: i32| {
                let params = WaveParams::new(40, 33).with_dt(0.5).with_scheme(scheme);
                let mut wave = Wave::new(dev, params).unwrap();
                let height = 2f64.powi(exponent);
                wave.drop(Drop { centre: [16.0, 20.0], radius: 9.0, height, balanced: true }).unwrap();
                for _ in 0..5 {
                    wave.step().unwrap();
                }
                let report = wave.report().unwrap().map(|r| (r.iterations, r.met));
                let unit = 2f64.powi(-exponent);
                let water: Vec<f64> =
                    wave.displacement().read().unwrap().iter().map(|v| f64::from(*v) * unit).collect();
                (report, water)
            };
            let (report, once) = run(0);
            for exponent in [-80, -60, -41, 40, 60, 100] {
                let (told, water) = run(exponent);
                assert_eq!(told, report, "{scheme:?}, 2^{exponent}");
                // What lies far below the rest may be cut off at the end of the range.
                let apart = worst_of(&water, &once, |a, b| (a - b).abs());
                assert!(apart <= 2f64.powi(-38), "{scheme:?}, 2^{exponent}: {apart:e}");
            }
        }
    });
}

#[test]
fn iterations_are_bounded_by_the_grid() {
    on_both(|dev| {
        for dt in [100.0, 1e4, 1e5, 1e9] {
            let params = WaveParams::new(8, 8).with_dt(dt);
            assert_eq!(params.iterations(), 80);
            let mut wave = Wave::new(dev, params).unwrap();
            drop_in(&mut wave, 4.0, 3.0, 3.0);
            wave.step().unwrap();
            let report = wave.report().unwrap().unwrap();
            assert!(report.residual <= 2.0 * params.tolerance, "{dt}: {report:?}");
        }
        let large = WaveParams::new(64, 64).with_dt(1e4);
        let error = Wave::new(dev, large).unwrap_err().to_string();
        assert!(error.contains("`dt` is 10000") && error.contains("4112 iterations"), "{error}");
        Wave::new(dev, large.with_iterations(Some(4000))).unwrap();
    });
}

#[test]
fn drops_far_away_or_tiny_are_numbers() {
    on_both(|dev| {
        let wave = Wave::new(dev, WaveParams::new(8, 8)).unwrap();
        let drop = Drop { centre: [4.0, 4.0], radius: 1.0, height: 1.0, balanced: true };
        for far in [
            Drop { centre: [2e19, 2e19], ..drop },
            Drop { centre: [-3e38, 4.0], ..drop },
            Drop { radius: 1e-18, ..drop },
            Drop { centre: [1e38, 1e38], radius: 1e18, ..drop },
        ] {
            assert_eq!(wave.bump(far).unwrap().read().unwrap(), [0.0; 64], "{far:?}");
        }
        let flat = Drop { radius: 1e18, ..drop };
        assert_eq!(wave.bump(flat).unwrap().read().unwrap(), [1.0; 64]);
        for radius in [1e-19, 1e19, 1e300] {
            let error = wave.bump(Drop { radius, ..drop }).unwrap_err().to_string();
            assert!(error.contains("`radius`") && error.contains("1e18"), "{error}");
        }
    });
}

/// Symmetric starts stay symmetric; a periodic basin knows no place.
#[test]
fn a_drop_across_a_periodic_side_is_one_drop() {
    on_both(|dev| {
        let params = WaveParams::new(24, 20).with_boundaries(Boundaries::all(Periodic));
        let run = |x: f64, y: f64| {
            let mut wave = Wave::new(dev, params).unwrap();
            drop_in(&mut wave, x, y, 6.0);
            for _ in 0..10 {
                wave.step().unwrap();
            }
            wave.displacement().read().unwrap()
        };
        let (middle, corner) = (run(12.0, 10.0), run(0.0, 0.0));
        for (i, value) in corner.iter().enumerate() {
            let (x, y) = ((i % 24 + 12) % 24, (i / 24 + 10) % 20);
            assert!((value - middle[x + 24 * y]).abs() < 1e-4, "{i}: {value} {}", middle[x + 24 * y]);
        }
    });
}

/// The product bound for the drop: some twenty roundings of numbers no larger than 5 heights.
#[test]
fn drops_have_their_formula() {
    on_both(|dev| {
        for (nx, ny) in [(1, 1), (1, 9), (7, 3), (33, 19)] {
            for balanced in [false, true] {
                let params = WaveParams::new(nx, ny).with_cell(0.25).with_dt(0.1);
                let wave = Wave::new(dev, params).unwrap();
                let drop = Drop { centre: [0.9, 0.6], radius: 1.3, height: -2.0, balanced };
                let bump = wave.bump(drop).unwrap();
                let value = |i: usize| {
                    let apart = |i: usize, c: f64| ((i as f64 + 0.5) * 0.25 - c) / drop.radius;
                    let q = apart(i % nx, 0.9).powi(2) + apart(i / nx, 0.6).powi(2);
                    let factor = if balanced { 1.0 - 5.0 * q } else { 1.0 };
                    if q < 1.0 { drop.height * (1.0 - q).powi(3) * factor } else { 0.0 }
                };
                let exact: Vec<f64> = (0..nx * ny).map(value).collect();
                let bound = vec![gamma(64) * 2.0 * 5.0; exact.len()];
                assert_componentwise("drop", &bump.read().unwrap(), &exact, &bound);
                assert_padded(&bump, "drop");
            }
        }
        // As much is taken from the rim as the middle gets.
        let wave = Wave::new(dev, WaveParams::new(64, 64)).unwrap();
        let bump =
            wave.bump(Drop { centre: [32.0, 32.0], radius: 20.0, height: 1.0, balanced: true }).unwrap();
        let sum = texla::ops::sum(&bump).unwrap().read().unwrap();
        assert!(sum.abs() < 1e-2, "{sum}");
    });
}

#[test]
fn what_makes_no_sense_is_refused() {
    on_both(|dev| {
        let good = WaveParams::new(5, 4);
        let one_sided = Boundaries { x: [Periodic, Fixed], y: [Fixed; 2] };
        for bad in [
            good.with_dt(0.0),
            good.with_dt(f64::NAN),
            good.with_cell(-1.0),
            good.with_speed(f64::INFINITY),
            good.with_damping(-0.1),
            good.with_damping(f64::NAN),
            good.with_tolerance(0.0),
            good.with_tolerance(f64::NAN),
            good.with_iterations(Some(1 << 24)),
            good.with_boundaries(one_sided),
            good.with_grid(texla::Grid { nz: 2, ..good.grid }),
        ] {
            let error = Wave::new(dev, bad).unwrap_err();
            assert!(matches!(error, Error::Parameter { .. }), "{bad:?}: {error}");
        }
        let absorbing = Boundaries::all(Absorbing);
        for (bad, name) in [
            (good.with_damping(1e300), "damping"),
            (good.with_damping(1e-300), "damping"),
            (good.with_speed(1e-200), "speed"),
            (good.with_speed(1e-200).with_boundaries(absorbing), "speed"),
        ] {
            let text = Wave::new(dev, bad).unwrap_err().to_string();
            assert!(text.contains("Wave::new") && text.contains(&format!("`{name}`")), "{text}");
        }
        assert!(matches!(Wave::new(dev, good.with_dt(1e30)).unwrap_err(), Error::NonFinite { .. }));
        let mut wave = Wave::new(dev, good).unwrap();
        drop_in(&mut wave, 2.0, 2.0, 2.0);
        let before = wave.displacement().read().unwrap();
        let drop = Drop { centre: [1.0, 1.0], radius: 1.0, height: 1.0, balanced: false };
        for bad in [
            Drop { centre: [f64::NAN, 1.0], ..drop },
            Drop { centre: [1.0, f64::INFINITY], ..drop },
            Drop { height: f64::NAN, ..drop },
            Drop { height: 1e39, ..drop },
            Drop { radius: 0.0, ..drop },
            Drop { radius: f64::NAN, ..drop },
            Drop { radius: 1e-30, ..drop },
        ] {
            let error = wave.drop(bad).unwrap_err();
            assert!(matches!(error, Error::Parameter { .. } | Error::NonFinite { .. }), "{bad:?}: {error}");
        }
        let force = Vector::filled(dev, 20, 1.0).unwrap();
        for factor in [f64::NAN, f64::INFINITY, 1e300] {
            assert!(matches!(wave.step_forced(&force, factor), Err(Error::NonFinite { .. })));
            assert!(matches!(wave.displace(factor, &force), Err(Error::NonFinite { .. })));
            assert!(matches!(wave.strike(factor, &force), Err(Error::NonFinite { .. })));
        }
        let elsewhere = texla::Headless::new(Default::default()).unwrap();
        let other = Vector::filled(elsewhere.device(), 20, 1.0).unwrap();
        for (error, op, operand) in [
            (wave.step_forced(&other, 1.0), "Wave::step_forced", "force"),
            (wave.displace(1.0, &other), "Wave::displace", "x"),
            (wave.strike(1.0, &other), "Wave::strike", "x"),
            (wave.start(&other, &force), "Wave::start", "displacement"),
            (wave.start(&force, &other), "Wave::start", "rate"),
        ] {
            let text = error.unwrap_err().to_string();
            assert!(text.contains(op) && text.contains(operand), "{text}");
        }
        let short = Vector::filled(dev, 19, 1.0).unwrap();
        assert!(matches!(wave.step_forced(&short, 1.0), Err(Error::ShapeMismatch { .. })));
        assert!(matches!(wave.displace(1.0, &short), Err(Error::ShapeMismatch { .. })));
        assert!(matches!(wave.start(&force, &short), Err(Error::ShapeMismatch { .. })));
        assert_eq!(wave.displacement().read().unwrap(), before, "nothing has happened");
        assert_eq!(wave.steps(), 0);
        wave.step().unwrap();
    });
}

/// A force acts as `y_tt`: under a constant one a reflecting basin rises as `t² / 2`.
#[test]
fn a_force_accelerates() {
    on_both(|dev| {
        for scheme in SCHEMES {
            let params = WaveParams::new(6, 5).with_scheme(scheme).with_dt(0.5);
            let mut wave = Wave::new(dev, params).unwrap();
            let force = Vector::filled(dev, 30, 1.0).unwrap();
            for _ in 0..20 {
                wave.step_forced(&force, 0.01).unwrap();
            }
            // 1 + 2 + ... + 20 increments of dt².
            let exact = 0.01 * 0.25 * 210.0;
            let y = wave.displacement().read().unwrap();
            let most = 1e-4 * exact;
            assert!(y.iter().all(|y| (f64::from(*y) - exact).abs() < most), "{scheme:?}: {y:?}");
        }
    });
}
