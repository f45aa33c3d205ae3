//! What a pass reads, as its text is put together.

use std::fmt::Write as _;

use super::misuse::{NO_VECTOR, misused};
use super::{Operand, Register, Root, Source, Space};
use crate::error::{Error, Result};
use crate::kernel::{Name, Operand as _, View};

/// The text of a pass and what it reads, as it is put together.
#[derive(Default)]
pub(super) struct Reads {
    pub(super) roots: Vec<Register>,
    /// The register whose product is computed in the pass.
    pub(super) product: Option<Register>,
    pub(super) weighted: bool,
    /// Registers that are assigned before they are read.
    pub(super) unread: Vec<Register>,
}

impl Reads {
    /// The variable for a register's texel.
    pub(super) fn of(&mut self, space: &Space<'_, '_>, operand: Operand) -> Result<String> {
        let (root, weighted) = space.root(operand)?;
        let name = match root {
            Root::Vector(register) => self.variable(register),
            Root::Product(of) => {
                self.product = Some(of);
                "t_q".to_owned()
            }
        };
        if weighted {
            self.weighted = true;
            return Ok(format!("weighted(t_m, {name})"));
        }
        Ok(name)
    }

    pub(super) fn variable(&mut self, register: Register) -> String {
        let k = self.roots.iter().position(|r| *r == register).unwrap_or_else(|| {
            self.roots.push(register);
            self.roots.len() - 1
        });
        format!("t{k}")
    }

    /// The register that is the input `x`.
    pub(super) fn factor(&self, space: &Space<'_, '_>) -> Result<Option<Register>> {
        let Some(of) = self.product else { return Ok(None) };
        match space.root(of.into())? {
            (Root::Vector(register), false) => Ok(Some(register)),
            _ => Err(misused(of, NO_VECTOR)),
        }
    }

    /// How many textures are read besides that.
    pub(super) fn count(&self, space: &Space<'_, '_>) -> Result<usize> {
        let x = self.factor(space)?;
        let others = self.roots.iter().filter(|r| x != Some(**r) && !self.unread.contains(r)).count();
        Ok(others * if space.own.wide { 2 } else { 1 } + usize::from(self.weighted))
    }

    /// Loads all of that, by accessors of this kind; and what is fetched.
    pub(super) fn loads(&self, space: &Space<'_, '_>, by: &str, [open, close]: [&str; 2]) -> Result<String> {
        let mut text = String::new();
        let x = self.factor(space)?;
        for (k, register) in self.roots.iter().enumerate() {
            if self.unread.contains(register) {
                let _ = write!(text, "Texel t{k} = NOTHING; ");
            } else if x == Some(*register) {
                let _ = write!(text, "Texel t{k} = {open}x_own{close}; ");
            } else if space.own.wide {
                let loose = space.source(*register)?.loose;
                let made = if loose { "two_sum4" } else { "Pair4" };
                let _ = write!(text, "Texel t{k} = {made}(v{k}_{by}, v{k}_low_{by}); ");
            } else {
                let _ = write!(text, "Texel t{k} = {open}v{k}_{by}{close}; ");
            }
        }
        if self.weighted {
            let _ = write!(text, "vec4 t_m = m_{by}; ");
        }
        Ok(text)
    }

    /// The inputs that these loads are of.
    pub(super) fn inputs<'v>(&self, space: &'v Space<'_, '_>) -> Result<Vec<(Name, View<'v>)>> {
        let x = self.factor(space)?;
        let mut inputs: Vec<(Name, View<'v>)> = Vec::new();
        let read = |register: &Register| x != Some(*register) && !self.unread.contains(register);
        for (k, register) in self.roots.iter().enumerate().filter(|(_, register)| read(register)) {
            let Source { high, low, .. } = space.source(*register)?;
            inputs.push((("v", k).into(), high.view()));
            if space.own.wide {
                let low = low.ok_or(Error::Internal { place: "Space", detail: "pairs without low parts" })?;
                inputs.push((("v", k, "_low").into(), low.view()));
            }
        }
        if let Some(m) = space.diagonal().filter(|_| self.weighted) {
            inputs.push(("m".into(), m.view()));
        }
        Ok(inputs)
    }
}
