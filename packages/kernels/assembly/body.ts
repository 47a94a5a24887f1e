// The lines that are being read, and what their times mean. An instance of the kernels reads one
// body at a time.
import { BODY_SLACK_BYTES } from './abi.gen';

export let body: usize = 0;
export let bodyEnd: usize = 0;
/**
 * Nanoseconds of a unit of time, the most units that a time can have, and the time of lines without
 * one.
 */
export let unitNanos: i64 = 1;
export let unitsMax: u64 = 0;
export let defaultTime: i64 = 0;

/** The loader's room for a body, until the next one is opened: `bytes` and `BODY_SLACK_BYTES`. */
export function openBody(address: usize, bytes: usize): void {
  body = address;
  bodyEnd = body + bytes;
  // Line ends behind the end stop every loop that looks for one.
  memory.fill(bodyEnd, 10, BODY_SLACK_BYTES);
}

export function setTimes(unit: i64, now: i64): void {
  unitNanos = unit;
  unitsMax = 9223372036854775806 / <u64>unit;
  defaultTime = now;
}
