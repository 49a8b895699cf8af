//! The string buffer of JDK 1.4: appending another buffer asks it for its length and then for so many characters, and somebody may
//! shorten it in between.

use raddle::sync::Mutex;
use raddle::thread;

use crate::Program;

/// As it was, and with the other buffer asked once.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("stringbuffer-jdk1.4", "panic", || run(StringBuffer::append_buffer)),
    Program::correct("stringbuffer-jdk1.4_ok", || run(StringBuffer::append_contents)),
];

#[derive(Default)]
struct StringBuffer {
    value: Mutex<Vec<char>>,
}

impl StringBuffer {
    fn length(&self) -> usize {
        self.value.lock().unwrap().len()
    }

    /// The first `end` characters, all of which must be there.
    fn chars(&self, end: usize) -> Vec<char> {
        let value = self.value.lock().unwrap();
        value.get(..end).expect("no string is shorter than it says").to_vec()
    }

    fn append(&self, text: &str) {
        self.value.lock().unwrap().extend(text.chars());
    }

    fn append_buffer(&self, other: &StringBuffer) {
        let mut value = self.value.lock().unwrap();
        let length = other.length();
        value.extend(other.chars(length));
    }

    fn append_contents(&self, other: &StringBuffer) {
        let mut value = self.value.lock().unwrap();
        value.extend(other.value.lock().unwrap().iter());
    }

    fn erase(&self, start: usize, end: usize) {
        let mut value = self.value.lock().unwrap();
        let end = end.min(value.len());
        value.drain(start..end);
    }
}

fn run(append: fn(&StringBuffer, &StringBuffer)) {
    let shared = StringBuffer::default();
    shared.append("abc");
    thread::scope(|scope| {
        scope.spawn(|| {
            shared.erase(0, 3);
            shared.append("abc");
        });
        append(&StringBuffer::default(), &shared);
    });
}
