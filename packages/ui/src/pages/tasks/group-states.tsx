// The level of each group of a task's alert nodes, and since when it has it.
import type { Task } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { withoutDuplicates } from '../../api/events.ts';
import { useResource } from '../../api/use-resource.ts';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { LEVEL_KINDS } from '../../try-out/fired.tsx';
import { texts } from '../../texts/texts.ts';
import { figuresOf } from './figures.ts';

const t = texts.tasks;
const REFRESH_MS = 5000;

/** Enough to find the groups of most events. */
const CHANGES_MAX = 1000;

type State = {
  readonly topic: string;
  readonly id: string;
  readonly level: string;
  readonly time: string;
  readonly message: string;
  readonly group: string;
};

async function topicsOf({ id, script }: Pick<Task, 'id' | 'script'>): Promise<readonly string[]> {
  const { buildPipeline, effectsOf } = await import('@tidemark/pipeline');
  const { pipeline } = buildPipeline(script);
  const possible = new Set(
    (pipeline?.nodes ?? []).flatMap((node) => {
      const { publishesTo } = effectsOf(node);
      return publishesTo === undefined ? [] : [publishesTo.topic, `main:${id}:${node.name}`];
    }),
  );
  return (await engine.topics()).map((topic) => topic.id).filter((name) => possible.has(name));
}

async function statesOf(task: Pick<Task, 'id' | 'script'>): Promise<readonly State[]> {
  const lists = await Promise.all(
    (await topicsOf(task)).map(async (topic) => {
      const [events, { changes }] = await Promise.all([
        engine.events(topic),
        engine.alertHistory({ topic, limit: CHANGES_MAX }),
      ]);
      // The newest change of an event comes first, and is set last.
      const origins = new Map(changes.toReversed().map((each) => [each.id, each]));
      return events.flatMap(({ id, state: { level, time, message } }) => {
        const { task: of, group = {} } = origins.get(id) ?? {};
        // Other tasks may publish to the same topic.
        if (of !== undefined && of !== '' && of !== task.id) return [];
        const tags = Object.entries(group).map(([key, value]) => `${key}=${value}`);
        return [{ topic, id, level, time, message, group: tags.join(' ') }];
      });
    }),
  );
  const severity = Object.keys(LEVEL_KINDS);
  return withoutDuplicates(lists.flat()).toSorted(
    (a, b) => severity.indexOf(b.level) - severity.indexOf(a.level) || (a.time < b.time ? 1 : -1),
  );
}

export function GroupStates({ task }: { readonly task: Task }) {
  const { id, script } = task;
  const found = useResource(() => statesOf({ id, script }), [id, script], {
    refreshMs: REFRESH_MS,
  });
  const states = found.value.value;
  const zone = shownZone.value;
  if (states === undefined) {
    return found.error.value === undefined ? (
      <Loading />
    ) : (
      <Failure error={found.error.value} onRetry={() => void found.reload()} />
    );
  }
  const { nodes } = figuresOf(task);
  const groupCount = Object.values(nodes)
    .filter((node) => 'alerts_triggered' in node)
    .reduce((most, node) => Math.max(most, node['working_cardinality'] ?? 0), 0);
  const quietCount = groupCount - states.length;
  return (
    <Panel title={t.groupStates} isFlush>
      <Table
        label={t.groupStates}
        rows={states}
        rowKey={(state) => `${state.topic} ${state.id}`}
        empty={
          <Empty title={t.groupsNone} icon="alerts">
            {t.groupsNoneHint(groupCount)}
          </Empty>
        }
        columns={[
          {
            label: t.groupLevel,
            cell: ({ level }) => (
              <Badge kind={LEVEL_KINDS[level as keyof typeof LEVEL_KINDS] ?? 'plain'}>
                {level}
              </Badge>
            ),
          },
          { label: t.groupEvent, cell: (state) => state.id, sortBy: (state) => state.id },
          { label: t.groupTags, cell: ({ group }) => group, sortBy: ({ group }) => group },
          {
            label: t.groupSince,
            cell: ({ time }) => formatTime(time, zone),
            sortBy: ({ time }) => time,
          },
          { label: t.groupMessage, cell: ({ message }) => message },
        ]}
      />
      {states.length > 0 && quietCount > 0 ? (
        <p class="padded muted">{t.groupsOk(quietCount)}</p>
      ) : null}
    </Panel>
  );
}
