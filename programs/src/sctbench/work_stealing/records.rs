//! What threads write down of what they do, for whoever looks at a failed run.

use raddle::sync::Mutex;

/// The records of all threads, by number.
pub(super) trait Records: Default + Sync {
    /// A thread begins.
    fn enter(&self, thread: usize);

    /// It is about to do something.
    fn note(&self, thread: usize, what: &'static str);
}

/// Nothing is written down.
#[derive(Default)]
pub(super) struct NoRecords;

impl Records for NoRecords {
    fn enter(&self, _: usize) {}

    fn note(&self, _: usize, _: &'static str) {}
}

type Pages = Vec<Vec<&'static str>>;

fn note(pages: &Mutex<Pages>, thread: usize, what: &'static str) {
    let mut pages = pages.lock().unwrap();
    pages.get_mut(thread).expect("whoever has begun has a page").push(what);
}

/// Looks how many pages there are, and then sets how many there shall be: of two threads that begin at a time, the one with the
/// smaller number may tear out the page of the other.
#[derive(Default)]
pub(super) struct Careless(Mutex<Pages>);

impl Records for Careless {
    fn enter(&self, thread: usize) {
        let pages = self.0.lock().unwrap().len();
        if pages <= thread {
            self.0.lock().unwrap().resize(thread + 1, Vec::new());
        }
    }

    fn note(&self, thread: usize, what: &'static str) {
        note(&self.0, thread, what);
    }
}

/// Looks and sets at once.
#[derive(Default)]
pub(super) struct Careful(Mutex<Pages>);

impl Records for Careful {
    fn enter(&self, thread: usize) {
        let mut pages = self.0.lock().unwrap();
        if pages.len() <= thread {
            pages.resize(thread + 1, Vec::new());
        }
    }

    fn note(&self, thread: usize, what: &'static str) {
        note(&self.0, thread, what);
    }
}
