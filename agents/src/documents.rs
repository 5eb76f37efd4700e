//! [`Documents`]: JSON documents that an agent writes again whenever they change, read as lines.

use std::{
    fmt,
    fs::File,
    io::{self, BufReader, Cursor, Read, Seek, Write},
    path::Path,
};

use foldline::{
    processor::{DEFAULT_MAX_LINE, JsonShortener},
    source::{Opener, StoredLog},
};
use serde::{
    Deserializer,
    de::{self, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

/// Opens the documents of a format: one object, of which one field is a list that grows.
///
/// Its first line is the object with an empty list. Each further line has a part of the list, and the fields by which a
/// document is recognised. So a document is read in bounded memory, its entries have positions, and one that has only
/// grown begins with the lines that it had. Any other file is read as it is, and so is a document that is damaged.
#[derive(Clone, Copy, Debug)]
pub struct Documents {
    /// Whether a file is one, by its path and by its fields: those among its first 64 KiB, and all of them if the list is
    /// among those.
    pub is_one: fn(&Path, &[String]) -> bool,
    /// The fields by which the executor recognises a document.
    pub recognised_by: &'static [&'static str],
    /// The field with the list; empty if there is none.
    pub list: &'static str,
    /// Fields that change with each write, and of which the executor reads nothing.
    pub volatile: &'static [&'static str],
    /// The length of the elements from which a line is full, in bytes; 0 for lines of one element.
    pub line: usize,
}

/// The length of the beginning by which a document is recognised.
const BEGINNING: u64 = 64 << 10;

/// The most bytes of a string that are kept: an element may have several.
const STRING: usize = DEFAULT_MAX_LINE / 4;

impl Opener for Documents {
    fn open(&self, path: &Path, head: &[u8]) -> Option<Box<dyn StoredLog>> {
        if !is_json(path, head) {
            return None;
        }
        let mut beginning = Vec::new();
        File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut beginning)).ok()?;
        self.is_one(path, &beginning, || File::open(path).ok()).then(|| Box::new(*self) as _)
    }

    fn lines(&self, path: &Path, content: &[u8]) -> Option<Vec<u8>> {
        let beginning = content.get(..BEGINNING as usize).unwrap_or(content);
        let is_one = is_json(path, content) && self.is_one(path, beginning, || Some(content));
        let mut lines = Vec::new();
        (is_one && self.write_lines(&mut Cursor::new(content), &mut lines).is_ok()).then_some(lines)
    }

    fn is_of_one_file(&self) -> bool {
        true
    }
}

impl StoredLog for Documents {
    fn write(&self, mut file: &File, out: &mut dyn Write) -> io::Result<()> {
        self.write_lines(&mut file, out)
    }
}

fn is_json(path: &Path, head: &[u8]) -> bool {
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    is_json && head.trim_ascii_start().starts_with(b"{")
}

impl Documents {
    fn is_one<R: Read>(&self, path: &Path, head: &[u8], whole: impl Fn() -> Option<R>) -> bool {
        let mut fields = fields(head);
        if !(self.is_one)(path, &fields) && fields.iter().any(|field| field == self.list) {
            // The list comes first, and may be long.
            let read = whole().map(|whole| self.read(whole, |field, _| fields.push(field)));
            if !matches!(read, Some(Ok(()))) {
                return false;
            }
        }
        (self.is_one)(path, &fields)
    }

    fn write_lines(
        &self,
        document: &mut (impl Read + Seek),
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut head = Vec::new();
        if self.read(&mut *document, |field, value| head.push((field, value))).is_err() {
            document.rewind()?;
            return io::copy(document, out).map(drop);
        }
        document.rewind()?;
        Lines { documents: self, head, length: 0, out, failed: None }.write(document)
    }

    /// Passes on the fields of the document, other than the list and the volatile ones.
    fn read(
        &self,
        file: impl Read,
        each: impl FnMut(String, Box<RawValue>),
    ) -> serde_json::Result<()> {
        let mut json = serde_json::Deserializer::from_reader(Short::new(file));
        json.deserialize_map(Fields { documents: self, each })?;
        json.end()
    }
}

/// The names of the fields of an object that are among its first bytes.
fn fields(beginning: &[u8]) -> Vec<String> {
    let (mut shortener, mut text) = (JsonShortener::new(256), Vec::new());
    shortener.push(beginning, &mut text);
    let (mut depth, mut fields) = (0_usize, Vec::new());
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let begin = at + 1;
                at = begin;
                while let Some(&byte) = text.get(at).filter(|byte| **byte != b'"') {
                    at += if byte == b'\\' { 2 } else { 1 };
                }
                if let (1, Some(name), Some(b':')) = (depth, text.get(begin..at), text.get(at + 1))
                {
                    fields.push(String::from_utf8_lossy(name).into_owned());
                }
            }
            _ => {}
        }
        at += 1;
    }
    fields
}

/// A JSON text, without white space and the ends of long strings.
struct Short<F> {
    file: F,
    shortener: JsonShortener,
    chunk: Vec<u8>,
    short: Vec<u8>,
    read: usize,
}

impl<F: Read> Short<F> {
    fn new(file: F) -> BufReader<Self> {
        let (shortener, chunk) = (JsonShortener::new(STRING), vec![0; 64 << 10]);
        BufReader::new(Self { file, shortener, chunk, short: Vec::new(), read: 0 })
    }
}

impl<F: Read> Read for Short<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.read == self.short.len() {
            let length = self.file.read(&mut self.chunk)?;
            if length == 0 {
                return Ok(0);
            }
            (self.read, self.short) = (0, Vec::new());
            self.shortener.push(self.chunk.get(..length).unwrap_or_default(), &mut self.short);
        }
        let length = self.short.get(self.read..).unwrap_or_default().read(buffer)?;
        self.read += length;
        Ok(length)
    }
}

/// Visits the fields of a document, without its list.
struct Fields<'d, F> {
    documents: &'d Documents,
    each: F,
}

impl<'de, F: FnMut(String, Box<RawValue>)> Visitor<'de> for Fields<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a document")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let Documents { list, volatile, .. } = self.documents;
        while let Some(field) = map.next_key::<String>()? {
            if field == *list {
                map.next_value::<Vec<IgnoredAny>>()?;
            } else if volatile.contains(&&*field) {
                map.next_value::<IgnoredAny>()?;
            } else {
                (self.each)(field, map.next_value()?);
            }
        }
        Ok(())
    }
}

/// The lines of a document that are being written.
struct Lines<'d, 'o> {
    documents: &'d Documents,
    head: Vec<(String, Box<RawValue>)>,
    /// The length of the elements in the current line.
    length: usize,
    out: &'o mut dyn Write,
    failed: Option<io::Error>,
}

impl Lines<'_, '_> {
    fn write(mut self, file: impl Read) -> io::Result<()> {
        self.begin(|_| true)?;
        if !self.documents.list.is_empty() {
            let mut json = serde_json::Deserializer::from_reader(Short::new(file));
            if let Err(error) = json.deserialize_map(&mut self) {
                return Err(self.failed.take().unwrap_or_else(|| error.into()));
            }
        }
        self.end()
    }

    /// Begins a line with some of the fields.
    fn begin(&mut self, is_of_it: impl Fn(&str) -> bool) -> io::Result<()> {
        let mut comma = "{";
        for (field, value) in self.head.iter().filter(|(field, _)| is_of_it(field)) {
            write!(self.out, "{comma}{}:{value}", serde_json::Value::from(&**field))?;
            comma = ",";
        }
        match self.documents.list {
            "" if comma == "{" => self.out.write_all(b"{"),
            "" => Ok(()),
            list => write!(self.out, "{comma}\"{list}\":["),
        }
    }

    fn element(&mut self, element: &RawValue) -> io::Result<()> {
        let text = element.get();
        if self.length == 0 || self.length + text.len() > self.documents.line {
            self.end()?;
            let recognised_by = self.documents.recognised_by;
            self.begin(|field| recognised_by.contains(&field))?;
            self.length = 0;
        }
        let comma = if self.length > 0 { "," } else { "" };
        self.length += text.len();
        write!(self.out, "{comma}{text}")
    }

    fn end(&mut self) -> io::Result<()> {
        let end: &[u8] = if self.documents.list.is_empty() { b"}\n" } else { b"]}\n" };
        self.out.write_all(end)
    }
}

impl<'de> Visitor<'de> for &mut Lines<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a document with a list, {}", self.documents.list)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(field) = map.next_key::<String>()? {
            if field == self.documents.list {
                map.next_value_seed(&mut *self)?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<Box<RawValue>>()? {
            if let Err(error) = self.element(&element) {
                self.failed = Some(error);
                return Err(de::Error::custom("the lines cannot be written"));
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for &mut Lines<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<(), D::Error> {
        list.deserialize_seq(self)
    }
}
