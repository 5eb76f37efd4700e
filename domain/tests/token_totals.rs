//! Tokens are added up.

use foldline_domain::TokenUsage;

#[test]
fn repeated_totals_count_once() {
    let mut total = TokenUsage::default();
    let mut seen = TokenUsage::default();
    for output in [3, 10, 10, 7, 12] {
        let now = TokenUsage { output_tokens: Some(output), ..TokenUsage::default() };
        total.add(&now.since(&seen));
        seen = seen.max(&now);
    }
    assert_eq!(total, TokenUsage { output_tokens: Some(12), ..TokenUsage::default() });
}

#[test]
fn a_cost_that_is_stored_is_the_same_when_it_is_read() {
    for cost in [0.1 + 0.2, 1.593_957_169_189_423_9e18] {
        let usage = TokenUsage { cost_usd: Some(cost), ..TokenUsage::default() };
        let stored = serde_json::to_string(&usage).unwrap();
        assert_eq!(serde_json::from_str::<TokenUsage>(&stored).unwrap(), usage);
    }
}
