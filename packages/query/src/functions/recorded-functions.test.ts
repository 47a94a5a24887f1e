// Transformations and predictions, compared with numbers recorded from a real server, without the
// rest of a query: the test selects the points of one statement itself, runs the function over them
// and compares the output.
import { readFileSync } from 'node:fs';

import type { FieldType, FieldValue } from '@tidemark/core';
import { columnFrom, columnValue, fieldTypeOf, floorMod, formatRfc3339 } from '@tidemark/core';
import type { Call, Expression, SelectStatement } from '@tidemark/influxql';
import { parseQuery } from '@tidemark/influxql';
import { describe, expect, test } from 'vitest';

import { createTransformation } from './transformation-table.ts';
import { finishSteps } from './steps.ts';
import type { TransformationSpec, WarmUp } from './transformation.ts';

type Recorded = {
  readonly group: string;
  readonly writes: readonly { readonly lines: readonly string[] }[];
  readonly request: { readonly params: { readonly q?: string | null } };
  readonly body: {
    readonly results?: readonly {
      readonly error?: string;
      readonly series?: readonly {
        readonly values: readonly (readonly [string, number | null])[];
      }[];
    }[];
  };
};

type Point = { readonly time: bigint; readonly value: FieldValue };

const SIMPLE =
  /^SELECT (?!abs)\w+\((?:\w+\()?\w+\)?(?:, [^,)]+)*\) FROM \w+( WHERE sym = 'aa')?( AND time >= '2020-06-01T00:00:00Z' AND time < '2020-06-01T00:16:00Z' GROUP BY time\(\d+m\))?( ORDER BY time DESC)?( LIMIT \d+)?$/;

const file = new URL('../../../../tests/compat/oracle-cases.jsonl', import.meta.url);
const cases = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Recorded)
  .filter(({ group }) => ['transform', 'technical', 'holt-winters'].includes(group))
  .map((recorded) => [recorded.request.params.q ?? '', recorded] as const)
  .filter(([text, { body }]) => SIMPLE.test(text) && body.results?.[0]?.error === undefined)
  // Windows before the range are read for these, which is the work of the operators around them.
  .filter(([text]) => !/GROUP BY/.test(text) || /holt_winters|cumulative_sum|integral/.test(text));

describe('recorded numbers', () => {
  test('there are many cases', () => {
    expect(cases.length).toBeGreaterThan(70);
  });

  test.each(cases)('%s', (text, recorded) => {
    const [statement] = parseQuery(text).query.statements;
    if (statement?.kind !== 'select') throw new Error('a SELECT');
    const expected = recorded.body.results?.[0]?.series?.[0]?.values ?? [];

    const actual = run(
      statement,
      recorded.writes.flatMap((write) => write.lines),
    );

    expect(actual.map(([time]) => time)).toEqual(expected.map(([time]) => time));
    for (const [i, [, value]] of expected.entries()) {
      const own = actual[i]?.[1] ?? NaN;
      if (value === null) expect(own).toBeNaN();
      else expect(Math.abs(own - value)).toBeLessThanOrEqual(Math.abs(value) * 1e-12);
    }
  });
});

function run(
  statement: SelectStatement,
  lines: readonly string[],
): readonly (readonly [string, number])[] {
  const call = statement.fields[0]?.expression;
  if (call?.kind !== 'call') throw new Error('a call');
  const [argument] = call.arguments;
  const source = statement.sources[0];
  const measurement = source?.kind === 'measurement' ? source.name : undefined;
  const field = argument?.kind === 'call' ? argument.arguments[0] : argument;
  if (field?.kind !== 'reference' || measurement === undefined) throw new Error('a field');
  const tag = statement.condition === undefined ? '' : ',sym=aa';
  let points = pointsOf(lines, measurement + tag, field.name);
  const interval = intervalOf(statement);
  if (argument?.kind === 'call') points = aggregated(points, argument.name, interval ?? 1n);
  const descending = statement.orderBy?.descending === true;
  if (descending) points = points.toReversed();
  const inputType = typeOf(points);
  const context = { inputType, descending, hold: () => undefined };
  const transformation = createTransformation(specOf(call, interval), context);
  // Two batches with a null between them: state is carried over, nulls are no points.
  const middle = points.length >> 1;
  const batches = [points.slice(0, middle), points.slice(middle)].map((part) => ({
    times: BigInt64Array.from([0n, ...part.map((point) => point.time)]),
    values: columnFrom(inputType, [null, ...part.map((point) => point.value)]),
  }));
  const rest = transformation.finish?.();
  const results = [
    ...batches.map((batch) => transformation.push(batch)),
    ...(rest === undefined ? [] : [finishSteps(rest)]),
  ];
  const rows = results.flatMap(({ times, values }) =>
    [...times].map((time, i): readonly [string, number] => [
      formatRfc3339(time),
      Number(columnValue(values, i)),
    ]),
  );
  return rows.slice(0, Number(statement.limit ?? rows.length));
}

function pointsOf(lines: readonly string[], series: string, field: string): readonly Point[] {
  const points: Point[] = [];
  for (const line of lines) {
    const [key = '', fields = '', seconds = ''] = line.split(' ');
    if (key !== series && !key.startsWith(`${series},`)) continue;
    const text = fields
      .split(',')
      .find((pair) => pair.startsWith(`${field}=`))
      ?.split('=')[1];
    if (text === undefined) continue;
    points.push({ time: BigInt(seconds) * 1_000_000_000n, value: valueOf(text) });
  }
  return points.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

function valueOf(text: string): FieldValue {
  if (text.startsWith('"')) return text.slice(1, -1);
  if (text === 'true' || text === 'false') return text === 'true';
  return text.endsWith('i') ? BigInt(text.slice(0, -1)) : Number(text);
}

function typeOf([first]: readonly Point[]): FieldType {
  return first === undefined ? 'float' : fieldTypeOf(first.value);
}

function intervalOf(statement: SelectStatement): bigint | undefined {
  const [dimension] = statement.dimensions;
  const every = dimension?.kind === 'call' ? dimension.arguments[0] : undefined;
  return every?.kind === 'duration' ? every.nanos : undefined;
}

function aggregated(points: readonly Point[], name: string, interval: bigint): readonly Point[] {
  const windows = new Map<bigint, FieldValue[]>();
  for (const { time, value } of points) {
    const start = time - floorMod(time, interval);
    windows.set(start, [...(windows.get(start) ?? []), value]);
  }
  return [...windows].map(([time, values]) => ({ time, value: aggregate(name, values) }));
}

function aggregate(name: string, values: readonly FieldValue[]): FieldValue {
  switch (name) {
    case 'mean':
      return values.reduce<number>((sum, value) => sum + Number(value), 0) / values.length;
    case 'max':
      return values.reduce((a, b) => (a > b ? a : b));
    case 'first':
      return values[0] ?? NaN;
    case 'count':
      return BigInt(values.length);
    default:
      throw new Error(`no ${name} in this test`);
  }
}

function specOf(call: Call, interval: bigint | undefined): TransformationSpec {
  const [, second, third, fourth] = call.arguments;
  const unit = second?.kind === 'duration' ? second.nanos : undefined;
  switch (call.name) {
    case 'derivative':
    case 'non_negative_derivative':
      return { kind: call.name, unitNanos: unit ?? interval ?? 1_000_000_000n };
    case 'elapsed':
      return { kind: call.name, unitNanos: unit ?? 1n };
    case 'difference':
    case 'non_negative_difference':
    case 'cumulative_sum':
      return { kind: call.name };
    case 'moving_average':
      return { kind: call.name, points: numberOf(second) };
    case 'holt_winters':
    case 'holt_winters_with_fit':
      return {
        kind: call.name,
        predictions: numberOf(second),
        seasonLength: numberOf(third),
        intervalNanos: interval ?? 1n,
      };
    case 'integral':
      return {
        kind: call.name,
        unitNanos: unit ?? 1_000_000_000n,
        windowOf: interval === undefined ? undefined : (time) => windowOf(time, interval),
        wholeStamp: 0n,
      };
    case 'chande_momentum_oscillator':
      return {
        kind: call.name,
        period: numberOf(second),
        hold: third === undefined ? -1 : numberOf(third),
        warmUp: fourth?.kind === 'string' && fourth.value !== 'none' ? warmUpOf(fourth) : 'none',
      };
    default:
      return {
        kind: call.name as 'exponential_moving_average',
        period: numberOf(second),
        hold: third === undefined ? -1 : numberOf(third),
        warmUp: warmUpOf(fourth),
      };
  }
}

function windowOf(time: bigint, interval: bigint): { start: bigint; end: bigint } {
  const start = time - floorMod(time, interval);
  return { start, end: start + interval };
}

function numberOf(node: Expression | undefined): number {
  return node?.kind === 'integer' ? Number(node.value) : 0;
}

function warmUpOf(node: Expression | undefined): WarmUp {
  return node?.kind === 'string' && node.value === 'simple' ? 'simple' : 'exponential';
}
