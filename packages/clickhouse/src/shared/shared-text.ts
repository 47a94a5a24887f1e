// A text that all front ends share, as the catalog wants it.
import type { SharedState } from './shared-state.ts';

export interface SharedText {
  /** The text that was agreed on last, as far as this front end knows; `undefined` if none was. */
  readonly text: string | undefined;
  /** Calls the listener when the text has changed, before other listeners. */
  onChange(listener: () => void): void;
  /**
   * Puts what `make` gives in place of the text, which is up to date when it is called; it may be
   * called again. `undefined` changes nothing. Resolves when the change is agreed on; what `make`
   * throws leaves everything as it was.
   */
  change(make: () => string | undefined): Promise<void>;
}

export function sharedText(state: SharedState): SharedText {
  return {
    get text() {
      return state.catalog;
    },
    onChange: (listener) =>
      state.onEntry((entry) => {
        if (entry === undefined || entry.kind === 'catalog') listener();
      }),
    change: async (make) => {
      await state.sync();
      await state.agree(() => {
        const text = make();
        return text === undefined ? undefined : { kind: 'catalog', text };
      });
    },
  };
}
