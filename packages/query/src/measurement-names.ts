// Names and types of the fields and tags of one measurement, over all shards and times: an
// immutable value that a source may cache, so that analysis does not have to wait.
import type { FieldType, TimeRange } from '@tidemark/core';
import { MAX_TIME, MIN_TIME } from '@tidemark/core';

import type { Operator, Steps } from './operator.ts';
import { forEachBatch } from './operator.ts';
import type { FieldInShards, MeasurementRef, SchemaBatch, ShardSpan } from './series-source.ts';

/** Fields and tags of one measurement of one retention policy, in a range of time. */
export type MeasurementSchema = {
  readonly measurement: MeasurementRef;
  readonly fields: ReadonlyMap<string, FieldType>;
  /** Types of a field in other shards that differ from the one in `fields`. */
  readonly otherTypes?: ReadonlyMap<string, ReadonlySet<FieldType>> | undefined;
  /**
   * Fields of the condition that the measurement has only outside the time range: null here
   * (recorded).
   */
  readonly absentFields?: ReadonlyMap<string, FieldType> | undefined;
  readonly tags: ReadonlySet<string>;
  /** Those of the policy that overlap the range. */
  readonly shards: readonly ShardSpan[];
};

const PRECEDENCE: readonly FieldType[] = ['boolean', 'string', 'unsigned', 'integer', 'float'];

/**
 * The type that wins where shards or measurements disagree: float, integer, unsigned, string,
 * boolean.
 */
export function strongerType(a: FieldType | undefined, b: FieldType): FieldType {
  return a !== undefined && PRECEDENCE.indexOf(a) >= PRECEDENCE.indexOf(b) ? a : b;
}

/** Immutable. Schemas of ranges are made once for each set of shards that a range overlaps. */
export class MeasurementNames {
  readonly database: string;
  readonly measurement: string;
  readonly #kind: MeasurementKind;
  /** By what the measurement has in common with others. */
  readonly #schemas = new Map<CommonSchema, MeasurementSchema>();

  constructor(database: string, measurement: string, kind: MeasurementKind) {
    this.database = database;
    this.measurement = measurement;
    this.#kind = kind;
  }

  /** Tags in all retention policies, as recorded: a tag of a series in another one counts. */
  get tags(): ReadonlySet<string> {
    return this.#kind.tags;
  }

  /** The schema of a range of a policy; `undefined` when no shard of it has a field. */
  schema(retentionPolicy: string, range: TimeRange): MeasurementSchema | undefined {
    const common = this.#kind.schema(retentionPolicy, range);
    if (common === undefined) return undefined;
    let schema = this.#schemas.get(common);
    if (schema === undefined) {
      const { database, measurement } = this;
      schema = { measurement: { database, retentionPolicy, measurement }, ...common };
      this.#schemas.set(common, schema);
    }
    return schema;
  }

  /** Types of all fields of a policy, at all times. */
  everyField(retentionPolicy: string): ReadonlyMap<string, FieldType> {
    const all = this.schema(retentionPolicy, { start: MIN_TIME, end: MAX_TIME });
    return all?.fields ?? new Map<string, FieldType>();
  }
}

type CommonSchema = Omit<MeasurementSchema, 'measurement'>;

/** Fields, tags and shards, which neighbouring measurements often have in common. */
class MeasurementKind {
  readonly tags: ReadonlySet<string>;
  readonly #shards: readonly ShardSpan[];
  readonly #fields: readonly FieldInShards[];
  readonly #schemas = new Map<number, CommonSchema>();

  constructor({ tags, shards, fields }: NamesBatch) {
    this.tags = new Set(tags);
    this.#shards = shards;
    this.#fields = fields;
  }

  schema(retentionPolicy: string, range: TimeRange): CommonSchema | undefined {
    const [from, to] = this.#met(retentionPolicy, range);
    if (from === to) return undefined;
    const key = from * this.#shards.length + to;
    let schema = this.#schemas.get(key);
    if (schema === undefined) {
      schema = this.#schemaOf(from, to);
      this.#schemas.set(key, schema);
    }
    return schema;
  }

  /** The shards [from, to) of the policy that overlap the range: those of a policy are in order. */
  #met(retentionPolicy: string, range: TimeRange): readonly [number, number] {
    const shards = this.#shards;
    let from = 0;
    while (from < shards.length && !meets(shards[from]!, retentionPolicy, range)) from++;
    let to = from;
    while (to < shards.length && meets(shards[to]!, retentionPolicy, range)) to++;
    return [from, to];
  }

  #schemaOf(from: number, to: number): CommonSchema {
    const fields = new Map<string, FieldType>();
    let otherTypes: Map<string, Set<FieldType>> | undefined;
    for (const { name, type, shards } of this.#fields) {
      if (shards?.every((shard) => shard < from || shard >= to) === true) continue;
      const before = fields.get(name);
      const stronger = strongerType(before, type);
      fields.set(name, stronger);
      if (before === undefined) continue;
      otherTypes ??= new Map();
      const others = otherTypes.get(name) ?? new Set();
      otherTypes.set(name, others.add(stronger === type ? before : type));
    }
    return { fields, otherTypes, tags: this.tags, shards: this.#shards.slice(from, to) };
  }
}

function meets(
  { retentionPolicy, start, end }: ShardSpan,
  wanted: string,
  range: TimeRange,
): boolean {
  return retentionPolicy === wanted && start <= range.end && end > range.start;
}

/** The answer to a look-up of names, put together from its batches. */
export function* collectNames(
  database: string,
  answer: Operator<SchemaBatch>,
): Steps<readonly MeasurementNames[]> {
  const found: NamesBatch[] = [];
  yield* forEachBatch(answer, (batch) => {
    if (batch.kind !== 'names') return;
    const last = found.at(-1);
    if (last?.measurement !== batch.measurement) found.push(batch);
    else found[found.length - 1] = { ...batch, fields: [...last.fields, ...batch.fields] };
  });
  let kind: MeasurementKind | undefined;
  return found.map((batch, i) => {
    const before = found[i - 1];
    if (kind === undefined || before === undefined || !isSameKind(batch, before)) {
      kind = new MeasurementKind(batch);
    }
    return new MeasurementNames(database, batch.measurement, kind);
  });
}

function isSameKind(a: NamesBatch, b: NamesBatch): boolean {
  return (
    areEqual(a.tags, b.tags, (x, y) => x === y) &&
    areEqual(
      a.shards,
      b.shards,
      (x, y) => x.start === y.start && x.end === y.end && x.retentionPolicy === y.retentionPolicy,
    ) &&
    areEqual(
      a.fields,
      b.fields,
      (x, y) =>
        x.name === y.name &&
        x.type === y.type &&
        areEqual(x.shards ?? [], y.shards ?? [], (one, other) => one === other),
    )
  );
}

function areEqual<T>(
  a: readonly T[],
  b: readonly T[],
  isEqual: (one: T, other: T) => boolean,
): boolean {
  return a.length === b.length && a.every((one, i) => isEqual(one, b[i]!));
}

type NamesBatch = SchemaBatch & { readonly kind: 'names' };
