// What the probe in a server (`rounds-probe.mjs`) has written: CPU time of rounds of its threads' event loops.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { quantile } from './lines.ts';

const PROBE = fileURLToPath(new URL('rounds-probe.mjs', import.meta.url));
const NAME = 'rounds';

/** Environment of a server that tells the rounds of its threads in a directory. */
export function probed(directory: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import ${PROBE}`, ROUNDS_FILE: join(directory, NAME) };
}

/** Prints how long rounds between two moments (ms since 1970) were, thread by thread. */
export function printRounds(directory: string, from: number, to: number): void {
  for (const name of readdirSync(directory).filter((one) => one.startsWith(`${NAME}.`))) {
    const text = readFileSync(join(directory, name), 'utf8');
    const rounds = (JSON.parse(text) as [number, number][])
      .filter(([at]) => at >= from && at <= to)
      .map(([, spentMs]) => spentMs)
      .toSorted((a, b) => a - b);
    if (rounds.length === 0) continue;
    const over = (ms: number): number => rounds.filter((spent) => spent > ms).length;
    process.stdout.write(
      `rounds of thread ${name.slice(NAME.length + 1).padEnd(5)} CPU ms: p50 ${quantile(rounds, 0.5).toFixed(1)}, p99 ${quantile(rounds, 0.99).toFixed(1)}, ` +
        `longest ${quantile(rounds, 1).toFixed(1)}; ${rounds.length} above 0.5, ${over(5)} above 5, ${over(10)} above 10\n`,
    );
  }
}
