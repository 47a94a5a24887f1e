// Checks that a definition is the last acknowledged one, or one that was sent since and may have
// been made. A refused change is nowhere, and both tables of a change have it, or neither.
import type { Metadata } from '../../../../packages/engine/src/store/metadata.ts';
import type { TaskRecord } from '../../../../packages/engine/src/store/records.ts';
import type { TaskVersionsRecord } from '../../../../packages/engine/src/tasks/task-versions.ts';
import type { Run } from '../simulate.ts';
import { definitionScript } from '../workload/tasks.ts';

export function definitions({ instances, model }: Run): string | undefined {
  for (const instance of instances) {
    // Copies may be behind; the leader is not.
    const copy = instance?.serving === undefined ? undefined : instance.role?.copy;
    if (copy === undefined) continue;
    for (const id of model.definitions.keys()) {
      const allowed = model.allowed(id);
      const [record, version] = shown(copy, id);
      if (record !== version)
        return `${instance?.name} shows ${id} as ${value(record)} and ${value(version)}`;
      const fits = allowed.some(
        (value) => (value === undefined ? undefined : definitionScript(value)) === record,
      );
      if (!fits)
        return `${instance?.name} shows ${id} as ${value(record)}, not ${allowed.map((each) => each?.slice(0, 20)).join(' or ')}`;
    }
  }
  return undefined;
}

/** At the end: all instances have the same. */
export function sameDefinitions({ instances, model }: Run): string | undefined {
  for (const id of model.definitions.keys()) {
    const values = instances.flatMap((instance) => {
      const copy = instance?.role?.copy;
      return copy === undefined ? [] : [shown(copy, id).map(value).join(' ')];
    });
    if (new Set(values).size > 1) return `copies have ${id} as ${values.join(', ')}`;
  }
  return undefined;
}

/** Its script as the record says it, and its newest version. */
function shown(copy: Metadata, id: string): readonly [string | undefined, string | undefined] {
  const record = copy.table<TaskRecord>('tasks').get(id);
  const versions = copy.table<TaskVersionsRecord>('task-versions').get(id);
  return [record?.script, versions?.versions.at(-1)?.script];
}

/** A one-line description of a script. */
function value(script: string | undefined): string {
  return script === undefined ? 'absent' : (/'([^']{1,20})/.exec(script)?.[1] ?? script);
}
