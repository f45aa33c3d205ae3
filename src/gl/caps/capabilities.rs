//! What probing finds, and its text.

use std::fmt;
use std::str::FromStr;

use super::known::hash;
use crate::error::{Error, Result};
use crate::record::{Choice, Field, Named, Record};

/// The form of exact floating-point arithmetic (two-sum, two-product) that this driver's compiler leaves alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ExactForm {
    /// Each step passes through an exclusive-or of its bits with a zero uniform.
    BitCast,
    /// Each step is declared `precise` (ARB_gpu_shader5).
    Precise,
}

/// What the device can do, as found by probing when the [`Device`](crate::Device) was made.
///
/// Probing compiles some 13 programs. Within a process it is done once for contexts that say the same of themselves, through the same
/// loader's functions, and for each device by `from_glow`, whose functions are not known. An application that wants to
/// spare it at its next start saves the text of the capabilities (`Display`) and gives them back
/// ([`DeviceOptions::capabilities`](crate::DeviceOptions::capabilities)). They are taken only where the context has the same
/// [`fingerprint`](Self::fingerprint); elsewhere the device is probed as if none had been given.
///
/// # Examples
/// ```
/// use texla::gl::Capabilities;
/// use texla::{DeviceOptions, Headless, HeadlessOptions};
/// let first = Headless::new(HeadlessOptions::default())?;
/// let text = first.device().capabilities().to_string(); // to a file of the application's
/// let saved: Capabilities = text.parse()?;
/// let options = DeviceOptions::default().with_capabilities(Some(saved));
/// let next = Headless::new(HeadlessOptions::default().with_options(options))?;
/// assert_eq!(next.device().capabilities(), first.device().capabilities());
/// assert_eq!(next.device().counters().compiles, 0);
/// # Ok::<(), texla::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Which context was probed: a hash of everything that it says of itself (dialect, versions, names, extensions, flags, limits),
    /// of the [`Limits`](crate::gl::Limits) it was probed under, and of texla's version. 0 where a lack of memory decided
    /// something: such capabilities are never taken back.
    pub fingerprint: u64,
    /// `GL_RENDERER`.
    pub renderer: String,
    /// `GL_VENDOR`.
    pub vendor: String,
    /// `GL_VERSION`.
    pub version: String,
    /// The renderer calls itself by a name of Mesa's or Google's software rasterisers. Chooses how products with dense matrices are
    /// split and in which schedule two of them are multiplied, the schedules of solvers, and how the sums of complementarity
    /// problems are cut into ranges. That is the order of sums: the last digits of dense products and solvers' iterates differ
    /// between the two kinds of device, within the same [bounds](crate::guide::numerics). What is summed, and what a verdict
    /// takes, does not depend on it.
    pub software: bool,
    /// Largest side for which a float render target could be allocated in both directions.
    pub max_texture_size: u32,
    /// Draw buffers into which one pass wrote and all were right.
    pub max_draw_buffers: u32,
    /// Textures that one pass can read.
    pub texture_units: u32,
    /// Numbers that the uniforms of a stage can hold, as the driver says; a `vec4` has four.
    pub uniform_components: u32,
    /// Numbers that can be interpolated between two stages, as the driver says.
    pub varying_components: u32,
    /// Blending ONE, ONE into 32-bit floats rounds as `fl(a + b)` and runs in primitive order (the blending check).
    pub float_blend: bool,
    /// Max and Min blending keep 32-bit floats as they are.
    pub float_min_max: bool,
    /// A linearly filtered fetch at the corner of four texels of a 32-bit float texture is their average, to within the
    /// four roundings of linear interpolation: `|error| <= 4 u` times the average of the magnitudes. False where
    /// float textures cannot be filtered at all: an OpenGL ES context without `OES_texture_float_linear` samples zeros.
    pub float_filter: bool,
    /// `textureLod` at computed coordinates hits the same texels as `texelFetch`, out to the largest side.
    pub computed_coordinates: bool,
    /// Points of one draw at most: a few tens of milliseconds where points are slowest (`benches/JOURNAL.md`), and fewer
    /// where the vertices of a longer draw lose count (softpipe's after every 4,096).
    pub points_a_draw: u32,
    /// Rounds of their loops that all fragments of one draw make at most, so that a display's watchdog sees none of more than about a
    /// tenth of a second on the slowest device of its kind (`benches/JOURNAL.md`, "The longest draw").
    pub rounds_a_draw: u32,
    /// Rounds that a loop in a shader makes: some drivers leave longer ones early, without a word (llvmpipe's after
    /// 65,535). `u32::MAX` where no end was met.
    pub loop_rounds: u32,
    /// `vec4`s that one vertex of a [`VertexKernel`](crate::kernel::VertexKernel) can write, all of which came back bit
    /// for bit; GL promises 15. 0 where the vertex stage cannot be captured at all.
    pub max_vertex_outputs: u32,
    /// `vec4`s in one input of a [`VertexKernel`](crate::kernel::VertexKernel), and in the block of a product by
    /// [`MatmulSchedule::Uniform`](crate::ops::MatmulSchedule::Uniform); GL promises 1,024, and more than 4,096 are not
    /// asked for.
    pub max_block_vec4s: u32,
    /// Inputs of a [`VertexKernel`](crate::kernel::VertexKernel) at most; GL promises 12.
    pub vertex_blocks: u32,
    /// Lines through texel centres touch each texel of a row or a column exactly once.
    pub exact_lines: bool,
    /// Derivatives are differences of the very fragments of a quad, so that its fragments can exchange values by them.
    pub exact_derivatives: bool,
    /// The form in which exact arithmetic is exact; `None` if no form is, and then nothing can be certified.
    pub exact_form: Option<ExactForm>,
    /// Sample queries can be waited for, and masks and loops count by them. In a browser they cannot: there masks are added up.
    pub sample_queries: bool,
    /// The driver hands out linked programs, so that [`DeviceOptions::program_folder`](crate::DeviceOptions::program_folder)
    /// can keep them.
    pub program_binaries: bool,
}

impl Capabilities {
    /// Definitions for shaders, by what was found.
    pub(in crate::gl) fn defines(&self, own: bool) -> String {
        // What the other dialect has of both.
        let form = if own { self.exact_form } else { Some(ExactForm::BitCast) };
        let extension = match form {
            Some(ExactForm::Precise) => "#extension GL_ARB_gpu_shader5 : enable\n",
            _ => "",
        };
        let exact = match form {
            Some(ExactForm::BitCast) => 1,
            Some(ExactForm::Precise) => 2,
            None => 0,
        };
        let computed = u8::from(self.computed_coordinates);
        format!("{extension}#define TEXLA_EXACT {exact}\n#define TEXLA_COMPUTED_COORDINATES {computed}\n")
    }
}

impl Capabilities {
    /// Whether these hold in a context that says this of itself: it is the one that was probed, or one like it, and they claim
    /// no more than it does.
    pub(super) fn fit(&self, named: &Capabilities) -> bool {
        self.fingerprint == named.fingerprint
            && self.stated() == named.stated()
            && (1..=named.max_texture_size).contains(&self.max_texture_size)
            && (1..=named.max_draw_buffers).contains(&self.max_draw_buffers)
            && (1..=named.points_a_draw).contains(&self.points_a_draw)
            && self.loop_rounds > 0
    }

    /// What the driver states and nobody probes.
    fn stated(&self) -> ([&str; 3], [u32; 4], [bool; 2]) {
        (
            [&self.renderer, &self.vendor, &self.version],
            [self.texture_units, self.uniform_components, self.varying_components, self.rounds_a_draw],
            [self.software, self.program_binaries],
        )
    }
}

impl Record for Capabilities {
    const HEADING: &'static str = "texla capabilities 1";
    const WHAT: &'static str = "capabilities";

    fn fields(&mut self) -> Vec<Named<'_>> {
        vec![
            ("fingerprint", Field::Mark(&mut self.fingerprint)),
            ("renderer", Field::Word(&mut self.renderer)),
            ("vendor", Field::Word(&mut self.vendor)),
            ("version", Field::Word(&mut self.version)),
            ("software", Field::Flag(&mut self.software)),
            ("max_texture_size", Field::Count(&mut self.max_texture_size)),
            ("max_draw_buffers", Field::Count(&mut self.max_draw_buffers)),
            ("texture_units", Field::Count(&mut self.texture_units)),
            ("uniform_components", Field::Count(&mut self.uniform_components)),
            ("varying_components", Field::Count(&mut self.varying_components)),
            ("float_blend", Field::Flag(&mut self.float_blend)),
            ("float_min_max", Field::Flag(&mut self.float_min_max)),
            ("float_filter", Field::Flag(&mut self.float_filter)),
            ("computed_coordinates", Field::Flag(&mut self.computed_coordinates)),
            ("points_a_draw", Field::Count(&mut self.points_a_draw)),
            ("rounds_a_draw", Field::Count(&mut self.rounds_a_draw)),
            ("loop_rounds", Field::Count(&mut self.loop_rounds)),
            ("max_vertex_outputs", Field::Count(&mut self.max_vertex_outputs)),
            ("max_block_vec4s", Field::Count(&mut self.max_block_vec4s)),
            ("vertex_blocks", Field::Count(&mut self.vertex_blocks)),
            ("exact_lines", Field::Flag(&mut self.exact_lines)),
            ("exact_derivatives", Field::Flag(&mut self.exact_derivatives)),
            ("exact_form", Field::Choice(&mut self.exact_form)),
            ("sample_queries", Field::Flag(&mut self.sample_queries)),
            ("program_binaries", Field::Flag(&mut self.program_binaries)),
        ]
    }
}

impl Choice for Option<ExactForm> {
    fn word(&self) -> &'static str {
        match self {
            None => "none",
            Some(ExactForm::BitCast) => "bit_cast",
            Some(ExactForm::Precise) => "precise",
        }
    }

    fn choose(&mut self, word: &str) -> std::result::Result<(), &'static str> {
        let forms = [None, Some(ExactForm::BitCast), Some(ExactForm::Precise)];
        let found = forms.into_iter().find(|form| form.word() == word);
        found.map(|form| *self = form).ok_or("none, bit_cast or precise")
    }
}

/// The heading `texla capabilities 1`, a line `name = value` for each field, and a sum over these lines, by which a damaged text is
/// noticed.
impl fmt::Display for Capabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.clone().text();
        writeln!(f, "{text}sum = {:016x}", hash([text.as_str()]))
    }
}

/// Reads what `Display` writes.
///
/// # Errors
/// [`Error::File`] with the line, what was found and what was expected: another heading or sum, a name that is unknown, doubled or
/// missing, a value of another kind.
impl FromStr for Capabilities {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        // Whatever the ends of lines are.
        let text = &text.replace("\r\n", "\n");
        let (lines, sum) = text.trim_end().rsplit_once("sum = ").unwrap_or((text.as_str(), ""));
        let read = Self::read(lines)?;
        if sum == format!("{:016x}", hash([lines])) {
            return Ok(read);
        }
        let detail = format!(
            "line {}: found `sum = {sum}`, expected the sum over the lines before it: \
            the text is damaged; probe the device again",
            lines.lines().count() + 1
        );
        Err(Error::File { path: Self::WHAT.into(), detail })
    }
}
