// Finds programs, files, folders and references to secrets in scripts and handler files.
// `alert.allowed-programs`, `allowed-files` and `allowed-secrets` have to list them before they can
// be used.
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findHandlerKind } from '@tidemark/alerting';
import { messageOf } from '@tidemark/core';
import { HANDLERS, NODES } from '@tidemark/pipeline';
import type { ExternalResource } from '@tidemark/pipeline';
import { isReference } from '@tidemark/settings';
import { parseScript } from '@tidemark/tickscript';
import type { ChainNode, FunctionNode } from '@tidemark/tickscript';
import { asObject, parseJson } from '../formats/json.ts';
import { parseYaml } from '../formats/yaml.ts';

export type FoundReach = {
  /** Programs of exec handlers, with the files that name them. */
  readonly programs: ReadonlyMap<string, readonly string[]>;
  /** Files of log handlers and folders of sideload nodes, with the files that name them. */
  readonly files: ReadonlyMap<string, readonly string[]>;
  /** References to secrets, `env:NAME` and `file:/path`, with the files that name them. */
  readonly secrets: ReadonlyMap<string, readonly string[]>;
  /**
   * Sentences about definitions that could not be read, or that are only known when a task runs.
   */
  readonly unclear: readonly string[];
};

type Kind = 'programs' | 'files' | 'secrets';

/** Handlers and properties of scripts whose first argument names a program, file or secret. */
const REACHING: ReadonlyMap<string, ExternalResource> = new Map(
  [...HANDLERS, ...NODES.flatMap(({ properties }) => properties)].flatMap((row) => {
    const reached = row.parameters[0]?.reaches;
    if (reached === undefined || reached === 'host') return [];
    return [[row.name, reached] as const];
  }),
);

/** A path with these would allow more than itself. */
const GLOB_CHARACTERS = /[*?[\]{}\\]/;

/** Reads all definitions below a folder: `.tick` scripts, tasks and handlers in JSON and YAML. */
export async function findReach(folder: string): Promise<FoundReach> {
  const search = new Search();
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.sort()) {
    const extension = extname(path);
    try {
      if (extension === '.tick') search.script(path, await readFile(path, 'utf8'));
      else if (extension === '.json')
        search.document(path, parseJson(await readFile(path), 'not JSON'));
      else if (extension === '.yml' || extension === '.yaml')
        search.document(path, parseYaml(await readFile(path, 'utf8')));
    } catch (error) {
      search.unclear.push(`${path}: ${messageOf(error)}`);
    }
  }
  return search;
}

class Search implements FoundReach {
  readonly programs = new Map<string, string[]>();
  readonly files = new Map<string, string[]>();
  readonly secrets = new Map<string, string[]>();
  readonly unclear: string[] = [];

  script(path: string, text: string): void {
    const { program, error } = parseScript(text);
    if (error !== undefined) this.unclear.push(`${path}: ${error}`);
    const variables = new Map<string, string | undefined>();
    for (const statement of program.statements) {
      if (statement.kind === 'type-declaration') variables.set(statement.name, undefined);
      if (statement.kind !== 'declaration') continue;
      const { name, value } = statement;
      variables.set(name, value.kind === 'string' ? value.value : undefined);
    }
    const valueOf = (argument: FunctionNode['arguments'][number] | undefined) =>
      argument?.kind === 'identifier' ? variables.get(argument.name) : stringOf(argument);
    for (const { name, arguments: given } of propertiesIn(program)) {
      const reached = REACHING.get(name);
      if (reached === undefined) {
        for (const argument of given) this.#text(path, valueOf(argument));
        continue;
      }
      const [argument] = given;
      const isVariable = argument?.kind === 'identifier';
      const value = valueOf(argument);
      if (isVariable || (value === undefined && argument !== undefined)) {
        this.unclear.push(`${path}: .${name}(…) is not written out; tasks may give other values`);
      }
      if (value !== undefined) this.#option(path, reached, value);
    }
  }

  /** A handler, or a task with its script. */
  document(path: string, value: unknown): void {
    const { kind, options, script } = asObject(value, 'expected an object');
    if (typeof script === 'string') this.script(path, script);
    for (const text of textsIn(options)) this.#text(path, text);
    const table = typeof kind === 'string' ? findHandlerKind(kind)?.options : undefined;
    for (const [name, { reaches }] of Object.entries(table ?? {})) {
      if (reaches === undefined || reaches === 'host') continue;
      const given = asObject(options, 'expected options')[name];
      if (typeof given === 'string') this.#option(path, reaches, given);
      else this.unclear.push(`${path}: the handler names no ${name}`);
    }
  }

  #option(path: string, reached: ExternalResource, value: string): void {
    if (reached === 'program') this.#add('programs', value, path);
    else if (reached === 'file') this.#add('files', value, path);
    else if (value.startsWith('file://') && URL.canParse(value))
      this.#add('files', fileURLToPath(value), path);
  }

  #text(path: string, value: string | undefined): void {
    if (value !== undefined && isReference(value)) this.#add('secrets', value, path);
  }

  #add(kind: Kind, value: string, path: string): void {
    if (GLOB_CHARACTERS.test(value)) {
      this.unclear.push(`${path}: ${value} has characters of a pattern; list it by hand`);
      return;
    }
    const users = this[kind].get(value) ?? [];
    if (!users.includes(path)) users.push(path);
    this[kind].set(value, users);
  }
}

/** All texts of a document. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  if (typeof value !== 'object' || value === null) return;
  for (const item of Object.values(value)) yield* textsIn(item);
}

/** Calls after a dot, wherever they are. */
function* propertiesIn(node: object): Generator<FunctionNode> {
  const { kind, operator, right }: Partial<ChainNode> = node;
  if (kind === 'chain' && operator === '.' && right?.kind === 'function') yield right;
  for (const value of Object.values(node) as unknown[]) {
    if (typeof value === 'object' && value !== null) yield* propertiesIn(value);
  }
}

const stringOf = (node: FunctionNode['arguments'][number] | undefined): string | undefined =>
  node?.kind === 'string' ? node.value : undefined;
