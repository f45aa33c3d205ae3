//! What the driver says of a text, without a test.

use glow::HasContext;
use texla::Headless;
use texla::gl::Api;

use crate::common::harness::headless;
use crate::texts::Text;

/// A context of each dialect.
pub struct Compiler {
    contexts: Vec<(Api, Headless)>,
}

impl Compiler {
    pub fn new() -> Self {
        Compiler { contexts: Api::ALL.into_iter().map(|api| (api, headless(api))).collect() }
    }

    /// Whether the driver is one of Mesa's.
    pub fn mesa(&self) -> bool {
        self.contexts.iter().all(|(_, context)| context.device().capabilities().version.contains("Mesa"))
    }

    /// Whether the text compiles with another line in this place.
    #[allow(unsafe_code)]
    pub fn accepts(&self, text: &Text, place: usize, line: &str) -> bool {
        let api = if text.lines[0].contains("es") { Api::Es30 } else { Api::Gl33 };
        let (_, context) = self.contexts.iter().find(|(a, _)| *a == api).unwrap();
        let stage = if text.name.starts_with("VS") { glow::VERTEX_SHADER } else { glow::FRAGMENT_SHADER };
        // Makes the context current.
        let _scope = context.device().scope().unwrap();
        let gl = context.glow();
        // SAFETY: the scope has made the context current; the shader is deleted in it.
        unsafe {
            let shader = gl.create_shader(stage).unwrap();
            gl.shader_source(shader, &text.with(place, line));
            gl.compile_shader(shader);
            let accepted = gl.get_shader_compile_status(shader);
            gl.delete_shader(shader);
            accepted
        }
    }

    /// Whether a line is compiled at all: it may stand in a branch that the text's defines leave out, or be a macro
    /// that nothing uses.
    pub fn reaches(&self, text: &Text, place: usize) -> bool {
        let define = text.lines[place].trim_start().strip_prefix("#define ");
        let garbage = match define {
            Some(rest) => {
                let end = rest.find([' ', '(']).unwrap_or(rest.len());
                let end = if rest[end..].starts_with('(') { rest.find(')').unwrap() + 1 } else { end };
                format!("#define {} @", &rest[..end])
            }
            None => "@".to_owned(),
        };
        !self.accepts(text, place, &garbage)
    }
}
