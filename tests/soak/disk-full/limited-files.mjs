// Preloaded into a process: files below LIMITED_DIRECTORY cannot take more than LIMITED_BYTES in
// total. Writes beyond that fail as on a full disk, after the part that fits was written.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const directory = process.env.LIMITED_DIRECTORY;
const limit = Number(process.env.LIMITED_BYTES);
const { writeSync, statfsSync } = fs;

function usedBytes(folder = directory) {
  let used = 0;
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    try {
      used += entry.isDirectory() ? usedBytes(path) : fs.statSync(path).size;
    } catch (error) {
      if (error.code !== 'ENOENT') throw error; // Removed meanwhile.
    }
  }
  return used;
}

function isLimited(descriptor) {
  try {
    return fs.readlinkSync(`/proc/self/fd/${descriptor}`).startsWith(`${directory}/`);
  } catch {
    return false; // No file.
  }
}

fs.writeSync = (descriptor, buffer, offset, length, position) => {
  if (typeof buffer === 'string' || typeof length !== 'number' || !isLimited(descriptor)) {
    return writeSync(descriptor, buffer, offset, length, position);
  }
  const { size } = fs.fstatSync(descriptor);
  const room = limit - usedBytes() + Math.max(0, size - (position ?? size));
  if (room <= 0) {
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  }
  return writeSync(descriptor, buffer, offset, Math.min(length, room), position);
};
fs.statfsSync = (path, options) => {
  const found = statfsSync(path, options);
  if (!String(path).startsWith(directory)) return found;
  return { ...found, bsize: 1, bavail: Math.max(0, limit - usedBytes()) };
};
syncBuiltinESMExports();
