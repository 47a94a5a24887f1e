// Background work of the database: continuous queries and subscriptions.
import { useSignal } from '@preact/signals';
import { formatIdentifier } from '@tidemark/influxql';
import type { ComponentChildren } from 'preact';

import { useResource } from '../../api/use-resource.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';
import { NewSubscription } from './new-subscription.tsx';
import { RollUp } from './roll-up.tsx';
import { RunPast } from './run-past.tsx';
import { ask, Loaded, useDropDialog } from './statements.tsx';
import type { Answered } from './statements.tsx';

const t = texts.admin;

export function StatementLists() {
  const queries = useResource((signal) => ask('SHOW CONTINUOUS QUERIES', signal), []);
  const subscriptions = useResource((signal) => ask('SHOW SUBSCRIPTIONS', signal), []);
  const dropDialog = useDropDialog(() => {
    void queries.reload();
    void subscriptions.reload();
  });
  const database = { label: t.database, cell: ({ series }: Answered) => String(series) };
  const run = useSignal<{ readonly database: string; readonly name: string } | undefined>(
    undefined,
  );
  const drop = (
    kind: string,
    on: (row: Answered) => string,
    more?: (row: Answered) => ComponentChildren,
  ) => ({
    label: t.actions,
    isActions: true,
    cell: (row: Answered) => {
      const name = String(row['name']);
      return (
        <>
          {more?.(row)}{' '}
          <IconButton
            isSmall
            icon="trash"
            label={t.dropOne(name)}
            onClick={() =>
              dropDialog.ask({
                title: t.dropTitle(name),
                hint: t.dropHint,
                statement: `DROP ${kind} ${formatIdentifier(name)} ON ${on(row)}`,
                done: t.dropped(name),
              })
            }
          />
        </>
      );
    },
  });
  return (
    <>
      <Panel title={t.continuous} isFlush>
        <Loaded resource={queries}>
          {(rows) => (
            <Table
              label={t.continuous}
              rows={rows}
              rowKey={({ series, name }) => `${series} ${name}`}
              empty={<Empty title={t.noContinuous}>{t.noContinuousHint}</Empty>}
              columns={[
                database,
                { label: t.name, cell: ({ name }) => String(name) },
                { label: t.statement, cell: ({ query }) => <code>{String(query)}</code> },
                drop(
                  'CONTINUOUS QUERY',
                  ({ series }) => formatIdentifier(String(series)),
                  ({ series, name }) => (
                    <Button
                      isSmall
                      onClick={() => (run.value = { database: String(series), name: String(name) })}
                    >
                      {t.runPast}
                    </Button>
                  ),
                ),
              ]}
            />
          )}
        </Loaded>
      </Panel>
      {run.value === undefined ? null : (
        <RunPast key={`${run.value.database} ${run.value.name}`} {...run.value} />
      )}
      <RollUp onMade={() => void queries.reload()} />
      <Panel title={t.subscriptions} isFlush>
        <Loaded resource={subscriptions}>
          {(rows) => (
            <Table
              label={t.subscriptions}
              rows={rows}
              rowKey={({ series, name }) => `${series} ${name}`}
              empty={<Empty title={t.noSubscriptions}>{t.noSubscriptionsHint}</Empty>}
              columns={[
                database,
                { label: t.policy, cell: (row) => String(row['retention_policy']) },
                { label: t.name, cell: ({ name }) => String(name) },
                { label: t.mode, cell: ({ mode }) => String(mode) },
                {
                  label: t.destinations,
                  cell: ({ destinations }) => <code>{String(destinations)}</code>,
                },
                drop(
                  'SUBSCRIPTION',
                  (row) =>
                    `${formatIdentifier(String(row['series']))}.${formatIdentifier(String(row['retention_policy']))}`,
                ),
              ]}
            />
          )}
        </Loaded>
      </Panel>
      <NewSubscription onMade={() => void subscriptions.reload()} />
      {dropDialog.dialog}
    </>
  );
}
