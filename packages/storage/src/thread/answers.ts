// The storage thread's side of small answers (docs/adr/0022-prepared-statements.md): executes a
// plan and returns the text of its series.
import { answerText, zeroCounters } from '@tidemark/query';
import type { SeriesSource, SourceSnapshot, Steps } from '@tidemark/query';

import { CAPABILITIES } from '../read/local-source.ts';
import type { HeldPlans } from './carried-plans.ts';
import type { FromThread, ToThread } from './protocol.ts';

type Asked = ToThread & { readonly kind: 'answer' };

type Work = { readonly snapshot: SourceSnapshot; readonly steps: Steps<Uint8Array | undefined> };

export type AnswersOptions = {
  readonly plans: HeldPlans;
  readonly source: SeriesSource;
  readonly send: (message: FromThread) => void;
  readonly fail: (id: number, error: unknown) => void;
};

/** Requests are ended by `cancel`. */
const NEVER = new AbortController().signal;

/** Answers of one engine. */
export class Answers {
  readonly #options: AnswersOptions;
  /** Those that wait for their turn. */
  readonly #waiting = new Map<number, Work>();

  constructor(options: AnswersOptions) {
    this.#options = options;
  }

  /** Answers at once when nothing has to be waited for. */
  open({ id, plan, bound, start, end, epoch }: Asked): void {
    const snapshot = this.#options.source.snapshot();
    const partial: string[] = [];
    const steps = answerText(
      { ...this.#options.plans.of(plan), bound, range: { start, end }, epoch },
      {
        snapshot,
        capabilities: CAPABILITIES,
        signal: NEVER,
        counters: zeroCounters(),
        onPartial: (reason) => partial.push(reason),
      },
    );
    this.#run(id, { snapshot, steps }, partial);
  }

  /** Drops an answer that is not needed any more. */
  cancel(id: number): void {
    const work = this.#waiting.get(id);
    if (work === undefined) return;
    this.#waiting.delete(id);
    work.steps.return(undefined);
    work.snapshot.close();
  }

  #run(id: number, work: Work, partial: readonly string[]): void {
    try {
      for (;;) {
        const step = work.steps.next();
        if (step.done === true) {
          const more = partial.length === 0 ? undefined : { partial };
          this.#options.send({ kind: 'answer', id, text: step.value, ...more });
          break;
        }
        if (step.value === undefined) continue;
        this.#waiting.set(id, work);
        // Pauses never reject.
        void step.value.then(() => {
          if (this.#waiting.delete(id)) this.#run(id, work, partial);
        });
        return;
      }
    } catch (error) {
      this.#options.fail(id, error);
    }
    work.snapshot.close();
  }
}
