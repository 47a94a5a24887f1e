// Ids and shards of series, in arrays by the ingest kernel's numbers, because they are read for
// every row.
import { seriesIdOf } from '../ids.ts';

const FIRST_CAPACITY = 1024;

/** The cluster-wide ids of series, and their shards. */
export class LocalSeries {
  /** Two 32-bit words per id. */
  ids = new Uint32Array(2 * FIRST_CAPACITY);
  shardOf = new Uint16Array(FIRST_CAPACITY);
  readonly #known = new LocalSet();

  /** Assigns id and shard to a series, unless it has them. */
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

/** A set of the kernel's numbers of series. */
export class LocalSet {
  #flags = new Uint8Array(FIRST_CAPACITY);

  /** `false` if it is in the set already. */
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
