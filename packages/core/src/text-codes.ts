// Codes of distinct texts, by which columns refer to them.
import { hashSeed, hashWholeText } from './text-hash.ts';

/**
 * In a `Map`, the engine has the length of longer texts (from 16,384 characters) for their hash: of
 * 5,000 texts of one length, looking each up took twenty times as long as of shorter ones, and the
 * time grows with the square of their number.
 */
const MAP_CHARS_MAX = 8192;

const SEED = hashSeed();

export class TextCodes {
  /** By their codes: in the order in which they came. */
  readonly texts: string[] = [];
  readonly #short = new Map<string, number>();
  /** By the hash of long texts, the code of the last one that has it. */
  #long: Map<number, number> | undefined;
  /** By the code of a long text, that of the one before with the same hash. */
  #before: Map<number, number> | undefined;

  get size(): number {
    return this.texts.length;
  }

  /** The code of a text, which is added when it is new. */
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
