// Backups as a stream: attachments are added to one that is sent, and taken out of one that is
// received.
import { bytesOf, joinFrames, noContents } from './chain.ts';
import { encodeFrame } from './format.ts';
import type { BackupContents, BackupFrame } from './format.ts';
import { readBackups } from './read-frames.ts';

/**
 * A backup that is being received. Read its parts in the order of the members, to the end or until
 * `close`.
 */
export type ArrivingBackup = {
  readonly contents: BackupContents;
  /** Attachments of the service that made the backup. */
  readonly attachments: () => AsyncIterable<Uint8Array>;
  /** The bytes of the backup without attachments. */
  readonly bytes: () => AsyncIterable<Uint8Array>;
  /** Ends the stream that they come from. */
  readonly close: () => Promise<void>;
};

/**
 * Receives a full backup, or an incremental one followed by the earlier ones, newest first, which
 * are joined. Throws as `joinBackups`.
 */
export async function openArriving(
  portions: AsyncIterable<Uint8Array>,
  place: string,
): Promise<ArrivingBackup> {
  const frames = joinFrames(readBackups(portions, place), {});
  const next = async (): Promise<BackupFrame | undefined> => {
    const step = await frames.next();
    return step.done === true ? undefined : step.value;
  };
  try {
    const contents = await next();
    if (contents?.kind !== 'contents') throw noContents(place);
    let ahead = await next();
    const attachments = async function* (): AsyncGenerator<Uint8Array> {
      for (; ahead?.kind === 'attachment'; ahead = await next()) yield ahead.bytes;
    };
    const others = async function* (): AsyncGenerator<BackupFrame> {
      yield contents;
      for (; ahead !== undefined; ahead = await next()) yield ahead;
    };
    return {
      contents,
      attachments,
      bytes: () => bytesOf(others()),
      close: async () => void (await frames.return(undefined)),
    };
  } catch (error) {
    await frames.return(undefined);
    throw error;
  }
}

/** Adds attachments to a backup, after its contents. */
export async function* withAttachments(
  portions: AsyncIterable<Uint8Array>,
  attachments: Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let count = 0;
  for await (const portion of portions) {
    yield portion;
    // The header and the contents come as one portion each (`createBackup`).
    if (++count !== 2) continue;
    for (const bytes of attachments) yield encodeFrame({ kind: 'attachment', bytes });
  }
}
