//! The two entries that every solver has.

/// `solve`, and `solve_observed` that tells how far it is: how many of what are done, the report, and how that is come by.
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
            $x: &mut X,
            $b: &B,
            mut observe: impl FnMut(usize, f64),
        ) -> $crate::error::Result<$report> {
            let ($solver, $observe) = (self, &mut observe);
            $body
        }
    };
}
