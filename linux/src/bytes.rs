//! A structure of the guest's, as bytes at known offsets.

use axperf::Bus;

use crate::errno::Errno;
use crate::mm::Space;

/// `N` bytes that hold little-endian fields. Offsets are the caller's: those of the structure in
/// Linux/alpha's headers, and always within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes<const N: usize>(pub [u8; N]);

macro_rules! fields {
    ($($get:ident $put:ident $t:ty;)*) => {
        impl<const N: usize> Bytes<N> {
            $(
                #[doc = concat!("The `", stringify!($t), "` at `at`.")]
                #[must_use]
                pub fn $get(&self, at: usize) -> $t {
                    const SIZE: usize = size_of::<$t>();
                    <$t>::from_le_bytes(self.0[at..at + SIZE].try_into().expect("its own size"))
                }

                #[doc = concat!("Puts a `", stringify!($t), "` at `at`.")]
                pub fn $put(&mut self, at: usize, value: $t) {
                    self.0[at..at + size_of::<$t>()].copy_from_slice(&value.to_le_bytes());
                }
            )*
        }
    };
}
fields! {
    u16 put_u16 u16;
    u32 put_u32 u32;
    i32 put_i32 i32;
    u64 put_u64 u64;
    i64 put_i64 i64;
}

impl<const N: usize> Bytes<N> {
    /// All zero.
    #[must_use]
    pub fn zeroed() -> Bytes<N> {
        Bytes([0; N])
    }

    /// What is at `addr` in the guest's memory.
    ///
    /// # Errors
    /// EFAULT.
    pub fn read(space: &Space, addr: u64) -> Result<Bytes<N>, Errno> {
        let mut b = Bytes::zeroed();
        space.read(addr, &mut b.0)?;
        Ok(b)
    }

    /// Stores them at `addr` in the guest's memory.
    ///
    /// # Errors
    /// EFAULT.
    pub fn write(&self, space: &Space, addr: u64) -> Result<(), Errno> {
        Ok(space.write(addr, &self.0)?)
    }
}
