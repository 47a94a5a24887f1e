// Decodes text from bytes. Names are nearly always short ASCII; building those strings here is
// several times cheaper than calling the decoder.
import { strictUtf8Text } from '@tidemark/core';

/** Longer texts go to the decoder at once; a call has a limit on arguments. */
const SHORT = 512;

/** Whether `bytes[start, end)` are UTF-8. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  let i = start;
  while (i < end && (bytes[i] as number) < 128) i++;
  return i === end || strictUtf8Text(bytes.subarray(start, end)) !== undefined;
}

/** The text of `bytes[start, end)`; `undefined` when they are not UTF-8. */
export function textOf(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start <= SHORT) {
    let i = start;
    while (i < end && (bytes[i] as number) < 128) i++;
    // Spreading would walk an iterator; this call reads the array.
    if (i === end) return Reflect.apply(String.fromCharCode, null, bytes.subarray(start, end));
  }
  // Other bytes than UTF-8 go to the general parser, which decides.
  return strictUtf8Text(bytes.subarray(start, end));
}
