// The unit of a cell's numbers: found by typing a part of its name, or any text of one's own.
import { useId } from 'preact/hooks';

import { UNIT_GROUPS, unitRow } from '../../charts/units.ts';
import { Field } from '../../design/field.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.dashboards;

const IDS: ReadonlyMap<string, string> = new Map(
  UNIT_GROUPS.flatMap(({ units }) => units.map(({ id, name }) => [name, id])),
);

export function UnitField({
  unit,
  onChange,
}: {
  readonly unit: string;
  readonly onChange: (unit: string) => void;
}) {
  const list = useId();
  return (
    <Field label={t.unit} hint={t.unitHint}>
      {({ id, describedBy }) => (
        <>
          <input
            id={id}
            class="input"
            list={list}
            value={unitRow(unit)?.name ?? unit}
            aria-describedby={describedBy}
            onChange={({ currentTarget: { value } }) =>
              onChange(value.trim() === '' ? 'none' : (IDS.get(value) ?? value))
            }
          />
          <datalist id={list}>
            {UNIT_GROUPS.flatMap((group) =>
              group.units.map(({ id: of, name }) => (
                <option key={of} value={name}>
                  {group.name}
                </option>
              )),
            )}
          </datalist>
        </>
      )}
    </Field>
  );
}
