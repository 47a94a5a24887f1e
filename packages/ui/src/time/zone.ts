// Times of points in a zone, with all their digits.
import { preference } from '../app/stored.ts';

/** Zone of displayed times: an IANA name, or `local`. */
export const shownZone = preference('zone', 'local');

/** The zone as an IANA name. */
export const zoneName = (zone: string): string =>
  zone === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;

/** All zones of the platform, the local one first. */
export function zones(): readonly string[] {
  return ['local', 'UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zoneName(zone),
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  formats.set(zone, made);
  return made;
}

/** `2024-01-01 12:00:00.123456789` of an RFC 3339 text; other texts stay as they are. */
export function formatTime(text: string, zone: string): string {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?Z$/.exec(text);
  if (match === null) return text;
  const [, seconds = '', fraction = ''] = match;
  const ms = Date.parse(`${seconds}Z`);
  return Number.isNaN(ms) ? text : formatOf(zone).format(ms) + fraction;
}

/** The same for milliseconds, without a fraction. */
export function formatInstant(ms: number, zone: string): string {
  return formatOf(zone).format(ms);
}

/** Years with four digits. */
const INSTANT_MAX = Date.UTC(9999, 0);

/**
 * What clocks of a zone show at an instant, as milliseconds of the same reading in UTC; NaN beyond
 * the years that have four digits.
 */
export function wallClock(ms: number, zone: string): number {
  if (!(Math.abs(ms) <= INSTANT_MAX)) return NaN;
  const seconds = Math.floor(ms / 1000) * 1000;
  return Date.parse(`${formatOf(zone).format(seconds).replace(' ', 'T')}Z`) + (ms - seconds);
}

/**
 * The instant at which clocks of a zone show a reading. A reading that clocks skip counts from
 * before the change; of one that they repeat the first is taken.
 */
export function instantAt(wallMs: number, zone: string): number {
  const offsetAt = (ms: number): number => wallClock(ms, zone) - ms;
  const day = 86_400_000;
  const before = wallMs - offsetAt(wallMs - day);
  const after = wallMs - offsetAt(wallMs + day);
  return wallClock(before, zone) === wallMs || wallClock(after, zone) !== wallMs ? before : after;
}
