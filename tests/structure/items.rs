//! [`Item`]: an item of a Rust file, found in its tokens. Test items are skipped.

use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The tokens of some text.
pub(super) type Tokens = Vec<TokenTree>;

/// The visibility of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Visibility {
    /// Its module and nested modules.
    Private,
    /// A part of the crate, or the whole crate.
    Restricted,
    /// Wherever its module is visible.
    Public,
}

/// An item of a module.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) visibility: Visibility,
    /// The keyword: `struct`, `fn`, `use`, ...; empty for a call of a macro.
    pub(super) kind: String,
    /// Blocks of `impl`, imports and calls of macros have no name.
    pub(super) name: String,
    /// All tokens after the keyword and the name, and the attributes.
    pub(super) tokens: Tokens,
}

/// Keywords that begin an item, after its qualifiers.
const KEYWORDS: [&str; 12] = [
    "struct",
    "enum",
    "union",
    "trait",
    "type",
    "const",
    "static",
    "fn",
    "mod",
    "use",
    "impl",
    "macro_rules",
];

/// Words before a keyword that do not change the kind of the item.
const QUALIFIERS: [&str; 5] = ["unsafe", "async", "default", "extern", "auto"];

impl Item {
    /// The items of a file.
    pub(super) fn parse(text: &str) -> Vec<Self> {
        Self::of(TokenStream::from_str(text).unwrap())
    }

    /// The items in the body of a module, a `trait` or an `impl`.
    pub(super) fn of(tokens: TokenStream) -> Vec<Self> {
        let tokens: Tokens = tokens.into_iter().collect();
        let mut items = Vec::new();
        let mut rest = tokens.as_slice();
        while !rest.is_empty() {
            let (item, after, is_test) = Self::first(rest);
            items.extend(item.filter(|_| !is_test));
            rest = after;
        }
        items
    }

    /// The first item, the remaining tokens, and whether it belongs to tests.
    fn first(tokens: &[TokenTree]) -> (Option<Self>, &[TokenTree], bool) {
        let (attributes, mut rest) = attributes(tokens);
        let is_test = attributes.iter().any(is_test);
        let mut visibility = Visibility::Private;
        if is_ident(rest.first(), "pub") {
            visibility = Visibility::Public;
            rest = &rest[1..];
            if let Some(TokenTree::Group(group)) = rest.first()
                && group.delimiter() == Delimiter::Parenthesis
            {
                visibility = Visibility::Restricted;
                rest = &rest[1..];
            }
        }
        while rest.first().is_some_and(|token| is_qualifier(token, rest.get(1))) {
            rest = &rest[1..];
        }
        let is_fn = |token: Option<&TokenTree>| {
            ["fn", "unsafe", "async", "extern"].iter().any(|word| is_ident(token, word))
        };
        if is_ident(rest.first(), "const") && is_fn(rest.get(1)) {
            let at = rest.iter().position(|token| is_ident(Some(token), "fn")).unwrap_or_default();
            rest = &rest[at..];
        }
        let keyword = KEYWORDS.into_iter().find(|keyword| is_ident(rest.first(), keyword));
        let kind = keyword.unwrap_or_default();
        rest = &rest[usize::from(keyword.is_some())..];
        let mut name = String::new();
        if kind == "macro_rules" {
            rest = rest.get(1..).unwrap_or_default();
        }
        if !["", "use", "impl"].contains(&kind)
            && let Some(TokenTree::Ident(ident)) = rest.first()
        {
            name = ident.to_string();
            rest = &rest[1..];
        }
        let body = rest.len() - end(kind, rest).len();
        let (body, after) = rest.split_at(body);
        let tokens = attributes.into_iter().chain(body.iter().cloned()).collect();
        let item = Self { visibility, kind: kind.to_owned(), name, tokens };
        let is_item = !item.kind.is_empty() || !item.tokens.is_empty();
        (is_item.then_some(item), after, is_test)
    }

    /// Whether it is a type or a trait.
    pub(super) fn is_type(&self) -> bool {
        ["struct", "enum", "union", "trait"].contains(&&*self.kind)
    }

    /// The tokens of its body, if it has one in braces.
    pub(super) fn body(&self) -> Option<TokenStream> {
        match self.tokens.last()? {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                Some(group.stream())
            }
            _ => None,
        }
    }
}

/// The leading attributes and the remaining tokens.
pub(super) fn attributes(tokens: &[TokenTree]) -> (Tokens, &[TokenTree]) {
    let (mut attributes, mut rest) = (Vec::new(), tokens);
    while is_punct(rest.first(), '#') {
        let skipped = 1 + usize::from(is_punct(rest.get(1), '!'));
        let Some(group) = rest.get(skipped) else { break };
        attributes.push(group.clone());
        rest = &rest[skipped + 1..];
    }
    (attributes, rest)
}

/// The tokens after an item, whose keyword and name are already taken.
fn end<'t>(kind: &str, tokens: &'t [TokenTree]) -> &'t [TokenTree] {
    let has_value = ["const", "static", "type", "use"].contains(&kind);
    let at = tokens.iter().position(|token| match token {
        TokenTree::Group(group) => !has_value && group.delimiter() == Delimiter::Brace,
        token => is_punct(Some(token), ';'),
    });
    at.map_or(&[], |at| &tokens[at + 1..])
}

fn is_qualifier(token: &TokenTree, next: Option<&TokenTree>) -> bool {
    // The name of the ABI after `extern`.
    let is_abi = matches!((token, next), (TokenTree::Literal(_), Some(TokenTree::Ident(_))));
    is_abi || QUALIFIERS.iter().any(|word| is_ident(Some(token), word))
}

/// Whether an attribute is `cfg(test)` or includes it.
fn is_test(attribute: &TokenTree) -> bool {
    let TokenTree::Group(group) = attribute else { return false };
    let text = group.stream().to_string();
    let words: Vec<_> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    words.first() == Some(&"test")
        || (words.first() == Some(&"cfg") && words.contains(&"test") && !words.contains(&"not"))
}

pub(super) fn is_ident(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == word)
}

pub(super) fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == sign)
}

#[test]
fn items_are_found_with_their_names() {
    let text = r#"
        //! A file.
        #![allow(dead_code)]
        use std::fmt;
        pub(crate) use self::a::{B, C as D};
        #[derive(Clone)]
        pub struct Unit;
        pub struct Tuple(pub u8);
        struct Fields<'a> { a: &'a str }
        pub const fn f() -> u8 { 1 }
        pub const X: Fields<'static> = Fields { a: "}" };
        pub unsafe extern "C" fn g() {}
        impl Tuple { pub fn get(&self) -> u8 { self.0 } }
        macro_rules! m { () => { struct Hidden; } }
        m!();
        mod inner { pub enum E { A } }
        #[cfg(test)]
        mod tests { struct Left; }
        #[cfg(not(test))]
        static Y: u8 = 1;
        #[test]
        fn left() {}
    "#;
    let items = Item::parse(text);
    let found: Vec<_> = items.iter().map(|item| format!("{} {}", item.kind, item.name)).collect();
    let expected = [
        "use ",
        "use ",
        "struct Unit",
        "struct Tuple",
        "struct Fields",
        "fn f",
        "const X",
        "fn g",
        "impl ",
        "macro_rules m",
        " ",
        "mod inner",
        "static Y",
    ];
    assert_eq!(found, expected);
    assert_eq!(items[1].visibility, Visibility::Restricted);
    assert_eq!(items[3].visibility, Visibility::Public);
    assert_eq!(Item::of(items[11].body().unwrap())[0].name, "E");
}
