// Where an event came from: its task, its group, and its data around the time of the event.
import type { LevelChange } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { services } from '../../api/connection.ts';
import { problemOf } from '../../api/problem.ts';
import { Link } from '../../app/link.tsx';
import { navigate } from '../../app/router.ts';
import { Button } from '../../design/button.tsx';
import { toast } from '../../design/toasts.tsx';
import { EMPTY_QUERY, printBuilt } from '../../query/builder.ts';
import { texts } from '../../texts/texts.ts';
import { measurementDetails } from '../explore/schema.ts';

const t = texts.alerts;

export type Origin = Pick<LevelChange, 'task' | 'measurement' | 'group'>;

type Source = {
  readonly task: string;
  readonly measurement: string;
  readonly group: Readonly<Record<string, string>>;
};

/** How much is shown before and after the event. */
const AROUND_MS = 30 * 60_000;

const NUMERIC = ['float', 'integer', 'unsigned'];

/** The task of an event, and the tags of its group. */
export function OriginLink({ origin }: { readonly origin: Origin | undefined }) {
  const { task = '', group = {} } = origin ?? {};
  if (task === '') return null;
  const tags = Object.entries(group).map(([key, value]) => `${key}=${value}`);
  return (
    <>
      <Link page="tasks" params={{ id: task }}>
        {task}
      </Link>
      {tags.length === 0 ? null : <p class="muted small">{tags.join(' ')}</p>}
    </>
  );
}

/** Opens the data of the event's group in Explore, at the time of the event. */
export function OriginData({
  origin,
  time,
}: {
  readonly origin: Origin | undefined;
  readonly time: string;
}) {
  const { task = '', measurement = '' } = origin ?? {};
  if (task === '' || measurement === '' || services.tsdb.value.state === 'absent') return null;
  const open = async (): Promise<void> => {
    try {
      await showData({ task, measurement, group: origin?.group ?? {} }, Date.parse(time));
    } catch (error) {
      toast(problemOf(error).message, 'bad');
    }
  };
  return (
    <Button isSmall icon="explore" onClick={() => void open()}>
      {t.showData}
    </Button>
  );
}

async function showData({ task, measurement, group }: Source, timeMs: number): Promise<void> {
  const { dbrps, script } = await engine.task(task, { scriptFormat: 'raw' });
  const db = dbrps[0]?.db ?? '';
  const { fields } = await measurementDetails(db, measurement);
  const numeric = fields.filter(({ type }) => NUMERIC.includes(type));
  // Those that the script names; else all.
  const quoted = new Set([...script.matchAll(/(["'])(.*?)\1/g)].map((match) => match[2]));
  const named = numeric.filter(({ name }) => quoted.has(name));
  const q = printBuilt({
    ...EMPTY_QUERY,
    measurement,
    fields: (named.length === 0 ? numeric : named).map(({ name }) => ({ name, call: 'mean' })),
    filters: Object.entries(group).map(([tag, value]) => ({
      tag,
      isNot: false,
      values: [value],
    })),
    window: '$interval',
    fill: 'none',
  });
  navigate('explore', {
    db,
    q,
    from: new Date(timeMs - AROUND_MS).toISOString(),
    to: new Date(timeMs + AROUND_MS).toISOString(),
  });
}
