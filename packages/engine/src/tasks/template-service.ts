// Templates: scripts from which tasks are created. A change of one applies to all its tasks, or not
// at all.
import { formatRfc3339, InvalidRequest, Conflict, NotFound } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { ChangeLock } from './change-lock.ts';
import type { EdgeType } from '@tidemark/pipeline';
import type { BuildEnvironment } from './definition.ts';
import { checkType, defineTemplate } from './definition.ts';
import { idOrRandom } from '../ids.ts';
import type { Table } from '../store/table.ts';
import type { TemplateRecord } from '../store/records.ts';
import type { TaskService } from './task-service.ts';

export type TemplateInput = {
  readonly id?: string | undefined;
  /** The type that the client expects. */
  readonly type?: EdgeType | undefined;
  readonly script?: string | undefined;
};

export type TemplateServiceOptions = {
  readonly templates: Table<TemplateRecord>;
  readonly tasks: TaskService;
  readonly lock: ChangeLock;
  readonly environment: () => BuildEnvironment;
  readonly clock: Clock;
};

export class TemplateService {
  readonly #options: TemplateServiceOptions;

  constructor(options: TemplateServiceOptions) {
    this.#options = options;
  }

  require(id: string): TemplateRecord {
    const record = this.#options.templates.get(id);
    if (record === undefined)
      throw new NotFound(`no template exists with the id ${JSON.stringify(id)}`);
    return record;
  }

  get(id: string): TemplateRecord | undefined {
    return this.#options.templates.get(id);
  }

  all(): Iterable<TemplateRecord> {
    return this.#options.templates.values();
  }

  async define(input: TemplateInput): Promise<TemplateRecord> {
    const { templates, lock, environment } = this.#options;
    const id = idOrRandom(input.id ?? '', 'template');
    return lock.whole(async () => {
      if (templates.has(id))
        throw new InvalidRequest(`template ${JSON.stringify(id)} already exists`);
      const script = input.script ?? '';
      // As recorded, an absent script is reported as a script without a source.
      if (script === '') throw new InvalidRequest('invalid task type: invalid');
      const { type } = defineTemplate(script, environment());
      checkType(input.type, type);
      const now = this.#now();
      const record = { id, type, script, error: '', created: now, modified: now };
      await templates.put(id, record);
      return record;
    });
  }

  /** Changes a template and all its tasks, or nothing. */
  async patch(id: string, input: TemplateInput, user = ''): Promise<TemplateRecord> {
    const { templates, tasks, lock, environment } = this.#options;
    return lock.whole(async () => {
      const before = templates.get(id);
      if (before === undefined)
        throw new NotFound(`template does not exist, cannot update: ${JSON.stringify(id)}`);
      const newId =
        input.id === undefined || input.id === '' ? id : idOrRandom(input.id, 'template');
      if (newId !== id && templates.has(newId)) {
        throw new Conflict('failed to create new template during ID change: object already exists');
      }
      const script =
        input.script === undefined || input.script === '' ? before.script : input.script;
      const { type } = defineTemplate(script, environment());
      checkType(input.type, type);
      const after = { ...before, id: newId, type, script, modified: this.#now() };
      await tasks.followTemplate(before, after, user);
      return after;
    });
  }

  /** Deletes a template; its tasks keep their script and continue until they are disabled. */
  async delete(id: string): Promise<void> {
    const { lock, templates } = this.#options;
    await lock.whole(() => templates.remove(id));
  }

  #now(): string {
    return formatRfc3339(this.#options.clock.now());
  }
}
