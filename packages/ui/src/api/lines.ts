// Responses that are streamed line by line.
import { utf8Lines } from '@tidemark/core';

/** The lines of a stream; empty ones are left out. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  for await (const line of utf8Lines(chunksOf(stream))) if (line !== '') yield line;
}

/** Not every browser iterates over streams by itself. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    yield value;
  }
}
