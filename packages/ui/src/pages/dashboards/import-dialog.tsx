// Imports a dashboard from a file or from text, and lists what will be left out before it is
// stored.
import { useSignal } from '@preact/signals';

import { draft } from '../../app/stored.ts';
import { useResource } from '../../api/use-resource.ts';
import { addDashboard } from '../../dashboards/add.ts';
import { importDashboard } from '../../dashboards/import/import.ts';
import type { Imported } from '../../dashboards/import/import.ts';
import type { Dashboard } from '../../dashboards/model.ts';
import { Button } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { SelectField, TextArea } from '../../design/field.tsx';
import { Notice } from '../../design/states.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

type Read = { readonly imported: Imported } | { readonly problem: string };

function read(text: string): Read | undefined {
  if (text.trim() === '') return undefined;
  try {
    const imported = importDashboard(JSON.parse(text));
    return imported === undefined ? { problem: t.importProblem } : { imported };
  } catch (error) {
    return { problem: t.importSyntax(error instanceof Error ? error.message : String(error)) };
  }
}

/** Whether a query needs a database. */
const needsDatabase = ({ database, cells }: Dashboard): boolean =>
  database === '' && cells.some(({ queries }) => queries.some((query) => query.database === ''));

export function ImportDialog({ onClose }: { readonly onClose: () => void }) {
  const text = draft('dashboard.import', '');
  const database = useSignal('');
  const isBusy = useSignal(false);
  const databases = useResource(() => schemaSource.databases(), []);
  const found = read(text.value);
  const imported = found !== undefined && 'imported' in found ? found.imported : undefined;
  const isMissing =
    imported !== undefined && database.value === '' && needsDatabase(imported.dashboard);
  const add = async (): Promise<void> => {
    if (imported === undefined) return;
    const { dashboard } = imported;
    isBusy.value = true;
    await addDashboard({
      ...dashboard,
      title: dashboard.title === '' ? t.untitled : dashboard.title,
      database: database.value === '' ? dashboard.database : database.value,
    });
    text.value = '';
    onClose();
  };
  return (
    <Dialog
      title={t.import}
      isWide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button
            kind="primary"
            isBusy={isBusy.value}
            disabled={imported === undefined || isMissing}
            onClick={() => void add()}
          >
            {t.importAction}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p>{t.importHint}</p>
        <label class="field">
          <span class="label">{t.importFile}</span>
          <input
            type="file"
            accept=".json,application/json"
            class="input"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              void file?.text().then((content) => (text.value = content));
            }}
          />
        </label>
        <TextArea
          label={t.importPaste}
          rows={6}
          value={text.value}
          onInput={(next) => (text.value = next)}
        />
        {found !== undefined && 'problem' in found ? (
          <Notice kind="bad">{found.problem}</Notice>
        ) : null}
        {imported === undefined ? null : <Findings imported={imported} />}
        <SelectField
          label={t.database}
          problem={databases.error.value?.message}
          hint={isMissing ? t.importDatabase : t.databaseHint}
          value={database.value}
          options={[
            { value: '', label: imported?.dashboard.database ?? '' },
            ...(databases.value.value ?? []),
          ]}
          onChange={(name) => (database.value = name)}
        />
      </div>
    </Dialog>
  );
}

function Findings({ imported }: { readonly imported: Imported }) {
  const { source, dashboard, leftOut } = imported;
  return (
    <>
      <Notice kind="good">
        {t.importTaken(source, dashboard.cells.length, dashboard.variables.length)}
        {leftOut.length === 0 ? ` ${t.importNothing}` : ''}
      </Notice>
      {leftOut.length === 0 ? null : (
        <Notice kind="warn">
          <strong>{t.importLeftOut}</strong>
          <ul class="left-out">
            {leftOut.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  );
}
