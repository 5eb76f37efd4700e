//! The size of the state depends on open items, not on the length of the log.

use foldline::transduce::Transducer;
use foldline_agents::{
    ExecutorReducer, State,
    droid::Droid,
    wire::{Object, Record},
};
use foldline_domain::patch::{PatchEmitter, PatchState};

type Shell = Transducer<ExecutorReducer<Droid>, Box<State<Droid>>, PatchEmitter>;

fn call(number: usize) -> String {
    format!(
        r#"{{"type":"tool_call","id":"call_{number:012}","toolName":"Read","parameters":{{}}}}"#
    )
}

fn result(number: usize) -> String {
    format!(r#"{{"type":"tool_result","id":"call_{number:012}","isError":false,"value":""}}"#)
}

fn step(shell: &mut Shell, line: &str) {
    drop(shell.step(Record::Object(Object::parse(line).unwrap())));
}

/// The size of both stored states in bytes.
fn stored(shell: &Shell) -> usize {
    let emitter: &PatchState = shell.emitter().state();
    serde_json::to_string(&(shell.state(), emitter)).unwrap().len()
}

#[test]
fn a_million_calls_leave_nothing_behind() {
    const CALLS: usize = 1_000_000;
    const OPEN: usize = 8;
    let mut shell = Transducer::new(ExecutorReducer::new(Droid), PatchEmitter::default());
    let mut sizes = Vec::new();
    for number in 0..CALLS {
        step(&mut shell, &call(number));
        if let Some(oldest) = number.checked_sub(OPEN) {
            step(&mut shell, &result(oldest));
        }
        assert!(shell.state().calls().open_calls() <= OPEN + 1);
        if (number + 1) % (CALLS / 10) == 0 {
            sizes.push(stored(&shell));
        }
    }
    // Only the numbers in it grow by a digit.
    let (first, last) = (sizes[0], sizes[sizes.len() - 1]);
    assert!(last <= first + 64, "{sizes:?}");
}
