//! Counting the fragments that pass, without reading a pixel.

use glow::HasContext;

use super::api::Api;
use super::context::Gl;
use super::graveyard::Dead;
use crate::error::{Error, Result};

/// How many fragments of the draws between its beginning and its end passed the depth test. OpenGL ES 3.0 only says
/// whether any did; who waits for a result gets it where [`Capabilities::sample_queries`](super::Capabilities::sample_queries) says so.
pub(crate) struct SampleQuery {
    gl: Gl,
    raw: glow::Query,
}

/// What a query has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Samples {
    /// This many fragments.
    Counted(u64),
    /// At least one, or none.
    Any(bool),
}

impl Samples {
    pub fn any(self) -> bool {
        match self {
            Samples::Counted(n) => n > 0,
            Samples::Any(any) => any,
        }
    }
}

const fn target(api: Api) -> u32 {
    match api {
        Api::Gl33 => glow::SAMPLES_PASSED,
        Api::Es30 => glow::ANY_SAMPLES_PASSED,
    }
}

impl Gl {
    /// Runs `draws` and counts what passes. Needs an open scope. A query of the host's that is active stands in the
    /// way: the API has room for one.
    pub fn count_samples(&self, draws: impl FnOnce() -> Result<()>) -> Result<SampleQuery> {
        self.refuse_recording("a query");
        let target = target(self.api);
        // SAFETY: the context is current inside a scope.
        let query = unsafe {
            let raw = self.made("query", self.raw.create_query())?;
            self.ledger.change_live(|l| l.queries += 1);
            let query = SampleQuery { gl: self.clone(), raw };
            self.raw.begin_query(target, raw);
            query
        };
        match self.check("beginning a query") {
            Err(Error::Gl { code: glow::INVALID_OPERATION, .. }) => {
                return Err(Error::Unsupported {
                    what: "counting samples".into(),
                    why: "an occlusion query of the application's is active; end it before calling texla"
                        .into(),
                });
            }
            other => other?,
        }
        let drawn = draws();
        // SAFETY: as above; the query has begun.
        unsafe { self.raw.end_query(target) };
        drawn?;
        self.check("ending a query")?;
        Ok(query)
    }
}

impl SampleQuery {
    /// # Safety
    /// The context is current inside a scope, where no buffer takes the answer; the query has ended.
    unsafe fn ask(&self, parameter: u32) -> u32 {
        let gl = &self.gl;
        // SAFETY: the caller's.
        unsafe { gl.raw.ask(gl.api, gl.entry.get_query, self.raw, parameter) }
    }

    /// Whether the result is there. Needs an open scope.
    pub fn ready(&self) -> bool {
        // SAFETY: the context is current inside a scope; the query has ended.
        unsafe { self.ask(glow::QUERY_RESULT_AVAILABLE) != 0 }
    }

    /// The result; waits until it is there. Needs an open scope.
    pub fn wait(self) -> Result<Samples> {
        // SAFETY: as above.
        let found = unsafe { self.ask(glow::QUERY_RESULT) };
        self.gl.check("the result of a query")?;
        Ok(match self.gl.api {
            Api::Gl33 => Samples::Counted(u64::from(found)),
            Api::Es30 => Samples::Any(found != 0),
        })
    }
}

impl Drop for SampleQuery {
    fn drop(&mut self) {
        self.gl.discard(Dead::Query(self.raw));
    }
}
