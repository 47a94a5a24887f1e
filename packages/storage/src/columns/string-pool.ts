// The distinct texts of a block of rows, which are stored as their codes.
import { TextCodes, textBytes } from '@tidemark/core';

/** A text's entry in the map of codes. */
const POOLED_TEXT_BYTES = 32;

export class StringPool {
  readonly #codes = new TextCodes();
  readonly texts: readonly string[] = this.#codes.texts;
  /** Estimated memory of the texts and their entries. */
  bytes = 0;

  code(text: string): number {
    const { size } = this.#codes;
    const code = this.#codes.code(text);
    if (code === size) this.bytes += textBytes(text) + POOLED_TEXT_BYTES;
    return code;
  }
}
