//! What is drawn again without being described: cycles, sweeps and polynomials give the bits of new ones, whatever the host does
//! between two of them, and a failure in the middle is a typed error that leaves nothing behind.
#![allow(unsafe_code)]

mod common;

use std::cell::Cell;
use std::sync::Arc;

use common::harness::{limits, on_both};
use common::hostile::Host;
use common::loader::{self, Entry::glDrawArrays, calls, fail, heal, lose};
use common::random::uniform;
use common::state::{assert_same, snapshot};
use glow::HasContext;
use texla::host::NineBands;
use texla::kernel::PoolStats;
use texla::ops::{self, Checked, LinOp, Product};
use texla::solve::{
    AggregationMultigrid, AggregationParams, Chebyshev, ChebyshevParams, Cycle, Direction, GaussSeidel,
    Multigrid, MultigridParams, NineBandSmoother, Preconditioner, Smoother, WeightedJacobi,
};
use texla::{
    BandedMatrix, Device, DeviceOptions, Error, Grid, Result, Shape, Side, Sides, Stencil, StencilParams,
    Vector,
};

/// Unknowns along a side: enough for two levels.
const SIDE: usize = 24;
const N: usize = SIDE * SIDE;

/// Some work on `x` from `b`.
type Work<'a> = Box<dyn Fn(&mut Vector, &Vector) -> Result<()> + 'a>;

fn smoother<'a>(made: impl Smoother + 'a, sweeps: usize) -> Work<'a> {
    Box::new(move |x, b| made.smooth(x, b, sweeps))
}

fn preconditioner<'a>(made: impl Preconditioner + 'a) -> Work<'a> {
    Box::new(move |x, b| made.apply(x, b))
}

/// The operators that the work is made of.
struct Operators {
    stencil: Stencil,
    bands: BandedMatrix,
    nine: NineBands,
}

impl Operators {
    fn new(dev: &Device) -> Self {
        let params = StencilParams::new([1.0, 1.0, 0.0], Sides::all(Side::WALL));
        Operators {
            stencil: Stencil::new(dev, Grid::new_2d(SIDE, SIDE), params).unwrap(),
            bands: BandedMatrix::poisson_2d(dev, SIDE, SIDE).unwrap(),
            nine: NineBands::laplace(SIDE).unwrap(),
        }
    }

    /// Everything that replays, as new.
    fn works(&self) -> Vec<(&'static str, Work<'_>)> {
        let (a, dev) = (&self.stencil, self.stencil.device());
        let cycles = |sweeps, cycle| {
            let params = MultigridParams::default().with_sweeps(sweeps).with_cycle(cycle);
            Multigrid::new(a, params).unwrap()
        };
        let aggregation =
            || AggregationMultigrid::new(&self.bands, AggregationParams::default().with_sweeps(2)).unwrap();
        let chebyshev = || Chebyshev::new(&self.bands, ChebyshevParams::default()).unwrap();
        let sor = || GaussSeidel::new(&self.bands, 1.2, Direction::Symmetric).unwrap();
        let nine = || NineBandSmoother::new(dev, &self.nine, 0.9).unwrap();
        vec![
            ("a V-cycle from zero", preconditioner(cycles(2, Cycle::V))),
            ("a W-cycle from zero", preconditioner(cycles(3, Cycle::W))),
            ("two V-cycles", smoother(cycles(2, Cycle::V), 2)),
            ("three V-cycles of three sweeps", smoother(cycles(3, Cycle::V), 3)),
            ("a cycle by aggregation", preconditioner(aggregation())),
            ("two cycles by aggregation", smoother(aggregation(), 2)),
            ("weighted Jacobi", smoother(WeightedJacobi::new(a, 0.8).unwrap(), 5)),
            ("a sweep of SSOR from zero", preconditioner(sor())),
            ("sweeps of SSOR", smoother(sor(), 2)),
            ("nine bands", smoother(nine(), 3)),
            ("nine bands from zero", preconditioner(nine())),
            ("a polynomial", preconditioner(chebyshev())),
        ]
    }
}

fn vector(dev: &Device, seed: u64) -> Vector {
    Vector::from_slice(dev, &uniform(seed, N)).unwrap()
}

fn bits(x: &Vector) -> Vec<u32> {
    x.read_texels().unwrap().into_iter().map(f32::to_bits).collect()
}

/// A triangle of the host's over part of a texture of its own, with a program of its own.
struct HostDraw {
    gl: Arc<glow::Context>,
    framebuffer: glow::NativeFramebuffer,
    texture: glow::NativeTexture,
}

impl HostDraw {
    fn new(gl: Arc<glow::Context>) -> Self {
        // SAFETY: the context is current.
        unsafe {
            let (framebuffer, texture) = (gl.create_framebuffer().unwrap(), gl.create_texture().unwrap());
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            let none = glow::PixelUnpackData::Slice(None);
            gl.tex_image_2d(
                glow::TEXTURE_2D,
                0,
                glow::RGBA8 as i32,
                8,
                8,
                0,
                glow::RGBA,
                glow::UNSIGNED_BYTE,
                none,
            );
            gl.bind_texture(glow::TEXTURE_2D, None);
            HostDraw { gl, framebuffer, texture }
        }
    }

    /// Clears its texture, and leaves its framebuffer, a viewport and a blend mode in place.
    fn draw(&self) {
        let gl = &self.gl;
        // SAFETY: the context is current.
        unsafe {
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.framebuffer));
            let (target, at) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
            gl.framebuffer_texture_2d(target, at, glow::TEXTURE_2D, Some(self.texture), 0);
            gl.viewport(1, 2, 3, 4);
            gl.enable(glow::BLEND);
            gl.active_texture(glow::TEXTURE0 + 1);
            gl.bind_texture(glow::TEXTURE_2D, Some(self.texture));
            gl.clear_buffer_f32_slice(glow::COLOR, 0, &[0.25; 4]);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
        }
    }
}

impl Drop for HostDraw {
    fn drop(&mut self) {
        // SAFETY: the context is current.
        unsafe {
            self.gl.disable(glow::BLEND);
            self.gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            self.gl.delete_framebuffer(self.framebuffer);
            self.gl.delete_texture(self.texture);
        }
    }
}

/// Exchanges channels of a texture by its name, hides its first level, and asks for a filter.
fn spoil(gl: &glow::Context, texture: glow::NativeTexture) {
    // SAFETY: the context is current, and the texture is alive.
    unsafe {
        gl.active_texture(glow::TEXTURE0);
        gl.bind_texture(glow::TEXTURE_2D, Some(texture));
        for (name, value) in [
            (glow::TEXTURE_SWIZZLE_R, glow::ALPHA),
            (glow::TEXTURE_BASE_LEVEL, 2),
            (glow::TEXTURE_MIN_FILTER, glow::LINEAR),
        ] {
            gl.tex_parameter_i32(glow::TEXTURE_2D, name, value as i32);
        }
        gl.bind_texture(glow::TEXTURE_2D, None);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
}

#[test]
fn replays_are_the_bits_of_new_descriptions() {
    on_both(|dev| {
        let operators = Operators::new(dev);
        let host = HostDraw::new(dev.glow());
        let all = operators.works();
        for round in 0..4 {
            // Other vectors every time, in other textures, some of which the host knows.
            let fresh = operators.works();
            for (at, ((name, work), (_, new))) in all.iter().zip(&fresh).enumerate() {
                let b = vector(dev, 10 + round);
                let (mut x, mut expected) = (vector(dev, 1), vector(dev, 1));
                new(&mut expected, &b).unwrap();
                if round > 1 {
                    [x.texture(), b.texture()].iter().for_each(|texture| spoil(&dev.glow(), *texture));
                }
                host.draw();
                let before = snapshot();
                let (counted, pool) = (dev.counters(), dev.pool_stats());
                let taken = |pool: PoolStats| {
                    let now = dev.pool_stats();
                    now.allocated - pool.allocated + now.reused - pool.reused
                };
                work(&mut x, &b).unwrap();
                // A replay has its textures, but for one that changes places with that of `x`, and a scaled `b`.
                assert!(round == 0 || taken(pool) <= 2, "{name}, round {round}");
                let counted = dev.counters().since(&counted);
                assert_same(&before, &snapshot(), name);
                assert!(bits(&x) == bits(&expected), "{name}, round {round}");
                assert_eq!((counted.uploads, counted.readbacks), (0, 0), "{name}");
                let (_, described) = operators.works().swap_remove(at);
                let (again, pool) = (dev.counters(), dev.pool_stats());
                described(&mut expected, &b).unwrap();
                assert!(!name.contains("cycle") || taken(pool) > 4, "{name}, round {round}");
                assert_eq!(dev.counters().since(&again).draws, counted.draws, "{name}, round {round}");
            }
        }
    });
}

/// The host's state, as hostile as it can be, makes no difference and comes back.
#[test]
fn a_hostile_host_changes_nothing() {
    on_both(|dev| {
        let operators = Operators::new(dev);
        let b = vector(dev, 3);
        let host = Host::new(dev.glow());
        for (name, work) in operators.works() {
            let run = || {
                let mut x = vector(dev, 1);
                work(&mut x, &b).unwrap();
                x
            };
            let clean = bits(&run());
            host.set_all();
            let mut x = vector(dev, 1);
            let before = snapshot();
            work(&mut x, &b).unwrap();
            assert_same(&before, &snapshot(), name);
            host.unset_all();
            assert!(bits(&x) == clean, "{name}");
        }
    });
}

/// An operator of a user's, which may do something else every time, is called every time.
struct Noted<'a> {
    a: &'a BandedMatrix,
    applied: Cell<usize>,
}

impl LinOp for Noted<'_> {
    fn device(&self) -> &Device {
        self.a.device()
    }

    fn shape(&self) -> Shape {
        self.a.shape()
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.applied.set(self.applied.get() + 1);
        self.a.apply(y, terms)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        LinOp::diagonal(self.a)
    }

    fn exponent(&self) -> Result<i32> {
        LinOp::exponent(self.a)
    }
}

#[test]
fn operators_of_users_are_called_every_time() {
    on_both(|dev| {
        let bands = BandedMatrix::poisson_2d(dev, SIDE, SIDE).unwrap();
        let noted = Noted { a: &bands, applied: Cell::new(0) };
        let jacobi = WeightedJacobi::new(&noted, 0.8).unwrap();
        let polynomial = Chebyshev::new(&noted, ChebyshevParams::default()).unwrap();
        let (mut x, b) = (vector(dev, 1), vector(dev, 2));
        for _ in 0..3 {
            noted.applied.set(0);
            jacobi.smooth(&mut x, &b, 5).unwrap();
            polynomial.apply(&mut x, &b).unwrap();
            assert_eq!(noted.applied.get(), 5 + 3);
        }
    });
}

/// Each draw of a replay fails in turn: a typed error, nothing left, the host's state as it was, and the next one is right.
#[test]
fn a_draw_that_fails_in_a_replay_is_an_error_and_no_more() {
    on_both(|_| {
        heal();
        // SAFETY: the context is current while the test holds the device; the loader knows the functions.
        let dev = unsafe {
            Device::from_loader(loader::loader(), DeviceOptions::default().with_limits(limits())).unwrap()
        };
        let operators = Operators::new(&dev);
        let b = vector(&dev, 3);
        for (name, work) in operators.works() {
            let run = || {
                let mut x = vector(&dev, 1);
                work(&mut x, &b).map(|()| bits(&x))
            };
            let clean = run().unwrap();
            fail(glDrawArrays, 0..0, &[]);
            assert!(run().unwrap() == clean, "{name}");
            let draws = calls(glDrawArrays);
            assert!(draws > 0, "{name}");
            for at in 0..draws {
                let (before, live, pool) = (snapshot(), dev.live_objects(), dev.pool_stats().live);
                fail(glDrawArrays, at..at + 1, &[glow::INVALID_OPERATION]);
                let error = run().unwrap_err();
                assert!(
                    matches!(error, Error::Gl { code: glow::INVALID_OPERATION, .. }),
                    "{name}: {error:?}"
                );
                heal();
                assert_same(&before, &snapshot(), name);
                drop(dev.scope().unwrap());
                assert_eq!((dev.live_objects(), dev.pool_stats().live), (live, pool), "{name}, draw {at}");
                assert!(run().unwrap() == clean, "{name}, draw {at}");
            }
        }
        let (_, work) = operators.works().swap_remove(0);
        let mut x = vector(&dev, 1);
        (0..2).for_each(|_| work(&mut x, &b).unwrap());
        lose();
        assert_eq!(work(&mut x, &b), Err(Error::ContextLost));
        heal();
        assert_eq!(work(&mut x, &b), Err(Error::ContextLost));
        assert_eq!(ops::sum(&x).map(drop), Err(Error::ContextLost));
    });
}
