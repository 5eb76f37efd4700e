//! [`FileContent`]: the content of a file, which may be compressed, or be opened by an [`Opener`](super::Opener).

use std::{
    cell::OnceCell,
    fmt,
    fs::{File, Metadata},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom},
    path::Path,
    sync::Arc,
};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::{
    BlockDecodingStrategy, FrameDecoder,
    errors::{FrameDecoderError, ReadFrameHeaderError},
};

use super::{
    opener::{Openers, StoredLines},
    status::status,
};
use crate::ledger::{Extent, Identity};

/// The content of a file: its bytes, what gzip or Zstandard compressed to them, or the lines that an opener makes of it.
/// All can be read from any position.
#[derive(Debug)]
pub(super) enum FileContent {
    Plain(File),
    Compressed(Box<Compressed>),
    Stored(Box<StoredLines>),
}

impl FileContent {
    /// The content of a file that was just opened at this path.
    pub(super) fn of(path: &Path, mut file: File, openers: &Openers) -> io::Result<Self> {
        let mut magic = Vec::new();
        (&file).take(16).read_to_end(&mut magic)?;
        file.rewind()?;
        if let Some(lines) = openers.stored(path, &file, &magic) {
            return Ok(Self::Stored(Box::new(lines)));
        }
        match Compression::of(&magic) {
            Some(compression) => {
                Ok(Self::Compressed(Box::new(Compressed::new(file, compression)?)))
            }
            None => Ok(Self::Plain(file)),
        }
    }

    /// Whether any part of the content may change.
    pub(super) fn is_rewritten(&self) -> bool {
        matches!(self, Self::Stored(_))
    }

    /// Whether it is one file, any part of which may change.
    pub(super) fn is_document(&self) -> bool {
        matches!(self, Self::Stored(lines) if lines.is_document())
    }

    pub(super) fn is_compressed(&self) -> bool {
        matches!(self, Self::Compressed(_))
    }

    /// The metadata of the file, with the length of its content as the size.
    pub(super) fn status(&self) -> io::Result<Identity> {
        match self {
            Self::Stored(content) => content.status(),
            _ => Ok(Identity { size: self.length()?, ..status(&self.metadata()?) }),
        }
    }

    /// The metadata of the file.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        match self {
            Self::Plain(file) => file.metadata(),
            Self::Compressed(content) => content.file.metadata(),
            Self::Stored(content) => content.metadata(),
        }
    }

    /// The length of the content in bytes.
    pub(super) fn length(&self) -> io::Result<u64> {
        match self {
            Self::Plain(file) => Ok(file.metadata()?.len()),
            Self::Compressed(content) => content.length(),
            Self::Stored(content) => content.length(),
        }
    }
}

impl Read for FileContent {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(file) => file.read(buffer),
            Self::Compressed(content) => content.read(buffer),
            Self::Stored(content) => content.read(buffer),
        }
    }
}

impl Seek for FileContent {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::Plain(file) => file.seek(to),
            Self::Compressed(content) => content.seek(to),
            Self::Stored(content) => content.seek(to),
        }
    }
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compression {
    Gzip,
    Zstandard,
}

impl Compression {
    /// As the first bytes of a file say. Gzip has one method of compression, and a frame of Zstandard one number.
    fn of(magic: &[u8]) -> Option<Self> {
        match magic {
            [0x1F, 0x8B, 8, ..] => Some(Self::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Self::Zstandard),
            _ => None,
        }
    }

    fn decompress(self, file: Positioned) -> Decompressed {
        match self {
            Self::Gzip => {
                Decompressed::Gzip(Box::new(Members(Some(GzDecoder::new(BufReader::new(file))))))
            }
            Self::Zstandard => {
                let (decoder, file) = (FrameDecoder::new(), BufReader::new(file));
                Decompressed::Zstandard(Box::new(Frames { decoder, file, is_in_frame: false }))
            }
        }
    }
}

/// The content of a file that is compressed, and is not expected to grow.
///
/// Decompression goes forwards only. A log is read, hashed and compared at different positions, each of which only
/// moves forwards: a decoder for each keeps the total linear in the content.
#[derive(Debug)]
pub(super) struct Compressed {
    file: Arc<File>,
    compression: Compression,
    /// Bytes to compare files by, which are read again and again.
    head: Vec<u8>,
    decoders: [Decoder; 3],
    position: u64,
    /// Once it is known.
    length: OnceCell<u64>,
}

/// Decompresses from the beginning up to a position.
#[derive(Debug)]
struct Decoder {
    stream: Decompressed,
    position: u64,
}

impl Compressed {
    fn new(file: File, compression: Compression) -> io::Result<Self> {
        let file = Arc::new(file);
        let mut first = Decoder::new(&file, compression);
        let mut head = Vec::new();
        (&mut first.stream).take(Extent::EDGE as u64).read_to_end(&mut head)?;
        first.position = head.len() as u64;
        let decoders = [first, Decoder::new(&file, compression), Decoder::new(&file, compression)];
        Ok(Self { file, compression, head, decoders, position: 0, length: OnceCell::new() })
    }

    fn length(&self) -> io::Result<u64> {
        if let Some(length) = self.length.get() {
            return Ok(*length);
        }
        let mut decoder = Decoder::new(&self.file, self.compression);
        let length = io::copy(&mut decoder.stream, &mut io::sink())?;
        Ok(*self.length.get_or_init(|| length))
    }

    /// The decoder nearest before the position, or a new one in place of the one that is furthest behind.
    fn decoder(&mut self) -> &mut Decoder {
        let (position, compression) = (self.position, self.compression);
        self.decoders.sort_by_key(|decoder| decoder.position);
        let after = self.decoders.partition_point(|decoder| decoder.position <= position);
        let nearest = &mut self.decoders[after.saturating_sub(1)];
        if nearest.position > position {
            *nearest = Decoder::new(&self.file, compression);
        }
        nearest
    }
}

impl Read for Compressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let start = usize::try_from(self.position).unwrap_or(usize::MAX);
        let read = match self.head.get(start..) {
            Some(mut head) if !head.is_empty() => head.read(buffer)?,
            _ => {
                let position = self.position;
                let decoder = self.decoder();
                decoder.skip_to(position)?;
                let read = decoder.stream.read(buffer)?;
                decoder.position += read as u64;
                read
            }
        };
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for Compressed {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = match to {
            SeekFrom::Start(offset) => offset,
            SeekFrom::Current(by) => self.position.saturating_add_signed(by),
            SeekFrom::End(by) => self.length()?.saturating_add_signed(by),
        };
        Ok(self.position)
    }
}

impl Decoder {
    fn new(file: &Arc<File>, compression: Compression) -> Self {
        let stream = compression.decompress(Positioned { file: file.clone(), position: 0 });
        Self { stream, position: 0 }
    }

    /// Moves forwards to `position`, or to the end of the content.
    fn skip_to(&mut self, position: u64) -> io::Result<()> {
        let skipped = position.saturating_sub(self.position);
        self.position += io::copy(&mut (&mut self.stream).take(skipped), &mut io::sink())?;
        Ok(())
    }
}

/// What a compressed file contains, from its beginning.
#[derive(Debug)]
enum Decompressed {
    Gzip(Box<Members>),
    Zstandard(Box<Frames>),
}

impl Read for Decompressed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(members) => members.read(buffer),
            Self::Zstandard(frames) => frames.read(buffer),
        }
    }
}

/// The content of the members of a file that is compressed with gzip, one after the other. Zeros after a member are
/// padding, which gzip ignores too.
#[derive(Debug)]
struct Members(Option<GzDecoder<BufReader<Positioned>>>);

impl Read for Members {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(member) = &mut self.0 else { return Ok(0) };
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            let file = member.get_mut();
            loop {
                let bytes = file.fill_buf()?;
                match bytes.iter().position(|byte| *byte != 0) {
                    None if bytes.is_empty() => return Ok(0),
                    None => {
                        let zeros = bytes.len();
                        file.consume(zeros);
                    }
                    Some(zeros) => {
                        file.consume(zeros);
                        break;
                    }
                }
            }
            self.0 = self.0.take().map(|member| GzDecoder::new(member.into_inner()));
        }
    }
}

/// The content of the frames of a file that is compressed with Zstandard, one after the other.
struct Frames {
    decoder: FrameDecoder,
    file: BufReader<Positioned>,
    is_in_frame: bool,
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Read for Frames {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Self { decoder, file, is_in_frame } = self;
        loop {
            while *is_in_frame && !decoder.is_finished() && decoder.can_collect() == 0 {
                let next = BlockDecodingStrategy::UptoBlocks(1);
                decoder.decode_blocks(&mut *file, next).map_err(damaged)?;
            }
            let read = if *is_in_frame { decoder.read(buffer)? } else { 0 };
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            *is_in_frame = false;
            if file.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match decoder.reset(&mut *file) {
                Ok(()) => *is_in_frame = true,
                // Frames of other programs, which are not content.
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    io::copy(&mut file.take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(damaged(error)),
            }
        }
    }
}

fn damaged(error: FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// A file that has several positions.
#[derive(Debug)]
struct Positioned {
    file: Arc<File>,
    position: u64,
}

impl Read for Positioned {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut file = &*self.file;
        file.seek(SeekFrom::Start(self.position))?;
        let read = file.read(buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}
