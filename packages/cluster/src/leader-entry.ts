// The entry of the register that says who leads.
import type { SharedRegister } from './coordinator.ts';

export type LeaderRecord = {
  /** '' when the last one has left. */
  readonly id: string;
  readonly url: string;
  /** Counts the leaders: a fencing token. */
  readonly term: number;
  /** Whether it serves already. */
  readonly isServing: boolean;
  /** Of what is written: every instance that has been a member since it rose knows this level. */
  readonly level: number;
};

export type LeaderEntry = { readonly record: LeaderRecord; readonly revision: number };

export const LEADER = 'leader';

/** Of records and messages of instances that do not speak of levels. */
export const FIRST_LEVEL = 1;

export async function readLeader(register: SharedRegister): Promise<LeaderEntry | undefined> {
  const entry = await register.get(LEADER);
  if (entry === undefined) return undefined;
  const record = JSON.parse(entry.text) as LeaderRecord;
  return { record: { ...record, level: record.level ?? FIRST_LEVEL }, revision: entry.revision };
}

/** As it is left behind by who has led. */
export function vacant({ term, level }: LeaderRecord): LeaderRecord {
  return { id: '', url: '', term, isServing: false, level };
}
