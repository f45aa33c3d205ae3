//! Replacing quads in place: what one becomes goes to a texture that the draw does not read.

use super::block_vector::Packer;
use crate::error::Result;
use crate::kernel::PooledTexture;
use crate::pack::QuadPart;

/// The textures among which the quads of a vector move.
pub(super) struct Moving<'a> {
    packer: &'a Packer,
    textures: Vec<PooledTexture>,
    /// In which of them each quad stands.
    at: Vec<usize>,
}

impl<'a> Moving<'a> {
    /// Takes the textures of a vector, which [`settle`](Self::settle) gives back.
    pub fn new(packer: &'a Packer, textures: &mut Vec<PooledTexture>) -> Self {
        let at = (0..packer.quads()).map(|quad| if packer.tiles().is_some() { 0 } else { quad }).collect();
        Moving { packer, textures: std::mem::take(textures), at }
    }

    pub fn texture(&self, number: usize) -> Option<&PooledTexture> {
        self.textures.get(number)
    }

    /// The texture of a quad.
    pub fn held(&self, quad: usize) -> Option<&PooledTexture> {
        self.at.get(quad).and_then(|&number| self.texture(number))
    }

    /// A texture for each quad of a part: not read by it, and with nothing where the quad will stand.
    pub fn free(&mut self, part: &QuadPart) -> Result<Vec<usize>> {
        let mut found = Vec::with_capacity(part.quads);
        while found.len() < part.quads {
            let taken = |number: &usize| match self.packer.tiles() {
                // Other quads stand in other rectangles.
                Some(_) => part.reads.iter().any(|&quad| self.at.get(quad) == Some(number)),
                None => self.at.contains(number) || found.contains(number),
            };
            let free = (0..self.textures.len()).find(|number| !taken(number));
            found.push(match free {
                Some(number) => number,
                None => {
                    self.textures.push(self.packer.texture()?);
                    self.textures.len() - 1
                }
            });
        }
        Ok(found)
    }

    /// The quads of a part stand in these textures from now on.
    pub fn moved(&mut self, part: &QuadPart, to: &[usize]) {
        self.at.iter_mut().skip(part.first).zip(to).for_each(|(at, &to)| *at = to);
    }

    /// Gives the textures back, one for each quad or all quads in one. A vector is whole after an error too.
    pub fn settle(mut self, textures: &mut Vec<PooledTexture>) -> Result<()> {
        let mut done = Ok(());
        if self.packer.tiles().is_some() {
            let home = self.at.first().copied().unwrap_or_default();
            for (quad, at) in self.at.iter_mut().enumerate().filter(|(_, at)| **at != home) {
                if let (Ok(()), Some(from), Some(to)) =
                    (&done, self.textures.get(*at), self.textures.get(home))
                {
                    done = self.packer.copy(quad, from, to);
                }
                *at = home;
            }
            self.at.truncate(1);
        }
        let mut all: Vec<_> = self.textures.into_iter().map(Some).collect();
        textures.extend(self.at.iter().filter_map(|&number| all.get_mut(number).and_then(Option::take)));
        done
    }
}
