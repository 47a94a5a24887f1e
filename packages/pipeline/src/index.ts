// Public face of @tidemark/pipeline: what a task says.
export { buildPipeline, definitionErrorText } from './build.ts';
export type { BuildError, BuildOptions, BuildResult, ParsedScript } from './build.ts';
export { completeScript } from './complete.ts';
export type { Completion, CompletionResult } from './complete.ts';
export { formatDot, formatRunningDot } from './dot.ts';
export type { DotView, NodeStats, PipelineStats } from './dot.ts';
export { DEFAULT_DEADMAN } from './evaluate/graph.ts';
export type { DeadmanConfig } from './evaluate/graph.ts';
export type { Parameter, ParameterType } from './evaluate/parameter.ts';
export type { HandlerRow } from './handlers/handler-definition.ts';
export { findHandler, HANDLERS } from './handlers/registry.ts';
export { placeOf } from './node-problem.ts';
export type { NodeCategory, NodeRow, PropertyRow, StartContext } from './node-definition.ts';
export { findNode, NODES } from './nodes/registry.ts';
export type * from './pipeline.ts';
export type * from './udf.ts';
export type * from './vars.ts';
export type * from './nodes/alert.ts';
export type * from './nodes/autoscale.ts';
export type * from './nodes/barrier.ts';
export type * from './nodes/batch.ts';
export type * from './nodes/change-detect.ts';
export type * from './nodes/combine.ts';
export type * from './nodes/default.ts';
export type * from './nodes/delete.ts';
export type * from './nodes/derivative.ts';
export type * from './nodes/dimensions.ts';
export type * from './nodes/eval.ts';
export type * from './nodes/flatten.ts';
export type * from './nodes/from.ts';
export type * from './nodes/group-by.ts';
export type * from './nodes/http-out.ts';
export type * from './nodes/http-post.ts';
export type * from './nodes/influxdb-out.ts';
export type * from './nodes/influxql.ts';
export type * from './nodes/join.ts';
export type * from './nodes/kapacitor-loopback.ts';
export type * from './nodes/log.ts';
export type * from './nodes/no-op.ts';
export type * from './nodes/query.ts';
export type * from './nodes/sample.ts';
export type * from './nodes/shift.ts';
export type * from './nodes/sideload.ts';
export type * from './nodes/state-count.ts';
export type * from './nodes/state-duration.ts';
export type * from './nodes/stats.ts';
export type * from './nodes/stream.ts';
export type * from './nodes/trickle.ts';
export type * from './nodes/udf.ts';
export type * from './nodes/union.ts';
export type * from './nodes/where.ts';
export type * from './nodes/window.ts';
export { parseVars, printVars } from './vars-json.ts';
export type { JsonVar, JsonVarValue, VarsResult } from './vars-json.ts';
export { parsePipeline, printPipeline } from './pipeline-json.ts';
export { printPipelineScript } from './pipeline-script.ts';
export type { PipelineScriptResult } from './pipeline-script.ts';
export type {
  JsonCall,
  JsonHandler,
  JsonNode,
  JsonPipeline,
  JsonValue,
  ParsePipelineResult,
} from './pipeline-json.ts';
export { formatHandlerReference, formatNodeReference } from './reference.ts';
