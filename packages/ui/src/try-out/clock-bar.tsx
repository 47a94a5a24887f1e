// The clock of a try-out: play it, step through its moments, or drag it.
import { useSignal } from '@preact/signals';
import type { Signal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';

import { IconButton } from '../design/button.tsx';
import { formatInstant, shownZone } from '../time/zone.ts';
import { texts } from '../texts/texts.ts';

const t = texts.tryOut;

const TICK_MS = 100;
/** Playing takes about this many ticks, however many moments there are. */
const TICKS = 80;

/** `at` is the index of a moment; `undefined` follows the last. */
export function ClockBar({
  moments,
  at,
}: {
  readonly moments: readonly number[];
  readonly at: Signal<number | undefined>;
}) {
  const id = useId();
  const isPlaying = useSignal(false);
  const last = moments.length - 1;
  const index = Math.min(at.value ?? last, last);
  const move = (to: number): void => {
    at.value = to >= last ? undefined : Math.max(0, to);
  };
  useEffect(() => {
    if (!isPlaying.value) return undefined;
    const step = Math.max(1, Math.round(moments.length / TICKS));
    const timer = window.setInterval(() => {
      const next = (at.peek() ?? last) + step;
      if (next >= last) isPlaying.value = false;
      move(next);
    }, TICK_MS);
    return () => window.clearInterval(timer);
  }, [isPlaying.value, moments]);
  const play = (): void => {
    if (!isPlaying.value && at.value === undefined) at.value = 0;
    isPlaying.value = !isPlaying.value;
  };
  return (
    <div class="row clock-bar" role="group" aria-label={t.clock}>
      <IconButton
        icon={isPlaying.value ? 'pause' : 'play'}
        label={isPlaying.value ? t.pause : t.play}
        disabled={last < 1}
        onClick={play}
      />
      <IconButton
        icon="left"
        label={t.previous}
        disabled={index <= 0}
        onClick={() => move(index - 1)}
      />
      <IconButton
        icon="right"
        label={t.next}
        disabled={index >= last}
        onClick={() => move(index + 1)}
      />
      <label class="hidden-visually" for={id}>
        {t.clockAt}
      </label>
      <input
        id={id}
        type="range"
        class="grow"
        min={0}
        max={Math.max(0, last)}
        value={index}
        aria-valuetext={formatInstant(moments[index] ?? 0, shownZone.value)}
        onInput={(event) => move(Number(event.currentTarget.value))}
      />
      <output class="mono small" for={id}>
        {formatInstant(moments[index] ?? 0, shownZone.value)}
        {at.value === undefined ? ` (${t.atEnd})` : ''}
      </output>
    </div>
  );
}
