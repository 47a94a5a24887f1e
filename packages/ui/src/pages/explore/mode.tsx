// Explore shows what a statement returns, or the log of a measurement.
import { computed } from '@preact/signals';

import { route, setParams } from '../../app/router.ts';
import type { Params } from '../../app/router.ts';
import { Choice } from '../../design/button.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.log;

/** In the place of the parts of a result. */
const LOG = 'log';

export const isLog = computed(() => route.value.params.get('view') === LOG);

export function ModeChoice({
  logParams,
}: {
  /** Parameters of the log that belongs to what is shown. */
  readonly logParams?: (() => Params) | undefined;
}) {
  return (
    <Choice
      label={t.mode}
      value={isLog.value ? 'log' : 'query'}
      options={[
        { value: 'query', label: t.modes.query },
        { value: 'log', label: t.modes.log },
      ]}
      onChange={(mode) => {
        if (mode === 'log') setParams({ ...logParams?.(), view: LOG });
        else setParams({ view: '' });
      }}
    />
  );
}
