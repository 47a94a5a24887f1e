// The engine's services for running tasks: alerts, the database, their own write path, HTTP and the
// log.
import { InvalidRequest, messageOf } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import { bodyTemplate, HTTP_POST_SECTION } from '@tidemark/alerting';
import type { AlertService } from '@tidemark/alerting';
import { effectsOf } from '@tidemark/pipeline';
import type { NodeSpec } from '@tidemark/pipeline';
import { PointBatchBuilder } from '@tidemark/runtime';
import type {
  HttpClient,
  EventCause,
  PointBatch,
  TaskServices,
  UdfConnector,
} from '@tidemark/runtime';
import type { HostedTaskServices } from '@tidemark/runtime/host';
import { isSecretHeader } from '@tidemark/settings';
import type { HttpSender, Sections } from '@tidemark/settings';
import type { Clusters } from '../database/clusters.ts';
import type { LogHub } from '../observability/log-hub.ts';
import { pointsOf } from '../shared-log/point-record.ts';
import type { PointLog } from '../shared-log/point-log.ts';
import type { PointRouter } from '../ingest/point-router.ts';
import { scalerCluster } from '../config/scaler-clusters.ts';
import type { Sideloads } from './sideload.ts';

export type TaskServicesOptions = {
  readonly alerts: AlertService;
  readonly clusters: Clusters;
  readonly router: PointRouter;
  /** In a cluster: the log that points go through before tasks get them. */
  readonly points: Pick<PointLog, 'loop'> | undefined;
  readonly http: HttpSender;
  readonly logs: LogHub;
  readonly sideloads: Sideloads;
  readonly udf: UdfConnector;
  readonly sections: Sections;
  /** The value of a secret: the text itself, or what it refers to. */
  readonly resolveSecret: (text: string) => string;
  /** Hides secrets in a text: known ones, and these. */
  readonly redact: (text: string, own: Iterable<string>) => string;
  readonly server: TaskServices['server'];
  readonly clock: Clock;
};

/** For a task in this thread, and for one in a task host. */
export type EngineServices = TaskServices & HostedTaskServices;

/** Makes the services of one task. */
export function taskServices(options: TaskServicesOptions, taskId: string): EngineServices {
  const log = options.logs.logger('task');
  return {
    alerts: options.alerts,
    database: options.clusters,
    loopback: loopback(options, (error) =>
      log('error', 'failed to loop back points', { task: taskId, err: String(error) }),
    ),
    http: httpClient(options),
    sideload: options.sideloads,
    udf: options.udf,
    scalerCluster: (kind, name) => scalerCluster(options, kind, name),
    log: {
      log: (level, nodeName, message, context) =>
        log(level, message, { task: taskId, node: nodeName, ...context }),
    },
    server: options.server,
  };
}

function loopback(
  { router, points: log }: Pick<TaskServicesOptions, 'router' | 'points'>,
  onError: (error: unknown) => void,
): EngineServices['loopback'] {
  const dispatch = (batch: PointBatch, cause: EventCause | undefined): void => {
    if (batch.rowCount === 0) return;
    if (log !== undefined) {
      const { database, retentionPolicy } = batch;
      log.loop({ database, retentionPolicy, points: [...pointsOf(batch)], cause });
      return;
    }
    // After the present message: a task must not get points while it is handling one.
    queueMicrotask(() => {
      router.dispatch(batch).catch(onError);
    });
  };
  return {
    writeBatch: dispatch,
    write: (database, retentionPolicy, points, cause) => {
      const builder = new PointBatchBuilder(database, retentionPolicy);
      for (const { name, tags, fields, time } of points) {
        const present = [...fields].flatMap(([field, value]) =>
          value === null ? [] : [[field, value] as const],
        );
        if (present.length > 0) builder.add({ name, tags, fields: present, time });
      }
      dispatch(builder.build(), cause);
    },
  };
}

/** Outgoing HTTP of nodes, with the configured endpoints. */
export function httpClient({
  http,
  sections,
  resolveSecret,
  redact,
}: Pick<TaskServicesOptions, 'http' | 'sections' | 'resolveSecret' | 'redact'>): HttpClient {
  return {
    send: async ({ method, url, headers, body, timeoutMs, tls }, signal) => {
      const secrets: string[] = [];
      const sent = Object.entries(headers ?? {}).map(([name, value]) => {
        if (!isSecretHeader(name)) return [name, value];
        const secret = resolveSecret(value);
        secrets.push(secret);
        return [name, secret];
      });
      const response = await http.send(
        { method, url, headers: Object.fromEntries(sent), body, timeoutMs, tls },
        signal,
      );
      // Receivers repeat what they were sent, and their answers are logged.
      return { status: response.status, body: redact(response.body, secrets) };
    },
    endpoint: (name) => {
      const options = sections.section(HTTP_POST_SECTION, name);
      if (options === undefined) return undefined;
      const { username, password } = options['basic-auth'] ?? {};
      const auth =
        username === undefined || username === ''
          ? {}
          : {
              Authorization: `Basic ${Buffer.from(`${username}:${password ?? ''}`).toString('base64')}`,
            };
      const rowTemplate = bodyTemplate(options, 'row');
      return {
        url: options.url,
        headers: { ...options.headers, ...auth },
        rowTemplate: rowTemplate === '' ? undefined : rowTemplate,
      };
    },
  };
}

/** Refuses a node that names a cluster which is not configured. */
export function checkCluster(node: NodeSpec, clusters: Clusters): void {
  const need = effectsOf(node).needsCluster;
  if (need?.urgency !== 'start' || need.cluster === '') return;
  try {
    clusters.cluster(need.cluster);
  } catch (cause) {
    throw new InvalidRequest(messageOf(cause), { cause });
  }
}
