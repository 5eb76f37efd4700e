//! Token counters of streams and session files.

use foldline_domain::TokenUsage;

use crate::wire::Object;

/// Takes the counters of these names: input, output, cached input, reasoning and total.
///
/// The input includes cached input. The output includes reasoning, unless the total shows that it is counted
/// separately, since providers differ.
pub(super) fn take(stated: &mut Object<'_>, fields: [&str; 5]) -> TokenUsage {
    let [input, output, cache_read_tokens, reasoning, total] =
        fields.map(|field| stated.u64(field));
    let answered = input.zip(output).map(|(input, output)| input.saturating_add(output));
    let beyond = total.zip(answered).and_then(|(total, answered)| total.checked_sub(answered));
    let apart = reasoning.filter(|reasoning| beyond.is_some_and(|beyond| beyond >= *reasoning));
    TokenUsage {
        input_tokens: input,
        output_tokens: output.map(|output| output.saturating_add(apart.unwrap_or(0))),
        cache_read_tokens,
        reasoning_tokens: reasoning,
        ..TokenUsage::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_output_once() {
        for (stated, output) in [
            (r#""reasoning":25,"total":134,"#, 34),
            (r#""reasoning":25,"total":159,"#, 59),
            (r#""reasoning":25,"#, 34),
            (r#""total":500,"#, 34),
        ] {
            let stated = format!(r#"{{{stated}"input":100,"output":34}}"#);
            let mut object = Object::parse(&stated).unwrap();
            let usage = take(&mut object, ["input", "output", "cached", "reasoning", "total"]);
            assert_eq!((usage.input_tokens, usage.output_tokens), (Some(100), Some(output)));
        }
    }
}
