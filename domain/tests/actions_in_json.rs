//! Actions survive JSON.

use foldline_domain::ActionType;

#[test]
fn a_stated_null_stays_stated() {
    let json = r#"{"action":"tool","tool_name":"t","arguments":null,"result":{"type":"json","value":null}}"#;
    let action: ActionType = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&action).unwrap(), json);
}

#[test]
fn actions_survive_serde_with_every_digit() {
    let json = r#"{"action":"tool","tool_name":"db___query","arguments":{"id":123456789012345678901234567890},"result":{"type":"json","value":{"n":1e400}}}"#;
    let action: ActionType = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&action).unwrap(), json);

    let json = r#"{"action":"command_run","command":"ls","result":{"exit_status":{"type":"exit_code","code":1},"output":"x"}}"#;
    let action: ActionType = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&action).unwrap(), json);
}
