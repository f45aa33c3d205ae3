//! A driver that is watched and fails to order: a loader that puts a function of its own in front of each of the driver's.
//! One [`TABLE`] has all that texla calls; what is not in it is not found, and glow panics with its name.
#![allow(unsafe_code)]

pub mod sweep;
mod table;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::c_void;
use std::ops::Range;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::egl;
pub use table::{Entry, TABLE, find};

/// How a function can fail while the context lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Never,
    /// Memory is lacking: nothing is done, null is returned, and a flag says so.
    Memory,
    /// Nothing is done, and no flag says so: the name is 0, a framebuffer is not complete, a shader not compiled, a
    /// program not linked.
    Undone,
}

/// One function.
pub struct Row {
    pub name: &'static str,
    pub fault: Fault,
    /// Questions (`glGet`, `glIsEnabled`, `glGetVertexAttrib`) whose answers a call may change.
    pub changes: &'static [u32],
}

/// Which calls an order is about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Those of one function, which raise these flags.
    One(Entry, &'static [u32]),
    /// All that can fail, each in its own way.
    Fallible,
    /// All: the context is lost at the first of them.
    Every,
}

/// What is to go wrong on this thread, and what has been seen.
#[derive(Default)]
struct Watch {
    /// Error flags raised and not yet asked for.
    flags: VecDeque<u32>,
    order: Option<(Of, Range<u32>)>,
    /// Calls of the kind of the order since it was given, and those of them that failed.
    numbered: u32,
    failed: u32,
    last_failed: Option<Entry>,
    lost: bool,
    /// Calls of each function since the order.
    calls: BTreeMap<Entry, u32>,
    called: BTreeSet<Entry>,
    live: BTreeMap<&'static str, BTreeSet<usize>>,
    /// Deleted, and never made by this guest.
    strays: Vec<String>,
    look: Option<Look>,
    /// The longest draw since it was asked for, by itself between two waits.
    longest: Option<Duration>,
}

/// Looks at a context around calls: which answers each function has changed.
struct Look {
    state: fn() -> Box<dyn Fn() -> BTreeSet<u32>>,
    changed: BTreeMap<Entry, BTreeSet<u32>>,
}

thread_local! {
    static WATCH: RefCell<Watch> = RefCell::default();
}

fn with<T>(f: impl FnOnce(&mut Watch) -> T) -> T {
    WATCH.with_borrow_mut(f)
}

fn order(of: Of, numbers: Range<u32>) {
    with(|w| {
        (w.flags, w.lost, w.calls) = (VecDeque::new(), false, BTreeMap::new());
        (w.order, w.numbered, w.failed, w.last_failed) = (Some((of, numbers)), 0, 0, None);
    });
}

/// Of the calls of this function from now on, those with these numbers are left undone and raise all these flags. A lost
/// context stays so until [`heal`].
pub fn fail(entry: Entry, numbers: Range<u32>, flags: &'static [u32]) {
    order(Of::One(entry, flags), numbers);
}

/// Of all calls that can fail, those with these numbers do.
pub fn fail_any(numbers: Range<u32>) {
    order(Of::Fallible, numbers);
}

/// The context is lost from the call of this number on, whatever it is.
pub fn lose_at(number: u32) {
    order(Of::Every, number..number.saturating_add(1));
}

/// Raises these flags now, as if the application had.
pub fn raise(flags: &[u32]) {
    with(|w| w.flags.extend(flags));
}

/// The context is lost from now on.
pub fn lose() {
    heal();
    with(|w| w.lost = true);
}

/// Nothing fails any more, and nothing has.
pub fn heal() {
    order(Of::Fallible, 0..0);
}

/// Another context, with a guest that has made nothing yet.
pub fn begin() {
    WATCH.take();
    heal();
}

/// Calls of this function since the last order.
pub fn calls(entry: Entry) -> u32 {
    with(|w| w.calls.get(&entry).copied().unwrap_or(0))
}

/// Calls of the kind that the last order was about, since then.
pub fn numbered() -> u32 {
    with(|w| w.numbered)
}

/// Those of them that failed, and the last one.
pub fn failed() -> (u32, Option<Entry>) {
    with(|w| (w.failed, w.last_failed))
}

/// The functions called since [`begin`].
pub fn called() -> BTreeSet<Entry> {
    with(|w| w.called.clone())
}

/// Error flags that nobody has asked for.
pub fn pending() -> usize {
    with(|w| w.flags.len())
}

/// Objects that have been made and not deleted, by kind; what has been deleted without having been made.
pub fn left() -> (BTreeMap<&'static str, usize>, Vec<String>) {
    with(|w| {
        let live = w.live.iter().filter(|(_, names)| !names.is_empty());
        (live.map(|(kind, names)| (*kind, names.len())).collect(), w.strays.clone())
    })
}

/// From now on looks at the context around some calls of each function: the first four, the eighth, and so on. `state` begins a look; what it returns ends
/// it, and tells the questions whose answers have changed.
pub fn look(state: fn() -> Box<dyn Fn() -> BTreeSet<u32>>) {
    with(|w| w.look = Some(Look { state, changed: BTreeMap::new() }));
}

/// What the looks have found.
pub fn looked() -> BTreeMap<Entry, BTreeSet<u32>> {
    with(|w| w.look.take()).map(|look| look.changed).unwrap_or_default()
}

/// Runs this with a wait before and after each draw: how long the longest took.
pub fn longest_draw(of: impl FnOnce()) -> Duration {
    with(|w| w.longest = Some(Duration::ZERO));
    of();
    with(|w| w.longest.take()).unwrap_or_default()
}

/// Whether this call goes through to the driver.
fn passes(entry: Entry) -> bool {
    with(|w| {
        *w.calls.entry(entry).or_default() += 1;
        w.called.insert(entry);
        let row = &TABLE[entry as usize];
        let Some((of, at)) = w.order.clone() else { return !w.lost };
        let meant = match of {
            Of::One(one, _) => one == entry,
            Of::Fallible => row.fault != Fault::Never,
            Of::Every => true,
        };
        if !meant {
            return !w.lost;
        }
        let due = at.contains(&w.numbered);
        w.numbered += 1;
        if !due {
            return !w.lost;
        }
        w.failed += 1;
        w.last_failed = Some(entry);
        let flags: &[u32] = match (of, row.fault) {
            (Of::One(_, flags), _) => flags,
            (Of::Every, _) => &[glow::CONTEXT_LOST],
            (Of::Fallible, Fault::Memory) => &[glow::OUT_OF_MEMORY],
            (Of::Fallible, _) => &[],
        };
        w.lost |= flags.contains(&glow::CONTEXT_LOST);
        w.flags.extend(flags);
        false
    })
}

/// Calls the driver, with a look before and after where one is due, and a wait where draws are timed.
fn watched<T>(entry: Entry, call: impl FnOnce() -> T) -> T {
    if matches!(entry, Entry::glDrawArrays | Entry::glDrawArraysInstanced) && with(|w| w.longest.is_some()) {
        finish();
        let started = Instant::now();
        let result = call();
        finish();
        with(|w| w.longest = w.longest.max(Some(started.elapsed())));
        return result;
    }
    let number = with(|w| w.calls[&entry]);
    let due = number < 4 || number.is_power_of_two();
    let Some(state) = with(|w| w.look.as_ref().filter(|_| due).map(|look| look.state)) else { return call() };
    let look = state();
    let result = call();
    let changed = look();
    with(|w| w.look.as_mut().map(|look| look.changed.entry(entry).or_default().extend(changed)));
    result
}

fn finish() {
    // SAFETY: an address under this name is a function of this type; the context of the call around it is current.
    unsafe {
        std::mem::transmute::<*const c_void, unsafe extern "system" fn()>(driver(Entry::glFinish))();
    }
}

/// Notes names that the driver has given.
fn made(kind: &'static str, names: impl IntoIterator<Item = usize>) {
    with(|w| w.live.entry(kind).or_default().extend(names.into_iter().filter(|name| *name != 0)));
}

/// Notes names that are given back.
fn gone(kind: &'static str, names: impl IntoIterator<Item = usize>) {
    with(|w| {
        for name in names.into_iter().filter(|name| *name != 0) {
            if !w.live.entry(kind).or_default().remove(&name) {
                w.strays.push(format!("{kind} {name}"));
            }
        }
    });
}

/// An address, or null where nothing is done.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Ptr(*const c_void);

impl Default for Ptr {
    fn default() -> Self {
        Ptr(std::ptr::null())
    }
}

impl Ptr {
    /// # Safety
    /// There are `n` names.
    unsafe fn names(self, n: i32) -> Vec<usize> {
        let n = usize::try_from(n).unwrap_or(0);
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts(self.0.cast::<u32>(), n) }
            .iter()
            .map(|name| *name as usize)
            .collect()
    }
}

/// What `glCheckFramebufferStatus` returns: not complete, where nothing is done.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Status(u32);

impl Default for Status {
    fn default() -> Self {
        Status(glow::FRAMEBUFFER_UNSUPPORTED)
    }
}

/// The driver's own function, or null where it has none.
fn driver(entry: Entry) -> *const c_void {
    static DRIVER: OnceLock<Vec<usize>> = OnceLock::new();
    let all = DRIVER.get_or_init(|| {
        let find = egl::loader();
        TABLE.iter().map(|row| find(row.name) as usize).collect()
    });
    all[entry as usize] as *const c_void
}

type GetError = unsafe extern "system" fn() -> u32;

unsafe extern "system" fn get_error() -> u32 {
    let passes = passes(Entry::glGetError);
    let own = with(|w| if w.lost { Some(glow::CONTEXT_LOST) } else { w.flags.pop_front() });
    // SAFETY: an address under this name is a function of this type; the rest is the caller's.
    let get = || unsafe { std::mem::transmute::<*const c_void, GetError>(driver(Entry::glGetError))() };
    own.unwrap_or_else(|| if passes { get() } else { glow::NO_ERROR })
}

/// The loader of [`egl::loader`], with these functions in front.
pub fn loader() -> impl Fn(&str) -> *const c_void + Clone + 'static {
    |name: &str| match find(name) {
        Some(Entry::glGetError) => get_error as GetError as *const c_void,
        Some(entry) if !driver(entry).is_null() => table::shim(entry),
        _ => std::ptr::null(),
    }
}
