// stateChangesOnly: passes an event on only when its level differs from the level its id had
// before.
import { defineHandler } from '../definition/handler-definition.ts';

export const stateChangesOnlyHandler = defineHandler({
  kind: 'stateChangesOnly',
  doc: 'Passes an event on only when its level differs from the level its id had before.',
  options: {},
});
