// Thresholds from which a value is good, doubtful or bad.
import { LEVELS } from '../../dashboards/level.ts';
import type { CellThreshold } from '../../dashboards/level.ts';
import { Button, IconButton } from '../../design/button.tsx';
import { texts } from '../../texts/texts.ts';
import { NumberField } from './number-field.tsx';

const t = texts.dashboards;

export function Thresholds({
  thresholds,
  onChange,
}: {
  readonly thresholds: readonly CellThreshold[];
  readonly onChange: (thresholds: readonly CellThreshold[]) => void;
}) {
  return (
    <fieldset class="chips-field">
      <legend>{t.thresholds}</legend>
      <div class="row">
        {thresholds.map((each, at) => (
          <span key={at} class="chip">
            <NumberField
              label={t.threshold(at + 1)}
              isLabelHidden
              value={each.value}
              onChange={(value) => {
                if (value !== undefined) onChange(thresholds.with(at, { ...each, value }));
              }}
            />
            <select
              class="input"
              aria-label={t.thresholdLevel(at + 1)}
              value={each.level}
              onChange={(event) => {
                const level = LEVELS.find((one) => one === event.currentTarget.value);
                if (level !== undefined) onChange(thresholds.with(at, { ...each, level }));
              }}
            >
              {LEVELS.map((level) => (
                <option key={level} value={level}>
                  {t.levels[level]}
                </option>
              ))}
            </select>
            <IconButton
              isSmall
              icon="close"
              label={t.removeIt(t.threshold(at + 1))}
              onClick={() => onChange(thresholds.toSpliced(at, 1))}
            />
          </span>
        ))}
        <Button
          isSmall
          icon="plus"
          onClick={() => onChange([...thresholds, { value: 0, level: 'warn' }])}
        >
          {t.addThreshold}
        </Button>
      </div>
    </fieldset>
  );
}
