//! Escapes cells so that a spreadsheet reads them as text, not as formulas.

use unicode_width::UnicodeWidthChar;

/// A spreadsheet evaluates text that begins like a formula; a leading `'` marks it as text. A spreadsheet may
/// ignore invisible characters before the sign.
pub(crate) fn guarded(text: String) -> String {
    let is_visible = |c: &char| !c.is_whitespace() && c.width().is_some_and(|width| width > 0);
    let is_formula = text.chars().find(is_visible).is_some_and(|c| FORMULA.contains(&c));
    if is_formula || text.starts_with(['\t', '\r', '\n']) { format!("'{text}") } else { text }
}

/// The first characters of formulas, and their full-width and small forms.
const FORMULA: [char; 12] = [
    '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}', '\u{fe66}', '\u{fe62}',
    '\u{fe63}', '\u{fe6b}',
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        let invisible = [
            "",
            " ",
            "\u{a0}\u{3000}",
            "\n",
            "\r\n",
            "\t",
            "\u{feff}",
            "\u{200b}",
            "\u{2060}\u{200e}",
            "\u{ad}",
            "\0",
            "\u{202e}",
            " \u{feff}\u{200b} \n",
        ];
        for before in invisible {
            for sign in FORMULA {
                let text = format!("{before}{sign}1+2");
                assert_eq!(guarded(text.clone()), format!("'{text}"), "{text:?}");
            }
            let text = format!("{before}a=1");
            if !before.starts_with(['\t', '\r', '\n']) {
                assert_eq!(guarded(text.clone()), text, "{text:?}");
            }
        }
        assert_eq!(guarded("\tx".to_owned()), "'\tx");
    }
}
