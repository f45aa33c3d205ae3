//! Work that threads share, with the same results, bit for bit, for any number of them.

use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

use crate::platform;

/// How many threads work on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Threads(usize);

/// Elements of a block of [`Threads::blocks`].
const BLOCK: usize = 4096;

/// Parts for each thread: those that are done with theirs take another one.
const PARTS: usize = 4;

impl Threads {
    /// More gain nothing where memory sets the pace.
    const MOST: usize = 16;

    /// As many as asked for, 0 for one on each core; one in a browser.
    pub fn new(asked: usize) -> Self {
        Threads(platform::threads(asked).clamp(1, Self::MOST))
    }

    /// One on each core.
    pub fn all() -> Self {
        Self::new(0)
    }

    /// Whether there is no other: always in a browser, whose module then has no word on threads.
    fn is_one(self) -> bool {
        platform::BROWSER || self.0 == 1
    }

    /// How many these are.
    pub fn count(self) -> usize {
        self.0
    }

    /// What `of` makes of consecutive parts of `0..n`, each of `least` or more, in order. Where parts end depends on the number of
    /// threads: what is made of them all must not.
    pub fn parts<T: Send>(self, n: usize, least: usize, of: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        let most = (n / least.max(1)).min(PARTS * self.0);
        if self.is_one() || most <= 1 {
            return vec![of(0..n)];
        }
        let size = n.div_ceil(most);
        let count = n.div_ceil(size);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut done = Vec::new();
            loop {
                let k = next.fetch_add(1, Ordering::Relaxed);
                if k >= count {
                    return done;
                }
                done.push((k, of(k * size..((k + 1) * size).min(n))));
            }
        };
        let mut all: Vec<(usize, T)> = thread::scope(|scope| {
            let others: Vec<_> = (1..self.0.min(count)).map(|_| scope.spawn(work)).collect();
            let own = work();
            own.into_iter().chain(others.into_iter().flat_map(joined)).collect()
        });
        all.sort_by_key(|(k, _)| *k);
        all.into_iter().map(|(_, made)| made).collect()
    }

    /// What `of` makes of each of `0..n`, in order.
    pub fn each<T: Send>(self, n: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
        /// Fewer are not worth a thread.
        const EACH: usize = 64;
        self.parts(n, EACH, |part| part.map(&of).collect::<Vec<T>>()).into_iter().flatten().collect()
    }

    /// A list of `n` elements that `of` makes, in order.
    pub fn made<T: Copy + Default + Send>(self, n: usize, of: impl Fn(usize) -> T + Sync) -> Vec<T> {
        if self.is_one() {
            return (0..n).map(of).collect();
        }
        let mut list = vec![T::default(); n];
        self.blocks(&mut list, |begin, block| {
            (begin..).zip(block).for_each(|(i, slot)| *slot = of(i));
        });
        list
    }

    /// What `of` makes of each block of a list, in order. Blocks are the same for any number of threads.
    pub fn of_blocks<T: Sync, P: Send>(self, list: &[T], of: impl Fn(&[T]) -> P + Sync) -> Vec<P> {
        /// Fewer blocks are not worth a thread.
        const LEAST: usize = 4;
        if self.is_one() {
            return list.chunks(BLOCK).map(of).collect();
        }
        let block = |k: usize| list.get(k * BLOCK..((k + 1) * BLOCK).min(list.len())).unwrap_or_default();
        let made = self
            .parts(list.len().div_ceil(BLOCK), LEAST, |part| part.map(|k| of(block(k))).collect::<Vec<P>>());
        made.into_iter().flatten().collect()
    }

    /// Lets `of` fill the blocks of a list, each with the place where it begins, and returns what it makes of them, in order.
    /// Blocks are the same for any number of threads, so that sums over them are.
    pub fn blocks<T: Send, P: Send>(
        self,
        list: &mut [T],
        of: impl Fn(usize, &mut [T]) -> P + Sync,
    ) -> Vec<P> {
        /// Fewer blocks are not worth a thread.
        const LEAST: usize = 4;
        let run = |begin: usize, list: &mut [T]| -> Vec<P> {
            let begins = (begin..).step_by(BLOCK);
            begins.zip(list.chunks_mut(BLOCK)).map(|(begin, block)| of(begin, block)).collect()
        };
        let count = list.len().div_ceil(BLOCK);
        if self.is_one() || count <= LEAST {
            return run(0, list);
        }
        let size = BLOCK * count.div_ceil(self.0).max(LEAST);
        thread::scope(|scope| {
            let mut runs = (0..).step_by(size).zip(list.chunks_mut(size));
            let own = runs.next();
            let run = &run;
            let others: Vec<_> = runs.map(|(begin, part)| scope.spawn(move || run(begin, part))).collect();
            let own = own.into_iter().flat_map(|(begin, part)| run(begin, part));
            // The first runs here, while others do.
            let own: Vec<P> = own.collect();
            own.into_iter().chain(others.into_iter().flat_map(joined)).collect()
        })
    }

    /// What both make, the first beside the second, which this thread does; one after another where there are no threads.
    pub fn beside<T: Send, U>(self, other: impl FnOnce() -> T + Send, own: impl FnOnce() -> U) -> (T, U) {
        if self.is_one() {
            return (other(), own());
        }
        thread::scope(|scope| {
            let other = scope.spawn(other);
            let own = own();
            (joined(other), own)
        })
    }

    /// Lists one after another; one alone is not copied.
    pub fn concat<T: Copy + Default + Send + Sync>(self, mut lists: Vec<Vec<T>>) -> Vec<T> {
        /// Less is copied sooner than a thread begins.
        const LEAST: usize = 1 << 16;
        if let [only] = lists.as_mut_slice() {
            return std::mem::take(only);
        }
        let len = lists.iter().map(Vec::len).sum();
        if self.is_one() || len < LEAST {
            return lists.concat();
        }
        let mut all = vec![T::default(); len];
        thread::scope(|scope| {
            let mut rest = all.as_mut_slice();
            for lists in lists.chunks(lists.len().div_ceil(self.0)) {
                let len = lists.iter().map(Vec::len).sum();
                let (mut part, after) = std::mem::take(&mut rest).split_at_mut(len);
                rest = after;
                scope.spawn(move || {
                    for list in lists {
                        let (slot, after) = std::mem::take(&mut part).split_at_mut(list.len());
                        slot.copy_from_slice(list);
                        part = after;
                    }
                });
            }
        });
        all
    }
}

/// What a thread has made; its panic is that of all.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_blocks_cover_everything_once_and_in_order() {
        for threads in [1, 2, 3, 16].map(Threads) {
            for n in [0, 1, 7, 64, 1000, 40_961] {
                let all: Vec<usize> = threads.parts(n, 10, |part| part.collect::<Vec<_>>()).concat();
                assert_eq!(all, (0..n).collect::<Vec<_>>());
                assert_eq!(threads.each(n, |i| i * i), (0..n).map(|i| i * i).collect::<Vec<_>>());
                let mut list = vec![0; n];
                let begins = threads.blocks(&mut list, |begin, block| {
                    (begin..).zip(block.iter_mut()).for_each(|(i, slot)| *slot = i + 1);
                    begin
                });
                assert_eq!(list, (1..=n).collect::<Vec<_>>());
                assert_eq!(begins, (0..n).step_by(BLOCK).collect::<Vec<_>>());
                assert_eq!(threads.made(n, |i| i + 1), list);
                assert_eq!(threads.of_blocks(&list, <[usize]>::to_vec).concat(), list);
                let ends = threads.of_blocks(&list, |block| block.last().copied());
                assert_eq!(ends.len(), n.div_ceil(BLOCK));
                assert_eq!(threads.concat(vec![list.clone()]), list);
                let mut lists: Vec<Vec<usize>> = list.chunks(999).map(<[usize]>::to_vec).collect();
                lists.extend([vec![7; 40_000], vec![]]);
                assert_eq!(threads.concat(lists), [list, vec![7; 40_000]].concat());
            }
        }
    }

    #[test]
    fn what_is_done_beside_is_done_once() {
        for threads in [1, 2, 16].map(Threads) {
            let mut mine = 0;
            assert_eq!(threads.beside(|| 3, || mine += 1), (3, ()));
            assert_eq!(mine, 1);
        }
    }

    #[test]
    #[should_panic(expected = "in a thread")]
    fn a_panic_of_a_thread_is_that_of_all() {
        Threads(2).parts(1000, 1, |part| assert!(part.start < 500, "in a thread"));
    }
}
