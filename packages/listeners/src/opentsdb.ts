// OpenTSDB: `put name time value k=v…` over telnet, and JSON points over HTTP.
import { NANOS_PER_MILLISECOND, NANOS_PER_SECOND } from '@tidemark/core';
import type { Timestamp } from '@tidemark/core';
import type { ListenerPoint } from './listener-point.ts';

/** Times above this many are milliseconds, below seconds. */
const MAX_SECONDS = 9_999_999_999n;

function opentsdbTime(text: string): Timestamp | undefined {
  if (!/^\d{1,13}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value > MAX_SECONDS ? value * NANOS_PER_MILLISECOND : value * NANOS_PER_SECOND;
}

/** Reads a telnet line; `undefined` if it is not a put with a number. */
export function parsePut(line: string): ListenerPoint | undefined {
  const [command, measurement, timeText, valueText, ...tagTexts] = line.trim().split(/\s+/);
  if (command !== 'put' || measurement === undefined || measurement === '') return undefined;
  const time = opentsdbTime(timeText ?? '');
  const value = Number(valueText ?? Number.NaN);
  if (time === undefined || !Number.isFinite(value)) return undefined;
  const tags: [string, string][] = [];
  for (const text of tagTexts) {
    const equals = text.indexOf('=');
    if (equals <= 0 || equals === text.length - 1) return undefined;
    tags.push([text.slice(0, equals), text.slice(equals + 1)]);
  }
  return { measurement, tags, fields: [['value', value]], time };
}

type JsonPoint = {
  readonly metric?: unknown;
  readonly timestamp?: unknown;
  readonly value?: unknown;
  readonly tags?: unknown;
};

/** Reads the body of /api/put: an object or an array of them. `undefined` when it is neither. */
export function parsePutJson(
  body: string,
): { readonly points: readonly ListenerPoint[]; readonly failed: number } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined; // Not JSON: the caller answers 400.
  }
  const all = Array.isArray(value) ? value : [value];
  const points: ListenerPoint[] = [];
  for (const element of all) {
    const point = typeof element === 'object' && element !== null ? readPoint(element) : undefined;
    if (point !== undefined) points.push(point);
  }
  return { points, failed: all.length - points.length };
}

function readPoint(point: JsonPoint): ListenerPoint | undefined {
  const { metric, timestamp, tags } = point;
  const value = typeof point.value === 'string' ? Number(point.value) : point.value;
  const time = opentsdbTime(String(timestamp));
  if (typeof metric !== 'string' || metric === '' || time === undefined) return undefined;
  if (typeof value !== 'number' || !Number.isFinite(value)) return undefined;
  const pairs = typeof tags === 'object' && tags !== null ? Object.entries(tags) : [];
  return {
    measurement: metric,
    tags: pairs
      .map(([key, tag]): [string, string] => [key, String(tag)])
      .filter(([key, tag]) => key !== '' && tag !== ''),
    fields: [['value', value]],
    time,
  };
}
