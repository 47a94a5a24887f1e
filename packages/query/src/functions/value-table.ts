// The distinct values of a window, numbered in the order of appearance.
//
// A hash table that grows by one bucket with each new value (linear hashing): a `Map` of half a
// million values stops its thread for tens of milliseconds when it doubles. 64-bit values are
// compared by their words, texts of a list once.
import type { Column, FieldType, FieldValue, StringColumn, Texts } from '@tidemark/core';
import {
  assert,
  compareBytes,
  hashSeed,
  hashWholeText,
  NO_TEXTS,
  textAt,
  textBytes,
  textCount,
} from '@tidemark/core';

/** Stands for a row without a value. */
export const NO_VALUE = 0xffffffff;

const FIRST_CAPACITY = 16;
/** Tables of at most this size keep their memory for the next window. */
const REUSED_CAPACITY = 1024;
/** Words of a value, its hash, its bucket and the next one of the bucket. */
const ENTRY_BYTES = 20;
/** Of lists of more texts per row, only the texts of the rows are looked up. */
const CODES_PER_ROW = 4;

const NO_WORDS: Uint32Array = new Uint32Array(0);

const SIGN = 0x80000000;
const EXPONENT = 0x7ff00000;
const MANTISSA = 0x000fffff;
const NAN_HIGH = 0x7ff80000;

type Numbers = Float64Array | BigInt64Array | BigUint64Array;

export class ValueTable {
  readonly #type: FieldType;
  readonly #hold: (bytes: number) => void;
  readonly #kept: (text: string) => string;
  readonly #seed = hashSeed();
  #size = 0;
  /** The number of the value zero, if its first occurrence was negative. */
  #negativeZero: number = NO_VALUE;
  #textBytes = 0;
  #heldBytes = 0;
  /** Two words per value, lower one first; the lower one of a boolean is 0 or 1. */
  #words = NO_WORDS;
  /** The words as numbers. */
  #numbers: Numbers = new Float64Array(0);
  #texts: string[] = [];
  #hashes = NO_WORDS;
  /** First value of each bucket and the next one of the same bucket, counted from 1. */
  #buckets = NO_WORDS;
  #next = NO_WORDS;
  /** There are `#mask + 1 + #split` buckets: those below `#split` have been split in two. */
  #mask = 0;
  #split = 0;
  /** Numbers of values that were removed, for the next ones. */
  #free: number[] = [];
  /** The result of `add`. */
  #numbered = NO_WORDS;
  /**
   * The list that texts came from last, and the numbers of its known texts, counted from 1.
   */
  #list = NO_TEXTS;
  #numberOfCode = NO_WORDS;

  /**
   * `hold` is called with the memory that the table takes (negative when it is freed). `kept` is
   * what is kept of a text, and differs for different ones.
   */
  constructor(type: FieldType, hold: (bytes: number) => void, kept = (text: string) => text) {
    this.#type = type;
    this.#hold = hold;
    this.#kept = kept;
  }

  /** Number of distinct values; while none was removed, their numbers are below it. */
  get size(): number {
    return this.#size;
  }

  /**
   * For each row in `[from, to)` the number of its value, `NO_VALUE` for nulls. Valid until the
   * next call.
   */
  add(column: Column, from: number, to: number): Uint32Array {
    const count = to - from;
    if (this.#numbered.length < count) this.#numbered = new Uint32Array(count);
    const { valid } = column;
    if (column.type !== this.#type) {
      assert(valid?.subarray(from, to).includes(1) === false, 'values of a window have one type');
      return this.#numbered.subarray(0, count).fill(NO_VALUE);
    }
    if (column.type === 'string') this.#addTexts(column, from, to);
    else if (column.type === 'boolean') this.#addBytes(column.values, valid, from, to);
    else this.#addNumbers(column.values, valid, from, to);
    return this.#numbered.subarray(0, count);
  }

  /** The number of a text, which is added if it is new. Only for tables of texts. */
  numberOfText(text: string, hash = this.hashOf(text)): number {
    const existing = this.find(text, hash);
    if (existing !== undefined) return existing;
    this.#textBytes += textBytes(text);
    this.#countBytes();
    const number = this.#insert(hash);
    this.#texts[number] = text;
    return number;
  }

  /** The number of a known text. Only for tables of texts. */
  find(text: string, hash = this.hashOf(text)): number | undefined {
    for (let at = this.#firstOf(hash); at !== 0; at = this.#next[at - 1]!) {
      if (this.#hashes[at - 1] === hash && this.#texts[at - 1] === text) return at - 1;
    }
    return undefined;
  }

  /** The hash of a text in this table, for callers that search it and then add it. */
  hashOf(text: string): number {
    return mixed(hashWholeText(this.#seed, text));
  }

  /**
   * Removes a text, whose number the next new one gets. Only for tables to which texts are added by
   * `numberOfText`.
   */
  remove(number: number): void {
    const bucket = this.#bucketOf(this.#hashes[number]!);
    const behind = this.#next[number]!;
    if (this.#buckets[bucket] === number + 1) this.#buckets[bucket] = behind;
    else {
      let at = this.#buckets[bucket]!;
      while (this.#next[at - 1] !== number + 1) at = this.#next[at - 1]!;
      this.#next[at - 1] = behind;
    }
    this.#textBytes -= textBytes(this.#texts[number]!);
    this.#texts[number] = '';
    this.#free.push(number);
    this.#size--;
    this.#countBytes();
  }

  valueOf(number: number): FieldValue {
    if (this.#type === 'string') return this.#texts[number]!;
    if (number === this.#negativeZero) return -0;
    return this.#type === 'boolean' ? this.#words[2 * number] === 1 : this.#numbers[number]!;
  }

  /** Order of two values, by their numbers: numbers by size, false before true, texts by bytes. */
  compare(a: number, b: number): number {
    if (this.#type === 'string') return compareBytes(this.#texts[a]!, this.#texts[b]!);
    if (this.#type === 'boolean') return this.#words[2 * a]! - this.#words[2 * b]!;
    const x = this.#numbers[a]!;
    const y = this.#numbers[b]!;
    if (x < y) return -1;
    return x > y ? 1 : 0;
  }

  /** Removes all values. */
  clear(): void {
    this.#size = 0;
    this.#negativeZero = NO_VALUE;
    this.#mask = 0;
    this.#split = 0;
    this.#texts = [];
    this.#free = [];
    this.#textBytes = 0;
    this.#list = NO_TEXTS;
    if (this.#hashes.length > REUSED_CAPACITY) {
      this.#numberOfCode = NO_WORDS;
      this.#words = NO_WORDS;
      this.#hashes = NO_WORDS;
      this.#buckets = NO_WORDS;
      this.#next = NO_WORDS;
    }
    this.#buckets.fill(0);
    this.#countBytes();
  }

  #addBytes(values: Uint8Array, valid: Column['valid'], from: number, to: number): void {
    const numbered = this.#numbered;
    for (let i = from; i < to; i++) {
      const isNull = valid !== undefined && valid[i] !== 1;
      numbered[i - from] = isNull ? NO_VALUE : this.#numberOfWords(values[i]!, 0);
    }
  }

  #addNumbers(values: Numbers, valid: Column['valid'], from: number, to: number): void {
    const numbered = this.#numbered;
    const isFloat = values instanceof Float64Array;
    const words = new Uint32Array(values.buffer, values.byteOffset, values.length * 2);
    for (let i = from; i < to; i++) {
      if (valid !== undefined && valid[i] !== 1) {
        numbered[i - from] = NO_VALUE;
        continue;
      }
      let low = words[2 * i]!;
      let high = words[2 * i + 1]!;
      if (isFloat) {
        // Both zeros are one value, shown as the first of them; so is every NaN.
        if (low === 0 && high === SIGN) {
          high = 0;
          const size = this.#size;
          if (this.#numberOfWords(low, high) === size) this.#negativeZero = size;
        } else if ((high & EXPONENT) === EXPONENT && (low !== 0 || (high & MANTISSA) !== 0)) {
          low = 0;
          high = NAN_HIGH;
        }
      }
      numbered[i - from] = this.#numberOfWords(low, high);
    }
  }

  #addTexts({ codes, texts, valid }: StringColumn, from: number, to: number): void {
    const numbered = this.#numbered;
    const numbers = this.#numbersByCode(texts, to - from);
    for (let i = from; i < to; i++) {
      if (valid !== undefined && valid[i] !== 1) {
        numbered[i - from] = NO_VALUE;
        continue;
      }
      const code = codes[i]!;
      let number = numbers === undefined ? 0 : numbers[code]!;
      if (number === 0) {
        number = this.numberOfText(this.#kept(textAt(texts, code))) + 1;
        if (numbers !== undefined) numbers[code] = number;
      }
      numbered[i - from] = number - 1;
    }
  }

  /** Numbers by codes; `undefined` when there are too many texts for so few rows. */
  #numbersByCode(texts: Texts, rowCount: number): Uint32Array | undefined {
    const length = textCount(texts);
    if (texts === this.#list) return this.#numberOfCode;
    if (length > rowCount * CODES_PER_ROW) return undefined;
    this.#list = texts;
    if (this.#numberOfCode.length < length) this.#numberOfCode = new Uint32Array(length);
    else this.#numberOfCode.fill(0, 0, length);
    return this.#numberOfCode;
  }

  #numberOfWords(low: number, high: number): number {
    const hash = mixed(mixed(this.#seed ^ low) ^ high);
    const words = this.#words;
    for (let at = this.#firstOf(hash); at !== 0; at = this.#next[at - 1]!) {
      if (words[2 * at - 2] === low && words[2 * at - 1] === high) return at - 1;
    }
    const number = this.#insert(hash);
    this.#words[2 * number] = low;
    this.#words[2 * number + 1] = high;
    return number;
  }

  #bucketOf(hash: number): number {
    const bucket = hash & this.#mask;
    return bucket < this.#split ? hash & (2 * this.#mask + 1) : bucket;
  }

  #firstOf(hash: number): number {
    return this.#size === 0 ? 0 : this.#buckets[this.#bucketOf(hash)]!;
  }

  /** Gives a new value its number. */
  #insert(hash: number): number {
    if (this.#size === this.#hashes.length) this.#grow(Math.max(FIRST_CAPACITY, this.#size * 2));
    const number = this.#free.pop() ?? this.#size;
    this.#size++;
    const bucket = this.#bucketOf(hash);
    this.#hashes[number] = hash;
    this.#next[number] = this.#buckets[bucket]!;
    this.#buckets[bucket] = number + 1;
    if (this.#size > this.#mask + 1 + this.#split) this.#splitOne();
    return number;
  }

  /** Moves values that no longer belong to bucket `#split` into the added one. */
  #splitOne(): void {
    const [buckets, next, hashes] = [this.#buckets, this.#next, this.#hashes];
    const added = this.#split + this.#mask + 1;
    const mask = 2 * this.#mask + 1;
    let at = buckets[this.#split]!;
    buckets[this.#split] = 0;
    while (at !== 0) {
      const following = next[at - 1]!;
      const bucket = hashes[at - 1]! & mask;
      next[at - 1] = buckets[bucket]!;
      buckets[bucket] = at;
      at = following;
    }
    this.#split++;
    if (added === mask) {
      this.#mask = mask;
      this.#split = 0;
    }
  }

  /** Makes room for this many values, and a bucket for each. */
  #grow(capacity: number): void {
    this.#words = grown(this.#words, capacity * 2);
    this.#numbers = numbersIn(this.#words, this.#type);
    this.#hashes = grown(this.#hashes, capacity);
    this.#next = grown(this.#next, capacity);
    this.#buckets = grown(this.#buckets, capacity);
    this.#countBytes();
  }

  #countBytes(): void {
    const bytes = this.#hashes.length * ENTRY_BYTES + this.#textBytes;
    this.#hold(bytes - this.#heldBytes);
    this.#heldBytes = bytes;
  }
}

function grown(words: Uint32Array, length: number): Uint32Array {
  const larger = new Uint32Array(length);
  larger.set(words);
  return larger;
}

function numbersIn({ buffer }: Uint32Array, type: FieldType): Numbers {
  switch (type) {
    case 'integer':
      return new BigInt64Array(buffer);
    case 'unsigned':
      return new BigUint64Array(buffer);
    default:
      return new Float64Array(buffer);
  }
}

/** Mixes every bit of a hash into the lower ones, 31 bits. */
function mixed(hash: number): number {
  let bits = Math.imul(hash ^ (hash >>> 16), 0x7feb352d);
  bits = Math.imul(bits ^ (bits >>> 15), 0x846ca68b);
  return (bits ^ (bits >>> 16)) & 0x7fffffff;
}
