//! [`Cost`]: US dollars, and where the number is from.

use serde::Serialize;

/// What something costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// US dollars.
    pub usd: f64,
    /// Where the number is from.
    pub basis: CostBasis,
}

/// Where the number of a [`Cost`] is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CostBasis {
    /// The log states it.
    Logged,
    /// The tokens times the prices of a table.
    Estimated,
    /// A sum of both.
    Mixed,
}

impl CostBasis {
    /// The word that it is serialised as.
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
