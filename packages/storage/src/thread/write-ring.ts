// Small writes on their way to the storage thread, in a ring of shared memory: an object in a
// message costs more than a line of a body does, and waking the thread more than parsing it. One
// thread adds writes, the other one takes all that are there. While the reader will look into the
// ring by itself, nobody has to wake it.
//
// The header has two positions, which count the bytes added and taken so far (modulo 2^32), and
// says whether the reader sleeps. A write is an entry of the ring: its size, its numbers, its
// policy as JSON, its body. An entry is not split: where it does not fit before the end of the
// memory, a size of 0 leads to the beginning.
import { assert, MAX_INT64, MIN_INT64 } from '@tidemark/core';
import type { Precision } from '@tidemark/core';
import type { PolicyRef, WriteLinesRequest } from '@tidemark/storage-api';

/** A longer body is sent in its own buffer. */
export const SMALL_BODY_BYTES = 4 << 10;
/**
 * The longest small bodies of 250 clients. Writes for which there is no room cross as other calls
 * do.
 */
const RING_BYTES = 1 << 20;

const HEADER_BYTES = 128;
/** Indexes of 32-bit words of the header, in cache lines of their own. */
const ADDED = 0;
const STATE = 1;
const TAKEN = 16;

const AWAKE = 0;
const ASLEEP = 1;

/** The numbers of an entry, which begins and ends at multiples of eight bytes. */
const NUMBERS_BYTES = 48;
const SIZE_WORD = 0;
const FLAGS_WORD = 1;
const POLICY_WORD = 2;
const BODY_WORD = 3;
const ID_DOUBLE = 2;
const NOW_LONG = 3;
const OLDEST_LONG = 4;
const NEWEST_LONG = 5;

const PRECISIONS: readonly Precision[] = ['ns', 'u', 'ms', 's', 'm', 'h'];
const PRECISION_MASK = 7;
const IS_DETAILED = 8;
const HAS_OLDEST = 16;
const HAS_NEWEST = 32;

export type SmallWrite = { readonly id: number; readonly request: WriteLinesRequest };

/** The part of a policy that does not move with the clock. */
type FixedPolicy = Omit<PolicyRef, 'oldestAccepted' | 'newestAccepted'>;

export function ringMemory(): SharedArrayBuffer {
  return new SharedArrayBuffer(HEADER_BYTES + RING_BYTES);
}

class Views {
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  readonly doubles: Float64Array;
  readonly longs: BigInt64Array;

  constructor(memory: ArrayBufferLike, start: number) {
    this.bytes = new Uint8Array(memory, start);
    this.words = new Uint32Array(memory, start);
    this.doubles = new Float64Array(memory, start);
    this.longs = new BigInt64Array(memory, start);
  }
}

/** The end that adds writes. */
export class RingWriter {
  readonly #header: Int32Array;
  readonly #views: Views;
  readonly #policies = new PolicyTexts();

  constructor(memory: SharedArrayBuffer) {
    this.#header = new Int32Array(memory, 0, HEADER_BYTES / 4);
    this.#views = new Views(memory, HEADER_BYTES);
  }

  /** Copies a write into the ring; `false` if it is too long, or if there is no room now. */
  add(id: number, request: WriteLinesRequest): boolean {
    const { body, policy } = request;
    if (body.length > SMALL_BODY_BYTES) return false;
    const text = this.#policies.textOf(policy);
    const sizeBytes = (NUMBERS_BYTES + text.length + body.length + 7) & ~7;
    const start = this.#place(sizeBytes);
    if (start === undefined) return false;
    const { bytes, words, doubles, longs } = this.#views;
    const word = start >> 2;
    const long = start >> 3;
    words[word + SIZE_WORD] = sizeBytes;
    words[word + FLAGS_WORD] = flagsOf(request);
    words[word + POLICY_WORD] = text.length;
    words[word + BODY_WORD] = body.length;
    doubles[long + ID_DOUBLE] = id;
    longs[long + NOW_LONG] = request.now;
    longs[long + OLDEST_LONG] = nearestInt64(policy.oldestAccepted ?? 0n);
    longs[long + NEWEST_LONG] = nearestInt64(policy.newestAccepted ?? 0n);
    bytes.set(text, start + NUMBERS_BYTES);
    bytes.set(body, start + NUMBERS_BYTES + text.length);
    Atomics.add(this.#header, ADDED, sizeBytes);
    return true;
  }

  /** Where an entry begins; `undefined` if there is no room for it. */
  #place(sizeBytes: number): number | undefined {
    const added = this.#header[ADDED]!;
    const free = RING_BYTES - ((added - Atomics.load(this.#header, TAKEN)) | 0);
    const start = added & (RING_BYTES - 1);
    const rest = RING_BYTES - start;
    if (sizeBytes <= rest) return sizeBytes <= free ? start : undefined;
    if (rest + sizeBytes > free) return undefined;
    this.#views.words[(start >> 2) + SIZE_WORD] = 0;
    Atomics.add(this.#header, ADDED, rest);
    return 0;
  }

  /**
   * Whether the reader sleeps and has to be woken: once, because it counts as awake from now on.
   */
  mustWake(): boolean {
    return Atomics.exchange(this.#header, STATE, AWAKE) === ASLEEP;
  }
}

function flagsOf({ policy, precision, isDetailed }: WriteLinesRequest): number {
  return (
    PRECISIONS.indexOf(precision) |
    (isDetailed === true ? IS_DETAILED : 0) |
    (policy.oldestAccepted === undefined ? 0 : HAS_OLDEST) |
    (policy.newestAccepted === undefined ? 0 : HAS_NEWEST)
  );
}

/** What a policy accepts can reach beyond all times: it is the present time and a duration. */
function nearestInt64(value: bigint): bigint {
  if (value < MIN_INT64) return MIN_INT64;
  return value > MAX_INT64 ? MAX_INT64 : value;
}

/** The end that takes writes. */
export class RingReader {
  readonly #header: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #policies = new PolicyTexts();

  constructor(memory: SharedArrayBuffer) {
    this.#header = new Int32Array(memory, 0, HEADER_BYTES / 4);
    this.#bytes = new Uint8Array(memory, HEADER_BYTES);
  }

  /** All writes that are there, in the order in which they were added, in memory of their own. */
  take(): readonly SmallWrite[] {
    const taken = this.#header[TAKEN]!;
    const sizeBytes = (Atomics.load(this.#header, ADDED) - taken) | 0;
    if (sizeBytes === 0) return [];
    const start = taken & (RING_BYTES - 1);
    const copy = new Uint8Array(sizeBytes);
    const first = this.#bytes.subarray(start, start + sizeBytes);
    copy.set(first);
    copy.set(this.#bytes.subarray(0, sizeBytes - first.length), first.length);
    Atomics.add(this.#header, TAKEN, sizeBytes);
    return this.#entries(copy, first.length);
  }

  /** Reads entries, of which some lie before the end of the ring and the others behind it. */
  #entries(copy: Uint8Array, ringEnd: number): SmallWrite[] {
    const views = new Views(copy.buffer, 0);
    const writes: SmallWrite[] = [];
    for (let at = 0; at < copy.length;) {
      const sizeBytes = views.words[at >> 2]!;
      if (sizeBytes === 0) {
        assert(at < ringEnd, 'a size of 0 stands before the end of the ring');
        at = ringEnd;
        continue;
      }
      writes.push(this.#entry(views, at));
      at += sizeBytes;
    }
    return writes;
  }

  #entry({ bytes, words, doubles, longs }: Views, start: number): SmallWrite {
    const word = start >> 2;
    const long = start >> 3;
    const flags = words[word + FLAGS_WORD]!;
    const textStart = start + NUMBERS_BYTES;
    const bodyStart = textStart + words[word + POLICY_WORD]!;
    const fixed = this.#policies.policyOf(bytes.subarray(textStart, bodyStart));
    const policy: PolicyRef = {
      ...fixed,
      oldestAccepted: (flags & HAS_OLDEST) === 0 ? undefined : longs[long + OLDEST_LONG],
      newestAccepted: (flags & HAS_NEWEST) === 0 ? undefined : longs[long + NEWEST_LONG],
    };
    return {
      id: doubles[long + ID_DOUBLE]!,
      request: {
        policy,
        body: bytes.subarray(bodyStart, bodyStart + words[word + BODY_WORD]!),
        precision: PRECISIONS[flags & PRECISION_MASK]!,
        now: longs[long + NOW_LONG]!,
        isDetailed: (flags & IS_DETAILED) !== 0,
      },
    };
  }

  /**
   * The reader looks no more until it is woken. `false`: a write has come meanwhile, and nobody
   * wakes it.
   */
  sleep(): boolean {
    Atomics.store(this.#header, STATE, ASLEEP);
    if (Atomics.load(this.#header, ADDED) === this.#header[TAKEN]) return true;
    return Atomics.exchange(this.#header, STATE, AWAKE) === AWAKE;
  }
}

/** The policy of the write before, which is that of most writes, and its text. */
class PolicyTexts {
  #policy: FixedPolicy | undefined;
  #text: Uint8Array = new Uint8Array(0);

  textOf(policy: PolicyRef): Uint8Array {
    if (this.#policy !== undefined && isSame(this.#policy, policy)) return this.#text;
    const { oldestAccepted: _oldest, newestAccepted: _newest, ...fixed } = policy;
    const { shardDurationNanos } = fixed;
    this.#policy = fixed;
    this.#text = Buffer.from(
      JSON.stringify({ ...fixed, shardDurationNanos: String(shardDurationNanos) }),
    );
    return this.#text;
  }

  policyOf(text: Uint8Array): FixedPolicy {
    if (this.#policy !== undefined && Buffer.compare(this.#text, text) === 0) return this.#policy;
    const { shardDurationNanos, ...rest } = JSON.parse(Buffer.from(text).toString()) as Omit<
      FixedPolicy,
      'shardDurationNanos'
    > & { readonly shardDurationNanos: string };
    this.#policy = { ...rest, shardDurationNanos: BigInt(shardDurationNanos) };
    this.#text = text.slice();
    return this.#policy;
  }
}

function isSame(a: FixedPolicy, b: FixedPolicy): boolean {
  return (
    a.id === b.id &&
    a.database === b.database &&
    a.retentionPolicy === b.retentionPolicy &&
    a.shardDurationNanos === b.shardDurationNanos &&
    a.maxSeriesPerDatabase === b.maxSeriesPerDatabase &&
    a.maxValuesPerTag === b.maxValuesPerTag
  );
}
