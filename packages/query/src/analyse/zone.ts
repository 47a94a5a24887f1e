// Time zones of `tz()`: offsets from UTC and local times, from the runtime's zone data.
import { floorDiv, NANOS_PER_MILLISECOND } from '@tidemark/core';

const HOUR_MS = 3_600_000;
const CACHE_ENTRIES = 4096;
const MILLIS_MIN = -8_640_000_000_000_000;

/** A time zone. Offsets are nanoseconds east of UTC. */
export interface Zone {
  readonly name: string;
  /** Offset in force at an instant. */
  offsetNanos(time: bigint): bigint;
}

/**
 * The zone of an IANA name that is known to exist; `undefined` for UTC, where nothing has to be
 * computed.
 */
export function openZone(name: string | undefined): Zone | undefined {
  if (name === undefined || name === '' || name === 'UTC') return undefined;
  const format = new Intl.DateTimeFormat('en-US-u-hc-h23', {
    timeZone: name,
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    era: 'short',
  });
  const exact = (millis: number): number => localMillis(format, millis) - millis;
  const byHour = new Map<number, number | undefined>();

  /** Offset of a whole hour when nothing changes within it, which is nearly always. */
  function hourOffset(hour: number): number | undefined {
    if (byHour.has(hour)) return byHour.get(hour);
    if (byHour.size >= CACHE_ENTRIES) byHour.clear();
    const start = exact(hour * HOUR_MS);
    const offset = start === exact((hour + 1) * HOUR_MS - 1000) ? start : undefined;
    byHour.set(hour, offset);
    return offset;
  }

  return {
    name,
    offsetNanos: (time) => {
      const millis = Number(floorDiv(time, NANOS_PER_MILLISECOND));
      const seconds = Math.floor(millis / 1000) * 1000;
      const offset = hourOffset(Math.floor(millis / HOUR_MS)) ?? exact(seconds);
      return BigInt(offset) * NANOS_PER_MILLISECOND;
    },
  };
}

/** The wall clock of the zone at an instant (whole seconds), read as if it were UTC. */
function localMillis(format: Intl.DateTimeFormat, millis: number): number {
  const fields: Record<string, string> = {};
  for (const part of format.formatToParts(Math.max(millis, MILLIS_MIN))) {
    fields[part.type] = part.value;
  }
  const year = Number(fields['year']);
  return Date.UTC(
    fields['era'] === 'BC' ? 1 - year : year,
    Number(fields['month']) - 1,
    Number(fields['day']),
    Number(fields['hour']),
    Number(fields['minute']),
    Number(fields['second']),
  );
}

/**
 * The instant of a local time given as nanoseconds since the epoch of the local calendar. Local
 * times that a transition skips are read with the offset before it; of the two instants of a
 * repeated one, the first is meant.
 */
export function localToInstant(local: bigint, zone: Zone | undefined): bigint {
  if (zone === undefined) return local;
  const offset = zone.offsetNanos(local - zone.offsetNanos(local));
  const instant = local - offset;
  const before = zone.offsetNanos(instant - 24n * 3_600_000_000_000n);
  if (before !== offset && zone.offsetNanos(local - before) === before) return local - before;
  return local - zone.offsetNanos(instant) === instant ? instant : local - before;
}
