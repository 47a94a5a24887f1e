// Tasks with their state, throughput, errors, memory and groups.
import { useSignal } from '@preact/signals';
import type { Task, Template } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { containing } from '../../api/events.ts';
import { problemOf } from '../../api/problem.ts';
import { session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { useCommands } from '../../app/commands.ts';
import { Link } from '../../app/link.tsx';
import { PageHead } from '../../app/page-frame.tsx';
import { navigate } from '../../app/router.ts';
import { formatValue } from '../../charts/format.ts';
import { formatBytes, formatMs } from '../../charts/quantity.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import type { TableColumn } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import { figuresOf } from './figures.ts';
import { TemplatePanel } from './templates.tsx';

const t = texts.tasks;
const REFRESH_MS = 3000;

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Rows at first, and as many more on demand: the engine counts for each task that is asked for. */
const SHOWN_STEP = 100;
const FIELDS = ['type', 'status', 'executing', 'error', 'stats', 'lag'];

type Found = {
  readonly tasks: readonly Task[];
  readonly hasMore: boolean;
  readonly templates: readonly Template[];
};

/** The first tasks by their ids, of those whose ids contain a text. */
async function load(search: string, shownMax: number, signal: AbortSignal): Promise<Found> {
  const [{ tasks }, templates] = await Promise.all([
    engine.http.json<{ readonly tasks: readonly Task[] }>('/engine/v1/tasks', {
      search: { fields: FIELDS, pattern: containing(search), limit: shownMax + 1 },
      signal,
    }),
    all(engine.templates()),
  ]);
  return { tasks: tasks.slice(0, shownMax), hasMore: tasks.length > shownMax, templates };
}

export function TaskList() {
  const search = useSignal('');
  const shownMax = useSignal(SHOWN_STEP);
  const found = useResource(
    (signal) => load(search.value, shownMax.value, signal),
    [search.value, shownMax.value],
    { refreshMs: REFRESH_MS, keepsValue: true },
  );
  const toRemove = useSignal<string | undefined>(undefined);
  // Other users may only read.
  const mayChange = session.value.isAdmin;
  const create = (): void => navigate('tasks', { new: '1' });
  useCommands(
    mayChange ? [{ id: 'task-new', group: t.title, label: t.create, keys: 'n', run: create }] : [],
  );

  const change = async (what: Promise<unknown>, done: string): Promise<void> => {
    try {
      await what;
      toast(done);
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    await found.reload();
  };

  const actions: TableColumn<Task> = {
    label: t.actions,
    isActions: true,
    cell: ({ id, status }) => (
      <>
        <IconButton
          isSmall
          icon={status === 'enabled' ? 'pause' : 'play'}
          label={status === 'enabled' ? t.disable(id) : t.enable(id)}
          onClick={() => {
            const next = status === 'enabled' ? 'disabled' : 'enabled';
            void change(engine.changeTask(id, { status: next }), t.changed(id, next));
          }}
        />
        <IconButton
          isSmall
          icon="trash"
          label={t.remove(id)}
          onClick={() => (toRemove.value = id)}
        />
      </>
    ),
  };

  const { value } = found.value;
  // What is already there is searched at once.
  const shown = (value?.tasks ?? []).filter(({ id }) => id.includes(search.value));
  return (
    <>
      <PageHead title={t.title}>
        <TextField
          label={t.search}
          isLabelHidden
          placeholder={t.search}
          value={search.value}
          onInput={(text) => (search.value = text)}
        />
        <Link page="tasks" params={{ tab: 'instances' }}>
          {texts.instances.link}
        </Link>
        {mayChange ? (
          <Button kind="primary" icon="plus" onClick={create}>
            {t.create}
          </Button>
        ) : null}
      </PageHead>
      <Panel title={t.all} isFlush>
        {value === undefined ? (
          found.error.value === undefined ? (
            <Loading rows={8} />
          ) : (
            <Failure error={found.error.value} onRetry={() => void found.reload()} />
          )
        ) : (
          <Table
            label={t.all}
            rows={shown}
            rowKey={({ id }) => id}
            empty={
              value.hasMore && found.isLoading.value ? (
                <Loading rows={3} />
              ) : (
                <Empty title={t.none} icon="tasks">
                  {t.noneHint}
                </Empty>
              )
            }
            columns={[
              {
                label: t.id,
                sortBy: ({ id }) => id,
                cell: (task) => (
                  <>
                    <Link page="tasks" params={{ id: task.id }}>
                      {task.id}
                    </Link>
                    {task.error === '' ? null : <p class="bad small">{task.error}</p>}
                  </>
                ),
              },
              { label: t.type, cell: ({ type }) => type, sortBy: ({ type }) => type },
              { label: t.state, cell: (task) => <TaskState task={task} />, sortBy: stateOf },
              {
                label: t.throughput,
                isNumber: true,
                cell: (task) => formatValue(figuresOf(task).throughput, 'per-second'),
                sortBy: (task) => figuresOf(task).throughput,
              },
              {
                label: t.lag,
                cell: (task) => <Lag lag={task.lag} />,
                sortBy: (task) => task.lag?.waiting ?? 0,
              },
              {
                label: t.errors,
                isNumber: true,
                cell: (task) => figuresOf(task).errorCount,
                sortBy: (task) => figuresOf(task).errorCount,
              },
              {
                label: t.groups,
                isNumber: true,
                cell: (task) => figuresOf(task).groupCount,
                sortBy: (task) => figuresOf(task).groupCount,
              },
              {
                label: t.memory,
                isNumber: true,
                cell: (task) => formatBytes(figuresOf(task).memoryBytes),
                sortBy: (task) => figuresOf(task).memoryBytes,
              },
              ...(mayChange ? [actions] : []),
            ]}
          />
        )}
        {value?.hasMore === true ? (
          <p class="table-more muted">
            {t.someTasks(value.tasks.length)}
            <Button isSmall onClick={() => (shownMax.value += SHOWN_STEP)}>
              {t.moreTasks}
            </Button>
          </p>
        ) : null}
      </Panel>
      {value === undefined ? null : (
        <TemplatePanel templates={value.templates} onMade={() => void found.reload()} />
      )}
      {toRemove.value === undefined ? null : (
        <ConfirmDialog
          title={t.removeTitle(toRemove.value)}
          action={t.removeAction}
          onClose={() => (toRemove.value = undefined)}
          onConfirm={() => {
            const id = toRemove.value ?? '';
            toRemove.value = undefined;
            void change(engine.deleteTask(id), t.removed(id));
          }}
        >
          {t.removeHint}
        </ConfirmDialog>
      )}
    </>
  );
}

/** How far a task is behind: what waits for it, and the age of what it last received. */
function Lag({ lag }: { readonly lag: Task['lag'] }) {
  const { waiting = 0, newest } = lag ?? {};
  const ageMs = newest === undefined ? undefined : Date.now() - Date.parse(newest);
  return (
    <>
      {waiting === 0 ? null : <p class="warn small">{t.waiting(waiting)}</p>}
      {ageMs === undefined ? null : (
        <span class="muted small" title={newest}>
          {ageMs < 0 ? t.ahead(formatMs(-ageMs)) : t.behind(formatMs(ageMs))}
        </span>
      )}
    </>
  );
}

function stateOf(task: Task): keyof typeof t.states {
  const { executing, error, status } = task;
  if (executing) return figuresOf(task).errorCount > 0 ? 'errors' : 'runs';
  if (error !== '') return 'failed';
  return status === 'enabled' ? 'stopped' : 'disabled';
}

const STATE_KINDS = {
  runs: 'good',
  errors: 'warn',
  failed: 'bad',
  stopped: 'warn',
  disabled: 'plain',
} as const;

export function TaskState({ task }: { readonly task: Task }) {
  const state = stateOf(task);
  return <Badge kind={STATE_KINDS[state]}>{t.states[state]}</Badge>;
}
