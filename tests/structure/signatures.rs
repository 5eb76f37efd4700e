//! Items in the signatures of other items.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenTree};

use super::{
    items::{Item, Tokens, Visibility, attributes, is_ident, is_punct},
    package::{Definition, Package, Target},
    paths::{Path, Used},
};

/// These items and all items in their signatures, since a user of the former has values of the latter.
pub(super) fn with_signatures(
    package: &Package,
    items: impl IntoIterator<Item = Definition>,
) -> BTreeSet<Definition> {
    let signatures = signatures(package);
    let mut found = BTreeSet::new();
    let mut open: Vec<_> = items.into_iter().collect();
    while let Some(item) = open.pop() {
        if found.insert(item.clone()) {
            open.extend(signatures.get(&item).into_iter().flatten().cloned());
        }
    }
    found
}

/// The items in the signature of each item, including its fields, variants and methods.
fn signatures(package: &Package) -> BTreeMap<Definition, BTreeSet<Definition>> {
    let mut signatures = BTreeMap::<_, BTreeSet<_>>::new();
    for (path, module) in &package.modules {
        let resolve = |used: &Path| match package.resolve(path, used) {
            Some(Target::Item(module, name)) => Some((module, name)),
            _ => None,
        };
        for item in &module.items {
            let (owners, tokens) = match &*item.kind {
                "impl" => {
                    let (of_trait, owner) = implemented(item);
                    let owner = Used::of(&owner).paths.first().and_then(resolve);
                    (owner, methods(item, of_trait))
                }
                _ => (Some((path.clone(), item.name.clone())), signature(item)),
            };
            let Some(owner) = owners else { continue };
            let named = Used::of(&tokens).paths;
            signatures.entry(owner).or_default().extend(named.iter().filter_map(resolve));
        }
    }
    signatures
}

/// Whether an `impl` implements a trait, and its type.
fn implemented(item: &Item) -> (bool, Tokens) {
    let (_, tokens) = split_attributes(item);
    let tokens = without_generics(tokens);
    match tokens.iter().position(|token| is_ident(Some(token), "for")) {
        Some(at) => (true, tokens[at + 1..].to_vec()),
        None => (false, tokens),
    }
}

/// Splits the attributes of an item, which are groups, from its other tokens.
fn split_attributes(item: &Item) -> (&[TokenTree], &[TokenTree]) {
    let is_attribute = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Bracket);
    let at = item.tokens.iter().take_while(|token| is_attribute(token)).count();
    item.tokens.split_at(at)
}

/// The tokens after the parameters of an `impl`.
fn without_generics(tokens: &[TokenTree]) -> Tokens {
    let mut depth = 0_i32;
    for (at, token) in tokens.iter().enumerate() {
        let is_arrow = at > 0 && is_punct(tokens.get(at - 1), '-');
        match token {
            token if is_punct(Some(token), '<') => depth += 1,
            token if is_punct(Some(token), '>') && !is_arrow => depth -= 1,
            _ if depth == 0 => return tokens[at..].to_vec(),
            _ => {}
        }
    }
    Tokens::new()
}

/// The signatures of the public methods of an `impl`, and its associated types.
fn methods(item: &Item, of_trait: bool) -> Tokens {
    let Some(body) = item.body() else { return Tokens::new() };
    let items = Item::of(body).into_iter();
    let seen = items.filter(|it| match of_trait {
        true => it.kind == "type",
        false => it.visibility == Visibility::Public,
    });
    seen.flat_map(|it| signature(&it)).collect()
}

/// The public part of an item, without function bodies, private fields and values.
fn signature(item: &Item) -> Tokens {
    let (_, tokens) = split_attributes(item);
    let tokens = tokens.to_vec();
    match &*item.kind {
        "struct" | "union" => tokens.into_iter().flat_map(public_fields).collect(),
        "trait" => {
            let body = item.body().map(Item::of).unwrap_or_default();
            let head = tokens[..tokens.len().saturating_sub(1)].to_vec();
            head.into_iter().chain(body.iter().flat_map(signature)).collect()
        }
        "fn" => {
            let is_body = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            tokens.into_iter().filter(|token| !is_body(token)).collect()
        }
        "const" | "static" => {
            let is_value = |token: &TokenTree| is_punct(Some(token), '=');
            tokens.into_iter().take_while(|token| !is_value(token)).collect()
        }
        "enum" | "type" => tokens,
        _ => Tokens::new(),
    }
}

/// Only the public fields of a group; any other token unchanged.
fn public_fields(token: TokenTree) -> Tokens {
    let TokenTree::Group(group) = &token else { return vec![token] };
    let inner: Tokens = group.stream().into_iter().collect();
    let (mut public, mut is_public) = (Tokens::new(), false);
    let mut is_first = true;
    let mut depth = 0_i32;
    let mut rest = inner.as_slice();
    while !rest.is_empty() {
        if is_first {
            rest = attributes(rest).1;
            is_public = is_ident(rest.first(), "pub") && !is_restriction(rest.get(1));
        }
        let Some((token, after)) = rest.split_first() else { break };
        // A comma within angle brackets does not end a field.
        depth += i32::from(is_punct(Some(token), '<')) - i32::from(is_punct(Some(token), '>'));
        is_first = depth == 0 && is_punct(Some(token), ',');
        public.extend(Some(token.clone()).filter(|_| is_public));
        rest = after;
    }
    public
}

/// Whether parentheses restrict the preceding visibility, and are not the type of a field.
fn is_restriction(token: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = token else { return false };
    let first = group.stream().into_iter().next();
    ["crate", "super", "self", "in"].iter().any(|word| is_ident(first.as_ref(), word))
}

#[test]
fn signatures_name_what_an_author_holds() {
    let package = Package::of(&[
        ("lib.rs", "pub mod t; use t::*;
            pub struct S { pub(crate) a: A, pub b: Vec<(B, C)>, #[x] pub d: Map<D, E>, f: F }
            impl<T: Into<A>> S { pub fn g() -> G { H } fn h(_: H) {} }
            impl Iterator for S { type Item = I; fn next(&mut self) -> Option<J> { None } }
            pub trait Tr { fn k(&self) -> K { L } }"),
        ("t.rs", "pub struct A; pub struct B; pub struct C; pub struct D; pub struct E; pub struct F; pub struct G;
            pub struct H; pub struct I; pub struct J; pub struct K; pub struct L;"),
    ]);
    let named = |name: &str| {
        let found = with_signatures(&package, [(Path::new(), name.to_owned())]);
        found.into_iter().map(|(_, name)| name).filter(|it| it != name).collect::<String>()
    };
    assert_eq!(named("S"), "BCDEGI");
    assert_eq!(named("Tr"), "K");
}
