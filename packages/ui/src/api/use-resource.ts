// Data of a page: loaded when it is shown, when its inputs change, periodically if wanted, and when
// a service is back. Old data stays until new data has arrived.
import { useSignal } from '@preact/signals';
import type { ReadonlySignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import { generation } from './connection.ts';
import { isAbort, problemOf } from './problem.ts';
import type { Problem } from './problem.ts';

export type Resource<T> = {
  /** The data last loaded; it stays during a reload and after a failed one. */
  readonly value: ReadonlySignal<T | undefined>;
  readonly error: ReadonlySignal<Problem | undefined>;
  readonly isLoading: ReadonlySignal<boolean>;
  readonly reload: () => Promise<void>;
};

/** Loads with a signal that aborts when the page is left or a newer load starts. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  options: { readonly refreshMs?: number | undefined } = {},
): Resource<T> {
  const value = useSignal<T | undefined>(undefined);
  const error = useSignal<Problem | undefined>(undefined);
  const isLoading = useSignal(true);
  const running = useRef<AbortController>();
  const latest = useRef(load);
  latest.current = load;

  const reload = async (): Promise<void> => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    isLoading.value = true;
    try {
      const loaded = await latest.current(controller.signal);
      if (controller.signal.aborted) return;
      value.value = loaded;
      error.value = undefined;
    } catch (failure) {
      if (controller.signal.aborted || isAbort(failure)) return;
      error.value = problemOf(failure);
    }
    isLoading.value = false;
  };

  const { refreshMs } = options;
  useEffect(() => {
    value.value = undefined;
    void reload();
    const timer =
      refreshMs === undefined
        ? undefined
        : window.setInterval(() => {
            if (!document.hidden) void reload();
          }, refreshMs);
    let seen = generation.peek();
    const unsubscribe = generation.subscribe((now) => {
      if (now !== seen) void reload();
      seen = now;
    });
    return () => {
      window.clearInterval(timer);
      unsubscribe();
      running.current?.abort();
    };
  }, [...inputs, refreshMs]);
  return { value, error, isLoading, reload };
}
