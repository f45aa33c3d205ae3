//! The systems that are solved.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use texla::host::{Csr, Triplets, market};
use texla::{Device, Grid, Shape, Side, Sides, Stencil, StencilParams};

use crate::answer::Way;
use crate::method::{Bits, Method};

/// A system `A x = b`, symmetric and positive definite.
pub struct Problem {
    pub name: String,
    pub kind: Kind,
    pub right: Right,
}

pub enum Kind {
    /// A constant-coefficient operator on a grid between walls, with obstacles or without.
    Grid { grid: Grid, weights: [f64; 3], obstacles: bool },
    /// A Matrix Market file.
    File(PathBuf),
    /// `0.9^|i - j|`, every entry kept.
    Dense(usize),
}

/// Right-hand sides.
#[derive(Clone, Copy, PartialEq)]
pub enum Right {
    /// `((7919 i) mod 1000) / 500 - 1`
    Random,
    /// A product of sines, none of them an eigenvector: of one conjugate gradients would need a single iteration.
    Smooth,
    Constant,
    /// `A 1`
    OfOnes,
}

impl Kind {
    /// The size, as it stands in the table.
    pub fn size(&self) -> String {
        match self {
            Kind::Grid { grid: Grid { nx, ny, nz: 1 }, .. } => format!("{nx}x{ny}"),
            Kind::Grid { grid: Grid { nx, ny, nz }, .. } => format!("{nx}x{ny}x{nz}"),
            Kind::File(_) => "file".to_owned(),
            Kind::Dense(n) => format!("{n}x{n}"),
        }
    }

    /// Unknowns, where they are known before anything is read.
    pub fn unknowns(&self) -> Option<usize> {
        match self {
            Kind::Grid { grid, .. } => Some(grid.len()),
            Kind::File(_) => None,
            Kind::Dense(n) => Some(*n),
        }
    }
}

impl Problem {
    pub fn title(&self) -> String {
        format!("{} {}", self.name, self.kind.size())
    }

    /// The operator, if it is one on a grid.
    pub fn stencil(&self, device: &Device) -> Option<Stencil> {
        let Kind::Grid { grid, weights, obstacles } = &self.kind else { return None };
        let solid = if *obstacles { discs(*grid) } else { Vec::new() };
        let params = StencilParams::new(*weights, Sides::all(Side::WALL)).with_solid(&solid);
        Some(Stencil::new(device, *grid, params).expect("operator"))
    }

    /// From what answers are looked for, everything counted: not once more for other right-hand sides.
    pub fn ways(&self) -> Vec<Way> {
        match &self.kind {
            Kind::Grid { .. } if self.right != Right::Random => Vec::new(),
            Kind::Grid { .. } => Way::ALL.to_vec(),
            Kind::File(_) => vec![Way::Entries],
            Kind::Dense(_) => Vec::new(),
        }
    }

    /// What solves it. The ladder's sweeps grow with the square of the side: past 64 cells they have no end.
    pub fn methods(&self) -> Vec<Method> {
        let on_host = [Method::HostCg(1), Method::HostCg(2), Method::HostCg64];
        let mut all = match &self.kind {
            Kind::Grid { grid, obstacles, weights } => {
                let mut all: Vec<Method> = [Bits::Pairs, Bits::Single]
                    .into_iter()
                    .flat_map(|bits| {
                        [Method::CgMatrix(bits), Method::CgStencil(bits), Method::MultigridCg(bits)]
                    })
                    .collect();
                if grid.nx == grid.ny && grid.nz == 1 && grid.nx <= 64 && weights[0] == weights[1] {
                    all.push(Method::Ladder);
                }
                if !obstacles {
                    all.push(Method::HostMultigridCg);
                }
                all
            }
            Kind::File(_) => {
                let of = |bits| [Method::CgMatrix(bits), Method::JacobiCg(bits)];
                let all = [Bits::Pairs, Bits::Single].into_iter().flat_map(of);
                all.chain([Method::HostJacobiCg]).collect()
            }
            Kind::Dense(_) => [Bits::Pairs, Bits::Single].map(Method::CgMatrix).to_vec(),
        };
        all.extend(on_host);
        all
    }
}

/// All problems, small ones first in each family: what takes too long is told from the size before.
pub fn problems(sizes: &[usize], quick: bool) -> Vec<Problem> {
    let on_grid = |name: &str, grid, weights, obstacles, right| Problem {
        name: name.to_owned(),
        kind: Kind::Grid { grid, weights, obstacles },
        right,
    };
    let plane = [1.0, 1.0, 0.0];
    let mut all = Vec::new();
    for (name, right) in [
        ("Poisson 2D random", Right::Random),
        ("Poisson 2D smooth", Right::Smooth),
        ("Poisson 2D constant", Right::Constant),
    ] {
        // The smallest is there for what a solve costs whatever its size, and for the ladder.
        let small = (right == Right::Random && sizes.iter().all(|n| *n > 64)).then_some(64);
        let sizes = small.into_iter().chain(sizes.iter().copied());
        all.extend(sizes.map(|n| on_grid(name, Grid::new_2d(n, n), plane, false, right)));
    }
    let cubes: &[usize] = if quick { &[16] } else { &[64, 128] };
    let cubes = cubes.iter().map(|n| Grid::new_3d(*n, *n, *n));
    all.extend(cubes.map(|grid| on_grid("Poisson 3D random", grid, [1.0; 3], false, Right::Random)));
    let n = if quick { 64 } else { 512 };
    all.push(on_grid("anisotropic 1:100", Grid::new_2d(n, n), [1.0, 100.0, 0.0], false, Right::Random));
    all.push(on_grid("obstacles", Grid::new_2d(n, n), plane, true, Right::Random));
    match data_folder() {
        None => println!("left out: files, as TEXLA_DATA names no folder and ../shared/data is none"),
        Some(folder) => {
            for name in ["685_bus", "bcsstk10"] {
                let path = folder.join("spd").join(name).with_extension("mtx");
                if path.is_file() {
                    all.push(Problem { name: name.to_owned(), kind: Kind::File(path), right: Right::OfOnes });
                } else {
                    println!("left out: {name}, as {} is no file", path.display());
                }
            }
        }
    }
    let dense = Kind::Dense(if quick { 100 } else { 1000 });
    all.push(Problem { name: "dense".to_owned(), kind: dense, right: Right::Random });
    all
}

/// Where extra matrices are.
fn data_folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os("TEXLA_DATA").map_or_else(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// A problem made ready: matrix and right-hand side on the host, the operator where there is one on a grid.
pub struct System {
    pub stencil: Option<Stencil>,
    csr: OnceCell<Csr>,
    pub dense: Option<usize>,
    pub b: Vec<f32>,
}

impl System {
    pub fn new(device: &Device, problem: &Problem) -> Self {
        let csr = OnceCell::new();
        let (mut stencil, mut dense) = (None, None);
        match &problem.kind {
            Kind::Grid { .. } => stencil = problem.stencil(device),
            Kind::File(path) => {
                let read = market::read_matrix(path).expect("a file of the data folder");
                csr.set(read.triplets.to_csr()).expect("nothing there");
            }
            Kind::Dense(n) => {
                let entry = |k: usize| (k as u32 / *n as u32, k as u32 % *n as u32);
                let entries =
                    (0..n * n).map(entry).map(|(i, j)| (i as usize, j as usize, kept(i.abs_diff(j))));
                let triplets = Triplets::from_entries(Shape::new(*n, *n), entries).expect("entries");
                csr.set(triplets.to_csr()).expect("nothing there");
                dense = Some(*n);
            }
        }
        let mut system = System { stencil, csr, dense, b: Vec::new() };
        system.b = system.right(problem.right);
        system
    }

    /// The matrix in compressed rows, entries of a dense one too.
    pub fn csr(&self) -> &Csr {
        match &self.stencil {
            Some(stencil) => stencil.csr(),
            None => self.csr.get().expect("set at the start"),
        }
    }

    fn right(&self, right: Right) -> Vec<f32> {
        let grid = self.stencil.as_ref().map(Stencil::grid);
        let random = |i: usize| ((7919 * i) % 1000) as f32 / 500.0 - 1.0;
        let n = grid.map_or_else(|| self.csr().shape().rows, Grid::len);
        let mut b: Vec<f32> = match right {
            Right::Random => (0..n).map(random).collect(),
            Right::Constant => vec![1.0; n],
            Right::OfOnes => {
                let b = self.csr().mul_vec(&vec![1.0; n]).expect("as many as columns");
                b.into_iter().map(|v| v as f32).collect()
            }
            Right::Smooth => {
                let grid = grid.expect("a grid");
                let along = |i: usize, n: usize, k: f64| (0.5 + k * (i as f64 + 0.5) / n as f64).sin();
                let at = |(x, y, z)| along(x, grid.nx, 5.0) * along(y, grid.ny, 4.0) * along(z, grid.nz, 3.0);
                (0..n).map(|i| at(grid.place(i)) as f32).collect()
            }
        };
        // In solid cells nothing is solved for.
        let solids = self.stencil.as_ref().map_or(&[][..], Stencil::solids);
        b.iter_mut().zip(solids).filter(|(_, solid)| **solid).for_each(|(b, _)| *b = 0.0);
        b
    }

    /// `‖b - A x‖ / ‖b‖` in 64 bits.
    pub fn residual(&self, x: &[f64]) -> f64 {
        let ax = self.csr().mul_vec(x).expect("as many as columns");
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|x| x * x).sum::<f64>().sqrt();
        let b = || self.b.iter().map(|b| f64::from(*b));
        norm(&mut b().zip(&ax).map(|(b, ax)| b - ax)) / norm(&mut b())
    }
}

/// An entry of the dense matrix this far from its diagonal.
pub fn kept(distance: u32) -> f64 {
    f64::from(0.9f32.powi(distance as i32))
}

/// Discs in a square pattern, an eighth of their distance in radius.
fn discs(grid: Grid) -> Vec<bool> {
    let pitch = (grid.nx / 8).max(8);
    let off = |i: usize| (i % pitch) as f64 + 0.5 - pitch as f64 / 2.0;
    let inside = |(x, y, _): (usize, usize, usize)| off(x).hypot(off(y)) <= pitch as f64 / 8.0;
    (0..grid.len()).map(|i| inside(grid.place(i))).collect()
}
