// The level of each group of a task's alert nodes, and since when it is not OK.
import { useSignal } from '@preact/signals';
import type { Task } from '@tidemark/client';

import { useResource } from '../../api/use-resource.ts';
import { Button } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Badge, Empty, Failure, Loading } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { LEVEL_KINDS } from '../../try-out/fired.tsx';
import { texts } from '../../texts/texts.ts';
import { figuresOf } from './figures.ts';
import { groupsOf, PAGE_ROWS } from './group-list.ts';
import type { GroupList, GroupState } from './group-list.ts';

const t = texts.tasks;
const REFRESH_MS = 5000;

export function GroupStates({ task }: { readonly task: Task }) {
  const { id, script, executing } = task;
  const nodes = Object.entries(figuresOf(task).nodes)
    .filter(([, figures]) => 'alerts_triggered' in figures)
    .map(([name]) => name);
  const chosen = useSignal('');
  const search = useSignal('');
  const offset = useSignal(0);
  const node = nodes.find((name) => name === chosen.value) ?? nodes[0] ?? '';
  const choice = { node, search: search.value, offset: offset.value };
  const found = useResource(
    (signal) => groupsOf({ id, script, executing }, choice, signal),
    [id, script, executing, node, search.value, offset.value],
    { refreshMs: REFRESH_MS, keepsValue: true },
  );
  const list = found.value.value;
  if (list === undefined) {
    return found.error.value === undefined ? (
      <Loading />
    ) : (
      <Failure error={found.error.value} onRetry={() => void found.reload()} />
    );
  }
  return (
    <Panel
      title={t.groupStates}
      isFlush
      controls={
        <>
          {nodes.length < 2 ? null : (
            <SelectField
              label={t.node}
              isLabelHidden
              value={node}
              options={nodes}
              onChange={(name) => {
                chosen.value = name;
                offset.value = 0;
              }}
            />
          )}
          <TextField
            label={t.groupSearch}
            isLabelHidden
            placeholder={t.groupSearch}
            value={search.value}
            onInput={(text) => {
              search.value = text;
              offset.value = 0;
            }}
          />
        </>
      }
    >
      <Groups list={list} isSearching={search.value !== ''} />
      {list.total <= PAGE_ROWS ? null : (
        <div class="row padded">
          <Button
            disabled={list.offset === 0}
            onClick={() => (offset.value = list.offset - PAGE_ROWS)}
          >
            {t.groupsPrevious}
          </Button>
          <Button disabled={!list.hasNext} onClick={() => (offset.value = list.offset + PAGE_ROWS)}>
            {t.groupsNext}
          </Button>
          <span class="muted" role="status">
            {t.groupsShown(list.offset + 1, list.offset + list.states.length, list.total)}
          </span>
        </div>
      )}
    </Panel>
  );
}

function Groups({
  list: { states, total },
  isSearching,
}: {
  readonly list: GroupList;
  readonly isSearching: boolean;
}) {
  const zone = shownZone.value;
  // One page of many is not sorted by itself: its order would say nothing about the others.
  const sortBy = (key: (state: GroupState) => string) => (total > PAGE_ROWS ? undefined : key);
  // Fractions of a second would leave no room for the message.
  const timeOf = (time: string | undefined): string =>
    time === undefined ? '' : formatTime(time, zone).replace(/\.\d+$/, '');
  return (
    <Table
      label={t.groupStates}
      rows={states}
      rowKey={({ key }) => key}
      empty={
        isSearching ? (
          <Empty title={t.groupsNotFound} icon="alerts" />
        ) : (
          <Empty title={t.groupsNone} icon="alerts">
            {t.groupsNoneHint}
          </Empty>
        )
      }
      columns={[
        {
          label: t.groupLevel,
          cell: ({ level, isFlapping }) => (
            <>
              <Badge kind={LEVEL_KINDS[level as keyof typeof LEVEL_KINDS] ?? 'plain'}>
                {level}
              </Badge>
              {isFlapping ? <Badge kind="warn">{t.groupFlapping}</Badge> : null}
            </>
          ),
        },
        {
          label: t.groupTags,
          cell: ({ group }) => (group === '' ? t.groupWhole : group),
          sortBy: sortBy(({ group }) => group),
        },
        { label: t.groupEvent, cell: ({ event }) => event, sortBy: sortBy(({ event }) => event) },
        {
          label: t.groupSince,
          cell: ({ since }) => timeOf(since),
          sortBy: sortBy(({ since = '' }) => since),
        },
        {
          label: t.groupLastEvent,
          cell: ({ lastEvent }) => timeOf(lastEvent),
          sortBy: sortBy(({ lastEvent = '' }) => lastEvent),
        },
        { label: t.groupMessage, cell: ({ message }) => message },
      ]}
    />
  );
}
