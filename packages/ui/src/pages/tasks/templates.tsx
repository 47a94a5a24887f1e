// Templates, and a form generated from their vars for tasks of a template.
import { useSignal } from '@preact/signals';
import type { Template } from '@tidemark/client';
import { useState } from 'preact/hooks';

import { engine } from '../../api/clients.ts';
import { problemOf } from '../../api/problem.ts';
import { ForAdmins } from '../../app/for-admins.tsx';
import { Button, IconButton } from '../../design/button.tsx';
import { ConfirmDialog, Dialog } from '../../design/dialog.tsx';
import { TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Empty, Notice } from '../../design/states.tsx';
import { Table } from '../../design/table.tsx';
import { toast } from '../../design/toasts.tsx';
import { texts } from '../../texts/texts.ts';
import { readSplit, SplitField } from './split-field.tsx';
import { TemplateDialog } from './template-dialog.tsx';
import { readVars, VarsFields } from './vars-fields.tsx';
import type { TypedVars } from './vars-fields.tsx';

const t = texts.tasks;

export function TemplatePanel({
  templates,
  onMade,
}: {
  readonly templates: readonly Template[];
  readonly onMade: () => void;
}) {
  const chosen = useSignal<Template | undefined>(undefined);
  const edited = useSignal<Template | 'new' | undefined>(undefined);
  const toRemove = useSignal<Template | undefined>(undefined);
  const close = (): void => {
    chosen.value = undefined;
    edited.value = undefined;
  };
  const remove = async (id: string): Promise<void> => {
    try {
      await engine.deleteTemplate(id);
      toast(t.removed(id));
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
    onMade();
  };
  return (
    <Panel
      title={t.templates}
      isFlush
      controls={
        <ForAdmins>
          <Button isSmall icon="plus" onClick={() => (edited.value = 'new')}>
            {t.templateNew}
          </Button>
        </ForAdmins>
      }
    >
      <Table
        empty={<Empty title={t.templatesNone}>{t.templatesNoneHint}</Empty>}
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
                </Button>{' '}
                <Button isSmall icon="edit" onClick={() => (edited.value = template)}>
                  {t.templateEdit}
                </Button>
                <IconButton
                  isSmall
                  icon="trash"
                  label={t.remove(template.id)}
                  onClick={() => (toRemove.value = template)}
                />
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
      {edited.value === undefined ? null : (
        <TemplateDialog
          template={edited.value === 'new' ? undefined : edited.value}
          onClose={close}
          onSaved={() => {
            close();
            onMade();
          }}
        />
      )}
      {toRemove.value === undefined ? null : (
        <ConfirmDialog
          title={t.templateRemoveTitle(toRemove.value.id)}
          action={t.removeAction}
          onClose={() => (toRemove.value = undefined)}
          onConfirm={() => {
            const id = toRemove.value?.id ?? '';
            toRemove.value = undefined;
            void remove(id);
          }}
        >
          {t.templateRemoveHint}
        </ConfirmDialog>
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
  const [given, setGiven] = useState<TypedVars>({});
  const id = useSignal('');
  const database = useSignal('');
  const split = useSignal('');
  const problem = useSignal('');
  const { vars } = template;

  const make = async (): Promise<void> => {
    try {
      const [db = '', rp = 'autogen'] = database.value.split('.');
      await engine.createTask({
        id: id.value,
        'template-id': template.id,
        vars: readVars(vars, given),
        split: readSplit(split.value),
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
        <SplitField value={split} />
        <VarsFields vars={vars} given={given} onInput={setGiven} />
        <div class="row">
          <Button kind="primary" type="submit">
            {t.create}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
