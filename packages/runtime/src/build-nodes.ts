// Builds the nodes of a pipeline, and the edges between them.
import { assert } from '@tidemark/core';
import type { NodeSpec, Pipeline } from '@tidemark/pipeline';
import type { Sampler } from './edge.ts';
import { Edge, ExecutionTime, FanOut, NO_OUTPUT } from './edge.ts';
import { createNode } from './implementations.ts';
import type { Receiver, TaskContext } from './node.ts';
import { StartError, startErrorOf } from './node.ts';
import { NodeHandle } from './node-handle.ts';

/** What the nodes of a task share. */
type Shared = { readonly context: TaskContext; readonly sampler: Sampler };

/**
 * The receiver of a parent's messages; a parent that a node has several times has several edges to
 * it, in their order.
 */
type ReceiverOf = (edge: { readonly parentId: number; readonly position: number }) => Receiver;

/** The nodes that exist already, by id. */
type Built = {
  readonly handles: NodeHandle[];
  readonly receivers: Map<number, ReceiverOf>;
};

/**
 * Nodes by id. Children come after their parents in creation order, so nodes are made from the last
 * to the first. Throws `StartError` with the mistake of the first node that cannot be made.
 */
export function buildNodes(pipeline: Pipeline, shared: Shared): readonly NodeHandle[] {
  const built: Built = { handles: [], receivers: new Map() };
  let failure: unknown;
  for (const spec of pipeline.nodes.toReversed()) {
    const handle = makeHandle(pipeline, spec, { built, shared });
    built.handles[spec.id] = handle;
    try {
      const node = createNode(handle);
      handle.node = node;
      built.receivers.set(spec.id, ({ parentId, position }) => {
        const places = [...spec.parents.keys()].filter((i) => spec.parents[i] === parentId);
        return node.capabilities.inputs?.input(places[position] ?? 0) ?? node;
      });
    } catch (cause) {
      if (!(cause instanceof StartError)) throw cause;
      failure = startErrorOf(spec.name, cause);
      built.receivers.set(spec.id, () => NO_OUTPUT);
    }
  }
  if (failure !== undefined) throw failure;
  return built.handles;
}

function makeHandle(
  pipeline: Pipeline,
  spec: NodeSpec,
  { built, shared }: { readonly built: Built; readonly shared: Shared },
): NodeHandle {
  const { sampler, context } = shared;
  const edges = spec.children.map((id, i) => {
    const child = built.handles[id];
    const position = spec.children.slice(0, i).filter((other) => other === id).length;
    const receiver = built.receivers.get(id)?.({ parentId: spec.id, position });
    assert(
      child !== undefined && receiver !== undefined,
      'children are created after their parents',
    );
    const names = { parent: spec.name, child: child.name };
    const edge = new Edge(names, receiver, { sampler, time: child.time });
    child.inputs.push(edge);
    return edge;
  });
  const [only] = edges;
  const leaf = (): Edge =>
    new Edge({ parent: spec.name, child: '' }, NO_OUTPUT, { sampler, time: new ExecutionTime() });
  const tapEdge = only ?? leaf();
  return new NodeHandle(spec, context, {
    out: edges.length > 1 ? new FanOut(edges) : tapEdge,
    edges,
    tapEdge,
    parentNames: spec.parents.map((id) => pipeline.nodes[id]?.name ?? ''),
    fieldsRead: fieldsReadBy(spec.children.map((id) => built.handles[id])),
  });
}

/** The only fields that these nodes read; `undefined` when that is not known of one. */
function fieldsReadBy(
  children: readonly (NodeHandle | undefined)[],
): readonly string[] | undefined {
  const names = new Set<string>();
  for (const child of children) {
    const fields = child?.node?.capabilities.fieldsRead;
    if (fields === undefined) return undefined;
    for (const name of fields) names.add(name);
  }
  return [...names];
}
