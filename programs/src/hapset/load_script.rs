//! Mozilla's loading of scripts: which script is the current one is noted when its loading begins, and looked up when it is there.
//! Another may have begun in between.

use raddle::sync::Mutex;

use super::traffic::Traffic;
use crate::Program;
use crate::program::together;

/// As it was, and with the script handed on instead of noted.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("LoadScript", "panic", || run(Loader::load_current)),
    Program::correct("LoadScript_ok", || run(Loader::load)),
];

fn run(load: fn(&Loader, u32)) {
    let loader = Loader { traffic: Traffic::default(), current: Mutex::new(None), compiled: Mutex::default(), load };
    together(&loader, &[Loader::open_page, Loader::click]);
    let mut compiled = loader.compiled.lock().unwrap().clone();
    compiled.sort_unstable();
    assert_eq!(compiled, [1, 2], "the wrong script was compiled");
}

struct Loader {
    traffic: Traffic,
    current: Mutex<Option<u32>>,
    compiled: Mutex<Vec<u32>>,
    load: fn(&Loader, u32),
}

impl Loader {
    fn open_page(&self) {
        (self.load)(self, 1);
        self.traffic.tell("opened");
    }

    /// Some time after the page was opened.
    fn click(&self) {
        for _ in 0..3 {
            self.traffic.tell("move");
        }
        (self.load)(self, 2);
    }

    fn load_current(&self, script: u32) {
        *self.current.lock().unwrap() = Some(script);
        self.traffic.tell("load");
        self.on_load_complete();
    }

    fn on_load_complete(&self) {
        let current = self.current.lock().unwrap().expect("a script that is there was to be loaded");
        self.compiled.lock().unwrap().push(current);
    }

    fn load(&self, script: u32) {
        self.traffic.tell("load");
        self.compiled.lock().unwrap().push(script);
    }
}
