//! What work costs, on one core and on all.

use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
use self::linux::{Cores, used};
#[cfg(not(target_os = "linux"))]
use self::other::{Cores, used};

/// The median cost of a piece of work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// The CPU time on one core: of this process, and of the programs that it ran.
    pub(crate) cpu: Duration,
    /// The time from beginning to end on all cores.
    pub(crate) time: Duration,
}

/// A piece of work.
pub(crate) type Work<'a> = &'a mut dyn FnMut();

/// The costs of several pieces of work, which are done in turns, so that a ratio is valid on a machine whose speed
/// drifts.
pub(crate) fn in_turns<const N: usize>(rounds: usize, mut works: [Work<'_>; N]) -> [Cost; N] {
    // Programs run on the cores of the process that starts them.
    let (one, all) = (Cores::one(), Cores::all());
    let mut costs = [const { (Vec::new(), Vec::new()) }; N];
    works.iter_mut().for_each(|work| work());
    for _ in 0..rounds {
        for (work, (cpu, time)) in works.iter_mut().zip(&mut costs) {
            one.take();
            let before = used();
            work();
            cpu.push(used() - before);
            all.take();
            let start = Instant::now();
            work();
            time.push(start.elapsed());
        }
    }
    costs.map(|(cpu, time)| Cost { cpu: median(cpu), time: median(time) })
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[cfg(target_os = "linux")]
mod linux {
    use std::time::Duration;

    use nix::{
        sched::{CpuSet, sched_getaffinity, sched_setaffinity},
        sys::{
            resource::{UsageWho, getrusage},
            time::TimeVal,
        },
        unistd::Pid,
    };

    /// Cores that this process may use.
    pub(super) struct Cores(CpuSet);

    impl Cores {
        pub(super) fn all() -> Self {
            Self(sched_getaffinity(Pid::from_raw(0)).unwrap())
        }

        /// The last of all.
        pub(super) fn one() -> Self {
            let Self(all) = Self::all();
            let last = (0..CpuSet::count()).rev().find(|core| all.is_set(*core).unwrap()).unwrap();
            let mut one = CpuSet::new();
            one.set(last).unwrap();
            Self(one)
        }

        pub(super) fn take(&self) {
            sched_setaffinity(Pid::from_raw(0), &self.0).unwrap();
        }
    }

    /// The CPU time of this process and of its children that have ended.
    pub(super) fn used() -> Duration {
        let micros = |time: TimeVal| {
            1_000_000 * time.tv_sec().cast_unsigned() + time.tv_usec().cast_unsigned()
        };
        let used = |who| {
            let usage = getrusage(who).unwrap();
            Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
        };
        used(UsageWho::RUSAGE_SELF) + used(UsageWho::RUSAGE_CHILDREN)
    }
}

/// Elsewhere, the first column is time on all cores, too.
#[cfg(not(target_os = "linux"))]
mod other {
    use std::{
        sync::LazyLock,
        time::{Duration, Instant},
    };

    pub(super) struct Cores;

    impl Cores {
        pub(super) fn all() -> Self {
            Self
        }

        pub(super) fn one() -> Self {
            Self
        }

        pub(super) fn take(&self) {}
    }

    pub(super) fn used() -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }
}
