// The messages between an instance and the thread that renews its lease.
import type { CoordinatorOptions } from './nats-coordinator.ts';
import type { LeaderRecord } from './leader-entry.ts';
import type { Member, MemberReport, MembershipOptions } from './membership.ts';

export type LeaseThreadData = {
  readonly coordinator: CoordinatorOptions;
  readonly leaseMs: number;
  readonly self: MembershipOptions['self'];
  /**
   * Shared memory with one number: the end of the lease as leader, in `leaseClockNs`; 0 if the
   * instance does not lead.
   */
  readonly leaseUntil: SharedArrayBuffer;
  readonly report: MemberReport;
};

/** Requests to the thread, by name. */
export type MemberCall =
  | { readonly name: 'start' | 'serve' | 'retire' | 'abdicate' | 'close' }
  | { readonly name: 'requestDrain' | 'forget'; readonly member: string };

export type ToLeaseThread =
  | { readonly kind: 'call'; readonly id: number; readonly call: MemberCall }
  | { readonly kind: 'drain' }
  /** Also shows that the instance's own thread answers. */
  | { readonly kind: 'report'; readonly report: MemberReport };

/** The state of the thread. */
export type MemberView = {
  readonly members: readonly Member[];
  readonly leader: LeaderRecord | undefined;
  readonly level: number;
  readonly problem: string | undefined;
};

export type FromLeaseThread = { readonly view: MemberView } & (
  | { readonly kind: 'answer'; readonly id: number; readonly failure?: CallFailure | undefined }
  | { readonly kind: 'elected'; readonly term: number }
  | { readonly kind: 'lost'; readonly reason: string }
  | { readonly kind: 'drained' | 'looked' }
  | {
      readonly kind: 'log';
      readonly level: 'info' | 'warn';
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
);

export type CallFailure = {
  readonly message: string;
  /** An error in the configuration of the instance. */
  readonly isInvalid: boolean;
};

/** Reports per lease. */
export const REPORTS = 4;

/** A clock that is the same in all threads of a process. */
export function leaseClockNs(): bigint {
  return process.hrtime.bigint();
}
