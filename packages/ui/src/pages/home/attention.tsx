// What to do next: problems first, then the steps that a new installation has before it.
import { session } from '../../api/session.ts';
import { Link } from '../../app/link.tsx';
import type { Params } from '../../app/router.ts';
import { formatBytes } from '../../charts/quantity.ts';
import { Icon } from '../../design/icon.tsx';
import type { IconName } from '../../design/icon.tsx';
import { Panel } from '../../design/panel.tsx';
import { texts } from '../../texts/texts.ts';
import type { DatabaseOverview, EngineOverview } from './load.ts';
import { needsAttention } from './task-health.ts';

const t = texts.home;

/** Below this share of free space the disk needs attention. */
const LOW_SPACE_SHARE = 0.1;

type Item = {
  readonly kind: 'bad' | 'warn' | 'step';
  readonly text: string;
  readonly action: string;
  readonly page: string;
  readonly params?: Params;
};

const ICONS = { bad: 'error', warn: 'warning', step: 'right' } as const satisfies Record<
  Item['kind'],
  IconName
>;

export function Attention({
  database,
  engine,
}: {
  readonly database: DatabaseOverview | undefined;
  readonly engine: EngineOverview | undefined;
}) {
  if (database === undefined && engine === undefined) return null;
  const items = [
    ...(database === undefined ? [] : ofDatabase(database)),
    ...(engine === undefined ? [] : ofEngine(engine)),
  ];
  return (
    <Panel title={t.next} isFlush>
      {items.length === 0 ? (
        <ul class="attention">
          <li>
            <Icon name="check" />
            {t.nothingNext}
          </li>
        </ul>
      ) : (
        <ul class="attention">
          {items.map(({ kind, text, action, page, params = {} }) => (
            <li key={text}>
              <span class={kind === 'step' ? 'muted' : kind}>
                <Icon name={ICONS[kind]} />
              </span>
              <span>
                {text}{' '}
                <Link page={page} params={params}>
                  {action}
                </Link>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function ofDatabase({ databases, counters, slow }: DatabaseOverview): readonly Item[] {
  const items: Item[] = [];
  const count = (module: string, name: string): number => counters?.(module, name) ?? 0;
  const admin = (tab: string): Pick<Item, 'page' | 'params'> => ({
    page: 'admin',
    params: { tab },
  });
  const failures =
    count('storage', 'flushFailures') +
    count('storage', 'walFailures') +
    count('storage', 'damagedFiles');
  if (failures > 0) {
    items.push({
      kind: 'bad',
      text: t.storageFailed(failures),
      action: t.show,
      ...admin('storage'),
    });
  }
  const free = count('disk', 'freeBytes');
  if (free < count('disk', 'totalBytes') * LOW_SPACE_SHARE) {
    items.push({
      kind: 'warn',
      text: t.lowDisk(formatBytes(free)),
      action: t.show,
      ...admin('storage'),
    });
  }
  const rejected = count('httpd', 'linesRejected') + count('httpd', 'pointsWrittenDropped');
  if (rejected > 0) {
    items.push({ kind: 'warn', text: t.rejected(rejected), action: t.why, ...admin('rejected') });
  }
  if (slow !== undefined && slow.count > 0) {
    items.push({
      kind: 'warn',
      text: t.slowFound(slow.count),
      action: t.show,
      ...admin('queries'),
    });
  }
  if (databases.length === 0) {
    items.push({ kind: 'step', text: t.noDatabasesHint, action: t.first, page: 'start' });
  }
  return items;
}

function ofEngine({ tasks, deadLetterCount }: EngineOverview): readonly Item[] {
  const items: Item[] = [];
  const failing = tasks.filter(needsAttention).length;
  if (failing > 0) {
    items.push({ kind: 'warn', text: t.failingTasks(failing), action: t.show, page: 'tasks' });
  }
  if (deadLetterCount > 0) {
    items.push({
      kind: 'warn',
      text: t.deadLetters(deadLetterCount),
      action: t.why,
      page: 'alerts',
      params: { tab: 'dead' },
    });
  }
  if (tasks.length === 0 && session.value.isAdmin) {
    items.push({
      kind: 'step',
      text: t.noTasksHint,
      action: t.newTask,
      page: 'tasks',
      params: { new: '1' },
    });
  }
  return items;
}
