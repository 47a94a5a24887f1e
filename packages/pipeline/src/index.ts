// Public interface of @tidemark/pipeline: the definition of tasks.
export { closestName } from './evaluate/closest-name.ts';
export { buildPipeline, definitionErrorText } from './build.ts';
export type { BuildError, BuildOptions, BuildResult, ParsedScript } from './build.ts';
export { completeScript } from './complete.ts';
export type { Completion, CompletionResult } from './complete.ts';
export { formatDot, formatRunningDot } from './dot.ts';
export type { DotView, NodeStats, PipelineStats } from './dot.ts';
export type { DeadmanConfig } from './evaluate/deadman-config.ts';
export type { Parameter, ParameterType, ExternalResource } from './evaluate/parameter.ts';
export type { HandlerDefinition, HandlerRow } from './definition/handler-definition.ts';
export { findHandler, HANDLERS } from './definition/handler-registry.ts';
export { defineHandler } from './definition/handler-definition.ts';
export * from './handlers/registry.gen.ts';
export { placeOf } from './definition/node-diagnostic.ts';
export { defineNode } from './definition/node-definition.ts';
export type {
  NodeCategory,
  NodeKind,
  NodeRow,
  OptionsOfNode,
  PropertyRow,
  StartContext,
} from './definition/node-definition.ts';
export { effectsOf, findNode, measurementsOf, NODES } from './definition/registry.ts';
export type * from './definition/effects.ts';
export type { TagSelection } from './definition/split.ts';
export { splitOf } from './split.ts';
export type { SplitRefusal, SplitResult } from './split.ts';
export type { AutoscaleOptions } from './node-parts/autoscale.ts';
export type { Dimensions } from './node-parts/dimensions.ts';
export type { FunctionOptions } from './node-parts/function-node.ts';
export type * from './pipeline.ts';
export type * from './udf.ts';
export type * from './vars.ts';
export * from './nodes/registry.gen.ts';
export type * from './node-parts/dimensions.ts';
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
