// How many series there are, and which measurements make them.
import { formatIdentifier } from '@tidemark/influxql';

import { tsdb } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { Panel } from '../../design/panel.tsx';
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
  return (
    <Panel title={t.tabs.cardinality} isFlush>
      <Loaded resource={counts}>
        {(rows) => (
          <Table
            label={t.tabs.cardinality}
            rows={rows}
            rowKey={({ database, measurement }) => `${database} ${measurement}`}
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
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
