// Benchmark of a topic with 100,000 event ids: state changes per second (each stored and synced,
// with one handler whose outbox gains and loses an entry), the list of its first 100 events, and
// the memory of an event that is not being read. `npm run bench -- alerting`; prints one line per
// measurement. The systems it is compared with have no such figures.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { ALLOW_EVERYTHING } from '@tidemark/settings';

import { AlertService, AlertStore } from '@tidemark/alerting';
import { InvalidRequest, systemClock } from '@tidemark/core';
import type { AlertEvent } from '@tidemark/runtime';

import { alertTables } from '../../../packages/engine/src/store/alert-tables.ts';
import { Metadata } from '../../../packages/engine/src/store/metadata.ts';

const IDS = 100_000;
const CHANGES_PER_TURN = 1_000;
const LIST_REPEATS = 51;
/** As good as random: a stride that has no divisor in common with the number of ids. */
const RANDOM = 7_919;
const START_NANOS = 1_704_067_200_000_000_000n;

setFlagsFromString('--expose_gc');
const collectGarbage = runInNewContext('gc') as () => void;

const directory = mkdtempSync(join(tmpdir(), 'alerting-bench-'));
const metadata = await Metadata.open(directory);
const nothing = (): never => {
  throw new InvalidRequest('not used by this benchmark');
};
const alerts = new AlertService({
  store: new AlertStore(alertTables(metadata), { clock: systemClock(), log: () => undefined }),
  clock: systemClock(),
  log: (level, message, fields) => console.log(level, message, fields),
  random: Math.random,
  isPersistent: true,
  context: {
    section: () => undefined,
    http: { send: nothing, close: () => Promise.resolve() },
    clock: systemClock(),
    render: (text) => text,
    checkTemplate: () => undefined,
    access: ALLOW_EVERYTHING,
    resolveSecret: (text) => text,
    server: { hostname: 'bench', url: '', product: 'bench' },
    connections: { use: nothing, discard: () => Promise.resolve() },
  },
});
alerts.open();
await alerts.createHandler('hosts', {
  id: 'counts',
  form: 'actions',
  actions: [{ kind: 'stateChangesOnly', options: {} }],
  match: '',
});

collectGarbage();
const before = process.memoryUsage();
await change('first states, random ids', { level: 'CRITICAL', tick: 0n, stride: RANDOM });
printList('list of the top 100 of new ids, ms', 1);
await change('state changes', { level: 'OK', tick: 1n });
await change('state changes, two writers', { level: 'CRITICAL', tick: 2n, writers: 2 });
await idle();
const after = process.memoryUsage();
const grown = after.heapUsed + after.external - before.heapUsed - before.external;
print('bytes of memory per idle event', grown / IDS);
printList('list of the top 100, ms', LIST_REPEATS);
// The worst that a level can do to a list: what it asks for lies behind everything else.
await change('state changes, random ids', { level: 'OK', tick: 3n, stride: RANDOM });
for (let i = IDS - 100; i < IDS; i++) alerts.publish('hosts', event(i, 'CRITICAL', 4n));
await alerts.stored();
printList('list of the only 100 CRITICAL, the last ones, ms', LIST_REPEATS, 'CRITICAL');

await alerts.close(0);
await metadata.close();
rmSync(directory, { recursive: true, force: true });

type Change = {
  readonly level: AlertEvent['level'];
  readonly tick: bigint;
  readonly writers?: number | undefined;
  /** From one id to the next. */
  readonly stride?: number | undefined;
};

async function change(
  name: string,
  { level, tick, writers = 1, stride = 1 }: Change,
): Promise<void> {
  const start = performance.now();
  const cpu = process.cpuUsage();
  // Points come in batches of a writer; his next batch waits until the alerts of this one are on
  // disk.
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; n < IDS / writers; n++) {
      const i = ((n * writers + writer) * stride) % IDS;
      alerts.publish('hosts', event(i, level, tick));
      if (n % CHANGES_PER_TURN === CHANGES_PER_TURN - 1) await alerts.stored();
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  await delivered();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  print(`${name}, 1/s`, IDS / seconds);
  print('  CPU seconds', (user + system) / 1e6);
}

function printList(name: string, repeats: number, minLevel: AlertEvent['level'] = 'OK'): void {
  const times: number[] = [];
  for (let i = 0; i < repeats; i++) {
    const start = performance.now();
    const found = alerts.events('hosts', { minLevel, limit: 100 });
    if (found.length !== 100) throw new Error('the list is incomplete');
    times.push(performance.now() - start);
  }
  times.sort((a, b) => a - b);
  print(name, times[Math.floor(repeats / 2)] ?? 0);
  if (repeats > 1) print('  the slowest', times[repeats - 1] ?? 0);
}

async function delivered(): Promise<void> {
  while (alerts.handlerState('hosts', 'counts').waiting > 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await alerts.stored();
}

async function idle(): Promise<void> {
  await delivered();
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
}

function event(i: number, level: AlertEvent['level'], tick: bigint): AlertEvent {
  const id = `cpu:host=server-${String(i).padStart(6, '0')}`;
  const time = START_NANOS + tick * 10_000_000_000n;
  return {
    id,
    message: `${id} is ${level}`,
    // As long as the default details of a point with a few fields.
    details: `{&#34;Name&#34;:&#34;cpu&#34;,&#34;ID&#34;:&#34;${id}&#34;}`.padEnd(600, 'x'),
    time,
    durationNanos: tick,
    level,
    isRecoverable: true,
    data: [
      {
        name: 'cpu',
        tags: { host: `server-${i}` },
        columns: ['time', 'usage'],
        values: [[time, 97.5]],
      },
    ],
    context: {
      name: 'cpu',
      taskName: 'task',
      group: `host=server-${i}`,
      category: '',
      tags: { host: `server-${i}` },
      fields: { usage: 97.5 },
    },
  };
}

function print(what: string, value: number): void {
  console.log(`${what.padEnd(50)} ${value.toFixed(3)}`);
}
