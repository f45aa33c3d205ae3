//! stand-in
/// Stand-in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// x
    pub nx: usize,
    /// y
    pub ny: usize,
    /// z
    pub nz: usize,
}
impl Grid {
    /// 2d
    pub const fn new_2d(nx: usize, ny: usize) -> Self {
        Grid { nx, ny, nz: 1 }
    }
    /// len
    pub const fn len(self) -> usize {
        self.nx * self.ny * self.nz
    }
}
