// A pipeline as a graph with its counters. A click on a node shows its output.
import { useMemo } from 'preact/hooks';

import { formatValue } from '../../charts/format.ts';
import { formatMs } from '../../charts/quantity.ts';
import { texts } from '../../texts/texts.ts';
import type { NodeFigures } from './figures.ts';
import { pictureOf } from './graph.ts';
import type { PlacedEdge, PlacedNode } from './graph.ts';

const t = texts.tasks;

export function PipelineView({
  dot,
  figures,
  selected,
  onSelect,
}: {
  readonly dot: string;
  readonly figures: Readonly<Record<string, NodeFigures>>;
  readonly selected: string;
  readonly onSelect: (name: string) => void;
}) {
  const picture = useMemo(() => pictureOf(dot), [dot]);
  const { width, height, nodes, edges } = picture;
  return (
    <div class="pipeline" role="group" aria-label={t.pipeline} tabIndex={0}>
      <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        {edges.map((edge) => (
          <EdgeLine key={`${edge.from} ${edge.to}`} edge={edge} />
        ))}
        {nodes.map((node) => (
          <NodeBox
            key={node.name}
            node={node}
            figures={figures[node.name] ?? {}}
            isSelected={node.name === selected}
            onSelect={() => onSelect(node.name)}
          />
        ))}
      </svg>
    </div>
  );
}

function EdgeLine({ edge }: { readonly edge: PlacedEdge }) {
  const { points, processed } = edge;
  const path = points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${x} ${y}`).join(' ');
  const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
  return (
    <g aria-hidden="true">
      <path class="pipeline-edge" d={path} />
      {processed === undefined ? null : (
        <text class="pipeline-count" x={middle.x + 6} y={middle.y + 4}>
          {formatValue(processed)}
        </text>
      )}
    </g>
  );
}

function NodeBox({
  node,
  figures,
  isSelected,
  onSelect,
}: {
  readonly node: PlacedNode;
  readonly figures: NodeFigures;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}) {
  const { name, x, y, width, height } = node;
  const errors = figures['errors'] ?? 0;
  const nanos = figures['avg_exec_time_ns'];
  const timeText = nanos === undefined ? '' : formatMs(nanos / 1e6);
  const note = errors > 0 ? t.errorCount(errors) : timeText;
  return (
    <g
      class={`pipeline-node ${isSelected ? 'selected' : ''} ${errors > 0 ? 'bad' : ''}`}
      role="button"
      // In SVG the attribute has no capital letter: `tabIndex` would not be reached with Tab.
      tabindex={0}
      aria-pressed={isSelected ? 'true' : 'false'}
      transform={`translate(${x - width / 2} ${y - height / 2})`}
      onClick={onSelect}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onSelect();
      }}
    >
      <rect width={width} height={height} rx="6" />
      <text x="10" y="18">
        {name}
      </text>
      <text class="note" x="10" y="35">
        {note}
      </text>
    </g>
  );
}
