// A try-out that runs: started, watched as it goes, cancelled.
import { signal } from '@preact/signals';
import { parseLossless } from '@tidemark/client';
import type { TryOut } from '@tidemark/client';

import { engine } from '../api/clients.ts';
import { linesOf } from '../api/lines.ts';
import { isAbort, problemOf } from '../api/problem.ts';
import type { Problem } from '../api/problem.ts';
import { Outcome } from './outcome.ts';

/** Display interval of new results. */
const SHOWN_EVERY_MS = 200;

/** The results so far; a new object whenever there are more. */
export type Shown = { readonly outcome: Outcome };

export class TryRun {
  readonly shown = signal<Shown | undefined>(undefined);
  readonly problem = signal<Problem | undefined>(undefined);
  readonly isRunning = signal(false);
  #controller: AbortController | undefined;

  /**
   * Restarts; a previous run is cancelled. Resolves when the run has ended, for whatever reason.
   */
  async start(tried: TryOut): Promise<void> {
    this.cancel();
    const controller = new AbortController();
    this.#controller = controller;
    const { signal: aborted } = controller;
    const outcome = new Outcome();
    this.problem.value = undefined;
    this.isRunning.value = true;
    let shownAt = performance.now();
    try {
      for await (const line of linesOf(await engine.tryOut(tried, aborted))) {
        outcome.add(parseLossless(line) as object);
        if (performance.now() - shownAt < SHOWN_EVERY_MS) continue;
        shownAt = performance.now();
        this.shown.value = { outcome };
      }
      this.shown.value = { outcome };
    } catch (error) {
      if (aborted.aborted || isAbort(error)) return;
      this.problem.value = problemOf(error);
      this.shown.value = outcome.task === undefined ? undefined : { outcome };
    } finally {
      if (this.#controller === controller) this.isRunning.value = false;
    }
  }

  /** Cancels it; results so far stay. */
  cancel(): void {
    this.#controller?.abort();
    this.#controller = undefined;
    this.isRunning.value = false;
  }
}
