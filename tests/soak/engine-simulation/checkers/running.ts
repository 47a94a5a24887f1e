// Checks that the leader runs what is stored: a task without a pending request runs exactly if it
// exists and is enabled.
import type { TaskRecord } from '../../../../packages/engine/src/store/records.ts';
import type { Run } from '../simulate.ts';
import { CRASH } from '../world/simulated-host.ts';

export function running({ instances, model }: Run): string | undefined {
  for (const instance of instances) {
    const engine = instance?.serving;
    const records = instance?.role?.copy?.table<TaskRecord>('tasks');
    if (engine === undefined || records === undefined) continue;
    for (const [id, changes] of model.definitions) {
      const last = changes.at(-1)?.outcome;
      if (last === 'under way' || last === 'unknown') continue;
      const { status, error = '' } = records.get(id) ?? {};
      const problem = engine.problemOf(id);
      if (error !== '' || problem?.includes(CRASH) === true) continue;
      if ((status === 'enabled') !== (problem === undefined))
        return `${id} is ${status ?? 'absent'} and ${problem ?? 'runs'} after a change was ${last}`;
    }
  }
  return undefined;
}
