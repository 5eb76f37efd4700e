//! Arrays and objects.

use serde::{Serialize, ser};

use super::{error::Error, writer::Writer};

/// An array or an object under construction.
pub struct Compound<'w, 'b> {
    writer: &'w mut Writer<'b>,
    /// The byte before the next element: the opening bracket, then a comma.
    before: u8,
    close: Close,
}

/// The closing bracket.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Close {
    Array,
    ArrayInObject,
    Object,
    ObjectInObject,
    /// Not an object, but a string that already is JSON.
    Raw,
}

impl<'w, 'b> Compound<'w, 'b> {
    #[inline(always)]
    pub(super) fn open(writer: &'w mut Writer<'b>, close: Close) -> Self {
        let before = match close {
            Close::Array | Close::ArrayInObject => b'[',
            Close::Object | Close::ObjectInObject | Close::Raw => b'{',
        };
        Self { writer, before, close }
    }

    #[inline(always)]
    fn before(&mut self) -> u8 {
        std::mem::replace(&mut self.before, b',')
    }

    #[inline(always)]
    fn separate(&mut self) {
        let before = self.before();
        self.writer.out.push(before);
    }

    #[inline(always)]
    fn element(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        self.separate();
        value.serialize(&mut *self.writer)?;
        self.writer.end_element()
    }

    #[inline(always)]
    fn field(&mut self, key: &'static str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        if self.close != Close::Raw {
            let before = self.before();
            self.writer.name(before, key);
        }
        value.serialize(&mut *self.writer)
    }

    #[inline(always)]
    fn close(self) -> Result<(), Error> {
        let Self { writer, before, close } = self;
        if close == Close::Raw {
            writer.raw = false;
            return Ok(());
        }
        if before != b',' {
            writer.out.push(before);
        }
        match close {
            Close::Array => writer.out.push(b']'),
            Close::ArrayInObject => writer.push("]}"),
            Close::ObjectInObject => writer.push("}}"),
            Close::Object | Close::Raw => writer.out.push(b'}'),
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
        self.separate();
        let start = self.writer.out.len();
        key.serialize(&mut *self.writer)?;
        // A key that is a number or a boolean is quoted.
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
        value.serialize(&mut *self.writer)?;
        self.writer.end_element()
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
