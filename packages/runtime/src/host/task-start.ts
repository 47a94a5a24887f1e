// What a task host is told when a task starts: everything that its nodes will ask for without
// waiting.
import type { Pipeline } from '@tidemark/pipeline';
import type { Rerun, TaskOptions } from '../running-task.ts';
import type { TaskServices } from '../services.ts';
import { VirtualTimers } from '../timers.ts';
import type { Endpoint, ScalerEntry, ScalerKind, TaskStart } from './protocol.ts';

const SCALER_KINDS: ReadonlyMap<string, ScalerKind> = new Map([
  ['k8sAutoscale', 'k8s'],
  ['swarmAutoscale', 'swarm'],
  ['ec2Autoscale', 'ec2'],
]);

/** Collects it from the services of the task as they are now. */
export function taskStart(
  pipeline: Pipeline,
  services: TaskServices,
  setup: {
    readonly options: TaskOptions;
    readonly state: Uint8Array | undefined;
    readonly rerun: Rerun | undefined;
  },
): TaskStart {
  const { options, state, rerun } = setup;
  return {
    taskId: options.taskId,
    scope: options.scope,
    pipeline,
    limits: options.limits,
    alerts: options.alerts,
    state,
    endpoints: endpointsOf(pipeline, services),
    scalers: scalersOf(pipeline, services),
    eventStates: topicsOf(pipeline, options).map(
      (topic) => [topic, [...(services.alerts.eventStates?.(topic) ?? [])]] as const,
    ),
    hasSideload: services.sideload !== undefined,
    hasUdf: services.udf !== undefined,
    virtualStart: options.timers instanceof VirtualTimers ? options.timers.now() : undefined,
    position: options.position,
    rerun,
    isReplay: options.isReplay === true,
  };
}

/** Topics that alert nodes of a pipeline publish to, the anonymous ones included. */
export function topicsOf(pipeline: Pipeline, options: TaskOptions): readonly string[] {
  const scope = options.scope ?? 'main';
  const topics = pipeline.nodes
    .filter((node) => node.type === 'alert')
    .flatMap((node) => [`${scope}:${options.taskId}:${node.name}`, option(node.options, 'topic')]);
  return [...new Set(topics.filter((topic) => topic !== ''))];
}

/** Topics that a pipeline names itself; they exist as soon as the task has started. */
export function namedTopicsOf(pipeline: Pipeline): readonly string[] {
  const alerts = pipeline.nodes.filter((node) => node.type === 'alert');
  return alerts.map((node) => option(node.options, 'topic')).filter((topic) => topic !== '');
}

function endpointsOf(pipeline: Pipeline, services: TaskServices): ReadonlyMap<string, Endpoint> {
  const found = new Map<string, Endpoint>();
  for (const { options } of pipeline.nodes) {
    const name = option(options, 'endpoint');
    const endpoint = name === '' ? undefined : services.http.endpoint(name);
    if (endpoint !== undefined) found.set(name, endpoint);
  }
  return found;
}

function scalersOf(pipeline: Pipeline, services: TaskServices): readonly ScalerEntry[] {
  return pipeline.nodes.flatMap((node) => {
    const kind = SCALER_KINDS.get(node.type);
    const name = option(node.options, 'cluster');
    const cluster = kind === undefined ? undefined : services.scalerCluster?.(kind, name);
    if (kind === undefined || cluster === undefined) return [];
    const { url, headers, namespace, sign } = cluster;
    return [{ kind, name, url, headers, namespace, isSigned: sign !== undefined }];
  });
}

/** A text among the options of a node, '' when it has none of that name. */
function option(options: unknown, name: string): string {
  if (options === null || typeof options !== 'object') return '';
  const value = (options as Readonly<Record<string, unknown>>)[name];
  return typeof value === 'string' ? value : '';
}
