// Refused points: their number by source, and the latest lines.
import { tsdb } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { Panel } from '../../design/panel.tsx';
import { Empty } from '../../design/states.tsx';
import { ResultTable } from '../../design/result-table.tsx';
import { texts } from '../../texts/texts.ts';
import { Loaded } from './statements.tsx';

const t = texts.admin;

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Shows the lists of the answer as tables, whatever their columns. */
export function Rejected() {
  const rejected = useResource(
    (signal) => tsdb.http.json<Readonly<Record<string, unknown>>>('/debug/rejected', { signal }),
    [],
  );
  return (
    <Loaded resource={rejected}>
      {(found) =>
        Object.entries(found).map(([name, list]) => (
          <List key={name} name={name} rows={rowsOf(list)} />
        ))
      }
    </Loaded>
  );
}

/** Lists stay as they are; counts by source become one. */
function rowsOf(list: unknown): Rows {
  if (Array.isArray(list)) return list as Rows;
  return Object.entries(list ?? {}).map(([source, count]) => ({ source, count: count as unknown }));
}

function List({ name, rows }: { readonly name: string; readonly rows: Rows }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return (
    <Panel title={t.rejectedLists[name] ?? name} isFlush>
      {rows.length === 0 ? (
        <Empty title={t.noRejected} />
      ) : (
        <ResultTable
          label={t.rejectedLists[name] ?? name}
          columns={columns}
          rows={rows.map((row) => columns.map((column) => cellOf(row[column])))}
        />
      )}
    </Panel>
  );
}

function cellOf(value: unknown): string | number | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'number' ? value : String(value);
}
