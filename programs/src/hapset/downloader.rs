//! A downloader that fetches the segments of a file at the same time, after aget.
//!
//! Every thread adds what it has written to a count that a further thread shows as progress. The count is read and written back in
//! two steps, so that what others have added in between is lost.

use std::ops::Range;

use raddle::sync::Mutex;
use raddle::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use raddle::thread;

use crate::Program;

/// With two threads that download; the paper has up to ten.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("aget", "panic", || run(2, Download::count_in_two_steps)).sized(2, 10, |threads| {
        run(threads, Download::count_in_two_steps);
    }),
    Program::correct("aget_ok", || run(2, Download::count)).sized(2, 10, |threads| run(threads, Download::count)),
];

/// Bytes that come in one piece.
const CHUNK: usize = 4;
const CHUNKS_EACH: usize = 2;
/// How often the progress is shown.
const REFRESHES: usize = 2;

fn run(threads: u32, count: fn(&Download, usize)) {
    let segment = CHUNK * CHUNKS_EACH;
    let download = Download::of((0u8..).take(threads as usize * segment).collect());
    thread::scope(|scope| {
        let download = &download;
        for start in (0..download.remote.len()).step_by(segment) {
            scope.spawn(move || download.fetch(start..start + segment, count));
        }
        scope.spawn(|| download.show_progress());
    });
    download.check();
}

struct Download {
    /// What the server has.
    remote: Vec<u8>,
    file: Mutex<Vec<u8>>,
    /// How much of it was written.
    written: AtomicUsize,
}

impl Download {
    fn of(remote: Vec<u8>) -> Self {
        let file = Mutex::new(vec![0; remote.len()]);
        Self { remote, file, written: AtomicUsize::new(0) }
    }

    fn fetch(&self, segment: Range<usize>, count: fn(&Self, usize)) {
        for start in segment.step_by(CHUNK) {
            let received = &self.remote[start..start + CHUNK];
            self.file.lock().unwrap()[start..start + CHUNK].copy_from_slice(received);
            count(self, received.len());
        }
    }

    fn count(&self, bytes: usize) {
        self.written.fetch_add(bytes, SeqCst);
    }

    fn count_in_two_steps(&self, bytes: usize) {
        let written = self.written.load(SeqCst);
        self.written.store(written + bytes, SeqCst);
    }

    fn show_progress(&self) {
        let mut shown = 0;
        for _ in 0..REFRESHES {
            let written = self.written.load(SeqCst);
            assert!(written >= shown, "the progress went back from {shown} to {written}");
            shown = written;
        }
    }

    fn check(&self) {
        assert_eq!(*self.file.lock().unwrap(), self.remote, "the file is not what the server has");
        assert_eq!(self.written.load(SeqCst), self.remote.len(), "not all that was written was counted");
    }
}
