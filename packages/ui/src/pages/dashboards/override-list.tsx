// Overrides of single series and columns.
import { FORMS, MATCHERS } from '../../cells/options/overrides.ts';
import type { Look, Override } from '../../cells/options/overrides.ts';
import { SERIES_COLOUR_COUNT, seriesColour } from '../../charts/colours.ts';
import { LEVELS } from '../../dashboards/level.ts';
import { CheckField, SelectField, TextField } from '../../design/field.tsx';
import { texts } from '../../texts/texts.ts';
import { NumberField } from './number-field.tsx';
import { RowList } from './row-list.tsx';
import { UnitField } from './unit-field.tsx';

const t = texts.cells;

const NEW: Override = { by: 'name', match: '', look: {} };
const AS_OTHERS = { value: '', label: t.asOthers };
const COLOURS = [
  AS_OTHERS,
  ...Array.from({ length: SERIES_COLOUR_COUNT }, (_, i) => ({
    value: seriesColour(i),
    label: t.colourOf(i + 1),
  })),
  ...LEVELS.map((level) => ({ value: level, label: texts.dashboards.levels[level] })),
];
const SIDES = ['left', 'right'] as const;

export function OverrideList({
  overrides,
  onChange,
}: {
  readonly overrides: readonly Override[];
  readonly onChange: (overrides: readonly Override[]) => void;
}) {
  return (
    <RowList
      title={t.overrides}
      itemTitle={t.override}
      add={t.addOverride}
      items={overrides}
      newItem={NEW}
      onChange={onChange}
    >
      {({ by, match, look }, change) => (
        <>
          <SelectField
            label={t.overrideBy}
            value={by}
            options={MATCHERS.map((value) => ({ value, label: t.matchers[value] }))}
            onChange={(value) => {
              const found = MATCHERS.find((each) => each === value);
              if (found !== undefined) change({ by: found });
            }}
          />
          {by === 'all' ? null : (
            <TextField label={t.match} value={match} onInput={(text) => change({ match: text })} />
          )}
          <LookFields
            look={look}
            onChange={(changed) => change({ look: { ...look, ...changed } })}
          />
        </>
      )}
    </RowList>
  );
}

function LookFields({
  look,
  onChange,
}: {
  readonly look: Look;
  readonly onChange: (changed: Partial<Look>) => void;
}) {
  return (
    <>
      <TextField
        label={t.lookLabel}
        value={look.label ?? ''}
        onInput={(label) => onChange({ label: label === '' ? undefined : label })}
      />
      <UnitField
        unit={look.unit ?? 'none'}
        onChange={(unit) => onChange({ unit: unit === 'none' ? undefined : unit })}
      />
      <NumberField
        label={t.decimals}
        value={look.decimals}
        onChange={(decimals) => onChange({ decimals })}
      />
      <SelectField
        label={t.colour}
        value={look.colour ?? ''}
        options={COLOURS}
        onChange={(value) => onChange({ colour: value === '' ? undefined : value })}
      />
      <SelectField
        label={t.axis}
        value={look.axis ?? ''}
        options={[AS_OTHERS, ...SIDES.map((value) => ({ value, label: t.sides[value] }))]}
        onChange={(value) => onChange({ axis: SIDES.find((side) => side === value) })}
      />
      <SelectField
        label={t.form}
        value={look.form ?? ''}
        options={[AS_OTHERS, ...FORMS.map((value) => ({ value, label: t.forms[value] }))]}
        onChange={(value) => onChange({ form: FORMS.find((form) => form === value) })}
      />
      <NumberField
        label={t.lineWidth}
        value={look.lineWidth}
        onChange={(lineWidth) => onChange({ lineWidth })}
      />
      <NumberField label={t.fill} value={look.fill} onChange={(fill) => onChange({ fill })} />
      {(['isDashed', 'isHidden', 'isNegative', 'isAlone'] as const).map((name) => (
        <CheckField
          key={name}
          label={t.flags[name]}
          isChecked={look[name] === true}
          onChange={(is) => onChange({ [name]: is || undefined })}
        />
      ))}
    </>
  );
}
