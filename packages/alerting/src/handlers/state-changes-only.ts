// stateChangesOnly: passes events whose level differs from the previous one.
import { stateChangesOnlyHandler } from '@tidemark/pipeline';
import { PASS, STOP } from '../delivery.ts';
import { act } from '../handler.ts';

export const stateChangesOnly = act(stateChangesOnlyHandler, {
  makeStep: () => ({
    isLocal: true,
    run: ({ event }) => Promise.resolve(event.level === event.previousLevel ? STOP : PASS),
  }),
});
