//! A progress bar on a terminal; nothing at all when the output goes elsewhere.

use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr, stdout};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::outcome::say;

/// Shown while a job runs, on standard error. Dropped early, it takes its line with it, as indicatif's bars do.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar of `total` steps, hidden unless both standard output and standard error are terminals.
    pub fn new(label: &str, total: u64) -> Self {
        let visible = Self::is_shown();
        let target = if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(total), target).with_prefix(label.to_owned());
        let template = "{prefix} [{bar:36}] {pos}/{len} {elapsed} {msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { bar }
    }

    /// Whether bars are shown: standard output and standard error are terminals.
    pub fn is_shown() -> bool {
        stdout().is_terminal() && stderr().is_terminal()
    }

    /// `done` steps of the total are done.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// A word beside the bar, such as the residual.
    pub fn note(&self, message: impl Display) {
        if !self.bar.is_hidden() {
            self.bar.set_message(message.to_string());
        }
    }

    /// A line that stays, above the bar.
    pub fn line(&self, line: impl Display) {
        self.bar.suspend(|| say(line));
    }

    /// Leaves the bar on the screen as it stands, full: a solver often ends before its limit.
    pub fn finish(self) {
        self.bar.set_length(self.bar.position());
        self.bar.finish();
        if !self.bar.is_hidden() {
            // indicatif stays on its line; what is printed next starts a new one.
            let _ = writeln!(stderr());
        }
    }
}
