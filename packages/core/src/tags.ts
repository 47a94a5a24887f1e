// Tag sets and series keys. A series key is the measurement and its tags, escaped as in line
// protocol.

/** Tag keys with their values, sorted by key bytes, no empty values. */
export type TagSet = ReadonlyMap<string, string>;

const SPECIAL_IN_MEASUREMENT = /[,\s]/;
const SPECIAL_IN_TAG = /[,=\s]/;

/** Escapes `,` and space, as line protocol requires for measurements. */
export function escapeMeasurement(name: string): string {
  return SPECIAL_IN_MEASUREMENT.test(name) ? name.replace(/([, ])/g, '\\$1') : name;
}

/**
 * Escapes `,`, `=` and space, as line protocol requires for tag keys, tag values and field keys.
 */
export function escapeTagPart(text: string): string {
  return SPECIAL_IN_TAG.test(text) ? text.replace(/([,= ])/g, '\\$1') : text;
}

/**
 * Bytewise order of two strings (UTF-8), which is not the order of UTF-16 units for astral
 * characters.
 */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const xIsSurrogate = x >= 0xd800 && x <= 0xdfff;
    const yIsSurrogate = y >= 0xd800 && y <= 0xdfff;
    if (xIsSurrogate !== yIsSurrogate) return xIsSurrogate ? 1 : -1;
    return x < y ? -1 : 1;
  }
  return a.length - b.length;
}

/** `measurement,tag=value,…` with tags in bytewise key order and line-protocol escapes. */
export function formatSeriesKey(
  measurement: string,
  tags: Iterable<readonly [string, string]>,
): string {
  let key = escapeMeasurement(measurement);
  const sorted = [...tags].sort((a, b) => compareBytes(a[0], b[0]));
  for (const [name, value] of sorted) key += `,${escapeTagPart(name)}=${escapeTagPart(value)}`;
  return key;
}
