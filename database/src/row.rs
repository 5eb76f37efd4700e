//! [`Row`]: a row of an answer, whichever engine gave it.

use std::borrow::Cow;

use foldline_domain::{EntryIdx, Json, Limit, Position, Text, Timestamp, TokenUsage};

use super::error::StoreError;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'r> {
    /// No value.
    Null,
    /// An integer, or a truth value as 0 or 1.
    Integer(i64),
    /// A fraction.
    Real(f64),
    /// A text. Bytes of a damaged text that are not UTF-8 are replaced.
    Text(Cow<'r, str>),
    /// Bytes.
    Blob(&'r [u8]),
}

/// A row of an answer.
pub trait Row {
    /// The value of a column, counted from 0; [`Cell::Null`] behind the last column.
    ///
    /// # Errors
    /// The value has a type that no column of a [`Store`](super::Store) has.
    fn cell(&self, column: usize) -> Result<Cell<'_>, StoreError>;

    /// The names of the columns.
    fn names(&self) -> Vec<&str>;
}

/// A type that is read from a [`Cell`].
pub trait FromCell: Sized {
    /// Converts the value; `None` if it has another type.
    fn from_cell(cell: Cell<'_>) -> Option<Self>;
}

impl FromCell for i64 {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        if let Cell::Integer(number) = cell { Some(number) } else { None }
    }
}

impl FromCell for u32 {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        i64::from_cell(cell)?.try_into().ok()
    }
}

impl FromCell for bool {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        i64::from_cell(cell).map(|number| number != 0)
    }
}

impl FromCell for f64 {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Real(number) => Some(number),
            Cell::Integer(number) => Some(number as f64),
            _ => None,
        }
    }
}

impl FromCell for String {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        if let Cell::Text(text) = cell { Some(text.into_owned()) } else { None }
    }
}

impl FromCell for Vec<u8> {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        if let Cell::Blob(bytes) = cell { Some(bytes.to_vec()) } else { None }
    }
}

impl<const N: usize> FromCell for [u8; N] {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        if let Cell::Blob(bytes) = cell { bytes.try_into().ok() } else { None }
    }
}

impl<T: FromCell> FromCell for Option<T> {
    fn from_cell(cell: Cell<'_>) -> Option<Self> {
        if cell == Cell::Null { Some(None) } else { T::from_cell(cell).map(Some) }
    }
}

impl dyn Row + '_ {
    /// The value of a column.
    ///
    /// # Errors
    /// It has another type.
    pub fn get<T: FromCell>(&self, column: usize) -> Result<T, StoreError> {
        let cell = self.cell(column)?;
        T::from_cell(cell).ok_or_else(|| {
            let names = self.names();
            let name = names.get(column).copied().unwrap_or_default();
            StoreError::unexpected(format!("the column {name} has a value of another type"))
        })
    }

    /// A size or a position. Integers of a database are signed; these are far smaller than the largest one.
    pub(crate) fn unsigned(&self, column: usize) -> Result<u64, StoreError> {
        self.get(column).map(i64::cast_unsigned)
    }

    pub(crate) fn count(&self, column: usize) -> Result<Option<u64>, StoreError> {
        Ok(self.get::<Option<i64>>(column)?.map(i64::cast_unsigned))
    }

    pub(crate) fn moment(&self, column: usize) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.get::<Option<i64>>(column)?.map(Timestamp::from_millis))
    }

    pub(crate) fn text(&self, column: usize) -> Result<Option<Text>, StoreError> {
        Ok(self.get::<Option<String>>(column)?.map(Text::from))
    }

    /// A line, and in the next column an offset.
    pub(crate) fn position(&self, line: usize) -> Result<Position, StoreError> {
        Ok(Position { line: self.unsigned(line)?, offset: self.unsigned(line + 1)? })
    }

    /// The place of an entry in its session.
    pub(crate) fn index(&self, column: usize) -> Result<EntryIdx, StoreError> {
        let index = self.get::<i64>(column)?;
        Ok(EntryIdx::new(usize::try_from(index).unwrap_or(usize::MAX)))
    }

    /// A state. An invalid JSON state becomes `null`, from which no reader can continue.
    pub(crate) fn state(&self, column: usize) -> Result<Json, StoreError> {
        Ok(serde_json::from_str(&self.get::<String>(column)?).unwrap_or_default())
    }

    /// A limit of the account: its name, the used part, the length and the end of its window, and the moment at which it
    /// is stated.
    pub(crate) fn limit(&self, first: usize) -> Result<Limit, StoreError> {
        Ok(Limit {
            name: self.text(first)?.unwrap_or_default(),
            used_percent: self.get(first + 1)?,
            window_minutes: self.count(first + 2)?,
            resets_at: self.moment(first + 3)?,
            at: self.moment(first + 4)?,
        })
    }

    /// Tokens and their cost, beginning at this column.
    pub(crate) fn tokens(&self, first: usize) -> Result<TokenUsage, StoreError> {
        Ok(TokenUsage {
            input_tokens: self.count(first)?,
            output_tokens: self.count(first + 1)?,
            cache_read_tokens: self.count(first + 2)?,
            cache_write_tokens: self.count(first + 3)?,
            cache_write_1h_tokens: self.count(first + 4)?,
            reasoning_tokens: self.count(first + 5)?,
            web_searches: self.count(first + 6)?,
            cost_usd: self.get(first + 7)?,
        })
    }
}
