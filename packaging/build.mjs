// `npm run package`: what Tidemark is installed from, in build/packages or the directory that is
// given: an npm tarball, a Debian package and the context of an image. Needs a build (`npm run
// build`), and Debian's `dpkg-deb` for the second.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

import { copyDependencies, ROOT, writeTree } from './contents.mjs';
import { manPage } from './man-page.mjs';

const out = resolve(process.argv[2] ?? join(ROOT, 'build/packages'));
const work = mkdtempSync(join(tmpdir(), 'tidemark-package-'));
try {
  const tree = join(work, 'tree');
  const version = writeTree(tree);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const tarball = makeTarball(tree, version);
  makeImageContext(tarball);
  makeDebianPackage(tree, version);
} finally {
  rmSync(work, { recursive: true, force: true });
}

function makeTarball(tree, version) {
  const quiet = ['--silent', '--ignore-scripts', '--pack-destination', out];
  execFileSync('npm', ['pack', ...quiet], { cwd: tree, stdio: ['ignore', 'ignore', 'inherit'] });
  const file = `tidemark-${version}.tgz`;
  process.stdout.write(`${join(out, file)}\n`);
  return file;
}

/** A directory for `docker build`: the Dockerfile and the tarball, nothing of the repository. */
function makeImageContext(tarball) {
  const context = join(out, 'image');
  mkdirSync(context);
  copyFileSync(join(out, tarball), join(context, 'tidemark.tgz'));
  copyFileSync(join(ROOT, 'packaging/image.Dockerfile'), join(context, 'Dockerfile'));
  process.stdout.write(`${context}\n`);
}

function makeDebianPackage(tree, version) {
  const root = join(work, 'debian');
  const library = join(root, 'usr/lib/tidemark');
  mkdirSync(library, { recursive: true });
  cpSync(tree, library, { recursive: true });
  copyDependencies(library);
  place(root, 'usr/bin/tidemark', (path) =>
    symlinkSync('../lib/tidemark/packages/cli/bin/tidemark', path),
  );
  write(root, 'lib/systemd/system/tidemark.service', unit());
  write(root, 'etc/tidemark/tidemark.toml', template('tidemark.toml'));
  writeDocuments(root, version);
  const architecture = ask('dpkg', ['--print-architecture']);
  const sizeKiB = ask('du', ['-sk', '--apparent-size', root]).split('\t')[0];
  const fields = { version, architecture, sizeKiB };
  write(
    root,
    'DEBIAN/control',
    template('control').replaceAll(/@(\w+)@/g, (_, name) => fields[name]),
  );
  write(root, 'DEBIAN/conffiles', '/etc/tidemark/tidemark.toml\n');
  for (const script of ['postinst', 'prerm', 'postrm'])
    write(root, `DEBIAN/${script}`, template(script), 0o755);
  const file = join(out, `tidemark_${version}_${architecture}.deb`);
  // Files of the package belong to root, whoever builds it.
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', root, file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  process.stdout.write(`${file}\n`);
}

/** What a Debian system looks for in places of its own: manual, completions, documents. */
function writeDocuments(root, version) {
  const read = (path) => readFileSync(join(ROOT, path), 'utf8');
  const date = new Date().toISOString().slice(0, 10);
  const page = manPage(read('docs/reference/command-line.md'), { version, date });
  write(root, 'usr/share/man/man1/tidemark.1.gz', gzipSync(page, { level: 9 }));
  const executable = join(ROOT, 'packages/cli/bin/tidemark');
  const shells = {
    bash: 'usr/share/bash-completion/completions/tidemark',
    fish: 'usr/share/fish/vendor_completions.d/tidemark.fish',
  };
  for (const [shell, path] of Object.entries(shells)) {
    write(root, path, execFileSync(executable, ['completion', shell], { encoding: 'utf8' }));
  }
  const documents = 'usr/share/doc/tidemark';
  write(root, `${documents}/copyright`, read('LICENSE'));
  write(root, `${documents}/changelog.gz`, gzipSync(read('CHANGELOG.md'), { level: 9 }));
  for (const name of ['guide', 'reference', 'compat']) {
    place(root, `${documents}/${name}`, (path) =>
      symlinkSync(`../../../lib/tidemark/docs/${name}`, path),
    );
  }
}

/** The unit of the repository, with the places that the package has. */
function unit() {
  return readFileSync(join(ROOT, 'packaging/tidemark.service'), 'utf8')
    .replace(/^#.*\n/, '')
    .replace(/^ExecStart=\S+/m, 'ExecStart=/usr/bin/tidemark')
    .replace('file:///opt/tidemark/', 'file:///usr/lib/tidemark/');
}

function template(name) {
  return readFileSync(join(ROOT, 'packaging/debian', name), 'utf8');
}

function ask(program, args) {
  return execFileSync(program, args, { encoding: 'utf8' }).trim();
}

function place(root, path, make) {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  make(full);
}

function write(root, path, text, mode = 0o644) {
  place(root, path, (full) => {
    writeFileSync(full, text);
    chmodSync(full, mode);
  });
}
