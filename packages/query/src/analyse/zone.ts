// Time zones of `tz()`: offsets from UTC and local times, from the runtime's zone data.
import { assert, floorDiv, NANOS_PER_SECOND } from '@tidemark/core';

const DAY_SECONDS = 86_400;
/** Days whose offsets are cached per zone: a century of them. */
const DAYS_MAX = 36_525;
/** Zones that are cached: more than there are names in the zone data. */
const ZONES_MAX = 64;

/** A time zone. Offsets are nanoseconds east of UTC. */
export interface Zone {
  readonly name: string;
  /** Offset in force at an instant. */
  offsetNanos(time: bigint): bigint;
}

const ZONES = new Map<string, Zone>();

/** The zone of a valid IANA name; `undefined` for UTC, where nothing has to be computed. */
export function openZone(name: string | undefined): Zone | undefined {
  if (name === undefined || name === '' || name === 'UTC') return undefined;
  let zone = ZONES.get(name);
  if (zone === undefined) {
    zone = new ZoneOffsets(name);
    if (ZONES.size >= ZONES_MAX) ZONES.clear();
    ZONES.set(name, zone);
  }
  return zone;
}

/** Instants [start, end) with one offset. */
type Span = { readonly start: bigint; readonly end: bigint; readonly offset: bigint };

/**
 * Asks the runtime about each day once, and about none while times stay between two known
 * transitions: the span of the last time grows by every neighbouring day with the same offset.
 */
class ZoneOffsets implements Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #days = new Map<number, readonly Span[]>();
  #last: Span = { start: 0n, end: 0n, offset: 0n };

  constructor(name: string) {
    this.name = name;
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  }

  offsetNanos(time: bigint): bigint {
    const { start, end, offset } = this.#last;
    if (time >= start && time < end) return offset;
    const found = this.#spanOf(time);
    this.#last = found;
    if (found.offset === offset) {
      if (found.start === end) this.#last = { start, end: found.end, offset };
      else if (found.end === start) this.#last = { start: found.start, end, offset };
    }
    return found.offset;
  }

  #spanOf(time: bigint): Span {
    const seconds = Number(floorDiv(time, NANOS_PER_SECOND));
    const day = Math.floor(seconds / DAY_SECONDS);
    let spans = this.#days.get(day);
    if (spans === undefined) {
      const start = day * DAY_SECONDS;
      spans = this.#spansIn(start, start + DAY_SECONDS);
      if (this.#days.size >= DAYS_MAX) this.#days.clear();
      this.#days.set(day, spans);
    }
    const found = spans.find(({ end }) => time < end);
    assert(found !== undefined, 'the spans of a day cover it');
    return found;
  }

  /**
   * The spans of the seconds [from, to): a part whose ends have the same offset has no transition.
   */
  #spansIn(from: number, to: number): readonly Span[] {
    const offset = this.#secondsAt(from);
    if (offset === this.#secondsAt(to - 1)) {
      const second = (value: number): bigint => BigInt(value) * NANOS_PER_SECOND;
      return [{ start: second(from), end: second(to), offset: second(offset) }];
    }
    const middle = Math.floor((from + to) / 2);
    return [...this.#spansIn(from, middle), ...this.#spansIn(middle, to)];
  }

  /** The offset at a second, from a text such as `1/1/1880, GMT-04:56:02`. */
  #secondsAt(second: number): number {
    const text = this.#format.format(second * 1000);
    const offset = text.slice(text.lastIndexOf('GMT') + 'GMT'.length);
    if (offset === '') return 0;
    const [hours = 0, minutes = 0, seconds = 0] = offset.slice(1).split(':').map(Number);
    const absolute = hours * 3600 + minutes * 60 + seconds;
    return offset.startsWith('-') ? -absolute : absolute;
  }
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
