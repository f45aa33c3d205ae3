//! Programs as text in the notation of [Bajaj04].

use std::fmt;

use super::ir::{Instruction, Mask, Register, Source, Swizzle};

const NAMES: [char; 4] = ['x', 'y', 'z', 'w'];

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Register::Temp(r) => write!(f, "R{r}"),
            Register::Constant(r) => write!(f, "C{r}"),
            Register::X(r) => write!(f, "X{r}"),
            Register::B(r) => write!(f, "B{r}"),
            Register::Y(r) => write!(f, "Y{r}"),
        }
    }
}

/// `.xz`; nothing for all four.
impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Mask::ALL {
            return Ok(());
        }
        let letters: String = self.lanes().filter_map(|k| NAMES.get(k)).collect();
        write!(f, ".{letters}")
    }
}

/// `.zzzy`; nothing for xyzw.
impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Swizzle::IDENTITY {
            return Ok(());
        }
        let letters: String = (0..4).filter_map(|k| NAMES.get(self.lane(k))).collect();
        write!(f, ".{letters}")
    }
}

/// `R4.zzzy`.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.register, self.swizzle)
    }
}

/// `MAD R3, C28, R4.zzzy, R3`.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}{}", self.operation.name(), self.target, self.mask)?;
        self.operation.sources().try_for_each(|source| write!(f, ", {source}"))
    }
}
