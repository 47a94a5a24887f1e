// Settings of a dashboard: its name, database, variables, annotations.
import { useSignal } from '@preact/signals';

import { useResource } from '../../api/use-resource.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { Dialog } from '../../design/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../design/field.tsx';
import { EMPTY_VARIABLE, VARIABLE_KINDS } from '../../dashboards/model.ts';
import type { Annotation, Dashboard, Variable } from '../../dashboards/model.ts';
import { choicesOf } from '../../dashboards/variables.ts';
import { schemaSource } from '../../editor/schema-source.ts';
import { instantText } from '../../time/labels.ts';
import { parseInstant, portable } from '../../time/range.ts';
import { shownZone } from '../../time/zone.ts';
import { RefreshPicker } from '../../time/range-picker.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

const NEW_VARIABLE: Variable = { ...EMPTY_VARIABLE, kind: 'query' };

const NEW_ANNOTATION: Annotation = { name: '', kind: 'query', query: '', database: '', topic: '*' };

type Settings = Omit<Dashboard, 'cells'>;

export function SettingsDialog({
  dashboard,
  onDone,
  onClose,
}: {
  readonly dashboard: Dashboard;
  readonly onDone: (changed: Settings) => void;
  readonly onClose: () => void;
}) {
  const { cells: _, ...settings } = dashboard;
  const typed = useSignal<Settings>({
    ...settings,
    from: instantText(settings.from, shownZone.value),
    to: instantText(settings.to, shownZone.value),
  });
  // As typed: with the comma behind which the next one comes.
  const tags = useSignal(settings.tags.join(', '));
  const databases = useResource(() => schemaSource.databases(), []);
  const shown = typed.value;
  const change = (changed: Partial<Settings>): void => {
    typed.value = { ...typed.value, ...changed };
  };
  const known = [...new Set([shown.database, ...(databases.value.value ?? [])])];
  const instant = (text: string): string | undefined =>
    parseInstant(text, { nowMs: Date.now(), zone: shownZone.value }) === undefined
      ? texts.time.noInstant
      : undefined;
  const names = shown.variables.map(({ name }) => name);
  const isWhole =
    shown.title.trim() !== '' &&
    instant(shown.from) === undefined &&
    instant(shown.to) === undefined &&
    names.every((name, i) => nameProblem(name, names, i) === undefined);
  return (
    <Dialog
      title={t.settings}
      isWide
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.common.cancel}</Button>
          <Button
            kind="primary"
            disabled={!isWhole}
            onClick={() => onDone({ ...typed.value, ...portable(typed.value, Date.now()) })}
          >
            {t.done}
          </Button>
        </>
      }
    >
      <div class="stack wide">
        <div class="form-grid">
          <TextField label={t.title} value={shown.title} onInput={(title) => change({ title })} />
          <TextField
            label={t.folder}
            value={shown.folder}
            onInput={(folder) => change({ folder })}
          />
          <TextField
            label={t.tags}
            hint={t.tagsHint}
            value={tags.value}
            onInput={(text) => {
              tags.value = text;
              change({ tags: tagsOf(text) });
            }}
          />
          <SelectField
            label={t.database}
            hint={t.databaseHint}
            problem={databases.error.value?.message}
            value={shown.database}
            options={known.includes('') ? known : ['', ...known]}
            onChange={(database) => change({ database })}
          />
          <TextField
            label={t.from}
            value={shown.from}
            problem={instant(shown.from)}
            onInput={(from) => change({ from })}
          />
          <TextField
            label={t.to}
            value={shown.to}
            problem={instant(shown.to)}
            onInput={(to) => change({ to })}
          />
          <RefreshPicker
            isLabelHidden={false}
            value={shown.refresh}
            range={shown}
            onChange={(refresh) => change({ refresh })}
          />
        </div>
        <section class="stack" aria-label={t.variables}>
          <h3>{t.variables}</h3>
          {shown.variables.map((variable, at) => (
            <VariableFields
              key={at}
              variable={variable}
              problem={nameProblem(variable.name, names, at)}
              onChange={(next) => change({ variables: shown.variables.with(at, next) })}
              onRemove={() => change({ variables: shown.variables.toSpliced(at, 1) })}
            />
          ))}
          <div class="row">
            <Button
              isSmall
              icon="plus"
              onClick={() => change({ variables: [...shown.variables, NEW_VARIABLE] })}
            >
              {t.addVariable}
            </Button>
          </div>
        </section>
        <section class="stack" aria-label={t.annotations}>
          <h3>{t.annotations}</h3>
          {shown.annotations.map((annotation, at) => (
            <AnnotationFields
              key={at}
              annotation={annotation}
              onChange={(next) => change({ annotations: shown.annotations.with(at, next) })}
              onRemove={() => change({ annotations: shown.annotations.toSpliced(at, 1) })}
            />
          ))}
          <div class="row">
            <Button
              isSmall
              icon="plus"
              onClick={() => change({ annotations: [...shown.annotations, NEW_ANNOTATION] })}
            >
              {t.addAnnotation}
            </Button>
          </div>
        </section>
      </div>
    </Dialog>
  );
}

const tagsOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
  ),
];

function nameProblem(name: string, names: readonly string[], at: number): string | undefined {
  if (!/^\w+$/.test(name)) return t.nameHint;
  return names.indexOf(name) === at ? undefined : t.variable(name);
}

function VariableFields({
  variable,
  problem,
  onChange,
  onRemove,
}: {
  readonly variable: Variable;
  readonly problem: string | undefined;
  readonly onChange: (variable: Variable) => void;
  readonly onRemove: () => void;
}) {
  const { name, kind, query, pattern, options, labels, isMulti, chosen } = variable;
  const lines = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');
  return (
    <fieldset class="chips-field dash-query">
      <legend>{t.variable(name)}</legend>
      <div class="form-grid">
        <TextField
          label={t.name}
          value={name}
          problem={problem}
          hint={t.nameHint}
          onInput={(next) => onChange({ ...variable, name: next })}
        />
        <SelectField
          label={t.variableKind}
          value={kind}
          options={VARIABLE_KINDS.map((value) => ({ value, label: t.variableKinds[value] }))}
          onChange={(value) =>
            onChange({ ...variable, kind: VARIABLE_KINDS.find((each) => each === value) ?? kind })
          }
        />
        {kind === 'query' ? (
          <TextField
            label={t.queryOf}
            value={query}
            placeholder={'SHOW TAG VALUES WITH KEY = "host"'}
            onInput={(next) => onChange({ ...variable, query: next })}
          />
        ) : kind === 'text' ? null : (
          <TextArea
            label={t.options}
            rows={3}
            hint={t.optionsHint}
            value={options
              .map((value, i) => (labels[i] ? `${labels[i]} : ${value}` : value))
              .join('\n')}
            onInput={(text) => onChange({ ...variable, ...choicesOf(text.split('\n')) })}
          />
        )}
        {kind === 'query' ? (
          <TextField
            label={t.pattern}
            hint={t.patternHint}
            value={pattern}
            placeholder={t.patternExample}
            onInput={(next) => onChange({ ...variable, pattern: next })}
          />
        ) : null}
        <TextField
          label={t.chosen}
          value={chosen.join(', ')}
          onInput={(text) =>
            onChange({ ...variable, chosen: lines(text.replaceAll(/, */g, '\n')) })
          }
        />
        {kind === 'query' || kind === 'list' ? (
          <CheckField
            label={t.isMulti}
            isChecked={isMulti}
            onChange={(next) => onChange({ ...variable, isMulti: next })}
          />
        ) : null}
        <IconButton icon="trash" label={t.removeIt(t.variable(name))} onClick={onRemove} />
      </div>
    </fieldset>
  );
}

function AnnotationFields({
  annotation,
  onChange,
  onRemove,
}: {
  readonly annotation: Annotation;
  readonly onChange: (annotation: Annotation) => void;
  readonly onRemove: () => void;
}) {
  const { name, kind, query, topic } = annotation;
  return (
    <fieldset class="chips-field dash-query">
      <legend>{t.annotation(name)}</legend>
      <div class="form-grid">
        <TextField
          label={t.name}
          value={name}
          onInput={(next) => onChange({ ...annotation, name: next })}
        />
        <SelectField
          label={t.annotationKind}
          value={kind}
          options={(['query', 'alerts'] as const).map((value) => ({
            value,
            label: t.annotationKinds[value],
          }))}
          onChange={(value) =>
            onChange({ ...annotation, kind: value === 'alerts' ? 'alerts' : 'query' })
          }
        />
        {kind === 'query' ? (
          <TextField
            label={t.queryOf}
            hint={t.annotationQueryHint}
            value={query}
            placeholder="SELECT text FROM deployments WHERE $timeFilter"
            onInput={(next) => onChange({ ...annotation, query: next })}
          />
        ) : (
          <TextField
            label={t.topic}
            value={topic}
            onInput={(next) => onChange({ ...annotation, topic: next })}
          />
        )}
        <IconButton icon="trash" label={t.removeIt(t.annotation(name))} onClick={onRemove} />
      </div>
    </fieldset>
  );
}
