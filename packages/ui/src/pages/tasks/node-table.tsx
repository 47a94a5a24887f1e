// The nodes of a running task, with the groups, memory and time of each.
import { formatValue } from '../../charts/format.ts';
import { formatBytes, formatMs } from '../../charts/quantity.ts';
import { Panel } from '../../design/panel.tsx';
import { Table } from '../../design/table.tsx';
import { texts } from '../../texts/texts.ts';
import type { NodeFigures } from './figures.ts';

const t = texts.tasks;

export function NodeTable({ nodes }: { readonly nodes: Readonly<Record<string, NodeFigures>> }) {
  const rows = Object.entries(nodes).map(([name, figures]) => ({ name, figures }));
  type Row = (typeof rows)[number];
  const number = (label: string, counter: string, show: (value: number) => string) => ({
    label,
    isNumber: true,
    cell: ({ figures }: Row) => show(figures[counter] ?? 0),
    sortBy: ({ figures }: Row) => figures[counter] ?? 0,
  });
  return (
    <Panel title={t.nodes} isFlush>
      <Table
        label={t.nodes}
        rows={rows}
        rowKey={({ name }) => name}
        columns={[
          { label: t.node, cell: ({ name }) => name, sortBy: ({ name }) => name },
          number(t.collected, 'collected', formatValue),
          number(t.emitted, 'emitted', formatValue),
          number(t.errors, 'errors', formatValue),
          number(t.groups, 'working_cardinality', formatValue),
          number(t.memory, 'memory_bytes', formatBytes),
          number(t.nodeTime, 'avg_exec_time_ns', (nanos) => formatMs(nanos / 1e6)),
        ]}
      />
    </Panel>
  );
}
