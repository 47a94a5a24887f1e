// The tables of alerting in the metadata.
import type { AlertEntries } from '@tidemark/alerting';
import type { Metadata } from './metadata.ts';

export function alertTables(metadata: Metadata): AlertEntries {
  return {
    states: metadata.read('topic-events'),
    specs: metadata.read('handler-specs'),
    outbox: metadata.read('outbox'),
    letters: metadata.read('dead-letters'),
    causes: metadata.read('told-events'),
    origins: metadata.read('topic-origins'),
    commit: (changes) => metadata.commit(changes),
  };
}
