// Indents streamed JSON: four spaces per level, one element per line, empty lists and objects
// closed at once.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;
const INDENT = 4;
const SPACE = 0x20;

/** Compact JSON in, pretty JSON out; keeps its state from one piece to the next. */
export class PrettyPrinter {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** An opening bracket was written, and nothing after it yet. */
  #isOpen = false;

  push(bytes: Uint8Array): Uint8Array {
    const out: number[] = [];
    for (const byte of bytes) this.#byte(byte, out);
    return Uint8Array.from(out);
  }

  #byte(byte: number, out: number[]): void {
    if (this.#isInString) {
      out.push(byte);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) this.#isInString = false;
      return;
    }
    const char = String.fromCharCode(byte);
    if (char === '}' || char === ']') {
      this.#depth--;
      if (!this.#isOpen) this.#newLine(out);
      this.#isOpen = false;
      out.push(byte);
      return;
    }
    if (this.#isOpen && byte !== NEWLINE) {
      this.#isOpen = false;
      this.#newLine(out);
    }
    out.push(byte);
    if (char === '{' || char === '[') {
      this.#depth++;
      this.#isOpen = true;
    } else if (char === ',') this.#newLine(out);
    else if (char === ':') out.push(SPACE);
    else if (byte === QUOTE) this.#isInString = true;
  }

  #newLine(out: number[]): void {
    out.push(NEWLINE);
    for (let i = 0; i < this.#depth * INDENT; i++) out.push(SPACE);
  }
}
