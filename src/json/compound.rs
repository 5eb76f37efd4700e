//! Arrays and objects.

use serde::{Serialize, ser};

use super::{Error, Writer};

/// An array or an object that is being written.
pub struct Compound<'w, 'b> {
    writer: &'w mut Writer<'b>,
    empty: bool,
    close: Close,
}

/// The closing bracket.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Close {
    Array,
    ArrayInObject,
    Object,
    ObjectInObject,
    /// Not an object, but a string that is JSON already.
    Raw,
}

impl<'w, 'b> Compound<'w, 'b> {
    #[inline(always)]
    pub(super) fn open(writer: &'w mut Writer<'b>, open: &str, close: Close) -> Self {
        writer.push(open);
        Self { writer, empty: true, close }
    }

    #[inline(always)]
    fn comma(&mut self) {
        if !std::mem::take(&mut self.empty) {
            self.writer.push(",");
        }
    }

    #[inline(always)]
    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.comma();
        value.serialize(&mut *self.writer)
    }

    #[inline(always)]
    fn field(&mut self, key: &'static str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if self.close != Close::Raw {
            let is_first = std::mem::take(&mut self.empty);
            self.writer.name(key, is_first);
        }
        value.serialize(&mut *self.writer)
    }

    #[inline(always)]
    fn close(self) -> Result<(), Error> {
        match self.close {
            Close::Array => self.writer.push("]"),
            Close::ArrayInObject => self.writer.push("]}"),
            Close::Object => self.writer.push("}"),
            Close::ObjectInObject => self.writer.push("}}"),
            Close::Raw => self.writer.raw = false,
        }
        Ok(())
    }
}

impl ser::SerializeSeq for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    #[inline(always)]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl ser::SerializeTuple for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    #[inline(always)]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl ser::SerializeTupleStruct for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    #[inline(always)]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl ser::SerializeTupleVariant for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.element(value)
    }

    #[inline(always)]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl ser::SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.comma();
        let start = self.writer.out.len();
        key.serialize(&mut *self.writer)?;
        // A key that is a number or a boolean stands in quotes.
        match self.writer.out.get(start) {
            Some(b'"') => Ok(()),
            Some(b'{' | b'[' | b'n') | None => Err(ser::Error::custom("a key must be a string")),
            Some(_) => {
                self.writer.out.insert(start, b'"');
                self.writer.push("\"");
                Ok(())
            }
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.writer.push(":");
        value.serialize(&mut *self.writer)
    }

    #[inline(always)]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl ser::SerializeStruct for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.field(key, value)
    }

    #[inline(always)]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}

impl ser::SerializeStructVariant for Compound<'_, '_> {
    type Ok = ();
    type Error = Error;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.field(key, value)
    }

    #[inline(always)]
    fn end(self) -> Result<(), Error> {
        self.close()
    }
}
