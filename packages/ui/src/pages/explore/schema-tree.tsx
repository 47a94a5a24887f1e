// The schema of the databases: measurements, their fields with types, their tags with the number of
// values. Loaded when opened; a click inserts a name into the statement.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

import { tsdb } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import type { Resource } from '../../api/use-resource.ts';
import { IconButton } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { Icon } from '../../design/icon.tsx';
import { Empty, Failure, Loading } from '../../design/states.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import type { BuiltQuery } from '../../query/builder.ts';
import { texts } from '../../texts/texts.ts';
import { isChosen } from './insertion.ts';
import { measurementDetails } from './schema.ts';
import type { TagDetails } from './schema.ts';

const t = texts.explore;
const SHOWN_MAX = 200;

export type ChosenName = { readonly measurement: string } & (
  | { readonly kind: 'measurement' }
  | { readonly kind: 'field' | 'tag'; readonly name: string }
  | { readonly kind: 'value'; readonly name: string; readonly value: string }
);

/** A name in the schema; `policy` is empty for the default one. */
export type Chosen = ChosenName & { readonly policy: string };
export function SchemaTree({
  database,
  databases,
  onDatabase,
  built,
  onChoose,
}: {
  readonly database: string;
  readonly databases: readonly string[];
  readonly onDatabase: (database: string) => void;
  /** The statement, if it is one of names in the schema: those are marked. */
  readonly built: BuiltQuery | undefined;
  readonly onChoose: (chosen: Chosen) => void;
}) {
  const search = useSignal('');
  const policy = useSignal('');
  const measurements = useResource(
    async (signal) => {
      if (database === '') return [];
      const [series] = await tsdb.rows('SHOW MEASUREMENTS', { database, signal });
      return (series?.values ?? []).map((row) => String(row[0]));
    },
    [database],
  );
  const policies = useResource(
    () => (database === '' ? Promise.resolve([]) : schemaSource.policies(database)),
    [database],
  );
  return (
    <aside class="panel schema" aria-label={t.schema}>
      <div class="body stack">
        <div class="row">
          <div class="grow">
            <SelectField
              label={t.database}
              value={database}
              options={databases}
              onChange={(name) => {
                policy.value = '';
                onDatabase(name);
              }}
            />
          </div>
          <IconButton
            icon="refresh"
            label={t.reloadSchema}
            onClick={() => void measurements.reload()}
          />
        </div>
        <SelectField
          label={t.policy}
          problem={policies.error.value?.message}
          value={policy.value}
          options={[{ value: '', label: t.defaultPolicy }, ...(policies.value.value ?? [])]}
          onChange={(name) => (policy.value = name)}
        />
        <TextField
          label={t.searchSchema}
          isLabelHidden
          placeholder={t.searchSchema}
          value={search.value}
          onInput={(value) => (search.value = value)}
        />
        <Measurements
          database={database}
          found={measurements}
          search={search.value}
          built={built}
          onChoose={(chosen) => onChoose({ ...chosen, policy: policy.value })}
        />
      </div>
    </aside>
  );
}

function Measurements({
  database,
  found,
  search,
  built,
  onChoose,
}: {
  readonly database: string;
  readonly found: Resource<readonly string[]>;
  readonly search: string;
  readonly built: BuiltQuery | undefined;
  readonly onChoose: (chosen: ChosenName) => void;
}) {
  const all = found.value.value;
  if (all === undefined) {
    const error = found.error.value;
    if (error === undefined) return <Loading />;
    return <Failure error={error} onRetry={() => void found.reload()} />;
  }
  if (all.length === 0) return <Empty title={t.noMeasurements}>{t.noMeasurementsHint}</Empty>;
  const matching = all.filter((name) => name.toLowerCase().includes(search.toLowerCase()));
  return (
    <ul class="tree">
      {matching.slice(0, SHOWN_MAX).map((name) => (
        <Branch
          key={`${database} ${name}`}
          label={name}
          isChosen={isChosen(built, { kind: 'measurement', measurement: name })}
          onChoose={() => onChoose({ kind: 'measurement', measurement: name })}
        >
          <Details database={database} measurement={name} built={built} onChoose={onChoose} />
        </Branch>
      ))}
      {matching.length > SHOWN_MAX ? (
        <li class="muted small">{t.someNames(SHOWN_MAX, matching.length)}</li>
      ) : null}
      {matching.length === 0 ? <li class="muted small">{t.nothingFound}</li> : null}
    </ul>
  );
}

/** A name that opens. Its children are rendered, and so requested, only then. */
function Branch({
  label,
  note,
  isChosen: isPressed,
  onChoose,
  children,
}: {
  readonly label: string;
  readonly note?: string | undefined;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
  readonly children: ComponentChildren;
}) {
  const isOpen = useSignal(false);
  return (
    <li>
      <span class="tree-line">
        <button
          type="button"
          class="tree-toggle"
          aria-expanded={isOpen.value ? 'true' : 'false'}
          aria-label={isOpen.value ? t.shut(label) : t.open(label)}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          <Icon name={isOpen.value ? 'down' : 'right'} />
        </button>
        <button
          type="button"
          class="tree-name"
          aria-pressed={isPressed ? 'true' : 'false'}
          onClick={onChoose}
        >
          {label}
        </button>
        {note === undefined ? null : <span class="muted small">{note}</span>}
      </span>
      {isOpen.value ? children : null}
    </li>
  );
}

function Details({
  database,
  measurement,
  built,
  onChoose,
}: {
  readonly database: string;
  readonly measurement: string;
  readonly built: BuiltQuery | undefined;
  readonly onChoose: (chosen: ChosenName) => void;
}) {
  const { value, error, reload } = useResource(
    (signal) => measurementDetails(database, measurement, signal),
    [database, measurement],
  );
  const details = value.value;
  if (details === undefined) {
    if (error.value === undefined) return <Loading rows={2} />;
    return <Failure error={error.value} onRetry={() => void reload()} />;
  }
  return (
    <ul class="tree">
      {details.fields.map(({ name, type }) => (
        <li key={`f ${name}`} class="tree-line leaf">
          <button
            type="button"
            class="tree-name"
            aria-pressed={isChosen(built, { kind: 'field', measurement, name }) ? 'true' : 'false'}
            onClick={() => onChoose({ kind: 'field', measurement, name })}
          >
            {name}
          </button>
          <span class="muted small">{type}</span>
        </li>
      ))}
      {details.tags.map((tag) => (
        <Tag
          key={`t ${tag.name}`}
          database={database}
          measurement={measurement}
          tag={tag}
          built={built}
          onChoose={onChoose}
        />
      ))}
    </ul>
  );
}

function Tag({
  database,
  measurement,
  tag,
  built,
  onChoose,
}: {
  readonly database: string;
  readonly measurement: string;
  readonly tag: TagDetails;
  readonly built: BuiltQuery | undefined;
  readonly onChoose: (chosen: ChosenName) => void;
}) {
  const { name, valueCount } = tag;
  return (
    <Branch
      label={name}
      note={t.tagValues(valueCount)}
      isChosen={isChosen(built, { kind: 'tag', measurement, name })}
      onChoose={() => onChoose({ kind: 'tag', measurement, name })}
    >
      <Values
        database={database}
        measurement={measurement}
        tag={tag}
        built={built}
        onChoose={(value) => onChoose({ kind: 'value', measurement, name, value })}
      />
    </Branch>
  );
}

function Values({
  database,
  measurement,
  tag,
  built,
  onChoose,
}: {
  readonly database: string;
  readonly measurement: string;
  readonly tag: TagDetails;
  readonly built: BuiltQuery | undefined;
  readonly onChoose: (value: string) => void;
}) {
  const { name, valueCount } = tag;
  const { value, error, reload } = useResource(
    () => schemaSource.tagValues(database, measurement, name),
    [database, measurement, name],
  );
  const values = value.value;
  if (values === undefined) {
    if (error.value === undefined) return <Loading rows={2} />;
    return <Failure error={error.value} onRetry={() => void reload()} />;
  }
  return (
    <ul class="tree">
      {values.map((each) => (
        <li key={each} class="tree-line leaf">
          <button
            type="button"
            class="tree-name"
            aria-pressed={
              isChosen(built, { kind: 'value', measurement, name, value: each }) ? 'true' : 'false'
            }
            onClick={() => onChoose(each)}
          >
            {each}
          </button>
        </li>
      ))}
      {values.length < valueCount ? (
        <li class="muted small">{t.someValues(values.length, valueCount)}</li>
      ) : null}
    </ul>
  );
}
