// How long the storage thread is held while most of very many series lose their rows, those of one
// measurement and of very many: the longest turn, the longest of the small writes beside it, and
// what the statement itself takes. Arguments: series, rows of each. `packages/cli/bin/node
// --conditions=source tests/bench/storage/deletes.ts`
import type { StorageEngine } from '@tidemark/storage-api';

import { POLICY } from './policy.ts';
import { Bench } from './steps.ts';

const [seriesCount = 200_000, rowsEach = 5] = process.argv.slice(2).map(Number);
const ROWS_PER_BODY = 10_000;
const MANY = 20_000;

const { database } = POLICY;

/** Seven of ten series are of group `a`. Rows are in segments, in memory, or both. */
async function load(
  engine: StorageEngine,
  nameOf: (series: number) => string,
  where: Where,
): Promise<void> {
  for (let time = 0; time < rowsEach; time++) {
    for (let first = 0; first < seriesCount; first += ROWS_PER_BODY) {
      const count = Math.min(ROWS_PER_BODY, seriesCount - first);
      const lines = Array.from({ length: count }, (_, i) => {
        const series = first + i;
        const group = series % 10 < 7 ? 'a' : 'b';
        return `${nameOf(series)},grp=${group},id=${series} v=${time} ${time}`;
      });
      const body = new TextEncoder().encode(lines.join('\n'));
      await engine.writeLines({ policy: POLICY, body, precision: 's', now: 0n });
    }
    const isLast = time === rowsEach - 1;
    if (where === 'segments' ? isLast : where === 'both' && time === rowsEach >> 1) {
      await engine.flush();
    }
  }
}

type Where = 'segments' | 'memory' | 'both';

async function report(
  what: string,
  engine: StorageEngine,
  work: () => Promise<void>,
): Promise<void> {
  const turn = { longestMs: 0, longestCpuMs: 0, isOver: false };
  let before = performance.now();
  let usedBefore = threadCpuMs();
  const look = (): void => {
    const now = performance.now();
    const used = threadCpuMs();
    turn.longestMs = Math.max(turn.longestMs, now - before);
    turn.longestCpuMs = Math.max(turn.longestCpuMs, used - usedBefore);
    before = now;
    usedBefore = used;
    if (!turn.isOver) setImmediate(look);
  };
  const writes: number[] = [];
  const write = async (): Promise<void> => {
    while (!turn.isOver) {
      const first = writes.length * 100;
      const lines = Array.from({ length: 100 }, (_, i) => `w,host=h${i} v=${i} ${first + i}`);
      const body = new TextEncoder().encode(lines.join('\n'));
      const began = performance.now();
      await engine.writeLines({ policy: POLICY, body, precision: 's', now: 0n });
      writes.push(performance.now() - began);
    }
  };
  setImmediate(look);
  const writing = write();
  const began = performance.now();
  await work();
  const tookMs = performance.now() - began;
  turn.isOver = true;
  await writing;
  const ms = (value: number): string => value.toFixed(1).padStart(8);
  console.log(
    `${what.padEnd(42)} ms: statement ${ms(tookMs)}, longest turn ${ms(turn.longestMs)} (CPU ${ms(turn.longestCpuMs)}), longest of ${writes.length} writes ${ms(Math.max(...writes))}`,
  );
}

/** CPU time of this thread; it grows by ticks of the system. */
function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const bench = new Bench();
const engine = await bench.open();
const grpA = { kind: 'tag', key: 'grp', operator: '=', value: 'a' } as const;
for (const where of ['segments', 'memory', 'both'] as const) {
  const of = { database, measurements: [where] };
  await load(engine, () => where, where);
  const range = { start: 0n, end: 1_000_000_000n };
  await report(`${where}: DELETE of some rows`, engine, () =>
    engine.delete({ ...of, where: grpA, timeRange: range }),
  );
  await report(`${where}: DELETE of seven tenths`, engine, () =>
    engine.delete({ ...of, where: grpA }),
  );
  await report(`${where}: DROP MEASUREMENT`, engine, () => engine.dropMeasurement(database, where));
}
for (const where of ['segments', 'memory'] as const) {
  await load(engine, (series) => `m${series % MANY}`, where);
  await report(`${where}, ${MANY} measurements: DROP SERIES`, engine, () =>
    engine.delete({ database, where: grpA }),
  );
  await report(`${where}, ${MANY} measurements: all`, engine, () => engine.delete({ database }));
}
await bench.close();
