// Reads the output of the probe in a server (`rounds-probe.mjs`): CPU time of rounds of its
// threads' event loops.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { quantile } from './lines.ts';

const PROBE = fileURLToPath(new URL('rounds-probe.mjs', import.meta.url));
const NAME = 'rounds';

/** The probe writes so often, ms. */
export const PROBE_WRITES_EVERY_MS = 250;

/** Environment of a server that tells the rounds of its threads in a directory. */
export function probed(directory: string): Readonly<Record<string, string>> {
  const options = `--disable-warning=ExperimentalWarning --import ${PROBE}`;
  return { NODE_OPTIONS: options, ROUNDS_FILE: join(directory, NAME) };
}

/** One round: when it ended (ms since 1970) and the processor time that it took. */
export type Round = { readonly endedMs: number; readonly cpuMs: number };

/** Rounds by thread, `main` and the numbers of workers, in their order. */
export function readRounds(directory: string): ReadonlyMap<string, readonly Round[]> {
  const threads = new Map<string, readonly Round[]>();
  for (const name of readdirSync(directory).filter((one) => one.startsWith(`${NAME}.`))) {
    const lines = readFileSync(join(directory, name), 'utf8').trimEnd().split('\n');
    threads.set(
      name.slice(NAME.length + 1),
      lines.map((line): Round => {
        const [endedMs = Number.NaN, cpuMs = Number.NaN] = line.split(' ').map(Number);
        return { endedMs, cpuMs };
      }),
    );
  }
  return threads;
}

/** Prints how long rounds between two moments (ms since 1970) were, thread by thread. */
export function printRounds(directory: string, from: number, to: number): void {
  for (const [thread, all] of readRounds(directory)) {
    const rounds = all
      .filter(({ endedMs }) => endedMs >= from && endedMs <= to)
      .map(({ cpuMs }) => cpuMs)
      .toSorted((a, b) => a - b);
    if (rounds.length === 0) continue;
    const over = (ms: number): number => rounds.filter((spent) => spent > ms).length;
    process.stdout.write(
      `rounds of thread ${thread.padEnd(5)} CPU ms: p50 ${quantile(rounds, 0.5).toFixed(1)}, p99 ${quantile(rounds, 0.99).toFixed(1)}, ` +
        `longest ${quantile(rounds, 1).toFixed(1)}; ${rounds.length} above 0.5, ${over(5)} above 5, ${over(10)} above 10\n`,
    );
  }
}
