// Checks whether a backup is complete (docs/formats/backup.md): a server that fails midway cannot
// take back what it has sent, but the last frame shows whether it finished.

const FRAME_MARK = 0x9e4c4157;
const FRAME_BYTES = 12;
const KIND_END = 3;
const KIND_FAILURE = 5;

/** Longer than any last frame: its reason is one sentence. */
export const TAIL_BYTES = 4096;

/** `undefined` if the backup is complete; otherwise the reason, empty if none was given. */
export function faultOf(tail: Uint8Array<ArrayBuffer>): string | undefined {
  const view = new DataView(tail.buffer, tail.byteOffset, tail.length);
  for (let at = tail.length - FRAME_BYTES - 1; at >= 0; at--) {
    if (view.getUint32(at, true) !== FRAME_MARK) continue;
    if (view.getUint32(at + 4, true) !== tail.length - at - FRAME_BYTES) continue;
    const payload = tail.subarray(at + FRAME_BYTES);
    if (payload[0] === KIND_END) return undefined;
    // The kind is followed by the length of the text, in one or two bytes.
    const lengthBytes = (payload[1] ?? 0) < 0x80 ? 1 : 2;
    return payload[0] === KIND_FAILURE
      ? new TextDecoder().decode(payload.subarray(1 + lengthBytes))
      : '';
  }
  return '';
}
