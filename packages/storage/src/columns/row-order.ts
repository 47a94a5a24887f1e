// The order of rows: by time, or by series and then by time.

/**
 * Keys of rows. Times are compared as 32-bit halves, because a bigint per comparison is ten times
 * slower (docs/adr/0001-int64.md).
 */
export class RowKeys {
  readonly length: number;
  readonly #series: Uint32Array | undefined;
  readonly #halves: Int32Array;

  /** Without `series`, all rows belong to one series. */
  constructor(times: BigInt64Array, series?: Uint32Array) {
    this.length = times.length;
    this.#series = series;
    this.#halves = halvesOf(times);
  }

  /** Whether row `a` comes before row `b`. */
  isBefore(a: number, b: number): boolean {
    const series = this.#series;
    if (series !== undefined && series[a] !== series[b]) return series[a]! < series[b]!;
    const halves = this.#halves;
    const highA = halves[2 * a + 1]!;
    const highB = halves[2 * b + 1]!;
    if (highA !== highB) return highA < highB;
    return (halves[2 * a]! ^ SIGN) < (halves[2 * b]! ^ SIGN);
  }
}

/**
 * Rows [start, end) of one series ascend strictly in time up to this one: `end` when all do. Takes
 * the two halves of each time. Looks at every row of every flush, so it calls nothing and makes no
 * numbers beyond 31 bits.
 */
export function ascendingEnd(halves: Int32Array, start: number, end: number): number {
  if (start >= end) return end;
  let low = halves[2 * start]! ^ SIGN;
  let high = halves[2 * start + 1]!;
  for (let row = start + 1; row < end; row++) {
    const nextLow = halves[2 * row]! ^ SIGN;
    const nextHigh = halves[2 * row + 1]!;
    if (nextHigh < high || (nextHigh === high && nextLow <= low)) return row;
    low = nextLow;
    high = nextHigh;
  }
  return end;
}

/** Low halves are unsigned: with this bit turned they compare as signed numbers. */
const SIGN = 1 << 31;

/** Times as 32-bit halves, little endian. */
export function halvesOf(times: BigInt64Array): Int32Array {
  return new Int32Array(times.buffer, times.byteOffset, times.length * 2);
}

/**
 * Row numbers in the order of their keys, stable. A merge sort that starts from the ascending runs
 * which are there already: there are few, one per source of rows.
 */
export function rowOrder(keys: RowKeys): Uint32Array {
  let from = new Uint32Array(keys.length);
  const borders = [0];
  for (let i = 0; i < from.length; i++) {
    from[i] = i;
    if (i > 0 && keys.isBefore(i, i - 1)) borders.push(i);
  }
  borders.push(keys.length);
  let to = new Uint32Array(keys.length);
  while (borders.length > 2) {
    let kept = 1;
    for (let i = 0; i + 1 < borders.length; i += 2) {
      const middle = borders[i + 1]!;
      const end = borders[i + 2] ?? middle;
      mergeHalves(keys, { from, to, start: borders[i]!, middle, end });
      borders[kept++] = end;
    }
    borders.length = kept;
    [from, to] = [to, from];
  }
  return from;
}

type Halves = {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly start: number;
  readonly middle: number;
  readonly end: number;
};

function mergeHalves(keys: RowKeys, { from, to, start, middle, end }: Halves): void {
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const takesRight = left >= middle || (right < end && keys.isBefore(from[right]!, from[left]!));
    to[at] = takesRight ? from[right++]! : from[left++]!;
  }
}
