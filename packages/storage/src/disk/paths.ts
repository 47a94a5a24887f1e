// Where files are within the engine's directory (docs/formats/manifest.md, "Layout").

export function reservePath(directory: string): string {
  return `${directory}/RESERVE`;
}

export function walDirectory(directory: string): string {
  return `${directory}/wal`;
}

export function indexDirectory(directory: string): string {
  return `${directory}/index`;
}

export function shardsDirectory(directory: string): string {
  return `${directory}/shards`;
}

export function shardDirectory(directory: string, shardId: number): string {
  return `${shardsDirectory(directory)}/${shardId}`;
}

export function segmentPath(directory: string, shardId: number, fileId: number): string {
  return `${shardDirectory(directory, shardId)}/${String(fileId).padStart(8, '0')}.seg`;
}
