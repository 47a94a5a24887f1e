// Fields for the options of a kind, generated from its table.
import { valueOf } from '../../cells/option.ts';
import type { OptionRow, Options } from '../../cells/option.ts';
import { LEGEND_CALCS } from '../../cells/options/legend.ts';
import { THRESHOLDS } from '../../cells/options/levels.ts';
import { OVERRIDES } from '../../cells/options/overrides.ts';
import { TRANSFORMATIONS } from '../../cells/options/transformations.ts';
import { MAPPINGS, UNIT } from '../../cells/options/values.ts';
import { CheckField, SelectField, TextArea, TextField } from '../../design/field.tsx';
import { texts } from '../../texts/texts.ts';
import { CalcList } from './calc-list.tsx';
import { MappingList } from './mapping-list.tsx';
import { NumberField } from './number-field.tsx';
import { OverrideList } from './override-list.tsx';
import { Thresholds } from './thresholds.tsx';
import { TransformationList } from './transformation-list.tsx';
import { UnitField } from './unit-field.tsx';

type FieldsProps = {
  readonly rows: readonly OptionRow<unknown>[];
  readonly options: Options;
  readonly onChange: (options: Options) => void;
};

/** The options that are lists, shown below the others. */
const COMPOSITE = ['thresholds', 'mappings', 'calcs', 'overrides', 'transformations'];

export function OptionFields({ rows, options, onChange }: FieldsProps) {
  const set = (name: string, value: unknown): void => onChange({ ...options, [name]: value });
  const field = (row: OptionRow<unknown>) => (
    <OptionField key={row.name} row={row} options={options} onChange={set} />
  );
  const isComposite = ({ editor }: OptionRow<unknown>): boolean => COMPOSITE.includes(editor.kind);
  const isCheck = ({ editor }: OptionRow<unknown>): boolean => editor.kind === 'check';
  const simple = rows.filter((row) => !isComposite(row) && !isCheck(row));
  return (
    <fieldset class="stack options" aria-label={texts.dashboards.options}>
      <div class="form-grid">{simple.map(field)}</div>
      <div class="row">{rows.filter(isCheck).map(field)}</div>
      {rows.filter(isComposite).map(field)}
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
