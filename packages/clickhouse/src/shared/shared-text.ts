// A text that all front ends share, such as the catalog.
import type { SharedState } from './shared-state.ts';

export interface SharedText {
  /** The last agreed text that has reached this front end; `undefined` if there is none. */
  readonly text: string | undefined;
  /** Calls the listener after every change of the text, in the order of registration. */
  onChange(listener: () => void): void;
  /**
   * Replaces the text by the result of `make`, which is called when the text is up to date, and may
   * be called again. `undefined` changes nothing. Resolves when the change is agreed on; if `make`
   * throws, nothing changes.
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
