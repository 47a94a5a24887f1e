// Writes: line protocol in, batches of points to the router.
import { InvalidRequest } from '@tidemark/core';
import type { Clock, FieldValue, Precision, Timestamp } from '@tidemark/core';
import { lineErrorMessage, SeriesCache, signedValue } from '@tidemark/line-protocol';
import type { LineFieldValue } from '@tidemark/line-protocol';
import type { ListenerPoint } from '@tidemark/listeners';
import { WriteParser } from '@tidemark/runtime';
import type { PointBatch } from '@tidemark/runtime';
import type { PointLog } from '../shared-log/point-log.ts';
import { batchOfPoints } from '../shared-log/point-record.ts';
import type { PointRouter } from './point-router.ts';

export type WriteTarget = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly precision: Precision;
};

/** Reason for dropping points that an older instance could not read. */
const LINES_ONLY =
  'an instance of the cluster knows line protocol only, which cannot carry these names or values';

/** Thrown for a body with a bad line: nothing of it is written. Clients expect the bare text. */
export class BadLine extends InvalidRequest {}

export class WritePath {
  readonly #router: PointRouter;
  readonly #clock: Clock;
  readonly #settled: () => Promise<void> | undefined;
  readonly #points: PointLog | undefined;
  readonly #parser = new WriteParser(new SeriesCache());
  readonly counters = { bytes: 0, pointsOk: 0, pointsFailed: 0 };

  /**
   * `settled` resolves when all alerts raised so far are on disk; `undefined` when they are. In a
   * cluster tasks get points through the log that stores them.
   */
  constructor(
    router: PointRouter,
    {
      clock,
      settled,
      points,
    }: {
      readonly clock: Clock;
      readonly settled: () => Promise<void> | undefined;
      readonly points?: PointLog | undefined;
    },
  ) {
    this.#router = router;
    this.#clock = clock;
    this.#settled = settled;
    this.#points = points;
  }

  /**
   * Parses a body and passes its points to the tasks. All lines or none. Resolves when the alerts
   * that they raised at once are on disk: these are delivered, even after a crash.
   */
  async write(body: Uint8Array, target: WriteTarget): Promise<void> {
    this.counters.bytes += body.length;
    const now = this.#clock.now();
    const batch = this.#parse(body, target, now);
    if (batch.rowCount === 0) return;
    this.counters.pointsOk += batch.rowCount;
    if (this.#points === undefined) await this.#router.dispatch(batch);
    else await this.#points.append({ ...target, body, now }, batch);
    await this.#settled();
  }

  /** Passes points of a listener or a scraper to the tasks. */
  async writePoints(
    target: Pick<WriteTarget, 'database' | 'retentionPolicy'>,
    points: readonly ListenerPoint[],
  ): Promise<{
    readonly pointsWritten: number;
    readonly dropped?: { readonly count: number; readonly reason: string } | undefined;
  }> {
    const inputs = points
      .filter(({ fields }) => fields.length > 0)
      .map(({ measurement: name, tags, fields, time }) => ({
        name,
        tags,
        fields: fields.map(signed),
        time,
      }));
    if (inputs.length === 0) return { pointsWritten: 0 };
    const { database, retentionPolicy } = target;
    let left = 0;
    if (this.#points === undefined) await this.#router.dispatch(batchOfPoints(target, inputs));
    else {
      const now = this.#clock.now();
      left = await this.#points.appendPoints({ database, retentionPolicy, points: inputs, now });
    }
    this.counters.pointsOk += inputs.length - left;
    this.counters.pointsFailed += left;
    await this.#settled();
    const dropped = left === 0 ? undefined : { count: left, reason: LINES_ONLY };
    return { pointsWritten: inputs.length - left, dropped };
  }

  #parse(body: Uint8Array, target: WriteTarget, now: Timestamp): PointBatch {
    const { batch, errors } = this.#parser.parse(body, {
      database: target.database,
      retentionPolicy: target.retentionPolicy,
      precision: target.precision,
      now,
    });
    if (errors.length > 0) {
      this.counters.pointsFailed += batch.rowCount + errors.length;
      throw new BadLine(errors.map(lineErrorMessage).join('\n'));
    }
    return batch;
  }
}

// Tasks have signed integers only; larger values become negative, as in Kapacitor.
function signed([name, value]: readonly [string, LineFieldValue]): readonly [string, FieldValue] {
  return [name, signedValue(value)];
}
