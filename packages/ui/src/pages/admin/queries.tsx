// Running queries, and how to end them.
import { useResource } from '../../api/use-resource.ts';
import { Button } from '../../design/button.tsx';
import { Panel } from '../../design/panel.tsx';
import { Table } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';
import { ask, Loaded, perform } from './statements.tsx';

const t = texts.admin;
const REFRESH_MS = 2000;

export function Queries() {
  const queries = useResource((signal) => ask('SHOW QUERIES', signal), [], {
    refreshMs: REFRESH_MS,
  });
  return (
    <Panel title={t.tabs.queries} isFlush>
      <Loaded resource={queries}>
        {(rows) => (
          <Table
            label={t.tabs.queries}
            rows={rows}
            rowKey={({ qid }) => String(qid)}
            columns={[
              { label: t.number, isNumber: true, cell: ({ qid }) => String(qid) },
              { label: t.statement, cell: ({ query }) => <code>{String(query)}</code> },
              { label: t.database, cell: ({ database }) => String(database ?? '') },
              { label: t.runsFor, isNumber: true, cell: ({ duration }) => String(duration) },
              {
                label: t.actions,
                isActions: true,
                cell: ({ qid, query }) =>
                  query === 'SHOW QUERIES' ? (
                    t.thisOne
                  ) : (
                    <Button
                      isSmall
                      kind="danger"
                      onClick={() =>
                        void perform(`KILL QUERY ${qid}`, t.killed(String(qid))).then(() =>
                          queries.reload(),
                        )
                      }
                    >
                      {t.kill}
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </Panel>
  );
}
