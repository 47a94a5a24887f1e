// The one decoder of bytes that are data, for all packages. A decoder that removes a byte order
// mark changes a text that begins with one, so lint allows no other in packages that hold data.

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

/** Text of UTF-8 bytes, byte order mark included; malformed sequences become U+FFFD. */
export function utf8Text(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** As `utf8Text`; `undefined` when the bytes are not UTF-8. */
export function strictUtf8Text(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    // The decoder says no more than that.
    return undefined;
  }
}

// A surrogate without the other one of its pair, and what malformed sequences become.
const REPLACED = /[\ud800-\udfff\ufffd]/u;

/** Whether a text is the only one that its UTF-8 bytes stand for. */
export function isExactInUtf8(text: string): boolean {
  return !REPLACED.test(text);
}

/**
 * The lines of a file or an answer, without their ends; the last one may lack its end. A byte order
 * mark before the first is the mark of the file, so it is removed.
 */
export async function* utf8Lines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const fileDecoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + fileDecoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  rest += fileDecoder.decode();
  if (rest !== '') yield rest;
}
