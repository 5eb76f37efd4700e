//! `serde::Serializer` for [`Writer`].

use std::fmt::{self, Write};

use serde::{Serialize, Serializer, ser};

use super::{
    compound::{Close, Compound},
    error::Error,
    escape,
    raw::RAW_VALUE,
    writer::Writer,
};

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

    fn serialize_i8(self, value: i8) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), Error> {
        self.whole(value)
    }

    fn serialize_u128(self, value: u128) -> Result<(), Error> {
        self.whole(value)
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
        self.push("{");
        self.variant(variant);
        self.push(":");
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
        self.push("{");
        self.variant(variant);
        self.push(":");
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
        self.push("{");
        self.variant(variant);
        self.push(":");
        Ok(Compound::open(self, Close::ObjectInObject))
    }
}
