// Times as text: RFC 3339 in UTC or in a zone, or integers of a unit.
import { floorDiv, NANOS_PER_SECOND } from '@tidemark/core';

import type { Zone } from '../analyse/zone.ts';
import type { TextBuffer } from './bytes.ts';

const DAY_SECONDS = 86_400;

/**
 * Appends RFC 3339 times. Rows of one answer are close together, so the date is formatted once per
 * day and reused.
 */
export class TimePrinter {
  readonly #zone: Zone | undefined;
  #day = Number.NaN;
  #date = '';

  constructor(zone: Zone | undefined) {
    this.#zone = zone;
  }

  /** `2022-03-01T00:00:00.000000005Z`, without quotes. */
  append(time: bigint, out: TextBuffer): void {
    const offset = this.#zone === undefined ? 0n : this.#zone.offsetNanos(time);
    const local = time + offset;
    const bigSeconds = floorDiv(local, NANOS_PER_SECOND);
    const nanos = Number(local - bigSeconds * NANOS_PER_SECOND);
    const seconds = Number(bigSeconds);
    const day = Math.floor(seconds / DAY_SECONDS);
    if (day !== this.#day) {
      this.#day = day;
      this.#date = new Date(day * DAY_SECONDS * 1000).toISOString().slice(0, 11);
    }
    out.ascii(this.#date);
    appendClock(seconds - day * DAY_SECONDS, nanos, out);
    if (this.#zone === undefined || offset === 0n) out.byte(0x5a);
    else out.ascii(offsetText(offset));
  }
}

function appendClock(secondsOfDay: number, nanos: number, out: TextBuffer): void {
  const { bytes, at } = out.room(18);
  const hours = Math.floor(secondsOfDay / 3600);
  const minutes = Math.floor(secondsOfDay / 60) % 60;
  const seconds = secondsOfDay % 60;
  twoDigits(bytes, at, hours);
  bytes[at + 2] = 0x3a;
  twoDigits(bytes, at + 3, minutes);
  bytes[at + 5] = 0x3a;
  twoDigits(bytes, at + 6, seconds);
  if (nanos === 0) {
    out.commit(8);
    return;
  }
  bytes[at + 8] = 0x2e;
  let rest = nanos;
  let digits = 9;
  while (rest % 10 === 0) {
    rest /= 10;
    digits--;
  }
  for (let i = digits; i > 0; i--) {
    bytes[at + 8 + i] = 0x30 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  out.commit(9 + digits);
}

function twoDigits(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = 0x30 + Math.floor(value / 10);
  bytes[at + 1] = 0x30 + (value % 10);
}

function offsetText(offsetNanos: bigint): string {
  const minutes = Number(offsetNanos / 60_000_000_000n);
  const positive = Math.abs(minutes);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(positive / 60))}:${two(positive % 60)}`;
}
