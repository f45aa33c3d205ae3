//! The entries that every solver has.

/// `solve`, `solve_observed` that tells how far it is, and `begin` that leaves it to the caller when to go on: how many of what
/// are done, the report, and how that is come by.
macro_rules! solves {
    ($(#[$about:meta])* $counted:literal => $report:ty, |$solver:ident, $x:ident, $b:ident, $observe:ident| $body:block) => {
        $(#[$about])*
        pub fn solve<X: $crate::data::Unknowns, B: $crate::data::Unknowns>(
            &self,
            x: &mut X,
            b: &B,
        ) -> $crate::error::Result<$report> {
            self.solve_observed(x, b, |_| {})
        }

        /// Solves as [`solve`](Self::solve) does, and calls `observe` with each [point](crate::solve::HistoryPoint) of the history:
        /// after how many
        #[doc = $counted]
        /// the residual was what, and how that was found. Of one iterate the certified residual comes after the polled one.
        pub fn solve_observed<X: $crate::data::Unknowns, B: $crate::data::Unknowns>(
            &self,
            x: &mut X,
            b: &B,
            mut observe: impl FnMut($crate::solve::HistoryPoint),
        ) -> $crate::error::Result<$report> {
            $crate::solve::drive::slices::now(self.solving(x, b, &mut observe))
        }

        /// The same solve, to be advanced a [slice](crate::solve::Slice) at a time: see [`Solving`](crate::solve::Solving). `x` and
        /// `b` are borrowed (`&mut x`, `&b`) or owned (boxed, and `b` in an `Rc` too); the solver is cloned, which copies handles.
        ///
        /// *Cost*: nothing is drawn, nor refused, before the first slice.
        pub fn begin<'s, X, B>(&self, x: X, b: B) -> $crate::solve::Solving<'s, X, $report>
        where
            Self: 's,
            X: std::ops::DerefMut<Target: $crate::data::Unknowns + Sized> + 's,
            B: std::ops::Deref<Target: $crate::data::Unknowns + Sized> + 's,
        {
            let solver = self.clone();
            $crate::solve::Solving::new(self.a.device(), move |seen| async move {
                let mut x = x;
                let done = solver.solving(&mut *x, &*b, &mut |point| seen.set(Some(point))).await;
                (x, done)
            })
        }

        pub(in crate::solve) async fn solving<X: $crate::data::Unknowns, B: $crate::data::Unknowns>(
            &self,
            $x: &mut X,
            $b: &B,
            $observe: &mut $crate::solve::drive::looks::Observer<'_>,
        ) -> $crate::error::Result<$report> {
            let $solver = self;
            $body
        }
    };
}
