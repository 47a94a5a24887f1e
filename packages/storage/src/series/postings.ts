// Postings of one tag key: for each of its values the ordinals of the series that have it, as
// ascending deltas in varints, about a byte per series. Built from the key's column, in steps, when
// a condition first needs them. Later series are looked up in the column itself, until there are
// enough of them to build the postings again. Values are stored as in columns: symbol + 1, and 0
// for series that lack the tag, which have a list like any other.
import { firstNotBelow } from '../columns/search.ts';

/** Elements between two pauses: a fraction of a millisecond. */
const STEP = 1 << 15;

export class TagPostings {
  /** Ordinals below this are covered. */
  readonly end: number;
  /** Stored values that occur, ascending. */
  readonly values: Uint32Array;
  /** Where the list of each value begins, by the value's position; one more entry for the end. */
  readonly #starts: Uint32Array;
  readonly #bytes: Uint8Array;

  private constructor(parts: {
    readonly end: number;
    readonly values: Uint32Array;
    readonly starts: Uint32Array;
    readonly bytes: Uint8Array;
  }) {
    this.end = parts.end;
    this.values = parts.values;
    this.#starts = parts.starts;
    this.#bytes = parts.bytes;
  }

  /**
   * Postings of a column up to ordinal `end`; stored values are at most `valueMax`. `undefined`
   * when they would take more than `bytesMax`.
   */
  static *build(
    column: Uint32Array,
    options: { readonly end: number; readonly valueMax: number; readonly bytesMax: number },
  ): Generator<undefined, TagPostings | undefined> {
    const { end, valueMax, bytesMax } = options;
    const stored = Math.min(end, column.length);
    // By value: whether it occurs, then its position among those that occur.
    const positions = new Uint32Array(valueMax + 1);
    if (stored < end) positions[0] = 1;
    for (let from = 0; from < stored; from += STEP) {
      const to = Math.min(stored, from + STEP);
      for (let i = from; i < to; i++) positions[column[i]!] = 1;
      yield undefined;
    }
    let count = 0;
    for (let value = 0; value <= valueMax; value++) count += positions[value]!;
    if (count * VALUE_BYTES > bytesMax) return undefined;
    const values = new Uint32Array(count);
    for (let value = 0, next = 0; value <= valueMax; value++) {
      if (positions[value] === 0) continue;
      values[next] = value;
      positions[value] = next++;
    }
    const valueAt = (ordinal: number): number => (ordinal < stored ? column[ordinal]! : 0);
    const starts = yield* listStarts({ end, count, positionOf: (i) => positions[valueAt(i)]! });
    const sizeBytes = starts[count]!;
    if (count * VALUE_BYTES + sizeBytes > bytesMax) return undefined;
    const bytes = new Uint8Array(sizeBytes);
    const at = starts.slice(0, count);
    const last = new Uint32Array(count);
    for (let from = 0; from < end; from += STEP) {
      const to = Math.min(end, from + STEP);
      for (let i = from; i < to; i++) {
        const position = positions[valueAt(i)]!;
        let rest = i - last[position]!;
        last[position] = i;
        let out = at[position]!;
        for (; rest >= 128; rest >>>= 7) bytes[out++] = (rest & 127) | 128;
        bytes[out++] = rest;
        at[position] = out;
      }
      yield undefined;
    }
    return new TagPostings({ end, values, starts, bytes });
  }

  get memoryBytes(): number {
    return this.values.length * VALUE_BYTES + this.#bytes.length;
  }

  /** An upper bound of the number of series that have the value. */
  countBound(value: number): number {
    const position = this.#position(value);
    return position < 0 ? 0 : this.#starts[position + 1]! - this.#starts[position]!;
  }

  /** Ordinals of the series that have the stored value, ascending. */
  list(value: number): Uint32Array {
    const ordinals = new Uint32Array(this.countBound(value));
    let length = 0;
    this.some(value, (ordinal) => {
      ordinals[length++] = ordinal;
      return false;
    });
    return ordinals.subarray(0, length);
  }

  /** Sets the bits of the series that have the value at a position of `values`. */
  markIn(bits: Uint32Array, position: number): void {
    this.someAt(position, (ordinal) => {
      bits[ordinal >>> 5]! |= 1 << (ordinal & 31);
      return false;
    });
  }

  /**
   * Whether the test holds for a series that has the stored value; the first ones are tested first.
   */
  some(value: number, test: (ordinal: number) => boolean): boolean {
    const position = this.#position(value);
    return position >= 0 && this.someAt(position, test);
  }

  /** As `some`, for the value at a position of `values`. */
  someAt(position: number, test: (ordinal: number) => boolean): boolean {
    const bytes = this.#bytes;
    const end = this.#starts[position + 1]!;
    let ordinal = 0;
    for (let at = this.#starts[position]!; at < end;) {
      let delta = 0;
      for (let shift = 0; ; shift += 7) {
        const byte = bytes[at++]!;
        delta |= (byte & 127) << shift;
        if (byte < 128) break;
      }
      ordinal += delta;
      if (test(ordinal)) return true;
    }
    return false;
  }

  #position(value: number): number {
    const position = firstNotBelow(this.values, value);
    return this.values[position] === value ? position : -1;
  }
}

/** A value and where its list begins. */
const VALUE_BYTES = 8;

/** Where the lists begin: sizes of all their deltas, summed up. */
function* listStarts(options: {
  readonly end: number;
  readonly count: number;
  readonly positionOf: (ordinal: number) => number;
}): Generator<undefined, Uint32Array> {
  const { end, count, positionOf } = options;
  const starts = new Uint32Array(count + 1);
  const last = new Uint32Array(count);
  for (let from = 0; from < end; from += STEP) {
    const to = Math.min(end, from + STEP);
    for (let i = from; i < to; i++) {
      const position = positionOf(i);
      const delta = i - last[position]!;
      last[position] = i;
      starts[position + 1]! += varintBytes(delta);
    }
    yield undefined;
  }
  for (let i = 1; i <= count; i++) starts[i]! += starts[i - 1]!;
  return starts;
}

function varintBytes(value: number): number {
  // Seven bits a byte; 0 takes one too.
  return Math.floor((38 - Math.clz32(value | 1)) / 7);
}
