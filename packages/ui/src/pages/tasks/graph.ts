// The graph of a pipeline: nodes and edges of the engine's DOT, laid out from top to bottom.
import { Graph, layout } from '@dagrejs/dagre';

export type PlacedNode = {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

export type PlacedEdge = {
  readonly from: string;
  readonly to: string;
  /** Messages that passed along it; `undefined` while the task does not run. */
  readonly processed?: number | undefined;
  readonly points: readonly { readonly x: number; readonly y: number }[];
};

export type Picture = {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
};

type Edge = Pick<PlacedEdge, 'from' | 'to' | 'processed'>;

const NODE_WIDTH = 150;
const NODE_HEIGHT = 44;

/** Names and edges of a DOT text as the engine writes it. */
export function readDot(dot: string): {
  readonly names: readonly string[];
  readonly edges: readonly Edge[];
} {
  const names = new Set<string>();
  const edges: Edge[] = [];
  for (const line of dot.split('\n')) {
    const edge = /^\s*(\w+) -> (\w+)(?: \[processed="(\d+)")?/.exec(line);
    const node = /^\s*(\w+) (?:\[|;)/.exec(line) ?? /^\s*(\w+);\s*$/.exec(line);
    if (edge !== null) {
      const [, from = '', to = '', processed] = edge;
      edges.push({ from, to, processed: processed === undefined ? undefined : Number(processed) });
      names.add(from).add(to);
    } else if (node !== null && !['graph', 'digraph'].includes(node[1] ?? '')) {
      names.add(node[1] ?? '');
    }
  }
  return { names: [...names], edges };
}

export function pictureOf(dot: string): Picture {
  const { names, edges } = readDot(dot);
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 28, ranksep: 44, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const name of names) graph.setNode(name, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { from, to } of edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: names.map((name) => {
      const { x, y } = graph.node(name);
      return { name, x, y, width: NODE_WIDTH, height: NODE_HEIGHT };
    }),
    edges: edges.map((edge) => ({
      ...edge,
      points: graph.edge(edge.from, edge.to).points,
    })),
  };
}
