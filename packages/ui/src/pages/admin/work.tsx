// Long-running work: its progress, a way to cancel it, and its outcome.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { isAbort, problemOf } from '../../api/problem.ts';
import { formatBytes } from '../../charts/quantity.ts';
import { Button } from '../../design/button.tsx';
import { Notice } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.admin;

type Running = {
  readonly doneBytes: number;
  /** 0 if unknown. */
  readonly totalBytes: number;
};

export type Outcome = { readonly kind: 'good' | 'warn' | 'bad'; readonly text: string };

/** Work that can be cancelled, and its result. */
export function useWork() {
  const running = useSignal<Running | undefined>(undefined);
  const outcome = useSignal<Outcome | undefined>(undefined);
  const abort = useRef<AbortController>();
  const run = async (work: (signal: AbortSignal) => Promise<Outcome>): Promise<void> => {
    const controller = new AbortController();
    abort.current = controller;
    outcome.value = undefined;
    running.value = { doneBytes: 0, totalBytes: 0 };
    try {
      outcome.value = await work(controller.signal);
    } catch (error) {
      outcome.value =
        controller.signal.aborted || isAbort(error)
          ? { kind: 'warn', text: t.wasEnded }
          : { kind: 'bad', text: problemOf(error).message };
    }
    running.value = undefined;
  };
  return {
    isRunning: running.value !== undefined,
    run,
    tell: (now: Running) => (running.value = now),
    shown: (
      <>
        {running.value === undefined ? null : (
          <Progress running={running.value} onEnd={() => abort.current?.abort()} />
        )}
        {outcome.value === undefined ? null : (
          <Notice kind={outcome.value.kind}>{outcome.value.text}</Notice>
        )}
      </>
    ),
  };
}

function Progress({ running, onEnd }: { readonly running: Running; readonly onEnd: () => void }) {
  const { doneBytes, totalBytes } = running;
  return (
    <div class="row">
      <progress
        class="progress grow"
        aria-label={t.progress}
        {...(totalBytes === 0 ? {} : { value: Math.min(1, doneBytes / totalBytes) })}
      />
      <span class="small number">{formatBytes(doneBytes)}</span>
      <Button isSmall onClick={onEnd}>
        {t.end}
      </Button>
    </div>
  );
}
