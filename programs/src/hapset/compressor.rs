//! A compressor that works on the blocks of a file at the same time, after pbzip2: the main thread fills a queue, compressing threads
//! empty it, and a thread writes what they made in the order of the blocks.
//!
//! Two bugs. The main thread waits for the writer only and then deletes the queue, which those who compress may want to look into once
//! more. And once that is mended: what was compressed is handed to the writer in two parts, and the writer looks at one of them only to
//! see whether they are there.

mod blocks;
mod output;

use raddle::sync::{Arc, Mutex};
use raddle::thread;

use self::blocks::{Fifo, compress, decompress};
use self::output::OutputBlock;
use crate::Program;

/// With two threads that compress.
pub static PROGRAMS: [Program; 3] = [
    Program::bug("pbzip2", "panic", || run(2, ORDER)).sized(1, 4, |threads| run(threads, ORDER)),
    Program::bug("pbzip2_f", "panic", || run(2, RACE)).sized(1, 4, |threads| run(threads, RACE)),
    Program::correct("pbzip2_ok", || run(2, MENDED)).sized(1, 4, |threads| run(threads, MENDED)),
];

/// How the parts of a run go together.
#[derive(Clone, Copy)]
struct Rules {
    /// The queue is deleted after those who compress have ended, and not as soon as all is written.
    wait_for_all: bool,
    /// How a block is handed to the writer.
    put: fn(&OutputBlock, Vec<u8>),
}

const ORDER: Rules = Rules { wait_for_all: false, put: OutputBlock::put };
const RACE: Rules = Rules { wait_for_all: true, put: OutputBlock::put_size_last };
const MENDED: Rules = Rules { wait_for_all: true, put: OutputBlock::put };

const INPUT: [&[u8]; 3] = [b"aaab", b"bb", b"baaa"];

fn run(threads: u32, rules: Rules) {
    let job = Job { queue: Mutex::new(Some(Arc::default())), output: Default::default() };
    let written = thread::scope(|scope| {
        let compressing: Vec<_> = (0..threads).map(|_| scope.spawn(|| job.compress(rules.put))).collect();
        let writing = scope.spawn(|| job.write());
        job.read();
        let written = writing.join().expect("the writer does not panic");
        if rules.wait_for_all {
            for thread in compressing {
                thread.join().expect("those who compress do not panic as long as there is a queue");
            }
        }
        job.delete_queue();
        written
    });
    assert_eq!(decompress(&written), INPUT.concat(), "the file is damaged");
}

struct Job {
    queue: Mutex<Option<Arc<Fifo>>>,
    output: [OutputBlock; INPUT.len()],
}

impl Job {
    fn queue(&self) -> Arc<Fifo> {
        self.queue.lock().unwrap().clone().expect("the queue was deleted while somebody needs it")
    }

    fn delete_queue(&self) {
        *self.queue.lock().unwrap() = None;
    }

    /// Puts all blocks into the queue.
    fn read(&self) {
        let queue = self.queue();
        for block in 0..INPUT.len() {
            queue.push(block);
        }
        queue.close();
    }

    fn compress(&self, put: fn(&OutputBlock, Vec<u8>)) {
        while let Some(block) = self.queue().next() {
            put(&self.output[block], compress(INPUT[block]));
        }
    }

    fn write(&self) -> Vec<u8> {
        self.output.iter().flat_map(OutputBlock::take).collect()
    }
}
