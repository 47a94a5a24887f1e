// The script of a template: a new one, or a change for all its tasks.
import { useSignal } from '@preact/signals';
import type { Template } from '@tidemark/client';
import { useMemo } from 'preact/hooks';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import { toast } from '../../design/toasts.tsx';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.tasks;

const EXAMPLE = `// The measurement to watch.
var measurement = 'cpu'

// Critical above this value.
var limit = 90.0

stream
    |from()
        .measurement(measurement)
    |alert()
        .crit(lambda: "usage" > limit)
        .topic('alerts')
`;

export function TemplateDialog({
  template,
  onClose,
  onSaved,
}: {
  readonly template: Template | undefined;
  readonly onClose: () => void;
  readonly onSaved: () => void;
}) {
  const key = template?.id ?? '';
  const script = useMemo(() => draft(`template.${key}`, template?.script ?? EXAMPLE), [key]);
  const id = useSignal(key);
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const save = async (): Promise<void> => {
    isBusy.value = true;
    try {
      const saved =
        template === undefined
          ? await engine.createTemplate({ id: id.value, script: script.value })
          : await engine.changeTemplate(template.id, { script: script.value });
      script.value = template === undefined ? EXAMPLE : saved.script;
      toast(t.saved(saved.id));
      onSaved();
    } catch (error) {
      problem.value = problemOf(error).message;
    }
    isBusy.value = false;
  };
  return (
    <Dialog
      title={template === undefined ? t.templateNew : t.templateOf(template.id)}
      isWide
      onClose={onClose}
    >
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {template === undefined ? (
          <TextField
            label={t.template}
            required
            autofocus
            value={id.value}
            onInput={(text) => (id.value = text)}
          />
        ) : (
          <Notice>{t.templateHint}</Notice>
        )}
        <CodeEditor
          label={t.templateScript}
          language="template"
          value={script}
          lines={14}
          onRun={() => void save()}
        />
        {problem.value === '' ? null : <Notice kind="bad">{problem.value}</Notice>}
        <div class="row">
          <span class="grow" />
          <Button kind="primary" type="submit" isBusy={isBusy.value}>
            {template === undefined ? t.templateNew : t.save}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
