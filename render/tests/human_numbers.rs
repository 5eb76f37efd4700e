//! Numbers for people.

use foldline_render::human::*;

#[test]
fn durations() {
    let cases = [
        (0, "0 ms"),
        (999, "999 ms"),
        (2_149, "2.1 s"),
        (2_150, "2.2 s"),
        (59_949, "59.9 s"),
        (59_999, "1 m 00 s"),
        (65_000, "1 m 05 s"),
        (7_380_000, "2 h 03 m"),
    ];
    for (millis, shown) in cases {
        assert_eq!(duration(millis), shown);
    }
    assert!(duration(u64::MAX).ends_with(" m"));
}

#[test]
fn counts_and_money() {
    assert_eq!([count(999), count(12_345), count(12_779)], ["999", "12.3k", "12.8k"]);
    assert_eq!([count(999_949), count(999_950)], ["999.9k", "1.0M"]);
    assert_eq!([count(999_949_999), count(3_000_000_000)], ["999.9M", "3.0G"]);
    assert!(count(u64::MAX).ends_with('G'));
    assert_eq!([dollars(0.00424), dollars(12.3)], ["$0.0042", "$12.30"]);
    assert_eq!([number_of(1, "line"), number_of(0, "line")], ["1 line", "0 lines"]);
}
