// Services for tasks without an environment, in tests, soaks and benchmarks: every service accepts
// everything and does nothing. Imported as `@tidemark/runtime/testing`.
import type { AlertSink, TaskServices } from '../services.ts';

/** Accepts alerts and remembers none of them. */
export const silentAlerts: AlertSink = {
  inhibitions: { set: () => undefined, isInhibited: () => false },
  openAnonymousTopic: () => undefined,
  closeAnonymousTopic: () => undefined,
  openTopic: () => undefined,
  publish: () => undefined,
  lastCause: () => undefined,
  eventState: () => undefined,
  updateEvent: () => undefined,
};

/** Services without effects, except for those that are given. */
export function silentServices(given: Partial<TaskServices> = {}): TaskServices {
  return {
    alerts: silentAlerts,
    database: {
      write: () => Promise.resolve(),
      execute: () => Promise.resolve(),
      query: () => Promise.resolve([]),
    },
    loopback: { write: () => undefined },
    http: { send: () => Promise.resolve({ status: 200, body: '' }), endpoint: () => undefined },
    log: { log: () => undefined },
    scalerCluster: () => undefined,
    server: { hostname: 'h', clusterId: 'c', serverId: 's' },
    ...given,
  };
}
