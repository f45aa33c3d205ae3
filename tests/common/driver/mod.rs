//! Simulated drivers. A [`Driver`] is described by a few builder calls and installed on the current thread; its loader is
//! handed to [`Device::from_loader`], and its functions behave as that driver's do, on top of the real driver of whatever
//! context is current.
//!
//! ```ignore
//! let _context = harness::headless(Api::Es30);
//! let driver = Driver::new("small").limit(glow::MAX_TEXTURE_SIZE, 4096).install();
//! let dev = driver.device(DeviceOptions::default());
//! ```
//!
//! C functions carry no data, so what the driver knows is kept by thread. While none is installed, the functions in front
//! pass everything on to the real driver: a device may outlive its simulated driver.
#![allow(unsafe_code)]

pub mod drivers;
pub mod extensions;
mod front;
pub mod outcomes;
pub mod registry;
pub mod states;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ffi::{CStr, CString, c_char, c_void};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use texla::{Device, DeviceOptions};

use super::egl;
pub use extensions::{Call, Extension};

/// The description of a driver. What it does not describe is the real driver's.
pub struct Driver {
    name: String,
    strings: BTreeMap<u32, String>,
    version: Option<(u32, u32)>,
    without: BTreeSet<String>,
    with: Vec<&'static str>,
    simulated: Vec<&'static Extension>,
    limits: BTreeMap<u32, f64>,
    no_functions: BTreeSet<&'static str>,
    no_opengl32: bool,
    missing: isize,
    rules: Vec<Rule>,
    derivatives_by_hint: bool,
    compile: Compile,
}

/// Looks at the state before a draw: the error flag that the driver raises instead of drawing, if it refuses.
pub type Rule = fn() -> Option<u32>;

/// When a shader is compiled and a program is linked.
#[derive(Clone, Copy, PartialEq)]
enum Compile {
    AsItIs,
    /// Each within its call, for so long.
    Within(Duration),
    /// Each on a thread of the driver's, for so long; whoever asks for the status waits.
    Beside(Duration),
}

impl Driver {
    /// The real driver. The name is added to that of the renderer: what texla has found out about one driver must not be
    /// taken for what it knows of another.
    pub fn new(name: impl Into<String>) -> Self {
        Driver {
            name: name.into(),
            strings: BTreeMap::new(),
            version: None,
            without: BTreeSet::new(),
            with: Vec::new(),
            simulated: Vec::new(),
            limits: BTreeMap::new(),
            no_functions: BTreeSet::new(),
            no_opengl32: false,
            missing: 0,
            rules: Vec::new(),
            derivatives_by_hint: false,
            compile: Compile::AsItIs,
        }
    }

    /// Answers `GL_RENDERER`, `GL_VENDOR`, `GL_VERSION` or `GL_SHADING_LANGUAGE_VERSION`.
    pub fn string(mut self, query: u32, text: &str) -> Self {
        self.strings.insert(query, text.to_owned());
        self
    }

    /// `GL_RENDERER`, in place of the real one's.
    pub fn renderer(self, name: &str) -> Self {
        self.string(glow::RENDERER, name)
    }

    /// An older version of OpenGL, or of OpenGL ES; the real one, where that is older.
    pub fn version(mut self, major: u32, minor: u32) -> Self {
        self.version = Some((major, minor));
        self
    }

    /// Does not list these extensions.
    pub fn without_extensions<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.without.extend(names.into_iter().map(Into::into));
        self
    }

    /// Lists these extensions too, without any state.
    pub fn with_extensions(mut self, names: impl IntoIterator<Item = &'static str>) -> Self {
        self.with.extend(names);
        self
    }

    /// Lists an extension, and has its state, its functions and its effect.
    pub fn with(mut self, extension: &'static Extension) -> Self {
        self.simulated.push(extension);
        self
    }

    /// Answers this to a question of one number. Sizes of textures and numbers of draw buffers and attachments are enforced.
    pub fn limit(mut self, query: u32, value: u32) -> Self {
        self.limits.insert(query, f64::from(value));
        self
    }

    /// The loader does not know these functions: see [`Driver::missing`].
    pub fn without_functions(mut self, names: impl IntoIterator<Item = &'static str>) -> Self {
        self.no_functions.extend(names);
        self
    }

    /// The address that the loader gives for functions that it does not know: null, or 1, 2, 3 or -1 as some drivers'
    /// `wglGetProcAddress` does.
    pub fn missing(mut self, address: isize) -> Self {
        self.missing = address;
        self
    }

    /// The loader gives null for the functions of OpenGL 1.1, which on Windows are those of opengl32.dll.
    pub fn without_opengl32(mut self) -> Self {
        self.no_opengl32 = true;
        self
    }

    /// Refuses draws by this rule.
    pub fn refuses_draws(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Derivatives are of the fragment's own row and column only while `GL_FRAGMENT_SHADER_DERIVATIVE_HINT` is
    /// `GL_NICEST`; else all four fragments of a quad have those of its first one.
    pub fn derivatives_by_hint(mut self) -> Self {
        self.derivatives_by_hint = true;
        self
    }

    /// Compiles each shader, and links each program, for so long, within the call.
    pub fn compiles_within(mut self, time: Duration) -> Self {
        self.compile = Compile::Within(time);
        self
    }

    /// Compiles each shader, and links each program, for so long, on threads of its own; whoever asks for the status waits,
    /// but for who asks for `GL_COMPLETION_STATUS_KHR`.
    pub fn compiles_beside(mut self, time: Duration) -> Self {
        self.compile = Compile::Beside(time);
        self
    }

    /// Puts the driver in front of that of the current context, until what is returned drops.
    #[track_caller]
    pub fn install(mut self) -> Installed {
        self.version = self.version.map(|version| version.min(real_version()));
        let at_work = SIMULATION.with_borrow(Option::is_some);
        assert!(!at_work, "a thread has one simulated driver at a time");
        let simulation = Simulation::new(self);
        SIMULATION.set(Some(simulation));
        Installed(PhantomData)
    }
}

/// A driver at work on this thread.
pub struct Installed(PhantomData<*const ()>);

impl Drop for Installed {
    fn drop(&mut self) {
        SIMULATION.set(None);
    }
}

impl Installed {
    /// What the driver offers an application. It works for as long as the thread lives.
    pub fn loader(&self) -> impl Fn(&str) -> *const c_void + Clone + 'static {
        address
    }

    /// A device in the current context.
    #[track_caller]
    pub fn device(&self, options: DeviceOptions) -> Device {
        self.try_device(options).unwrap()
    }

    pub fn try_device(&self, options: DeviceOptions) -> texla::Result<Device> {
        // SAFETY: the tests keep the context current while the device lives; the loader gives null, the named function's
        // address, or what texla has to recognise as none.
        unsafe { Device::from_loader(self.loader(), options) }
    }

    /// The application's functions.
    pub fn glow(&self) -> Arc<glow::Context> {
        // SAFETY: as above.
        Arc::new(unsafe { glow::Context::from_loader_function(self.loader()) })
    }

    /// Turns a switch of a simulated extension on or off, as the application would.
    pub fn switch(&self, switch: u32, on: bool) {
        self.switch_at(switch, extensions::EVERY, on);
    }

    /// That of one viewport.
    #[track_caller]
    pub fn switch_at(&self, switch: u32, index: u32, on: bool) {
        assert!(set((switch, index), &[f64::from(u8::from(on))]), "0x{switch:04x} is no simulated switch");
    }

    /// Sets a value of a simulated extension, as the application would by the extension's function.
    pub fn value(&self, query: u32, value: &[f64]) {
        self.value_at(query, extensions::EVERY, value);
    }

    /// That of one viewport.
    #[track_caller]
    pub fn value_at(&self, query: u32, index: u32, value: &[f64]) {
        assert!(set((query, index), value), "0x{query:04x} is no simulated value");
    }

    /// The state of the simulated extensions where it is not the default: by question and index.
    pub fn state(&self) -> BTreeMap<(u32, u32), Vec<f64>> {
        with(|s| s.changed()).unwrap_or_default()
    }

    /// Number of calls that had no effect because of the state of a simulated extension, since the driver was installed.
    pub fn spoiled(&self) -> usize {
        with(|s| s.spoiled).unwrap_or(0)
    }

    /// Number of draws refused by a rule since the driver was installed.
    pub fn refused(&self) -> usize {
        with(|s| s.refused).unwrap_or(0)
    }
}

/// What the simulated driver of a thread knows.
struct Simulation {
    strings: BTreeMap<u32, CString>,
    extensions: Vec<CString>,
    simulated: Vec<&'static Extension>,
    /// By question and index, of which [`extensions::EVERY`] is all those that are not named.
    state: BTreeMap<(u32, u32), Vec<f64>>,
    limits: BTreeMap<u32, f64>,
    no_functions: BTreeSet<&'static str>,
    missing: isize,
    rules: Vec<Rule>,
    derivatives_by_hint: bool,
    compile: Compile,
    /// When a shader or a program is ready.
    ready: HashMap<u32, Instant>,
    errors: VecDeque<u32>,
    spoiled: usize,
    refused: usize,
}

thread_local! {
    static SIMULATION: RefCell<Option<Simulation>> = const { RefCell::new(None) };
    static REAL: RefCell<HashMap<String, usize>> = RefCell::default();
}

/// Asks the simulated driver, if one is at work. The real driver is not called within.
fn with<T>(f: impl FnOnce(&mut Simulation) -> T) -> Option<T> {
    SIMULATION.with_borrow_mut(|s| s.as_mut().map(f))
}

/// The real driver's function, or null where it has none.
fn real(name: &str) -> *const c_void {
    let known = REAL.with_borrow(|all| all.get(name).copied());
    known.unwrap_or_else(|| {
        let found = egl::loader()(name) as usize;
        REAL.with_borrow_mut(|all| all.insert(name.to_owned(), found));
        found
    }) as *const c_void
}

/// What the simulated driver's loader gives.
fn address(name: &str) -> *const c_void {
    let missing = with(|s| s.no_functions.contains(name).then_some(s.missing)).flatten();
    if let Some(missing) = missing {
        return missing as *const c_void;
    }
    if let Some(setter) = with(|s| s.setter(name)).flatten() {
        return setter;
    }
    let real = real(name);
    if real.is_null() {
        return with(|s| s.missing).unwrap_or(0) as *const c_void;
    }
    front::function(name).unwrap_or(real)
}

/// Sets a switch or a value of a simulated extension; says whether it is one.
fn set(at: (u32, u32), value: &[f64]) -> bool {
    with(|s| s.set(at, value)).unwrap_or(false)
}

impl Simulation {
    fn new(driver: Driver) -> Self {
        let mut strings = driver.strings;
        let renderer = strings.entry(glow::RENDERER).or_insert_with(|| real_string(glow::RENDERER));
        *renderer = format!("{renderer} ({})", driver.name);
        let mut limits = driver.limits;
        if let Some((major, minor)) = driver.version {
            let version = strings.entry(glow::VERSION).or_insert_with(|| real_string(glow::VERSION));
            *version = with_version(version, major, minor);
            limits.extend([(glow::MAJOR_VERSION, f64::from(major)), (glow::MINOR_VERSION, f64::from(minor))]);
        }
        let mut extensions = real_extensions();
        extensions.retain(|name| !driver.without.contains(name));
        let added = driver.with.iter().copied().chain(driver.simulated.iter().map(|e| e.name));
        for name in added {
            if !extensions.iter().any(|listed| listed == name) {
                extensions.push(name.to_owned());
            }
        }
        let all = extensions.join(" ");
        strings.insert(glow::EXTENSIONS, all);
        let text = |text: String| CString::new(text).unwrap();
        let mut no_functions = driver.no_functions;
        if driver.no_opengl32 {
            no_functions.extend(front::OPENGL32);
        }
        Simulation {
            strings: strings.into_iter().map(|(query, s)| (query, text(s))).collect(),
            extensions: extensions.into_iter().map(text).collect(),
            simulated: driver.simulated,
            state: BTreeMap::new(),
            limits,
            no_functions,
            missing: driver.missing,
            rules: driver.rules,
            derivatives_by_hint: driver.derivatives_by_hint,
            compile: driver.compile,
            ready: HashMap::new(),
            errors: VecDeque::new(),
            spoiled: 0,
            refused: 0,
        }
    }

    /// The function of a simulated extension.
    fn setter(&self, name: &str) -> Option<*const c_void> {
        let known = self.simulated.iter().any(|e| e.functions.contains(&name));
        known.then(|| extensions::setter(name))
    }

    fn default(&self, query: u32) -> Option<Vec<f64>> {
        self.simulated.iter().find_map(|e| e.default(query))
    }

    fn set(&mut self, (query, index): (u32, u32), value: &[f64]) -> bool {
        let known = self.default(query).is_some();
        if known && index == extensions::EVERY {
            self.state.retain(|(of, _), _| *of != query);
        }
        if known {
            self.state.insert((query, index), value.to_vec());
        }
        known
    }

    /// What a simulated extension holds there.
    fn holds(&self, query: u32, index: u32) -> Option<Vec<f64>> {
        let default = self.default(query)?;
        let set = self.state.get(&(query, index)).or_else(|| self.state.get(&(query, extensions::EVERY)));
        Some(set.cloned().unwrap_or(default))
    }

    /// The answer to a question, unless it is the real driver's.
    fn answer(&self, query: u32, index: u32) -> Option<Vec<f64>> {
        if query == glow::NUM_EXTENSIONS {
            return Some(vec![self.extensions.len() as f64]);
        }
        self.holds(query, index).or_else(|| self.limits.get(&query).map(|limit| vec![*limit]))
    }

    fn changed(&self) -> BTreeMap<(u32, u32), Vec<f64>> {
        let queries = self.simulated.iter().flat_map(|e| e.queries());
        let all = queries.flat_map(|query| (0..extensions::INDICES).map(move |index| (query, index)));
        all.filter_map(|at| {
            self.holds(at.0, at.1).filter(|v| self.default(at.0).as_ref() != Some(v)).map(|v| (at, v))
        })
        .collect()
    }

    /// Whether the state of a simulated extension takes the effect from this call: one of its switches is not at its default, or,
    /// where it has none, one of its values.
    fn spoils(&self, call: Call) -> bool {
        // What has an index is of a viewport, and all draws are to the first.
        let changed = |query| self.holds(query, 0) != self.default(query);
        self.simulated.iter().filter(|e| e.spoils.contains(&call)).any(|e| e.deciding().any(changed))
    }
}

fn real_string(query: u32) -> String {
    // SAFETY: an address under this name is a function of this type; a context is current, and what it answers to these
    // questions is a text that ends with zero.
    unsafe {
        let get: extern "system" fn(u32) -> *const c_char = std::mem::transmute(real("glGetString"));
        CStr::from_ptr(get(query)).to_string_lossy().into_owned()
    }
}

fn real_version() -> (u32, u32) {
    let number = |query| {
        let mut found = 0;
        // SAFETY: as above; the answer is one number.
        unsafe {
            let get: extern "system" fn(u32, *mut i32) = std::mem::transmute(real("glGetIntegerv"));
            get(query, &raw mut found);
        }
        found as u32
    };
    (number(glow::MAJOR_VERSION), number(glow::MINOR_VERSION))
}

fn real_extensions() -> Vec<String> {
    // SAFETY: as above; there are so many.
    unsafe {
        let count: extern "system" fn(u32, *mut i32) = std::mem::transmute(real("glGetIntegerv"));
        let get: extern "system" fn(u32, u32) -> *const c_char = std::mem::transmute(real("glGetStringi"));
        let mut n = 0;
        count(glow::NUM_EXTENSIONS, &raw mut n);
        (0..n as u32)
            .map(|i| CStr::from_ptr(get(glow::EXTENSIONS, i)).to_string_lossy().into_owned())
            .collect()
    }
}

/// A text of `GL_VERSION` with another number: "OpenGL ES 3.2 Mesa 22.3.6" has it after two words, "4.5 (Core Profile)"
/// begins with it.
fn with_version(text: &str, major: u32, minor: u32) -> String {
    let at = text.find(|c: char| c.is_ascii_digit()).unwrap();
    let rest = text[at..].find(' ').map_or("", |end| &text[at + end..]);
    format!("{}{major}.{minor}{rest}", &text[..at])
}
