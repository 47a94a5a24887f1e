// The definition of a task: id, databases, parts, script. The draft is kept until it is saved or
// discarded.
import { useSignal } from '@preact/signals';
import type { Task } from '@tidemark/client';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { engine } from '../../api/clients.ts';
import { problemOf, useRecovery } from '../../api/problem.ts';
import type { Problem } from '../../api/problem.ts';
import { draft } from '../../app/stored.ts';
import { session } from '../../api/session.ts';
import { ForAdmins } from '../../app/for-admins.tsx';
import { Button } from '../../design/button.tsx';
import { CheckField, TextField } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { CodeEditor } from '../../editor/code-editor.tsx';
import type { EditorHandle } from '../../editor/codemirror.ts';
import { texts } from '../../texts/texts.ts';
import { printDbrps, readDbrps } from './dbrps.ts';
import { Outline } from './outline.tsx';
import { redefine } from './redefine.ts';
import { printSplit, readSplit, SplitField } from './split-field.tsx';
import { UnknownNames, useUnknownNames } from './unknown.tsx';

const t = texts.tasks;

const EXAMPLE = `stream
    |from()
        .measurement('cpu')
        .groupBy('host')
    |alert()
        .id('{{ index .Tags "host" }}')
        .crit(lambda: "usage_user" > 90.0)
        .topic('cpu')
`;

export function Definition({
  task,
  onSaved,
}: {
  readonly task: Task | undefined;
  readonly onSaved: (id: string) => void;
}) {
  const key = task?.id ?? '';
  const script = useMemo(() => draft(`task.${key}`, task?.script ?? EXAMPLE), [key]);
  const id = useSignal(key);
  const dbrps = useSignal(printDbrps(task?.dbrps ?? []));
  const split = useSignal(printSplit(task?.split));
  const isEnabled = useSignal(task === undefined || task.status === 'enabled');
  const problem = useSignal<Problem | undefined>(undefined);
  useRecovery(problem);
  const isBusy = useSignal(false);
  const editor = useRef<EditorHandle>();
  const isChanged = task !== undefined && script.value !== task.script;

  const unknown = useUnknownNames(script, dbrps);
  // Marks end when the text is changed.
  const mark = (): void =>
    editor.current?.mark([
      ...unknown.value.script,
      ...(problem.peek()?.diagnostics ?? []).map(({ span, message, hint }) => ({
        ...span,
        message,
        hint,
        severity: 'error' as const,
      })),
    ]);
  useEffect(mark, [unknown.value]);
  const refused = (found: Problem | undefined): void => {
    problem.value = found;
    mark();
  };
  const save = async (): Promise<void> => {
    isBusy.value = true;
    const changed = {
      script: script.value,
      dbrps: readDbrps(dbrps.value),
      split: readSplit(split.value),
      status: isEnabled.value ? 'enabled' : 'disabled',
    } as const;
    try {
      if (task === undefined) {
        await engine.createTask({ id: id.value, ...changed });
        // The next new task starts with the example.
        script.value = EXAMPLE;
      } else {
        const saved = await redefine(task, changed);
        // As printed, so that it does not count as a change.
        script.value = saved.script;
      }
      refused(undefined);
      toast(t.saved(id.value));
      onSaved(id.value);
    } catch (error) {
      refused(problemOf(error));
    }
    isBusy.value = false;
  };

  const { isAdmin } = session.value;
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <div class="form-grid">
        <TextField
          label={t.id}
          value={id.value}
          required
          disabled={task !== undefined}
          onInput={(text) => (id.value = text)}
        />
        <TextField
          label={t.dbrps}
          value={dbrps.value}
          disabled={!isAdmin}
          placeholder="telegraf.autogen"
          hint={t.dbrpsHint}
          onInput={(text) => (dbrps.value = text)}
        />
        <SplitField value={split} disabled={!isAdmin} />
      </div>
      <div class="definition">
        <CodeEditor
          label={t.script}
          language="tickscript"
          value={script}
          lines={16}
          isReadOnly={!isAdmin}
          onRun={() => void save()}
          onReady={(handle) => {
            editor.current = handle;
            mark();
          }}
        />
        <Outline script={script} onChoose={(start, end) => editor.current?.select(start, end)} />
      </div>
      <UnknownNames
        found={unknown.value}
        onChoose={(start, end) => editor.current?.select(start, end)}
      />
      {problem.value === undefined ? null : (
        <Notice kind="bad">
          {problem.value.message}
          {problem.value.hint === undefined ? null : <p>{problem.value.hint}</p>}
        </Notice>
      )}
      <div class="row">
        <CheckField
          label={t.enabled}
          isChecked={isEnabled.value}
          disabled={!isAdmin}
          onChange={(isChecked) => (isEnabled.value = isChecked)}
        />
        <span class="grow" />
        <ForAdmins>
          {isChanged ? (
            <Button onClick={() => (script.value = task.script)}>{t.discard}</Button>
          ) : null}
          <Button onClick={() => editor.current?.format()}>{t.format}</Button>
          <Button kind="primary" type="submit" isBusy={isBusy.value}>
            {task === undefined ? t.create : t.save}
          </Button>
        </ForAdmins>
      </div>
    </form>
  );
}
