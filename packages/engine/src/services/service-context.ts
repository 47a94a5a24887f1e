// The world that handlers of alerts see: configuration, HTTP, templates, what they may touch.
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, normalize, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InvalidRequest } from '@tidemark/core';
import {
  compileGlob,
  findHandlerKind,
  isReference,
  isSecretHeader,
  resolveSecrets,
} from '@tidemark/alerting';
import type { AccessPolicy, Options } from '@tidemark/alerting';
import type { HandlerSpec, HttpPostOptions, Pipeline, SideloadOptions } from '@tidemark/pipeline';
import { scriptHandlersOf } from '../tasks/task-service.ts';

/**
 * Decides what definitions of clients may reach (`[alert] allowed-programs`, `allowed-files`,
 * `allowed-secrets`): what the configuration lists, and nothing else, whoever asks and from
 * wherever.
 */
export function accessPolicy(options: {
  readonly programs: readonly string[];
  readonly files: readonly string[];
  /** Of references to secrets. */
  readonly secrets: readonly string[];
}): AccessPolicy {
  const check = (globs: readonly string[], key: string) => {
    const matchers = globs.map((glob) => compilePathGlob(glob));
    return (value: string): string | undefined => {
      if (matchers.some((fits) => fits(value))) return undefined;
      const line = `${key} = [${[...globs, value].map((each) => JSON.stringify(each)).join(', ')}]`;
      return `not allowed to use ${value}: the setting alert.${key} does not list it; if it may be used, write into the section [alert] of the engine's configuration: ${line}`;
    };
  };
  const refuseProgram = check(options.programs, 'allowed-programs');
  const refuseFile = check(options.files, 'allowed-files');
  const refuseSecret = check(options.secrets, 'allowed-secrets');
  return {
    // Not resolved: what a system calls a program is often a link. But `..` must not lead out of a
    // folder.
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

/**
 * Refuses a script whose handlers, sources or secrets are out of reach, in a sentence. Throws
 * `InvalidRequest`.
 */
export function checkAccess(pipeline: Pipeline, access: AccessPolicy): void {
  const reasons = pipeline.nodes.flatMap(({ type, options }) => {
    if (type === 'httpPost') return refusedHeaders(options as HttpPostOptions, access);
    if (type !== 'sideload') return [];
    const { source } = options as SideloadOptions;
    return source.startsWith('file://') && URL.canParse(source)
      ? access.refuseFile(fileURLToPath(source))
      : undefined;
  });
  for (const handler of scriptHandlersOf(pipeline)) {
    const { kind, options } = handler;
    reasons.push(...referencesOf(handler).map(access.refuseSecret));
    if (kind === 'exec') reasons.push(access.refuseProgram(String(options?.['prog'] ?? '')));
    if (kind === 'log') reasons.push(access.refuseFile(String(options?.['path'] ?? '')));
  }
  const reason = reasons.find((each) => each !== undefined);
  if (reason !== undefined) throw new InvalidRequest(reason);
}

function refusedHeaders(
  { headers }: HttpPostOptions,
  access: AccessPolicy,
): readonly (string | undefined)[] {
  return [...headers]
    .filter(([name, value]) => isSecretHeader(name) && isReference(value))
    .map(([, value]) => access.refuseSecret(value));
}

/**
 * References to secrets among the options of a handler. What the options are otherwise is checked
 * later.
 */
function referencesOf({ kind, options }: HandlerSpec): readonly string[] {
  const references: string[] = [];
  resolveSecrets(findHandlerKind(kind)?.options ?? [], (options ?? {}) as Options, (text) => {
    if (isReference(text)) references.push(text);
    return text;
  });
  return references;
}

// In paths a star stops at a slash; `/**` at the end means everything below.
function compilePathGlob(glob: string): (path: string) => boolean {
  if (glob.endsWith('/**')) {
    const folder = glob.slice(0, -2);
    return (path) => path.startsWith(folder) || `${path}/` === folder;
  }
  return compileGlob(glob) ?? (() => false);
}

// A link must not lead out of the allowed folders; a file that does not exist yet has a folder that
// does.
function realPath(path: string): string {
  try {
    return existsSync(path)
      ? realpathSync(path)
      : join(realpathSync(dirname(path)), basename(path));
  } catch {
    // Not even the folder exists: the text itself is what is checked.
    return path;
  }
}

/**
 * Reads secrets that the configuration gives by reference: `env:NAME`, `file:/path`. Other values
 * are themselves.
 */
export function secretResolver(
  environment: Readonly<Record<string, string | undefined>>,
): (value: string) => string {
  return (value) => {
    if (value.startsWith('env:')) {
      const found = environment[value.slice(4)];
      if (found === undefined)
        throw new InvalidRequest(`environment variable is not set. name=\`${value.slice(4)}\``);
      return found;
    }
    if (!value.startsWith('file:')) return value;
    const path = value.slice(5);
    try {
      return readFileSync(path, 'utf8').trim();
    } catch (cause) {
      throw new InvalidRequest(`cannot read secret. file=\`${path}\``, { cause });
    }
  };
}
