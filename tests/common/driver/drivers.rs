//! Drivers that there are, each in a few lines.
