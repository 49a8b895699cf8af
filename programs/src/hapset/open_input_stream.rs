//! Opening a stream: whoever opens it waits, with the lock of the channel in hand, for the transport to say that it is open. The
//! transport needs that lock to say so.

use raddle::sync::{Condvar, Mutex};

use super::traffic::Traffic;
use crate::Program;
use crate::program::together;

/// As it was, and with the lock given back before the waiting.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("OpenInputStream", "deadlock", || {
        together(&Stream::default(), &[Stream::connect, Stream::open_locked])
    }),
    Program::correct("OpenInputStream_ok", || together(&Stream::default(), &[Stream::connect, Stream::open])),
];

#[derive(Default)]
struct Stream {
    traffic: Traffic,
    channel: Mutex<Channel>,
    is_open: Mutex<bool>,
    opened: Condvar,
}

#[derive(Default)]
struct Channel {
    connected: bool,
    streams: u32,
}

impl Stream {
    /// What the transport does.
    fn connect(&self) {
        self.traffic.tell("connect");
        let mut channel = self.channel.lock().unwrap();
        channel.connected = true;
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_one();
    }

    fn await_transport(&self) {
        drop(self.opened.wait_while(self.is_open.lock().unwrap(), |is_open| !*is_open).unwrap());
    }

    fn open_locked(&self) {
        for what in ["resolve", "open"] {
            self.traffic.tell(what);
        }
        let mut channel = self.channel.lock().unwrap();
        channel.streams += 1;
        self.await_transport();
        assert!(channel.connected, "a stream is open on a channel that is not connected");
    }

    fn open(&self) {
        for what in ["resolve", "open"] {
            self.traffic.tell(what);
        }
        self.channel.lock().unwrap().streams += 1;
        self.await_transport();
        assert!(self.channel.lock().unwrap().connected, "a stream is open on a channel that is not connected");
    }
}
