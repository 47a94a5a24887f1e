// Converts drafts to plain data.
import type { EdgeType, HandlerSpec, NodeSpec, Pipeline } from '../pipeline.ts';
import type { DraftHandler, DraftNode } from './draft.ts';

/** The pipeline as data that can be printed, compared and sent to another thread. */
export function finishPipeline(
  type: EdgeType,
  nodes: readonly DraftNode[],
  dbrps: Pipeline['dbrps'],
): Pipeline {
  return { type, nodes: nodes.map(specOf), dbrps };
}

function specOf(node: DraftNode): NodeSpec {
  if (node.row.hasHandlers) node.options.addHandlers(node.handlers.map(handlerOf));
  return {
    id: node.id,
    name: node.name,
    type: node.row.type,
    wants: node.wants,
    provides: node.provides,
    parents: node.parents.map((each) => each.id),
    children: node.children.map((each) => each.id),
    options: node.options.options(),
    calls: { arguments: node.arguments, properties: node.properties },
    isQuiet: node.isQuiet,
    span: node.span,
  };
}

function handlerOf({ row, arguments: list, properties, options, span }: DraftHandler): HandlerSpec {
  return { kind: row.kind, options: options.options(), arguments: list, properties, span };
}
