// Saves a try-out as a file of a task test.
import { useSignal } from '@preact/signals';
import type { TryOut } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { CheckField, TextField } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';
import { download } from '../../app/download.ts';

const t = texts.tryOut;

const KINDS = ['events', 'writes', 'requests'] as const;

export function SaveDialog({
  tried,
  node,
  onClose,
}: {
  readonly tried: TryOut;
  /** The selected node. */
  readonly node: string;
  readonly onClose: () => void;
}) {
  const name = useSignal('');
  const expects = useSignal<ReadonlySet<string>>(new Set(['events']));
  const problem = useSignal('');
  const isBusy = useSignal(false);
  const check = (head: string, label: string) => (
    <CheckField
      key={head}
      label={label}
      isChecked={expects.value.has(head)}
      onChange={(isChecked) => {
        const next = new Set(expects.value);
        if (isChecked) next.add(head);
        else next.delete(head);
        expects.value = next;
      }}
    />
  );
  const save = async (): Promise<void> => {
    isBusy.value = true;
    try {
      const text = await engine.tryOutTest({
        ...tried,
        name: name.value,
        expects: [...expects.value],
      });
      const file = name.value.trim().replaceAll(/[^\w.-]+/g, '-') || 'try-out';
      download(new Blob([text], { type: 'text/plain' }), `${file}.task-test`);
      onClose();
    } catch (error) {
      problem.value = problemOf(error).message;
    }
    isBusy.value = false;
  };
  return (
    <Dialog title={t.save} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {problem.value === '' ? null : <Notice kind="bad">{problem.value}</Notice>}
        <p class="muted">{t.saveHint}</p>
        <TextField
          label={t.saveName}
          required
          autofocus
          value={name.value}
          onInput={(text) => (name.value = text)}
        />
        <fieldset class="stack">
          <legend>{t.expects}</legend>
          {KINDS.map((kind) => check(kind, t.expectKinds[kind]))}
          {node === '' ? null : check(`emits ${node}`, t.expectEmits(node))}
        </fieldset>
        <Button kind="primary" type="submit" isBusy={isBusy.value} icon="download">
          {t.saveAction}
        </Button>
      </form>
    </Dialog>
  );
}
