// Reuses buffers whose text has been taken. A buffer that grows to a part of a large result leaves
// its own length as garbage once more; V8 counts such memory outside of its heap, and runs a full
// collection after every eight megabytes of it (docs/adr/0022-small-answers.md).

/** What is kept for later: enough for a dashboard's queries that wait for storage. */
const KEPT_BYTES = 1 << 20;
/** Larger ones are rare, and would fill the place of many small ones. */
export const KEPT_BUFFER_BYTES = 256 << 10;

const kept: Uint8Array<ArrayBuffer>[] = [];
let keptBytes = 0;

/** A buffer of any content; `undefined` when there is none. It is the caller's. */
export function takeUsed(): Uint8Array<ArrayBuffer> | undefined {
  const buffer = kept.pop();
  if (buffer !== undefined) keptBytes -= buffer.length;
  return buffer;
}

/** Takes the whole buffer of a text that nobody looks at any more. */
export function giveUsed(text: Uint8Array): void {
  const { buffer: whole, byteOffset } = text;
  if (!(whole instanceof ArrayBuffer) || byteOffset !== 0) return;
  const buffer = new Uint8Array(whole);
  if (buffer.length === 0 || buffer.length > KEPT_BUFFER_BYTES) return;
  if (keptBytes + buffer.length > KEPT_BYTES) return;
  keptBytes += buffer.length;
  kept.push(buffer);
}
