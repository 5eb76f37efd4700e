//! What work costs, on one core and on all.

use std::time::{Duration, Instant};

use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    sys::resource::{UsageWho, getrusage},
    unistd::Pid,
};

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
    let all = sched_getaffinity(Pid::from_raw(0)).unwrap();
    let last = (0..CpuSet::count()).rev().find(|core| all.is_set(*core).unwrap()).unwrap();
    let mut one = CpuSet::new();
    one.set(last).unwrap();
    // Programs run on the cores of the process that starts them.
    let on = |cores: &CpuSet| sched_setaffinity(Pid::from_raw(0), cores).unwrap();
    let mut costs = [const { (Vec::new(), Vec::new()) }; N];
    works.iter_mut().for_each(|work| work());
    for _ in 0..rounds {
        for (work, (cpu, time)) in works.iter_mut().zip(&mut costs) {
            on(&one);
            let before = used();
            work();
            cpu.push(used() - before);
            on(&all);
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

/// The CPU time of this process and of its children that have ended.
fn used() -> Duration {
    let used = |who| {
        let usage = getrusage(who).unwrap();
        let micros = |time: nix::sys::time::TimeVal| {
            1_000_000 * time.tv_sec().cast_unsigned() + time.tv_usec().cast_unsigned()
        };
        Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
    };
    used(UsageWho::RUSAGE_SELF) + used(UsageWho::RUSAGE_CHILDREN)
}
