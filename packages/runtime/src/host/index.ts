// What of the runtime needs Node: task hosts, and connections to user-defined functions.
export { HOST_CHECK_MS, HostPool } from './host-pool.ts';
export type { HostPoolOptions } from './host-pool.ts';
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
