// The lists `alert.allowed-…`: filled from what scripts use, and written into a configuration.
import { messageOf } from '@tidemark/core';
import type { FoundReach } from '@tidemark/engine';

import type { ConversionNote } from './convert.ts';

/** The values in scripts that one setting has to list. */
export type FoundList = {
  readonly key: 'allowed-programs' | 'allowed-files' | 'allowed-secrets';
  /** The question to the user. */
  readonly title: string;
  /** Each value with the scripts that contain it. */
  readonly found: ReadonlyMap<string, readonly string[]>;
};

/** Decides whether all values of a list are allowed. */
export type Decide = (list: FoundList) => Promise<boolean>;

/** Reads definitions below folders. Unreadable folders and unclear values become notes. */
export async function findLists(folders: readonly string[]): Promise<{
  readonly lists: readonly FoundList[];
  readonly notes: readonly ConversionNote[];
}> {
  const { findReach } = await import('@tidemark/engine');
  const programs = new Map<string, readonly string[]>();
  const files = new Map<string, readonly string[]>();
  const secrets = new Map<string, readonly string[]>();
  const notes: ConversionNote[] = [];
  for (const folder of folders) {
    let reach: FoundReach;
    try {
      reach = await findReach(folder);
    } catch (error) {
      notes.push({ key: folder, message: `scripts cannot be read: ${messageOf(error)}` });
      continue;
    }
    merge(programs, reach.programs);
    merge(files, reach.files);
    merge(secrets, reach.secrets);
    notes.push(...reach.unclear.map((message) => ({ key: 'alert', message })));
  }
  const lists: readonly FoundList[] = [
    { key: 'allowed-programs', title: 'Programs that exec handlers run', found: programs },
    {
      key: 'allowed-files',
      title: 'Files that log handlers write and folders that sideload nodes read',
      found: files,
    },
    {
      key: 'allowed-secrets',
      title: 'References to secrets that scripts and handlers use',
      found: secrets,
    },
  ];
  return { lists: lists.filter(({ found }) => found.size > 0), notes };
}

function merge(
  all: Map<string, readonly string[]>,
  found: ReadonlyMap<string, readonly string[]>,
): void {
  for (const [path, users] of found) all.set(path, [...(all.get(path) ?? []), ...users]);
}

/** The lines of a list in the section `alert`; commented out if it is not allowed. */
export function listLines({ key, found }: FoundList, isAllowed: boolean): readonly string[] {
  const values = [...found.keys()].map((path) => JSON.stringify(path)).join(', ');
  const line = `${key} = [${values}]`;
  return isAllowed
    ? [line]
    : ['# Named by scripts, and refused until this is no comment:', `# ${line}`];
}

/** Inserts lines at the beginning of a section, which is added if missing. */
export function withLines(toml: string, section: string, lines: readonly string[]): string {
  if (lines.length === 0) return toml;
  const added = `${lines.join('\n')}\n`;
  const name = section.split('.').join(String.raw`\s*\.\s*`);
  const header = new RegExp(String.raw`^[ \t]*\[\s*${name}\s*\][ \t]*(?:#.*)?\r?\n`, 'm').exec(
    toml,
  );
  if (header === null) return `${toml.trimEnd()}\n\n[${section}]\n${added}`;
  const at = header.index + header[0].length;
  return toml.slice(0, at) + added + toml.slice(at);
}
