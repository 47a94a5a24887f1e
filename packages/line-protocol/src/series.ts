// The first section of a line: measurement and tags. Parsed once per distinct text, then found by
// its bytes.
import { compareBytes, formatSeriesKey } from '@tidemark/core';

import { BACKSLASH, COMMA, EQUALS, SPACE, decodeText, unescapeKeyPart } from './bytes.ts';
import type { LineSeries } from './point.ts';

/** Longest series key, and longest series key plus four plus field key. */
export const MAX_KEY_BYTES = 65_535;

/**
 * Number of distinct texts in a cache before it restarts: about 20 MiB with tags of usual length.
 */
const MAX_CACHED_SERIES = 65_536;

type CachedSeries = {
  readonly hash: number;
  readonly bytes: Uint8Array;
  readonly series: LineSeries;
};

/** Open-addressing table from the bytes of a series section to the parsed series. */
export class SeriesCache {
  #slots: (CachedSeries | undefined)[] = Array.from({ length: 256 });
  #count = 0;

  /** The cached series whose text is `body[start, end)`. */
  find(
    body: Uint8Array,
    range: { readonly start: number; readonly end: number; readonly hash: number },
  ): LineSeries | undefined {
    const { start, end, hash } = range;
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const entry = slots[at];
      if (entry === undefined) return undefined;
      if (entry.hash === hash && hasBytes(entry.bytes, body, start, end)) return entry.series;
    }
  }

  /** Caches a parsed series; the bytes are copied. */
  add(bytes: Uint8Array, hash: number, series: LineSeries): void {
    if (this.#count >= MAX_CACHED_SERIES) {
      this.#slots = Array.from({ length: 256 });
      this.#count = 0;
    }
    if (this.#count * 2 >= this.#slots.length) this.#grow();
    this.#insert({ hash, bytes: bytes.slice(), series });
    this.#count++;
  }

  #insert(entry: CachedSeries): void {
    const mask = this.#slots.length - 1;
    let at = entry.hash & mask;
    while (this.#slots[at] !== undefined) at = (at + 1) & mask;
    this.#slots[at] = entry;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = Array.from({ length: old.length * 4 });
    for (const entry of old) if (entry !== undefined) this.#insert(entry);
  }
}

function hasBytes(wanted: Uint8Array, body: Uint8Array, start: number, end: number): boolean {
  const length = wanted.length;
  if (length !== end - start) return false;
  for (let i = 0; i < length; i++) if (wanted[i] !== body[start + i]) return false;
  return true;
}

/**
 * FNV-1a, 32 bits, of `body[start, …)` up to the first space without a backslash before it, or
 * `end`.
 */
export function hashSeriesSection(
  body: Uint8Array,
  range: { readonly start: number; readonly end: number },
  into: { end: number; hash: number },
): void {
  let hash = 0x811c9dc5;
  let i = range.start;
  let previous = 0;
  for (; i < range.end; i++) {
    const byte = body[i]!;
    if (byte === SPACE && previous !== BACKSLASH && i > range.start) break;
    hash = Math.imul(hash ^ byte, 0x01000193);
    previous = byte;
  }
  into.end = i;
  // The low bits choose the slot; the multiplication leaves them weak, so the high ones are mixed
  // in.
  into.hash = (hash ^ (hash >>> 15)) >>> 0;
}

/**
 * Parses a series section. `hasFields` says that a space follows it: a section at the end of the
 * line lacks fields, which is found before some of its own mistakes. Returns the series, or the
 * reason why there is none.
 */
export function parseSeries(section: Uint8Array, hasFields: boolean): LineSeries | string {
  if (section.length === 0 || section[0] === COMMA) return 'missing measurement';
  const measurementEnd = findUnescaped(section, 1, COMMA);
  if (measurementEnd === section.length && !hasFields) return 'missing fields';
  const tags: [string, string][] = [];
  let at = measurementEnd + 1;
  while (at <= section.length) {
    const tag = parseTag(section, at, hasFields);
    if (typeof tag === 'string') return tag;
    tags.push([tag.key, tag.value]);
    at = tag.end + 1;
  }
  if (tags.length > 1) {
    tags.sort((a, b) => compareBytes(a[0], b[0]));
    for (let i = 1; i < tags.length; i++) {
      if (tags[i - 1]![0] === tags[i]![0]) return 'duplicate tags';
    }
  }
  const measurement = unescapeKeyPart(decodeText(section, 0, measurementEnd));
  if (section.length > MAX_KEY_BYTES) return keyTooLong(section.length);
  return { measurement, tags, key: formatSeriesKey(measurement, tags) };
}

/** The reason for refusing a key of this many bytes. */
export function keyTooLong(sizeBytes: number): string {
  return `max key length exceeded: ${sizeBytes} > ${MAX_KEY_BYTES}`;
}

type ScannedTag = { readonly key: string; readonly value: string; readonly end: number };

function parseTag(section: Uint8Array, start: number, hasFields: boolean): ScannedTag | string {
  const first = section[start];
  if (first === undefined || first === COMMA || first === EQUALS) return 'missing tag key';
  const equals = findUnescaped(section, start + 1, EQUALS);
  if (findUnescaped(section, start + 1, COMMA) < equals || equals === section.length) {
    return 'missing tag value';
  }
  const valueStart = equals + 1;
  if (valueStart === section.length || section[valueStart] === COMMA) return 'missing tag value';
  // The first byte of a value may be anything, an '=' too; a later one may not be an '='.
  const end = findUnescaped(section, valueStart + 1, COMMA);
  if (findUnescaped(section, valueStart + 1, EQUALS) < end) return 'invalid tag format';
  if (end === section.length && !hasFields) return 'missing fields';
  return {
    key: unescapeKeyPart(decodeText(section, start, equals)),
    value: unescapeKeyPart(decodeText(section, valueStart, end)),
    end,
  };
}

/**
 * Offset of the first such byte at or after `from` without a backslash before it, or the section's
 * length.
 */
function findUnescaped(section: Uint8Array, from: number, byte: number): number {
  for (let i = from; i < section.length; i++) {
    if (section[i] === byte && section[i - 1] !== BACKSLASH) return i;
  }
  return section.length;
}
