// Kills the engine at random moments under load. Afterwards every alert whose write was acknowledged has reached every
// handler, in order, and none twice within one life of the process. `npm run soak:alerts [-- rounds [seed]]`
import { eventually, makeDirectory, removeDirectory, startTidemark } from '@tidemark/testkit';
import type { Tidemark } from '@tidemark/testkit';

import { seededRandom } from './random.ts';
import { openReceiver } from './receiver.ts';
import type { Delivered } from './receiver.ts';

export type AlertSoakResult = {
  readonly rounds: number;
  /** Alerts that were acknowledged; each goes to all handlers. */
  readonly alerts: number;
  readonly deliveries: number;
  /** Deliveries that a crash caused to be made again. */
  readonly repeated: number;
};

const HANDLERS = ['/script', '/first', '/second'];
const LANES = 3;
const IDS_PER_LANE = 20;
/** A life ends when so many alerts were acknowledged, and a moment later. */
const ALERTS_PER_LIFE_MIN = 30;
const ALERTS_PER_LIFE_MAX = 200;
const MOMENT_MS_MAX = 30;
const START_SECONDS = 1_704_067_200;
const SETTLE_TIMEOUT_MS = 120_000;

/** One alert that must arrive: the id's level changed at that time. */
type Expected = { readonly id: string; readonly level: string; readonly time: string };

class Lane {
  readonly expected: Expected[] = [];
  readonly #number: number;
  #count = 0;

  constructor(number: number) {
    this.#number = number;
  }

  /** Writes points, each a change of level, until the engine is gone. A point that was not acknowledged is repeated. */
  async write(url: string): Promise<void> {
    while (await this.writeOne(url));
  }

  /** Writes the next point; false when the engine is gone. Then it is unknown whether it was taken. */
  async writeOne(url: string): Promise<boolean> {
    const { line, expected } = this.#point();
    try {
      const response = await fetch(`${url}/write?db=d&rp=r&precision=s`, {
        method: 'POST',
        body: line,
      });
      if (response.status !== 204) throw new Error(`write answered ${response.status}`);
    } catch (error) {
      if (error instanceof TypeError) return false;
      throw error;
    }
    this.expected.push(expected);
    this.#count++;
    return true;
  }

  #point(): { readonly line: string; readonly expected: Expected } {
    const id = `${this.#number}-${this.#count % IDS_PER_LANE}`;
    const isCritical = Math.floor(this.#count / IDS_PER_LANE) % 2 === 0;
    const seconds = START_SECONDS + this.#count;
    return {
      line: `m,h=${id} v=${isCritical ? 9 : 0} ${seconds}`,
      expected: {
        id,
        level: isCritical ? 'CRITICAL' : 'OK',
        time: new Date(seconds * 1000).toISOString().replace('.000', ''),
      },
    };
  }
}

export async function soakAlerts(
  rounds: number,
  seed: number,
  say: (line: string) => void,
): Promise<AlertSoakResult> {
  const random = seededRandom(seed);
  const receiver = await openReceiver(random);
  const directory = await makeDirectory();
  const lanes = Array.from({ length: LANES }, (_, i) => new Lane(i));
  let engine: Tidemark | undefined;
  try {
    engine = await start(directory);
    await define(engine.engine, receiver.url);
    for (let round = 1; round <= rounds; round++) {
      const { engine: url } = engine;
      const load = Promise.all(lanes.map((lane) => lane.write(url)));
      const share = ALERTS_PER_LIFE_MIN + random() * (ALERTS_PER_LIFE_MAX - ALERTS_PER_LIFE_MIN);
      await acknowledged(lanes, share);
      await pause(random() * MOMENT_MS_MAX);
      await engine.kill();
      await load;
      receiver.nextGeneration();
      engine = await start(directory);
      say(`round ${round}/${rounds}: ${receiver.delivered.length} deliveries`);
    }
    receiver.calm();
    // What was on its way at the last end is settled, too.
    for (const lane of lanes) await lane.writeOne(engine.engine);
    const expected = lanes.flatMap((lane) => lane.expected);
    await eventually(
      'all alerts',
      async () => (missing(expected, receiver.delivered).length === 0 ? true : undefined),
      SETTLE_TIMEOUT_MS,
    ).catch(() => {
      const lost = missing(expected, receiver.delivered);
      throw new Error(`${lost.length} alerts are lost, the first: ${lost[0]}`);
    });
    if ((await engine.stop()) !== 0) throw new Error('the engine did not end well');
    engine = undefined;
    return { rounds, alerts: expected.length, ...check(expected, receiver.delivered) };
  } finally {
    await engine?.kill();
    await receiver.close();
    await removeDirectory(directory);
  }
}

/** Resolves when so many more alerts were acknowledged. */
async function acknowledged(lanes: readonly Lane[], more: number): Promise<void> {
  const count = (): number => lanes.reduce((sum, lane) => sum + lane.expected.length, 0);
  const goal = count() + more;
  await eventually('load', async () => (count() >= goal ? true : undefined), SETTLE_TIMEOUT_MS);
}

function start(directory: string): Promise<Tidemark> {
  return startTidemark({ command: 'engine', directory, args: ['--stats-enabled', 'false'] });
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
