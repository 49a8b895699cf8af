//! Mozilla's file transport and the service that drives it: each has a lock, and each calls the other with its own lock held.

use raddle::sync::Mutex;

use super::traffic::Traffic;
use crate::Program;
use crate::program::together;

/// As it was, and with a transport that lets go of its lock before it calls the service.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("FileTransport", "deadlock", || run(Transfer::cancel_inside)),
    Program::correct("FileTransport_ok", || run(Transfer::cancel)),
];

fn run(cancel: fn(&Transfer)) {
    together(&Transfer::default(), &[Transfer::dispatch, cancel]);
}

#[derive(Default)]
struct Transfer {
    traffic: Traffic,
    transport: Mutex<Transport>,
    service: Mutex<Service>,
}

#[derive(Default)]
struct Transport {
    cancelled: bool,
    processed: u32,
}

#[derive(Default)]
struct Service {
    cancelled: u32,
}

impl Transfer {
    /// The service lets the transport read twice.
    fn dispatch(&self) {
        for _ in 0..2 {
            let service = self.service.lock().unwrap();
            let mut transport = self.transport.lock().unwrap();
            if !transport.cancelled {
                transport.processed += 1;
            }
            drop(transport);
            drop(service);
            self.traffic.tell("processed");
        }
    }

    fn cancel_inside(&self) {
        self.traffic.tell("cancel");
        let mut transport = self.transport.lock().unwrap();
        transport.cancelled = true;
        self.forget();
        drop(transport);
    }

    fn cancel(&self) {
        self.traffic.tell("cancel");
        self.transport.lock().unwrap().cancelled = true;
        self.forget();
    }

    /// The service has one transport less.
    fn forget(&self) {
        self.service.lock().unwrap().cancelled += 1;
    }
}
