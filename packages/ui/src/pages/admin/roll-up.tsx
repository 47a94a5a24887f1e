// New continuous queries: a roll-up composed from choices, with an editable statement.
import { useSignal } from '@preact/signals';
import { formatIdentifier } from '@tidemark/influxql';

import { useResource } from '../../api/use-resource.ts';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { SelectField, TextArea, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { perform } from './statements.tsx';

const t = texts.admin;

const FUNCTIONS = ['mean', 'min', 'max', 'sum', 'count', 'last'];
const WINDOWS = ['1m', '5m', '15m', '1h', '1d'];

const name = draft('admin.rollup.name', '');
const changed = draft('admin.rollup.text', '');

export function RollUp({ onMade }: { readonly onMade: () => void }) {
  const databases = useResource(() => schemaSource.databases(), []);
  const database = useSignal('');
  const measurement = useSignal('');
  const measure = useSignal('mean');
  const window = useSignal('1h');
  const policy = useSignal('');
  const chosen = database.value;
  const measurements = useResource(
    () => (chosen === '' ? Promise.resolve([]) : schemaSource.measurements(chosen)),
    [chosen],
  );
  const policies = useResource(
    () => (chosen === '' ? Promise.resolve([]) : schemaSource.policies(chosen)),
    [chosen],
  );
  const isChosen = chosen !== '' && measurement.value !== '';
  const into =
    policy.value === ''
      ? formatIdentifier(`${measurement.value}_${window.value}`)
      : `${formatIdentifier(chosen)}.${formatIdentifier(policy.value)}.:MEASUREMENT`;
  const generated = isChosen
    ? `SELECT ${measure.value}(*) INTO ${into} FROM ${formatIdentifier(measurement.value)} GROUP BY time(${window.value}), *`
    : '';
  const text = changed.value === '' ? generated : changed.value;
  const isUsable = chosen !== '' && name.value.trim() !== '' && text.trim() !== '';
  const statement = `CREATE CONTINUOUS QUERY ${formatIdentifier(name.value.trim())} ON ${formatIdentifier(chosen)} BEGIN ${text} END`;
  return (
    <Panel title={t.newContinuous}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isUsable) return;
          void perform(statement, t.created(name.value)).then((isMade) => {
            if (!isMade) return;
            name.value = '';
            changed.value = '';
            onMade();
          });
        }}
      >
        <p class="muted">{t.newContinuousHint}</p>
        <div class="form-grid">
          <TextField label={t.name} value={name.value} onInput={(next) => (name.value = next)} />
          <SelectField
            label={t.database}
            problem={databases.error.value?.message}
            value={chosen}
            options={[{ value: '', label: t.chooseDatabase }, ...(databases.value.value ?? [])]}
            onChange={(next) => (database.value = next)}
          />
          <SelectField
            label={t.measurement}
            problem={measurements.error.value?.message}
            value={measurement.value}
            options={[{ value: '', label: t.choose }, ...(measurements.value.value ?? [])]}
            onChange={(next) => (measurement.value = next)}
          />
          <SelectField
            label={t.measure}
            value={measure.value}
            options={FUNCTIONS}
            onChange={(next) => (measure.value = next)}
          />
          <SelectField
            label={t.every}
            value={window.value}
            options={WINDOWS}
            onChange={(next) => (window.value = next)}
          />
          <SelectField
            label={t.into}
            problem={policies.error.value?.message}
            value={policy.value}
            options={[
              { value: '', label: t.intoMeasurement(`${measurement.value}_${window.value}`) },
              ...(policies.value.value ?? []),
            ]}
            onChange={(next) => (policy.value = next)}
          />
        </div>
        <TextArea
          label={t.statement}
          rows={3}
          value={text}
          onInput={(next) => (changed.value = next)}
        />
        <div class="row">
          <Button type="submit" icon="plus" disabled={!isUsable}>
            {t.create}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
