// Statements saved under a name: the server stores them for that user alone.
import { problemOf } from '../../api/problem.ts';
import { documents, newId } from '../../api/documents.ts';
import { useResource } from '../../api/use-resource.ts';
import type { Resource } from '../../api/use-resource.ts';
import { preference } from '../../app/stored.ts';
import { toast } from '../../design/toasts.tsx';
import { fieldsOf, textOf } from '../../dashboards/fields.ts';

export type Remembered = { readonly text: string; readonly database: string };

export type SavedQuery = Remembered & {
  readonly id: string;
  readonly version: number;
  readonly name: string;
};

/** More than anybody looks through. */
const SHOWN_MAX = 100;

/** Statements that browsers stored before the server did. */
const kept = preference<readonly (Remembered & { readonly name: string })[]>('explore.saved', []);

async function load(signal: AbortSignal): Promise<readonly SavedQuery[]> {
  await handOver();
  const listed = await documents().list('queries', signal);
  return Promise.all(
    listed.slice(0, SHOWN_MAX).map(async ({ id, version, title }) => {
      const { content } = await documents().get('queries', id, { signal });
      const { text, database } = fieldsOf(content);
      return { id, version, name: title, text: textOf(text), database: textOf(database) };
    }),
  );
}

/** Moves the statements stored in this browser to the server, once; existing names there win. */
async function handOver(): Promise<void> {
  if (kept.value.length === 0) return;
  const names = new Set((await documents().list('queries')).map(({ title }) => title));
  for (const one of kept.value) {
    if (!names.has(one.name)) await store(one.name, one, undefined);
    kept.value = kept.value.filter((each) => each !== one);
  }
}

async function store(
  name: string,
  { text, database }: Remembered,
  before: SavedQuery | undefined,
): Promise<void> {
  await documents().put('queries', before?.id ?? newId(name), {
    replaces: before?.version ?? 0,
    title: name,
    content: { text, database },
  });
}

/** The list and its actions; failures are shown. */
export function useSavedQueries(): {
  readonly list: Resource<readonly SavedQuery[]>;
  /** Whether it was stored. */
  readonly save: (name: string, query: Remembered) => Promise<boolean>;
  readonly forget: (query: SavedQuery) => Promise<boolean>;
} {
  const list = useResource(load, []);
  const perform = async (action: Promise<void>): Promise<boolean> => {
    try {
      await action;
      await list.reload();
      return true;
    } catch (error) {
      toast(problemOf(error).message, 'bad');
      await list.reload();
      return false;
    }
  };
  return {
    list,
    save: (name, query) =>
      perform(
        (async () => {
          const known = list.value.value ?? (await load(new AbortController().signal));
          const before = known.find((each) => each.name === name);
          await store(name, query, before);
        })(),
      ),
    forget: ({ id, version }) => perform(documents().remove('queries', id, version)),
  };
}
