//! A connection that is asked for before it is told whom to tell. The thread of the sockets may have connected by then.

use raddle::sync::{Condvar, Mutex};

use super::traffic::Traffic;
use crate::Program;
use crate::program::together;

/// As it was, and with the listener there before anything is asked for.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("HttpConnect", "panic", || {
        together(&Connection::default(), &[Connection::ask_then_listen, Connection::serve]);
    }),
    Program::correct("HttpConnect_ok", || {
        together(&Connection::default(), &[Connection::listen_then_ask, Connection::serve]);
    }),
];

#[derive(Default)]
struct Connection {
    traffic: Traffic,
    asked_for: Mutex<bool>,
    asked: Condvar,
    listener: Mutex<Option<Listener>>,
}

#[derive(Default)]
struct Listener {
    connected: bool,
}

impl Connection {
    fn ask(&self) {
        *self.asked_for.lock().unwrap() = true;
        self.asked.notify_one();
    }

    fn listen(&self) {
        *self.listener.lock().unwrap() = Some(Listener::default());
    }

    fn ask_then_listen(&self) {
        self.traffic.tell("connect");
        self.ask();
        self.listen();
        self.traffic.tell("listening");
    }

    fn listen_then_ask(&self) {
        self.traffic.tell("connect");
        self.listen();
        self.ask();
        self.traffic.tell("asked");
    }

    /// The thread of the sockets.
    fn serve(&self) {
        drop(self.asked.wait_while(self.asked_for.lock().unwrap(), |asked| !*asked).unwrap());
        self.traffic.tell("connected");
        self.listener.lock().unwrap().as_mut().expect("whoever connects is told so").connected = true;
    }
}
