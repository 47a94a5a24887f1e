// Data of a page: loaded when it is shown, when its inputs change, periodically if wanted, and when
// a service is back. Old data stays during a reload.
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

type ResourceOptions = {
  readonly refreshMs?: number | undefined;
  /** Off screen: nothing is loaded until it ends; what was missed is then loaded at once. */
  readonly isPaused?: boolean | undefined;
  /** Old data stays until data for new inputs has arrived. */
  readonly keepsValue?: boolean | undefined;
};

/** Loads with a signal that aborts when the page is left or a newer load starts. */
export function useResource<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  options: ResourceOptions = {},
): Resource<T> {
  const value = useSignal<T | undefined>(undefined);
  const error = useSignal<Problem | undefined>(undefined);
  const isLoading = useSignal(true);
  const running = useRef<AbortController>();
  const latest = useRef(load);
  latest.current = load;
  /** What the last load was for; `undefined` when the inputs have changed since. */
  const loaded = useRef<{ readonly generation: number; readonly startedMs: number }>();

  const reload = async (): Promise<void> => {
    running.current?.abort();
    const controller = new AbortController();
    running.current = controller;
    loaded.current = { generation: generation.peek(), startedMs: performance.now() };
    isLoading.value = true;
    try {
      const result = await latest.current(controller.signal);
      if (controller.signal.aborted) return;
      value.value = result;
      error.value = undefined;
    } catch (failure) {
      if (controller.signal.aborted || isAbort(failure)) return;
      error.value = problemOf(failure);
    }
    isLoading.value = false;
  };

  const { refreshMs, isPaused = false, keepsValue = false } = options;
  useEffect(() => {
    loaded.current = undefined;
    if (!keepsValue) value.value = undefined;
    return () => running.current?.abort();
  }, inputs);
  useEffect(() => {
    if (isPaused) return undefined;
    const isDue = (): boolean => {
      const last = loaded.current;
      if (last === undefined || last.generation !== generation.peek()) return true;
      return refreshMs !== undefined && performance.now() - last.startedMs >= refreshMs;
    };
    if (isDue()) void reload();
    const timer =
      refreshMs === undefined
        ? undefined
        : window.setInterval(() => {
            if (!document.hidden) void reload();
          }, refreshMs);
    const unsubscribe = generation.subscribe((now) => {
      if (now !== loaded.current?.generation) void reload();
    });
    return () => {
      window.clearInterval(timer);
      unsubscribe();
    };
  }, [...inputs, isPaused, refreshMs]);
  return { value, error, isLoading, reload };
}
