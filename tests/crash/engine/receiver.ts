// The receiver of a handler's alerts over HTTP: sometimes slow, sometimes refusing. Keeps the
// alerts that it has accepted.
import { setTimeout } from 'node:timers/promises';

import { TestServer } from '@tidemark/testkit';

export type Delivered = {
  /** Path of the handler that sent it. */
  readonly handler: string;
  readonly id: string;
  readonly level: string;
  readonly time: string;
  /** Which life of the engine sent it. */
  readonly generation: number;
};

export type Receiver = {
  readonly url: string;
  readonly delivered: readonly Delivered[];
  /** A new life of the engine begins. */
  nextGeneration(): void;
  /** From now on everything is accepted at once. */
  calm(): void;
  close(): Promise<void>;
};

const REFUSED_SHARE = 0.01;
const SLOW_SHARE = 0.05;
const SLOW_MS = 20;

export async function openReceiver(random: () => number): Promise<Receiver> {
  const delivered: Delivered[] = [];
  let generation = 0;
  let isCalm = false;
  const server = new TestServer(async ({ path, body }) => {
    const { id, level, time } = JSON.parse(body) as Delivered;
    const dice = isCalm ? 1 : random();
    if (dice < REFUSED_SHARE) return { status: 503 };
    delivered.push({ handler: path, id, level, time, generation });
    if (dice < SLOW_SHARE) await setTimeout(SLOW_MS);
    return {};
  });
  await server.open();
  return {
    url: server.url,
    delivered,
    nextGeneration: () => void generation++,
    calm: () => {
      isCalm = true;
    },
    close: () => server.close(),
  };
}
