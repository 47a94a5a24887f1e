// The definition of a task from a template: its vars and parts. The script belongs to the template.
import { useSignal } from '@preact/signals';
import type { Task, Template } from '@tidemark/client';
import { useMemo } from 'preact/hooks';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { Failure, Loading, Notice } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import { redefine } from './redefine.ts';
import { printSplit, readSplit, SplitField } from './split-field.tsx';
import { printVars, readVars, VarsFields } from './vars-fields.tsx';

const t = texts.tasks;

export function OfTemplate({
  task,
  onSaved,
}: {
  readonly task: Task;
  readonly onSaved: () => void;
}) {
  const id = task['template-id'] ?? '';
  const found = useResource(() => engine.template(id), [id]);
  const template = found.value.value;
  if (template === undefined) {
    return found.error.value === undefined ? (
      <Loading rows={4} />
    ) : (
      <Failure error={found.error.value} onRetry={() => void found.reload()} />
    );
  }
  return <VarsOfTask task={task} template={template} onSaved={onSaved} />;
}

function VarsOfTask({
  task,
  template,
  onSaved,
}: {
  readonly task: Task;
  readonly template: Template;
  readonly onSaved: () => void;
}) {
  const stored = printVars(task.vars ?? {});
  const given = useMemo(() => draft(`task-vars.${task.id}`, stored), [task.id]);
  const split = useSignal(printSplit(task.split));
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const isChanged = JSON.stringify(given.value) !== JSON.stringify(stored);
  const save = async (): Promise<void> => {
    isBusy.value = true;
    try {
      const saved = await redefine(task, {
        vars: readVars(template.vars, given.value),
        split: readSplit(split.value),
      });
      given.value = printVars(saved.vars ?? {});
      problem.value = '';
      toast(t.saved(task.id));
      onSaved();
    } catch (error) {
      problem.value = problemOf(error).message;
    }
    isBusy.value = false;
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Notice>{t.ofTemplate(template.id)}</Notice>
      {problem.value === '' ? null : <Notice kind="bad">{problem.value}</Notice>}
      <VarsFields
        vars={template.vars}
        given={given.value}
        onInput={(next) => (given.value = next)}
      />
      <SplitField value={split} />
      <pre class="built">{task.script}</pre>
      <div class="row">
        <span class="grow" />
        {isChanged ? <Button onClick={() => (given.value = stored)}>{t.discard}</Button> : null}
        <Button kind="primary" type="submit" isBusy={isBusy.value}>
          {t.save}
        </Button>
      </div>
    </form>
  );
}
