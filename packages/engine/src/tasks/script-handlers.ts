// Handlers that the script of a pipeline attaches to its alert nodes.
import type { HandlerSpec, Pipeline } from '@tidemark/pipeline';

/** In the order of the nodes. */
export function scriptHandlersOf(pipeline: Pipeline): readonly HandlerSpec[] {
  return pipeline.nodes.flatMap(({ options }) => {
    if (options === null || typeof options !== 'object' || !('handlers' in options)) return [];
    return Array.isArray(options.handlers) ? (options.handlers as HandlerSpec[]) : [];
  });
}
