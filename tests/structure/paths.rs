//! [`Import`] and [`paths`]: the names in tokens.

use proc_macro2::{Delimiter, TokenTree};

use super::items::{Tokens, is_punct};

/// A path, as its segments.
pub(super) type Path = Vec<String>;

/// A name that a `use` imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) path: Path,
    /// The name in the module; `*` for a glob import.
    pub(super) name: String,
}

/// The imports of a `use`, without the keyword.
pub(super) fn imports(tokens: &[TokenTree]) -> Vec<Import> {
    let mut all = Vec::new();
    tree(tokens, &[], &mut all);
    all
}

fn tree(tokens: &[TokenTree], before: &[String], all: &mut Vec<Import>) {
    for branch in tokens.split(|token| is_punct(Some(token), ',') || is_punct(Some(token), ';')) {
        let mut path = before.to_vec();
        let mut renamed = None;
        let mut is_group = false;
        for (at, token) in branch.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    renamed = branch.get(at + 1).map(ToString::to_string);
                    break;
                }
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                    is_group = true;
                    let inner: Tokens = group.stream().into_iter().collect();
                    tree(&inner, &path, all);
                }
                token if is_punct(Some(token), '*') => path.push("*".to_owned()),
                _ => {}
            }
        }
        if is_group || path.len() == before.len() {
            continue;
        }
        let is_self = path.len() > 1 && path.last().is_some_and(|last| last == "self");
        path.truncate(path.len() - usize::from(is_self));
        let last = path.last().cloned().unwrap_or_default();
        let name = renamed.unwrap_or_else(|| last.clone());
        if last == "*" {
            path.pop();
        }
        all.push(Import { path, name });
    }
}

/// The names in tokens.
#[derive(Debug, Default)]
pub(super) struct Used {
    /// Paths, of one segment or of several.
    pub(super) paths: Vec<Path>,
    /// Imports within functions.
    pub(super) imports: Vec<Import>,
}

impl Used {
    pub(super) fn of(tokens: &[TokenTree]) -> Self {
        let mut used = Self::default();
        used.add(tokens);
        used
    }

    fn add(&mut self, tokens: &[TokenTree]) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Group(group) => {
                    self.add(&group.stream().into_iter().collect::<Tokens>());
                }
                TokenTree::Ident(word) if word == "use" && !is_punct(tokens.get(at), '<') => {
                    let rest = &tokens[at..];
                    let is_end = |token: &TokenTree| is_punct(Some(token), ';');
                    let length = rest.iter().position(is_end).unwrap_or(rest.len());
                    self.imports.extend(imports(&rest[..length]));
                    at += length;
                }
                TokenTree::Ident(word) => {
                    let is_after = |sign| at > 1 && is_punct(tokens.get(at - 2), sign);
                    // A field, a method, a lifetime, or the continuation of a type in angle brackets.
                    let is_part =
                        is_after('.') || is_after('\'') || is_after(':') && is_path(tokens, at);
                    let mut path = vec![word.to_string()];
                    while is_punct(tokens.get(at), ':') && is_punct(tokens.get(at + 1), ':') {
                        let Some(TokenTree::Ident(next)) = tokens.get(at + 2) else { break };
                        path.push(next.to_string());
                        at += 3;
                    }
                    if !is_part {
                        self.paths.push(path);
                    }
                }
                _ => {}
            }
        }
    }
}

/// Whether the identifier before `at` follows `::`, and not the `:` of a type.
fn is_path(tokens: &[TokenTree], at: usize) -> bool {
    at > 2 && is_punct(tokens.get(at - 3), ':')
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use proc_macro2::TokenStream;

    use super::*;

    fn tokens(text: &str) -> Tokens {
        TokenStream::from_str(text).unwrap().into_iter().collect()
    }

    #[test]
    fn imports_are_taken_apart() {
        let found = imports(&tokens("a::{self, b::*, c::{D as E, F}, g as h}"));
        let found: Vec<_> =
            found.iter().map(|it| format!("{} = {}", it.name, it.path.join("::"))).collect();
        assert_eq!(found, ["a = a", "* = a::b", "E = a::c::D", "F = a::c::F", "h = a::g"]);
    }

    #[test]
    fn paths_are_found_wherever_they_are() {
        let text = "fn f<'a>(x: a::B<'a>) -> impl Fn() + use<'a> { use c::D; m!(<E as F>::g, x.h, i::j::<K>) }";
        let used = Used::of(&tokens(text));
        let paths: Vec<_> = used.paths.iter().map(|path| path.join("::")).collect();
        for path in ["a::B", "E", "F", "i::j", "K"] {
            assert!(paths.iter().any(|found| found == path), "{path} of {paths:?}");
        }
        assert!(!paths.iter().any(|found| ["g", "h", "B", "a"].contains(&&**found)), "{paths:?}");
        assert_eq!(used.imports, [Import { path: vec!["c".into(), "D".into()], name: "D".into() }]);
    }
}
