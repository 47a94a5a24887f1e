// The files of the web application. Its pages are names below `/ui/` without a dot; all of them are
// the same document.
import { randomBytes } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { extname, normalize } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

/** For all responses of the page's server: scripts, styles and data only from here. */
export const SECURITY_HEADERS = {
  'Content-Security-Policy': policy(''),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

function policy(styleNonce: string): string {
  const style = styleNonce === '' ? '' : ` 'nonce-${styleNonce}'`;
  return [
    "default-src 'self'",
    "img-src 'self' data: blob:",
    `style-src 'self'${style}`,
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/**
 * Placeholder in the document for the nonce that allows the editor's style element; different in
 * each response.
 */
const NONCE_MARK = 'STYLE_NONCE';

export type PageFile = {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: Buffer;
};

/** The file for a path of the page's server; `undefined` if there is none. */
export async function readPageFile(
  directory: URL,
  path: string,
  isPacked: boolean,
): Promise<PageFile | undefined> {
  const relative = normalize(decodePath(path)).replace(/^\/+/, '');
  if (!relative.startsWith('ui/')) return undefined;
  const name = relative.slice('ui/'.length);
  const isPage = /^[\w-]*$/.test(name);
  const file = new URL(isPage ? 'index.html' : name, directory);
  // A name may be an absolute address, or lead up.
  if (!file.href.startsWith(directory.href) || !(await isFile(file))) return undefined;
  if (isPage) return pageDocument(await readFile(file));
  const isHashed = name.startsWith('assets/');
  const body = isPacked && isHashed ? await packed(file) : await readFile(file);
  return {
    body,
    headers: {
      ...SECURITY_HEADERS,
      ...(isPacked && isHashed ? { 'Content-Encoding': 'gzip' } : {}),
      Vary: 'Accept-Encoding',
      'Content-Type': CONTENT_TYPES[extname(file.pathname)] ?? 'application/octet-stream',
      'Content-Length': body.length,
      'Cache-Control': isHashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    },
  };
}

const gzipped = promisify(gzip);

/** Compressed immutable files; bounded by the build, which has some dozens. */
const kept = new Map<string, Buffer>();

async function packed(file: URL): Promise<Buffer> {
  const before = kept.get(file.href);
  if (before !== undefined) return before;
  const body = await gzipped(await readFile(file));
  kept.set(file.href, body);
  return body;
}

function pageDocument(template: Buffer): PageFile {
  const nonce = randomBytes(18).toString('base64');
  const body = Buffer.from(template.toString().replaceAll(NONCE_MARK, nonce));
  return {
    body,
    headers: {
      ...SECURITY_HEADERS,
      'Content-Security-Policy': policy(nonce),
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': body.length,
      'Cache-Control': 'no-store',
    },
  };
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // A malformed escape names no file.
    return '\0';
  }
}

async function isFile(file: URL): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch {
    // Missing, or an invalid name: "not found" to a browser.
    return false;
  }
}
