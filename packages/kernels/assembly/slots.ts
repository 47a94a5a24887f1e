// Slots of the tables of series and texts: four bytes each, 0 when empty, else id + 1 in the low bits and in the others as
// many bits of the hash as there is room for. So a look-up reads the bytes of a wrong entry once in a few hundred times
// only, while a slot with the whole hash takes twice the memory: 25 MiB of a million series with two tags each of its own.
// The price is paid when a table grows: hashes have to be made again, from entries that lie one behind the other.

/**
 * The bits of a slot that hold id + 1, so that ids up to twice `newestId` and the mask itself differ. Positions come from
 * the low bits of a hash, of which there are fewer: the bits that are kept tell more.
 */
export function idMaskFor(slotCount: u32, newestId: u32): u32 {
  let ids: u64 = <u64>slotCount * 2;
  while (ids < <u64>newestId * 2 + 2 && ids < 0x100000000) ids <<= 1;
  return <u32>(ids - 1);
}
