// The codec of texts: blocks of strings as codes over a dictionary, or in frames of some rows
// (docs/formats/encodings.md, "Strings"). A view of linear memory never leaves it. Decoders throw
// `CodecError`, and nothing else, for bytes that no encoder wrote.
import { assert, compactTexts, TextBuilder, textAt, textsOf } from '@tidemark/core';
import type { Texts } from '@tidemark/core';
import { Area, EFFORTS, REFERENCE, REFERENCE_BYTES } from './abi.gen.ts';
import { checkCount } from './block-values.ts';
import type { CodecEffort } from './block-values.ts';
import { checkResult, CodecError } from './codec-error.ts';
import { canJoin, joinedBlock } from './join-frames.ts';
import type { FramedBlock, OpenFrames } from './join-frames.ts';
import type { Kernels } from './loader.ts';

/** Strings as codes of texts, as in a `StringColumn`. */
export type CodedStrings = {
  readonly codes: Uint32Array;
  readonly texts: Texts;
};

/** Texts that satisfy a condition, or all others. */
export type TextSearch = {
  /** What every text that matches contains, in UTF-8; at least one byte. */
  readonly needle: Uint8Array;
  /** Whether a text that contains it matches. */
  readonly accepts: (text: string) => boolean;
  readonly keeps: 'matches' | 'others';
};

/** Reads bytes of a block. */
export type ReadBytes = (offset: number, length: number) => Uint8Array;

/** A block of strings without its texts. */
export type StringHead = {
  readonly codes: Uint32Array;
  /** Where each distinct text begins among the texts, and the end of the last one. */
  readonly offsets: Uint32Array;
  /** Whether the texts are compressed as one LZ4 block. */
  readonly isPacked: boolean;
  /** Where the texts begin in the block. */
  readonly textsAt: number;
};

const REFERENCE_WORDS = REFERENCE_BYTES / 4;

/** The codec of texts over one instance of the kernels. */
export class TextCodec {
  readonly #kernels: Kernels;

  constructor(kernels: Kernels) {
    this.#kernels = kernels;
  }

  /** How many frames of texts were unpacked so far. */
  get unpackedFrames(): number {
    return this.#kernels.exports.unpackedStringFrames();
  }

  /**
   * Texts that are unused or repeated are not written. More bytes of texts than the decoder accepts
   * are a `CodecError`.
   */
  encode(strings: CodedStrings, effort: CodecEffort = 'fast'): Uint8Array {
    const count = checkCount(strings.codes.length);
    const { codes, texts } = compactTexts({ type: 'string', ...strings, valid: undefined });
    const { bytes, offsets } = texts;
    const kernels = this.#kernels;
    const input = kernels.copyIn(Area.input, bytes);
    const references = kernels.scratch(Area.references, count * REFERENCE_BYTES);
    const output = kernels.scratch(Area.output, kernels.exports.stringsBound(count, bytes.length));
    const table = new Uint32Array(kernels.buffer, references, count * REFERENCE_WORDS);
    for (let i = 0; i < count; i++) {
      const code = codes[i]!;
      assert(code < offsets.length - 1, 'codes of strings lie within the texts');
      const start = offsets[code]!;
      table[i * REFERENCE_WORDS + REFERENCE.address / 4] = input + start;
      table[i * REFERENCE_WORDS + REFERENCE.length / 4] = offsets[code + 1]! - start;
    }
    const size = checkResult(
      kernels.exports.encodeStringBlock(references, count, output, EFFORTS[effort]),
      'strings',
    );
    return kernels.bytes.slice(output, output + size);
  }

  /** Whether a block of strings is in frames; the beginning is at least `FRAMED_READ_BYTES`. */
  areFramed(beginning: Uint8Array): boolean {
    this.#start(beginning);
    return this.#kernels.exports.isFramed() !== 0;
  }

  /**
   * The head of a block of strings, before its texts. For blocks whose texts are too many to be
   * decoded at once; strings in frames are never that many.
   */
  decodeHead(beginning: Uint8Array): StringHead {
    const { exports } = this.#kernels;
    const input = this.#kernels.copyIn(Area.input, beginning);
    const count = checkResult(exports.startBlock(input, beginning.byteLength), 'strings');
    checkResult(exports.decodeStringHead(count), 'strings');
    return {
      ...this.#stringCodes(count),
      isPacked: exports.stringPackedBytes() !== 0,
      textsAt: (exports.stringTexts() >>> 0) - input,
    };
  }

  /** Codes of the rows, and where each text begins. */
  #stringCodes(count: number): Pick<StringHead, 'codes' | 'offsets'> {
    const { bytes, exports } = this.#kernels;
    const codesAt = exports.stringCodes() >>> 0;
    const offsetsAt = exports.stringOffsets() >>> 0;
    const offsetsEnd = offsetsAt + (exports.stringEntries() + 1) * 4;
    return {
      codes: new Uint32Array(bytes.slice(codesAt, codesAt + count * 4).buffer),
      offsets: new Uint32Array(bytes.slice(offsetsAt, offsetsEnd).buffer),
    };
  }

  decode(block: Uint8Array): CodedStrings {
    const { codes, offsets } = this.#unpackStrings(block);
    const { bytes, exports } = this.#kernels;
    const textsAt = exports.stringBytes() >>> 0;
    const texts = { bytes: bytes.slice(textsAt, textsAt + offsets.at(-1)!), offsets };
    if (exports.areStringsUtf8(0, offsets.length - 1) !== 0) return { codes, texts };
    const replaced = Array.from({ length: offsets.length - 1 }, (_, i) => textAt(texts, i));
    return { codes, texts: textsOf(replaced) };
  }

  /**
   * As `decode`, for the values at some positions only. There are no other texts. A position
   * that the block does not have is a `CodecError`.
   */
  decodeAt(block: Uint8Array, places: Uint32Array): CodedStrings {
    const framed = this.decodeFramedAt(bytesOf(block), block.length, places);
    if (framed !== undefined) return framed;
    const count = this.#start(block);
    checkPlaces(places, count);
    checkResult(this.#kernels.exports.finishStringBlock(count), 'strings');
    const { codes, offsets } = this.#stringCodes(count);
    const all = this.#unpackedTexts(offsets);
    const texts = new TextBuilder(places.length);
    const found = new Uint32Array(offsets.length);
    const chosen = new Uint32Array(places.length);
    for (let i = 0; i < places.length; i++) {
      const code = codes[places[i]!]!;
      if (found[code] === 0) found[code] = this.#addText(texts, all, code) + 1;
      chosen[i] = found[code]! - 1;
    }
    return { codes: chosen, texts: texts.texts };
  }

  /**
   * As `decodeAt`, of a block of `sizeBytes` bytes of which only the head and the frames of
   * the wanted values are read, and verified by their own checksums. `undefined` when its strings
   * are not in frames.
   */
  decodeFramedAt(
    read: ReadBytes,
    sizeBytes: number,
    places: Uint32Array,
  ): CodedStrings | undefined {
    const frames = this.#openFrames(read, sizeBytes);
    if (frames === undefined) return undefined;
    const { exports } = this.#kernels;
    checkPlaces(places, frames.count);
    const wanted = new Uint8Array(frames.tables.rows.length);
    for (let i = 0; i < places.length; i++) wanted[frameOf(frames.tables.rows, places[i]!)] = 1;
    this.#unpackFrames(read, frames, wanted);
    const codes = Uint32Array.from(places, (_, i) => i);
    // Only those of the wanted frames are set.
    const offsets = this.#words(exports.stringOffsets(), frames.count + 1);
    const all = this.#unpackedTexts(offsets);
    if (areConsecutive(places)) {
      const [from = 0] = places;
      const to = from + places.length;
      if (exports.areStringsUtf8(from, to) !== 0) return { codes, texts: copyRange(all, from, to) };
    }
    const texts = new TextBuilder(places.length);
    for (let i = 0; i < places.length; i++) this.#addText(texts, all, places[i]!);
    return { codes, texts: texts.texts };
  }

  /** Reads and opens the head of a block of frames. */
  #openFrames(read: ReadBytes, sizeBytes: number): OpenFrames | undefined {
    const { exports } = this.#kernels;
    let head = read(0, Math.min(sizeBytes, HEAD_READ_BYTES));
    this.#start(head);
    const headSize = exports.stringHeadBytes() >>> 0;
    if (headSize === 0) return undefined;
    if (headSize > sizeBytes) throw new CodecError('truncated', 'strings');
    if (headSize > head.length) head = read(0, headSize);
    const count = this.#start(head);
    const input = this.#kernels.scratch(Area.input, 0);
    checkResult(exports.openStringFrames(input, count), 'strings');
    const size = exports.stringFrameCount() + 1;
    const first = exports.stringFrameTables();
    const table = (index: number): Uint32Array =>
      this.#words(first + index * size * 8, size).slice();
    const tables = {
      rows: table(0),
      texts: table(1),
      packed: table(2),
      filters: table(3),
      checksums: table(4).subarray(0, -1),
    };
    const filtersAt = headSize;
    const framesAt = filtersAt + (exports.stringFilterBytes() >>> 0);
    // The kernel reads a frame as long as the head says.
    if (framesAt + tables.packed.at(-1)! !== sizeBytes) throw new CodecError('value', 'strings');
    return { count, tables, filtersAt, framesAt };
  }

  /** Reads, verifies and unpacks the frames that have a 1; there is one more of these bytes. */
  #unpackFrames(
    read: ReadBytes,
    { tables: { packed: starts }, framesAt }: OpenFrames,
    wanted: Uint8Array,
  ): void {
    const { exports } = this.#kernels;
    // In order, as the kernel wants them.
    for (let first = wanted.indexOf(1); first >= 0;) {
      const end = wanted.indexOf(0, first);
      const from = starts[first]!;
      const packed = read(framesAt + from, starts[end]! - from);
      const address = this.#kernels.copyIn(Area.output, packed);
      for (let frame = first; frame < end; frame++) {
        const start = address + starts[frame]! - from;
        checkResult(exports.unpackStringFrame(frame, start), 'strings');
      }
      first = wanted.indexOf(1, end);
    }
  }

  /** Size of the texts of a block that `joinFrames` takes; `undefined` for other blocks. */
  joinableBytes(block: Uint8Array): number | undefined {
    const frames = this.#openFrames(bytesOf(block), block.length);
    return frames === undefined || !canJoin(frames) ? undefined : frames.tables.texts.at(-1);
  }

  /** The texts of some blocks, one after another, in one block, whose frames are copied. */
  joinFrames(blocks: readonly Uint8Array[]): Uint8Array {
    const parts = blocks.map((block): FramedBlock => {
      const frames = this.#openFrames(bytesOf(block), block.length);
      assert(frames !== undefined && canJoin(frames), 'a block has frames that can be joined');
      return { ...frames, block };
    });
    return joinedBlock(this.#kernels, parts);
  }

  /** Adds a text of the block that was unpacked last. */
  #addText(to: TextBuilder, all: Texts, index: number): number {
    const isUtf8 = this.#kernels.exports.areStringsUtf8(index, index + 1) !== 0;
    return isUtf8 ? to.addFrom(all, index) : to.add(textAt(all, index));
  }

  /**
   * For each value 1 if its text satisfies the search, else 0. Only texts with the needle become
   * strings.
   */
  match(block: Uint8Array, search: TextSearch): Uint8Array {
    const framed = this.matchFramed(bytesOf(block), block.length, search);
    if (framed !== undefined) return framed;
    const { exports } = this.#kernels;
    const rows = this.#start(block);
    checkResult(exports.finishStringBlock(rows), 'strings');
    const count = exports.stringEntries();
    const isKept = new Uint8Array(count).fill(search.keeps === 'others' ? 1 : 0);
    const needle = this.#kernels.copyIn(Area.name, search.needle);
    this.#matchTexts(isKept, { from: 0, to: count }, { needle, search });
    const [kept = 0] = isKept;
    if (!isKept.includes(1 - kept)) return new Uint8Array(rows).fill(kept);
    const ofTexts = this.#kernels.copyIn(Area.name, isKept);
    const marks = this.#kernels.scratch(Area.mask, rows);
    exports.marksOfCodes(exports.stringCodes(), rows, ofTexts, marks);
    return this.#kernels.bytes.slice(marks, marks + rows);
  }

  /**
   * As `match`, of a block of `sizeBytes` bytes of which only the head, the filters and the frames
   * that may have the needle are read, and verified by their own checksums. `undefined` when its
   * strings are not in frames.
   */
  matchFramed(read: ReadBytes, sizeBytes: number, search: TextSearch): Uint8Array | undefined {
    const frames = this.#openFrames(read, sizeBytes);
    if (frames === undefined) return undefined;
    const { count, filtersAt, framesAt } = frames;
    const { rows } = frames.tables;
    const { exports } = this.#kernels;
    const frameCount = rows.length - 1;
    if (framesAt > filtersAt) {
      const filters = this.#kernels.copyIn(Area.output, read(filtersAt, framesAt - filtersAt));
      checkResult(exports.openStringFilters(filters), 'strings');
    }
    const needle = this.#kernels.copyIn(Area.name, search.needle);
    const marks = this.#kernels.scratch(Area.mask, frameCount);
    exports.markFrames(needle, search.needle.length, marks);
    const wanted = new Uint8Array(rows.length);
    wanted.set(this.#kernels.bytes.subarray(marks, marks + frameCount));
    this.#unpackFrames(read, frames, wanted);
    const isKept = new Uint8Array(count).fill(search.keeps === 'others' ? 1 : 0);
    for (let frame = 0; frame < frameCount; frame++) {
      if (wanted[frame] === 0) continue;
      const range = { from: rows[frame]!, to: rows[frame + 1]! };
      this.#matchTexts(isKept, range, { needle, search });
    }
    return isKept;
  }

  /** Sets what the search keeps of unpacked texts with the needle; the others are set already. */
  #matchTexts(
    isKept: Uint8Array,
    { from, to }: { readonly from: number; readonly to: number },
    { needle, search }: { readonly needle: number; readonly search: TextSearch },
  ): void {
    assert(search.needle.length > 0, 'a search has something to look for');
    const { exports } = this.#kernels;
    const marks = this.#kernels.scratch(Area.mask, to - from);
    const offsetsAt = (exports.stringOffsets() >>> 0) + from * 4;
    const texts = exports.stringBytes();
    exports.markTexts(texts, offsetsAt, to - from, needle, search.needle.length, marks);
    // Patterns are foreign code: nothing of the kernel's memory is looked at behind them.
    const isFound = this.#kernels.bytes.slice(marks, marks + to - from);
    const all = this.#unpackedTexts(this.#words(exports.stringOffsets(), to + 1));
    for (let i = isFound.indexOf(1); i >= 0; i = isFound.indexOf(1, i + 1)) {
      const isMatch = search.accepts(textAt(all, from + i));
      isKept[from + i] = isMatch === (search.keeps === 'matches') ? 1 : 0;
    }
  }

  /** A view of linear memory, valid until it grows or the area is written again. */
  #words(address: number, count: number): Uint32Array {
    return new Uint32Array(this.#kernels.bytes.buffer, address >>> 0, count);
  }

  #unpackStrings(block: Uint8Array): Pick<StringHead, 'codes' | 'offsets'> {
    const { exports } = this.#kernels;
    const count = this.#start(block);
    checkResult(exports.finishStringBlock(count), 'strings');
    return this.#stringCodes(count);
  }

  /** A view of the texts of the block that was unpacked last. */
  #unpackedTexts(offsets: Uint32Array): Texts {
    const { bytes, exports } = this.#kernels;
    return { bytes: bytes.subarray(exports.stringBytes() >>> 0), offsets };
  }

  #start(block: Uint8Array): number {
    const input = this.#kernels.copyIn(Area.input, block);
    return checkResult(this.#kernels.exports.startBlock(input, block.byteLength), 'strings');
  }
}

/** Bytes of a block of strings that tell whether it is in frames: its count, and its encoding. */
export const FRAMED_READ_BYTES = 8;

/** Of a block of strings, its head is mostly within this many bytes. */
const HEAD_READ_BYTES = 4 << 10;

function bytesOf(block: Uint8Array): ReadBytes {
  return (offset, length) => block.subarray(offset, offset + length);
}

/** The frame with the text at `place`. */
function frameOf(rows: Uint32Array, place: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! <= place) low = middle;
    else high = middle;
  }
  return low;
}

function areConsecutive(places: Uint32Array): boolean {
  for (let i = 1; i < places.length; i++) if (places[i] !== places[i - 1]! + 1) return false;
  return true;
}

/** A copy of the texts [from, to). */
function copyRange({ bytes, offsets }: Texts, from: number, to: number): Texts {
  const start = offsets[from]!;
  return {
    bytes: bytes.slice(start, offsets[to]),
    offsets: offsets.subarray(from, to + 1).map((offset) => offset - start),
  };
}

function checkPlaces(places: Uint32Array, count: number): void {
  for (let i = 0; i < places.length; i++) {
    if (places[i]! >= count) throw new CodecError('value', 'strings');
  }
}
