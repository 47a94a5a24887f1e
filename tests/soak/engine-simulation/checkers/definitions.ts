// A definition is what was acknowledged last, or what was sent since and may have been made. What
// was refused is nowhere, and both tables of a change have it, or neither.
import type { Metadata } from '../../../../packages/engine/src/store/metadata.ts';
import type { Run } from '../simulate.ts';

export function definitions({ instances, model }: Run): string | undefined {
  for (const instance of instances) {
    // Copies may be behind; the leader is not.
    const copy = instance?.serving === undefined ? undefined : instance.role?.copy;
    if (copy === undefined) continue;
    for (const id of model.definitions.keys()) {
      const allowed = model.allowed(id);
      const [template, task] = shown(copy, id);
      if (template !== task) return `${instance?.name} shows ${id} as ${template} and ${task}`;
      if (!allowed.includes(template))
        return `${instance?.name} shows ${id} as ${template}, not ${allowed.join(' or ')}`;
    }
  }
  return undefined;
}

/** At the end: all instances have the same. */
export function sameDefinitions({ instances, model }: Run): string | undefined {
  for (const id of model.definitions.keys()) {
    const values = instances.flatMap((instance) => {
      const copy = instance?.role?.copy;
      return copy === undefined ? [] : [shown(copy, id).join(' ')];
    });
    if (new Set(values).size > 1) return `copies have ${id} as ${values.join(', ')}`;
  }
  return undefined;
}

function shown(copy: Metadata, id: string): readonly [string | undefined, string | undefined] {
  return [copy.table<string>('templates').get(id), copy.table<string>('tasks').get(id)];
}
