// Remembers which symbols match the patterns of conditions. A symbol never changes its text, so an
// answer stays valid. Two bits per symbol and pattern.
import { ByteLru } from '@tidemark/core';
import { textMatcher } from '@tidemark/query/regex';
import type { TextMatcher } from '@tidemark/query/regex';

/** Tag values of a dashboard's statements; 250 KiB each for a million texts. */
const PATTERNS_MAX = 16;

export class PatternCache {
  readonly #textOf: (id: number) => string;
  readonly #patterns = new ByteLru<string, PatternAnswers>(PATTERNS_MAX);

  /** `textOf` gives the text of a symbol, always the same one. */
  constructor(textOf: (id: number) => string) {
    this.#textOf = textOf;
  }

  get memoryBytes(): number {
    let bytes = 0;
    for (const answers of this.#patterns.values()) bytes += answers.memoryBytes;
    return bytes;
  }

  /** Answers for a pattern that is known to compile. */
  of(pattern: string): PatternAnswers {
    const known = this.#patterns.get(pattern);
    if (known !== undefined) return known;
    const answers = new PatternAnswers(textMatcher(pattern), this.#textOf);
    // Counted, not weighed: entries grow after they were added, as they are asked.
    this.#patterns.set(pattern, answers, 1);
    return answers;
  }
}

export class PatternAnswers {
  readonly #test: TextMatcher;
  readonly #textOf: (id: number) => string;
  /** By stored value, two bits: whether it was tested, and whether it matches. */
  #bits = new Uint32Array(64);

  constructor(test: TextMatcher, textOf: (id: number) => string) {
    this.#test = test;
    this.#textOf = textOf;
  }

  get memoryBytes(): number {
    return this.#bits.byteLength;
  }

  /**
   * Whether a stored value matches: symbol + 1, or 0 for a missing tag, which is compared as the
   * empty text.
   */
  matches(value: number): boolean {
    const word = value >>> 4;
    const shift = (value & 15) << 1;
    const bits = ((this.#bits[word] ?? 0) >>> shift) & 3;
    if (bits !== 0) return bits === 3;
    if (word >= this.#bits.length) this.#grow(word + 1);
    const isMatch = this.#test(value === 0 ? '' : this.#textOf(value - 1));
    this.#bits[word]! |= (isMatch ? 3 : 1) << shift;
    return isMatch;
  }

  #grow(words: number): void {
    const bits = new Uint32Array(Math.max(words, this.#bits.length * 2));
    bits.set(this.#bits);
    this.#bits = bits;
  }
}
