//! The interpreter as a host program meets it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use super::error::{ScriptError, ScriptErrorKind as Kind, quoted};
use super::lex::is_name;
use super::names::{CONSTANTS, reserved};
use super::parse::Script;
use super::place::Place;
use super::room::{Charge, Room, copy_bytes};
use super::run::Run;
use super::source::Fault;
use super::systems::Remembered;
use super::value::{Data, Value};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::host::FileId;
use crate::platform::Instant;
use crate::shape::Shape;
use crate::solve::Precision;

/// Which files a script may read and write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileAccess {
    /// None: `load` and `save` are errors.
    #[default]
    Forbidden,
    /// All that the process may. Paths that are not absolute begin at this folder; an empty path is the current folder.
    From(PathBuf),
}

/// What is kept from scripts of a file that they could reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reserved {
    /// It is neither read nor written.
    Whole,
    /// It is not written.
    AsItIs,
}

/// How much a script may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "Limits")]
pub struct ScriptLimits {
    /// Bytes of all values together that are alive at one time, and of what a statement needs while it makes or reads
    /// one, on the device and on the host. What exceeds it is refused before it is made. Textures count with their
    /// padding: an element takes 4 bytes of a column or of a large matrix, and 64 of a row. The script's
    /// [guide](crate::guide::script) says what else is counted.
    pub bytes: u64,
    /// Statements of one [`Interpreter::run`], each round of a loop counted.
    pub statements: u64,
}

with!(const ScriptLimits:
    with_bytes(bytes: u64),
    with_statements(statements: u64),
);

impl Default for ScriptLimits {
    /// 1 GiB; any number of statements.
    fn default() -> Self {
        ScriptLimits { bytes: 1 << 30, statements: u64::MAX }
    }
}

/// Runs programs on a device and keeps their variables in between.
///
/// Everything stays on the device until a script prints, saves, or uses an element as a number. Statements that were
/// run before an error have taken effect; so have files they saved.
///
/// ```
/// use texla::script::{Interpreter, parse};
/// # let ctx = texla::Headless::new(Default::default())?;
/// let mut interpreter = Interpreter::new(ctx.device());
/// interpreter.set("b", texla::Vector::from_slice(ctx.device(), &[6.0, 5.0])?)?;
/// let mut out = Vec::new();
/// interpreter.run(&parse("A = [4 1; 1 3]\nx = solve(A, b)\nprint(\"x is\", x)", "demo")?, &mut out)?;
/// assert_eq!(out, b"x is\n1.18182\n1.27273\n");
/// assert_eq!(interpreter.get("x").unwrap().shape(), texla::Shape::new(2, 1));
///
/// let e = interpreter.run(&parse("y = A * [1 2 3]'", "demo")?, &mut out).unwrap_err();
/// assert!(e.to_string().starts_with("demo: line 1, column 7: A is 2x2 and [1 2 3]' is 3x1: A * [1 2 3]' needs"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Interpreter {
    pub(super) device: Device,
    pub(super) variables: BTreeMap<String, Value>,
    pub(super) constants: BTreeMap<&'static str, Value>,
    pub(super) room: Rc<Room>,
    pub(super) limits: ScriptLimits,
    pub(super) files: FileAccess,
    /// Files of whoever runs scripts, with what scripts may do with them.
    pub(super) reserved: Vec<(FileId, Reserved)>,
    pub(super) timing: bool,
    pub(super) precision: Precision,
    pub(super) solver: RefCell<Option<Remembered>>,
}

shown!(Interpreter, |i| "Interpreter({} variables, {:?})", i.variables.len(), i.limits);

/// A script on its way: what [`Interpreter::advance`] runs a slice at a time. It holds the script and how far it has come, and nothing
/// of the device.
#[derive(Debug)]
pub struct ScriptRun {
    program: Script,
    place: Place,
}

impl ScriptRun {
    /// At the beginning. *Cost*: none.
    pub fn new(program: Script) -> Self {
        ScriptRun { program, place: Place::default() }
    }
}

impl Interpreter {
    /// An interpreter without variables, without access to files, and with the default [`ScriptLimits`].
    pub fn new(device: &Device) -> Self {
        let limits = ScriptLimits::default();
        let room = Room::new(limits.bytes);
        let constants = CONSTANTS.map(|(name, value)| (name, Value::number(value)));
        Interpreter {
            device: device.clone(),
            variables: BTreeMap::new(),
            constants: BTreeMap::from(constants),
            room,
            limits,
            files: FileAccess::default(),
            reserved: Vec::new(),
            timing: false,
            precision: Precision::default(),
            solver: RefCell::default(),
        }
    }

    /// Keeps files out of scripts' hands, whatever name they go by: those that the program around them writes itself.
    #[must_use]
    pub fn without(mut self, files: impl IntoIterator<Item = FileId>) -> Self {
        self.reserved.extend(files.into_iter().map(|file| (file, Reserved::Whole)));
        self
    }

    /// Keeps files from being saved over, whatever name they go by: those that the program around them reads or has open,
    /// such as the script itself. Scripts may load them.
    #[must_use]
    pub fn without_saving_to(mut self, files: impl IntoIterator<Item = FileId>) -> Self {
        self.reserved.extend(files.into_iter().map(|file| (file, Reserved::AsItIs)));
        self
    }

    /// Lets scripts read and write files, or not.
    pub fn with_files(mut self, files: FileAccess) -> Self {
        self.files = files;
        self
    }

    /// In what `solve` and `\` solve where a script does not say.
    pub fn with_precision(mut self, precision: Precision) -> Self {
        self.precision = precision;
        self
    }

    /// Other limits.
    pub fn with_limits(mut self, limits: ScriptLimits) -> Self {
        self.limits = limits;
        self.room.set_limit(limits.bytes);
        self
    }

    /// Runs a program to its end or to the first error. What it prints goes to `out`.
    ///
    /// The host's GL state is saved once and restored at the end, so `out` must not draw.
    ///
    /// *Errors*: [`ScriptError`]; variables keep what they were given before it.
    pub fn run(&mut self, program: &Script, out: &mut dyn Write) -> Result<(), ScriptError> {
        self.go(program, &mut Place::default(), None, out).map(drop)
    }

    /// Goes on with a run for so much time by the host's clock, but for one statement at least; whether it is at its end. For an
    /// application that draws frames in between, or that lets its user stop a script: nothing is left behind but variables.
    ///
    /// A slice ends between two statements, those of loops too: a statement is not cut, nor a solve in it. Each is a
    /// [scope](crate::Device::scope) of its own, in which `out` must not draw. What is done, and printed, is that of [`run`](Self::run),
    /// however it is cut; variables may be looked at and given in between.
    ///
    /// *Errors*: as [`run`](Self::run); the run is at its end then, unless an error of the application's was pending
    /// ([`Error::HostGl`]), after which the next slice goes on.
    ///
    /// ```
    /// use std::time::Duration;
    /// use texla::script::{Interpreter, ScriptRun, parse};
    /// # let ctx = texla::Headless::new(Default::default())?;
    /// let mut interpreter = Interpreter::new(ctx.device());
    /// let mut run = ScriptRun::new(parse("x = 1\nrepeat 10\n  x = 2 * x\nend\nprint(x)", "demo")?);
    /// let (mut out, mut frames) = (Vec::new(), 0);
    /// while !interpreter.advance(&mut run, Duration::ZERO, &mut out)? {
    ///     frames += 1; // draw one
    /// }
    /// assert_eq!((out, frames), (b"1024\n".to_vec(), 12)); // one after each of 13 statements but the last
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn advance(
        &mut self,
        run: &mut ScriptRun,
        time: Duration,
        out: &mut dyn Write,
    ) -> Result<bool, ScriptError> {
        let ScriptRun { program, place } = run;
        self.go(program, place, Some(time), out)
    }

    fn go(
        &mut self,
        program: &Script,
        place: &mut Place,
        time: Option<Duration>,
        out: &mut dyn Write,
    ) -> Result<bool, ScriptError> {
        let Script { source, statements } = program;
        let device = self.device.clone();
        let until = time.and_then(|time| Instant::now().checked_add(time));
        let scope = device.scope();
        let _scope = scope.map_err(|e| source.error(Fault::new(0, Kind::Library(Box::new(e)))))?;
        let done = Run { state: self, source, out }.advance(statements, place, until);
        done.map_err(|fault| {
            place.end(statements.len());
            source.error(fault)
        })
    }

    /// Gives a script a variable: a number, or a [`Scalar`](crate::Scalar), [`Vector`](crate::Vector),
    /// [`Matrix`](crate::Matrix) or [`StoredMatrix`](crate::StoredMatrix) of the interpreter's device.
    ///
    /// *Cost*: nothing, or 1 draw for a matrix with one column. *Errors*: [`Error::Parameter`] for a name that is no
    /// name or already means something, [`Error::NonFinite`], [`Error::WrongDevice`].
    pub fn set(&mut self, name: &str, value: impl Into<Data>) -> Result<()> {
        let op = "Interpreter::set";
        if !is_name(name) || reserved(name).is_some() {
            let expected =
                "a letter, then letters, digits and `_`; no function, constant or keyword of the language";
            return Err(Error::Parameter { op, name: "name", value: quoted(name), expected });
        }
        let value = value.into();
        if value.device().is_some_and(|device| !device.same(&self.device)) {
            return Err(Error::WrongDevice { op: op.to_owned(), operand: name.to_owned() });
        }
        if let Data::Number(number) = value {
            crate::error::check_finite(op, [number])?;
        }
        let value = Value::new(value.canonical()?, self.room.nothing());
        self.variables.insert(name.to_owned(), value);
        Ok(())
    }

    /// A variable, if there is one of this name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.variables.get(name)
    }

    /// The names of all variables, in alphabetical order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// Removes a variable and returns its value.
    pub fn remove(&mut self, name: &str) -> Option<Value> {
        self.variables.remove(name)
    }

    /// So many bytes of the room, for what takes them; a solver that is only remembered makes room.
    pub(super) fn take(&self, bytes: u64, what: impl Fn() -> String) -> Result<Charge, Kind> {
        let taken = self.room.take(bytes, &what);
        if taken.is_err() && self.solver.take().is_some() { self.room.take(bytes, what) } else { taken }
    }

    /// The room for a dense value on its way between host and device.
    pub(super) fn take_to_copy(&self, shape: Shape) -> Result<Charge, Kind> {
        self.take(copy_bytes(&self.device, shape), || format!("copying {shape} elements takes"))
    }

    /// The device on which scripts run.
    pub fn device(&self) -> &Device {
        &self.device
    }
}
