// A form for a rule: its data, its condition, and what would have fired. It is saved as an ordinary
// task.
import { signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';

import { draft } from '../../app/stored.ts';
import { Choice } from '../../design/button.tsx';
import { SelectField, TextField } from '../../design/field.tsx';
import { CheckField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { CodeEditor } from '../../editor/code-editor.tsx';
import { schemaSource } from '../../editor/schema-source.ts';
import { useResource } from '../../api/use-resource.ts';
import { texts } from '../../texts/texts.ts';
import { EMPTY_RULE, FUNCTIONS, hasWindow, mistakesOf, OPERATORS } from './rule-script.ts';
import { CHANGES, RULE_KINDS, scriptOf } from './rule-script.ts';
import type { Rule, RuleField } from './rule-script.ts';
import { RulePreview } from './rule-preview.tsx';

const t = texts.alerts;

/** Kept until the tab is closed. */
const rule = draft<Rule>('alerts.rule', EMPTY_RULE);
const script = signal('');

const set = (changed: Partial<Rule>): void => {
  rule.value = { ...rule.value, ...changed };
};

export function RuleBuilder() {
  const chosen = rule.value;
  const mistakes = useMemo(() => mistakesOf(chosen), [chosen]);
  const text = useMemo(() => scriptOf(chosen), [chosen]);
  useEffect(() => {
    script.value = text;
  }, [text]);
  return (
    <div class="stack wide">
      <div class="rule">
        <Panel
          title={t.rule}
          controls={
            <Choice
              label={t.ruleKind}
              value={chosen.kind}
              options={RULE_KINDS.map((value) => ({ value, label: t.ruleKinds[value] }))}
              onChange={(kind) => set({ kind })}
            />
          }
        >
          <div class="stack">
            <What rule={chosen} mistakes={mistakes} />
            {chosen.kind === 'deadman' ? null : <Value rule={chosen} mistakes={mistakes} />}
            <When rule={chosen} mistakes={mistakes} />
            <div class="form-grid">
              <TypedField field="name" label={t.id} hint={t.idHint} mistakes={mistakes} />
              <TypedField field="topic" label={t.topic} hint={t.topicHint} mistakes={mistakes} />
            </div>
          </div>
        </Panel>
        <Panel title={t.ruleScript}>
          <CodeEditor
            label={t.ruleScript}
            language="tickscript"
            value={script}
            isReadOnly
            lines={20}
          />
        </Panel>
      </div>
      <RulePreview rule={chosen} script={text} isComplete={mistakes.size === 0} />
    </div>
  );
}

type Props = { readonly rule: Rule; readonly mistakes: ReadonlySet<RuleField> };

type TextName = 'name' | 'topic' | 'period' | 'every' | 'warn' | 'crit' | 'shift' | 'silence';

/** A text field of the rule. Missing values are not reported before something is typed. */
function TypedField({
  field,
  label,
  hint,
  mistakes,
}: {
  readonly field: TextName;
  readonly label: string;
  readonly hint?: string;
  readonly mistakes: ReadonlySet<RuleField>;
}) {
  const value = rule.value[field];
  return (
    <TextField
      label={label}
      hint={hint}
      value={value}
      problem={mistakes.has(field) && value !== '' ? t.missing : undefined}
      onInput={(text) => set({ [field]: text.trim() })}
    />
  );
}

/** Names to choose from; the selected one stays even if it no longer exists. */
const options = (names: readonly string[] | undefined, chosen: string): readonly string[] => {
  const all = names ?? [];
  return chosen === '' || all.includes(chosen) ? ['', ...all] : ['', chosen, ...all];
};

function What({ rule: { database, policy, measurement, ...rest } }: Props) {
  const databases = useResource(() => schemaSource.databases(), []);
  const policies = useResource(
    () => (database === '' ? Promise.resolve([]) : schemaSource.policies(database)),
    [database],
  );
  const measurements = useResource(
    () => (database === '' ? Promise.resolve([]) : schemaSource.measurements(database)),
    [database],
  );
  const tags = useResource(
    () => (measurement === '' ? Promise.resolve([]) : schemaSource.tags(database, measurement)),
    [database, measurement],
  );
  const { whereTag, whereValue, groupBy } = rest;
  const values = useResource(
    () =>
      whereTag === ''
        ? Promise.resolve([])
        : schemaSource.tagValues(database, measurement, whereTag),
    [database, measurement, whereTag],
  );
  const names = tags.value.value ?? [];
  return (
    <>
      <div class="form-grid">
        <SelectField
          label={t.database}
          problem={databases.error.value?.message}
          value={database}
          options={options(databases.value.value, database)}
          onChange={(next) => set({ database: next, measurement: '', field: '', groupBy: [] })}
        />
        <SelectField
          label={t.policy}
          problem={policies.error.value?.message}
          value={policy}
          options={options(policies.value.value, policy)}
          onChange={(next) => set({ policy: next })}
        />
        <SelectField
          label={t.measurement}
          problem={measurements.error.value?.message}
          value={measurement}
          options={options(measurements.value.value, measurement)}
          onChange={(next) => set({ measurement: next, field: '', groupBy: [], whereTag: '' })}
        />
      </div>
      {measurement === '' ? null : (
        <>
          <fieldset>
            <legend>{t.groupBy}</legend>
            {tags.error.value !== undefined ? (
              <p class="bad">{tags.error.value.message}</p>
            ) : names.length === 0 ? (
              <p class="muted">{t.groupNone}</p>
            ) : null}
            <div class="row">
              {names.map((name) => (
                <CheckField
                  key={name}
                  label={name}
                  isChecked={groupBy.includes(name)}
                  onChange={(isChecked) =>
                    set({
                      groupBy: isChecked
                        ? [...groupBy, name].toSorted()
                        : groupBy.filter((each) => each !== name),
                    })
                  }
                />
              ))}
            </div>
          </fieldset>
          <div class="form-grid">
            <SelectField
              label={t.whereTag}
              value={whereTag}
              options={options(names, whereTag).map((value) => ({
                value,
                label: value === '' ? t.whereAll : value,
              }))}
              onChange={(next) => set({ whereTag: next, whereValue: '' })}
            />
            {whereTag === '' ? null : (
              <SelectField
                label={t.whereValue}
                problem={values.error.value?.message}
                value={whereValue}
                options={options(values.value.value, whereValue)}
                onChange={(next) => set({ whereValue: next })}
              />
            )}
          </div>
        </>
      )}
    </>
  );
}

function Value({ rule: chosen, mistakes }: Props) {
  const { database, measurement, field, kind } = chosen;
  const fields = useResource(
    () => (measurement === '' ? Promise.resolve([]) : schemaSource.fields(database, measurement)),
    [database, measurement],
  );
  return (
    <div class="form-grid">
      <SelectField
        label={t.field}
        problem={fields.error.value?.message}
        value={field}
        options={options(fields.value.value, field)}
        onChange={(next) => set({ field: next })}
      />
      <SelectField
        label={t.function}
        value={kind === 'relative' && chosen.function === 'none' ? 'mean' : chosen.function}
        options={FUNCTIONS.filter((name) => name !== 'none' || kind === 'threshold').map(
          (value) => ({
            value,
            label: value === 'none' ? t.functions.none : value,
          }),
        )}
        onChange={(next) => set({ function: next as Rule['function'] })}
      />
      {hasWindow(chosen) ? (
        <>
          <TypedField field="period" label={t.period} mistakes={mistakes} />
          <TypedField field="every" label={t.every} mistakes={mistakes} />
        </>
      ) : null}
    </div>
  );
}

function When({ rule: chosen, mistakes }: Props) {
  if (chosen.kind === 'deadman') {
    return (
      <div class="form-grid">
        <TypedField field="silence" label={t.silence} mistakes={mistakes} />
      </div>
    );
  }
  return (
    <div class="form-grid">
      {chosen.kind === 'relative' ? (
        <>
          <TypedField field="shift" label={t.shift} mistakes={mistakes} />
          <SelectField
            label={t.change}
            value={chosen.change}
            options={CHANGES.map((value) => ({ value, label: t.changes[value] }))}
            onChange={(next) => set({ change: next as Rule['change'] })}
          />
        </>
      ) : null}
      <SelectField
        label={t.operator}
        value={chosen.operator}
        options={OPERATORS.map((value) => ({ value, label: t.operators[value] }))}
        onChange={(next) => set({ operator: next as Rule['operator'] })}
      />
      <TypedField field="warn" label={t.warn} mistakes={mistakes} />
      <TypedField field="crit" label={t.crit} mistakes={mistakes} />
    </div>
  );
}
