/**
 * Which of a cluster's 16,384 slots a key is in, as the cluster specification says: CRC-16 (polynomial 0x1021, from 0) of the
 * key or, where it has braces with something between them, of what is between the first pair.
 */
const SLOTS = 16_384;

export function keySlot(key: string): number {
  const [, tag] = /^[^{]*\{([^}]+)\}/.exec(key) ?? [];
  let crc = 0;
  for (const byte of Buffer.from(tag ?? key)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
    crc &= 0xffff;
  }
  return crc % SLOTS;
}
