// Runs a continuous query over a past range, step by step, with progress.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';

import { tsdb } from '../../api/clients.ts';
import { isAbort, problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Notice } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.admin;

/** A line of the answer. */
type Line = {
  readonly windows?: number;
  readonly windowsDone?: number;
  readonly written?: number;
  readonly done?: boolean;
  readonly error?: string;
};

type State = { readonly windows: number; readonly windowsDone: number; readonly written: number };

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const hourBefore = (ms: number): string =>
  new Date(Math.floor((Date.now() - ms) / HOUR_MS) * HOUR_MS).toISOString().slice(0, 19) + 'Z';

export function RunPast({ database, name }: { readonly database: string; readonly name: string }) {
  const start = useSignal(hourBefore(DAY_MS));
  const end = useSignal(hourBefore(0));
  const running = useSignal<State | undefined>(undefined);
  const outcome = useSignal<{ readonly kind: 'good' | 'bad' | 'warn'; readonly text: string }>();
  const abort = useRef<AbortController>();
  const run = async (): Promise<void> => {
    const controller = new AbortController();
    abort.current = controller;
    outcome.value = undefined;
    let state: State = { windows: 0, windowsDone: 0, written: 0 };
    running.value = state;
    try {
      const json = { database, name, start: start.peek(), end: end.peek() };
      const { signal } = controller;
      const path = '/api/continuous-queries/run';
      const answer = await tsdb.http.send(path, { method: 'POST', json, signal });
      let isDone = false;
      for await (const line of linesOf(answer)) {
        if (line.error !== undefined) throw new Error(line.error);
        if (line.done === true) isDone = true;
        else {
          state = {
            windows: line.windows ?? state.windows,
            windowsDone: line.windowsDone ?? state.windowsDone,
            written: state.written + (line.written ?? 0),
          };
        }
        running.value = state;
      }
      if (!isDone) throw new Error(t.cutOff);
      outcome.value = { kind: 'good', text: t.ranPast(state.written, state.windows) };
    } catch (error) {
      const isEnded = controller.signal.aborted || isAbort(error);
      outcome.value = isEnded
        ? { kind: 'warn', text: t.wasEnded }
        : { kind: 'bad', text: problemOf(error).message };
    }
    running.value = undefined;
  };
  const state = running.value;
  return (
    <Panel title={t.runPastOf(name)}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <div class="form-grid">
          <TextField label={t.from} value={start.value} onInput={(text) => (start.value = text)} />
          <TextField label={t.to} value={end.value} onInput={(text) => (end.value = text)} />
        </div>
        <div class="row">
          <Button type="submit" kind="primary" icon="play" isBusy={state !== undefined}>
            {t.runPast}
          </Button>
          {state === undefined ? null : (
            <>
              <progress
                class="progress grow"
                aria-label={t.progress}
                {...(state.windows === 0 ? {} : { value: state.windowsDone / state.windows })}
              />
              <Button isSmall onClick={() => abort.current?.abort()}>
                {t.end}
              </Button>
            </>
          )}
        </div>
        {outcome.value === undefined ? null : (
          <Notice kind={outcome.value.kind}>{outcome.value.text}</Notice>
        )}
      </form>
    </Panel>
  );
}

async function* linesOf({ body }: Response): AsyncGenerator<Line> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line) as Line;
  }
}
