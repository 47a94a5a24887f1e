// Codes of distinct texts, by which columns refer to them.
import { hashSeed, hashWholeText } from './text-hash.ts';

/**
 * V8 hashes longer texts (from 16,384 characters) by their length: of 5,000 texts of one length,
 * looking each up in a `Map` took twenty times as long as of shorter ones, and the time grows
 * quadratically with their number.
 */
const MAP_CHARS_MAX = 8192;

const SEED = hashSeed();

export class TextCodes {
  /** By code, in order of addition. */
  readonly texts: string[] = [];
  readonly #short = new Map<string, number>();
  /** The last code of each hash of long texts. */
  #long: Map<number, number> | undefined;
  /** The previous code with the same hash, by code of a long text. */
  #before: Map<number, number> | undefined;

  get size(): number {
    return this.texts.length;
  }

  /** The code of a text; new texts are added. */
  code(text: string): number {
    if (text.length > MAP_CHARS_MAX) return this.#codeOfLong(text);
    const known = this.#short.get(text);
    if (known !== undefined) return known;
    const code = this.texts.push(text) - 1;
    this.#short.set(text, code);
    return code;
  }

  #codeOfLong(text: string): number {
    this.#long ??= new Map();
    this.#before ??= new Map();
    const hash = hashWholeText(SEED, text);
    const last = this.#long.get(hash);
    for (let code = last; code !== undefined; code = this.#before.get(code)) {
      if (this.texts[code] === text) return code;
    }
    const code = this.texts.push(text) - 1;
    this.#long.set(hash, code);
    if (last !== undefined) this.#before.set(code, last);
    return code;
  }
}
