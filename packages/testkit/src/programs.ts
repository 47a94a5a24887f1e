// Programs that tests start, and the Debian packages they are in: programs.json, of which `.ci/run`
// makes its list of packages. `peers` may be missing: continuous integration installs them and
// fails without them (TIDEMARK_REQUIRE_PEERS=1), elsewhere the tests that need one are left out by
// name. `essential` is what every Debian has. Tests find nothing else: `linkPrograms` makes the
// only directory of their PATH.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

type Packages = Readonly<Record<string, readonly string[]>>;

const TABLE = JSON.parse(
  readFileSync(new URL('../programs.json', import.meta.url), 'utf8'),
) as Readonly<Record<'peers' | 'essential', Packages>>;

/** Where packages put programs; before PATH, which may know others of the same names. */
const PACKAGED = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/**
 * The packages that tests need besides those that are always there, with the programs (or files)
 * they need them for.
 */
export const PEER_PACKAGES: Packages = TABLE.peers;

/** The names of the programs that every Debian has and tests start. */
export const ESSENTIAL_PROGRAMS: readonly string[] = Object.values(TABLE.essential).flat();

/** The path of a program, `undefined` when it is not installed. */
export function programPath(program: string): string | undefined {
  if (isAbsolute(program)) return existsSync(program) ? program : undefined;
  return [...PACKAGED, ...(process.env['PATH'] ?? '').split(delimiter)]
    .map((directory) => join(directory, program))
    .find((path) => existsSync(path));
}

/**
 * Whether all programs that a test starts are installed; files are named by their paths. When one
 * is missing: an error where peers are required, otherwise a line on standard error that names what
 * is left out.
 */
export function hasPrograms(...programs: readonly string[]): boolean {
  const missing = programs
    .map((program) => ({ program, name: packageOf(program) }))
    .filter(({ program }) => programPath(program) === undefined);
  if (missing.length === 0) return true;
  const named = missing.map(({ program, name }) => `${program} (package ${name})`).join(', ');
  if (process.env['TIDEMARK_REQUIRE_PEERS'] === '1')
    throw new Error(`required here and not installed: ${named}`);
  process.stderr.write(`left out: tests that need ${named}\n`);
  return false;
}

/**
 * Whether this user may have a file system of its own in a name space of its own, as tests of a
 * full disk want. Says on standard error what is left out when it may not, which is so in
 * containers without the right to mount.
 */
export function canMountTmpfs(): boolean {
  if (!hasPrograms('mount', 'unshare')) return false;
  try {
    const mount = ['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', '/mnt'];
    execFileSync('unshare', ['-rm', ...mount], { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch {
    // No right to it, which is the question.
    process.stderr.write('left out: a full disk (mounting is not permitted here)\n');
    return false;
  }
}

/**
 * Fills a directory with links to the programs of the table that are installed, and to those of
 * Node.js. Where it is the whole PATH, a test that starts another program fails on every machine,
 * not only where that program is missing.
 */
export function linkPrograms(directory: string): void {
  const programs = [...Object.values(TABLE.peers).flat(), ...ESSENTIAL_PROGRAMS];
  for (const program of programs.filter((name) => !isAbsolute(name))) {
    const path = programPath(program);
    if (path !== undefined) symlinkSync(path, join(directory, program));
  }
  symlinkSync(process.execPath, join(directory, 'node'));
  for (const program of ['npm', 'npx']) {
    // They may belong to another Node.js than the one that runs the tests.
    const path = programPath(program);
    if (path !== undefined) symlinkSync(path, join(directory, program));
  }
}

function packageOf(program: string): string {
  const packages = Object.entries({ ...TABLE.peers, ...TABLE.essential });
  const found = packages.find(([, programs]) => programs.includes(program));
  if (found === undefined) throw new Error(`programs.json has no program ${program}`);
  return found[0];
}
