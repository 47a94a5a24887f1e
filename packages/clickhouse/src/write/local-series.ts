// Ids and shards of the series that an ingest has numbered: arrays by these numbers, because every
// row asks.
import { seriesIdOf } from '../ids.ts';

const FIRST_CAPACITY = 1024;

/** The ids that all front ends give the series, and the shards of the cluster that hold them. */
export class LocalSeries {
  /** Two words each. */
  ids = new Uint32Array(2 * FIRST_CAPACITY);
  shardOf = new Uint16Array(FIRST_CAPACITY);
  readonly #known = new LocalSet();

  /** Gives a series its id and its shard, before they are read. */
  assignShard(local: number, key: () => Uint8Array, shardOfSeries: (id: bigint) => number): void {
    if (!this.#known.add(local)) return;
    if (local >= this.shardOf.length) {
      const capacity = Math.max(local + 1, 2 * this.shardOf.length);
      this.ids = grown(this.ids, new Uint32Array(2 * capacity));
      this.shardOf = grown(this.shardOf, new Uint16Array(capacity));
    }
    const id = seriesIdOf(key());
    new BigUint64Array(this.ids.buffer)[local] = id;
    this.shardOf[local] = shardOfSeries(id);
  }

  id(local: number): bigint {
    return new BigUint64Array(this.ids.buffer)[local]!;
  }
}

/** Numbers of series, in some order of arrival. */
export class LocalSet {
  #flags = new Uint8Array(FIRST_CAPACITY);

  /** `false` when it was there. */
  add(local: number): boolean {
    if (this.#flags[local] === 1) return false;
    if (local >= this.#flags.length)
      this.#flags = grown(this.#flags, new Uint8Array(Math.max(local + 1, 2 * this.#flags.length)));
    this.#flags[local] = 1;
    return true;
  }
}

function grown<T extends Uint8Array | Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
