// Reuses buffers whose text has been taken. A buffer that grows to a part of a large result leaves
// its own length as garbage once more; V8 counts such memory outside of its heap, and runs a full
// collection after every eight megabytes of it (docs/adr/0022-prepared-statements.md).

/** The first buffer of a text: most answers fit into it. */
export const FIRST_BUFFER_BYTES = 4 << 10;
/** Longer than most answers, and so long that copying it would be noticeable. */
export const SMALL_BUFFER_BYTES = 32 << 10;
/**
 * Size of buffers for longer texts: room for a piece of a large answer and the part that ends it.
 */
export const LARGE_BUFFER_BYTES = 256 << 10;

/** Number of free buffers of each kind: enough for a dashboard's queries that wait for storage. */
const POOLED_SMALL = 32;
const POOLED_LARGE = 4;

type Buffer = Uint8Array<ArrayBuffer>;

const small: Buffer[] = [];
const large: Buffer[] = [];

/** A buffer for a short text, with unspecified contents. It belongs to the caller. */
export function acquireSmall(): Buffer {
  return small.pop() ?? new Uint8Array(FIRST_BUFFER_BYTES);
}

/** A buffer for a piece of a long text, with unspecified contents. It belongs to the caller. */
export function acquireLarge(): Buffer {
  return large.pop() ?? new Uint8Array(LARGE_BUFFER_BYTES);
}

/**
 * Takes the whole buffer of a text that is no longer used. Buffers are pooled by size, so that a
 * long text never begins in one that it outgrows at once.
 */
export function releaseBuffer(text: Uint8Array): void {
  const { buffer, byteOffset } = text;
  if (!(buffer instanceof ArrayBuffer) || byteOffset !== 0) return;
  const size = buffer.byteLength;
  if (size === LARGE_BUFFER_BYTES) {
    if (large.length < POOLED_LARGE) large.push(new Uint8Array(buffer));
  } else if (size >= FIRST_BUFFER_BYTES && size <= SMALL_BUFFER_BYTES) {
    if (small.length < POOLED_SMALL) small.push(new Uint8Array(buffer));
  }
}
