// Runs tasks from the start of an engine to its stop: they continue from saved states, receive
// points, and are checked and saved periodically.
import type { OpenParts } from '@tidemark/core';
import { HOST_CHECK_MS } from '@tidemark/runtime/host';
import type { PointLog } from './shared-log/point-log.ts';
import { SyncedStates } from './cluster/synced-states.ts';
import { HAND_OVER_MS } from './limits.ts';
import type { Stores } from './open-stores.ts';
import type { TaskParts } from './open-tasks.ts';
import { Ticker } from './ticker.ts';

/** Starts enabled tasks; at the end, tasks and their outputs settle, and states are saved. */
export async function resumeTasks(
  stores: Stores,
  { starts, executor, router, snapshots }: TaskParts,
  service: { readonly isListening: boolean },
  parts: OpenParts,
): Promise<void> {
  await starts.resumeEnabled();
  // Tasks that were never started must keep their saved state.
  const { stop } = stores;
  parts.add(async () => {
    await executor.settle(service.isListening ? stop.leftFor('points') : 0);
    await router.drained();
    await executor.settleOutputs(executor.units(), stop.leftFor('outputs'));
    snapshots.endWithin(stop.leftFor('states'));
    stop.areStatesSaved = await snapshots.saveAll(executor);
  });
}

/** In a cluster: tasks get new points as they arrive, and read those since their saved states. */
export function feedPoints(
  { shared }: Stores,
  { router, balance }: TaskParts,
  parts: OpenParts,
): void {
  if (shared === undefined) return;
  const { points } = shared;
  parts.add(() => points.close());
  points.open((batch) => router.dispatch(batch));
  balance?.open();
}

/**
 * Number of the last record of the log of points that the saved states of all tasks contain; a task
 * without one needs everything since it began.
 */
function containedThrough(
  points: PointLog,
  { executor, snapshots }: Pick<TaskParts, 'executor' | 'snapshots'>,
): number {
  const saved = executor
    .streamUnits()
    .map((unit) => snapshots.sequenceOf(unit) ?? unit.source?.begin);
  return saved.reduce<number>((least, each) => Math.min(least, each ?? least), points.dispatched);
}

/** Starts periodic work while tasks run. */
export function keepTasks(
  { config, clock, shared, stop }: Stores,
  { executor, hosts, snapshots, balance, subscriptions }: TaskParts,
  parts: OpenParts,
): void {
  const every = (intervalMs: number, work: () => Promise<void> | void): void => {
    const ticker = new Ticker(clock, intervalMs, work);
    parts.add(() => ticker.close());
  };
  every(1000, () => {
    executor.measure();
    balance?.measure();
    subscriptions.checkInstances();
  });
  if (hosts !== undefined) every(HOST_CHECK_MS, () => hosts.check());
  if (shared !== undefined) {
    const synced = new SyncedStates(clock, config.cluster.syncIntervalMs);
    every(config.cluster.snapshotIntervalMs, async () => {
      await snapshots.saveAll(executor);
      // An instance that no longer leads, or gives up the lead, does not know which tasks continue
      // with the next leader: also those whose hosts end meanwhile.
      if (!shared.mayAct() || shared.role.aborted) return;
      const through = containedThrough(shared.points, { executor, snapshots });
      shared.points.forget(synced.saved(through));
    });
  } else {
    const { snapshotIntervalMs } = config.task;
    if (snapshotIntervalMs > 0)
      every(snapshotIntervalMs, async () => {
        await snapshots.saveAll(executor);
      });
  }
  parts.add(() => {
    snapshots.endWithin(HAND_OVER_MS);
    executor.endPointsAfter(stop.leftFor('writes'));
  });
}
