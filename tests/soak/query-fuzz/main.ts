// Compares Tidemark with a reference server on random data and statements. See README.md.
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { removeDirectory, startInfluxdb, startTidemark } from '@tidemark/testkit';

import { randomEnds, randomTiedLines } from './ends.ts';
import { concerning } from './excuses.ts';
import { asRecordedCase, fuzz } from './fuzz.ts';
import type { Difference, FuzzOptions } from './fuzz.ts';
import { Server } from './server.ts';
import { randomShow } from './shows.ts';
import { randomStatement } from './statements.ts';
import { wayText } from './ways.ts';

const { values } = parseArgs({
  options: {
    reference: { type: 'string' },
    candidate: { type: 'string' },
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '60' },
    out: { type: 'string' },
    only: { type: 'string' },
  },
});

/** Parts of the language that can be asked alone. */
const PARTS: Readonly<Record<string, Pick<FuzzOptions, 'randomLines' | 'randomStatement'>>> = {
  shows: { randomStatement: randomShow },
  ends: { randomLines: randomTiedLines, randomStatement: randomEnds },
};

type Running = { readonly url: string; stop(): Promise<unknown> };

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The server at an address, or one of its own on a free port. */
async function serverAt(url: string | undefined, start: () => Promise<Running>): Promise<Running> {
  return url === undefined ? start() : { url, stop: async () => {} };
}

/** Less than a data set. */
const WAL_BYTES = 1024;

async function startCandidate(): Promise<Running> {
  // A small log sends rows to segments at every other write: what reads those is another code.
  const args = ['--data-wal-max-size', String(WAL_BYTES)];
  const { tsdb, directory, stop } = await startTidemark({ command: 'tsdb', args });
  const stopAndRemove = async () => {
    await stop();
    await removeDirectory(directory);
  };
  return { url: tsdb, stop: stopAndRemove };
}

function report(found: Difference): void {
  print(`\nseed ${found.seed}: ${found.text}\n  ${found.what}`);
  if (found.way !== undefined) print(`  asked with ${wayText(found.way)}`);
  for (const text of found.after) print(`  after ${text}`);
  if (found.drawn !== found.text) print(`  drawn as ${found.drawn}`);
  for (const line of found.lines) print(`    ${line}`);
  for (const reason of concerning(found.text)) print(`  not explained by: ${reason}`);
  print(`  reference ${found.reference.body.trim().slice(0, 1000)}`);
  print(`  candidate ${found.candidate.body.trim().slice(0, 1000)}`);
  if (values.out !== undefined) appendFileSync(values.out, `${asRecordedCase(found)}\n`);
}

async function main(): Promise<void> {
  const { only } = values;
  const part = only === undefined ? { randomStatement } : PARTS[only];
  if (part === undefined) {
    print(
      'usage: main.ts [--reference URL] [--candidate URL] [--seed N] [--seconds S] [--out FILE] [--only shows|ends]',
    );
    process.exitCode = 2;
    return;
  }
  const reference = await serverAt(values.reference, startInfluxdb);
  const candidate = await serverAt(values.candidate, startCandidate);
  try {
    const end = performance.now() + Number(values.seconds) * 1000;
    const counts = await fuzz({
      reference: new Server(reference.url),
      candidate: new Server(candidate.url),
      seed: Number(values.seed),
      statementsPerRound: 60,
      ...part,
      isOver: () => performance.now() > end,
      now: () => performance.now(),
      onDifference: report,
    });
    print(`\nseed ${values.seed}: ${JSON.stringify(counts)}`);
    process.exitCode = counts.differences === 0 ? 0 : 1;
  } finally {
    await Promise.all([reference.stop(), candidate.stop()]);
  }
}

await main();
