// `tidemark tsdb setup`: creates the first admin user without a password in the list of processes.
// `tidemark setup` also asks what tasks may access.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import {
  eventually,
  EXECUTABLE,
  hasPrograms,
  makeDirectory,
  removeDirectory,
  run,
  send,
  startTidemark,
} from '@tidemark/testkit';
import type { RunResult, Tidemark } from '@tidemark/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

let server: Tidemark;
beforeEach(async () => {
  server = await startTidemark({ command: 'tsdb', args: ['--http-auth-enabled', 'true'] });
});
afterEach(async () => {
  await server.stop();
  await removeDirectory(server.directory);
});

function setup(
  args: readonly string[],
  options: { input?: string; environment?: Readonly<Record<string, string>> } = {},
): Promise<RunResult> {
  return run(EXECUTABLE, ['tsdb', 'setup', '--url', server.tsdb, ...args], options);
}

async function users(user: string, password: string): Promise<unknown> {
  const search = new URLSearchParams({ q: 'SHOW USERS', u: user, p: password });
  const answer = await send(`${server.tsdb}/query?${search.toString()}`);
  if (answer.status !== 200) return answer.status;
  return JSON.parse(answer.text).results[0].series[0].values;
}

test('the password comes from standard input, and there is a first time only', async () => {
  const password = 'it\'s \\ a "secret"';
  expect(await setup(['--username', 'the "boss"'], { input: `${password}\n` })).toEqual({
    status: 0,
    stdout: 'created the admin user the "boss"\n',
    stderr: '',
  });
  expect(await users('the "boss"', password)).toEqual([['the "boss"', true]]);

  const again = await setup(['--username', 'other'], { input: 'x\n' });
  expect([again.status, again.stderr]).toEqual([
    1,
    expect.stringContaining('authorization failed'),
  ]);
  expect(await users('other', 'x')).toBe(401);
});

test('or from the environment; what is missing is said', async () => {
  expect(await setup(['--username', 'ana'], { input: '\n' })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('the password is empty') as unknown,
  });
  expect(await setup([], { input: 'x\n' })).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('--username') as unknown,
  });
  const environment = { TIDEMARK_PASSWORD: 'secret' };
  const made = await setup(['--username', 'ana', '--json'], { environment });
  expect([made.status, JSON.parse(made.stdout)]).toEqual([0, { username: 'ana', admin: true }]);
  expect(await users('ana', 'secret')).toEqual([['ana', true]]);
});

describe('lists of a configuration', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await makeDirectory();
    await mkdir(join(folder, 'scripts'));
    const script = "stream|from()|alert().exec('/bin/page').log('/var/log/a.log')";
    await writeFile(join(folder, 'scripts', 'a.tick'), script);
  });
  afterEach(() => removeDirectory(folder));

  async function fill(config: string, ...args: readonly string[]) {
    const file = join(folder, 'tidemark.toml');
    await writeFile(file, config);
    const scripts = ['--config', file, '--scripts', join(folder, 'scripts')];
    const user = ['--url', server.tsdb, '--username', 'ana', ...args];
    const { status, stdout, stderr } = await run(EXECUTABLE, ['setup', ...scripts, ...user], {
      input: 'hush\n',
    });
    return { status, stdout, stderr, file: await readFile(file, 'utf8') };
  }

  test('are filled where nobody is asked, and the user is made', async () => {
    const before = '# mine\n[engine.alert] # here\ntopic-buffer-length = 7\n';
    const filled = await fill(before, '--allow-found');
    expect(filled).toMatchObject({ status: 0, stdout: 'created the admin user ana\n', stderr: '' });
    expect(filled.file).toBe(
      '# mine\n[engine.alert] # here\nallowed-files = ["/var/log/a.log"]\nallowed-programs = ["/bin/page"]\ntopic-buffer-length = 7\n',
    );
    expect(await users('ana', 'hush')).toEqual([['ana', true]]);
  });

  test('of secrets are filled with the references of scripts and handlers', async () => {
    const handler = { kind: 'talk', options: { url: 'env:TALK_URL' } };
    await writeFile(join(folder, 'scripts', 'b.json'), JSON.stringify(handler));

    const { file } = await fill('[engine.alert]\n', '--allow-found');

    expect(file).toContain('\nallowed-secrets = ["env:TALK_URL"]\n');
  });

  test('get comments without a yes, once; a list that is there is left alone', async () => {
    const listed = '[engine.alert]\nallowed-programs = ["/bin/page"]\n';
    const { file } = await fill(listed);
    expect(file).toBe(
      '[engine.alert]\n# Named by scripts, and refused until this is no comment:\n# allowed-files = ["/var/log/a.log"]\nallowed-programs = ["/bin/page"]\n',
    );
    expect((await fill(file)).file).toBe(file);
    const other = '[engine.alert]\nallowed-programs = ["/bin/other"]\n';
    expect(await fill(other, '--allow-found')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('add there: /bin/page') as unknown,
      file: other,
    });
  });

  test('in another form are added by hand', async () => {
    const inline = '[engine]\nalert = { topic-buffer-length = 7 }\n';
    expect(await fill(inline, '--allow-found')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('writes [engine.alert] in another form') as unknown,
      file: inline,
    });
  });
});

describe.skipIf(!hasPrograms('tmux'))('on a terminal', () => {
  const socket = `tidemark-setup-${process.pid}`;
  const tmux = async (...args: string[]): Promise<string> => {
    const result = await run('tmux', ['-L', socket, '-f', '/dev/null', ...args]);
    if (result.status !== 0) throw new Error(`tmux ${args.join(' ')}: ${result.stderr}`);
    return result.stdout;
  };
  const screenShows = (text: string): Promise<string> =>
    eventually(`${text} on the screen`, async () => {
      const screen = await tmux('capture-pane', '-p', '-J');
      return screen.includes(text) ? screen : undefined;
    });
  const answer = async (question: string, text: string): Promise<void> => {
    await screenShows(question);
    await tmux('send-keys', '-l', text);
    await tmux('send-keys', 'Enter');
  };
  afterEach(() => run('tmux', ['-L', socket, 'kill-server']));

  test('it asks for name and password, twice, and shows no password', async () => {
    const command = `${EXECUTABLE} tsdb setup --url ${server.tsdb}; read`;
    await tmux('new-session', '-d', '-x', '120', '-y', '20', 'bash', '-c', command);
    await answer('username:', 'ana');
    await answer('password:', 'hush');
    await answer('again:', 'hush');
    const screen = await screenShows('created the admin user ana');
    expect(screen).not.toContain('hush');
    expect(await users('ana', 'hush')).toEqual([['ana', true]]);
  });

  test('`tidemark setup` asks for each list before it', async () => {
    const folder = await makeDirectory();
    const [script, file] = [join(folder, 'a.tick'), join(folder, 'tidemark.toml')];
    await writeFile(script, "stream|from()|alert().exec('/bin/page').log('/var/log/a.log')");
    await writeFile(file, '');
    const command = `${EXECUTABLE} setup --config ${file} --scripts ${folder} --url ${server.tsdb}; read`;
    await tmux('new-session', '-d', '-x', '120', '-y', '30', 'bash', '-c', command);
    expect(await screenShows('Programs that exec handlers run')).toContain('/bin/page');
    await answer('allow all of them?', 'y');
    await answer('Files that log handlers write', 'n');
    await answer('username:', 'ana');
    await answer('password:', 'hush');
    await answer('again:', 'hush');
    await screenShows('created the admin user ana');
    expect(await readFile(file, 'utf8')).toContain(
      '# allowed-files = ["/var/log/a.log"]\nallowed-programs = ["/bin/page"]\n',
    );
    await removeDirectory(folder);
  });

  test('two passwords that differ make no user', async () => {
    const command = `${EXECUTABLE} tsdb setup --url ${server.tsdb}; read`;
    await tmux('new-session', '-d', '-x', '120', '-y', '20', 'bash', '-c', command);
    await answer('username:', 'ana');
    await answer('password:', 'one');
    await answer('again:', 'two');
    await screenShows('the passwords differ');
    const made = await setup(['--username', 'ben'], { input: 'x\n' });
    expect(made.status).toBe(0);
  });
});
