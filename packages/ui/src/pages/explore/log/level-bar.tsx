// The levels of a log with their numbers of events. Pressed ones are shown alone.
import { count } from '../../../texts/en/count.ts';
import { texts } from '../../../texts/texts.ts';
import { colourStyle } from './levels.ts';
import type { LevelLook } from './levels.ts';

const t = texts.log;

export function LevelBar({
  looks,
  totals,
  chosen,
  onToggle,
}: {
  /** The most severe first. */
  readonly looks: ReadonlyMap<string, LevelLook>;
  readonly totals: ReadonlyMap<string, number>;
  readonly chosen: readonly string[];
  readonly onToggle: (level: string) => void;
}) {
  return (
    <div class="log-levels" role="group" aria-label={t.levels}>
      {[...looks].map(([level, { colour }]) => {
        const content = (
          <>
            <span class="dot" style={{ ...colourStyle(colour), background: 'var(--area)' }} />
            {level === '' ? t.noLevel : level}
            <span class="muted">{count(totals.get(level) ?? 0)}</span>
          </>
        );
        // No condition finds events without a field.
        if (level === '')
          return (
            <span key={level} class="log-level-total">
              {content}
            </span>
          );
        return (
          <button
            key={level}
            type="button"
            class="log-level-total"
            aria-pressed={chosen.includes(level) ? 'true' : 'false'}
            onClick={() => onToggle(level)}
          >
            {content}
          </button>
        );
      })}
    </div>
  );
}
