// The list of aggregates of a table.
import { CALC_NAMES } from '../../charts/calc.ts';
import type { Calc } from '../../charts/calc.ts';
import { CheckField } from '../../design/field.tsx';
import { texts } from '../../texts/texts.ts';

export function CalcList({
  label,
  calcs,
  onChange,
}: {
  readonly label: string;
  readonly calcs: readonly Calc[];
  readonly onChange: (calcs: readonly Calc[]) => void;
}) {
  return (
    <fieldset class="chips-field">
      <legend>{label}</legend>
      <div class="row">
        {CALC_NAMES.map((calc) => (
          <CheckField
            key={calc}
            label={texts.cells.calcs[calc]}
            isChecked={calcs.includes(calc)}
            onChange={(is) =>
              onChange(is ? [...calcs, calc] : calcs.filter((each) => each !== calc))
            }
          />
        ))}
      </div>
    </fieldset>
  );
}
