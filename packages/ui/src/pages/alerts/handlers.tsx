// Handlers of topics: their receivers, their state, and editing them.
import { useSignal } from '@preact/signals';
import type { Handler, HandlerState } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { formatValue } from '../../charts/format.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { ConfirmDialog, Dialog } from '../../design/dialog.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { actionsOf, HandlerForm } from './handler-form.tsx';
import { HandlerTest } from './handler-test.tsx';
import { chosenTopic, LevelBadge, TopicField } from './levels.tsx';

const t = texts.alerts;
const REFRESH_MS = 5000;

export type HandlerRow = {
  readonly topic: string;
  readonly handler: Handler;
  readonly state: HandlerState;
};

async function load(topic: string): Promise<readonly HandlerRow[]> {
  const topics = topic === '' ? (await engine.topics()).map(({ id }) => id) : [topic];
  const lists = await Promise.all(
    topics.map(async (each) => {
      const handlers = await engine.handlers(each);
      return Promise.all(
        handlers.map(async (handler) => ({
          topic: each,
          handler,
          state: await engine.handlerState(each, handler.id),
        })),
      );
    }),
  );
  return lists.flat();
}

type Open =
  | { readonly kind: 'new' }
  | { readonly kind: 'edit' | 'test' | 'remove' | 'recent'; readonly row: HandlerRow };

export function Handlers() {
  const topic = chosenTopic();
  const found = useResource(() => load(topic), [topic], { refreshMs: REFRESH_MS });
  const open = useSignal<Open | undefined>(undefined);
  const close = (): void => {
    open.value = undefined;
  };
  const rows = found.value.value;
  const { isAdmin } = session.value;
  return (
    <div class="stack wide">
      <div class="form-grid">
        <TopicField />
      </div>
      <Panel
        title={t.handlers}
        isFlush
        controls={
          isAdmin ? (
            <Button isSmall icon="plus" onClick={() => (open.value = { kind: 'new' })}>
              {t.handlerNew}
            </Button>
          ) : undefined
        }
      >
        {rows === undefined ? (
          found.error.value === undefined ? (
            <Loading rows={6} />
          ) : (
            <Failure error={found.error.value} onRetry={() => void found.reload()} />
          )
        ) : (
          <HandlerTable rows={rows} isAdmin={isAdmin} onOpen={(next) => (open.value = next)} />
        )}
      </Panel>
      <Opened
        open={open.value}
        topic={topic}
        onClose={close}
        onChanged={() => {
          close();
          void found.reload();
        }}
      />
    </div>
  );
}

function HandlerTable({
  rows,
  isAdmin,
  onOpen,
}: {
  readonly rows: readonly HandlerRow[];
  readonly isAdmin: boolean;
  readonly onOpen: (open: Open) => void;
}) {
  return (
    <Table
      label={t.handlers}
      rows={rows}
      rowKey={({ topic, handler }) => `${topic} ${handler.id}`}
      empty={
        <Empty title={t.handlersNone} icon="alerts">
          {t.handlersNoneHint}
        </Empty>
      }
      columns={[
        {
          label: t.handler,
          cell: (row) => (
            <>
              <b>{row.handler.id}</b>
              <p class="muted small">
                {actionsOf(row.handler)
                  .map(({ kind }) => kind)
                  .join(' → ')}
              </p>
              {(row.handler.warnings ?? []).map(({ message, hint }) => (
                <p key={message} class="warn small">
                  {message}: {hint}
                </p>
              ))}
            </>
          ),
          sortBy: ({ handler }) => handler.id,
        },
        { label: t.topic, cell: ({ topic }) => topic, sortBy: ({ topic }) => topic },
        { label: t.match, cell: ({ handler }) => <code>{handler.match ?? ''}</code> },
        ...(['delivered', 'waiting', 'failed'] as const).map((name) => ({
          label: t[name],
          isNumber: true,
          cell: ({ state }: HandlerRow) => formatValue(state[name]),
          sortBy: ({ state }: HandlerRow) => state[name],
        })),
        {
          label: t.last,
          cell: ({ state }) => <span class="bad small">{state.lastError ?? ''}</span>,
        },
        {
          label: t.actions,
          isActions: true,
          cell: (row) => (
            <>
              <IconButton
                isSmall
                icon="history"
                label={t.deliveries(row.handler.id)}
                onClick={() => onOpen({ kind: 'recent', row })}
              />
              {isAdmin ? (
                <>
                  <Button isSmall icon="play" onClick={() => onOpen({ kind: 'test', row })}>
                    {t.test}
                  </Button>{' '}
                  <Button isSmall icon="edit" onClick={() => onOpen({ kind: 'edit', row })}>
                    {t.edit}
                  </Button>
                  <IconButton
                    isSmall
                    icon="trash"
                    label={t.remove(row.handler.id)}
                    onClick={() => onOpen({ kind: 'remove', row })}
                  />
                </>
              ) : null}
            </>
          ),
        },
      ]}
    />
  );
}

function Opened({
  open,
  topic,
  onClose,
  onChanged,
}: {
  readonly open: Open | undefined;
  readonly topic: string;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}) {
  if (open === undefined) return null;
  if (open.kind === 'new') {
    return <HandlerForm topic={topic} handler={undefined} onClose={onClose} onSaved={onChanged} />;
  }
  const { row } = open;
  switch (open.kind) {
    case 'edit':
      return <Edit row={row} onClose={onClose} onChanged={onChanged} />;
    case 'test':
      return <HandlerTest row={row} onClose={onClose} />;
    case 'recent':
      return <Recent row={row} onClose={onClose} />;
    case 'remove':
      return <Remove row={row} onClose={onClose} onChanged={onChanged} />;
  }
}

type DialogProps = {
  readonly row: HandlerRow;
  readonly onClose: () => void;
  readonly onChanged: () => void;
};

/** Requested on its own, as that includes the reason why it cannot deliver. */
function Edit({ row: { topic, handler }, onClose, onChanged }: DialogProps) {
  const found = useResource(() => engine.handler(topic, handler.id), [topic, handler.id]);
  const full = found.value.value;
  if (full === undefined) {
    return (
      <Dialog title={t.handlerOf(handler.id, topic)} onClose={onClose}>
        {found.error.value === undefined ? (
          <Loading rows={4} />
        ) : (
          <Failure error={found.error.value} onRetry={() => void found.reload()} />
        )}
      </Dialog>
    );
  }
  return <HandlerForm topic={topic} handler={full} onClose={onClose} onSaved={onChanged} />;
}

function Remove({ row: { topic, handler }, onClose, onChanged }: DialogProps) {
  const remove = async (): Promise<void> => {
    try {
      await engine.deleteHandler(topic, handler.id);
      toast(t.removed(handler.id));
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    onChanged();
  };
  return (
    <ConfirmDialog
      title={t.removeTitle(handler.id)}
      action={t.removeDo}
      onClose={onClose}
      onConfirm={() => void remove()}
    >
      {t.removeHint}
    </ConfirmDialog>
  );
}

const OUTCOME_CLASSES: Readonly<Record<string, string>> = { failed: 'bad', repeated: 'warn' };

function Recent({ row, onClose }: Pick<DialogProps, 'row' | 'onClose'>) {
  const rows = row.state.recent.map((note, i) => ({ ...note, key: String(i) }));
  const zone = shownZone.value;
  return (
    <Dialog title={t.deliveries(row.handler.id)} isWide onClose={onClose}>
      <Table
        label={t.deliveries(row.handler.id)}
        rows={rows}
        rowKey={({ key }) => key}
        empty={<Empty title={t.deliveriesNone} icon="history" />}
        columns={[
          { label: t.time, cell: ({ time }) => formatTime(time, zone) },
          { label: t.level, cell: ({ level }) => <LevelBadge level={level} /> },
          { label: t.event, cell: ({ event }) => event },
          {
            label: t.outcome,
            cell: ({ outcome }) => (
              <span class={OUTCOME_CLASSES[outcome] ?? ''}>{t.outcomes[outcome]}</span>
            ),
          },
          { label: t.reason, cell: ({ reason }) => reason },
        ]}
      />
    </Dialog>
  );
}
