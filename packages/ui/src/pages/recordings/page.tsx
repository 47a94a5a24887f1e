// Recordings and replays, with their progress.
import { useSignal } from '@preact/signals';
import type { Recording, Replay } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { ForAdmins } from '../../app/for-admins.tsx';
import { PageHead } from '../../app/page-frame.tsx';
import { formatBytes } from '../../charts/quantity.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';

const t = texts.recordings;
const REFRESH_MS = 2000;

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function load() {
  const [recordings, replays, tasks] = await Promise.all([
    all(engine.recordings()),
    all(engine.replays()),
    all(engine.tasks({ fields: ['type'] })),
  ]);
  return { recordings, replays, tasks };
}

export function Page() {
  const found = useResource(load, [], { refreshMs: REFRESH_MS });
  const change = async (what: Promise<unknown>, done: string): Promise<void> => {
    try {
      await what;
      toast(done);
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    await found.reload();
  };
  const { value } = found.value;
  if (value === undefined) {
    return (
      <>
        <PageHead title={t.title} />
        {found.error.value === undefined ? (
          <Loading rows={8} />
        ) : (
          <Failure error={found.error.value} onRetry={() => void found.reload()} />
        )}
      </>
    );
  }
  const { recordings, replays, tasks } = value;
  return (
    <>
      <PageHead title={t.title} />
      <ForAdmins>
        <Record tasks={tasks} onChange={change} />
      </ForAdmins>
      <Recordings recordings={recordings} tasks={tasks} onChange={change} />
      <Replays replays={replays} onChange={change} />
    </>
  );
}

type Change = (what: Promise<unknown>, done: string) => Promise<void>;
type TaskName = { readonly id: string; readonly type: string };

function Record({
  tasks,
  onChange,
}: {
  readonly tasks: readonly TaskName[];
  readonly onChange: Change;
}) {
  const task = useSignal('');
  const minutes = useSignal('5');
  const chosen = tasks.find(({ id }) => id === task.value);
  const isUsable = chosen !== undefined && /^\d+$/.test(minutes.value);
  return (
    <Panel title={t.record}>
      <form
        class="form-grid"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isUsable) return;
          const ms = Number(minutes.value) * 60_000;
          // A stream task records points from now on, a batch task the results of its queries for
          // the past.
          const what =
            chosen.type === 'stream'
              ? engine.record('stream', {
                  task: chosen.id,
                  stop: new Date(Date.now() + ms).toISOString(),
                })
              : engine.record('batch', {
                  task: chosen.id,
                  start: new Date(Date.now() - ms).toISOString(),
                });
          void onChange(what, t.started);
        }}
      >
        <SelectField
          label={t.task}
          value={task.value}
          options={[{ value: '', label: t.chooseTask }, ...tasks.map(({ id }) => id)]}
          onChange={(next) => (task.value = next)}
        />
        <TextField
          label={chosen?.type === 'batch' ? t.pastMinutes : t.nextMinutes}
          inputMode="numeric"
          value={minutes.value}
          onInput={(text) => (minutes.value = text)}
        />
        <div class="row">
          <Button type="submit" kind="primary" icon="recordings" disabled={!isUsable}>
            {t.start}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

function State({ run }: { readonly run: Pick<Replay, 'status' | 'progress' | 'error'> }) {
  if (run.status === 'running') {
    return (
      <>
        <Badge kind="accent">{t.states.running}</Badge>
        <progress class="progress" aria-label={t.progress} value={run.progress} />
      </>
    );
  }
  return (
    <>
      <Badge kind={run.status === 'failed' ? 'bad' : 'good'}>{t.states[run.status]}</Badge>
      {run.error === '' ? null : <p class="bad small">{run.error}</p>}
    </>
  );
}

function Recordings({
  recordings,
  tasks,
  onChange,
}: {
  readonly recordings: readonly Recording[];
  readonly tasks: readonly TaskName[];
  readonly onChange: Change;
}) {
  const task = useSignal('');
  return (
    <Panel
      title={t.recordings}
      isFlush
      controls={
        <ForAdmins>
          <SelectField
            label={t.replayWith}
            isLabelHidden
            value={task.value}
            options={[{ value: '', label: t.replayWith }, ...tasks.map(({ id }) => id)]}
            onChange={(next) => (task.value = next)}
          />
        </ForAdmins>
      }
    >
      <Table
        label={t.recordings}
        rows={recordings}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.noRecordings} icon="recordings">
            {t.noRecordingsHint}
          </Empty>
        }
        columns={[
          { label: t.recording, cell: ({ id }) => <code>{id}</code>, sortBy: ({ id }) => id },
          { label: t.type, cell: ({ type }) => type },
          {
            label: t.size,
            isNumber: true,
            cell: ({ size }) => formatBytes(size),
            sortBy: ({ size }) => size,
          },
          {
            label: t.date,
            cell: ({ date }) => formatTime(date, shownZone.value),
            sortBy: ({ date }) => date,
          },
          { label: t.state, cell: (recording) => <State run={recording} /> },
          {
            label: t.actions,
            isActions: true,
            cell: ({ id, status }) => (
              <ForAdmins>
                <Button
                  isSmall
                  icon="play"
                  disabled={task.value === '' || status !== 'finished'}
                  onClick={() =>
                    void onChange(
                      engine.startReplay('', { recording: id, task: task.value }),
                      t.replayStarted,
                    )
                  }
                >
                  {t.replay}
                </Button>{' '}
                <IconButton
                  isSmall
                  icon="trash"
                  label={t.remove(id)}
                  onClick={() => void onChange(engine.deleteRecording(id), t.removed)}
                />
              </ForAdmins>
            ),
          },
        ]}
      />
    </Panel>
  );
}

function Replays({
  replays,
  onChange,
}: {
  readonly replays: readonly Replay[];
  readonly onChange: Change;
}) {
  return (
    <Panel title={t.replays} isFlush>
      <Table
        label={t.replays}
        rows={replays}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noReplays}>{t.noReplaysHint}</Empty>}
        columns={[
          { label: t.replay, cell: ({ id }) => <code>{id}</code> },
          { label: t.task, cell: ({ task }) => task },
          { label: t.recording, cell: ({ recording }) => <code>{recording}</code> },
          { label: t.state, cell: (replay) => <State run={replay} /> },
          {
            label: t.actions,
            isActions: true,
            cell: ({ id }) => (
              <ForAdmins>
                <IconButton
                  isSmall
                  icon="trash"
                  label={t.remove(id)}
                  onClick={() => void onChange(engine.deleteReplay(id), t.removed)}
                />
              </ForAdmins>
            ),
          },
        ]}
      />
    </Panel>
  );
}
