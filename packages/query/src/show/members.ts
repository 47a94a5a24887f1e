// Sets of strings whose members a SHOW statement counts.
import { TextCodes, textBytes } from '@tidemark/core';

import type { ExecutionContext } from '../execution/execution-context.ts';

/** Size of a text in a set, without its characters. */
const MEMBER_BYTES = 32;

/** Bytes of a text in a set. */
export function memberBytes(text: string): number {
  return MEMBER_BYTES + textBytes(text);
}

/** Distinct texts, which count as memory of the statement. */
export class Members {
  readonly #execution: ExecutionContext;
  #codes = new TextCodes();
  #sizeBytes = 0;

  constructor(execution: ExecutionContext) {
    this.#execution = execution;
  }

  get texts(): readonly string[] {
    return this.#codes.texts;
  }

  get size(): number {
    return this.#codes.size;
  }

  add(text: string): void {
    const { size } = this.#codes;
    if (this.#codes.code(text) < size) return;
    const sizeBytes = memberBytes(text);
    this.#execution.hold(sizeBytes);
    this.#sizeBytes += sizeBytes;
  }

  release(): void {
    this.#execution.release(this.#sizeBytes);
    this.#sizeBytes = 0;
    this.#codes = new TextCodes();
  }
}
