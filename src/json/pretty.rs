//! [`indented`]: JSON for people.

/// Levels beyond this are not indented further: an indent for each would be quadratic.
const MOST_INDENT: usize = 16;

/// JSON with a line for each member, indented by two spaces. Nothing but white space is changed.
pub(crate) fn indented(json: &str) -> String {
    let mut text = String::with_capacity(json.len() + json.len() / 4);
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for c in json.chars() {
        if in_string {
            text.push(c);
            (in_string, escaped) = (c != '"' || escaped, c == '\\' && !escaped);
            continue;
        }
        match c {
            '{' | '[' => {
                depth += 1;
                text.push(c);
                new_line(&mut text, depth);
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                let end = text.trim_end().len();
                if text.trim_end().ends_with(['{', '[']) {
                    text.truncate(end);
                } else {
                    new_line(&mut text, depth);
                }
                text.push(c);
            }
            ',' => {
                text.push(c);
                new_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            c if c.is_whitespace() => {}
            c => {
                in_string = c == '"';
                text.push(c);
            }
        }
    }
    text
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth.min(MOST_INDENT)));
}
