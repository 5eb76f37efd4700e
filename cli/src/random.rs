//! Random numbers.

use crate::error::Error;

/// `BYTES` random bytes, as hexadecimal digits.
pub(crate) fn digits<const BYTES: usize>() -> Result<String, Error> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::WrongUse(format!("there are no random numbers: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
