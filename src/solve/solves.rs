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
            self.solve_observed(x, b, |_, _| {})
        }

        /// As [`solve`](Self::solve), telling `observe` at every look how many
        #[doc = $counted]
        /// are done and the relative residual by the solver's own count.
        pub fn solve_observed<X: $crate::data::Unknowns, B: $crate::data::Unknowns>(
            &self,
            x: &mut X,
            b: &B,
            mut observe: impl FnMut(usize, f64),
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
                let done = solver.solving(&mut *x, &*b, &mut |k, residual| seen.set((k, Some(residual)))).await;
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
