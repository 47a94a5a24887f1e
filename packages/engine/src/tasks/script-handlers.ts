// Handlers that the script of a pipeline attaches to its alert nodes.
import { alertNode } from '@tidemark/pipeline';
import type { HandlerSpec, Pipeline } from '@tidemark/pipeline';

/** In the order of the nodes. */
export function scriptHandlersOf(pipeline: Pipeline): readonly HandlerSpec[] {
  return pipeline.nodes.flatMap((node) => (alertNode.isOf(node) ? node.options.handlers : []));
}
