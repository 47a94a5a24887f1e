// The progress of an import, in a file, so that it can continue after an interruption.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

import { UsageError } from '../exit.ts';

type StateDocument = { readonly version: 1; readonly from: string; done: Record<string, number> };

/** Finished pieces by name with their numbers of points. Saved after every piece. */
export class ImportState {
  readonly #file: string;
  readonly #document: StateDocument;

  private constructor(file: string, document: StateDocument) {
    this.#file = file;
    this.#document = document;
  }

  /** Reads the file if it exists; it must belong to the same source. */
  static open(file: string, from: string): ImportState {
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch (error) {
      // No file: a new import.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        return new ImportState(file, { version: 1, from, done: {} });
      throw error;
    }
    const document = JSON.parse(text) as StateDocument;
    if (document.version !== 1 || document.from !== from) {
      throw new UsageError(
        `${file} belongs to an import from ${document.from}; name another file with --state`,
      );
    }
    return new ImportState(file, document);
  }

  isDone(piece: string): boolean {
    return this.#document.done[piece] !== undefined;
  }

  /** Records a piece. The file is replaced atomically. */
  finish(piece: string, points: number): void {
    this.#document.done[piece] = points;
    const temporary = `${this.#file}.part`;
    writeFileSync(temporary, JSON.stringify(this.#document), { flush: true });
    renameSync(temporary, this.#file);
  }

  get pieceCount(): number {
    return Object.keys(this.#document.done).length;
  }
}
