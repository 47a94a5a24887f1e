// The duration of states.
import { seriesColour } from '../../charts/colours.ts';
import { formatInstant, shownZone } from '../../time/zone.ts';
import type { DrawingProps } from '../kind.ts';
import { shownLanes } from '../shown.ts';
import { Times } from '../times.tsx';
import { exactValue } from '../value-text.ts';
import type { ShownValue } from '../value-text.ts';

const LEVEL_OF_STATE: Readonly<Record<string, string>> = {
  ok: 'good',
  info: 'info',
  warning: 'warn',
  critical: 'bad',
};

export function Drawing({ answer, cell }: DrawingProps) {
  const { span } = answer;
  const lanes = shownLanes(cell, answer);
  const zone = shownZone.value;
  const known = [...new Set(lanes.flatMap(({ stretches }) => stretches.map(({ text }) => text)))];
  const share = (ms: number): number => ((ms - span.fromMs) / (span.toMs - span.fromMs)) * 100;
  return (
    <div class="states">
      {lanes.map(({ label, stretches }) => (
        <div key={label} class="lane">
          <span class="small">{label}</span>
          <ol aria-label={label}>
            {stretches.map(({ fromMs, toMs, text: value }) => {
              const { text, level } = shownState(cell, value);
              const left = Math.max(0, share(fromMs));
              return (
                <li
                  key={fromMs}
                  class={level ?? LEVEL_OF_STATE[text.toLowerCase()] ?? ''}
                  title={`${text}: ${formatInstant(fromMs, zone)} – ${formatInstant(toMs, zone)}`}
                  style={{
                    left: `${left}%`,
                    width: `${Math.max(0.2, share(toMs) - left)}%`,
                    '--own': `var(--${seriesColour(known.indexOf(value))})`,
                  }}
                >
                  {text}
                </li>
              );
            })}
          </ol>
        </div>
      ))}
      <Times span={span} />
    </div>
  );
}

/** States are texts; numeric states are shown as texts. */
function shownState(cell: DrawingProps['cell'], value: string): ShownValue {
  const isNumber = value.trim() !== '' && !Number.isNaN(Number(value));
  return exactValue(cell, isNumber ? Number(value) : value);
}
