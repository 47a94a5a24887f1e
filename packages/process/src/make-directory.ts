// Creates directories that a setting names, step by step. Node's own recursive `mkdir` loops
// forever below a directory that answers "no such file" to a missing name, such as those of /proc:
// it tries to create the parent again and again.
import { accessSync, constants, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { InvalidRequest, messageOf } from '@tidemark/core';

export type MakeDirectoryOptions = {
  /** The setting to change for another directory: for one that must be writable from the start. */
  readonly setting?: string | undefined;
  readonly mode?: number | undefined;
};

/**
 * Creates a directory and its missing parents. Throws `InvalidRequest`, which names the step that
 * fails and the setting, when that is not possible.
 */
export function makeDirectory(path: string, options: MakeDirectoryOptions = {}): void {
  const { setting, mode } = options;
  const refuse = (at: string, error: unknown): never => {
    const { code = '' } = error as NodeJS.ErrnoException;
    const advice = setting === undefined ? '' : `; choose another with ${setting}`;
    throw new InvalidRequest(
      `directory ${path} cannot be used: ${REASONS[code]?.(at) ?? messageOf(error)}${advice}`,
      { cause: error },
    );
  };
  const missing: string[] = [];
  let step = resolve(path);
  while (!isThere(step, refuse)) {
    missing.unshift(step);
    step = dirname(step);
  }
  for (const directory of missing) makeOne(directory, mode, refuse);
  if (setting === undefined) return;
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    refuse(path, error);
  }
}

type Refuse = (at: string, error: unknown) => never;

/** The root always exists, so the way up ends. */
function isThere(step: string, refuse: Refuse): boolean {
  try {
    if (statSync(step).isDirectory()) return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? false : refuse(step, error);
  }
  return refuse(step, Object.assign(new Error(), { code: 'ENOTDIR' }));
}

function makeOne(step: string, mode: number | undefined, refuse: Refuse): void {
  try {
    mkdirSync(step, mode === undefined ? {} : { mode });
  } catch (error) {
    // Another process may have created it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') refuse(dirname(step), error);
  }
}

const user = `user ${process.getuid?.() ?? ''}`;

/** Why nothing can be created or written there, by error code. */
const REASONS: Readonly<Record<string, (at: string) => string>> = {
  EACCES: (at) => `${user} has no right to ${at}`,
  EPERM: (at) => `${user} has no right to ${at}`,
  EROFS: (at) => `${at} is mounted read-only`,
  ENOTDIR: (at) => `${at} is not a directory`,
  ENOSPC: (at) => `there is no space left for ${at}`,
  ENOENT: (at) => `${at} takes no directories`,
};
