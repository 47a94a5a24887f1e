// Asks for the name and the database of a new dashboard: nothing is stored without a name.
import { useSignal } from '@preact/signals';

import { services } from '../../api/connection.ts';
import { useResource } from '../../api/use-resource.ts';
import { addDashboard } from '../../dashboards/add.ts';
import { EMPTY_DASHBOARD } from '../../dashboards/model.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

export function NewDialog({ onClose }: { readonly onClose: () => void }) {
  const title = useSignal('');
  const database = useSignal('');
  const isBusy = useSignal(false);
  const hasDatabases = services.tsdb.value.state !== 'absent';
  const databases = useResource(
    () => (hasDatabases ? schemaSource.databases() : Promise.resolve([])),
    [hasDatabases],
  );
  const hasTitle = title.value.trim() !== '';
  const create = async (): Promise<void> => {
    isBusy.value = true;
    await addDashboard(
      { ...EMPTY_DASHBOARD, title: title.value.trim(), database: database.value },
      true,
    );
    onClose();
  };
  return (
    <Dialog
      title={t.add}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button
            kind="primary"
            isBusy={isBusy.value}
            disabled={!hasTitle}
            onClick={() => void create()}
          >
            {t.create}
          </Button>
        </>
      }
    >
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (hasTitle) void create();
        }}
      >
        <TextField label={t.title} value={title.value} onInput={(text) => (title.value = text)} />
        {hasDatabases ? (
          <SelectField
            label={t.database}
            hint={t.databaseHint}
            problem={databases.error.value?.message}
            value={database.value}
            options={['', ...(databases.value.value ?? [])]}
            onChange={(name) => (database.value = name)}
          />
        ) : null}
      </form>
    </Dialog>
  );
}
