// Public face of @tidemark/cluster: the state that several engines share, and a local cluster of
// them.
export { betweenLeaders } from './between-leaders.ts';
export { NatsCoordinator } from './nats-coordinator.ts';
export type { CoordinatorOptions } from './nats-coordinator.ts';
export { MemberThread } from './member-thread.ts';
export type { MemberThreadOptions } from './member-thread.ts';
export type { Member, MemberRecord, MemberReport, MembershipEvents } from './membership.ts';
export { MessageLog } from './message-log.ts';
export { Superseded } from './coordinator.ts';
export type { Coordinator, LogRecord, SharedLog, SharedRegister } from './coordinator.ts';
export {
  localClusterStatus,
  startLocalCluster,
  stopLocalCluster,
} from './local-cluster/local-cluster.ts';
export type { InstanceStatus, LocalClusterStatus } from './local-cluster/local-cluster.ts';
