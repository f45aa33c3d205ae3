//! Layout maps.
/// Layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// column
    Column4,
}
