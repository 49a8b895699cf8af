//! The programs of the paper on learned ordering constraints (Wang, Said, Gupta 2011): a library and three tools with the structure of its subjects,
//! and the eleven bugs extracted from Mozilla and MySQL. Each with its bug, and with the bug mended.
//!
//! Of the subjects the paper gives names, sizes and the kinds of their bugs ([`KINDS`]); what the programs do is told from what is
//! known of the originals. The extracted ones are a few lines each. As in the paper they have some traffic around them, accesses and
//! locks that have nothing to do with the bug, so that they are not trivial.
//!
//! Where C has a data race, memory that two threads use and nothing orders, these have an atomic that is read and written in two
//! steps: it shows as a wrong result, not as a race.

pub mod compressor;
pub mod create_thread;
pub mod downloader;
pub mod file_scanner;
pub mod file_transport;
pub mod http_connect;
pub mod load_script;
pub mod mysql_log;
pub mod node_state;
pub mod open_input_stream;
pub mod read_write_proc;
pub mod seek_to_item;
pub mod thread_manager;
pub mod timer_thread;
mod traffic;
pub mod update_timer;

use crate::Program;

/// All programs, in the order of the paper.
pub static ALL: [&[Program]; 15] = [
    &thread_manager::PROGRAMS,
    &downloader::PROGRAMS,
    &compressor::PROGRAMS,
    &file_scanner::PROGRAMS,
    &mysql_log::PROGRAMS,
    &node_state::PROGRAMS,
    &load_script::PROGRAMS,
    &seek_to_item::PROGRAMS,
    &update_timer::PROGRAMS,
    &file_transport::PROGRAMS,
    &create_thread::PROGRAMS,
    &read_write_proc::PROGRAMS,
    &open_input_stream::PROGRAMS,
    &http_connect::PROGRAMS,
    &timer_thread::PROGRAMS,
];

/// The programs with nothing wrong.
pub fn correct() -> impl Iterator<Item = Program> {
    ALL.into_iter().flatten().copied().filter(|program| program.failure.is_none())
}

/// The programs as the paper has them, each with its bug.
pub fn bugs() -> impl Iterator<Item = Program> {
    ALL.into_iter().flatten().copied().filter(|program| program.failure.is_some())
}

/// What the paper calls the bug of the program with this label.
pub static KINDS: [(&str, &str); 16] = [
    ("thrift", "deadlock"),
    ("aget", "race"),
    ("pbzip2", "order"),
    ("pbzip2_f", "race"),
    ("pfscan", "deadlock"),
    ("MysqlLog", "atomicity"),
    ("NodeState", "order"),
    ("LoadScript", "atomicity"),
    ("SeekToItem", "atomicity"),
    ("UpdateTimer", "atomicity"),
    ("FileTransport", "deadlock"),
    ("CreateThread", "order"),
    ("ReadWriteProc", "order"),
    ("OpenInputStream", "deadlock"),
    ("HttpConnect", "order"),
    ("TimerThread", "deadlock"),
];
