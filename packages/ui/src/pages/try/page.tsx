// Try out: runs a script on past data without defining it. Shows the output of each node, which
// alerts would fire, and why others would not.
import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { engine } from '../../api/clients.ts';
import { problemOf, useRecovery } from '../../api/problem.ts';
import { useResource } from '../../api/use-resource.ts';
import { useCommands } from '../../app/commands.ts';
import { PageHead } from '../../app/page-frame.tsx';
import { navigate, route, setParams } from '../../app/router.ts';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { SelectField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty, Loading, Notice } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { CodeEditor } from '../../editor/code-editor.tsx';
import type { EditorHandle } from '../../editor/codemirror.ts';
import { OutcomeView } from '../../try-out/outcome-view.tsx';
import { TryRun } from '../../try-out/try-run.ts';
import { texts } from '../../texts/texts.ts';
import { printDbrps, readDbrps } from '../tasks/dbrps.ts';
import { DataForm } from './data-form.tsx';
import { SaveDialog } from './save-dialog.tsx';
import * as state from './state.ts';
import './try.css';

const t = texts.tryOut;

export function Page() {
  const run = useMemo(() => new TryRun(), []);
  useRecovery(run.problem);
  const isSaving = useSignal(false);
  const editor = useRef<EditorHandle>();
  const node = route.value.params.get('node') ?? '';
  const start = (): void => {
    const tried = state.tried(readDbrps);
    if (tried !== undefined) void run.start(tried);
  };
  useEffect(() => () => run.cancel(), []);
  useCommands([
    { id: 'try-run', group: t.title, label: t.try, keys: 'r', run: start },
    { id: 'try-cancel', group: t.title, label: t.cancel, keys: 'x', run: () => run.cancel() },
  ]);
  const tried = isSaving.value ? state.tried(readDbrps) : undefined;
  const { shown, problem, isRunning } = run;
  return (
    <>
      <PageHead title={t.title}>
        <Button
          onClick={() => {
            draft('task.', '').value = state.script.value;
            navigate('tasks', { new: '1' });
          }}
        >
          {t.define}
        </Button>
        <Button icon="save" onClick={() => (isSaving.value = true)}>
          {t.save}
        </Button>
        {isRunning.value ? (
          <Button icon="stop" onClick={() => run.cancel()}>
            {t.cancel}
          </Button>
        ) : null}
        <Button kind="primary" icon="play" isBusy={isRunning.value} onClick={start}>
          {t.try}
        </Button>
      </PageHead>
      <div class="try-inputs">
        <Panel title={t.script} controls={<FromTask />}>
          <CodeEditor
            label={t.script}
            language="tickscript"
            value={state.script}
            lines={18}
            onRun={start}
            onReady={(handle) => (editor.current = handle)}
          />
        </Panel>
        <DataForm />
      </div>
      {problem.value === undefined ? null : (
        <Notice kind="bad">
          {problem.value.message}
          {problem.value.hint === undefined ? null : <p>{problem.value.hint}</p>}
        </Notice>
      )}
      {shown.value !== undefined ? (
        <OutcomeView shown={shown.value} node={node} onNode={(name) => setParams({ node: name })} />
      ) : isRunning.value ? (
        <Loading rows={8} />
      ) : (
        <section class="panel" aria-label={t.outcome}>
          <Empty title={t.notYet} icon="try">
            {t.notYetHint}
          </Empty>
        </section>
      )}
      {tried === undefined ? null : (
        <SaveDialog tried={tried} node={node} onClose={() => (isSaving.value = false)} />
      )}
    </>
  );
}

async function taskNames(): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { id } of engine.tasks({ fields: ['type'] })) names.push(id);
  return names;
}

/** Takes the script of a task, chosen here or named by the address. */
function FromTask() {
  const found = useResource(taskNames, []);
  const named = route.value.params.get('task') ?? '';
  const take = async (id: string): Promise<void> => {
    try {
      const task = await engine.task(id, { scriptFormat: 'raw' });
      state.script.value = task.script;
      // A script that names its databases must not be given others.
      const isNamed = /^\s*dbrp\s/m.test(task.script);
      state.dbrps.value = isNamed ? '' : printDbrps(task.dbrps);
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    setParams({ task: undefined });
  };
  useEffect(() => {
    if (named !== '') void take(named);
  }, [named]);
  const names = found.value.value ?? [];
  if (names.length === 0) return null;
  return (
    <SelectField
      label={t.fromTask}
      isLabelHidden
      value=""
      options={[{ value: '', label: t.chooseTask }, ...names]}
      onChange={(id) => {
        if (id !== '') void take(id);
      }}
    />
  );
}
