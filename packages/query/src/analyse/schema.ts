// What the sources of a statement hold: fields with their types, and tags.
import type { FieldType, TimeRange } from '@tidemark/core';

import type { QueryContext } from '../context.ts';
import { lookUp } from '../look-up.ts';
import type { MeasurementRef, SchemaFilter } from '../series-source.ts';
import { isPause } from '../operator.ts';
import type { Steps } from '../operator.ts';

/** Fields and tags of one measurement. */
export type MeasurementSchema = {
  readonly measurement: MeasurementRef;
  readonly fields: ReadonlyMap<string, FieldType>;
  /** Types that a field has in other shards, and that are not the one in `fields`. */
  readonly otherTypes?: ReadonlyMap<string, ReadonlySet<FieldType>> | undefined;
  /**
   * Fields that the condition names and the measurement has only outside the time range: null here
   * (recorded).
   */
  readonly absentFields?: ReadonlyMap<string, FieldType> | undefined;
  readonly tags: ReadonlySet<string>;
};

const PRECEDENCE: readonly FieldType[] = ['boolean', 'string', 'unsigned', 'integer', 'float'];

/**
 * The type that wins where shards or measurements disagree: float, integer, unsigned, string,
 * boolean.
 */
export function strongerType(a: FieldType | undefined, b: FieldType): FieldType {
  return a !== undefined && PRECEDENCE.indexOf(a) >= PRECEDENCE.indexOf(b) ? a : b;
}

/** A set of measurements of one retention policy, by name or by pattern. */
export type MeasurementSet = {
  readonly database: string;
  readonly retentionPolicy: string;
  readonly name?: string | undefined;
  readonly pattern?: string | undefined;
};

/** Schemas of the measurements of a set that exist in the time range, sorted by name. */
export function* loadSchemas(
  set: MeasurementSet,
  range: TimeRange,
  context: QueryContext,
): Steps<readonly MeasurementSchema[]> {
  const filter = {
    database: set.database,
    retentionPolicy: set.retentionPolicy,
    measurements: set.name === undefined ? undefined : [set.name],
    measurementPattern: set.pattern,
    timeRange: range,
  };
  // Tags belong to the whole database, as recorded: a tag of another policy's measurement of the
  // same name counts.
  const everywhere = { ...filter, retentionPolicy: undefined, timeRange: undefined };
  const fields = yield* loadFields(filter, context);
  const tags = yield* loadTags(everywhere, context);
  return [...fields].map(([measurement, known]) => ({
    measurement: {
      database: set.database,
      retentionPolicy: set.retentionPolicy,
      measurement,
    },
    fields: known.types,
    otherTypes: known.others,
    tags: tags.get(measurement) ?? new Set<string>(),
  }));
}

/** The schema with those of the names that are fields of the measurement at any other time. */
export function* withAbsentFields(
  schema: MeasurementSchema,
  names: ReadonlySet<string>,
  context: QueryContext,
): Steps<MeasurementSchema> {
  const { database, retentionPolicy, measurement } = schema.measurement;
  const all = yield* loadFields(
    { database, retentionPolicy, measurements: [measurement] },
    context,
  );
  const found = [...(all.get(measurement)?.types ?? [])].filter(([name]) => names.has(name));
  return found.length === 0 ? schema : { ...schema, absentFields: new Map(found) };
}

function* loadFields(
  filter: SchemaFilter,
  context: QueryContext,
): Steps<ReadonlyMap<string, KnownFields>> {
  const fields = new Map<string, KnownFields>();
  for (const batch of lookUp(context, 'fields', { filter })) {
    if (isPause(batch)) {
      yield batch;
      continue;
    }
    let known = fields.get(batch.measurement);
    if (known === undefined) {
      fields.set(batch.measurement, (known = { types: new Map(), others: undefined }));
    }
    for (const { name, type } of batch.fields) {
      const before = known.types.get(name);
      const stronger = strongerType(before, type);
      known.types.set(name, stronger);
      if (before === undefined || before === type) continue;
      known.others ??= new Map();
      const others = known.others.get(name) ?? new Set();
      known.others.set(name, others.add(stronger === type ? before : type));
    }
  }
  return fields;
}

/** Fields with their strongest types; `others` is there where a field has several. */
type KnownFields = {
  readonly types: Map<string, FieldType>;
  others: Map<string, Set<FieldType>> | undefined;
};

function* loadTags(
  filter: SchemaFilter,
  context: QueryContext,
): Steps<ReadonlyMap<string, ReadonlySet<string>>> {
  const tags = new Map<string, Set<string>>();
  for (const batch of lookUp(context, 'tag-keys', { filter })) {
    if (isPause(batch)) {
      yield batch;
      continue;
    }

    const known = tags.get(batch.measurement);
    if (known === undefined) tags.set(batch.measurement, new Set(batch.keys));
    else for (const key of batch.keys) known.add(key);
  }
  return tags;
}
