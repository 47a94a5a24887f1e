// Earlier versions of a task: their differences, and restoring them.
import { useSignal } from '@preact/signals';
import type { Task, TaskVersion } from '@tidemark/client';
import { useMemo } from 'preact/hooks';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { session } from '../../api/session.ts';
import { useResource } from '../../api/use-resource.ts';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { ConfirmDialog } from '../../design/dialog.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty, Failure, Loading, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import { printDbrps } from './dbrps.ts';
import { diffOf } from './diff.ts';
import { redefine } from './redefine.ts';
import { printVar } from './var-text.ts';

const t = texts.tasks;

export function Versions({
  task,
  onChanged,
}: {
  readonly task: Task;
  readonly onChanged: () => void;
}) {
  const found = useResource(() => engine.taskVersions(task.id), [task.id, task.modified]);
  const chosen = useSignal<number | undefined>(undefined);
  const returning = useSignal<TaskVersion | undefined>(undefined);
  const versions = found.value.value;
  if (versions === undefined) {
    return found.error.value === undefined ? (
      <Loading rows={4} />
    ) : (
      <Failure error={found.error.value} onRetry={() => void found.reload()} />
    );
  }
  const [present] = versions;
  if (present === undefined) {
    return (
      <Empty title={t.versionsNone} icon="history">
        {t.versionsNoneHint}
      </Empty>
    );
  }
  const shown = versions.find(({ number }) => number === chosen.value) ?? versions[1] ?? present;
  const goBack = async (version: TaskVersion): Promise<void> => {
    returning.value = undefined;
    try {
      const isOfTemplate = (version['template-id'] ?? '') !== '';
      const { script, vars, dbrps, split = 0 } = version;
      const isNamed = /^\s*dbrp\s/m.test(script);
      const saved = await redefine(task, {
        ...(isOfTemplate ? {} : { script }),
        ...(isNamed ? {} : { dbrps }),
        vars,
        split,
      });
      draft(`task.${task.id}`, saved.script).value = saved.script;
      toast(t.versionReturned(version.number));
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    onChanged();
  };
  return (
    <div class="versions">
      <Panel title={t.versions} isFlush>
        <Table
          label={t.versions}
          rows={versions}
          rowKey={({ number }) => String(number)}
          selectedKey={String(shown.number)}
          columns={[
            { label: t.version, cell: ({ number }) => number },
            { label: t.versionTime, cell: ({ time }) => formatTime(time, shownZone.value) },
            { label: t.versionUser, cell: ({ user }) => (user === '' ? '–' : user) },
            {
              label: t.actions,
              isActions: true,
              cell: (version) =>
                version === present ? (
                  <span class="muted small">{t.versionPresent}</span>
                ) : (
                  <>
                    <Button isSmall onClick={() => (chosen.value = version.number)}>
                      {t.versionCompare}
                    </Button>{' '}
                    {session.value.isAdmin ? (
                      <Button isSmall onClick={() => (returning.value = version)}>
                        {t.versionReturn}
                      </Button>
                    ) : null}
                  </>
                ),
            },
          ]}
        />
      </Panel>
      <Difference before={shown} after={present} />
      {returning.value === undefined ? null : (
        <ConfirmDialog
          title={t.versionReturnTitle(returning.value.number)}
          action={t.versionReturn}
          onClose={() => (returning.value = undefined)}
          onConfirm={() => {
            if (returning.value !== undefined) void goBack(returning.value);
          }}
        >
          {t.versionReturnHint}
        </ConfirmDialog>
      )}
    </div>
  );
}

const SIGNS = { same: ' ', added: '+', removed: '-' } as const;

function Difference({
  before,
  after,
}: {
  readonly before: TaskVersion;
  readonly after: TaskVersion;
}) {
  const lines = useMemo(() => diffOf(textOf(before), textOf(after)), [before, after]);
  return (
    <Panel title={t.difference(before.number, after.number)}>
      {lines.every(({ kind }) => kind === 'same') ? <Notice>{t.noDifference}</Notice> : null}
      <pre
        class="diff"
        role="group"
        tabIndex={0}
        aria-label={t.difference(before.number, after.number)}
      >
        {lines.map(({ kind, text }, i) => (
          <span key={i} class={kind}>
            {`${SIGNS[kind]} ${text}\n`}
          </span>
        ))}
      </pre>
    </Panel>
  );
}

/** The whole definition, so that a diff shows every difference. */
function textOf({ script, dbrps, vars, split, ...rest }: TaskVersion): string {
  const template = rest['template-id'] ?? '';
  const given = Object.entries(vars).map(
    ([name, { type, value }]) => `// ${name} (${type}) = ${printVar(type, value)}`,
  );
  return [
    `// ${printDbrps(dbrps)}`,
    ...(template === '' ? [] : [`// ${t.template}: ${template}`]),
    ...(split === undefined ? [] : [`// ${t.split}: ${split}`]),
    ...given,
    script,
  ].join('\n');
}
