//! The functions of the module. Texts and bytes are passed in two buffers, of which the caller reads the addresses.
//!
//! The caller asks for room for an [`input`], writes it, and calls a function; the function leaves its result, or the
//! message of its failure, in the [`output`], and returns whether it succeeded.
#![allow(unsafe_code, reason = "a name without mangling is unsafe; there is no unsafe block")]

use std::cell::RefCell;

use crate::fold::{Error, Fold};

/// An instance of the module. It has one thread.
#[derive(Default)]
struct Instance {
    fold: Option<Fold>,
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local! {
    static INSTANCE: RefCell<Instance> = RefCell::default();
}

/// Calls `function` with the fold and the input, and leaves its result in the output.
fn call(function: impl FnOnce(&mut Option<Fold>, &[u8]) -> Result<Vec<u8>, Error>) -> bool {
    INSTANCE.with_borrow_mut(|Instance { fold, input, output }| {
        let result = function(fold, input);
        let succeeded = result.is_ok();
        *output = result.unwrap_or_else(|error| error.to_string().into_bytes());
        succeeded
    })
}

/// The address of room for an input of this length.
#[unsafe(no_mangle)]
extern "C" fn input(length: usize) -> *mut u8 {
    INSTANCE.with_borrow_mut(|instance| {
        instance.input.resize(length, 0);
        instance.input.as_mut_ptr()
    })
}

/// The address of the output.
#[unsafe(no_mangle)]
extern "C" fn output() -> *const u8 {
    INSTANCE.with_borrow(|instance| instance.output.as_ptr())
}

/// The length of the output.
#[unsafe(no_mangle)]
extern "C" fn output_length() -> usize {
    INSTANCE.with_borrow(|instance| instance.output.len())
}

/// Begins a fold; the input is its options as JSON.
#[unsafe(no_mangle)]
extern "C" fn begin() -> bool {
    call(|fold, options| {
        let options = serde_json::from_slice(options);
        *fold = Some(Fold::new(options.map_err(|error| Error::Options(error.to_string()))?)?);
        Ok(Vec::new())
    })
}

/// Adds the input to the log; the output is the patches that result.
#[unsafe(no_mangle)]
extern "C" fn push() -> bool {
    call(|fold, bytes| fold.as_mut().ok_or(Error::Ended)?.push(bytes))
}

/// Ends the log; the output is the remaining patches.
#[unsafe(no_mangle)]
extern "C" fn finish() -> bool {
    call(|fold, _| fold.as_mut().ok_or(Error::Ended)?.finish())
}

/// The documents.
#[unsafe(no_mangle)]
extern "C" fn conversations() -> bool {
    call(|fold, _| Ok(fold.as_ref().ok_or(Error::Ended)?.conversations()))
}

/// The number of sessions.
#[unsafe(no_mangle)]
extern "C" fn sessions() -> usize {
    INSTANCE.with_borrow(|instance| instance.fold.as_ref().map_or(0, Fold::sessions))
}

/// The page of a session; empty if there is no such session.
#[unsafe(no_mangle)]
extern "C" fn page(session: usize) -> bool {
    call(|fold, _| {
        let page = fold.as_ref().ok_or(Error::Ended)?.page(session);
        Ok(page.unwrap_or_default().into_bytes())
    })
}
