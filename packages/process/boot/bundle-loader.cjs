// Loads a bundle: one file that holds a whole program, and beside it what V8 made of it before
// (docs/adr/0009-bundle.md). Runs in the main thread and in workers, before anything else;
// therefore CommonJS, and no more modules than these.
'use strict';
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');
const { Script } = require('node:vm');
const { crc32 } = require('node:zlib');

/**
 * Both files of a program end and begin with the same name of its content, this many characters
 * long. V8 itself compares only lengths: without it, code of an older build would be run as soon as
 * two sources are equally long.
 */
const CONTENT_ID_LENGTH = 32;
/**
 * Behind the name: CRC-32 of the code. V8 believes what it is given, and ends the process over one
 * changed byte.
 */
const CODE_HEADER_LENGTH = CONTENT_ID_LENGTH + 4;

/**
 * Compiles the program `name` of the bundle in `directory`. `cache` names the kind of use that the
 * cached code was made by. Gives the script, whether cached code was used, and what else is known.
 */
function compile(directory, name, cache) {
  const file = join(directory, `${name}.cjs`);
  // One byte per character: the build lets no others in.
  const source = readFileSync(file, 'latin1');
  const id = source.slice(-CONTENT_ID_LENGTH);
  const cachedData = readCode(codeFile(directory, name, cache), id);
  const script = new Script(source, { filename: file, cachedData });
  const isCached = cachedData !== undefined && script.cachedDataRejected === false;
  return { file, id, script, isCached };
}

/**
 * Runs a program. Gives what it exports, whether cached code was used, and what makes the cached
 * code of what ran until then. `threads` are those that already load what the program will start
 * (early-threads.cjs).
 */
function loadBundle(directory, name, cache, threads = new Map()) {
  const { file, id, script, isCached } = compile(directory, name, cache);
  const module = { exports: {} };
  const bundle = { directory, threads };
  script
    .runInThisContext()
    .call(module.exports, module.exports, createRequire(file), module, file, dirname(file), bundle);
  return {
    exports: module.exports,
    isCached,
    compiledCode: () => {
      const code = script.createCachedData();
      const header = Buffer.alloc(CODE_HEADER_LENGTH);
      header.write(id, 'latin1');
      header.writeUInt32LE(crc32(code), CONTENT_ID_LENGTH);
      return Buffer.concat([header, code]);
    },
  };
}

/**
 * What a program's file begins and ends with: it is one function, of the parameters of a CommonJS
 * module and of what tells the program that it is bundled (`src/thread.ts` starts threads by it).
 * It is in the file because putting it around megabytes of text at every start copies them.
 */
const PROGRAM_BEGIN = '(function(exports,require,module,__filename,__dirname,tidemarkBundle){';
const PROGRAM_END = '})';

/** The file of the code that was kept under the flags of this process. */
function codeFile(directory, name, kind) {
  const flags = process.execArgv.includes('--optimize-for-size') ? '.small' : '';
  return join(directory, `${name}.${kind}${flags}.code`);
}

/** V8 refuses by itself what another version of it, or one with other flags, has made. */
function readCode(file, id) {
  let bytes;
  try {
    bytes = readFileSync(file);
  } catch {
    // Without it the program only starts more slowly.
    return undefined;
  }
  if (bytes.length < CODE_HEADER_LENGTH) return undefined;
  if (bytes.toString('latin1', 0, CONTENT_ID_LENGTH) !== id) return undefined;
  const code = bytes.subarray(CODE_HEADER_LENGTH);
  return crc32(code) === bytes.readUInt32LE(CONTENT_ID_LENGTH) ? code : undefined;
}

module.exports = {
  codeFile,
  compile,
  CONTENT_ID_LENGTH,
  loadBundle,
  PROGRAM_BEGIN,
  PROGRAM_END,
};
