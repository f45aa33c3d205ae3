//! What the native examples' scenes and renderers find under this name there.

pub mod outcome {
    use std::fmt::{self, Display};

    /// Result of a page's work.
    pub type Result<T = (), E = Failure> = std::result::Result<T, E>;

    /// Why it ends early.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Failure {
        /// The library's error.
        Texla(texla::Error),
        /// What else can go wrong, in words.
        Other(String),
    }

    impl Failure {
        pub fn unsolved(message: impl Display) -> Self {
            Self::Other(message.to_string())
        }

        pub fn bad_input(message: impl Display) -> Self {
            Self::Other(message.to_string())
        }

        pub fn no_gl(message: impl Display) -> Self {
            Self::Other(message.to_string())
        }

        /// A word that a page can tell it by.
        pub fn kind(&self) -> &'static str {
            match self {
                Self::Texla(texla::Error::ContextLost) => "ContextLost",
                Self::Texla(texla::Error::NoContext(_)) => "NoContext",
                Self::Texla(texla::Error::Unsupported { .. }) => "Unsupported",
                Self::Texla(_) => "Texla",
                Self::Other(_) => "Other",
            }
        }
    }

    impl From<texla::Error> for Failure {
        fn from(error: texla::Error) -> Self {
            Self::Texla(error)
        }
    }

    impl Display for Failure {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Self::Texla(error) => write!(f, "{error}"),
                Self::Other(text) => f.write_str(text),
            }
        }
    }
}

/// The text of a scene's shader, as `build.rs` has left it.
#[cfg(feature = "scenes")]
macro_rules! shader {
    ($file:literal) => {
        include_str!(concat!(env!("OUT_DIR"), "/", $file))
    };
}
#[cfg(feature = "scenes")]
pub(crate) use shader;

#[cfg(feature = "scenes")]
#[path = "../../support/angles.rs"]
pub mod angles;
#[path = "../../support/picture.rs"]
pub mod picture;
#[path = "../../support/program.rs"]
pub mod program;
#[cfg(feature = "work")]
#[path = "../../support/residual.rs"]
pub mod residual;
#[path = "../../support/worst.rs"]
pub mod worst;

pub use outcome::{Failure, Result};
pub use picture::{Picture, field, plain_fragments};
pub use program::program;
#[cfg(feature = "work")]
pub use residual::{believable, residual};
pub use worst::worst;
