// Writes, deletes and drops: their requests to the engine, and the cells that the model changes.
import type { PolicyRef, ShardInfo } from '@tidemark/storage-api';

import type { Cell, Effect } from '../model/world.ts';
import type { Operation } from './operations.ts';
import type { Subject } from './subject.ts';

export type Change = {
  readonly effects: readonly Effect[];
  readonly work: (subject: Subject) => Promise<unknown>;
};

export type WriteOptions = {
  readonly policy: PolicyRef;
  /** The value of all its rows. */
  readonly value: number;
  /** Its lines are stored one after another. */
  readonly hasParts: boolean;
};

export function writeChange(
  { database, retentionPolicy, lines }: Operation & { kind: 'write' },
  { policy, value, hasParts }: WriteOptions,
): Change {
  const cells = lines.map(([measurement, tag, time]): Cell => ({
    policyId: policy.id,
    database,
    retentionPolicy,
    measurement,
    tag,
    time,
  }));
  const effects = hasParts
    ? cells.map((cell): Effect => ({ kind: 'set', cells: [cell], value }))
    : [{ kind: 'set', cells, value } as const];
  const text = lines.map(([m, tag, time]) => `${m},${tag} v=${value} ${time}\n`);
  const body = new TextEncoder().encode(text.join(''));
  const work: Change['work'] = ({ writes }) =>
    writes.write({ policy, body, precision: 'ns', now: 1n });
  return { effects, work };
}

export function deleteChange(operation: Operation & { kind: 'delete' }): Change {
  const { database, retentionPolicy, measurement, tag, times } = operation;
  const where = (cell: Cell): boolean =>
    cell.database === database &&
    (retentionPolicy === undefined || cell.retentionPolicy === retentionPolicy) &&
    (measurement === undefined || cell.measurement === measurement) &&
    (tag === undefined || cell.tag === tag) &&
    (times === undefined || (cell.time >= times[0] && cell.time <= times[1]));
  const work: Change['work'] = ({ engine }) =>
    engine.delete({
      database,
      retentionPolicy,
      measurements: measurement === undefined ? undefined : [measurement],
      where:
        tag === undefined
          ? undefined
          : { kind: 'tag', key: 't', operator: '=', value: tag.slice(2) },
      timeRange:
        times === undefined ? undefined : { start: BigInt(times[0]), end: BigInt(times[1]) },
    });
  return { effects: [{ kind: 'clear', where }], work };
}

export function dropMeasurementChange(operation: Operation & { kind: 'drop-measurement' }): Change {
  const { database, measurement } = operation;
  const where = (cell: Cell): boolean =>
    cell.database === database && cell.measurement === measurement;
  const work: Change['work'] = ({ engine }) => engine.dropMeasurement(database, measurement);
  return { effects: [{ kind: 'clear', where }], work };
}

/** The drop of a shard that has expired. */
export function dropShardChange({ id, policyId, start, end }: ShardInfo): Change {
  const where = (cell: Cell): boolean =>
    cell.policyId === policyId && cell.time >= start && cell.time < end;
  return { effects: [{ kind: 'clear', where }], work: ({ engine }) => engine.dropShard(id) };
}

/** All cells of a policy are gone. */
export function clearPolicy(policyId: number): Effect {
  return { kind: 'clear', where: (cell) => cell.policyId === policyId };
}
