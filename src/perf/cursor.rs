//! Reading records from bytes that may be anything.

/// A record ends before its last field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the record is too short for its fields")]
pub struct Truncated;

/// A place in a record's body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor(bytes)
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Result<&'a [u8], Truncated> {
        let (head, rest) = self.0.split_at_checked(n).ok_or(Truncated)?;
        self.0 = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Truncated> {
        let (head, rest) = self.0.split_first_chunk().ok_or(Truncated)?;
        self.0 = rest;
        Ok(*head)
    }

    pub(crate) fn word(&mut self) -> Result<u64, Truncated> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn half(&mut self) -> Result<u32, Truncated> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn halves(&mut self) -> Result<(u32, u32), Truncated> {
        Ok((self.half()?, self.half()?))
    }

    /// `n` words, `n` as it stands in the record.
    pub(crate) fn words(&mut self, n: u64) -> Result<Words<'a>, Truncated> {
        let bytes = usize::try_from(n).ok().and_then(|n| n.checked_mul(8)).ok_or(Truncated)?;
        Ok(Words(self.bytes(bytes)?))
    }

    /// The bytes before a zero.
    pub(crate) fn string(&mut self) -> Result<&'a [u8], Truncated> {
        let end = self.0.iter().position(|&b| b == 0).ok_or(Truncated)?;
        let (head, rest) = (&self.0[..end], &self.0[end + 1..]);
        self.0 = rest;
        Ok(head)
    }
}

/// Words of a record.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len() / 8
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<u64> {
        let start = index.checked_mul(8)?;
        let bytes = self.0.get(start..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    /// All of them.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = u64> + use<'a> {
        let words = *self;
        (0..words.len()).filter_map(move |i| words.get(i))
    }
}

impl std::fmt::Debug for Words<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(|w| format!("{w:#x}"))).finish()
    }
}
