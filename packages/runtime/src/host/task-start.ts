// Everything that a task host needs to start a task: the data that its nodes read without waiting.
import { effectsOf } from '@tidemark/pipeline';
import type { Pipeline } from '@tidemark/pipeline';
import { anonymousTopic } from '../anonymous-topic.ts';
import { unitName } from '../part.ts';
import type { Rerun, TaskOptions } from '../running-task.ts';
import type { HostedTaskServices } from './hosted-services.ts';
import { VirtualTimers } from '../timers.ts';
import type { Endpoint, ScalerEntry, TaskStart } from './protocol.ts';

/** Collects it from the present services of the task. */
export function taskStart(
  pipeline: Pipeline,
  services: HostedTaskServices,
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
    part: options.part,
    pipeline,
    limits: options.limits,
    alerts: options.alerts,
    state,
    endpoints: endpointsOf(pipeline, services),
    scalers: scalersOf(pipeline, services),
    lastCause: services.alerts.lastCause(unitName(options.taskId, options.part)),
    hasSideload: services.sideload !== undefined,
    virtualStart: options.timers instanceof VirtualTimers ? options.timers.now() : undefined,
    position: options.position,
    rerun,
    isReplay: options.isReplay === true,
  };
}

/** Topics that the nodes of a pipeline publish to, the anonymous ones included. */
export function topicsOf(
  pipeline: Pipeline,
  options: Pick<TaskOptions, 'scope' | 'taskId'>,
): readonly string[] {
  const { scope = 'main', taskId } = options;
  const topics = pipeline.nodes.flatMap((node) => {
    const target = effectsOf(node).publishesTo;
    if (target === undefined) return [];
    return [anonymousTopic({ scope, taskId }, node.name), target.topic];
  });
  return [...new Set(topics.filter((topic) => topic !== ''))];
}

/** Topics that a pipeline names itself; they exist as soon as the task has started. */
export function namedTopicsOf(pipeline: Pipeline): readonly string[] {
  return pipeline.nodes
    .map((node) => effectsOf(node).publishesTo?.topic ?? '')
    .filter((topic) => topic !== '');
}

function endpointsOf(
  pipeline: Pipeline,
  services: HostedTaskServices,
): ReadonlyMap<string, Endpoint> {
  const found = new Map<string, Endpoint>();
  for (const node of pipeline.nodes) {
    const name = effectsOf(node).needsEndpoint;
    const endpoint = name === undefined ? undefined : services.http.endpoint(name);
    if (name !== undefined && endpoint !== undefined) found.set(name, endpoint);
  }
  return found;
}

function scalersOf(pipeline: Pipeline, services: HostedTaskServices): readonly ScalerEntry[] {
  return pipeline.nodes.flatMap((node) => {
    const need = effectsOf(node).needsScaler;
    if (need === undefined) return [];
    const { provider: kind, cluster: name } = need;
    const cluster = services.scalerCluster(kind, name);
    if (cluster === undefined) return [];
    const { url, headers, namespace, sign } = cluster;
    return [{ kind, name, url, headers, namespace, isSigned: sign !== undefined }];
  });
}
