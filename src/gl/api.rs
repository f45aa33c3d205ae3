//! The two dialects that texla speaks.

use std::fmt;
use std::str::FromStr;

/// Which API the context offers. Shaders are written once, in the common subset, and compiled for either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// Desktop OpenGL, 3.3 core profile or later.
    Gl33,
    /// OpenGL ES 3.0 or later.
    Es30,
}

impl Api {
    /// Both dialects, for tests that run on each.
    pub const ALL: [Api; 2] = [Api::Gl33, Api::Es30];

    /// The text in front of every shader. `sampler2D` has no highp default in ES, where a driver may then hand out
    /// 16-bit floats without a word: the precision statements are not decoration.
    pub(crate) const fn header(self) -> &'static str {
        match self {
            Api::Gl33 => "#version 330 core\n#define TEXLA_GL33 1\n",
            Api::Es30 => {
                "#version 300 es\n#define TEXLA_ES30 1\nprecision highp float;\nprecision highp int;\n\
                 precision highp sampler2D;\nprecision highp usampler2D;\n"
            }
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Api::Gl33 => "gl33",
            Api::Es30 => "es30",
        })
    }
}

impl FromStr for Api {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "gl33" => Ok(Api::Gl33),
            "es30" => Ok(Api::Es30),
            _ => Err(format!("unknown API `{s}`, expected gl33 or es30")),
        }
    }
}
