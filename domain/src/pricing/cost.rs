//! [`Cost`]: US dollars, and the origin of the number.

use serde::Serialize;

/// A cost and its origin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// US dollars.
    pub usd: f64,
    /// The origin of the number.
    pub basis: CostBasis,
}

/// The origin of a [`Cost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CostBasis {
    /// The log states it.
    Logged,
    /// Tokens times the prices of a table.
    Estimated,
    /// A sum of logged and estimated costs.
    Mixed,
}

impl CostBasis {
    /// The serialised name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Logged => "logged",
            Self::Estimated => "estimated",
            Self::Mixed => "mixed",
        }
    }
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let basis = if self.basis == other.basis { self.basis } else { CostBasis::Mixed };
        Self { usd: self.usd + other.usd, basis }
    }
}
