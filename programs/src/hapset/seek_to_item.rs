//! A file with one position for all who read it: who seeks and then reads may find that somebody else has sought meanwhile.

use raddle::sync::Mutex;

use super::traffic::Traffic;
use crate::Program;
use crate::program::together;

/// As it was, and with one lock over seeking and reading.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("SeekToItem", "panic", || run(Folder::item_in_two)),
    Program::correct("SeekToItem_ok", || run(Folder::item)),
];

fn run(item: fn(&Folder, usize) -> u32) {
    let folder = Folder { traffic: Traffic::default(), file: Mutex::default(), item };
    together(&folder, &[Folder::show_first, Folder::show_last]);
}

const ITEMS: [u32; 3] = [10, 20, 30];

struct Folder {
    traffic: Traffic,
    file: Mutex<File>,
    item: fn(&Folder, usize) -> u32,
}

#[derive(Default)]
struct File {
    position: usize,
}

impl File {
    fn seek(&mut self, item: usize) {
        self.position = item;
    }

    fn read(&mut self) -> u32 {
        let item = ITEMS[self.position];
        self.position = (self.position + 1) % ITEMS.len();
        item
    }
}

impl Folder {
    fn item_in_two(&self, item: usize) -> u32 {
        self.file.lock().unwrap().seek(item);
        self.file.lock().unwrap().read()
    }

    fn item(&self, item: usize) -> u32 {
        let mut file = self.file.lock().unwrap();
        file.seek(item);
        file.read()
    }

    fn show(&self, item: usize) {
        assert_eq!((self.item)(self, item), ITEMS[item], "another item was read");
        self.traffic.tell("shown");
    }

    fn show_first(&self) {
        self.show(0);
    }

    fn show_last(&self) {
        self.traffic.tell("scroll");
        self.show(ITEMS.len() - 1);
    }
}
