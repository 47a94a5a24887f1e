// Start offsets of the lines of a text, so that looking up lines does not scan the text again.

export class LineIndex {
  readonly #starts: number[] = [0];

  constructor(text: string) {
    for (let i = text.indexOf('\n'); i >= 0; i = text.indexOf('\n', i + 1))
      this.#starts.push(i + 1);
  }

  /** Zero-based line of an offset. */
  lineOf(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  isLineStart(offset: number): boolean {
    return this.#starts[this.lineOf(offset)] === offset;
  }
}
