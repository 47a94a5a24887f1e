// Makes the product deterministic: its random numbers (ids, retry delays) follow the seed of a run,
// and everything it reads about this process is constant.
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { seededRandom } from '@tidemark/testkit';

/** The result puts back what was there. One run at a time. */
export function seedChance(seed: number): () => void {
  const random = seededRandom(seed);
  const { randomUUID } = crypto;
  const { random: mathRandom } = Math;
  const set = (uuid: typeof randomUUID, number: () => number): void => {
    crypto.randomUUID = uuid;
    Math.random = number;
    syncBuiltinESMExports();
  };
  const digits = (count: number): string =>
    Array.from({ length: count }, () => Math.floor(random() * 16).toString(16)).join('');
  set(() => `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(12)}`, random);
  const { rss } = process.memoryUsage;
  process.memoryUsage.rss = () => 0;
  return () => {
    set(randomUUID, mathRandom);
    process.memoryUsage.rss = rss;
  };
}
