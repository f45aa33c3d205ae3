//! What a context's thread holds, by the compiler.
#![cfg(all(feature = "headless", feature = "pack", feature = "script", feature = "sim"))]

use texla::kernel::*;
use texla::solve::*;
use texla::*;

/// A type's name, and whether the compiler lets a value of it go to another thread, and be shared with one.
pub type Answer = (&'static str, (bool, bool));

/// [`Answer`]s for types: the constant of the type itself, which is there for what has the bound alone, goes before that of the
/// trait.
macro_rules! answers {
    ($($type:ty),+ $(,)?) => {
        [$({
            struct Probe<T: ?Sized>(std::marker::PhantomData<T>);
            #[allow(dead_code)]
            trait Neither {
                const SENT: bool = false;
                const SHARED: bool = false;
            }
            impl<T: ?Sized> Neither for Probe<T> {}
            #[allow(dead_code)]
            impl<T: ?Sized + Send> Probe<T> {
                const SENT: bool = true;
            }
            #[allow(dead_code)]
            impl<T: ?Sized + Sync> Probe<T> {
                const SHARED: bool = true;
            }
            (stringify!($type), (Probe::<$type>::SENT, Probe::<$type>::SHARED))
        }),+]
    };
}

/// One of each kind, to see that the question can be answered so.
pub fn each() -> [Answer; 5] {
    answers![Vec<f32>, &str, std::rc::Rc<u32>, std::cell::Cell<u32>, std::sync::MutexGuard<'static, u32>]
}

/// What needs the context.
pub fn held() -> impl Iterator<Item = Answer> {
    answers![
        Device,
        Headless,
        Scope,
        device::LedgerHandle,
        Scalar,
        Vector,
        BufferVector,
        DoubleVector,
        Matrix,
        DoubleMatrix,
        Packed,
        Plane,
        Picture,
        PendingRead,
        BandedMatrix,
        ColumnStack,
        FoldedBands,
        SparseMatrix,
        Stencil,
        StoredMatrix,
        Kernel<NoParams>,
        Condition<NoParams>,
        VertexKernel<NoParams>,
        PointsKernel<NoParams>,
        SplatKernel<NoParams>,
        Points,
        Mask,
        PingPong<Vector>,
        IterateWhile<NoParams>,
        ops::ExactSum,
        ops::Histogram,
        ConjugateGradient<std::rc::Rc<StoredMatrix>>,
        BiCgStab<std::rc::Rc<StoredMatrix>>,
        Cgls<std::rc::Rc<StoredMatrix>>,
        Gmres<std::rc::Rc<StoredMatrix>>,
        Minres<std::rc::Rc<StoredMatrix>>,
        FlexibleConjugateGradient<std::rc::Rc<StoredMatrix>>,
        Auto<std::rc::Rc<StoredMatrix>>,
        Solving<'static, Vector, SolveReport>,
        LcpSolver<std::rc::Rc<StoredMatrix>>,
        LcpBatch,
        Multigrid,
        AggregationMultigrid<std::rc::Rc<StoredMatrix>>,
        Chebyshev<std::rc::Rc<StoredMatrix>>,
        WeightedJacobi<std::rc::Rc<StoredMatrix>>,
        Jacobi,
        BlockJacobi,
        Spai,
        Fsai,
        IncompleteCholesky,
        IncompleteLu,
        BlockVector,
        NineBandJacobi,
        sim::wave::Wave,
        sim::fluid::Fluid,
        script::Interpreter,
    ]
    .into_iter()
}

/// What is told about a run, which goes anywhere.
pub fn told() -> impl Iterator<Item = Answer> {
    answers![
        Error,
        Extent,
        Shape,
        Grid,
        gl::Limits,
        gl::Capabilities,
        gl::Counters,
        gl::LiveObjects,
        host::Csr,
        host::Triplets,
        SolveReport,
        CgParams,
        DeviceOptions,
        HeadlessOptions,
        profile::DeviceProfile,
    ]
    .into_iter()
}
