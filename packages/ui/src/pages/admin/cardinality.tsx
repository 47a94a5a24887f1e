// The number of series, and the measurements with the most.
import { useSignal } from '@preact/signals';
import { formatIdentifier } from '@tidemark/influxql';

import { tsdb } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { Button } from '../../design/button.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';
import { ask, Loaded } from './statements.tsx';

const t = texts.admin;

type Count = { readonly database: string; readonly measurement: string; readonly count: number };

async function load(signal: AbortSignal): Promise<readonly Count[]> {
  const counts: Count[] = [];
  for (const row of await ask('SHOW DATABASES', signal)) {
    const database = String(row['name']);
    const text = `SHOW SERIES EXACT CARDINALITY ON ${formatIdentifier(database)}`;
    for (const { name = '', values = [] } of await tsdb.rows(text, { signal })) {
      counts.push({ database, measurement: name, count: Number(values[0]?.[0] ?? 0) });
    }
  }
  return counts.toSorted((a, b) => b.count - a.count);
}

export function Cardinality() {
  const counts = useResource(load, []);
  const opened = useSignal<Count | undefined>(undefined);
  const key = ({ database, measurement }: Count): string => `${database} ${measurement}`;
  return (
    <>
      <Panel title={t.tabs.cardinality} isFlush>
        <Loaded resource={counts}>
          {(rows) => (
            <Table
              label={t.tabs.cardinality}
              rows={rows}
              rowKey={key}
              selectedKey={opened.value === undefined ? '' : key(opened.value)}
              columns={[
                {
                  label: t.database,
                  cell: ({ database }) => database,
                  sortBy: ({ database }) => database,
                },
                {
                  label: t.measurement,
                  cell: ({ measurement }) => measurement,
                  sortBy: ({ measurement }) => measurement,
                },
                {
                  label: t.series,
                  isNumber: true,
                  cell: ({ count }) => count.toLocaleString('en'),
                  sortBy: ({ count }) => count,
                },
                {
                  label: t.actions,
                  isActions: true,
                  cell: (row) => (
                    <Button isSmall onClick={() => (opened.value = row)}>
                      {t.tags}
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Panel>
      {opened.value === undefined ? null : <Tags key={key(opened.value)} {...opened.value} />}
    </>
  );
}

/** The number of values of each tag, which make up the series. */
function Tags({ database, measurement }: Count) {
  const on = `ON ${formatIdentifier(database)} FROM ${formatIdentifier(measurement)}`;
  const tags = useResource(
    async (signal) => {
      const keys = await ask(`SHOW TAG KEYS ${on}`, signal);
      const counted = await Promise.all(
        keys.map(async ({ tagKey }) => {
          const key = String(tagKey);
          const statement = `SHOW TAG VALUES EXACT CARDINALITY ${on} WITH KEY = ${formatIdentifier(key)}`;
          const [row] = await ask(statement, signal);
          return { key, count: Number(row?.['count'] ?? 0) };
        }),
      );
      return counted.toSorted((a, b) => b.count - a.count);
    },
    [database, measurement],
  );
  return (
    <Panel title={t.tagsOf(measurement)} isFlush>
      <Loaded resource={tags}>
        {(rows) => (
          <Table
            label={t.tagsOf(measurement)}
            rows={rows}
            rowKey={({ key }) => key}
            empty={<Empty title={t.noTags} />}
            columns={[
              { label: t.tag, cell: ({ key }) => key, sortBy: ({ key }) => key },
              {
                label: t.values,
                isNumber: true,
                cell: ({ count }) => count.toLocaleString('en'),
                sortBy: ({ count }) => count,
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
