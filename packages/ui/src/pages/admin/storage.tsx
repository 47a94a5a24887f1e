// Disk usage: figures of log, memory, segments and compaction, and the shards on a timeline.
import { tsdb } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { formatBytes } from '../../charts/quantity.ts';
import { Figures } from '../../design/figures.tsx';
import type { Figure } from '../../design/figures.tsx';
import { Panel } from '../../design/panel.tsx';
import { texts } from '../../texts/texts.ts';
import { Shards } from './shards.tsx';
import { ask, Loaded } from './statements.tsx';

const t = texts.admin;
const REFRESH_MS = 5000;

/** Below this share of free space a warning is shown. */
const LOW_SPACE_SHARE = 0.1;

type Counters = Readonly<Record<string, number>>;

async function load(signal: AbortSignal) {
  const [stats, shards] = await Promise.all([
    tsdb.rows('SHOW STATS', { signal }),
    ask('SHOW SHARDS', signal),
  ]);
  const modules = stats.map(({ name = '', tags = {}, columns, values = [] }) => {
    const counters: Counters = Object.fromEntries(
      columns.map((column, i) => [column, Number(values[0]?.[i] ?? 0)]),
    );
    return { name, tags, counters };
  });
  const of = (name: string): Counters | undefined =>
    modules.find((module) => module.name === name)?.counters;
  const sizes = new Map(
    modules
      .filter(({ name }) => name === 'shard')
      .map(({ tags, counters }) => [String(tags['id']), counters['diskBytes'] ?? 0]),
  );
  return { storage: of('storage') ?? {}, disk: of('disk'), sizes, shards };
}

export function Storage() {
  const found = useResource(load, [], { refreshMs: REFRESH_MS });
  return (
    <>
      <Panel title={t.tabs.storage} isFlush>
        <Loaded resource={found}>
          {({ storage, disk }) => <Figures figures={figuresOf(storage, disk)} />}
        </Loaded>
      </Panel>
      <Loaded resource={found}>
        {({ shards, sizes }) => (
          <Shards shards={shards} sizes={sizes} onChange={() => void found.reload()} />
        )}
      </Loaded>
    </>
  );
}

/** Figures from the storage's counters; a cluster has fewer. */
function figuresOf(storage: Counters, disk: Counters | undefined): readonly Figure[] {
  const count = (name: string): string => (storage[name] ?? 0).toLocaleString('en');
  const figures: Figure[] = [];
  if (disk !== undefined) {
    const { freeBytes = 0, totalBytes = 1 } = disk;
    figures.push({
      label: t.diskFree,
      value: formatBytes(freeBytes),
      hint: t.ofTotal(formatBytes(totalBytes)),
      kind: freeBytes < totalBytes * LOW_SPACE_SHARE ? 'warn' : 'plain',
    });
  }
  const add = (name: string, figure: Figure): void => {
    if (storage[name] !== undefined) figures.push(figure);
  };
  const bytes = (name: string): string => formatBytes(storage[name] ?? 0);
  add('segmentBytes', {
    label: t.segments,
    value: bytes('segmentBytes'),
    hint: t.files(count('segments')),
  });
  add('memtableBytes', {
    label: t.inMemory,
    value: bytes('memtableBytes'),
    hint: t.flushes(count('flushes')),
  });
  add('walBytes', { label: t.log, value: bytes('walBytes'), hint: t.syncs(count('walSyncs')) });
  add('compactions', { label: t.compactions, value: count('compactions'), hint: t.sinceStart });
  add('indexBytes', { label: t.index, value: bytes('indexBytes') });
  const failures = (storage['flushFailures'] ?? 0) + (storage['walFailures'] ?? 0);
  figures.push({
    label: t.failures,
    value: String(failures),
    hint: t.failuresHint,
    kind: failures > 0 ? 'bad' : 'plain',
  });
  add('damagedFiles', {
    label: t.damaged,
    value: count('damagedFiles'),
    kind: (storage['damagedFiles'] ?? 0) > 0 ? 'bad' : 'plain',
  });
  return figures;
}
