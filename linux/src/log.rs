//! What axperf itself says, on the stderr that it was started with.

use std::fmt;
use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

use crate::descriptors;

/// Says things if asked to.
#[derive(Debug)]
pub(crate) struct Log(Option<File>);

impl Log {
    pub fn new(on: bool) -> Log {
        // The guest may close its stderr; ours stays.
        let file = on.then(|| {
            let own = std::io::stderr().as_fd().try_clone_to_owned()?;
            descriptors::lift(own).map(File::from)
        });
        Log(file.and_then(Result::ok))
    }

    /// Says a line.
    pub fn say(&self, what: fmt::Arguments<'_>) {
        if let Some(mut file) = self.0.as_ref() {
            // One write, so that lines of several threads don't mix. A closed terminal is no reason
            // to stop the program.
            drop(file.write_all(format!("axperf: {what}\n").as_bytes()));
        }
    }
}
