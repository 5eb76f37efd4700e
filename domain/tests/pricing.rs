//! Costs, compared with values computed by hand.

use foldline_domain::{Timestamp, TokenUsage, pricing::*};

fn used(input: u64, read: u64, write: u64, for_an_hour: u64, output: u64) -> TokenUsage {
    TokenUsage {
        input_tokens: Some(input),
        cache_read_tokens: Some(read),
        cache_write_tokens: Some(write),
        cache_write_1h_tokens: Some(for_an_hour),
        output_tokens: Some(output),
        ..TokenUsage::default()
    }
}

/// Whether two costs are equal up to a thousandth of a cent.
fn is_close(cost: Option<Cost>, expected: f64) -> bool {
    cost.is_some_and(|cost| (cost.usd - expected).abs() < 1e-5)
}

#[test]
fn each_kind_of_token_has_its_price() {
    // Opus 4.5: input $5, read $0.50, written $6.25 for five minutes and $10 for an hour, output $25 per million. 1,000
    // × 5 + 10,000 × 0.5 + 2,000 × 6.25 + 3,000 × 10 + 400 × 25 = 62,500 dollars per million.
    let usage = used(16_000, 10_000, 5_000, 3_000, 400);
    let cost = |model| Prices::builtin().cost(model, &usage, Requests::One, None);
    assert!(is_close(cost("claude-opus-4-5-20251101"), 0.0625));
    assert!(is_close(cost("anthropic/claude-opus-4-5[1m]"), 0.0625));
    assert_eq!(cost("claude-opus-4-5").map(|cost| cost.basis), Some(CostBasis::Estimated));
    assert_eq!(cost("claude-opus-0"), None);
}

#[test]
fn searches_of_the_web_are_charged_beside_the_tokens() {
    let usage = TokenUsage { web_searches: Some(100), ..used(1_000, 0, 0, 0, 0) };
    // $3 a million tokens, and $10 for 1,000 searches.
    assert!(is_close(
        Prices::builtin().cost("claude-sonnet-4-5", &usage, Requests::One, None),
        1.003
    ));
}

#[test]
fn a_request_over_the_limit_has_the_higher_price_as_a_whole() {
    // Sonnet 4: input $3, output $15; over 200,000 tokens $6 and $22.50.
    let cost = |input, requests| {
        Prices::builtin().cost(
            "claude-sonnet-4-20250514",
            &used(input, 0, 0, 0, 1_000),
            requests,
            None,
        )
    };
    assert!(is_close(cost(200_000, Requests::One), 0.6 + 0.015));
    assert!(is_close(cost(200_001, Requests::One), 1.200_006 + 0.0225));
    assert!(is_close(cost(300_000, Requests::Several), 0.9 + 0.015));
}

#[test]
fn a_tier_raises_what_it_does_not_state_like_the_input() {
    let table = r#"{"m": {"input_cost_per_token": 1.0, "output_cost_per_token": 5.0,
        "cache_creation_input_token_cost": 1.25, "cache_creation_input_token_cost_above_1hr": 2.0,
        "input_cost_per_token_above_1k_tokens": 2.0}}"#;
    let prices = Prices::read(table).unwrap();
    let cost = prices.cost("m", &used(1_001, 0, 2, 1, 1), Requests::One, None);
    // 999 × 2 + 1 × 2.5 + 1 × 4 + 1 × 10
    assert!(is_close(cost, 2014.5));
}

#[test]
fn ranges_are_tiers() {
    let table = r#"{"m": {"tiered_pricing": [
        {"input_cost_per_token": 1.0, "output_cost_per_token": 5.0, "range": [0, 32000.0]},
        {"input_cost_per_token": 2.0, "output_cost_per_token": 6.0, "range": [32000.0, 128000.0]}]}}"#;
    let prices = Prices::read(table).unwrap();
    assert!(is_close(prices.cost("m", &used(32_000, 0, 0, 0, 1), Requests::One, None), 32_005.0));
    assert!(is_close(prices.cost("m", &used(32_001, 0, 0, 0, 1), Requests::One, None), 64_008.0));
}

#[test]
fn what_the_log_states_counts() {
    let usage = TokenUsage { cost_usd: Some(1.5), ..used(1_000, 0, 0, 0, 0) };
    let cost = Prices::builtin().cost("nobody's", &usage, Requests::One, None);
    assert_eq!(cost, Some(Cost { usd: 1.5, basis: CostBasis::Logged }));
    let estimated = Cost { usd: 0.5, basis: CostBasis::Estimated };
    assert_eq!(cost.map(|cost| cost + estimated), Some(Cost { usd: 2.0, basis: CostBasis::Mixed }));
}

#[test]
fn given_prices_replace_those_of_the_same_name() {
    let ours = r#"{"claude-opus-4-5": {"input_cost_per_token": 1e-06, "output_cost_per_token": 2e-06},
                   "sample_spec": {"input_cost_per_token": "a number"}}"#;
    let prices = Prices::builtin().clone().with(Prices::read(ours).unwrap());
    let usage = used(1_000_000, 0, 0, 0, 0);
    assert!(is_close(prices.cost("claude-opus-4-5", &usage, Requests::Several, None), 1.0));
    assert!(is_close(prices.cost("claude-haiku-4-5", &usage, Requests::Several, None), 1.0));
    assert!(matches!(Prices::read("{}"), Err(PricesError::Empty)));
    assert!(matches!(Prices::read("[1]"), Err(PricesError::Json(_))));
}

#[test]
fn the_table_has_the_models_of_the_agents() {
    for model in [
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
        "claude-opus-4-6",
        "gpt-5-codex",
        "gpt-5.3-codex",
        "gemini-2.5-pro",
        "qwen3-coder-plus",
        "grok-code-fast-1",
        "glm-4.6",
        "kimi-k3",
        "deepseek-chat",
    ] {
        let cost = Prices::builtin().cost(model, &used(1, 0, 0, 0, 1), Requests::One, None);
        assert!(cost.is_some_and(|cost| cost.usd > 0.0), "{model}");
    }
}

#[test]
fn a_request_costs_what_its_model_cost_then() {
    let day = |date: &str| {
        let moment: jiff::Timestamp = format!("{date}T00:00:00Z").parse().unwrap();
        Some(Timestamp::from_millis(moment.as_millisecond()))
    };
    let cost = |at| Prices::builtin().cost("o3", &used(1_000_000, 0, 0, 0, 0), Requests::One, at);
    assert!(is_close(cost(day("2025-06-09")), 10.0));
    assert!(is_close(cost(day("2025-06-10")), 2.0));
    // Without a time, the present price.
    assert!(is_close(cost(None), 2.0));
    let rates = Prices::builtin().rates_of("deepseek-chat");
    assert_eq!(
        rates.iter().map(|it| it.until).collect::<Vec<_>>(),
        [day("2025-09-05"), day("2025-09-29"), None]
    );
}
