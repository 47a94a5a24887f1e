// Writes: line protocol in, batches of points to the router.
import { InvalidRequest } from '@tidemark/core';
import type { Clock, FieldValue } from '@tidemark/core';
import { lineErrorMessage, parseLines, parsePrecision, SeriesCache } from '@tidemark/line-protocol';
import type { LineFieldValue } from '@tidemark/line-protocol';
import { PointBatchBuilder } from '@tidemark/runtime';
import type { PointBatch } from '@tidemark/runtime';
import type { PointRouter } from './point-router.ts';

export type WriteTarget = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly precision: string;
};

/** Thrown for a body with a bad line: nothing of it is written. Clients expect the bare text. */
export class BadLine extends InvalidRequest {}

export class WritePath {
  readonly #router: PointRouter;
  readonly #clock: Clock;
  readonly #cache = new SeriesCache();
  readonly counters = { bytes: 0, pointsOk: 0, pointsFailed: 0 };

  constructor(router: PointRouter, clock: Clock) {
    this.#router = router;
    this.#clock = clock;
  }

  /** Parses a body and hands its points to the tasks. All lines or none. */
  async write(body: Uint8Array, target: WriteTarget): Promise<void> {
    this.counters.bytes += body.length;
    const batch = this.#parse(body, target);
    if (batch.rowCount === 0) return;
    this.counters.pointsOk += batch.rowCount;
    await this.#router.dispatch(batch);
  }

  #parse(body: Uint8Array, target: WriteTarget): PointBatch {
    const { points, errors } = parseLines(body, {
      // An unknown unit means nanoseconds, as recorded.
      precision: parsePrecision(target.precision) ?? 'ns',
      now: this.#clock.now(),
      cache: this.#cache,
    });
    if (errors.length > 0) {
      this.counters.pointsFailed += points.length + errors.length;
      throw new BadLine(errors.map(lineErrorMessage).join('\n'));
    }
    const builder = new PointBatchBuilder(target.database, target.retentionPolicy);
    for (const { measurement, tags, fields, time } of points) {
      builder.add({ name: measurement, tags, fields: fields.map(plainField), time });
    }
    return builder.build();
  }
}

function plainField(field: readonly [string, LineFieldValue]): readonly [string, FieldValue] {
  const [name, value] = field;
  // Scripts know no unsigned integers.
  return [name, typeof value === 'object' ? BigInt.asIntN(64, value.unsigned) : value];
}
