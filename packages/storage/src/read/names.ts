// Names of a measurement in a snapshot: its tag keys, the shards that have rows of it, and the
// fields of each shard.
import { compareBytes } from '@tidemark/core';
import type { FieldType } from '@tidemark/core';
import type { SchemaBatch, ShardSpan } from '@tidemark/query';

import { sortInSteps } from '../schedule/steps.ts';
import type { ShardView } from '../state/snapshot.ts';
import type { MeasurementIndex } from '../series/measurement-index.ts';
import { matchingTagKeys, STEP_SERIES } from './matching-series.ts';
import type { Selected } from './matching-series.ts';

type Field = { readonly name: string; readonly type: FieldType; readonly shards: number[] };

/** All names as one batch. A message to another thread is split where it is sent. */
export function* namesOf(
  selected: Selected,
): Generator<undefined, SchemaBatch & { readonly kind: 'names' }> {
  const { measurement } = selected;
  const tags = yield* matchingTagKeys(selected);
  // A key or field that has no series now returns with the next series, without a change of the
  // schema version.
  let isSettled = tags.length === measurement.tagKeyCount;
  const shards: ShardSpan[] = [];
  const found = new Map<string, Field>();
  for (const view of inOrder(selected.scope.shards)) {
    const fields = view.shard.fields.of(measurement.id);
    if (fields.size === 0) continue;
    if (!(yield* hasSeriesOf(measurement, view))) {
      isSettled = false;
      continue;
    }
    const { retentionPolicy, start, end } = view.shard.descriptor;
    const number = shards.push({ retentionPolicy, start, end }) - 1;
    for (const [name, type] of fields) {
      const key = `${type} ${name}`;
      const known = found.get(key);
      if (known === undefined) found.set(key, { name, type, shards: [number] });
      else known.shards.push(number);
    }
  }
  const sorted = yield* sortInSteps(
    [...found.values()],
    (a, b) => compareBytes(a.name, b.name) || compareBytes(a.type, b.type),
  );
  const fields = sorted.map(({ name, type, shards: of }) =>
    of.length === shards.length ? { name, type } : { name, type, shards: of },
  );
  return { kind: 'names', measurement: measurement.name, tags, shards, fields, isSettled };
}

/** Sorts by policy, then by time. */
function inOrder(views: readonly ShardView[]): readonly ShardView[] {
  return [...views].sort(({ shard: { descriptor: a } }, { shard: { descriptor: b } }) => {
    if (a.policyId !== b.policyId) return compareBytes(a.retentionPolicy, b.retentionPolicy);
    return a.start < b.start ? -1 : 1;
  });
}

/** Whether a shard has rows of a measurement. */
export function* hasSeriesOf(
  measurement: MeasurementIndex,
  { series }: ShardView,
): Generator<undefined, boolean> {
  const { seriesCount } = measurement;
  for (let ordinal = 0; ordinal < seriesCount; ordinal++) {
    if (ordinal % STEP_SERIES === STEP_SERIES - 1) yield undefined;
    if (series.has(measurement.seriesId(ordinal))) return true;
  }
  return false;
}
