//! [`Line`]: the programs and the arguments of a command line.

/// Programs that run another one, whose words follow their options.
const WRAPPERS: [&str; 16] = [
    "sudo", "doas", "env", "time", "nohup", "nice", "ionice", "timeout", "stdbuf", "exec",
    "command", "builtin", "xargs", "then", "do", "else",
];

/// Wrappers that run a program with the rights of another user.
const SUDO: [&str; 2] = ["sudo", "doas"];

/// Options of wrappers whose value is a word of its own.
const WITH_VALUE: [&str; 7] = ["-u", "-g", "-I", "-C", "-d", "--user", "--signal"];

/// Shells, which run the command line that follows `-c`.
const SHELLS: [&str; 6] = ["sh", "bash", "zsh", "dash", "ksh", "fish"];

/// Commands that change the shell only, after which the program of the line follows.
const OF_THE_SHELL: [&str; 12] = [
    "cd", "pushd", "popd", "export", "set", "source", ".", "unset", "ulimit", "umask", "shopt",
    "trap",
];

/// Command lines within command lines that are read.
const DEPTH: usize = 4;

/// A program and its arguments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    /// The name of the program, without its folder.
    pub(super) program: String,
    pub(super) arguments: Vec<String>,
    has_sudo: bool,
}

/// The calls of a command line, in order: separated by `;`, `&&`, `||`, `|`, `&` and line feeds.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) calls: Vec<Call>,
    /// The text of the line.
    pub(super) text: String,
}

impl Line {
    pub(super) fn new(text: &str) -> Self {
        let mut calls = Vec::new();
        add(text, false, DEPTH, &mut calls);
        Self { calls, text: text.to_owned() }
    }

    /// The program that the line is run for: the first one that does more than change the shell.
    pub(super) fn program(&self) -> Option<&str> {
        let is_of_shell = |call: &&Call| OF_THE_SHELL.contains(&&*call.program);
        let first = self.calls.iter().find(|call| !is_of_shell(call));
        first.or(self.calls.first()).map(|call| call.program.as_str())
    }

    pub(super) fn has_sudo(&self) -> bool {
        self.calls.iter().any(|call| call.has_sudo)
    }
}

fn add(text: &str, has_sudo: bool, depth: usize, calls: &mut Vec<Call>) {
    for words in simple_commands(text) {
        let mut has_sudo = has_sudo;
        let mut words = words.into_iter().peekable();
        let mut in_wrapper = false;
        while let Some(word) = words.peek() {
            let name = word.rsplit(['/', '\\']).next().unwrap_or_default();
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            if WRAPPERS.contains(&name) {
                has_sudo |= SUDO.contains(&name);
                in_wrapper = true;
            } else if in_wrapper && WITH_VALUE.contains(&&**word) {
                words.next();
            } else if !(is_assignment(word)
                || in_wrapper && (word.starts_with('-') || is_number)
                || ["{", "(", "!", "if", "while"].contains(&&**word))
            {
                break;
            }
            words.next();
        }
        let Some(program) = words.next() else {
            if has_sudo {
                calls.push(Call { program: "sudo".to_owned(), has_sudo, ..Call::default() });
            }
            continue;
        };
        let arguments: Vec<String> = words.collect();
        let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
        let name = name.strip_suffix(".exe").unwrap_or(name);
        let is_c =
            |word: &String| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
        let inner = arguments.iter().position(is_c).and_then(|at| arguments.get(at + 1));
        if let Some(inner) = inner.filter(|_| SHELLS.contains(&name) && depth > 0) {
            add(inner, has_sudo, depth - 1, calls);
            continue;
        }
        if !name.is_empty() {
            calls.push(Call { program: name.to_owned(), arguments, has_sudo });
        }
    }
}

/// Whether a word sets a variable: `NAME=value`.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// The words of each simple command, without quotes. The text of a here-document, and of a comment, is not a command.
fn simple_commands(text: &str) -> Vec<Vec<String>> {
    let (mut commands, mut words) = (Vec::new(), Vec::new());
    let mut word: Option<String> = None;
    let mut ends_of_documents: Vec<String> = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(rest.by_ref().take_while(|c| *c != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(c) = rest.next().filter(|c| *c != '"') {
                    let escaped = rest.next_if(|next| c == '\\' && "\"\\$`\n".contains(*next));
                    word.push(escaped.unwrap_or(c));
                }
            }
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some(c) => word.get_or_insert_default().push(c),
            },
            '#' if word.is_none() => while rest.next_if(|c| *c != '\n').is_some() {},
            '<' if rest.peek() == Some(&'<') => {
                rest.next();
                if rest.next_if_eq(&'<').is_none() {
                    while rest.next_if(|c| matches!(c, '-' | ' ')).is_some() {}
                    let mut end = String::new();
                    while let Some(c) =
                        rest.next_if(|c| !c.is_whitespace() && !";|&<>)".contains(*c))
                    {
                        end.push(c);
                    }
                    ends_of_documents.push(end.replace(['\'', '"', '\\'], ""));
                }
            }
            // A redirection: `2>&1`, `&>file`.
            '>' => {
                while rest.next_if(|c| matches!(c, '&' | '>' | '|')).is_some() {}
                words.extend(word.take());
            }
            '&' if rest.peek() == Some(&'>') => {}
            ';' | '|' | '&' | '\n' | '(' | ')' | '`' => {
                words.extend(word.take());
                commands.push(std::mem::take(&mut words));
                if c == '\n' {
                    for end in ends_of_documents.drain(..) {
                        loop {
                            let line: String = rest.by_ref().take_while(|c| *c != '\n').collect();
                            if line.trim() == end || rest.peek().is_none() {
                                break;
                            }
                        }
                    }
                }
            }
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    commands.push(words);
    commands.retain(|words| !words.is_empty());
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_the_first_that_does_something() {
        for (line, program) in [
            ("cargo test", "cargo"),
            ("cd /srv/shop && RUST_LOG=debug cargo test 2>&1 | tail", "cargo"),
            ("sudo -u ada -E /usr/bin/apt-get install x", "apt-get"),
            ("bash -lc 'cd x && make -j4'", "make"),
            ("timeout 30 env A=1 ./run.sh --all", "run.sh"),
            ("# a comment\n\nexport A='b c'; git status", "git"),
            ("cat > x.sh <<'EOF'\nrm -rf /\nEOF\nls", "cat"),
            ("(cd x; npm ci)", "npm"),
            ("cd /srv", "cd"),
            ("\"my program\" a", "my program"),
        ] {
            assert_eq!(Line::new(line).program(), Some(program), "{line}");
        }
        for line in ["", "   ", "A=1", "# x", "'", "\"", "\\", "<<", "cat <<EOF\n", "&>"] {
            Line::new(line);
        }
        assert_eq!(Line::new("A=1").program(), None);
    }

    #[test]
    fn a_here_document_is_no_command() {
        let line = Line::new("cat <<EOF | sudo tee x\nrm -rf /\nEOF\nls");
        let programs: Vec<_> = line.calls.iter().map(|call| call.program.as_str()).collect();
        assert_eq!(programs, ["cat", "tee", "ls"]);
        assert!(line.has_sudo() && !Line::new("echo sudo").has_sudo());
    }
}
