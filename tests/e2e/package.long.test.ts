// The output of `npm run package`, unpacked into empty folders and run: it needs nothing from the
// repository. The complete installation, with npm, apt and a separate user on a clean Debian: `npm
// run soak:package`.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

import {
  hasPrograms,
  makeDirectory,
  query,
  removeDirectory,
  run,
  startTidemark,
  write,
} from '@tidemark/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CONTENTS = new URL('../../packaging/contents.mjs', import.meta.url).href;
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

let directory = '';
let packages = '';
beforeAll(async () => {
  directory = await makeDirectory();
  packages = join(directory, 'packages');
  execFileSync(process.execPath, [join(ROOT, 'packaging/build.mjs'), packages]);
});
afterAll(() => removeDirectory(directory));

const fileOf = (pattern: RegExp): string => {
  const name = readdirSync(packages).find((each) => pattern.test(each));
  if (name === undefined) throw new Error(`nothing like ${pattern} was made`);
  return join(packages, name);
};

/**
 * Everything that lies beside the executable is needed once: threads, kernels, page, native
 * packages.
 */
async function expectToWork(command: string): Promise<void> {
  const program = [command];
  const shown = await run(command, ['--version'], { directory: '/' });
  expect(shown).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' });
  const server = await startTidemark({ program });
  try {
    await query(server.tsdb, 'CREATE DATABASE d');
    await query(server.tsdb, "CREATE USER u WITH PASSWORD 'p'");
    await write(server.tsdb, 'd', 'm f=1 1');
    expect((await query(server.tsdb, 'SELECT f FROM m', 'd'))[0]?.values).toHaveLength(1);
    const script = "stream|from().measurement('m')|alert().topic('t')";
    const defined = await fetch(`${server.engine}/engine/v1/tasks`, {
      method: 'POST',
      body: JSON.stringify({
        id: 't',
        dbrps: [{ db: 'd', rp: 'autogen' }],
        script,
        status: 'enabled',
      }),
    });
    expect(defined.status).toBe(200);
    expect(await (await fetch(server.ui)).text()).toContain('<title>Tidemark</title>');
    await server.kill();
    // A start after a crash reads the metadata in a process of its own.
    const again = await startTidemark({ program, directory: server.directory });
    expect((await query(again.tsdb, 'SELECT f FROM m', 'd'))[0]?.values).toHaveLength(1);
    expect(await again.stop()).toBe(0);
  } finally {
    await server.kill();
    await removeDirectory(server.directory);
  }
}

test('the npm tarball runs where only its own dependencies are', async () => {
  const place = join(directory, 'npm');
  mkdirSync(place);
  execFileSync('tar', ['-xzf', fileOf(/^tidemark-.*\.tgz$/), '-C', place]);
  const tree = join(place, 'package');
  const { bin, dependencies } = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')) as {
    bin: { tidemark: string };
    dependencies: Record<string, string>;
  };

  // npm must install exactly the versions tested here.
  expect(Object.values(dependencies).filter((range) => !/^\d+\.\d+\.\d+$/.test(range))).toEqual([]);
  const copy = `import { copyDependencies } from ${JSON.stringify(CONTENTS)}; copyDependencies(${JSON.stringify(tree)});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', copy]);
  await expectToWork(join(tree, bin.tidemark));
  expect(existsSync(join(tree, 'packages/cli/dist'))).toBe(false);
  rmSync(place, { recursive: true });
});

describe.skipIf(!hasPrograms('dpkg-deb'))('the Debian package', () => {
  let root = '';
  beforeAll(() => {
    root = join(directory, 'root');
    execFileSync('dpkg-deb', ['-x', fileOf(/\.deb$/), root]);
    execFileSync('dpkg-deb', ['-e', fileOf(/\.deb$/), join(root, 'DEBIAN')]);
  });

  test('runs from where it is unpacked', async () => {
    const link = readlinkSync(join(root, 'usr/bin/tidemark'));
    await expectToWork(join(root, 'usr/bin', link));
  });

  test('has a manual page, completions and documents where Debian looks for them', async () => {
    const share = join(root, 'usr/share');
    const manual = gunzipSync(readFileSync(join(share, 'man/man1/tidemark.1.gz'))).toString();
    const bash = join(share, 'bash-completion/completions/tidemark');
    const asked = `source ${bash}; COMP_WORDS=(tidemark tsdb ba) COMP_CWORD=2; _tidemark; echo "\${COMPREPLY[*]}"`;

    expect(manual).toMatch(/^\.TH TIDEMARK 1 /);
    expect(manual).toContain('.SH "tidemark tsdb backup"');
    expect(manual).toContain('.B TIDEMARK_PASSWORD\n');
    // A line that begins with a dot and is no request would be lost.
    expect(manual.match(/^\.(?!TH |SH |SS |TP$|PP$|B |I |nf$|fi$).*/gm)).toBeNull();
    expect(execFileSync('bash', ['-c', asked], { encoding: 'utf8' }).trim()).toBe('backup');
    expect(readFileSync(join(share, 'doc/tidemark/copyright'), 'utf8')).toContain('MIT');
    expect(readdirSync(join(share, 'doc/tidemark/guide'))).toContain('running.md');
    expect(existsSync(join(share, 'fish/vendor_completions.d/tidemark.fish'))).toBe(true);
  });

  test('has a configuration that is valid and the administrator’s own', async () => {
    const file = join(root, 'etc/tidemark/tidemark.toml');
    const executable = join(root, 'usr/lib/tidemark/packages/cli/bin/tidemark');

    expect(await run(executable, ['config', 'check', file])).toMatchObject({
      status: 0,
    });
    expect(readFileSync(join(root, 'DEBIAN/conffiles'), 'utf8')).toBe(
      '/etc/tidemark/tidemark.toml\n',
    );
  });

  test('has a unit that starts what is installed', () => {
    const unit = readFileSync(join(root, 'lib/systemd/system/tidemark.service'), 'utf8');

    expect(unit).toContain(
      '\nExecStart=/usr/bin/tidemark up --config /etc/tidemark/tidemark.toml --data-dir /var/lib/tidemark\n',
    );
    expect(unit).toContain('User=tidemark\n');
    expect(unit).not.toContain('/opt');
  });

  test('removes no data, whatever is asked for', async () => {
    const removing = ['prerm', 'postrm'].map((script) =>
      readFileSync(join(root, 'DEBIAN', script), 'utf8'),
    );

    for (const script of ['postinst', 'prerm', 'postrm']) {
      const file = join(root, 'DEBIAN', script);
      expect(await run('sh', ['-n', file])).toMatchObject({ status: 0, stderr: '' });
    }
    expect(removing.join('\n')).not.toMatch(/\brm\b|userdel|deluser/);
  });
});

test('the context of the image has the tarball and its Dockerfile', () => {
  const context = join(packages, 'image');

  expect(readdirSync(context).toSorted()).toEqual(['Dockerfile', 'tidemark.tgz']);
  const tarball = readFileSync(fileOf(/^tidemark-.*\.tgz$/));
  expect(readFileSync(join(context, 'tidemark.tgz')).equals(tarball)).toBe(true);
  // Both continue in the same way after the installation.
  const after = (file: string): string | undefined =>
    /^RUN mkdir \/data[\s\S]*?(?=^ENTRYPOINT)/m.exec(readFileSync(file, 'utf8'))?.[0];
  expect(after(join(context, 'Dockerfile'))).toBe(after(join(ROOT, 'Dockerfile')));
  expect(after(join(ROOT, 'Dockerfile'))).toContain('HEALTHCHECK');
});
