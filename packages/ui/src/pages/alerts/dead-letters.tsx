// Dead letters: the reason, and another attempt.
import { useSignal } from '@preact/signals';
import type { DeadLetterChoice } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { EVENTS_MAX } from '../../api/events.ts';
import { problemOf } from '../../api/problem.ts';
import { session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { Button } from '../../design/button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { chosenTopic, LevelBadge, TopicField } from './levels.tsx';

const t = texts.alerts;
const REFRESH_MS = 5000;

export function DeadLetters() {
  const topic = chosenTopic();
  const found = useResource(
    () => engine.deadLetters({ topic: topic || undefined }, EVENTS_MAX),
    [topic],
    { refreshMs: REFRESH_MS },
  );
  const toRemove = useSignal<DeadLetterChoice | undefined>(undefined);
  const { letters, total = 0 } = found.value.value ?? {};
  const zone = shownZone.value;
  const change = async (action: 'retry' | 'drop', choice: DeadLetterChoice): Promise<void> => {
    try {
      const { count } = await engine.changeDeadLetters(action, choice);
      toast(action === 'retry' ? t.retried(count) : t.dropped(count));
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    await found.reload();
  };
  const everything: DeadLetterChoice = topic === '' ? { all: true } : { topic };
  const { isAdmin } = session.value;
  return (
    <div class="stack wide">
      <div class="form-grid">
        <TopicField />
      </div>
      <Panel
        title={t.deadLetters}
        isFlush
        controls={
          isAdmin && letters !== undefined && letters.length > 0 ? (
            <>
              <Button isSmall icon="refresh" onClick={() => void change('retry', everything)}>
                {t.retryAll}
              </Button>
              <Button isSmall icon="trash" onClick={() => (toRemove.value = everything)}>
                {t.dropAll}
              </Button>
            </>
          ) : undefined
        }
      >
        {letters === undefined || total <= letters.length ? null : (
          <p class="padded muted" role="status">
            {t.deadShown(letters.length, total)}
          </p>
        )}
        {letters === undefined ? (
          found.error.value === undefined ? (
            <Loading rows={6} />
          ) : (
            <Failure error={found.error.value} onRetry={() => void found.reload()} />
          )
        ) : (
          <Table
            label={t.deadLetters}
            rows={letters}
            rowKey={({ id }) => id}
            empty={
              <Empty title={t.deadNone} icon="check">
                {t.deadNoneHint}
              </Empty>
            }
            columns={[
              {
                label: t.time,
                cell: ({ time }) => formatTime(time, zone),
                sortBy: ({ time }) => time,
              },
              { label: t.level, cell: ({ level }) => <LevelBadge level={level} /> },
              { label: t.event, cell: ({ event }) => event, sortBy: ({ event }) => event },
              { label: t.topic, cell: (letter) => letter.topic },
              { label: t.handler, cell: ({ handler }) => handler },
              { label: t.reason, cell: ({ reason }) => <span class="bad">{reason}</span> },
              {
                label: t.actions,
                isActions: true,
                cell: ({ id }) =>
                  isAdmin ? (
                    <>
                      <Button isSmall onClick={() => void change('retry', { ids: [id] })}>
                        {t.retry}
                      </Button>{' '}
                      <Button isSmall onClick={() => (toRemove.value = { ids: [id] })}>
                        {t.drop}
                      </Button>
                    </>
                  ) : null,
              },
            ]}
          />
        )}
      </Panel>
      {toRemove.value === undefined ? null : (
        <ConfirmDialog
          title={t.dropTitle}
          action={t.drop}
          onClose={() => (toRemove.value = undefined)}
          onConfirm={() => {
            const choice = toRemove.value;
            toRemove.value = undefined;
            if (choice !== undefined) void change('drop', choice);
          }}
        >
          {t.dropHint}
        </ConfirmDialog>
      )}
    </div>
  );
}
