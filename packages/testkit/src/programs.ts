// Programs that tests start, and their Debian packages: programs.json, from which `.ci/run` makes
// its list of packages. `peers` may be missing: continuous integration installs them and fails
// without them (TIDEMARK_REQUIRE_PEERS=1), elsewhere the tests that need one are skipped by name.
// `essential` lists what every Debian has. Tests find no other programs: `linkPrograms` makes the
// only directory of their PATH.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

type Packages = Readonly<Record<string, readonly string[]>>;

const TABLE = JSON.parse(
  readFileSync(new URL('../programs.json', import.meta.url), 'utf8'),
) as Readonly<Record<'peers' | 'essential', Packages>>;

/** Where packages install programs; before PATH, which may have others of the same names. */
const PACKAGED = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/**
 * The packages that tests need besides the essential ones, with the programs (or files) that they
 * need.
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
 * Whether all programs that a test starts are installed; files are named by their paths. If one is
 * missing: an error if peers are required, otherwise a line on standard error that names what is
 * skipped.
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
 * Whether this user may mount a file system in a name space, as tests of a full disk need. If not,
 * as in containers without that right, reports on standard error what is skipped.
 */
export function canMountTmpfs(): boolean {
  if (!hasPrograms('mount', 'unshare')) return false;
  try {
    const mount = ['mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', '/mnt'];
    execFileSync('unshare', ['-rm', ...mount], { stdio: 'ignore', timeout: 20_000 });
    return true;
  } catch {
    // It is not permitted, which is the answer.
    process.stderr.write('left out: a full disk (mounting is not permitted here)\n');
    return false;
  }
}

/**
 * Fills a directory with links to the installed programs of the table, and to those of Node.js. If
 * it is the whole PATH, a test that starts another program fails on every machine, not only where
 * that program is missing.
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
