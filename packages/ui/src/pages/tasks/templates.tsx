// Templates, and a form made of their vars for a task of one.
import { useSignal } from '@preact/signals';
import type { Template } from '@tidemark/client';
import { useState } from 'preact/hooks';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { ForAdmins } from '../../app/for-admins.tsx';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import { printVar, readVar } from './var-text.ts';

const t = texts.tasks;

export function TemplatePanel({
  templates,
  onMade,
}: {
  readonly templates: readonly Template[];
  readonly onMade: () => void;
}) {
  const chosen = useSignal<Template | undefined>(undefined);
  const close = (): void => {
    chosen.value = undefined;
  };
  return (
    <Panel title={t.templates} isFlush>
      <Table
        label={t.templates}
        rows={templates}
        rowKey={({ id }) => id}
        columns={[
          { label: t.template, cell: ({ id }) => id, sortBy: ({ id }) => id },
          { label: t.type, cell: ({ type }) => type },
          { label: t.vars, cell: ({ vars }) => Object.keys(vars).join(', ') },
          {
            label: t.actions,
            isActions: true,
            cell: (template) => (
              <ForAdmins>
                <Button isSmall icon="plus" onClick={() => (chosen.value = template)}>
                  {t.taskOf}
                </Button>
              </ForAdmins>
            ),
          },
        ]}
      />
      {chosen.value === undefined ? null : (
        <VarsForm
          template={chosen.value}
          onClose={close}
          onMade={() => {
            close();
            onMade();
          }}
        />
      )}
    </Panel>
  );
}

function VarsForm({
  template,
  onClose,
  onMade,
}: {
  readonly template: Template;
  readonly onClose: () => void;
  readonly onMade: () => void;
}) {
  const [given, setGiven] = useState<Readonly<Record<string, string>>>({});
  const id = useSignal('');
  const database = useSignal('');
  const problem = useSignal('');
  const { vars } = template;

  const make = async (): Promise<void> => {
    try {
      const read = Object.entries(given)
        .filter(([, text]) => text !== '')
        .map(([name, text]) => [name, readVar(vars[name]?.type ?? 'string', text)] as const);
      const [db = '', rp = 'autogen'] = database.value.split('.');
      await engine.createTask({
        id: id.value,
        'template-id': template.id,
        vars: Object.fromEntries(read),
        ...(db === '' ? {} : { dbrps: [{ db, rp }] }),
        status: 'enabled',
      });
      toast(t.saved(id.value));
      onMade();
    } catch (error) {
      problem.value = problemOf(error).message;
    }
  };

  return (
    <Dialog title={t.taskOfTemplate(template.id)} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        {problem.value === '' ? null : <Notice kind="bad">{problem.value}</Notice>}
        <TextField
          label={t.id}
          required
          autofocus
          value={id.value}
          onInput={(text) => (id.value = text)}
        />
        <TextField
          label={t.dbrps}
          placeholder="telegraf.autogen"
          value={database.value}
          onInput={(text) => (database.value = text)}
        />
        {Object.entries(vars).map(([name, { type, value, description = '' }]) => (
          <TextField
            key={name}
            label={`${name} (${type})`}
            hint={description === '' ? undefined : description}
            placeholder={printVar(type, value)}
            value={given[name] ?? ''}
            onInput={(text) => setGiven({ ...given, [name]: text })}
          />
        ))}
        <div class="row">
          <Button kind="primary" type="submit">
            {t.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
