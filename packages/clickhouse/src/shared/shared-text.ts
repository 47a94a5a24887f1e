// A text that all front ends share, as the catalog wants it.
import type { SharedState } from './shared-state.ts';

export interface SharedText {
  /** What was agreed on last, as far as it is known here; `undefined` when nothing was ever. */
  readonly text: string | undefined;
  /** Is told before anybody else when the text is another one. */
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
