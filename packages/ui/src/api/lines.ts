// Responses that are streamed line by line.

/** The lines of a stream; empty ones are left out. */
export async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  // The client's type of the response may differ; it is the platform's stream.
  const bytes = stream as ReadableStream<Uint8Array<ArrayBuffer>>;
  const reader = bytes.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
}
