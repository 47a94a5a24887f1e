// Reads the header of a backup file (docs/formats/backup.md) in the browser.

const HEADER_BYTES = 16;
const FRAME_HEAD_BYTES = 12;
const KIND_CONTENTS = 0;
/** First version that names its segments, so that another backup can build on it. */
const VERSION_MIN = 2;
/** Bytes before the manifest's text. */
const CHECKED_HEAD_BYTES = 16;

export type BackupFile = {
  readonly file: File;
  /** Identifies the data directory. */
  readonly storageId: string;
  /** Increases with every change of the directory. */
  readonly sequence: number;
  readonly databases: readonly string[];
  /** Names of all segments at that moment, and of those in the file. */
  readonly segments: readonly string[];
  readonly includes: readonly string[];
};

/** `undefined` for a file that is no backup, or one too old to build on. */
export async function readBackupFile(file: File): Promise<BackupFile | undefined> {
  try {
    const head = await bytesOf(file, 0, HEADER_BYTES + FRAME_HEAD_BYTES);
    const isBackup = new TextDecoder().decode(head.subarray(0, 6)) === 'TDMBAK';
    const view = new DataView(head.buffer);
    if (!isBackup || view.getUint16(6, true) < VERSION_MIN) return undefined;
    const length = view.getUint32(HEADER_BYTES + 4, true);
    const payload = await bytesOf(file, head.length, length);
    if (payload[0] !== KIND_CONTENTS) return undefined;
    const contents = JSON.parse(await inflated(payload.subarray(1))) as {
      readonly manifest: string;
      readonly segments: readonly string[];
      readonly includes: readonly string[];
    };
    const { storageId, nextSequence, databases } = manifestOf(contents.manifest);
    const { segments, includes } = contents;
    const names = databases.map(({ name }) => name);
    return { file, storageId, sequence: nextSequence, databases: names, segments, includes };
  } catch {
    // Cut off or damaged: not a usable backup.
    return undefined;
  }
}

/** Whether it contains all of its segments. */
export const isFull = ({ segments, includes }: BackupFile): boolean =>
  segments.length === includes.length;

/** Newest first, the order of a restore. */
export function newestFirst(backups: readonly BackupFile[]): readonly BackupFile[] {
  return backups.toSorted(
    (a, b) => b.sequence - a.sequence || a.includes.length - b.includes.length,
  );
}

export type ChainFault = 'incomplete' | 'foreign';

/** Why backups, newest first, cannot be restored together. */
export function faultOfChain(backups: readonly BackupFile[]): ChainFault | undefined {
  const [newest] = backups;
  if (newest === undefined) return undefined;
  if (backups.some(({ storageId }) => storageId !== newest.storageId)) return 'foreign';
  const held = new Set(backups.flatMap(({ includes }) => includes));
  return newest.segments.every((name) => held.has(name)) ? undefined : 'incomplete';
}

async function bytesOf(file: Blob, at: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(await file.slice(at, at + length).arrayBuffer());
  if (bytes.length !== length) throw new Error('cut off');
  return bytes;
}

async function inflated(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).text();
}

function manifestOf(base64: string): {
  readonly storageId: string;
  readonly nextSequence: number;
  readonly databases: readonly { readonly name: string }[];
} {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const length = new DataView(bytes.buffer).getUint32(8, true);
  const body = bytes.subarray(CHECKED_HEAD_BYTES, CHECKED_HEAD_BYTES + length);
  return JSON.parse(new TextDecoder().decode(body)) as ReturnType<typeof manifestOf>;
}
