// Fields for the options of a kind, generated from its table.
import { useSignal } from '@preact/signals';

import { OPTION_GROUPS, valueOf } from '../../cells/option.ts';
import type { OptionGroup, OptionRow, Options } from '../../cells/option.ts';
import { LEGEND_CALCS } from '../../cells/options/legend.ts';
import { THRESHOLDS } from '../../cells/options/levels.ts';
import { OVERRIDES } from '../../cells/options/overrides.ts';
import { TRANSFORMATIONS } from '../../cells/options/transformations.ts';
import { MAPPINGS, UNIT } from '../../cells/options/values.ts';
import { CheckField, SelectField, TextArea, TextField } from '../../design/field.tsx';
import { durationOf, millisecondsOf } from '../../query/macros.ts';
import { texts } from '../../texts/texts.ts';
import { CalcList } from './calc-list.tsx';
import { MappingList } from './mapping-list.tsx';
import { NumberField } from './number-field.tsx';
import { OverrideList } from './override-list.tsx';
import { Thresholds } from './thresholds.tsx';
import { TransformationList } from './transformation-list.tsx';
import { UnitField } from './unit-field.tsx';

const t = texts.dashboards;

type FieldsProps = {
  readonly rows: readonly OptionRow<unknown>[];
  readonly options: Options;
  readonly onChange: (options: Options) => void;
};

/** Groups that are open at first; the others say by their title what is in them. */
const OPEN_GROUPS: readonly OptionGroup[] = ['display', 'axis', 'lines'];

/** A group is as long as its options are, so all of them are searched by name. */
export function OptionFields({ rows, options, onChange }: FieldsProps) {
  const search = useSignal('');
  const set = (name: string, value: unknown): void => onChange({ ...options, [name]: value });
  const wanted = search.value.trim().toLowerCase();
  const found = rows.filter(
    ({ label, hint = '', editor }) =>
      editor.kind !== 'none' && `${label} ${hint}`.toLowerCase().includes(wanted),
  );
  return (
    <fieldset class="options" aria-label={texts.dashboards.options}>
      <TextField
        label={t.searchOptions}
        isLabelHidden
        placeholder={t.searchOptions}
        value={search.value}
        onInput={(text) => (search.value = text)}
      />
      {OPTION_GROUPS.map((group) => {
        const own = found.filter((row) => (row.group ?? 'display') === group);
        if (own.length === 0) return null;
        const changed = own.filter(({ name }) => options[name] !== undefined).length;
        return (
          <details
            key={group}
            class="option-group"
            open={wanted !== '' || changed > 0 || OPEN_GROUPS.includes(group)}
          >
            <summary>{texts.cells.groups[group]}</summary>
            <div class="stack">
              {own.map((row) => (
                <OptionField key={row.name} row={row} options={options} onChange={set} />
              ))}
            </div>
          </details>
        );
      })}
      {found.length === 0 ? <p class="muted">{t.noOptions}</p> : null}
    </fieldset>
  );
}

function OptionField({
  row,
  options,
  onChange,
}: {
  readonly row: OptionRow<unknown>;
  readonly options: Options;
  readonly onChange: (name: string, value: unknown) => void;
}) {
  const { name, label, hint, editor } = row;
  const cell = { options };
  const value = valueOf(cell, row);
  const change = (next: unknown): void => onChange(name, next);
  switch (editor.kind) {
    case 'check':
      return <CheckField label={label} isChecked={value === true} onChange={change} />;
    case 'number':
      return (
        <NumberField
          label={label}
          hint={hint}
          value={typeof value === 'number' ? value : undefined}
          onChange={change}
        />
      );
    case 'duration':
      return (
        <DurationField
          label={label}
          hint={hint}
          value={typeof value === 'number' ? value : undefined}
          onChange={change}
        />
      );
    case 'text':
      return editor.rows === undefined ? (
        <TextField label={label} hint={hint} value={String(value)} onInput={change} />
      ) : (
        <TextArea
          label={label}
          hint={hint}
          rows={editor.rows}
          value={String(value)}
          onInput={change}
        />
      );
    case 'choice':
      return (
        <SelectField
          label={label}
          hint={hint}
          value={String(value)}
          options={Object.entries(editor.choices).map(([id, text]) => ({ value: id, label: text }))}
          onChange={change}
        />
      );
    case 'unit':
      return <UnitField unit={valueOf(cell, UNIT)} onChange={change} />;
    case 'thresholds':
      return <Thresholds thresholds={valueOf(cell, THRESHOLDS)} onChange={change} />;
    case 'mappings':
      return <MappingList mappings={valueOf(cell, MAPPINGS)} onChange={change} />;
    case 'calcs':
      return <CalcList label={label} calcs={valueOf(cell, LEGEND_CALCS)} onChange={change} />;
    case 'overrides':
      return <OverrideList overrides={valueOf(cell, OVERRIDES)} onChange={change} />;
    case 'transformations':
      return (
        <TransformationList transformations={valueOf(cell, TRANSFORMATIONS)} onChange={change} />
      );
    case 'none':
      return null;
  }
}

/** Milliseconds, typed as a number with a unit. */
function DurationField({
  label,
  hint,
  value,
  onChange,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
}) {
  const typed = useSignal(value === undefined ? '' : durationOf(value));
  const ms = millisecondsOf(typed.value.trim());
  return (
    <TextField
      label={label}
      hint={hint}
      problem={typed.value.trim() === '' || ms > 0 ? undefined : t.noDuration}
      value={typed.value}
      onInput={(text) => {
        typed.value = text;
        const next = millisecondsOf(text.trim());
        if (text.trim() === '' || next > 0) onChange(next > 0 ? next : undefined);
      }}
    />
  );
}
