// The database's counters, by module.
import { tsdb } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { Panel } from '../../design/panel.tsx';
import { Table } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';
import { Loaded } from './statements.tsx';

const t = texts.admin;
const REFRESH_MS = 5000;

type Counter = { readonly module: string; readonly name: string; readonly value: string };

async function load(signal: AbortSignal): Promise<readonly Counter[]> {
  const series = await tsdb.rows('SHOW STATS', { signal });
  return series.flatMap(({ name = '', tags = {}, columns, values = [] }) => {
    const module = [name, ...Object.values(tags)].join(' ');
    return columns.map((column, at) => ({
      module,
      name: column,
      value: String(values[0]?.[at] ?? ''),
    }));
  });
}

export function Counters() {
  const counters = useResource(load, [], { refreshMs: REFRESH_MS });
  return (
    <Panel title={t.tabs.counters} isFlush>
      <Loaded resource={counters}>
        {(rows) => (
          <Table
            label={t.tabs.counters}
            rows={rows}
            rowKey={({ module, name }) => `${module} ${name}`}
            columns={[
              { label: t.module, cell: ({ module }) => module, sortBy: ({ module }) => module },
              { label: t.name, cell: ({ name }) => name, sortBy: ({ name }) => name },
              { label: t.value, isNumber: true, cell: ({ value }) => value },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
