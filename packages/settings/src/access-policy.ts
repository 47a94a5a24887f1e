// The programs, files and references to secrets of the machine that client definitions may use.
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { compileGlob } from './glob.ts';

/**
 * Decides which programs may be started, which files written and which secrets read by definitions
 * of clients.
 */
export type AccessPolicy = {
  refuseProgram(program: string): string | undefined;
  refuseFile(path: string): string | undefined;
  /** The reason why a reference to a secret, `env:NAME` or `file:/path`, is refused. */
  refuseSecret(reference: string): string | undefined;
};

/**
 * Refuses nothing: for services in which nobody outside can define anything, such as those of task
 * tests.
 */
export const ALLOW_EVERYTHING: AccessPolicy = {
  refuseProgram: () => undefined,
  refuseFile: () => undefined,
  refuseSecret: () => undefined,
};

/**
 * Decides what definitions of clients may access (`[alert] allowed-programs`, `allowed-files`,
 * `allowed-secrets`): only what the configuration lists, whoever the client is.
 */
export function accessPolicy(options: {
  readonly programs: readonly string[];
  readonly files: readonly string[];
  /** Patterns of references to secrets. */
  readonly secrets: readonly string[];
  /** The section of these settings in the file that the process reads. */
  readonly section?: string | undefined;
}): AccessPolicy {
  const { section = 'alert' } = options;
  const check = (globs: readonly string[], key: string) => {
    const matchers = globs.map((glob) => compilePathGlob(glob));
    return (value: string): string | undefined => {
      if (matchers.some((fits) => fits(value))) return undefined;
      const line = `${key} = [${[...globs, value].map((each) => JSON.stringify(each)).join(', ')}]`;
      return `not allowed to use ${value}: the setting ${section}.${key} does not list it; if it may be used, write into the section [${section}] of the engine's configuration: ${line}`;
    };
  };
  const refuseProgram = check(options.programs, 'allowed-programs');
  const refuseFile = check(options.files, 'allowed-files');
  const refuseSecret = check(options.secrets, 'allowed-secrets');
  return {
    // Links are not resolved: programs are often links. But `..` must not lead out of a folder.
    refuseProgram: (program) => refuseProgram(normalize(program)),
    refuseFile: (path) => refuseFile(realPath(resolve(path))),
    refuseSecret: (reference) =>
      refuseSecret(
        reference.startsWith('file:')
          ? `file:${realPath(resolve(reference.slice('file:'.length)))}`
          : reference,
      ),
  };
}

// In paths a star stops at a slash; `/**` at the end means everything below.
function compilePathGlob(glob: string): (path: string) => boolean {
  if (glob.endsWith('/**')) {
    const folder = glob.slice(0, -2);
    return (path) => path.startsWith(folder) || `${path}/` === folder;
  }
  return compileGlob(glob) ?? (() => false);
}

// A link must not lead out of the allowed folders; for a file that does not exist yet its folder is
// resolved.
function realPath(path: string): string {
  try {
    return existsSync(path)
      ? realpathSync(path)
      : join(realpathSync(dirname(path)), basename(path));
  } catch {
    // Not even the folder exists: the text itself is checked.
    return path;
  }
}
