// The body that is being read, and how its times are read. An instance of the kernels reads one
// body at a time.
import { BODY_SLACK_BYTES } from './abi.gen';

export let body: usize = 0;
export let bodyEnd: usize = 0;
export let unitNanos: i64 = 1;
/** The largest time in units. */
export let unitsMax: u64 = 0;
/** The time of lines without one. */
export let defaultTime: i64 = 0;

/**
 * Sets the body: `bytes` at `address`, followed by `BODY_SLACK_BYTES`. Both belong to the loader.
 */
export function openBody(address: usize, bytes: usize): void {
  body = address;
  bodyEnd = body + bytes;
  // Newlines after the end stop every loop that searches for one.
  memory.fill(bodyEnd, 10, BODY_SLACK_BYTES);
}

export function setTimes(unit: i64, now: i64): void {
  unitNanos = unit;
  unitsMax = 9223372036854775806 / <u64>unit;
  defaultTime = now;
}
