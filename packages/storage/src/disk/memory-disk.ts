// A disk in memory, for an engine whose data is forgotten when it is closed.
import type { Disk, DiskFile } from './disk.ts';

/** Grows by doubling; `length` is the file's. */
type Content = { bytes: Uint8Array; length: number };

/** An empty disk in memory. Directories are prefixes of paths; syncs have nothing to do. */
export function memoryDisk(): Disk {
  const files = new Map<string, Content>();
  const contentOf = (path: string): Content => {
    const content = files.get(path);
    if (content === undefined) throw systemError('ENOENT', path);
    return content;
  };
  const list = (path: string): string[] => {
    const names = new Set<string>();
    for (const name of files.keys()) {
      if (name.startsWith(`${path}/`)) names.add(name.slice(path.length + 1).split('/')[0]!);
    }
    return [...names].sort();
  };
  return {
    open: (path, mode) => {
      if (mode !== 'create') return memoryFile(path, contentOf(path));
      if (files.has(path)) throw systemError('EEXIST', path);
      const content: Content = { bytes: new Uint8Array(0), length: 0 };
      files.set(path, content);
      return memoryFile(path, content);
    },
    exists: (path) => files.has(path) || list(path).length > 0,
    makeDirectory: () => undefined,
    freeBytes: () => Number.POSITIVE_INFINITY,
    list,
    rename: (from, to) => {
      files.set(to, contentOf(from));
      files.delete(from);
    },
    remove: (path) => void files.delete(path),
    removeDirectory: (path) => {
      for (const name of files.keys()) if (name.startsWith(`${path}/`)) files.delete(name);
    },
    syncDirectory: () => Promise.resolve(),
  };
}

function memoryFile(path: string, content: Content): DiskFile {
  return {
    path,
    size: () => content.length,
    read: (target, position) => {
      const end = Math.min(content.length, position + target.length);
      const part = content.bytes.subarray(Math.min(position, end), end);
      target.set(part);
      return part.length;
    },
    write: (bytes, position) => {
      resize(content, Math.max(content.length, position + bytes.length));
      content.bytes.set(bytes, position);
    },
    truncate: (length) => resize(content, length),
    sync: () => Promise.resolve(),
    close: () => undefined,
  };
}

function resize(content: Content, length: number): void {
  const { bytes } = content;
  if (length > bytes.length) {
    content.bytes = new Uint8Array(Math.max(length, bytes.length * 2));
    content.bytes.set(bytes.subarray(0, content.length));
  } else {
    // Zeroed, so that a later write beyond the new end does not bring old bytes back.
    bytes.fill(0, length, Math.max(length, content.length));
  }
  content.length = length;
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
