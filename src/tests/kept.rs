//! What solvers record, and let go of.

use crate::solve::{CgParams, ConjugateGradient, Multigrid, MultigridParams};
use crate::{Grid, Headless, Side, Sides, Stencil, StencilParams, Vector};

#[test]
fn a_solver_that_is_used_again_records_its_iterations() {
    let context = Headless::new(Default::default()).unwrap();
    let device = context.device();
    let grid = Grid::new_2d(24, 24);
    let a = Stencil::new(device, grid, StencilParams::new([1.0; 3], Sides::all(Side::DIRICHLET))).unwrap();
    let m = Multigrid::new(&a, MultigridParams::default()).unwrap();
    let cg = ConjugateGradient::preconditioned(&a, &m, CgParams::default()).unwrap();
    let recorded = || cg.recorded();
    let solve = || {
        let b = Vector::filled(device, grid.len(), 1.0).unwrap();
        cg.solve(&mut Vector::zeros(device, grid.len()).unwrap(), &b).unwrap()
    };
    let first = solve();
    assert!((2..8).contains(&first.iterations), "{first:?}");
    (0..3).for_each(|_| assert_eq!(solve(), first));
    let kept = recorded();
    assert!((1..=3).contains(&kept), "{kept}");
    // The textures that the pool lends next are others, and the recordings serve as well.
    let _held: Vec<Vector> = (0..3).map(|_| Vector::zeros(device, grid.len()).unwrap()).collect();
    (0..3).for_each(|_| assert_eq!(solve(), first));
    assert_eq!(recorded(), kept);
    device.trim().unwrap();
    assert_eq!(recorded(), 0);
    assert_eq!(solve(), first);
}
