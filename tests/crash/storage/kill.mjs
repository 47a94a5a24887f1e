// Kills the engine's process at random moments under load and checks after every round that nothing
// acknowledged is lost and nothing is invented. `packages/cli/bin/node --conditions=source
// tests/crash/storage/kill.mjs [rounds] [seed]`
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { eachBatch } from '@tidemark/query';
import { openStorage } from '@tidemark/storage';

const ROWS_PER_BATCH = 200;
const WRITER = fileURLToPath(new URL('./writer.mjs', import.meta.url));

/**
 * Runs the writer until `killAfterMs` after it began and returns the number of acknowledged batches
 * per lane.
 */
function runWriter(directory, round, killAfterMs) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, WRITER, directory, String(round)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const acknowledged = [0, 0, 0];
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'open') setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      const match = /^ack (\d+) (\d+)$/.exec(line);
      if (match !== null) acknowledged[Number(match[1])] = Number(match[2]) + 1;
    });
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(acknowledged);
      else reject(new Error(`writer ended by itself. code=${code}`));
    });
  });
}

/** Batches per `round lane` that are readable, each checked to be whole. */
async function readBatches(engine) {
  const snapshot = engine.source.snapshot();
  const batches = new Map();
  const series = snapshot.scan(
    {
      source: { database: 'db', retentionPolicy: 'autogen', measurement: 'm' },
      timeRange: { start: -(2n ** 62n), end: 2n ** 62n },
      descending: false,
      groupBy: 'all',
      fields: [{ name: 'v', type: 'integer' }],
    },
    { signal: new AbortController().signal },
  );
  for await (const { tags, times, columns } of eachBatch(series)) {
    const key = `${tags.get('round')} ${tags.get('lane')}`;
    const rows = batches.get(key) ?? [];
    for (let i = 0; i < times.length; i++) {
      const row = Number(times[i]) / 1000;
      const batch = Math.floor(row / ROWS_PER_BATCH);
      if (Number(columns[0].values[i]) !== batch) throw new Error(`invented value. row=${row}`);
      rows[batch] = (rows[batch] ?? 0) + 1;
    }
    batches.set(key, rows);
  }
  snapshot.close();
  return batches;
}

export async function killRounds({ rounds, seed, log = () => undefined }) {
  const directory = mkdtempSync(join(tmpdir(), 'storage-kill-'));
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const expected = new Map();
  try {
    for (let round = 0; round < rounds; round++) {
      const acknowledged = await runWriter(directory, round, 50 + random() * 900);
      acknowledged.forEach((count, lane) => expected.set(`${round} ${lane}`, count));
      const began = performance.now();
      const engine = await openStorage({ directory });
      const openMs = performance.now() - began;
      const found = await readBatches(engine);
      await engine.close();
      for (const [key, count] of expected) {
        const rows = found.get(key) ?? [];
        for (let batch = 0; batch < count; batch++) {
          if (rows[batch] !== ROWS_PER_BATCH) {
            throw new Error(
              `lost: round and lane ${key}, batch ${batch} of ${count}. rows=${rows[batch]}`,
            );
          }
        }
        for (const count_ of rows) {
          if (count_ !== ROWS_PER_BATCH) throw new Error(`torn batch: ${key}. rows=${count_}`);
        }
      }
      log(
        `round ${round + 1}/${rounds}: ${acknowledged.join('+')} batches kept, opened in ${openMs.toFixed(0)} ms`,
      );
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [rounds = '5', seed = '1'] = process.argv.slice(2);
  // eslint-disable-next-line no-console
  await killRounds({ rounds: Number(rounds), seed: Number(seed), log: console.log });
}
