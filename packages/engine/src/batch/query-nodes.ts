// The query nodes of a pipeline, with the text and the schedule of their queries.
import { effectsOf } from '@tidemark/pipeline';
import type { AskedQuery, Pipeline } from '@tidemark/pipeline';
import { QueryText } from '../database/query-text.ts';
import { scheduleOf } from '../database/schedule.ts';
import type { Schedule } from '../database/schedule.ts';

/** A query node of a pipeline, ready to run. */
export type QueryNode = {
  readonly name: string;
  readonly options: AskedQuery;
  readonly text: QueryText;
  readonly schedule: Schedule;
};

/**
 * The query nodes of a batch pipeline in creation order. Throws `InvalidRequest` for options that a
 * node does not support.
 */
export function queryNodesOf(pipeline: Pipeline): readonly QueryNode[] {
  return pipeline.nodes.flatMap((node) => {
    const options = effectsOf(node).asks;
    return options === undefined
      ? []
      : [{ name: node.name, options, text: new QueryText(options), schedule: scheduleOf(options) }];
  });
}
