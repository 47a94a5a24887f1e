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
