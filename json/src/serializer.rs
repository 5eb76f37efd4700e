//! `serde::Serializer` for [`Writer`].

use std::fmt::{self, Write};

use serde::{Serialize, Serializer, ser};

use super::{
    escape,
    value::RAW_VALUE,
    writer::{Error, Writer},
};

macro_rules! whole {
    ($($method:ident: $number:ty,)+) => {$(
        fn $method(self, value: $number) -> Result<(), Error> {
            self.whole(value)
        }
    )+};
}

impl<'w, 'b> Serializer for &'w mut Writer<'b> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'w, 'b>;
    type SerializeTuple = Compound<'w, 'b>;
    type SerializeTupleStruct = Compound<'w, 'b>;
    type SerializeTupleVariant = Compound<'w, 'b>;
    type SerializeMap = Compound<'w, 'b>;
    type SerializeStruct = Compound<'w, 'b>;
    type SerializeStructVariant = Compound<'w, 'b>;

    #[inline(always)]
    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if self.raw {
            self.push(value);
        } else {
            escape::string(self.out, value);
        }
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Error> {
        self.push("\"");
        write!(escape::Escaped(self.out), "{value}").map_err(ser::Error::custom)?;
        self.push("\"");
        Ok(())
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.push(if value { "true" } else { "false" });
        Ok(())
    }

    whole! {
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_i128: i128,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_u128: u128,
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.float(&value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        self.float(&value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    #[inline(always)]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.push("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), Error> {
        self.variant(variant);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.name(b'{', variant);
        value.serialize(&mut *self)?;
        self.push("}");
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'w, 'b>, Error> {
        Ok(Compound::open(self, Close::Array))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'w, 'b>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'w, 'b>, Error> {
        self.serialize_seq(None)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'b>, Error> {
        self.name(b'{', variant);
        Ok(Compound::open(self, Close::ArrayInObject))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w, 'b>, Error> {
        Ok(Compound::open(self, Close::Object))
    }

    #[inline(always)]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'w, 'b>, Error> {
        if name == RAW_VALUE {
            self.raw = true;
            return Ok(Compound::open(self, Close::Raw));
        }
        self.serialize_map(None)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'b>, Error> {
        self.name(b'{', variant);
        Ok(Compound::open(self, Close::ObjectInObject))
    }
}

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

/// The traits for elements and for fields, which differ only in the names of their methods.
macro_rules! compound {
    ($($of:ident: $method:ident($($key:ident)?) = $own:ident;)+) => {$(
        impl ser::$of for Compound<'_, '_> {
            type Ok = ();
            type Error = Error;

            #[inline(always)]
            fn $method<T: Serialize + ?Sized>(
                &mut self,
                $($key: &'static str,)?
                value: &T,
            ) -> Result<(), Error> {
                self.$own($($key,)? value)
            }

            #[inline(always)]
            fn end(self) -> Result<(), Error> {
                self.close()
            }
        }
    )+};
}

compound! {
    SerializeSeq: serialize_element() = element;
    SerializeTuple: serialize_element() = element;
    SerializeTupleStruct: serialize_field() = element;
    SerializeTupleVariant: serialize_field() = element;
    SerializeStruct: serialize_field(key) = field;
    SerializeStructVariant: serialize_field(key) = field;
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
