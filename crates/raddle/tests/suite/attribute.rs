//! `#[raddle::test]`.

use raddle::sync::{Arc, Mutex};
use raddle::thread;

#[raddle::test]
fn a_plain_function_is_a_test() {
    let m = Arc::new(Mutex::new(0));
    let other = m.clone();
    let t = thread::spawn(move || *other.lock().unwrap() += 1);
    *m.lock().unwrap() += 1;
    t.join().unwrap();
    assert_eq!(*m.lock().unwrap(), 2);
}

#[raddle::test(
    strategy = "pct:2",
    executions = 1_000,
    time = "30s",
    seed = 7,
    workers = 2,
    steps = 100,
    stack_size = 65_536,
    spurious_wakeups = 0,
    isolate_panics = true,
    keep_going = false,
    regressions = false
)]
fn everything_can_be_set() {
    assert!(thread::spawn(|| panic!("left to whoever joins")).join().is_err());
}

#[raddle::test(strategy = "dpor", deviations = 2, resume = false)]
fn a_systematic_search_can_be_bounded() {
    let t = thread::spawn(thread::yield_now);
    t.join().unwrap();
}

#[raddle::test]
#[should_panic(expected = "left: 1")]
fn a_failing_test_panics_with_what_the_program_said() {
    let m = Arc::new(Mutex::new(0));
    let other = m.clone();
    let t = thread::spawn(move || {
        let seen = *other.lock().unwrap();
        *other.lock().unwrap() = seen + 1;
    });
    let seen = *m.lock().unwrap();
    *m.lock().unwrap() = seen + 1;
    t.join().unwrap();
    assert_eq!(*m.lock().unwrap(), 2);
}

#[raddle::test]
fn results_may_be_returned() -> Result<(), std::num::ParseIntError> {
    assert_eq!("12".parse::<u32>()?, 12);
    Ok(())
}

#[raddle::test]
#[should_panic(expected = "the test returned an error: ParseIntError { kind: InvalidDigit }")]
fn an_error_is_a_failure() -> Result<(), std::num::ParseIntError> {
    "twelve".parse::<u32>()?;
    Ok(())
}

#[raddle::test(workers = 0)]
#[should_panic(expected = "workers is `0`, which is not a number of workers between 1 and 1024")]
fn a_wrong_value_is_an_error() {}

#[raddle::test]
#[ignore = "other attributes keep their meaning"]
fn ignored() {
    panic!("this was to be ignored");
}
