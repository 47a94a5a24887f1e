// What an instance and the thread that renews its lease say to each other.
import type { CoordinatorOptions } from './nats-coordinator.ts';
import type { LeaderRecord } from './leader-entry.ts';
import type { Member, MemberReport, MembershipOptions } from './membership.ts';

export type LeaseThreadData = {
  readonly coordinator: CoordinatorOptions;
  readonly leaseMs: number;
  readonly self: MembershipOptions['self'];
  /** One number: the end of the lease as leader in `leaseClockNs`; 0 when it does not lead. */
  readonly leaseUntil: SharedArrayBuffer;
  readonly report: MemberReport;
};

/** What is asked of the thread, by name. */
export type MemberCall =
  | { readonly name: 'start' | 'serve' | 'abdicate' | 'close' }
  | { readonly name: 'requestDrain' | 'forget'; readonly member: string };

export type ToLeaseThread =
  | { readonly kind: 'call'; readonly id: number; readonly call: MemberCall }
  | { readonly kind: 'drain' }
  /** Also the sign that the instance's own thread answers. */
  | { readonly kind: 'report'; readonly report: MemberReport };

/** What the thread knows. */
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
  /** A mistake of who has configured the instance. */
  readonly isInvalid: boolean;
};

/** Reports within a lease. */
export const REPORTS = 4;

/** The same in all threads of a process, and does not stop with it. */
export function leaseClockNs(): bigint {
  return process.hrtime.bigint();
}
