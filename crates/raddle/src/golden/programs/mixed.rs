//! Litmus programs that mix cells, locks and channels. The reductions run different numbers of executions on each of them, and
//! most of them prune.

/// Names and texts.
pub(super) const ALL: [(&str, &str); 6] = [
    (
        "mixed-arrival",
        "
        shared x0 = 0;
        shared a[3] = 0;
        channel c0: arrival;
        thread t0 {
          store(a[1], 0);
          v0 = recv(c0);
          v0 = recv(c0);
        }
        thread t1(i in 0..=1) {
          if !load(x0) {
            send(c0, i + 0);
          }
          add(a[(0 % 3 + 3) % 3], i);
        }
        thread t2 {
          v1 = recv(c0);
          if !load(a[(v1 % 3 + 3) % 3]) {
            send(c0, 2);
          }
        }
        ",
    ),
    (
        "mixed-cells",
        "
        shared x0 = 1;
        shared x1 = 1;
        shared x2 = 1;
        shared a[3] = 0;
        mutex m0;
        mutex m1;
        channel c0: per-sender;
        thread t0 {
          store(x0, 1);
          v1 = load(a[0]);
        }
        thread t1(i in 0..=1) {
          v1 = load(x0);
          if add(a[(i % 3 + 3) % 3], 2) > 1 {
          }
        }
        thread t2 {
          store(a[0], 1);
          if !add(a[1], 1) {
          }
        }
        ",
    ),
    (
        "mixed-trylock-arrival",
        "
        shared x0 = 0;
        shared x1 = 0;
        shared a[3] = 0;
        mutex m0;
        channel c0: arrival;
        thread t0 {
          send(c0, 2);
          v0 = recv(c0);
          send(c0, -v0);
        }
        thread t1 {
          if trylock(m0) {
            add(a[0], 0);
          }
        }
        thread t2 {
          v1 = recv(c0);
          send(c0, -v1);
          if load(x0) > 0 {
          }
        }
        thread t3 {
          send(c0, 2);
          if trylock(m0) {
            unlock(m0);
          }
        }
        ",
    ),
    (
        "mixed-trylock",
        "
        shared x0 = 0;
        shared x1 = 0;
        shared a[3] = 0;
        mutex m0;
        thread t0 {
          if trylock(m0) {
            unlock(m0);
          }
        }
        thread t1 {
          store(x1, 1);
          if trylock(m0) {
            unlock(m0);
          }
        }
        thread t2 {
          store(a[2], 0);
          store(a[0], 2);
          store(a[1], 0);
        }
        thread t3 {
          add(x1, 1);
          store(x1, 0);
          store(a[0], 1);
        }
        ",
    ),
    (
        "mixed-locks",
        "
        shared x0 = 1;
        shared a[3] = 0;
        mutex m0;
        mutex m1;
        channel c0: per-sender;
        thread t0 {
          lock(m1);
          store(x0, 2);
          unlock(m1);
        }
        thread t1 {
          if trylock(m0) {
            store(x0, 0);
            unlock(m0);
          }
        }
        thread t2 {
          lock(m1);
          add(a[1], 1);
          unlock(m1);
        }
        thread t3 {
          if !load(a[1]) {
            if trylock(m0) {
              unlock(m0);
            }
          }
        }
        ",
    ),
    (
        "mixed-unordered",
        "
        shared x0 = 1;
        shared x1 = 0;
        channel c0: unordered;
        thread t0 {
          send(c0, 0);
          v0 = recv(c0);
          v0 = recv(c0);
        }
        thread t1 {
          send(c0, 1);
          if load(x1) {
            send(c0, 1);
          }
        }
        thread t2 {
          v0 = recv(c0);
          send(c0, -v0);
          send(c0, v0 + 2);
          store(x1, v0);
        }
        ",
    ),
];
