// Exact cardinalities by tags, and those over several retention policies: counted over the keys of
// the series.
import { textBytes } from '@tidemark/core';

import { compareGroups } from '../batch/row-batch.ts';
import type { GroupKey } from '../batch/row-batch.ts';
import { sortInSteps } from '../functions/steps.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { tagKeyTest } from '../regex.ts';
import { tagsOfSeriesKey } from '../series-key.ts';
import type { SchemaFilter, TagKeyMatch } from '../series-source.ts';
import { Members } from './members.ts';
import { seriesKeys } from './show-schema.ts';
import { forEachBatch, mapBatches } from '../operator.ts';
import type { Operator } from '../operator.ts';

/** A row of the answer: a name, and its count. */
export type Counted = {
  readonly name?: string | undefined;
  readonly tags?: ReadonlyMap<string, string> | undefined;
  readonly count: number;
};

/** The series to group, and the tags that group them. */
type GroupedSeries = {
  readonly filters: readonly SchemaFilter[];
  readonly dimensions: readonly string[];
};

export type Grouping = GroupedSeries & {
  /** What is counted in a group of series; measurements are counted over all of them. */
  readonly of: 'series' | 'measurement' | 'tag-key' | 'tag-values';
  /** The keys whose values are counted. */
  readonly keys: TagKeyMatch;
};

/** Size of a group of series, without its name and tags. */
const GROUP_BYTES = 400;

/** Measurements are counted in groups without a name. */
type Group = GroupKey & { readonly members: Members };

/**
 * Counts series, tag keys or tag values, grouped by tags or over several policies, from the keys of
 * the series.
 */
export function* countInGroups(
  { of, keys, filters, dimensions }: Grouping,
  execution: ExecutionContext,
): Operator<Counted> {
  const groups = new Map<string, Group>();
  const parts = partsOf(of, keys);
  for (const filter of filters) {
    yield* forEachBatch(seriesKeys(filter, execution), ({ measurement, entries }) => {
      const name = of === 'measurement' ? '' : measurement;
      for (const key of entries) {
        const tags = tagsOfSeriesKey(key);
        const values = dimensions.map((tag) => tags.get(tag) ?? '');
        const id = JSON.stringify([name, ...values]);
        let group = groups.get(id);
        if (group === undefined) {
          execution.hold(GROUP_BYTES + textBytes(id));
          groups.set(id, (group = { name, tags: values, members: new Members(execution) }));
        }
        for (const part of parts(key, tags, measurement)) group.members.add(part);
      }
    });
  }
  const sorted = sortInSteps([...groups.values()], compareGroups);
  for (const { name, tags, members } of yield* sorted) {
    if (members.size === 0) continue;
    const shown = of === 'measurement' ? undefined : name;
    yield { name: shown, tags: shownTags(dimensions, tags), count: members.size };
  }
}

/** The numbers of fields of measurements, once for each group of series of a measurement. */
export function* fieldKeysInGroups(
  fields: Operator<Counted>,
  grouped: GroupedSeries,
  execution: ExecutionContext,
): Operator<Counted> {
  const counts = new Map<string | undefined, number>();
  yield* forEachBatch(fields, ({ name, count }) => counts.set(name, count));
  const keys = { kind: 'in', keys: [] } as const;
  yield* mapBatches(countInGroups({ ...grouped, of: 'series', keys }, execution), (group) => {
    const count = counts.get(group.name);
    return count === undefined ? undefined : { ...group, count };
  });
}

function shownTags(dimensions: readonly string[], values: readonly string[]): Counted['tags'] {
  if (dimensions.length === 0) return undefined;
  return new Map(dimensions.map((tag, i) => [tag, values[i] ?? '']));
}

/** The counted parts of a series. */
function partsOf(
  of: Grouping['of'],
  keys: TagKeyMatch,
): (key: string, tags: ReadonlyMap<string, string>, measurement: string) => Iterable<string> {
  switch (of) {
    case 'measurement':
      return (_key, _tags, measurement) => [measurement];
    case 'tag-key':
      return (_key, tags) => tags.keys();
    case 'tag-values': {
      const isWanted = tagKeyTest(keys);
      return (_key, tags) => [...tags].filter(([key]) => isWanted(key)).map(([, value]) => value);
    }
    default:
      return (key) => [key];
  }
}
