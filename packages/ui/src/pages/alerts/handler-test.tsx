// Tests a handler with an event: one of its topic, or an example.
import { useSignal } from '@preact/signals';
import type { TopicEvent, TriedAction } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { EVENT_LEVELS } from '../../api/events.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { SelectField, TextArea, TextField } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';
import type { HandlerRow } from './handlers.tsx';

const t = texts.alerts;

/** Events to choose from. */
const CHOICES_MAX = 100;

const EXAMPLE = { id: 'test', level: 'CRITICAL', message: 'test is CRITICAL', details: '' };

export function HandlerTest({
  row: { topic, handler },
  onClose,
}: {
  readonly row: HandlerRow;
  readonly onClose: () => void;
}) {
  const found = useResource(() => engine.mostSevereEvents(topic, { limit: CHOICES_MAX }), [topic]);
  const event = useSignal(EXAMPLE);
  const results = useSignal<readonly TriedAction[] | undefined>(undefined);
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const known: readonly TopicEvent[] = found.value.value?.events ?? [];
  const set = (changed: Partial<typeof EXAMPLE>): void => {
    event.value = { ...event.value, ...changed };
    results.value = undefined;
  };
  const send = async (): Promise<void> => {
    isBusy.value = true;
    problem.value = '';
    try {
      const { actions, kind, options, match, id } = handler;
      const spec = actions === undefined ? { id, kind, options, match } : { id, actions, match };
      results.value = await engine.tryHandler(topic, spec, event.value);
    } catch (error) {
      problem.value = problemOf(error).message;
    }
    isBusy.value = false;
  };
  return (
    <Dialog title={t.testOf(handler.id)} onClose={onClose}>
      <form
        class="form"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          void send();
        }}
      >
        <p class="muted">{t.testHint}</p>
        {known.length === 0 ? null : (
          <SelectField
            label={t.testEvent}
            value={known.some(({ id }) => id === event.value.id) ? event.value.id : ''}
            options={[{ value: '', label: t.testExample }, ...known.map(({ id }) => id)]}
            onChange={(id) => {
              const chosen = known.find((each) => each.id === id);
              if (chosen === undefined) set(EXAMPLE);
              else set({ id, details: '', ...textsOf(chosen) });
            }}
          />
        )}
        <div class="form-grid">
          <TextField label={t.event} value={event.value.id} onInput={(id) => set({ id })} />
          <SelectField
            label={t.level}
            value={event.value.level}
            options={EVENT_LEVELS}
            onChange={(level) => set({ level })}
          />
        </div>
        <TextField
          label={t.message}
          value={event.value.message}
          onInput={(message) => set({ message })}
        />
        <TextArea
          label={t.details}
          rows={3}
          value={event.value.details}
          onInput={(details) => set({ details })}
        />
        {problem.value === '' ? null : <Notice kind="bad">{problem.value}</Notice>}
        {results.value?.length === 0 ? <Notice kind="warn">{t.testNotifiesNobody}</Notice> : null}
        {results.value?.map(({ kind, success, message }, i) => (
          <Notice key={i} kind={success ? 'good' : 'bad'}>
            {success ? t.testWorked(kind) : t.testFailed(kind, message)}
          </Notice>
        ))}
        <Button kind="primary" type="submit" isBusy={isBusy.value}>
          {t.testDo}
        </Button>
      </form>
    </Dialog>
  );
}

function textsOf({ state }: TopicEvent): Partial<typeof EXAMPLE> {
  const { level, message, details = '' } = state;
  return { level, message, details };
}
