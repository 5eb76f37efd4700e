//! The accounts of a bank: each invariant is a line.

use std::collections::{BTreeMap, BTreeSet};

use foldline::{
    laws::{Law, Laws, Violation, inputs},
    transduce::{Batch, Emitter, Reducer, Resume, reduce_fn},
};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Order {
    id: u8,
    account: u8,
    /// Deposited, or withdrawn if negative.
    cents: i64,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Event {
    Booked { account: u8, cents: i64 },
    Refused(Order),
    Repeated(Order),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Accounts {
    cents: BTreeMap<u8, i64>,
    booked: BTreeSet<u8>,
    last: u8,
    refused: Vec<u8>,
}

/// What is wrong with a bank.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    None,
    RefusesSilently,
    BooksTwice,
    RoundsToEuros,
    BooksRepeated,
    RefusesAfterAnother,
    AllowsDebts,
    RefusesTheLastCent,
    ForgetsAccounts,
    KeepsRefused,
    DividesByTheBalance,
}

pub(super) struct Bank(pub(super) Fault);

impl Reducer<Order, Accounts, Event> for Bank {
    fn init(&self) -> Accounts {
        Accounts::default()
    }

    fn reduce(&self, mut accounts: Accounts, order: Order) -> (Accounts, Batch<Event>) {
        let Order { id, account, mut cents } = order;
        if accounts.booked.contains(&id) && self.0 != Fault::BooksRepeated {
            return (accounts, Batch::one(Event::Repeated(order)));
        }
        let before = accounts.cents.get(&account).copied().unwrap_or_default();
        match self.0 {
            Fault::RoundsToEuros if cents % 100 > 90 => cents += 100 - cents % 100,
            Fault::DividesByTheBalance => cents = cents / before * before,
            _ => {}
        }
        let after = before + cents;
        let is_covered = match self.0 {
            Fault::AllowsDebts => true,
            Fault::RefusesTheLastCent => after > 0,
            Fault::RefusesAfterAnother if accounts.last > account => false,
            _ => after >= 0,
        };
        if !is_covered {
            if self.0 == Fault::KeepsRefused {
                accounts.refused.push(id);
            }
            let is_silent = self.0 == Fault::RefusesSilently;
            return (accounts, Batch::from((!is_silent).then_some(Event::Refused(order))));
        }
        if self.0 == Fault::ForgetsAccounts && after == 0 {
            accounts.booked.clear();
        }
        accounts.last = if self.0 == Fault::RefusesAfterAnother { account } else { 0 };
        accounts.cents.insert(account, after);
        accounts.booked.insert(id);
        let booked = Event::Booked { account, cents: order.cents };
        let times = if self.0 == Fault::BooksTwice && cents == 0 { 2 } else { 1 };
        (accounts, vec![booked; times].into())
    }
}

fn booked(events: &[Event]) -> i64 {
    let booked = |event: &Event| if let Event::Booked { cents, .. } = event { *cents } else { 0 };
    events.iter().map(booked).sum()
}

/// A list of all orders that were booked, from which everything is calculated again.
fn slow() -> impl Reducer<Order, Vec<Order>, Event> {
    reduce_fn(Vec::new, |mut all: Vec<Order>, order: Order| {
        let own = all.iter().filter(|other| other.account == order.account);
        let event = if all.iter().any(|other| other.id == order.id) {
            Event::Repeated(order)
        } else if own.map(|other| other.cents).sum::<i64>() + order.cents < 0 {
            Event::Refused(order)
        } else {
            all.push(order.clone());
            Event::Booked { account: order.account, cents: order.cents }
        };
        (all, Batch::one(event))
    })
}

/// The sum of what was booked, after each order.
#[derive(Default)]
struct Turnover(i64);

impl Emitter<Event, i64> for Turnover {
    fn emit(&mut self, event: &Event) -> Batch<i64> {
        self.0 += booked(std::slice::from_ref(event)).abs();
        Batch::one(self.0)
    }
}

impl Resume for Turnover {
    type State = i64;

    fn state(&self) -> i64 {
        self.0
    }

    fn resume(&mut self, sum: i64) {
        self.0 = sum;
    }
}

fn orders() -> impl Strategy<Value = Order> {
    let cents = prop_oneof![-300_i64..300, Just(0)];
    (0_u8..24, 0_u8..3, cents).prop_map(|(id, account, cents)| Order { id, account, cents })
}

// The test of a new user, in 20 lines.
fn laws(fault: Fault) -> Laws<'static, Order, Accounts, Event> {
    let left = |accounts: &Accounts| accounts.cents.values().sum::<i64>();
    Laws::of(move || Bank(fault), inputs(orders()))
        .conserves("one event for each order", |orders, events| (orders.len(), events.len()))
        .invariant("money", move |accounts, events| (left(accounts), booked(events)))
        .monotone("booked orders", |accounts, _| accounts.booked.len())
        .monotone("no debts", |accounts, _| accounts.cents.values().all(|cents| *cents >= 0))
        .commutes(|one, two| one.account != two.account && one.id != two.id)
        .resumes()
        .walks(Turnover::default)
        .observing(|accounts, _| accounts.clone())
        .idempotent(|_| true)
        .model(slow)
}

#[test]
fn a_bank_keeps_the_laws() {
    let report = laws(Fault::None).check();
    assert!(report.is_checked(Law::Environment), "{report}");
}

pub(super) fn violation(fault: Fault) -> Violation {
    laws(fault).verdict().expect_err(&format!("{fault:?} passes"))
}
