// The unit of a cell's numbers: found by typing part of its name, or any custom text.
import { UNIT_GROUPS, unitRow } from '../../charts/units.ts';
import { SuggestField } from '../../design/field.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

const IDS: ReadonlyMap<string, string> = new Map(
  UNIT_GROUPS.flatMap(({ units }) => units.map(({ id, name }) => [name, id])),
);
const OPTIONS = UNIT_GROUPS.flatMap(({ name: label, units }) =>
  units.map(({ name: value }) => ({ value, label })),
);

export function UnitField({
  unit,
  onChange,
}: {
  readonly unit: string;
  readonly onChange: (unit: string) => void;
}) {
  return (
    <SuggestField
      label={t.unit}
      hint={t.unitHint}
      value={unitRow(unit)?.name ?? unit}
      options={OPTIONS}
      onChange={(value) => onChange(value.trim() === '' ? 'none' : (IDS.get(value) ?? value))}
    />
  );
}
