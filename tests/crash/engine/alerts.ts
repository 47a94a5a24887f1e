// Kills the engine at random moments under load. Afterwards every alert whose write was
// acknowledged has reached every handler, in order, and none twice within one life of the process:
// of single alerts, of bursts of hundreds, and on a disk that is full at times. `npm run
// soak:alerts [-- rounds [seed]]`
import { eventually, makeDirectory, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { Lane } from './lane.ts';
import type { Expected } from './lane.ts';
import { seededRandom } from '@tidemark/testkit';
import { openReceiver } from './receiver.ts';
import type { Delivered, Receiver } from './receiver.ts';
import { mountSmallDisk } from './small-disk.ts';
import type { SmallDisk } from './small-disk.ts';

export type AlertSoakResult = {
  readonly rounds: number;
  /** Alerts that were acknowledged; each goes to all handlers. */
  readonly alerts: number;
  /** Writes that were answered 503 because the disk was full. */
  readonly refused: number;
  readonly deliveries: number;
  /** Deliveries that a crash caused to be made again. */
  readonly repeated: number;
};

const HANDLERS = ['/script', '/first', '/second'];
const SINGLES = { idCount: 20, pointsPerWrite: 1 };
const LANES = {
  singles: [SINGLES, SINGLES, SINGLES],
  bursts: [{ idCount: 500, pointsPerWrite: 500 }, SINGLES],
  'full disk': [{ idCount: 100, pointsPerWrite: 100 }, SINGLES, SINGLES],
} as const satisfies Record<AlertLoad, readonly object[]>;
const SMALL_DISK_MIB = 64;
const REFUSED_PER_ROUND = 5;
const ROUNDS_PER_SETTLING = 4;
/** A life ends when so many alerts were acknowledged, and a moment later. */
const ALERTS_PER_LIFE_MIN = 30;
const ALERTS_PER_LIFE_MAX = 200;
const MOMENT_MS_MAX = 30;
const SETTLE_TIMEOUT_MS = 120_000;

/** The points to write, and whether the disk is full at times. */
export type AlertLoad = 'singles' | 'bursts' | 'full disk';

export type AlertSoakOptions = {
  readonly load: AlertLoad;
  readonly rounds: number;
  readonly seed: number;
  readonly say: (line: string) => void;
};

export async function soakAlerts(options: AlertSoakOptions): Promise<AlertSoakResult> {
  const { load, rounds, seed, say } = options;
  const random = seededRandom(seed);
  const receiver = await openReceiver(random);
  const directory = await makeDirectory();
  const disk = load === 'full disk' ? await mountSmallDisk(directory, SMALL_DISK_MIB) : undefined;
  const start = (): Promise<Tidemark> =>
    startTidemark({
      command: 'engine',
      directory,
      args: ['--stats-enabled', 'false'],
      environment: { TIDEMARK_TASK_SNAPSHOT_INTERVAL: '100ms' },
      wrapper: disk?.wrapper,
    });
  const lanes = LANES[load].map((shape, i) => new Lane(String(i), shape));
  let engine: Tidemark | undefined;
  try {
    engine = await start();
    await define(engine.engine, receiver.url);
    for (let round = 1; round <= rounds; round++) {
      const { engine: url } = engine;
      const writing = Promise.all(lanes.map((lane) => lane.write(url)));
      const share = ALERTS_PER_LIFE_MIN + random() * (ALERTS_PER_LIFE_MAX - ALERTS_PER_LIFE_MIN);
      await acknowledged(lanes, share);
      if (disk !== undefined) {
        await useUp(disk, lanes);
        // In every other round writes go on before the end.
        if (round % 2 === 0) {
          disk.free();
          await acknowledged(lanes, 1);
        }
      }
      await pause(random() * MOMENT_MS_MAX);
      await engine.kill();
      await writing;
      disk?.free();
      receiver.nextGeneration();
      engine = await start();
      // Waiting deliveries must not pile up from round to round.
      if (round % ROUNDS_PER_SETTLING === 0) await allDelivered(lanes, receiver);
      say(`${load}, round ${round}/${rounds}: ${receiver.delivered.length} deliveries`);
    }
    receiver.calm();
    // Deliveries in progress at the last end are settled too.
    for (const lane of lanes) await lane.writeOne(engine.engine);
    const expected = await allDelivered(lanes, receiver);
    if ((await engine.stop()) !== 0) throw new Error('the engine did not end well');
    engine = undefined;
    const refused = lanes.reduce((sum, lane) => sum + lane.refusedCount, 0);
    return { rounds, alerts: expected.length, refused, ...check(expected, receiver.delivered) };
  } finally {
    await engine?.kill();
    await receiver.close();
    await disk?.close();
    await removeDirectory(directory);
  }
}

/** Resolves when every acknowledged alert has been delivered: all of them. */
async function allDelivered(
  lanes: readonly Lane[],
  receiver: Receiver,
): Promise<readonly Expected[]> {
  const expected = lanes.flatMap((lane) => lane.expected);
  const lost = (): readonly string[] => missing(expected, receiver.delivered);
  await eventually(
    'all alerts',
    async () => (lost().length === 0 ? true : undefined),
    SETTLE_TIMEOUT_MS,
  ).catch(() => {
    throw new Error(`${lost().length} alerts are lost, the first: ${lost()[0]}`);
  });
  return expected;
}

/** Leaves no room on the disk; resolves when writes have been refused. */
async function useUp(disk: SmallDisk, lanes: readonly Lane[]): Promise<void> {
  const count = (): number => lanes.reduce((sum, lane) => sum + lane.refusedCount, 0);
  const goal = count() + REFUSED_PER_ROUND;
  await eventually(
    'refused writes',
    async () => {
      // Again and again: the engine gives room back, too.
      disk.fill();
      return count() >= goal ? true : undefined;
    },
    SETTLE_TIMEOUT_MS,
  );
}

/** Resolves when so many more alerts were acknowledged. */
async function acknowledged(lanes: readonly Lane[], more: number): Promise<void> {
  const count = (): number => lanes.reduce((sum, lane) => sum + lane.expected.length, 0);
  const goal = count() + more;
  await eventually('load', async () => (count() >= goal ? true : undefined), SETTLE_TIMEOUT_MS);
}

async function define(url: string, receiver: string): Promise<void> {
  const script = `stream|from().measurement('m').groupBy('h')
    |alert().id('{{ index .Tags "h" }}').crit(lambda: "v" > 5).stateChangesOnly().topic('t').post('${receiver}/script')`;
  const dbrps = [{ db: 'd', rp: 'r' }];
  const task = { id: 'task', type: 'stream', status: 'enabled', script, dbrps };
  await post(`${url}/engine/v1/tasks`, task);
  for (const id of ['first', 'second']) {
    await post(`${url}/engine/v1preview/alerts/topics/t/handlers`, {
      id,
      actions: [{ kind: 'post', options: { url: `${receiver}/${id}` } }],
    });
  }
}

async function post(url: string, body: object): Promise<void> {
  const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
  if (response.status !== 200)
    throw new Error(`${url}: ${response.status} ${await response.text()}`);
}

function keyOf({ id, level, time }: Expected): string {
  return `${id} ${level} ${time}`;
}

function missing(
  expected: readonly Expected[],
  delivered: readonly Delivered[],
): readonly string[] {
  const seen = new Set(delivered.map((one) => `${one.handler} ${keyOf(one)}`));
  return HANDLERS.flatMap((handler) => expected.map((one) => `${handler} ${keyOf(one)}`)).filter(
    (key) => !seen.has(key),
  );
}

/** Order per handler and id, and nothing twice within one life; throws what is wrong. */
function check(
  expected: readonly Expected[],
  delivered: readonly Delivered[],
): { readonly deliveries: number; readonly repeated: number } {
  const known = new Set(expected.map(keyOf));
  const firsts = new Map<string, number>();
  const lastTimes = new Map<string, string>();
  let repeated = 0;
  for (const one of delivered) {
    const key = `${one.handler} ${keyOf(one)}`;
    if (!known.has(keyOf(one))) throw new Error(`never happened: ${key}`);
    const generation = firsts.get(key);
    if (generation !== undefined) {
      if (generation === one.generation) throw new Error(`sent twice by one process: ${key}`);
      repeated++;
      continue;
    }
    firsts.set(key, one.generation);
    const lane = `${one.handler} ${one.id}`;
    if ((lastTimes.get(lane) ?? '') >= one.time) throw new Error(`out of order: ${key}`);
    lastTimes.set(lane, one.time);
  }
  return { deliveries: delivered.length, repeated };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
