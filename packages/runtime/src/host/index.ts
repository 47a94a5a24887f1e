// The parts of the runtime that need Node: task hosts, and connections to user-defined functions.
export { packWhole } from './batch-codec.ts';
export type {
  HostEnd,
  HostLink,
  HostLinkEvents,
  HostLocation,
  RowsForTasks,
  ToHostMessage,
} from './host-link.ts';
export { HOST_CHECK_MS, HostPool, LOCAL_HOSTS } from './host-pool.ts';
export type { HostPoolOptions } from './host-pool.ts';
export type { FromHost, HostData, RowsEntry } from './protocol.ts';
export { topicsOf } from './task-start.ts';
export { openThread } from './thread-link.ts';
export type { LocalHostLink, OpenLocalHost } from './thread-link.ts';
export type {
  FollowStates,
  HostedAlerts,
  HostedSideloadSources,
  HostedDatabase,
  HostedLoopback,
  HostedSideloadTree,
  HostedTaskServices,
  SideloadDocuments,
  StateListener,
} from './hosted-services.ts';
export { udfConnector } from './udf-connector.ts';
export type { UdfFunctionConfig } from './udf-connector.ts';
