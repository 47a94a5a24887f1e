// Benchmark of alerts from write to topic: processor time that an event costs (beside the same
// rows without events), and how long a write takes until its alert is stored, while 10,000 rows a
// second come in. A write is answered when the alerts that it raises are on disk.
// `npm run bench -- engine/alerts`; needs a build.
import { setTimeout } from 'node:timers/promises';

import { makeDirectory, removeDirectory, startTidemark } from '@tidemark/testkit';

import { KeepAlive } from '../server/keep-alive.ts';
import { processorMs } from '../server/processor.ts';

const EVENTS = 50_000;
const ROWS_PER_BODY = 500;
const HOSTS = 100;
const SETTLE_MS = 1000;
/** The load of the second part: a row of each write raises an alert. */
const ROWS_PER_SECOND = 10_000;
const WRITES_PER_SECOND = 100;
const LOAD_SECONDS = 10;
const WARM_UP_SECONDS = 3;

const directory = await makeDirectory();
const engine = await startTidemark({ command: 'engine', directory });
const { pid = 0 } = engine.process;

/** Connections without a request; `fetch` would add some milliseconds of its own. */
const idle: KeepAlive[] = [];

async function post(path: string, body: string): Promise<void> {
  const connection = idle.pop() ?? (await KeepAlive.open(engine.engine));
  const status = await connection.post(`/engine/v1${path}`, body);
  idle.push(connection);
  if (status >= 300) throw new Error(`${path}: ${status}`);
}

const line = (measurement: string, row: number, value: number): string =>
  `${measurement},host=h${row % HOSTS} v=${value},a=1,b=2.5,c=3 ${1_700_000_000 + Math.floor(row / HOSTS)}`;

for (const [id, measurement] of [
  ['events', 'm'],
  ['load', 'n'],
] as const) {
  const script = `stream|from().measurement('${measurement}').groupBy('host')|alert().crit(lambda: "v" > 50.0).message('{{ .ID }} is {{ .Level }}').topic('${id}')`;
  const dbrps = [{ db: 'd', rp: 'r' }];
  await post('/tasks', JSON.stringify({ id, dbrps, script, status: 'enabled' }));
}

/** Processor time of writing rows that all have a value. */
async function costOf(value: number): Promise<number> {
  const before = processorMs(pid);
  for (let row = 0; row < EVENTS; row += ROWS_PER_BODY) {
    const lines = Array.from({ length: ROWS_PER_BODY }, (_, i) => line('m', row + i, value));
    await post('/write?db=d&rp=r&precision=s', lines.join('\n'));
  }
  await setTimeout(SETTLE_MS);
  return processorMs(pid) - before;
}

// The first round of each warms up.
const rounds = [];
for (let round = 0; round < 4; round++) {
  const [without, withEvents] = [await costOf(1), await costOf(99)];
  rounds.push(((withEvents - without) / EVENTS) * 1000);
}
console.log(
  `an event costs ${rounds
    .slice(1)
    .map((micros) => micros.toFixed(0))
    .join(', ')} µs of processor time`,
);

const waits: number[] = [];
const pending: Promise<void>[] = [];
const began = performance.now();
for (let write = 0; write < WRITES_PER_SECOND * (WARM_UP_SECONDS + LOAD_SECONDS); write++) {
  const dueMs = began + (write * 1000) / WRITES_PER_SECOND;
  if (dueMs > performance.now()) await setTimeout(dueMs - performance.now());
  const rows = ROWS_PER_SECOND / WRITES_PER_SECOND;
  const lines = Array.from({ length: rows }, (_, i) =>
    line('n', write * rows + i, i === 0 ? 99 : 1),
  );
  const sent = performance.now();
  const isCounted = write >= WRITES_PER_SECOND * WARM_UP_SECONDS;
  pending.push(
    post('/write?db=d&rp=r&precision=s', lines.join('\n')).then(() => {
      if (isCounted) waits.push(performance.now() - sent);
    }),
  );
}
await Promise.all(pending);
waits.sort((a, b) => a - b);
const rank = (share: number): string => (waits[Math.floor(waits.length * share)] ?? 0).toFixed(1);
console.log(
  `from a write to its stored alert at ${ROWS_PER_SECOND} rows/s: p50 ${rank(0.5)} ms, p99 ${rank(0.99)} ms`,
);
for (const connection of idle) connection.close();
await engine.stop();
await removeDirectory(directory);
