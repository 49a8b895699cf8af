//! Small programs, most of them wrong, each in its own way.

use raddle::sync::atomic::{AtomicUsize, Ordering};
use raddle::sync::{Arc, Mutex};
use raddle::thread;

/// Two threads count to two, unless both look before either writes.
pub fn lost_update() {
    let counter = Arc::new(AtomicUsize::new(0));
    let count = |counter: Arc<AtomicUsize>| {
        thread::spawn(move || {
            let seen = counter.load(Ordering::SeqCst);
            counter.store(seen + 1, Ordering::SeqCst);
        })
    };
    let threads = [count(counter.clone()), count(counter.clone())];
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(counter.load(Ordering::SeqCst), 2, "an update was lost");
}

/// Three threads, each of which takes one lock and then the next one's.
pub fn three_locks() {
    let red = Arc::new(Mutex::new(()));
    let green = Arc::new(Mutex::new(()));
    let blue = Arc::new(Mutex::new(()));
    let take = |name: &str, first: &Arc<Mutex<()>>, second: &Arc<Mutex<()>>| {
        let (first, second) = (first.clone(), second.clone());
        let builder = thread::Builder::new().name(name.to_owned());
        let body = move || {
            let _first = first.lock().unwrap();
            let _second = second.lock().unwrap();
        };
        builder.spawn(body).unwrap()
    };
    let threads = [take("painter", &red, &green), take("printer", &green, &blue), take("weaver", &blue, &red)];
    for thread in threads {
        thread.join().unwrap();
    }
}
