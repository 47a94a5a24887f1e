// Values of a configuration: from what a source holds to their final form, and back to text.
import type { ConfigKey } from './config-schema.ts';
import { DURATION_UNITS, parseClockDuration } from './duration.ts';
import { NANOS_PER_MILLISECOND } from './time.ts';

const NANOS_PER_MS = Number(NANOS_PER_MILLISECOND);

/** What a key accepts, for a message. */
export function expectation(key: ConfigKey): string {
  if (key.allowed !== undefined) return `one of ${key.allowed.map((v) => `"${v}"`).join(', ')}`;
  switch (key.type) {
    case 'text':
      return 'text';
    case 'integer':
      return 'an integer, 0 or more';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    case 'duration':
      return 'a duration such as "10s", "5m" or "1h30m"';
    case 'size':
      return 'a number of bytes, or text such as "25m" or "1g"';
    case 'text-list':
      return 'a list of texts';
    case 'text-map':
      return 'a table of texts';
  }
}

/** The final form of a value, `undefined` when it is not allowed. */
export function readValue(key: ConfigKey, raw: unknown, isText: boolean): unknown {
  switch (key.type) {
    case 'text':
      if (typeof raw !== 'string') return undefined;
      return key.allowed === undefined || key.allowed.includes(raw) ? raw : undefined;
    case 'boolean':
      if (isText) return raw === 'true' ? true : raw === 'false' ? false : undefined;
      return typeof raw === 'boolean' ? raw : undefined;
    case 'integer': {
      const value = isText ? numberFromText(raw) : raw;
      return Number.isSafeInteger(Number(value)) && typeof value !== 'string' && Number(value) >= 0
        ? Number(value)
        : undefined;
    }
    case 'number': {
      const value = isText ? numberFromText(raw) : raw;
      return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
    }
    case 'duration':
      // Nothing is nothing in every unit.
      if (raw === 0) return 0;
      return typeof raw === 'string' ? parseConfigDuration(raw) : undefined;
    case 'size':
      return parseConfigSize(raw);
    case 'text-list': {
      const list = isText && typeof raw === 'string' ? raw.split(',').filter((v) => v !== '') : raw;
      return Array.isArray(list) && list.every((v) => typeof v === 'string') ? list : undefined;
    }
    case 'text-map':
      return isTextMap(raw) ? raw : undefined;
  }
}

function numberFromText(raw: unknown): number | undefined {
  return typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : undefined;
}

/** Milliseconds of `1h30m`, `0.5s`, `0`; `undefined` for anything else and for what is negative. */
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

/** Bytes of `25000000`, `"25m"`, `"1g"`; `undefined` for anything else. */
export function parseConfigSize(raw: unknown): number | undefined {
  if (typeof raw === 'number' || typeof raw === 'bigint') {
    return Number.isSafeInteger(Number(raw)) && raw >= 0 ? Number(raw) : undefined;
  }
  const match = typeof raw === 'string' ? /^(\d+)([kmg]?)$/i.exec(raw) : null;
  if (match === null) return undefined;
  const power = ['', 'k', 'm', 'g'].indexOf((match[2] ?? '').toLowerCase());
  return Number(match[1]) * 1024 ** power;
}

function isTextMap(raw: unknown): boolean {
  return (
    typeof raw === 'object' &&
    raw !== null &&
    !Array.isArray(raw) &&
    Object.values(raw).every((value) => typeof value === 'string')
  );
}
