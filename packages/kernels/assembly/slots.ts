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

// Entries of a table that is made anew wait here to get their slots: hash and id each. Slots lie all over the table, and when
// nothing else is touched for a while the processor waits for many of them at once: a quarter less for a million new series.
const WAITING_MAX: u32 = 64;
const waiting: usize = memory.data(64 * 8, 8);
let waitingCount: u32 = 0;

/** Notes an entry; whether `fillSlots` has to be called before the next. */
@inline
export function waitForSlot(hash: u32, id: u32): bool {
  const at = waiting + (<usize>waitingCount << 3);
  store<u32>(at, hash);
  store<u32>(at, id, 4);
  return ++waitingCount === WAITING_MAX;
}

/** Gives the noted entries their slots, of a table that has room; how many there were. */
export function fillSlots(slots: usize, slotCount: u32, idMask: u32): u32 {
  const mask = slotCount - 1;
  const count = waitingCount;
  const end = waiting + (<usize>count << 3);
  for (let at = waiting; at < end; at += 8) {
    const hash = load<u32>(at);
    let slot = hash & mask;
    while (load<u32>(slots + (<usize>slot << 2)) !== 0) slot = (slot + 1) & mask;
    store<u32>(slots + (<usize>slot << 2), (hash & ~idMask) | (load<u32>(at, 4) + 1));
  }
  waitingCount = 0;
  return count;
}
