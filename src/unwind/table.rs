//! `.eh_frame_hdr`: the file's own table of its FDEs, for a binary search.

/// The one shape that linkers write: version 1; the section's address, the count and the entries
/// as four bytes each; entries relative to the table's own section.
const SHAPE: [u8; 4] = [1, 0x1b, 0x03, 0x3b];

/// Bytes before the entries: the shape, the section's address, the count.
const HEADER: usize = 12;

/// The address of the last FDE that starts at or before `address`; None if there is none, or the
/// table is of another shape. `at` is the address of the section with these `bytes`.
pub(super) fn look_up(bytes: &[u8], at: u64, address: u64) -> Option<u64> {
    if bytes.first_chunk() != Some(&SHAPE) {
        return None;
    }
    let count = u32::from_le_bytes(*bytes.get(8..)?.first_chunk()?) as usize;
    let entries: &[[u8; 8]] = bytes.get(HEADER..)?.as_chunks().0;
    let entries = &entries[..count.min(entries.len())];
    let absolute = |half: &[u8]| {
        let half = half.first_chunk().map_or(0, |b| i32::from_le_bytes(*b));
        at.wrapping_add_signed(i64::from(half))
    };
    let after = entries.partition_point(|entry| absolute(&entry[..4]) <= address);
    Some(absolute(&entries[after.checked_sub(1)?][4..]))
}
