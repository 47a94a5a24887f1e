// Sends requests to two sources with the same points and compares their answers as text: the
// embedded engine is the reference.
import { ALL_TIME, columnValue } from '@tidemark/core';
import type { FieldType, TimeRange } from '@tidemark/core';
import { eachBatch } from '@tidemark/query';
import type {
  AggregateFunction,
  AggregateRequest,
  Predicate,
  ScanRequest,
  SeriesGrouping,
  SeriesSource,
  WindowSpec,
} from '@tidemark/query';
import type { PolicyRef, PointStorage } from '@tidemark/storage-api';

const WEEK = 604_800_000_000_000n;
const ALL: readonly AggregateFunction[] = [
  'count',
  'sum',
  'mean',
  'min',
  'max',
  'first',
  'last',
  'spread',
];

/** `n` is an integer, from the second week on a float; the integers have sums beyond 64 bits. */
export function lines(): readonly string[] {
  const result: string[] = [];
  for (let i = 0; i < 400; i++) {
    const isLate = i % 5 === 4;
    const time = BigInt((i * 37) % 90) * 60_000_000_000n + (isLate ? WEEK : -1_800_000_000_000n);
    const fields = [
      i % 3 === 0 ? '' : `f=${(i * 7) % 23}.5`,
      i % 4 === 0
        ? ''
        : isLate
          ? `n=${i % 11}.75`
          : `n=${BigInt(i - 50) * 90_000_000_000_000_000n}i`,
      i % 7 === 0 ? '' : `u=${18_446_744_073_709_551_615n - BigInt(i % 9)}u`,
      i % 6 === 0 ? '' : `b=${i % 2 === 0}`,
      i % 5 === 0 ? '' : `s="t${(i * 3) % 8}'\\\\"`,
    ].filter((text) => text !== '');
    const tags = `,g=${i % 4},h=${i % 3}`;
    if (fields.length > 0) result.push(`m${i % 10 === 0 ? '' : tags} ${fields.join(',')} ${time}`);
  }
  return result;
}

export async function fill(engine: PointStorage, policy: PolicyRef): Promise<void> {
  const all = lines();
  // In pieces: later ones write again what earlier ones wrote.
  for (let at = 0; at < all.length; at += 90) {
    const body = Buffer.from(all.slice(at, at + 90).join('\n'));
    const outcome = await engine.writeLines({ policy, body, precision: 'ns', now: 0n });
    if (outcome.dropped !== undefined) throw new Error(outcome.dropped.reason);
  }
}

const tag = (key: string, value: string): Predicate => ({ kind: 'tag', key, operator: '=', value });
const above = (field: string, value: number | bigint): Predicate => ({
  kind: 'field',
  field,
  operator: '>',
  value,
});
const either = (left: Predicate, right: Predicate): Predicate => ({ kind: 'or', left, right });
const both = (left: Predicate, right: Predicate): Predicate => ({ kind: 'and', left, right });

const CONDITIONS: readonly (Predicate | undefined)[] = [
  undefined,
  tag('g', '2'),
  { kind: 'tag', key: 'g', operator: '!=', value: '' },
  { kind: 'tag-regex', key: 'h', operator: '!~', pattern: '^[12]$' },
  above('f', 10n),
  both(tag('g', '1'), above('f', 7.5)),
  either(tag('g', ''), above('n', 2.25)),
  either(above('f', 20), both(above('u', 18_446_744_073_709_551_610n), tag('h', '2'))),
  { kind: 'field-regex', field: 's', operator: '=~', pattern: "t[1-4]'" },
  both({ kind: 'field', field: 'b', operator: '=', value: true }, above('n', -1e18)),
  { kind: 'field', field: 's', operator: '!=', value: `t3'\\` },
  { kind: 'field', field: 'n', operator: '<=', value: 9_007_199_254_740_993n },
  { kind: 'field', field: 'absent', operator: '=', value: 1 },
];
const GROUPINGS: readonly SeriesGrouping[] = [[], ['g'], ['h', 'g'], ['absent'], 'all'];
const WINDOWS: readonly (WindowSpec | undefined)[] = [
  undefined,
  { everyNanos: 600_000_000_000n, offsetNanos: 0n },
  { everyNanos: 3_600_000_000_000n, offsetNanos: -1_500_000_000_000n },
];
const RANGES: readonly TimeRange[] = [
  ALL_TIME,
  { start: -60_000_000_000n, end: 2_400_000_000_000n },
  { start: WEEK, end: WEEK * 2n },
];
const FIELDS: readonly (readonly [string, FieldType])[] = [
  ['f', 'float'],
  ['n', 'integer'],
  ['n', 'float'],
  ['u', 'unsigned'],
  ['b', 'boolean'],
  ['s', 'string'],
  ['absent', 'float'],
];

/** Every condition, each with one of the other options in turn. */
export function aggregateRequests(policy: PolicyRef): readonly AggregateRequest[] {
  const { database, retentionPolicy } = policy;
  const source = { database, retentionPolicy, measurement: 'm' };
  return CONDITIONS.flatMap((where, c) =>
    GROUPINGS.map((groupBy, g): AggregateRequest => {
      const turn = c + g;
      const window = WINDOWS[(c + 2 * g) % WINDOWS.length];
      const only = turn % 4 === 0 ? [FIELDS[turn % FIELDS.length]!] : FIELDS;
      return {
        sources: [source],
        where,
        groupBy,
        window,
        timeRange: RANGES[turn % 3]!,
        descending: turn % 2 === 1,
        aggregates: only.map(([field, type]) => ({ field, type, functions: ALL })),
        ...(turn % 5 === 0 && window !== undefined ? { limitWindows: 2 } : {}),
        omitsPointTimes: turn % 2 === 0,
      };
    }),
  );
}

export function scanRequests(policy: PolicyRef): readonly ScanRequest[] {
  const { database, retentionPolicy } = policy;
  const source = { database, retentionPolicy, measurement: 'm' };
  return CONDITIONS.flatMap((where, c) =>
    GROUPINGS.map((groupBy, g): ScanRequest => {
      const turn = c + g;
      const only = turn % 3 === 0 ? [FIELDS[turn % FIELDS.length]!] : FIELDS;
      return {
        source,
        where,
        groupBy,
        timeRange: RANGES[turn % 3]!,
        descending: turn % 2 === 1,
        fields: only.map(([name, type]) => ({ name, type })),
        ...(turn % 4 === 0 ? { limitPerSeries: 3 } : {}),
      };
    }),
  );
}

export async function aggregated(
  source: SeriesSource,
  request: AggregateRequest,
): Promise<readonly string[]> {
  const snapshot = source.snapshot();
  const { signal } = new AbortController();
  const result: string[] = [];
  for await (const batch of eachBatch(snapshot.aggregate(request, { signal }))) {
    const group = JSON.stringify([...batch.groupTags].sort());
    batch.windowStarts.forEach((start, row) => {
      const values = batch.fields.flat().map(({ values: column, pointTimes }) => {
        const value = columnValue(column, row);
        if (value === null || request.omitsPointTimes === true) return String(value);
        return `${value}${pointTimes === undefined ? '' : `@${pointTimes[row]}`}`;
      });
      result.push(`${group} ${start} ${values.join(' ')}`);
    });
  }
  snapshot.close();
  return result;
}

export async function scanned(
  source: SeriesSource,
  request: ScanRequest,
): Promise<readonly string[]> {
  const snapshot = source.snapshot();
  const { signal } = new AbortController();
  const result: string[] = [];
  for await (const batch of eachBatch(snapshot.scan(request, { signal }))) {
    batch.times.forEach((time, row) => {
      const values = batch.columns.map((column) => String(columnValue(column, row)));
      result.push(`${batch.seriesKey} ${time} ${values.join(' ')}`);
    });
  }
  snapshot.close();
  return result;
}
