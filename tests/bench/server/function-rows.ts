// Rows for benchmarks of functions: `m`, 200 series with a float, an integer and a text every ten
// seconds, and `wide`, very many series of one row, of which some have two later on.
import { write } from '@tidemark/testkit';

import { DATABASE } from './beside-influxdb.ts';

const SERIES = 200;
const STEP_SECONDS = 10;
export const START_SECONDS = 1_500_000_000;
const ROWS_PER_BODY = 20_000;
const [WIDE, WIDE_HOSTS, WIDE_AGAIN] = [240_000, 60_000, 10_000];
/** When the later rows of `wide` begin, after its first ones. */
export const WIDE_LATER = 100_000;
/** Values of `v`, `i` and `s`. */
const [FLOATS, INTEGERS, TEXTS] = [1009, 101, 503];

/** A condition that all of the first rows of `m` meet. */
export function rangeOf(rows: number): string {
  const endSeconds = START_SECONDS + Math.ceil(rows / SERIES) * STEP_SECONDS;
  return `time >= ${START_SECONDS}s AND time < ${endSeconds}s`;
}

/** Writes rows `[from, to)` of `m`. */
export async function fillRows(url: string, from: number, to: number): Promise<void> {
  await fillWith(url, from, to, lineOf);
}

export async function fillWide(url: string): Promise<void> {
  await fillWith(url, 0, WIDE, (row) => wideLine(row, 0));
  await fillWith(url, 0, WIDE_AGAIN * 2, (row) => {
    const series = (row >> 1) * Math.floor(WIDE / WIDE_AGAIN);
    return wideLine(series, WIDE_LATER + STEP_SECONDS * (row % 2));
  });
}

async function fillWith(
  url: string,
  first: number,
  end: number,
  line: (row: number) => string,
): Promise<void> {
  for (let from = first; from < end; from += ROWS_PER_BODY) {
    const count = Math.min(ROWS_PER_BODY, end - from);
    const lines = Array.from({ length: count }, (_, k) => line(from + k));
    await write(url, DATABASE, lines.join('\n'), { precision: 's' });
  }
}

function wideLine(series: number, seconds: number): string {
  const tags = `host=h${series % WIDE_HOSTS},port=p${Math.floor(series / WIDE_HOSTS)}`;
  return `wide,${tags} v=${(series * 7919) % 100_003} ${START_SECONDS + seconds}`;
}

function lineOf(row: number): string {
  const value = (row * 7919) % 1_000_003;
  const time = START_SECONDS + Math.floor(row / SERIES) * STEP_SECONDS;
  const fields = `v=${(value % FLOATS) / 8},i=${value % INTEGERS}i,s="t${value % TEXTS}"`;
  return `m,host=h${row % SERIES} ${fields} ${time}`;
}
