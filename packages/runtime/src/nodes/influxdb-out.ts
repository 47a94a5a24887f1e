// influxDBOut: writes points to a database, in buffers by destination.
import { messageOf } from '@tidemark/core';
import { influxdbOutNode } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Barrier, Batch, Point } from '../data/point.ts';
import { toOutputPoint } from '../data/point.ts';
import type { ContextOf } from '../implement.ts';
import { implement } from '../implement.ts';
import type { RunningNode } from '../node.ts';
import type { NodeCapabilities } from '../node-capabilities.ts';
import type { OutputPoint } from '../services.ts';
import type { CancelTimer } from '../timers.ts';

type Buffer = {
  readonly database: string;
  readonly retentionPolicy: string;
  points: OutputPoint[];
};

export class InfluxdbOutNode implements RunningNode {
  readonly capabilities: NodeCapabilities = {
    counters: this,
    starting: this,
    waiting: this,
    buffering: this,
    closing: this,
    state: this,
  };
  readonly #ctx: ContextOf<typeof influxdbOutNode>;
  readonly #buffers = new Map<string, Buffer>();
  /** Those that are being written, in order. */
  readonly #writing = new Set<Buffer>();
  #pointsWritten = 0;
  #writeErrors = 0;
  #lastWrite: Promise<void> = Promise.resolve();
  #cancelTimer: CancelTimer | undefined;

  constructor(ctx: ContextOf<typeof influxdbOutNode>) {
    this.#ctx = ctx;
  }

  get groupCount(): number {
    return 0;
  }

  get waitingCount(): number {
    return this.#writing.size;
  }

  async start(): Promise<void> {
    const { isCreatingDatabase, database, retentionPolicy, cluster } = this.#ctx.options;
    if (isCreatingDatabase && database !== '') {
      const policy = retentionPolicy === '' ? '' : ` WITH NAME ${quoted(retentionPolicy)}`;
      const statement = `CREATE DATABASE ${quoted(database)}${policy}`;
      try {
        await this.#ctx.task.services.database.execute(cluster, statement);
      } catch (cause) {
        // The database may exist or be created later; writes report that.
        this.#ctx.fail('failed to create database', messageOf(cause));
      }
    }
    for (const restored of this.#buffers.values()) this.#flushLater(restored);
  }

  point(point: Point): void {
    this.#add(point, point.origin.database, point.origin.retentionPolicy);
  }

  batch(batch: Batch): void {
    for (const point of batch.points) this.#add(point, '', '');
  }

  barrier(_barrier: Barrier): void {}

  deleteGroup(_group: Group): void {}

  stats(): Readonly<Record<string, number>> {
    return { points_written: this.#pointsWritten, write_errors: this.#writeErrors };
  }

  idle(): Promise<void> {
    return this.#lastWrite;
  }

  /** The points that the database does not have yet. */
  snapshot(): unknown {
    const buffers = [...this.#writing, ...this.#buffers.values()];
    const unwritten = buffers.filter(({ points }) => points.length > 0);
    return unwritten.length === 0 ? undefined : unwritten;
  }

  restore(state: unknown): void {
    for (const { database, retentionPolicy, points } of state as readonly Buffer[]) {
      const buffer = this.#bufferOf(database, retentionPolicy);
      buffer.points = [...buffer.points, ...points];
    }
  }

  flush(): void {
    for (const buffer of this.#buffers.values()) this.#flush(buffer);
  }

  async close(): Promise<void> {
    this.#cancelTimer?.();
    this.flush();
    await this.#lastWrite;
  }

  /** Writes the buffer one interval after its first point, by the real clock. */
  #schedule(): void {
    const { flushIntervalNanos } = this.#ctx.options;
    if (flushIntervalNanos <= 0n || this.#cancelTimer !== undefined) return;
    const { outsideTimers, guard } = this.#ctx.task;
    this.#cancelTimer = outsideTimers.at(outsideTimers.now() + flushIntervalNanos, () => {
      this.#cancelTimer = undefined;
      guard(() => this.flush());
    });
  }

  #add(point: Point, originDatabase: string, originPolicy: string): void {
    const { options } = this.#ctx;
    const output = this.#output(point);
    // Null fields are not written; a point without fields does not exist.
    if (output.fields.size === 0) return;
    const database = options.database === '' ? originDatabase : options.database;
    const retentionPolicy = options.retentionPolicy === '' ? originPolicy : options.retentionPolicy;
    const buffer = this.#bufferOf(database, retentionPolicy);
    buffer.points.push(output);
    this.#flushLater(buffer);
  }

  /** At once if it is full. */
  #flushLater(buffer: Buffer): void {
    this.#schedule();
    if (BigInt(buffer.points.length) >= this.#ctx.options.bufferCount) this.#flush(buffer);
  }

  #bufferOf(database: string, retentionPolicy: string): Buffer {
    const key = `${database}\u0000${retentionPolicy}`;
    let buffer = this.#buffers.get(key);
    if (buffer === undefined) {
      buffer = { database, retentionPolicy, points: [] };
      this.#buffers.set(key, buffer);
    }
    return buffer;
  }

  #output(point: Point): OutputPoint {
    const { measurement, tags } = this.#ctx.options;
    const output = toOutputPoint(point, { areDurationsText: true });
    const fields = new Map([...output.fields].filter(([, value]) => value !== null));
    const name = measurement === '' ? output.name : measurement;
    return { name, tags: withTags(output.tags, tags), fields, time: output.time };
  }

  #flush(buffer: Buffer): void {
    if (buffer.points.length === 0) return;
    const full = { ...buffer };
    buffer.points = [];
    this.#writing.add(full);
    this.#lastWrite = this.#write(full, this.#lastWrite);
  }

  async #write(buffer: Buffer, previous: Promise<void>): Promise<void> {
    await previous;
    const { cluster, precision, writeConsistency } = this.#ctx.options;
    try {
      await this.#ctx.task.services.database.write({
        cluster,
        database: buffer.database,
        retentionPolicy: buffer.retentionPolicy,
        precision,
        consistency: writeConsistency,
        points: buffer.points,
      });
      this.#pointsWritten += buffer.points.length;
    } catch (cause) {
      // As recorded, the points are lost and the task continues.
      this.#writeErrors++;
      this.#ctx.fail('failed to write points to InfluxDB', messageOf(cause));
    } finally {
      this.#writing.delete(buffer);
    }
  }
}

/** Tags of an output after those of the script. */
export function withTags(
  tags: ReadonlyMap<string, string>,
  more: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  if (more.size === 0) return tags;
  const entries = [...tags, ...more].filter(([, value]) => value !== '');
  return new Map([...new Map(entries)].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function quoted(name: string): string {
  return `"${name.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

export const runningInfluxdbOut = implement(influxdbOutNode, (ctx) => new InfluxdbOutNode(ctx));
