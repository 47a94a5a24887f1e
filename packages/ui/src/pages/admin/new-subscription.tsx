// New subscriptions: additional destinations for the writes of a retention policy.
import { useSignal } from '@preact/signals';
import { formatIdentifier, quoteString } from '@tidemark/influxql';

import { useResource } from '../../api/use-resource.ts';
import { draft } from '../../app/stored.ts';
import { Button } from '../../design/button.tsx';
import { SelectField, TextArea, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { texts } from '../../texts/texts.ts';
import { perform } from './statements.tsx';

const t = texts.admin;

const name = draft('admin.subscription.name', '');
const destinations = draft('admin.subscription.destinations', '');

export function NewSubscription({ onMade }: { readonly onMade: () => void }) {
  const databases = useResource(() => schemaSource.databases(), []);
  const database = useSignal('');
  const policy = useSignal('');
  const mode = useSignal('ALL');
  const chosen = database.value;
  const policies = useResource(
    () => (chosen === '' ? Promise.resolve([]) : schemaSource.policies(chosen)),
    [chosen],
  );
  const id = name.value.trim();
  const addresses = destinations.value.split('\n').flatMap((line) => line.trim() || []);
  const isUsable = id !== '' && chosen !== '' && policy.value !== '' && addresses.length > 0;
  const place = `${formatIdentifier(chosen)}.${formatIdentifier(policy.value)}`;
  const sent = addresses.map(quoteString).join(', ');
  const statement = `CREATE SUBSCRIPTION ${formatIdentifier(id)} ON ${place} DESTINATIONS ${mode.value} ${sent}`;
  return (
    <Panel title={t.newSubscription}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isUsable) return;
          void perform(statement, t.created(id)).then((isMade) => {
            if (!isMade) return;
            name.value = '';
            destinations.value = '';
            onMade();
          });
        }}
      >
        <p class="muted">{t.newSubscriptionHint}</p>
        <div class="form-grid">
          <TextField
            label={t.subscriptionName}
            value={name.value}
            onInput={(text) => (name.value = text)}
          />
          <SelectField
            label={t.subscribedDatabase}
            problem={databases.error.value?.message}
            value={chosen}
            options={[{ value: '', label: t.chooseDatabase }, ...(databases.value.value ?? [])]}
            onChange={(next) => {
              database.value = next;
              policy.value = '';
            }}
          />
          <SelectField
            label={t.policy}
            problem={policies.error.value?.message}
            value={policy.value}
            options={[{ value: '', label: t.choose }, ...(policies.value.value ?? [])]}
            onChange={(next) => (policy.value = next)}
          />
          <SelectField
            label={t.mode}
            value={mode.value}
            options={[
              { value: 'ALL', label: t.modeAll },
              { value: 'ANY', label: t.modeAny },
            ]}
            onChange={(next) => (mode.value = next)}
          />
        </div>
        <TextArea
          label={t.destinations}
          hint={t.destinationsHint}
          rows={2}
          placeholder="http://host:9092"
          value={destinations.value}
          onInput={(text) => (destinations.value = text)}
        />
        {isUsable ? <code>{statement}</code> : null}
        <div class="row">
          <Button type="submit" icon="plus" disabled={!isUsable}>
            {t.subscribe}
          </Button>
        </div>
      </form>
    </Panel>
  );
}
