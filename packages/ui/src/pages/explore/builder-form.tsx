// Builds a statement with a form. The text is authoritative: the form is parsed from it, and every
// change rewrites it.
import { FUNCTIONS } from '@tidemark/query';

import { useResource } from '../../api/use-resource.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { CheckField, SelectField, TextField } from '../../design/field.tsx';
import { Popover } from '../../design/popover.tsx';
import { Failure, Loading } from '../../design/states.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import type { BuiltQuery } from '../../query/builder.ts';
import { texts } from '../../texts/texts.ts';
import { measurementDetails } from './schema.ts';

const t = texts.explore;

/** Functions of one field that the form offers. */
const CALLS = [...FUNCTIONS.values()]
  .filter(({ minArguments, kind }) => minArguments <= 1 && kind !== 'math')
  .map(({ name }) => name);

const WINDOWS = ['', '$interval', '10s', '1m', '5m', '10m', '1h', '1d'];
const FILLS = ['', 'none', 'null', 'previous', 'linear', '0'];

export function BuilderForm({
  database,
  query,
  onChange,
}: {
  readonly database: string;
  readonly query: BuiltQuery;
  readonly onChange: (query: BuiltQuery) => void;
}) {
  const { measurement } = query;
  const measurements = useResource(() => schemaSource.measurements(database), [database]);
  const policies = useResource(() => schemaSource.policies(database), [database]);
  const details = useResource(
    (signal) =>
      measurement === ''
        ? Promise.resolve({ fields: [], tags: [] })
        : measurementDetails(database, measurement, signal),
    [database, measurement],
  );
  const change = (changed: Partial<BuiltQuery>): void => onChange({ ...query, ...changed });
  const { fields, tags } = details.value.value ?? { fields: [], tags: [] };
  if (measurements.value.value === undefined) {
    if (measurements.error.value === undefined) return <Loading />;
    return <Failure error={measurements.error.value} onRetry={() => void measurements.reload()} />;
  }
  const hasWindows = query.window !== '';
  return (
    <div class="stack">
      <div class="form-grid">
        <SelectField
          label={t.measurement}
          problem={measurements.error.value?.message}
          value={measurement}
          options={['', ...measurements.value.value]}
          onChange={(next) => change({ measurement: next, fields: [], filters: [], groupTags: [] })}
        />
        <SelectField
          label={t.policy}
          problem={policies.error.value?.message}
          value={query.policy}
          options={[{ value: '', label: t.defaultPolicy }, ...(policies.value.value ?? [])]}
          onChange={(policy) => change({ policy })}
        />
        <SelectField
          label={t.window}
          value={query.window}
          options={options(WINDOWS, query.window, { '': t.noWindow, $interval: t.autoWindow })}
          onChange={(window) => change({ window, fields: withCalls(query.fields, window) })}
        />
        <SelectField
          label={t.fill}
          value={query.fill}
          disabled={!hasWindows}
          options={options(FILLS, query.fill, { '': t.defaultFill })}
          onChange={(fill) => change({ fill })}
        />
        <TextField
          label={t.limit}
          inputMode="numeric"
          value={query.limit}
          problem={/^\d*$/.test(query.limit) ? undefined : t.wholeNumber}
          onInput={(limit) => change({ limit })}
        />
      </div>
      <fieldset class="chips-field">
        <legend>{t.fields}</legend>
        <div class="row">
          {query.fields.map((field, at) => (
            <span key={`${at} ${field.name}`} class="chip">
              <select
                class="input"
                aria-label={t.functionOf(field.name)}
                value={field.call}
                onChange={(event) =>
                  change({
                    fields: query.fields.with(at, { ...field, call: event.currentTarget.value }),
                  })
                }
              >
                {['', ...CALLS].map((call) => (
                  <option key={call} value={call}>
                    {call === '' ? t.noFunction : call}
                  </option>
                ))}
              </select>
              {field.name}
              <IconButton
                isSmall
                icon="close"
                label={t.remove(field.name)}
                onClick={() => change({ fields: query.fields.toSpliced(at, 1) })}
              />
            </span>
          ))}
          <Popover label={t.addField} icon="plus" isSmall disabled={fields.length === 0}>
            {(close) =>
              fields.map(({ name, type }) => (
                <button
                  key={name}
                  type="button"
                  class="menu-item"
                  onClick={() => {
                    close();
                    const call = hasWindows ? (isNumber(type) ? 'mean' : 'last') : '';
                    change({ fields: [...query.fields, { name, call }] });
                  }}
                >
                  {name} <span class="muted small">{type}</span>
                </button>
              ))
            }
          </Popover>
        </div>
      </fieldset>
      <fieldset class="chips-field">
        <legend>{t.filters}</legend>
        <div class="row">
          {query.filters.map((filter, at) => (
            <span key={filter.tag} class="chip">
              {filter.tag} {filter.isNot ? '≠' : '='}
              <FilterValues
                database={database}
                measurement={measurement}
                filter={filter}
                onChange={(next) => change({ filters: query.filters.with(at, next) })}
              />
              <IconButton
                isSmall
                icon="close"
                label={t.remove(filter.tag)}
                onClick={() => change({ filters: query.filters.toSpliced(at, 1) })}
              />
            </span>
          ))}
          <Popover label={t.addFilter} icon="plus" isSmall disabled={tags.length === 0}>
            {(close) =>
              tags
                .filter(({ name }) => !query.filters.some(({ tag }) => tag === name))
                .map(({ name, valueCount }) => (
                  <button
                    key={name}
                    type="button"
                    class="menu-item"
                    onClick={() => {
                      close();
                      change({
                        filters: [...query.filters, { tag: name, isNot: false, values: [] }],
                      });
                    }}
                  >
                    {name} <span class="muted small">{t.tagValues(valueCount)}</span>
                  </button>
                ))
            }
          </Popover>
        </div>
      </fieldset>
      <fieldset class="chips-field">
        <legend>{t.groupBy}</legend>
        <div class="row">
          {tags.map(({ name }) => (
            <CheckField
              key={name}
              label={name}
              isChecked={query.groupTags.includes(name)}
              onChange={(isChecked) =>
                change({
                  groupTags: isChecked
                    ? [...query.groupTags, name]
                    : query.groupTags.filter((tag) => tag !== name),
                })
              }
            />
          ))}
          {tags.length === 0 ? <span class="muted">{t.noTags}</span> : null}
        </div>
      </fieldset>
    </div>
  );
}

const isNumber = (type: string): boolean => type !== 'string' && type !== 'boolean';

/** Windows need a function for each field; without windows raw values are shown. */
function withCalls(fields: BuiltQuery['fields'], window: string): BuiltQuery['fields'] {
  return fields.map((field) => ({
    ...field,
    call: window === '' ? field.call : field.call === '' ? 'mean' : field.call,
  }));
}

/** Choices, extended by the statement's current one. */
function options(
  known: readonly string[],
  present: string,
  labels: Readonly<Record<string, string>>,
) {
  const all = known.includes(present) ? known : [...known, present];
  return all.map((value) => ({ value, label: labels[value] ?? value }));
}

function FilterValues({
  database,
  measurement,
  filter,
  onChange,
}: {
  readonly database: string;
  readonly measurement: string;
  readonly filter: BuiltQuery['filters'][number];
  readonly onChange: (filter: BuiltQuery['filters'][number]) => void;
}) {
  const { tag, isNot, values } = filter;
  const known = useResource(
    () => schemaSource.tagValues(database, measurement, tag),
    [database, measurement, tag],
  );
  const all = [...new Set([...values, ...(known.value.value ?? [])])];
  return (
    <Popover label={values.length === 0 ? t.chooseValues : values.join(', ')} isSmall>
      {() => (
        <div class="stack">
          <Button
            isSmall
            aria-pressed={isNot ? 'true' : 'false'}
            onClick={() => onChange({ ...filter, isNot: !isNot })}
          >
            {t.isNot}
          </Button>
          {known.error.value === undefined ? null : (
            <p class="bad small">{known.error.value.message}</p>
          )}
          {all.map((value) => (
            <CheckField
              key={value}
              label={value}
              isChecked={values.includes(value)}
              onChange={(isChecked) =>
                onChange({
                  ...filter,
                  values: isChecked ? [...values, value] : values.filter((each) => each !== value),
                })
              }
            />
          ))}
        </div>
      )}
    </Popover>
  );
}
