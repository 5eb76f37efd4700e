//! [`Title`]: what a session is called, by the first line that says what it is about.

use serde::{Deserialize, Serialize};

/// Words of lines that say nothing alone: greetings, lead-ins, and the usual headings.
const LEAD_IN: &str = " \
    hi hello hey hallo there good morning afternoon evening day dear all team everyone claude codex gemini \
    copilot cursor agent assistant ai thanks thank you please could can would will kindly do does the a an \
    this that these those following below next here is are was your my our i we me us need want like to for \
    of in on with and now let's lets it let help task tasks todo todos context background instruction \
    instructions goal goals objective objectives request requests prompt question description overview \
    summary introduction issue problem details information input user message steps work items things as \
    follows read carefully follow perform complete ok okay so well again current new general important note \
    notes ";

/// Lines and tags of a text that are looked at.
const MOST_LINES: usize = 100;

/// What a session is called: the title that its log states, or else what its user said first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Title {
    stated: Option<String>,
    /// The most descriptive line of a prompt so far.
    asked: Option<String>,
    /// Whether it is more than a greeting.
    is_telling: bool,
    /// The first words of the agent, for a session without a prompt.
    #[serde(default)]
    answered: Option<String>,
}

impl Title {
    /// Takes the title that a log states.
    pub fn state(&mut self, title: &str) {
        self.stated = line(title, false).or_else(|| line(title, true)).or(self.stated.take());
    }

    /// Takes a prompt.
    pub fn ask(&mut self, prompt: &str) {
        if self.is_telling {
            return;
        }
        let telling = line(prompt, false);
        self.is_telling = telling.is_some();
        self.asked = telling.or(self.asked.take()).or_else(|| line(prompt, true));
    }

    /// Takes a message of the agent.
    pub fn answer(&mut self, message: &str) {
        if self.answered.is_none() {
            self.answered = line(message, false).or_else(|| line(message, true));
        }
    }

    /// The title so far.
    pub fn get(&self) -> Option<&str> {
        self.stated.as_deref().or(self.asked.as_deref()).or(self.answered.as_deref())
    }
}

/// The first line of a text that says what it is about: no greeting, lead-in, heading of a form, tag, nor what is
/// within tags, and no command to the agent's program. `is_any` takes the first line if none does.
pub fn line(text: &str, is_any: bool) -> Option<String> {
    let text = text.trim();
    // A command has no second slash, as a path has.
    let is_command = text
        .split_whitespace()
        .next()
        .is_some_and(|word| word.strip_prefix('/').is_some_and(|command| !command.contains('/')));
    let telling = if is_command { None } else { scan(text, true).or_else(|| scan(text, false)) };
    let first = || text.lines().next().map(|line| line.trim_end().to_owned()).filter(|_| is_any);
    telling.or_else(first)
}

fn scan(text: &str, skips_within: bool) -> Option<String> {
    let mut rest = text;
    for _ in 0..MOST_LINES {
        if let Some((name, after)) = tag(rest) {
            let end = format!("</{name}>");
            let inner = after.split_once(end.as_str()).filter(|_| skips_within && !name.is_empty());
            rest = inner.map_or(after, |(_, behind)| behind).trim_start();
            continue;
        }
        let (first, after) = rest.split_once('\n').unwrap_or((rest, ""));
        let closing = first
            .rfind("</")
            .filter(|at| tag(&first[*at..]).is_some_and(|(_, rest)| rest.trim().is_empty()));
        let first = first.get(..closing.unwrap_or(first.len())).unwrap_or(first);
        let marks = ['#', '>', '*', '-', '=', '_', ' '];
        let (first, bare) = (first.trim(), first.trim().trim_start_matches(marks));
        // Marks at the end belong to those at the beginning.
        let shown = if bare.len() < first.len() { bare.trim_end_matches(marks) } else { first };
        if is_telling(shown) {
            return Some(shown.to_owned());
        }
        rest = after.trim_start();
        if rest.is_empty() {
            break;
        }
    }
    None
}

/// The name of the tag that a text begins with, empty for one that ends, and what is behind it.
fn tag(text: &str) -> Option<(&str, &str)> {
    let (inner, after) = text.strip_prefix('<')?.split_once('>')?;
    let name = inner.split(|c: char| c.is_whitespace()).next()?;
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_:.".contains(c))
    };
    match name.strip_prefix('/') {
        Some(closed) => is_name(closed).then_some(("", after)),
        None => is_name(name.trim_end_matches('/')).then_some((name, after)),
    }
}

fn is_telling(line: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '\'';
    let mut words = line.split(|c| !is_word(c)).filter(|word| !word.is_empty());
    words.any(|word| !LEAD_IN.contains(&format!(" {} ", word.to_lowercase())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_says_something() {
        let cases = [
            ("Mend the cart\nplease", "Mend the cart"),
            ("Please do the following:\n\n1. Mend the cart", "1. Mend the cart"),
            ("# Task\n\nMend the cart", "Mend the cart"),
            ("## Mend the cart ##\nIt is slow.", "Mend the cart"),
            ("Mend *the cart*", "Mend *the cart*"),
            ("Hi Claude!\n\nMend the cart", "Mend the cart"),
            ("Good morning, mend the cart", "Good morning, mend the cart"),
            ("<context>\nA shop.\n</context>\nMend the cart", "Mend the cart"),
            ("<task>Mend the cart</task>", "Mend the cart"),
            ("<a><b>x</b>\n---\n```\nMend the cart", "Mend the cart"),
            ("Is a < b > c?", "Is a < b > c?"),
            ("確認してください", "確認してください"),
        ];
        for (prompt, title) in cases {
            assert_eq!(line(prompt, false).as_deref(), Some(title), "{prompt}");
        }
        for nothing in
            ["", " \n", "Hello!", "# Task\nPlease do the following:", "/ide", "---", "<x/>"]
        {
            assert_eq!(line(nothing, false), None, "{nothing}");
        }
        assert_eq!(line("\nHello!\n", true).as_deref(), Some("Hello!"));
        assert_eq!(line(" ", true), None);
    }

    #[test]
    fn what_the_log_states_comes_before_prompts_and_a_request_before_a_greeting() {
        let mut title = Title::default();
        assert_eq!(title.get(), None);
        for (prompt, is) in
            [("/ide", "/ide"), ("Hello", "/ide"), ("Mend it", "Mend it"), ("No", "Mend it")]
        {
            title.ask(prompt);
            assert_eq!(title.get(), Some(is));
        }
        title.answer("I see.");
        assert_eq!(title.get(), Some("Mend it"));
        title.state("The cart");
        title.state("");
        assert_eq!(title.get(), Some("The cart"));
        let mut title = Title::default();
        title.answer("The cart is mended.");
        assert_eq!(title.get(), Some("The cart is mended."));
    }
}
