// The machine of a simulation: a disk whose syncs take as long as the scheduler decides and may
// fail, and power failures.
import { randomNumbers, SimulatedCrash, SimulatedDisk } from '../../simulated-disk.ts';
import type { Scheduler } from '../scheduler.ts';
import type { SyncedThing } from '../workload/operations.ts';

/** Thrown by every operation on a machine that is off. */
export const MachineOff = SimulatedCrash;

export type Machine = {
  readonly disk: SimulatedDisk;
  /** Whether a sync was made to fail since the machine was switched on. */
  readonly hasFailed: boolean;
  /** Makes the next syncs fail. */
  failSyncs(of: SyncedThing, count: number): void;
  /** Ends the machine. Returns the machine after its restart. */
  crash(kind: 'power-cut' | 'kill'): Machine;
};

export function newMachine(scheduler: Scheduler, disk = new SimulatedDisk()): Machine {
  let hasFailed = false;
  disk.gate = (kind, path) => scheduler.wait(`${kind} of ${path.slice('/data/'.length)}`);
  return {
    disk,
    get hasFailed() {
      return hasFailed;
    },
    failSyncs: (of, count) => {
      hasFailed = true;
      if (of === 'files') disk.failSyncs += count;
      else disk.failDirectorySyncs += count;
    },
    crash: (kind) => {
      disk.crashAt = disk.operations;
      const seed = scheduler.pick(1 << 30);
      const left = kind === 'kill' ? disk.afterKill() : disk.afterCrash(randomNumbers(seed));
      return newMachine(scheduler, left);
    },
  };
}
