//! What a sweep costs, counted: no readback, and the draws that the documentation states.

use std::cell::RefCell;

use crate::common::harness::on_both;
use crate::common::systems::fits;
use crate::problems::{Lcp, obstacle, params, wall};
use texla::gl::Counters;
use texla::ops::{Accurate, Checked, LinOp, Part, Product};
use texla::solve::{LcpParams, LcpSolver, Stop};
use texla::{Device, MatrixFormat, Result, Shape, SparseFormat, StoredMatrix, Vector};

/// An operator that notes the counters whenever it is called.
struct Noted {
    inner: StoredMatrix,
    calls: RefCell<Vec<Counters>>,
}

impl LinOp for Noted {
    fn device(&self) -> &Device {
        self.inner.device()
    }

    fn shape(&self) -> Shape {
        self.inner.shape()
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        self.calls.borrow_mut().push(self.device().counters());
        self.inner.apply(y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        self.inner.accurate(out, terms, part)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        self.inner.diagonal()
    }

    fn exponent(&self) -> texla::Result<i32> {
        self.inner.exponent()
    }
}

/// Stages until at most `most` texels are left of so many: what `Partition` plans.
fn stages(mut texels: usize, most: usize) -> u64 {
    let mut count = 0;
    loop {
        texels = texels.div_ceil(most);
        count += 1;
        if texels <= most {
            return count;
        }
    }
}

#[test]
fn a_sweep_costs_a_product_and_a_draw() {
    on_both(|device| {
        for lcp in [wall(4, 4), obstacle(40)] {
            if !fits(device, &lcp.a, MatrixFormat::Sparse(SparseFormat::Gather)) {
                continue;
            }
            let inner =
                StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Sparse(SparseFormat::Gather)).unwrap();
            let noted = Noted { inner, calls: RefCell::default() };
            let b = Vector::from_f64(device, &lcp.b).unwrap();
            let stop = Stop::relative(1e-12).check_every(16);
            let solver =
                LcpSolver::new(&noted, LcpParams::default().with_max_sweeps(100).with_stop(stop)).unwrap();
            let estimate = noted.calls.take();
            assert_eq!(estimate.len(), 16, "products of the power iteration");
            assert!(estimate.windows(2).all(|w| w[1].since(&w[0]).readbacks == 0));
            let mut x = Vector::zeros(device, lcp.n()).unwrap();
            let report = solver.solve(&mut x, &b).unwrap();
            let calls = noted.calls.take();
            assert!(calls.len() > 100);
            let most = if device.capabilities().software { 256 } else { 32 };
            let test = stages(lcp.n().div_ceil(4), most) + 1;
            assert_eq!((report.draws_per_sweep, report.draws_per_test), (2, test), "{}", lcp.name);
            for (k, pair) in calls.windows(2).enumerate().take(99) {
                let one = pair[1].since(&pair[0]);
                let expected = if k % 8 == 0 { 2 + test } else { 2 };
                assert_eq!(one.draws, expected, "{}: draws of sweep {k}", lcp.name);
                assert_eq!((one.readbacks, one.uploads), (0, 0), "{}: sweep {k}", lcp.name);
                assert_eq!(one.async_checks, u64::from(k % 16 == 15), "{}: looks at sweep {k}", lcp.name);
            }
            assert_eq!(report.readbacks_in_loop, 0);
        }
    });
}

/// A whole solve waits for the device a fixed number of times, however many sweeps it takes.
#[test]
fn readbacks_do_not_grow_with_sweeps() {
    on_both(|device| {
        let lcp: Lcp = obstacle(20);
        let a = StoredMatrix::new(device, lcp.a.clone(), MatrixFormat::Auto).unwrap();
        let b = Vector::from_f64(device, &lcp.b).unwrap();
        let count = |max_sweeps| {
            let solver = LcpSolver::new(&a, params(1e-12).with_max_sweeps(max_sweeps)).unwrap();
            let mut x = Vector::zeros(device, lcp.n()).unwrap();
            let before = device.counters();
            solver.solve(&mut x, &b).unwrap();
            device.counters().since(&before).readbacks
        };
        let few = count(10);
        assert_eq!(count(400), few);
        assert_eq!(few, 1, "max |b|; all else is sent for and waited for outside the loop");
    });
}
