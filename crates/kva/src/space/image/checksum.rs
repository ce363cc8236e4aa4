//! CRC-32 as in zip and PNG: the polynomial 0x04c11db7, bits reflected, initial value and final XOR all ones.

/// The remainder of each byte.
const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        let mut remainder = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let reduced = remainder >> 1;
            remainder = if remainder & 1 == 0 { reduced } else { reduced ^ 0xedb8_8320 };
            bit += 1;
        }
        table[byte] = remainder;
        byte += 1;
    }
    table
};

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, &byte: &u8| (crc >> 8) ^ TABLE[usize::from(crc as u8 ^ byte)];
    !bytes.iter().fold(!0, step)
}
