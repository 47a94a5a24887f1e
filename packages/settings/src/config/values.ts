// Values of a configuration: converts the values of sources to those of options, and back to text.
// Sources are read strictly; values from clients are converted (`convertOption`).
import { DURATION_UNITS, NANOS_PER_MILLISECOND, parseClockDuration } from '@tidemark/core';

import { isAllowed, readSize } from '../options.ts';
import type { OptionSpec, OptionValue } from '../options.ts';

const NANOS_PER_MS = Number(NANOS_PER_MILLISECOND);

/** The value of an option from a source; `undefined` if it is not allowed. */
export function readValue(
  spec: OptionSpec,
  raw: unknown,
  isText: boolean,
): OptionValue | undefined {
  const value = valueIn(spec, raw, isText);
  return value !== undefined && isAllowed(spec, value) ? value : undefined;
}

function valueIn(spec: OptionSpec, raw: unknown, isText: boolean): OptionValue | undefined {
  switch (spec.type) {
    case 'string':
      return typeof raw === 'string' ? raw : undefined;
    case 'boolean':
      if (isText) return raw === 'true' ? true : raw === 'false' ? false : undefined;
      return typeof raw === 'boolean' ? raw : undefined;
    case 'integer': {
      const value = isText ? numberFromText(raw) : raw;
      return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
    }
    case 'float': {
      const value = isText ? numberFromText(raw) : raw;
      return typeof value === 'number' ? value : undefined;
    }
    case 'duration':
      // Zero is valid without a unit.
      if (raw === 0) return 0n;
      return typeof raw === 'string' ? parseClockDuration(raw) : undefined;
    case 'size':
      return readSize(raw);
    case 'strings': {
      const list: unknown =
        isText && typeof raw === 'string' ? raw.split(',').filter((v) => v !== '') : raw;
      if (!isTextList(list)) return undefined;
      return list.length === 0 ? spec.default : list;
    }
    case 'string-map':
    case 'json':
      if (!isTextMap(raw)) return undefined;
      return Object.keys(raw).length === 0 ? spec.default : raw;
  }
}

function numberFromText(raw: unknown): number | undefined {
  return typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : undefined;
}

/**
 * Milliseconds of `1h30m`, `0.5s`, `0`; `undefined` for anything else, and for negative durations.
 */
export function parseConfigDuration(text: string): number | undefined {
  const nanos = parseClockDuration(text);
  return nanos === undefined || nanos < 0n ? undefined : Number(nanos) / NANOS_PER_MS;
}

/** Prints milliseconds as `parseConfigDuration` reads them, with the largest units that divide. */
export function printConfigDuration(durationMs: number): string {
  if (durationMs === 0) return '0s';
  for (const unit of ['h', 'm', 's', 'ms']) {
    const unitMs = Number(DURATION_UNITS.get(unit)) / NANOS_PER_MS;
    if (durationMs % unitMs === 0) return `${durationMs / unitMs}${unit}`;
  }
  return `${Math.round(durationMs * NANOS_PER_MS)}ns`;
}

/** A value as written in a file. */
export function printConfigValue(value: OptionValue): string {
  if (typeof value === 'bigint') {
    return JSON.stringify(printConfigDuration(Number(value) / NANOS_PER_MS));
  }
  return JSON.stringify(value);
}

function isTextList(raw: unknown): raw is readonly string[] {
  return Array.isArray(raw) && raw.every((value) => typeof value === 'string');
}

function isTextMap(raw: unknown): raw is Readonly<Record<string, string>> {
  return (
    typeof raw === 'object' &&
    raw !== null &&
    !Array.isArray(raw) &&
    Object.values(raw).every((value) => typeof value === 'string')
  );
}
