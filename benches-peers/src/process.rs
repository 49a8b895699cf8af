//! What the kernel says about this process: the CPU time it has used and the memory it holds.

use std::time::Duration;

/// CPU time used so far by all threads of this process. Unlike the time of day it does not run while
/// another process has the core, and the machines are shared.
pub fn cpu_time() -> Duration {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// CPU time used so far by this thread.
pub fn cpu_time_of_this_thread() -> Duration {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid, writable timespec for the length of the call.
    let status = unsafe { libc::clock_gettime(clock, &mut time) };
    assert_eq!(status, 0, "the kernel has a CPU clock for processes and threads");
    let seconds = u64::try_from(time.tv_sec).expect("CPU time is not negative");
    let nanoseconds = u32::try_from(time.tv_nsec).expect("nanoseconds are below a second");
    Duration::new(seconds, nanoseconds)
}

/// Resident memory in KiB.
pub fn resident_kib() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux keeps /proc/self/statm");
    let pages: u64 = statm
        .split_whitespace()
        .nth(1)
        .and_then(|field| field.parse().ok())
        .expect("the second field of statm is the resident pages");
    // SAFETY: sysconf takes no pointers.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let page_bytes = u64::try_from(page_bytes).expect("the page size is known");
    pages * page_bytes / 1024
}

/// The most memory that was ever resident, in KiB.
pub fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux keeps /proc/self/status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|peak| peak.split_whitespace().next()?.parse().ok())
        .expect("the kernel keeps the peak of resident memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_written_becomes_resident() {
        let before = resident_kib();
        let block = vec![1_u8; 64 << 20];
        let grown = resident_kib() - before;
        assert!(std::hint::black_box(&block).len() == 64 << 20);
        assert!(grown >= 60 << 10, "64 MiB were written, but only {grown} KiB became resident");
    }
}
