// The lines that are being read, and what their times mean. An instance of the kernels reads one
// body at a time.
import { AREA_BODY } from './abi.gen';
import { scratch } from './memory';

/** What loops may load behind the end of a body. */
const SLACK_BYTES: usize = 64;

export let body: usize = 0;
export let bodyEnd: usize = 0;
/**
 * Nanoseconds of a unit of time, the most units that a time can have, and the time of lines without
 * one.
 */
export let unitNanos: i64 = 1;
export let unitsMax: u64 = 0;
export let defaultTime: i64 = 0;

/** Room for a body of `bytes`; 0 when memory is exhausted. */
export function openBody(bytes: usize): usize {
  body = scratch(AREA_BODY, bytes + SLACK_BYTES);
  if (body === 0) return 0;
  bodyEnd = body + bytes;
  // Line ends behind the end stop every loop that looks for one.
  memory.fill(bodyEnd, 10, SLACK_BYTES);
  return body;
}

export function setTimes(unit: i64, now: i64): void {
  unitNanos = unit;
  unitsMax = 9223372036854775806 / <u64>unit;
  defaultTime = now;
}
