// Runs work on the shared state while no instance leads: the leader is asked to resign, the lease
// is held during the work, and then released. Nothing that the leader acknowledged is missing,
// because it stops in an orderly way.
import { messageOf, Unavailable } from '@tidemark/core';
import type { Clock } from '@tidemark/core';

import type { Coordinator } from './coordinator.ts';
import { FIRST_LEVEL, LEADER, readLeader, vacant } from './leader-entry.ts';
import type { LeaderEntry } from './leader-entry.ts';
import { DRAIN, RESIGN } from './membership.ts';

export type BetweenOptions = {
  readonly coordinator: Coordinator;
  readonly clock: Clock;
  readonly leaseMs: number;
  /** The holder of the lease during the work. */
  readonly id: string;
};

/**
 * Interval at which this checks whether the leader has resigned; shorter than that of instances.
 */
const LOOK_MS = 20;

/** How long a leader may take to save the states of its tasks. */
const RESIGN_LEASES = 20;

/** Renewals per lease. */
const RENEWALS = 4;

/**
 * Runs `work` while nobody leads. Its signal is aborted when the lease is lost; nothing may be
 * written afterwards. Throws `Unavailable` if the leader does not resign.
 */
export async function betweenLeaders<T>(
  options: BetweenOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { coordinator, clock, leaseMs } = options;
  let held = await takeLead(options);
  const lost = new AbortController();
  const ended = new AbortController();
  const renewing = (async () => {
    for (;;) {
      // The signal ends the pause.
      await clock.sleep(leaseMs / RENEWALS, ended.signal).catch(() => undefined);
      if (ended.signal.aborted) return;
      const { record, revision } = held;
      const next = await coordinator.register.change(LEADER, JSON.stringify(record), revision);
      if (next === undefined) return lost.abort(new Unavailable('an instance leads already'));
      held = { record, revision: next };
    }
  })().catch((error: unknown) => lost.abort(new Unavailable(messageOf(error))));
  try {
    return await work(lost.signal);
  } finally {
    ended.abort();
    await renewing;
    const { record, revision } = held;
    // The work is done; if the release fails, the lease expires.
    await coordinator.register
      .change(LEADER, JSON.stringify(vacant(record)), revision)
      .catch(() => undefined);
  }
}

async function takeLead({ coordinator, clock, leaseMs, id }: BetweenOptions): Promise<LeaderEntry> {
  const { register } = coordinator;
  const untilMs = clock.monotonicMs() + RESIGN_LEASES * leaseMs;
  let asked = vacant({ id: '', url: '', term: 0, isServing: false, level: FIRST_LEVEL });
  for (;;) {
    const entry = await readLeader(register);
    if (entry === undefined || entry.record.id === '') {
      const { term = 0, level = FIRST_LEVEL } = entry?.record ?? {};
      const record = { id, url: '', term: term + 1, isServing: false, level };
      const before = entry?.revision ?? 0;
      const revision = await register.change(LEADER, JSON.stringify(record), before);
      if (revision !== undefined) return { record, revision };
    } else if (entry.record.term !== asked.term) {
      // The same instance may be leading again.
      asked = entry.record;
      await register.put(`${DRAIN}.${asked.id}`, RESIGN);
    }
    if (clock.monotonicMs() > untilMs)
      throw new Unavailable(
        `instance ${asked.id} does not resign: check it with \`tidemark engine members\`, or stop it`,
      );
    await clock.sleep(LOOK_MS);
  }
}
