// Runs the command line inside the test's own process: the same output and exit status as a
// separate process, at a tenth of the CPU. Several may run at a time, unless they have an
// environment of their own. Standard input, signals and terminals need a real process
// (`runTidemark`).
import { AsyncLocalStorage } from 'node:async_hooks';

import { main } from '@tidemark/cli';
import type { RunResult } from '@tidemark/testkit';
import { vi } from 'vitest';

type Captured = { stdout: string; stderr: string };

const captures = new AsyncLocalStorage<Captured>();

let isCapturing = false;

/**
 * Sends what is written on behalf of a captured command to its own buffers; everything else goes on
 * as before.
 */
function captureWrites(): void {
  if (isCapturing) return;
  isCapturing = true;
  for (const name of ['stdout', 'stderr'] as const) {
    const stream = process[name];
    const write = stream.write.bind(stream);
    stream.write = ((chunk: string | Uint8Array, ...rest: []) => {
      const captured = captures.getStore();
      if (captured === undefined) return write(chunk, ...rest);
      captured[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return true;
    }) as typeof stream.write;
  }
}

/** Runs a command line to its end. `environment` is what this process has besides meanwhile. */
export async function runInProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  captureWrites();
  const captured: Captured = { stdout: '', stderr: '' };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  try {
    const status = await captures.run(captured, () => main(args));
    return { status, ...captured };
  } finally {
    if (Object.keys(environment).length > 0) vi.unstubAllEnvs();
  }
}
