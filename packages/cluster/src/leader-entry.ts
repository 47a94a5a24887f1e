// The leader's entry in the register.
import type { SharedRegister } from './coordinator.ts';

export type LeaderRecord = {
  /** '' if the last leader has resigned. */
  readonly id: string;
  readonly url: string;
  /** Counts leaders; a fencing token. */
  readonly term: number;
  /** Whether the leader serves already. */
  readonly isServing: boolean;
  /** The format level of what is written; every member supports it. */
  readonly level: number;
};

export type LeaderEntry = { readonly record: LeaderRecord; readonly revision: number };

export const LEADER = 'leader';

/** The level of records and messages without a level. */
export const FIRST_LEVEL = 1;

export async function readLeader(register: SharedRegister): Promise<LeaderEntry | undefined> {
  const entry = await register.get(LEADER);
  if (entry === undefined) return undefined;
  const record = JSON.parse(entry.text) as LeaderRecord;
  return { record: { ...record, level: record.level ?? FIRST_LEVEL }, revision: entry.revision };
}

/** The entry that a leader leaves when it resigns. */
export function vacant({ term, level }: LeaderRecord): LeaderRecord {
  return { id: '', url: '', term, isServing: false, level };
}
