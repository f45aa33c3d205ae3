//! What a handle is asked, it asks what it points to: every function, with the same operands, in the same order.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::common::harness::on_both;
use crate::systems::bits;
use texla::host::Csr;
use texla::kernel::Predicate;
use texla::ops::{Accurate, Checked, ExactSum, Handle, Inlined, Part, Product, Summand};
use texla::profile::Workload;
use texla::solve::{
    CgParams, CgSchedule, Cgls, CglsParams, ConjugateGradient, Direction, GaussSeidel, Jacobi, LinOp,
    Preconditioner, Smoother, Stationary, StationaryParams, Stop, Sweepable, WeightedJacobi,
};
use texla::{BandedMatrix, Device, DoubleVector, Result, Shape, Vector};

thread_local! {
    static LOG: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

fn note(what: &'static str) {
    LOG.with_borrow_mut(|log| log.push(what));
}

/// Writes down what it is asked, and has it answered.
struct Noted<T>(T);

impl LinOp for Noted<BandedMatrix> {
    fn device(&self) -> &Device {
        note("device");
        LinOp::device(&self.0)
    }

    fn shape(&self) -> Shape {
        note("shape");
        LinOp::shape(&self.0)
    }

    fn apply(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        note("apply");
        LinOp::apply(&self.0, y, terms)
    }

    fn apply_transposed(&self, y: &mut Vector, terms: Checked<Product<'_>>) -> Result<()> {
        note("apply_transposed");
        LinOp::apply_transposed(&self.0, y, terms)
    }

    fn accurate(&self, out: &mut Vector, terms: Checked<Accurate<'_>>, part: Part) -> Result<bool> {
        note("accurate");
        LinOp::accurate(&self.0, out, terms, part)
    }

    fn accumulate(&self, sum: &mut ExactSum, terms: Checked<Summand<'_>>) -> Result<bool> {
        note("accumulate");
        LinOp::accumulate(&self.0, sum, terms)
    }

    fn accumulates(&self) -> bool {
        note("accumulates");
        LinOp::accumulates(&self.0)
    }

    fn inlined<'a>(&'a self, pass: Inlined<'a>) -> Result<Option<Inlined<'a>>> {
        note("inlined");
        LinOp::inlined(&self.0, pass)
    }

    fn workload(&self) -> Option<Workload> {
        note("workload");
        LinOp::workload(&self.0)
    }

    fn pattern(&self) -> Option<&Csr> {
        note("pattern");
        LinOp::pattern(&self.0)
    }

    fn diagonal(&self) -> Result<Vec<f64>> {
        note("diagonal");
        LinOp::diagonal(&self.0)
    }

    fn column_squares(&self) -> Result<Vec<f64>> {
        note("column_squares");
        LinOp::column_squares(&self.0)
    }

    fn asymmetry(&self) -> Result<Option<(usize, usize, f64, f64)>> {
        note("asymmetry");
        LinOp::asymmetry(&self.0)
    }

    fn null_space(&self) -> &[Vector] {
        note("null_space");
        LinOp::null_space(&self.0)
    }

    fn exponent(&self) -> Result<i32> {
        note("exponent");
        LinOp::exponent(&self.0)
    }

    fn is_replayable(&self) -> bool {
        note("is_replayable");
        LinOp::is_replayable(&self.0)
    }
}

impl Sweepable for Noted<BandedMatrix> {
    fn rows(&self) -> &Csr {
        note("rows");
        self.0.rows()
    }

    fn residual_where(&self, r: &mut Vector, b: &Vector, x: &Vector, predicate: Predicate<'_>) -> Result<()> {
        note("residual_where");
        self.0.residual_where(r, b, x, predicate)
    }
}

impl Preconditioner for Noted<Jacobi> {
    fn apply(&self, z: &mut Vector, r: &Vector) -> Result<()> {
        note("M.apply");
        self.0.apply(z, r)
    }

    fn diagonal(&self) -> Option<&Vector> {
        note("M.diagonal");
        self.0.diagonal()
    }

    fn is_identity(&self) -> bool {
        note("M.is_identity");
        self.0.is_identity()
    }

    fn is_replayable(&self) -> bool {
        note("M.is_replayable");
        self.0.is_replayable()
    }

    fn indefinite(&self) -> Option<String> {
        note("M.indefinite");
        self.0.indefinite()
    }
}

impl Smoother for Noted<WeightedJacobi<&BandedMatrix>> {
    fn smooth(&self, x: &mut Vector, b: &Vector, sweeps: usize) -> Result<()> {
        note("smooth");
        self.0.smooth(x, b, sweeps)
    }
}

/// Everything that there is to be asked.
const ALL: [&str; 24] = [
    "device",
    "shape",
    "apply",
    "apply_transposed",
    "accurate",
    "accumulate",
    "accumulates",
    "inlined",
    "workload",
    "pattern",
    "diagonal",
    "column_squares",
    "asymmetry",
    "null_space",
    "exponent",
    "is_replayable",
    "rows",
    "residual_where",
    "M.apply",
    "M.diagonal",
    "M.is_identity",
    "M.is_replayable",
    "M.indefinite",
    "smooth",
];

/// Solves by all that asks, with an operator, a preconditioner and a smoother of these types each: what is called, in the order of
/// first calls, and what comes of it. How often a solver calls something depends on when the device is seen to be done.
fn asked<A: Sweepable, P: Preconditioner, S: Smoother>(
    device: &Device,
    a: impl Fn() -> A,
    m: impl Fn() -> P,
    s: impl Fn() -> S,
) -> (Vec<&'static str>, Vec<Vec<u32>>) {
    LOG.take();
    let n = 24 * 16;
    let b = Vector::filled(device, n, 1.0).unwrap();
    let mut found = Vec::new();
    for schedule in [CgSchedule::Listing, CgSchedule::Fused] {
        let params = CgParams::default().with_schedule(schedule);
        let mut x = Vector::zeros(device, n).unwrap();
        let cg = ConjugateGradient::preconditioned(a(), m(), params).unwrap();
        assert!(cg.workload().unwrap().is_some());
        assert!(cg.solve(&mut x, &b).unwrap().converged());
        found.push(bits(&x.read().unwrap()));
    }
    let params = CgParams::default().with_stop(Stop::relative(1e-9));
    let mut pair = DoubleVector::zeros(device, n).unwrap();
    let report = ConjugateGradient::preconditioned(a(), m(), params).unwrap().solve(&mut pair, &b).unwrap();
    assert!(report.converged(), "{report}");
    let mut x = Vector::zeros(device, n).unwrap();
    let jacobi = Jacobi::for_least_squares(a()).unwrap();
    let cgls = Cgls::preconditioned(a(), jacobi, CglsParams::default()).unwrap();
    assert!(cgls.solve(&mut x, &b).unwrap().converged());
    found.push(bits(&x.read().unwrap()));
    let params = StationaryParams::default().with_stop(Stop::relative(1e-2));
    let mut x = Vector::zeros(device, n).unwrap();
    assert!(Stationary::new(a(), s(), params).unwrap().solve(&mut x, &b).unwrap().converged());
    found.push(bits(&x.read().unwrap()));
    m().apply(&mut x, &b).unwrap();
    let _ = m().is_replayable();
    found.push(bits(&x.read().unwrap()));
    GaussSeidel::new(a(), 1.0, Direction::Forward).unwrap().smooth(&mut x, &b, 1).unwrap();
    texla::ops::product(&mut x, texla::ops::Combine::Accumulate, 1.0, &a(), &b).unwrap();
    found.push(bits(&x.read().unwrap()));
    let (mut called, mut seen) = (LOG.take(), BTreeSet::new());
    called.retain(|name| seen.insert(*name));
    (called, found)
}

#[test]
fn every_handle_asks_what_it_points_to() {
    on_both(|device| {
        let matrix = || Noted(BandedMatrix::poisson_2d(device, 24, 16).unwrap());
        let plain = BandedMatrix::poisson_2d(device, 24, 16).unwrap();
        let jacobi = || Noted(Jacobi::new(&plain).unwrap());
        let sweeps = || Noted(WeightedJacobi::new(&plain, 0.8).unwrap());
        // By value: no handle at all.
        let owned = asked(device, matrix, jacobi, sweeps);
        let seen: BTreeSet<_> = owned.0.iter().copied().collect();
        assert_eq!(seen, BTreeSet::from(ALL), "what nobody asks is not tested");
        let (a, m, s) = (matrix(), jacobi(), sweeps());
        assert_eq!(asked(device, || &a, || &m, || &s), owned);
        assert_eq!(
            asked(device, || &a as &dyn Sweepable, || &m as &dyn Preconditioner, || &s as &dyn Smoother),
            owned
        );
        let (twice_a, twice_s) = (&a, &s);
        assert_eq!(asked(device, || &twice_a, || Some(&m), || &twice_s), owned);
        let boxed = asked(device, || Box::new(matrix()), || Box::new(jacobi()), || Box::new(sweeps()));
        assert_eq!(boxed, owned);
        let (a, m, s) = (Rc::new(a), Rc::new(m), Rc::new(s));
        assert_eq!(asked(device, || a.clone(), || m.clone(), || s.clone()), owned);
        let dynamic = asked(
            device,
            || a.clone() as Rc<dyn Sweepable>,
            || Box::new(m.clone()) as Box<dyn Preconditioner>,
            || s.clone() as Rc<dyn Smoother + '_>,
        );
        assert_eq!(dynamic, owned);
        assert_eq!((Rc::strong_count(&a), Rc::strong_count(&m), Rc::strong_count(&s)), (1, 1, 1));
    });
}

/// An application's own pointer.
struct Own(Rc<Noted<BandedMatrix>>);

impl std::ops::Deref for Own {
    type Target = Noted<BandedMatrix>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Handle for Own {}

#[test]
fn a_pointer_of_the_application_is_a_handle() {
    on_both(|device| {
        let a = Rc::new(Noted(BandedMatrix::poisson_2d(device, 24, 16).unwrap()));
        let b = Vector::filled(device, 24 * 16, 1.0).unwrap();
        let solved = |cg: &dyn Fn(&mut Vector) -> bool| {
            LOG.take();
            let mut x = Vector::zeros(device, b.len()).unwrap();
            assert!(cg(&mut x));
            (LOG.take(), bits(&x.read().unwrap()))
        };
        let params = CgParams::default();
        let cg = ConjugateGradient::new(Own(a.clone()), params).unwrap();
        assert_eq!(cg.operator().0.shape().rows, b.len());
        let own = solved(&|x| cg.solve(x, &b).unwrap().converged());
        let cg = ConjugateGradient::new(&a, params).unwrap();
        assert_eq!(solved(&|x| cg.solve(x, &b).unwrap().converged()), own);
    });
}

/// No preconditioner, chosen at run time, is the identity: the same passes and bits as without one.
#[test]
fn no_preconditioner_is_the_identity() {
    on_both(|device| {
        let a = BandedMatrix::poisson_2d(device, 24, 16).unwrap();
        let b = Vector::filled(device, 24 * 16, 1.0).unwrap();
        let solved = |solve: &dyn Fn(&mut Vector) -> texla::solve::SolveReport| {
            let mut x = Vector::zeros(device, b.len()).unwrap();
            let before = device.counters();
            let report = solve(&mut x);
            (device.counters().since(&before).draws, report.iterations, bits(&x.read().unwrap()))
        };
        let params = CgParams::default();
        let plain = ConjugateGradient::new(&a, params).unwrap();
        let none = ConjugateGradient::preconditioned(&a, None::<Jacobi>, params).unwrap();
        // What is compiled and pooled by the first is there for the second.
        solved(&|x| plain.solve(x, &b).unwrap());
        let wanted = solved(&|x| plain.solve(x, &b).unwrap());
        assert_eq!(solved(&|x| none.solve(x, &b).unwrap()), wanted);
        let mut z = Vector::zeros(device, b.len()).unwrap();
        none.preconditioner().apply(&mut z, &b).unwrap();
        assert_eq!(z.read().unwrap(), b.read().unwrap());
        let negative =
            BandedMatrix::from_triplets(device, &{ texla::host::Triplets::from_diagonal(&[1.0, -1.0]) });
        let negative = Some(Jacobi::new(negative.unwrap()).unwrap());
        assert!(negative.indefinite().unwrap().contains("-1 at 1"), "{:?}", negative.indefinite());
        assert!(None::<Jacobi>.indefinite().is_none() && negative.diagonal().is_some());
    });
}
