//! A small bank with a bug: a transfer looks at an account, lets go of it, and writes back what it saw.
//!
//! `cargo run -p programs --example bank` searches the orders of two transfers and shows one in which money is lost.

#![expect(clippy::print_stdout, reason = "an example speaks to whoever runs it")]

use raddle::sync::{Arc, Mutex};
use raddle::{Explorer, thread};

struct Bank {
    alice: Mutex<u32>,
    bob: Mutex<u32>,
}

impl Bank {
    fn new() -> Self {
        Self { alice: Mutex::new(100), bob: Mutex::new(100) }
    }

    /// Moves money from Alice to Bob. Each lock is held too briefly: between reading and writing a balance, anybody may
    /// change it.
    fn transfer(&self, amount: u32) {
        let alice = *self.alice.lock().unwrap();
        *self.alice.lock().unwrap() = alice - amount;
        let bob = *self.bob.lock().unwrap();
        *self.bob.lock().unwrap() = bob + amount;
    }

    fn total(&self) -> u32 {
        *self.alice.lock().unwrap() + *self.bob.lock().unwrap()
    }
}

fn two_transfers() {
    let bank = Arc::new(Bank::new());
    let transfers = [10, 20].map(|amount| {
        let bank = bank.clone();
        thread::spawn(move || bank.transfer(amount))
    });
    for transfer in transfers {
        transfer.join().unwrap();
    }
    assert_eq!(bank.total(), 200, "money was lost or made");
}

fn main() {
    let report = Explorer::new().run(two_transfers);
    println!("{}\n", report.for_terminal(&std::io::stdout()));
    if report.failed() {
        println!(
            "This is what Raddle is for: the table above is an order of steps in which the bank's books are wrong."
        );
        println!("With RADDLE_REPLAY set to it, that order is run again and no other: under a debugger, for one.");
    }
}
