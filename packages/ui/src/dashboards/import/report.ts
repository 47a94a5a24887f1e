// Collects what an import leaves out.
import { texts } from '../../texts/texts.ts';

const t = texts.imports;

export class Report {
  readonly #lines = new Set<string>();

  /** `where` is the title of a panel, empty for the dashboard as a whole. */
  add(where: string, what: string): void {
    this.#lines.add(where === '' ? what : t.of(where, what));
  }

  /** Distinct lines, in the order in which they were added. */
  get lines(): readonly string[] {
    return [...this.#lines];
  }
}
