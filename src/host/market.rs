//! Matrix Market files.
/// Placeholder replaced by the reader branch.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("unreachable")]
pub enum MarketError {}
