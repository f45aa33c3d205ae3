//! Small tables, and one number for each group of a partition.

/// Groups that a search can tell apart.
pub(super) const GROUPS: usize = 16;
/// Rows that a search can place: four for each group, so that sets of rows are 64-bit words.
pub(super) const ROWS: usize = 4 * GROUPS;

/// One small number for each group.
pub(super) type Lanes = [u8; GROUPS];

/// A fixed array whose indices are below N; others wrap round, so that no access can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Table<T, const N: usize>(pub [T; N]);

impl<T: Copy + Default, const N: usize> Default for Table<T, N> {
    fn default() -> Self {
        Self([T::default(); N])
    }
}

impl<T: Copy + Default, const N: usize> Table<T, N> {
    #[inline(always)]
    pub fn at(&self, i: usize) -> T {
        self.0.get(i % N).copied().unwrap_or_default()
    }

    #[inline(always)]
    pub fn set(&mut self, i: usize, value: T) {
        if let Some(entry) = self.0.get_mut(i % N) {
            *entry = value;
        }
    }

    #[inline(always)]
    pub fn change(&mut self, i: usize, by: impl FnOnce(T) -> T) {
        if let Some(entry) = self.0.get_mut(i % N) {
            *entry = by(*entry);
        }
    }
}

/// The members of a set, in ascending order.
#[inline(always)]
pub(super) fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let next = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        next
    })
}

/// 1 in the lanes of the groups of a set.
#[inline(always)]
pub(super) fn indicator(set: u16) -> Lanes {
    // A copy of each byte's bits in eight lanes, one bit kept in each, and that moved to the lowest place.
    let spread = |byte: u8| {
        let bits = (u64::from(byte) * 0x0101_0101_0101_0101) & 0x8040_2010_0804_0201;
        ((bits + 0x7f7f_7f7f_7f7f_7f7f) >> 7) & 0x0101_0101_0101_0101
    };
    let [low, high] = set.to_le_bytes().map(spread);
    (u128::from(low) | u128::from(high) << 64).to_le_bytes()
}

/// `f` of each lane of two.
#[inline(always)]
pub(super) fn zip(a: Lanes, b: Lanes, f: impl Fn(u8, u8) -> u8) -> Lanes {
    let mut result = a;
    for (x, y) in result.iter_mut().zip(b) {
        *x = f(*x, y);
    }
    result
}

/// `f` of each lane of three.
#[inline(always)]
pub(super) fn zip3(a: Lanes, b: Lanes, c: Lanes, f: impl Fn(u8, u8, u8) -> u8) -> Lanes {
    let mut result = a;
    for ((x, y), z) in result.iter_mut().zip(b).zip(c) {
        *x = f(*x, y, z);
    }
    result
}

/// The sum of all lanes.
#[inline(always)]
pub(super) fn sum(a: Lanes) -> u32 {
    a.into_iter().map(u32::from).sum()
}
