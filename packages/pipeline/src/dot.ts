// A pipeline as a graph in the DOT language, with or without the counters of a running task.
import { formatClockDuration } from '@tidemark/core';
import { topologicalOrder } from './evaluate/graph.ts';
import { findNode } from './definition/registry.ts';
import type { NodeSpec, Pipeline } from './pipeline.ts';

/** Counters of a running task. Names of nodes are those of the pipeline. */
export type PipelineStats = {
  /** Points or batches per second at the source. */
  readonly throughput: number;
  readonly nodes: ReadonlyMap<string, NodeStats>;
};

export type NodeStats = {
  /** `avg_exec_time_ns` is shown as a duration; all others as they are. */
  readonly counters: Readonly<Record<string, number | bigint>>;
  /** Points or batches that went to a child, by the child's name. */
  readonly processed: ReadonlyMap<string, number | bigint>;
};

/**
 * `attributes`: counters as attributes of nodes and edges; `labels`: as texts that drawing programs
 * show.
 */
export type DotView = 'attributes' | 'labels';

/** The graph of a task that does not run. The source of batch tasks is left out, as recorded. */
export function formatDot(id: string, pipeline: Pipeline): string {
  const lines = orderedNodes(pipeline).flatMap((node) =>
    childrenOf(node, pipeline).map((child) => `${node.name} -> ${child.name};\n`),
  );
  return `digraph ${id} {\n${lines.join('')}}`;
}

/** The graph of a running task. */
export function formatRunningDot(
  id: string,
  pipeline: Pipeline,
  { stats, view }: { readonly stats: PipelineStats; readonly view: DotView },
): string {
  const unit = pipeline.type === 'stream' ? 'points/s' : 'batches/s';
  const throughput = `${stats.throughput.toFixed(2)} ${unit}`;
  const head =
    view === 'attributes'
      ? `graph [throughput="${throughput}"];`
      : `graph [label="Throughput: ${throughput}" forcelabels=true pad="0.8,0.5"];`;
  const blocks = orderedNodes(pipeline).map((node) => {
    const own = stats.nodes.get(node.name) ?? { counters: {}, processed: new Map() };
    const edges = childrenOf(node, pipeline).map((child) => {
      const count = own.processed.get(child.name) ?? 0;
      const label = view === 'attributes' ? `processed="${count}"` : `label="processed=${count}"`;
      return `${node.name} -> ${child.name} [${label}];\n`;
    });
    return `\n${node.name} [${nodeAttributes(own, view)}];\n${edges.join('')}`;
  });
  return `digraph ${id} {\n${head}\n${blocks.join('')}}`;
}

function nodeAttributes({ counters }: NodeStats, view: DotView): string {
  const names = Object.keys(counters).sort();
  const texts = names.map((name) => [name, formatCounter(name, counters[name] ?? 0)] as const);
  return view === 'attributes'
    ? texts.map(([name, text]) => `${name}="${text}" `).join('')
    : `xlabel="${texts.map(([name, text]) => `${name}=${text}`).join('\\r')}"`;
}

function formatCounter(name: string, value: number | bigint): string {
  if (name !== 'avg_exec_time_ns') return String(value);
  return formatClockDuration(typeof value === 'bigint' ? value : BigInt(Math.trunc(value)));
}

function orderedNodes(pipeline: Pipeline): readonly NodeSpec[] {
  type Link = { id: number; node: NodeSpec; children: Link[]; parents: Link[] };
  const links: Link[] = pipeline.nodes.map((node) => ({
    id: node.id,
    node,
    children: [],
    parents: [],
  }));
  const linked = (ids: readonly number[]) =>
    ids.map((id) => links[id]).filter((each) => each !== undefined);
  for (const link of links) {
    link.children.push(...linked(link.node.children));
    link.parents.push(...linked(link.node.parents));
  }
  return topologicalOrder(links)
    .map((link) => link.node)
    .filter((node) => findNode(node.type)?.isRoot !== true || node.provides !== 'batch');
}

function childrenOf(node: NodeSpec, pipeline: Pipeline): readonly NodeSpec[] {
  return node.children.map((id) => pipeline.nodes[id]).filter((each) => each !== undefined);
}
