//! A bank account that a third thread audits.

use raddle::sync::Mutex;

use crate::Program;
use crate::program::together;

/// As it is in the suite, and with the sum put right.
pub static PROGRAMS: [Program; 2] = [
    Program::bug("account", "panic", || run(Account::audit_wrongly)),
    Program::correct("account_ok", || run(Account::audit)),
];

const AT_FIRST: i32 = 1;
const DEPOSIT: i32 = 2;
const WITHDRAWAL: i32 = 4;

struct Account {
    books: Mutex<Books>,
}

struct Books {
    balance: i32,
    deposited: bool,
    withdrawn: bool,
}

impl Account {
    fn deposit(&self) {
        let mut books = self.books.lock().unwrap();
        books.balance += DEPOSIT;
        books.deposited = true;
    }

    fn withdraw(&self) {
        let mut books = self.books.lock().unwrap();
        books.balance -= WITHDRAWAL;
        books.withdrawn = true;
    }

    fn audit(&self) {
        self.expect_in_the_end(AT_FIRST + DEPOSIT - WITHDRAWAL);
    }

    /// Takes the deposit for another withdrawal. Nobody notices unless the audit comes last.
    fn audit_wrongly(&self) {
        self.expect_in_the_end(AT_FIRST - DEPOSIT - WITHDRAWAL);
    }

    fn expect_in_the_end(&self, balance: i32) {
        let books = self.books.lock().unwrap();
        if books.deposited && books.withdrawn {
            assert_eq!(books.balance, balance, "the audit came last");
        }
    }
}

fn run(audit: fn(&Account)) {
    let books = Books { balance: AT_FIRST, deposited: false, withdrawn: false };
    together(&Account { books: Mutex::new(books) }, &[audit, Account::deposit, Account::withdraw]);
}
