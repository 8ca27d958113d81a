//! What axperf itself says, on the stderr that it was started with.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

use crate::descriptors;

/// Says things if asked to.
#[derive(Debug)]
pub(crate) struct Log {
    file: Option<File>,
    verbose: bool,
}

impl Log {
    pub fn new(verbose: bool) -> Log {
        // The guest may close its stderr; ours stays.
        let own = std::io::stderr().as_fd().try_clone_to_owned();
        let file = own.and_then(descriptors::lift).map(File::from).ok();
        Log { file, verbose }
    }

    /// Says a line that was asked for with `verbose`.
    pub fn say(&self, what: fmt::Arguments<'_>) {
        if self.verbose {
            self.tell(what);
        }
    }

    /// Says a line.
    pub fn tell(&self, what: fmt::Arguments<'_>) {
        if let Some(mut file) = self.file.as_ref() {
            // One write, so that lines of several threads don't mix. A closed terminal is no reason
            // to stop the program.
            drop(file.write_all(format!("axperf: {what}\n").as_bytes()));
        }
    }
}
