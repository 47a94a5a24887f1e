// Encodes points as the body of a record of the log of points if they did not arrive as lines:
// points of listeners, scrapers and loopback nodes. Line protocol cannot represent every name and
// value. Format: docs/formats/engine-cluster.md.
import { strictUtf8Text } from '@tidemark/core';
import type { FieldValue } from '@tidemark/core';
import type { PointInput } from '@tidemark/runtime';

/** Integers, and floats that JSON cannot represent. */
type EncodedValue = number | string | boolean | { readonly i: string } | { readonly f: string };

/** Position of the series, time, then name and value of each field. */
type EncodedPoint = readonly [number, string, ...(readonly [string, EncodedValue])[]];

/** Measurement, then key and value of each tag. */
type EncodedSeries = readonly [string, ...(readonly [string, string])[]];

type EncodedPoints = {
  readonly series: readonly EncodedSeries[];
  readonly points: readonly EncodedPoint[];
};

export function encodePoints(points: readonly PointInput[]): Uint8Array {
  const series: EncodedSeries[] = [];
  const known = new Map<string, number>();
  const encoded = points.map(({ name, tags, fields, time }): EncodedPoint => {
    const own: EncodedSeries = [name, ...tags];
    const key = JSON.stringify(own);
    let index = known.get(key);
    if (index === undefined) known.set(key, (index = series.push(own) - 1));
    const values = [...fields].map(([field, value]) => [field, encodeValue(value)] as const);
    return [index, String(time), ...values];
  });
  return Buffer.from(JSON.stringify({ series, points: encoded } satisfies EncodedPoints));
}

/** As `encodePoints`, split into several bodies if necessary. A point is not split. */
export function encodePointsWithin(
  points: readonly PointInput[],
  bytesMax: number,
): readonly { readonly bytes: Uint8Array; readonly count: number }[] {
  const bytes = encodePoints(points);
  if (bytes.length <= bytesMax || points.length < 2) return [{ bytes, count: points.length }];
  const half = points.length >> 1;
  return [points.slice(0, half), points.slice(half)].flatMap((some) =>
    encodePointsWithin(some, bytesMax),
  );
}

/** Throws for anything that `encodePoints` has not made. */
export function decodePoints(bytes: Uint8Array): readonly PointInput[] {
  const { series, points } = parse(bytes);
  return points.map(([index, time, ...fields]) => {
    const [name, ...tags] = series[index] ?? [];
    requireThat(typeof name === 'string' && tags.every(isTextPair), 'a series');
    requireThat(fields.length > 0, 'a point with fields');
    return {
      name,
      tags,
      fields: fields.map(([field, value]) => {
        requireThat(typeof field === 'string', 'the name of a field');
        return [field, decodeValue(value)] as const;
      }),
      time: int64(time),
    };
  });
}

function parse(bytes: Uint8Array): EncodedPoints {
  const text = strictUtf8Text(bytes);
  requireThat(text !== undefined, 'UTF-8');
  return JSON.parse(text) as EncodedPoints;
}

function encodeValue(value: FieldValue): EncodedValue {
  if (typeof value === 'bigint') return { i: String(value) };
  if (typeof value !== 'number') return value;
  if (Number.isFinite(value) && !Object.is(value, -0)) return value;
  return { f: Object.is(value, -0) ? '-0' : String(value) };
}

function decodeValue(value: EncodedValue): FieldValue {
  if (typeof value !== 'object') return value;
  if ('i' in value) return int64(value.i);
  const number = Number(value.f);
  requireThat(String(number) === value.f || value.f === '-0', 'a float');
  return number;
}

function int64(text: string): bigint {
  const value = BigInt(text);
  requireThat(BigInt.asIntN(64, value) === value, 'an integer of 64 bits');
  return value;
}

function isTextPair(pair: unknown): boolean {
  return Array.isArray(pair) && pair.length === 2 && pair.every((one) => typeof one === 'string');
}

function requireThat(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(`not ${what}`);
}
