// For simulations of a cluster: a coordinator in memory, and membership without a thread of its
// own.
export { Membership } from '../membership.ts';
export { MemoryCoordinator, MemoryServer } from './memory-coordinator.ts';
export type { Network } from './memory-coordinator.ts';
