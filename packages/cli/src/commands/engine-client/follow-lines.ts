// Following a stream of lines from a running engine, until Ctrl-C or a number of lines.
import { utf8Lines } from '@tidemark/core';

import { UsageError } from '../../exit.ts';

/**
 * Prints each line of a stream with `print`. Ends after `lines` of them (a positive number as text;
 * never if it is missing), or on Ctrl-C. Throws `UsageError` for an invalid `lines`.
 */
export async function followLines(
  open: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array>>,
  lines: string | undefined,
  print: (line: string) => string = (line) => line,
): Promise<void> {
  let remaining = lines === undefined ? Number.POSITIVE_INFINITY : Number(lines);
  if (Number.isNaN(remaining) || remaining < 1)
    throw new UsageError(`--lines must be a positive number; got ${lines}`);
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  try {
    for await (const line of utf8Lines(await open(stop.signal))) {
      process.stdout.write(`${print(line)}\n`);
      remaining--;
      if (remaining === 0) return;
    }
  } catch (error) {
    // Ctrl-C is the normal end.
    if (!stop.signal.aborted) throw error;
  } finally {
    process.off('SIGINT', interrupt);
    stop.abort();
  }
}
